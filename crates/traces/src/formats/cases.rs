//! Cases of evaluations: the calls that were made beside those that should be made, as two lists of calls without
//! messages. Vertex AI, DeepEval, Ragas and others have them, each under its own names.

use m3_trajectory::json::Json;

use super::Format;
use super::dialects::add_messages;
use crate::call_shapes::{call, objects, plain};
use crate::content::Content;
use crate::conversation::{Answer, Conversation};
use crate::fields::{Fields, members};
use crate::input::{At, Input, ReadError, Sink};
use crate::trace::Trace;

/// The format of cases, recognized by a list of calls under a name that only cases have.
pub(super) const CASES: Format = Format {
    name: "eval-cases",
    title: "cases of evaluations: calls beside those that should be made",
    recognizes: |head| head.any(|record| holds_calls(record, MADE) || holds_calls(record, EXPECTED)),
    read,
};

/// Members with the calls that were made, without case and punctuation.
const MADE: &[&str] = &[
    "actualtoolcalls",
    "actualtools",
    "actualtrajectory",
    "predictedtoolcalls",
    "predictedtrajectory",
    "toolscalled",
];

/// Members with the calls that should be made.
const EXPECTED: &[&str] = &[
    "expectedtoolcalls",
    "expectedtools",
    "expectedtrajectory",
    "groundtruthtoolcalls",
    "referencetoolcalls",
    "referencetrajectory",
];

/// Members with messages, where the calls are not listed.
const MESSAGES: &[&str] = &["userinput", "messages", "turns"];

/// Members with the question and with the answer, if they are texts.
const QUESTIONS: &[&str] = &["prompt", "input", "question", "query", "userinput"];
const ANSWERS: &[&str] = &["response", "actualoutput", "output", "answer"];

/// The first member with one of these names.
fn member<'j>(record: &'j Json, names: &[&str]) -> Option<&'j Json> {
    let is_held = |value: &Json| *value != Json::Null;
    members(record)
        .iter()
        .find(|(key, value)| is_held(value) && names.contains(&&*plain(key)))
        .map(|(_, it)| it)
}

fn holds_calls(record: &Json, names: &[&str]) -> bool {
    member(record, names).is_some_and(|list| objects(list).iter().any(|item| call(item).is_some()))
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.records(sink, case)
}

fn case(sink: &mut dyn Sink, at: At, record: &Json) -> Result<(), ReadError> {
    let text = |names| member(record, names).and_then(Json::as_str);
    let mut it = Conversation::default();
    if let Some(question) = text(QUESTIONS) {
        it.user(Content::of_text(question));
    }
    match member(record, MADE) {
        Some(list) => add(&mut it, list),
        None => add_messages(&mut it, member(record, MESSAGES).map(Json::items).unwrap_or_default()),
    }
    if let Some(answer) = text(ANSWERS) {
        it.answer = Answer::Stated(Some(answer.to_owned()));
    }
    it.id = at.id(record.id("id"));
    let mut trace = it.finish();
    trace.reference = member(record, EXPECTED).map(|list| {
        let mut expected = Conversation::with_id(trace.id.clone());
        expected.is_reference = true;
        add(&mut expected, list);
        Box::new(Trace { question: trace.question.clone(), ..expected.finish() })
    });
    sink.trace(at.line, trace)
}

/// Adds a list of calls. It does not tell which of them were made together.
fn add(it: &mut Conversation, list: &Json) {
    for value in objects(list) {
        match call(&value) {
            Some(call) => {
                it.note("a call whose reply is not known is a step");
                it.step(vec![call]);
            }
            None => it.note("a call that names no tool is left out"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    /// The members are those of Vertex AI's evaluation datasets, of DeepEval 4.3 (`LLMTestCase`, `EvaluationDataset.save_as`)
    /// and of Ragas (`MultiTurnSample`).
    #[test]
    fn calls_that_should_be_made_are_a_reference() {
        for text in [
            r#"{"prompt": "Q?", "response": "A.", "predicted_trajectory": [{"tool_name": "a", "tool_input": {"x": 1}}],
                "reference_trajectory": [{"tool_name": "b", "tool_input": {"x": 2}}]}"#,
            r#"[{"input": "Q?", "actual_output": "A.", "tools_called": [{"name": "a", "type": "FUNCTION", "inputParameters": {"x": 1}}],
                "expected_tools": [{"name": "b", "inputParameters": {"x": 2}}]}]"#,
            r#"{"input": "Q?", "actualOutput": "A.", "toolsCalled": [{"name": "a", "inputParameters": {"x": 1}}],
                "expectedTools": [{"name": "b", "inputParameters": {"x": 2}}]}"#,
            r#"{"user_input": [{"content": "Q?", "type": "human"}, {"content": "", "type": "ai", "tool_calls": [{"name": "a", "args":
                {"x": 1}}]}, {"content": "r", "type": "tool"}, {"content": "A.", "type": "ai"}], "reference_tool_calls": [{"name": "b", "args": {"x": 2}}]}"#,
        ] {
            let (format, kept) = read_text("cases.json", text).unwrap();
            let trace = &kept.traces[0];
            assert_eq!(format, "eval-cases", "{text}");
            assert!(shown(trace)[0].starts_with(r#"a({"x":1})="#), "{text}");
            assert_eq!(trace.final_reply.as_deref(), Some("A."), "{text}");
            assert_eq!(trace.question.as_ref().unwrap().text(), "Q?");
            assert_eq!(shown(trace.reference.as_ref().unwrap()), [r#"b({"x":2})=-"#], "{text}");
        }
    }
}
