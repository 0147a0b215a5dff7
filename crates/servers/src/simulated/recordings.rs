//! Recorded results, by call.
//!
//! A call that was recorded several times gives its results in the order of the record, and then repeats the last
//! one. The same call may have different results in different tasks: a trajectory that is to be replayed exactly is
//! added first, and [`Recordings::seal`] keeps the others' results out. A recorded call without `arguments` counts as
//! one with an empty object; a call whose arguments are not an object cannot be replayed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use m3_mcp::{Content, ToolCatalog, ToolName, ToolResult};
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, Trajectory};
use serde_json::{Map, Value};

use super::canonical::{CallKey, Defaults};

/// Results by call, for the tools of one catalog.
#[derive(Debug)]
pub struct Recordings {
    results: HashMap<CallKey, Vec<Arc<ToolResult>>>,
    /// Calls that accept no further results.
    sealed: HashSet<CallKey>,
    defaults: HashMap<ToolName, Defaults>,
    counts: RecordingCounts,
}

/// The numbers of recorded calls, by how they can be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordingCounts {
    /// Calls whose results can be replayed.
    pub recorded: usize,
    /// Calls whose results are not used, because a trajectory that was added before the seal has one.
    pub superseded: usize,
    /// Calls without a result, or with the result `null`.
    pub without_result: usize,
    /// Calls of tools that are not in the catalog.
    pub unknown_tool: usize,
    /// Calls whose arguments or results are impossible for a server: not an object, or `NaN`.
    pub unusable: usize,
}

impl Recordings {
    /// An empty set of recordings for the tools of a catalog.
    #[must_use]
    pub fn new(catalog: &ToolCatalog) -> Self {
        let defaults = catalog.tools().map(|(name, tool)| (name, Defaults::new(&tool.input_schema)));
        Self {
            results: HashMap::new(),
            sealed: HashSet::new(),
            defaults: defaults.collect(),
            counts: RecordingCounts::default(),
        }
    }

    /// Adds the calls of a trajectory, in its order.
    pub fn add(&mut self, trajectory: &Trajectory) {
        for (_, call) in trajectory.calls() {
            self.add_call(call);
        }
    }

    fn add_call(&mut self, call: &Call) {
        let Some(result) = call.result.as_ref().filter(|result| **result != Json::Null) else {
            self.counts.without_result += 1;
            return;
        };
        let known = ToolName::parse(&call.tool).and_then(|name| self.defaults.get_key_value(&name));
        let Some((name, defaults)) = known else {
            self.counts.unknown_tool += 1;
            return;
        };
        let arguments = match call.arguments.as_ref().map(Json::to_value) {
            None | Some(Some(Value::Null)) => Some(Map::new()),
            Some(Some(Value::Object(arguments))) => Some(arguments),
            Some(_) => None,
        };
        let (Some(arguments), Some(mut result)) = (arguments, read_result(result)) else {
            self.counts.unusable += 1;
            return;
        };
        result.is_error |= call.is_error();
        let key = CallKey::new(&name.server, &name.tool, &arguments, defaults);
        if self.sealed.contains(&key) {
            self.counts.superseded += 1;
            return;
        }
        self.results.entry(key).or_default().push(Arc::new(result));
        self.counts.recorded += 1;
    }

    /// Seals the calls recorded so far: no later trajectory adds a result to them.
    pub fn seal(&mut self) {
        self.sealed.extend(self.results.keys());
    }

    /// The numbers of all calls so far.
    #[must_use]
    pub fn counts(&self) -> RecordingCounts {
        self.counts
    }

    /// Whether any call has several results, so that it matters how often the call was made before.
    pub(super) fn has_several(&self) -> bool {
        self.results.values().any(|results| results.len() > 1)
    }

    /// The results of a call in the order of the record; empty if it was not recorded.
    pub(super) fn results(&self, call: &CallKey) -> &[Arc<ToolResult>] {
        self.results.get(call).map_or(&[], Vec::as_slice)
    }
}

/// Reads a recorded result: the answer to `tools/call` (an object with a list `content`, or with
/// `structuredContent`), a list of content parts, or a text. Any other JSON is the tool's own value, which becomes a
/// text, as Python's servers write it. `None` for values that standard JSON cannot express.
fn read_result(result: &Json) -> Option<ToolResult> {
    let is_wire = matches!(result.get("content"), Some(Json::Array(_)))
        || matches!(result.get("structuredContent"), Some(Json::Object(_)));
    let is_part = |part: &Json| {
        let kind = part.get("type").and_then(Json::as_str).unwrap_or_default();
        matches!(kind, "text" | "image" | "audio" | "resource" | "resource_link")
    };
    Some(match result {
        Json::String(text) => ToolResult::text(text.clone()),
        Json::Object(_) if is_wire => ToolResult::from_wire(result.to_value()?),
        Json::Array(parts) if !parts.is_empty() && parts.iter().all(is_part) => {
            let parts = parts.iter().map(|part| part.to_value().map(Content::from_wire));
            ToolResult { content: parts.collect::<Option<_>>()?, ..ToolResult::default() }
        }
        other => ToolResult::text(other.to_text(Keys::AsRead)),
    })
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> ToolResult {
        read_result(&parse(text.as_bytes()).unwrap().0).unwrap()
    }

    #[test]
    fn a_result_is_read_in_every_form_it_was_written_in() {
        assert_eq!(read(r#""a\nb""#), ToolResult::text("a\nb"));
        let wire = json!({
            "content": [{"type": "text", "text": "a"}, {"type": "image", "data": "", "mimeType": "image/png"}],
            "structuredContent": {"result": "a"}, "isError": true, "_meta": {"x": 1},
        });
        assert_eq!(read(&wire.to_string()).to_wire(), wire);
        assert_eq!(read(r#"{"content": []}"#), ToolResult::default());
        assert_eq!(read(r#"[{"type": "text", "text": "a"}]"#), ToolResult::text("a"));
        // A tool's own JSON keeps the order of the file.
        assert_eq!(read(r#"{"b": 1, "a": [1.0]}"#), ToolResult::text(r#"{"b":1,"a":[1.0]}"#));
        assert_eq!(read("[]"), ToolResult::text("[]"));
        assert_eq!(read("5"), ToolResult::text("5"));
        assert_eq!(read(r#"{"content": "page"}"#), ToolResult::text(r#"{"content":"page"}"#));
    }
}
