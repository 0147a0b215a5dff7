//! The tools of one of our servers, with their schemas ready to check arguments.

use m3_mcp::arguments::{ArgumentProblem, ArgumentSchema};
use m3_mcp::{Answer, Tool};
use m3_support::text::shortened;
use serde_json::{Map, Value, json};

/// The longest name that is repeated in a message, in columns.
const MAX_NAME: usize = 100;

/// A tool that changes nothing, with the annotations by which MCP servers declare it.
pub(super) fn read_only_tool(name: &str, description: &str, input: Value, output: Option<Value>) -> Tool {
    Tool {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        input_schema: object(input),
        output_schema: output.map(object),
        extra: object(json!({"annotations": {"readOnlyHint": true, "openWorldHint": false}})),
    }
}

/// The members of a schema of ours, which is an object.
pub(super) fn object(schema: Value) -> Map<String, Value> {
    if let Value::Object(members) = schema { members } else { Map::new() }
}

/// Tools and their schemas.
#[derive(Debug)]
pub(super) struct Tools {
    tools: Vec<Tool>,
    /// One schema for each tool; `None` would be a mistake in our own schema, which a test of `builtin` looks for.
    schemas: Vec<Option<ArgumentSchema>>,
}

impl Tools {
    pub(super) fn new(tools: Vec<Tool>) -> Self {
        let schemas = tools.iter().map(|tool| ArgumentSchema::new(&tool.input_schema).ok()).collect();
        Self { tools, schemas }
    }

    pub(super) fn as_slice(&self) -> &[Tool] {
        &self.tools
    }

    /// The arguments, if the tool exists and they fit; otherwise the answer that refuses the call.
    pub(super) fn checked(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, Answer> {
        let Some(index) = self.tools.iter().position(|known| known.name == tool) else {
            return Err(Answer::UnknownTool);
        };
        let Some(schema) = &self.schemas[index] else { return Ok(arguments) };
        let problems = schema.problems(&Value::Object(arguments.clone()));
        let problems = problems.map_err(|error| Answer::InvalidArguments(error.to_string()))?;
        if problems.is_empty() {
            return Ok(arguments);
        }
        let words = |problem: ArgumentProblem| match shortened(&problem.pointer, MAX_NAME) {
            at if at.is_empty() => problem.message,
            at => format!("`{at}`: {}", problem.message),
        };
        let list: Vec<String> = problems.into_iter().map(words).collect();
        let (tool, list) = (shortened(tool, MAX_NAME), list.join("; "));
        Err(Answer::InvalidArguments(format!("invalid arguments for `{tool}`: {list}")))
    }
}
