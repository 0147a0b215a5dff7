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
    written: OnceLock<(&'static str, Arc<WrittenTools>)>,
}

/// Tools in the form of a wire.
#[derive(Debug, PartialEq)]
pub(crate) struct WrittenTools {
    /// The JSON value.
    pub(crate) value: Value,
    /// The JSON text.
    pub(crate) text: String,
}

impl ToolDefinitions {
    /// The tools as `write` writes them for the wire of this name; `None` without any tool. Only the form of the first
    /// wire is kept: a run asks one model.
    pub(crate) fn written(
        &self,
        wire: &'static str,
        write: impl Fn(&[ToolDefinition]) -> Value,
    ) -> Option<Arc<WrittenTools>> {
        if self.is_empty() {
            return None;
        }
        let new = || {
            let value = write(self);
            Arc::new(WrittenTools { text: value.to_string(), value })
        };
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
