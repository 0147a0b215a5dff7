//! The `math` server: the 22 tools of the benchmark's server of that name. Results are texts, written as
//! JavaScript writes numbers.
//!
//! The original is <https://github.com/EthanHenrickson/math-mcp>, version 0.1.1 (MIT).

mod number;
mod operations;

use m3_mcp::{Answer, Answering, Tool, ToolResult, Toolbox};
use serde_json::{Map, Value, json};

use self::operations::{OPERATIONS, Operands};
use super::tools::{Tools, read_only_tool};

/// The `math` server. It has no state.
#[derive(Debug)]
pub struct MathServer {
    tools: Tools,
}

impl Default for MathServer {
    fn default() -> Self {
        let tools = OPERATIONS
            .iter()
            .map(|(name, description, operands)| read_only_tool(name, description, schema(operands), None));
        Self { tools: Tools::new(tools.collect()) }
    }
}

impl MathServer {
    fn answer(&self, tool: &str, arguments: Map<String, Value>) -> Answer {
        let arguments = match self.tools.checked(tool, arguments) {
            Ok(arguments) => arguments,
            Err(answer) => return answer,
        };
        let Some((_, _, operands)) = OPERATIONS.iter().find(|(name, ..)| *name == tool) else {
            return Answer::UnknownTool;
        };
        // The schema was checked above: the arguments exist and are numbers.
        let number = |name: &str| arguments.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let text = match *operands {
            Operands::Two([first, second], of) => number::to_text(of(number(first), number(second))),
            Operands::One(of) => number::to_text(of(number("number"))),
            Operands::Many(_, of) => {
                let list = arguments.get("numbers").and_then(Value::as_array);
                let list: Vec<f64> = list.into_iter().flatten().filter_map(Value::as_f64).collect();
                of(&list)
            }
        };
        Answer::Result(ToolResult::text(text))
    }
}

impl Toolbox for MathServer {
    fn name(&self) -> &'static str {
        "math"
    }

    fn tools(&self) -> &[Tool] {
        self.tools.as_slice()
    }

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> Answering<'a> {
        Box::pin(async move { self.answer(tool, arguments) })
    }
}

fn schema(operands: &Operands) -> Value {
    let number = json!({"type": "number"});
    let (properties, required) = match *operands {
        Operands::Two([first, second], _) => (json!({first: number, second: number}), vec![first, second]),
        Operands::One(_) => (json!({ "number": number }), vec!["number"]),
        Operands::Many(is_filled, _) => {
            let mut list = json!({"type": "array", "items": number});
            if is_filled {
                list["minItems"] = json!(1);
            }
            (json!({ "numbers": list }), vec!["numbers"])
        }
    };
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[cfg(test)]
mod tests;
