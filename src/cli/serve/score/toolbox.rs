//! The scorer as an MCP server: an agent that improves another one asks it how a trajectory did, and where it went wrong.

use std::sync::Arc;

use m3_mcp::{Answer, Answering, Tool, ToolResult, Toolbox};
use m3_trajectory::Trajectory;
use serde_json::{Map, Value, json};

use super::desk::{Crashed, Desk};
use crate::cli::library::pairs::{PairError, PairScorer};

/// JSON-RPC's code for an error of the server itself.
const INTERNAL_ERROR: i32 = -32_603;

const SCORE: &str = "score_trajectory";
const EXPLAIN: &str = "explain_alignment";

/// The MCP server with the tools `score_trajectory` and `explain_alignment`.
pub(super) struct ScoreServer {
    desk: Arc<Desk>,
    tools: [Tool; 2],
}

impl ScoreServer {
    pub(super) fn new(desk: Arc<Desk>) -> Self {
        let tools = [
            tool(
                SCORE,
                "Scores a trajectory of tool calls against a reference: recall, precision, argument similarity and fidelity, \
                 step coherence, merge purity and order consistency, each from 0 to 1, and which calls are matched.",
            ),
            tool(
                EXPLAIN,
                "Explains a score call by call: which calls of a trajectory are matched with which of the reference, which \
                 arguments differ and why, what is missing or extra, and which steps are split, merged or out of order.",
            ),
        ];
        Self { desk, tools }
    }

    async fn answer(&self, tool: &str, arguments: Map<String, Value>) -> Answer {
        if !self.tools.iter().any(|known| known.name == tool) {
            return Answer::UnknownTool;
        }
        let Some(place) = self.desk.enqueue(1) else {
            return Answer::Result(ToolResult::error("too many calls are waiting; try again later"));
        };
        let explains = tool == EXPLAIN;
        let done = self.desk.work(move |scorer| {
            let _place = place;
            let prediction = read(scorer, &arguments, "prediction")?;
            let reference = read(scorer, &arguments, "reference")?;
            if explains {
                return Ok(ToolResult::text(scorer.audit(Some(prediction), reference)?.0));
            }
            let pairs = scorer.score(&[(Some(prediction), reference)])?;
            let text = pairs.first().and_then(|pair| pair.to_json().ok()).unwrap_or_default();
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            Ok::<_, PairError>(ToolResult::structured(&value))
        });
        match done.await {
            Ok(Ok(result)) => Answer::Result(result),
            Ok(Err(error)) if error.is_unavailable => Answer::Result(ToolResult::error(error.message)),
            Ok(Err(error)) => Answer::InvalidArguments(error.message),
            Err(Crashed) => Answer::ProtocolError {
                code: INTERNAL_ERROR,
                message: "the tool crashed; this is a bug".to_owned(),
            },
        }
    }
}

fn read(scorer: &PairScorer, arguments: &Map<String, Value>, name: &str) -> Result<Trajectory, PairError> {
    let missing = || PairError {
        is_unavailable: false,
        message: format!(
            "`{name}` is missing; it should be a trajectory, {{\"steps\": ..}}, or a list of messages"
        ),
        problems: Vec::new(),
    };
    let value = arguments.get(name).ok_or_else(missing)?;
    scorer.read(name, value.to_string().as_bytes())
}

fn tool(name: &str, description: &str) -> Tool {
    let trajectory = |what: &str| {
        json!({
            "type": ["object", "array"],
            "description": format!(
                "{what}: {{\"steps\": [{{\"calls\": [{{\"name\": \"server/tool\", \"arguments\": {{..}}}}]}}]}}, or a list of \
                 messages with tool calls. Calls of one step were made at once."
            ),
        })
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "prediction": trajectory("The calls that were made"),
            "reference": trajectory("The calls that should have been made"),
        },
        "required": ["prediction", "reference"],
    });
    let read_only = json!({ "annotations": { "readOnlyHint": true, "openWorldHint": false } });
    let object = |value: Value| value.as_object().cloned().unwrap_or_default();
    Tool {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        input_schema: object(schema),
        output_schema: None,
        extra: object(read_only),
    }
}

impl Toolbox for ScoreServer {
    fn name(&self) -> &'static str {
        "score"
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> Answering<'a> {
        Box::pin(self.answer(tool, arguments))
    }
}
