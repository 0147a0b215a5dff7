//! The tools of several servers: as a host has listed them, or as in a catalog file.

use std::collections::HashSet;

use m3_support::redact::Redactor;
use m3_support::text::shortened;
use m3_trajectory::catalog::Catalog;
use serde_json::{Map, Value, json};

use super::{Tool, ToolName};

/// The most bytes of one tool as JSON: no provider takes a larger one, and each of its values is prepared, checked and
/// reported.
const LARGEST_TOOL: usize = 1 << 20;

/// The longest reason why a tool cannot be used, in columns.
const MAX_REASON: usize = 200;

/// The tools of several servers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCatalog {
    /// The servers, in order.
    pub servers: Vec<ServerTools>,
}

/// The tools of one server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerTools {
    /// The server's name.
    pub server: String,
    /// The tools that can be used.
    pub tools: Vec<Tool>,
    /// The tools that cannot be used, with the reason.
    pub rejected: Vec<RejectedTool>,
}

/// A tool that a server lists and that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedTool {
    /// The tool's name, or its place in the list if it has none.
    pub name: String,
    /// The reason.
    pub reason: String,
}

impl ToolCatalog {
    /// The tool, if the catalog has it.
    #[must_use]
    pub fn get(&self, name: &ToolName) -> Option<&Tool> {
        let server = self.servers.iter().find(|server| server.server == name.server)?;
        server.tools.iter().find(|tool| tool.name == name.tool)
    }

    /// All tools with their names, in order.
    pub fn tools(&self) -> impl Iterator<Item = (ToolName, &Tool)> {
        self.servers.iter().flat_map(|server| {
            server
                .tools
                .iter()
                .map(|tool| (ToolName { server: server.server.clone(), tool: tool.name.clone() }, tool))
        })
    }

    /// The number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.servers.iter().map(|server| server.tools.len()).sum()
    }

    /// True if there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The catalog without secrets: descriptions may repeat values that a server was started with.
    #[must_use]
    pub fn without_secrets(mut self, redactor: &Redactor) -> Self {
        for tool in self.servers.iter_mut().flat_map(|server| &mut server.tools) {
            let Ok(mut value) = serde_json::to_value(&*tool) else { continue };
            redactor.value(&mut value);
            if let Ok(redacted) = serde_json::from_value(value) {
                *tool = redacted;
            }
        }
        self
    }

    /// The catalog in the form of its file: `{server: {tools: [...]}}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let servers: Map<_, _> = self
            .servers
            .iter()
            .map(|server| (server.server.clone(), json!({ "tools": server.tools })))
            .collect();
        Value::Object(servers)
    }

    /// Reads the output of [`ToolCatalog::to_json`]; everything else is ignored.
    #[must_use]
    pub fn from_json(catalog: &Value) -> Self {
        let servers = catalog.as_object().into_iter().flatten().map(|(server, listed)| {
            let tools = listed.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
            ServerTools::from_wire(server, tools)
        });
        Self { servers: servers.collect() }
    }
}

impl ServerTools {
    /// Leaves out tools that can only be called as tasks (MCP 2025-11-25, "Tasks"), which the host does not support:
    /// every call would fail.
    pub(super) fn reject_tasks(&mut self) {
        let needs_task = |tool: &Tool| {
            let support = tool.extra.get("execution").and_then(|execution| execution.get("taskSupport"));
            support.and_then(Value::as_str) == Some("required")
        };
        for tool in self.tools.extract_if(.., |tool| needs_task(tool)) {
            let reason = "it can only be called as a task (`execution.taskSupport` is `required`), which m3 does not do";
            self.rejected.push(RejectedTool { name: tool.name, reason: reason.to_owned() });
        }
    }

    /// Reads a server's list tool by tool, so that a malformed tool does not affect the others.
    #[must_use]
    pub fn from_wire(server: &str, tools: Vec<Value>) -> Self {
        let mut read = Self { server: server.to_owned(), tools: Vec::new(), rejected: Vec::new() };
        let mut names = HashSet::new();
        for (index, mut value) in tools.into_iter().enumerate() {
            // Some clients write the keys in the style of their own language.
            if let Value::Object(members) = &mut value {
                for (theirs, ours) in [("input_schema", "inputSchema"), ("output_schema", "outputSchema")] {
                    if let Some(schema) = members.remove(theirs) {
                        members.entry(ours).or_insert(schema);
                    }
                }
            }
            let name = value.get("name").and_then(Value::as_str).map_or(format!("#{index}"), str::to_owned);
            let tool = if value.to_string().len() > LARGEST_TOOL {
                Err("its definition has more than 1 MiB".to_owned())
            } else {
                // The error may repeat the value in the place of a schema.
                serde_json::from_value::<Tool>(value)
                    .map_err(|error| shortened(&error.to_string(), MAX_REASON))
            };
            let (name, reason) = match tool {
                Ok(tool) if tool.name.is_empty() => (format!("#{index}"), "its name is empty".to_owned()),
                Ok(tool) if !names.insert(tool.name.clone()) => {
                    (name, "another tool has its name".to_owned())
                }
                Ok(tool) => {
                    read.tools.push(tool);
                    continue;
                }
                Err(reason) => (name, reason),
            };
            read.rejected.push(RejectedTool { name, reason });
        }
        read
    }
}

impl From<&Catalog> for ToolCatalog {
    fn from(catalog: &Catalog) -> Self {
        let servers = catalog.servers().iter().map(|server| {
            let tools = server.tools.iter().map(|tool| tool.to_value().unwrap_or(Value::Null)).collect();
            ServerTools::from_wire(&server.name, tools)
        });
        Self { servers: servers.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_too_large_is_not_offered() {
        let properties: Value =
            (0..60_000).map(|at| (format!("p{at}"), json!({"type": "integer"}))).collect();
        let large = json!({"name": "f", "inputSchema": {"type": "object", "properties": properties}});
        let read = ServerTools::from_wire("s", vec![large, json!({"name": "g", "inputSchema": {}})]);
        assert_eq!((read.tools.len(), read.rejected[0].name.as_str()), (1, "f"));
        assert!(read.rejected[0].reason.contains("1 MiB"));
    }

    #[test]
    fn a_reason_does_not_repeat_all_that_stands_in_the_place_of_a_schema() {
        let tools = ["\u{1b}[2J".to_owned(), "x".repeat(100_000)]
            .map(|text| json!({"name": "f", "inputSchema": text}));
        for rejected in ServerTools::from_wire("s", tools.to_vec()).rejected {
            let reason = rejected.reason;
            assert!(reason.starts_with("invalid type: string") && reason.len() <= 3 * MAX_REASON, "{reason}");
            assert!(!reason.contains(char::is_control), "{reason}");
        }
    }
}
