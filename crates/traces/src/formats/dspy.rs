//! DSPy's ReAct: a prediction whose `trajectory` has the tool, the arguments and the observation of each turn under numbered
//! names.

use m3_trajectory::json::Json;

use super::Format;
use crate::arguments::{arguments, tool};
use crate::content::Content;
use crate::conversation::{Answer, Conversation};
use crate::fields::Fields;
use crate::trace::TracedCall;

/// The format of such predictions, recognized by the name of the first tool.
pub(super) const PREDICTION: Format = Format {
    name: "dspy",
    title: "DSPy: predictions of ReAct",
    recognizes: |head| head.any(|record| turns(record).has("tool_name_0")),
    read: |input, sink| {
        input.records(sink, |sink, at, record| {
            let mut it = prediction(record);
            it.id = at.id(record.id("id"));
            sink.trace(at.line, it.finish())
        })
    },
};

/// The tool with which the agent ends; it takes no arguments.
const END: &str = "finish";

fn turns(record: &Json) -> &Json {
    record.member("trajectory").unwrap_or(record)
}

fn prediction(record: &Json) -> Conversation {
    let mut it = Conversation::default();
    let question = record.first(&["question", "query", "input"]).and_then(Json::as_str);
    question.into_iter().for_each(|text| it.user(Content::of_text(text)));
    let turns = turns(record);
    for number in 0.. {
        let Some(name) = turns.text(&format!("tool_name_{number}")) else { break };
        if name == END {
            break;
        }
        it.step(vec![TracedCall {
            tool: tool(None, name),
            arguments: arguments(turns.member(&format!("tool_args_{number}"))),
            result: turns.member(&format!("observation_{number}")).cloned(),
            ..TracedCall::default()
        }]);
    }
    let answer = record.first(&["answer", "response", "output"]).and_then(Json::as_str);
    it.answer = Answer::Stated(answer.map(str::to_owned));
    it
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    /// The members are those of `Prediction.toDict()` of DSPy 3.
    #[test]
    fn turns_have_numbered_names() {
        let text = r#"{"trajectory": {"thought_0": "t", "tool_name_0": "a", "tool_args_0": {"x": 1}, "observation_0": "r", "tool_name_1": "finish",
            "tool_args_1": {}, "observation_1": "Completed."}, "reasoning": "t", "answer": "A."}"#;
        let (format, kept) = read_text("prediction.json", text).unwrap();
        assert_eq!((format, shown(&kept.traces[0])), ("dspy", vec![r#"a({"x":1})=r"#.to_owned()]));
        assert_eq!(kept.traces[0].final_reply.as_deref(), Some("A."));
    }
}
