//! The tools of requests. Many requests have the same tools, which are serialized only once.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

/// A tool as the provider's tool calling takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// A name of at most 64 letters, digits, `_` and `-`.
    pub name: String,
    /// What the tool does.
    pub description: String,
    /// The JSON Schema of its arguments: an object with `properties`, and at its root without `anyOf`, `oneOf`,
    /// `allOf`, `enum` and `not`, which providers refuse there.
    pub schema: Map<String, Value>,
}

/// The tools of a request. Clones share the tools and their serialized form.
#[derive(Debug, Clone, Default)]
pub struct ToolDefinitions(Arc<SharedTools>);

#[derive(Debug, Default)]
struct SharedTools {
    list: Vec<ToolDefinition>,
    written: OnceLock<(&'static str, WrittenTools)>,
}

/// Tools in the form of a wire. Clones share them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WrittenTools(Arc<(Value, String)>);

impl WrittenTools {
    fn new(value: Value) -> Self {
        let text = value.to_string();
        Self(Arc::new((value, text)))
    }

    /// The JSON value.
    pub(crate) fn value(&self) -> &Value {
        &self.0.0
    }

    /// The JSON text.
    pub(crate) fn text(&self) -> &str {
        &self.0.1
    }
}

impl ToolDefinitions {
    /// The tools as `write` writes them for the wire of this name; `None` without any tool. Only the form of the first
    /// wire is kept: a run asks one model.
    pub(crate) fn written(
        &self,
        wire: &'static str,
        write: impl Fn(&[ToolDefinition]) -> Value,
    ) -> Option<WrittenTools> {
        if self.is_empty() {
            return None;
        }
        let new = || WrittenTools::new(write(self));
        let (kept, written) = self.0.written.get_or_init(|| (wire, new()));
        Some(if *kept == wire { written.clone() } else { new() })
    }
}

impl From<Vec<ToolDefinition>> for ToolDefinitions {
    fn from(list: Vec<ToolDefinition>) -> Self {
        Self(Arc::new(SharedTools { list, written: OnceLock::new() }))
    }
}

impl Deref for ToolDefinitions {
    type Target = [ToolDefinition];

    fn deref(&self) -> &[ToolDefinition] {
        &self.0.list
    }
}
