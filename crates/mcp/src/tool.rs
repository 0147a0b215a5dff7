//! A tool as its server lists it, and its name across servers.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool as listed by its server's answer to `tools/list`. Reading and writing keeps every key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// The tool's name on its server.
    pub name: String,
    /// The tool's description for the model. Untrusted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments. Untrusted: it may be wrong, huge or cyclic.
    #[serde(rename = "inputSchema")]
    pub input_schema: Map<String, Value>,
    /// The JSON Schema of the structured content of its results, if the tool declares one.
    #[serde(rename = "outputSchema", default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Map<String, Value>>,
    /// All other keys: `title`, `annotations`, `execution`, `_meta` and any others.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Tool {
    /// Whether the tool only reads, by its annotation `readOnlyHint`; `None` without the annotation.
    #[must_use]
    pub fn is_read_only(&self) -> Option<bool> {
        self.extra.get("annotations")?.get("readOnlyHint")?.as_bool()
    }
}

/// A tool's name across servers, written `server/tool` as the benchmark does. The first slash separates: a tool's own
/// name may have more of them, a server's name has no slash.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName {
    /// The server's name in the configuration; empty if a catalog does not name it.
    pub server: String,
    /// The tool's name on that server.
    pub tool: String,
}

impl ToolName {
    /// Splits `server/tool`; `None` without a slash or with an empty side.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (server, tool) = name.split_once('/')?;
        let is_whole = !server.is_empty() && !tool.is_empty();
        is_whole.then(|| Self { server: server.to_owned(), tool: tool.to_owned() })
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.server.is_empty() {
            return formatter.write_str(&self.tool);
        }
        write!(formatter, "{}/{}", self.server, self.tool)
    }
}
