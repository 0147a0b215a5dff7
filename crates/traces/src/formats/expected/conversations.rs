//! Conversations with the calls that should be made beside them, as Ragas has them (`user_input`, `reference_tool_calls`).

use super::conversation;
use super::members::{CallsMember, Whose};
use super::rows::trace_of;
use crate::formats::dialects::add_messages;
use crate::formats::prelude::*;

/// The format, recognized by both.
pub(in crate::formats) const CONVERSATIONS: Format = Format {
    name: "expected-beside-messages",
    title: "conversations with the calls that should be made beside them",
    recognizes: |head| head.any(|record| conversation(record).is_some() && expected(record).is_some()),
    read,
};

/// The member with the calls that should be made.
fn expected(record: &Json) -> Option<CallsMember<'_>> {
    CallsMember::all(record)
        .into_iter()
        .find(|member| member.whose == Whose::Expected && member.is_sure(record))
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.records(sink, |sink, at: At, record| {
        let mut messages = Conversation::with_id(at.id(record.id("id")));
        add_messages(&mut messages, conversation(record).unwrap_or_default());
        let mut trace = messages.finish();
        trace.reference =
            expected(record).and_then(|member| trace_of(sink, at, record, member)).map(Box::new);
        sink.trace(at.line, trace)
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    /// The members are those of `MLflow`'s evaluation datasets, `LangSmith`'s examples and Azure's rows, after their documentation.
    #[test]
    fn what_datasets_keep_apart_is_one_task() {
        for (text, answer) in [
            (
                r#"[{"inputs": {"question": "Q?"}, "expectations": {"expected_response": "A.", "expected_tool_calls": [{"name": "a", "arguments": {"x": 1}}]}}]"#,
                Some("A."),
            ),
            (
                r#"[{"inputs": {"question": "Q?"}, "outputs": {"tool_calls": [{"name": "a", "args": {"x": 1}}]}}]"#,
                None,
            ),
            (r#"[{"question": "Q?", "expected": {"tool": "a", "args": {"x": 1}}}]"#, None),
            (
                r#"[{"input": "Q?", "expected_output": {"tool_calls": [{"name": "a", "args": {"x": 1}}]}}]"#,
                None,
            ),
            (
                r#"{"query": "Q?", "response": "A.", "tool_calls": [{"type": "tool_call", "tool_call_id": "1", "name": "a", "arguments": {"x": 1}}]}"#,
                Some("A."),
            ),
        ] {
            let (format, kept) = read_text("rows.json", text).unwrap();
            let trace = &kept.traces[0];
            assert_eq!(
                (format, shown(trace)),
                ("expected-calls", vec![r#"a({"x":1})=-"#.to_owned()]),
                "{text}"
            );
            assert_eq!(trace.question.as_ref().unwrap().text(), "Q?", "{text}");
            assert_eq!(trace.final_reply.as_deref(), answer, "{text}");
        }
        let chat = r#"{"inputs": {"messages": [{"role": "user", "content": "Q?"}]}, "outputs": {"message": {"role": "assistant", "content": "", "tool_calls":
            [{"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}}]}}}"#;
        let (_, kept) = read_text("rows.json", chat).unwrap();
        assert_eq!(shown(&kept.traces[0]), ["a({})=-"]);
        assert_eq!(kept.traces[0].question.as_ref().unwrap().text(), "Q?");
    }

    /// The members are those of Ragas' `MultiTurnSample` and of a log of chat completions.
    #[test]
    fn calls_that_should_be_made_are_the_reference_of_a_conversation() {
        for text in [
            r#"{"user_input": [{"content": "Q?", "type": "human"}, {"content": "", "type": "ai", "tool_calls": [{"name": "a", "args": {"x": 1}}]},
                {"content": "r", "type": "tool"}, {"content": "A.", "type": "ai"}], "reference_tool_calls": [{"name": "b", "args": {"x": 2}}]}"#,
            r#"{"messages": [{"role": "user", "content": "Q?"}, {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments":
                "{\"x\": 1}"}}]}, {"role": "tool", "tool_call_id": "1", "content": "r"}, {"role": "assistant", "content": "A."}],
                "expected_tools": ["b(x=2)"]}"#,
            r#"{"id": 1, "input": "Q?", "expected_tools": [{"name": "b", "arguments": {"x": 2}}], "output": {"messages": [
                {"role": "user", "content": "Q?"}, {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments":
                "{\"x\": 1}"}}]}, {"role": "tool", "tool_call_id": "1", "content": "r"}, {"role": "assistant", "content": "A."}]}}"#,
        ] {
            let (format, kept) = read_text("cases.json", text).unwrap();
            let trace = &kept.traces[0];
            assert_eq!(format, "expected-beside-messages", "{text}");
            assert_eq!(shown(trace), [r#"a({"x":1})=r"#], "{text}");
            assert_eq!(trace.final_reply.as_deref(), Some("A."), "{text}");
            assert_eq!(trace.question.as_ref().unwrap().text(), "Q?");
            assert_eq!(shown(trace.reference.as_ref().unwrap()), [r#"b({"x":2})=-"#], "{text}");
        }
    }
}
