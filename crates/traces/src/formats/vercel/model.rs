//! `ModelMessage`s: the messages to and from a model, with the results as it saw them.

use super::{call, restore_inputs};
use crate::formats::prelude::*;

/// Lists of messages with calls or results as parts.
pub(in super::super) const MESSAGES: Format = Format {
    name: "vercel-ai-messages",
    title: "Vercel AI SDK: model messages",
    recognizes: |head| head.any_message(is_message),
    read,
};

/// Whether a message has a call or a result as a part.
pub(super) fn is_message(message: &Json) -> bool {
    message.list("content").iter().any(|part| {
        (part.says("type", "tool-call") || part.says("type", "tool-result")) && part.has("toolName")
    })
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.conversations(sink, |sink, at, value| {
        let mut conversation = Conversation::with_id(at.id(value.id("id")));
        all(&mut conversation, messages(value).unwrap_or_default());
        sink.trace(at.line, conversation.finish())
    })
}

/// Adds all messages to the conversation.
pub(in super::super) fn all(conversation: &mut Conversation, messages: &[Json]) {
    for message in messages {
        self::message(conversation, message);
    }
    restore_inputs(conversation);
}

fn message(conversation: &mut Conversation, message: &Json) {
    let content = message.member("content");
    match message.text("role") {
        Some("user") => conversation.user(content.map(Content::from_json).unwrap_or_default()),
        Some("assistant") => {
            conversation.reply(None);
            match content {
                Some(Json::String(text)) => conversation.say(text),
                content => content
                    .map(Json::items)
                    .unwrap_or_default()
                    .iter()
                    .for_each(|part| self::part(conversation, part)),
            }
        }
        Some("tool") => {
            content
                .map(Json::items)
                .unwrap_or_default()
                .iter()
                .for_each(|part| self::part(conversation, part));
        }
        Some("system") => {}
        _ => conversation.note("a message of an unknown role is left out"),
    }
}

fn part(conversation: &mut Conversation, part: &Json) {
    match part.text("type") {
        Some("text") => conversation.say(part.text("text").unwrap_or_default()),
        Some("tool-call") => conversation.call(call(part)),
        // Results within a reply are of tools that the provider ran.
        Some("tool-result") => conversation.result(outcome(part)),
        Some(
            "reasoning" | "redacted-reasoning" | "file" | "tool-approval-request" | "tool-approval-response",
        ) => {}
        _ => conversation.note("a part of an unknown type is left out"),
    }
}

/// A result as the model saw it.
pub(super) fn outcome(part: &Json) -> Outcome {
    let outcome = Outcome {
        id: call_id(part.member("toolCallId")),
        tool: part.text("toolName").map(str::to_owned),
        ..Outcome::default()
    };
    let Some(output) = part.member("output") else {
        // Up to version 4; a list of parts stands beside the value.
        let parts = part.member("experimental_content").map(|parts| Content::from_json(parts).to_json());
        return Outcome {
            result: parts.or_else(|| part.get("result").cloned()),
            is_error: part.is("isError"),
            ..outcome
        };
    };
    let kind = output.text("type").unwrap_or_default();
    let result = match kind {
        "content" => output.member("value").map(|value| Content::from_json(value).to_json()),
        "execution-denied" => output.member("reason").cloned(),
        _ => output.get("value").cloned(),
    };
    Outcome { result, is_error: kind.starts_with("error-"), ..outcome }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;
    use crate::trace::Trace;

    fn trace(messages: &str) -> Trace {
        let (messages, _) = parse(messages.as_bytes()).unwrap();
        let mut conversation = Conversation::default();
        all(&mut conversation, messages.items());
        conversation.finish()
    }

    #[test]
    fn broken_inputs_come_from_the_error() {
        let trace = trace(
            r#"[{"role": "assistant", "content": [
                {"type": "tool-call", "toolCallId": "a", "toolName": "t", "input": {}},
                {"type": "tool-call", "toolCallId": "b", "toolName": "t", "input": {}}]},
            {"role": "tool", "content": [
                {"type": "tool-result", "toolCallId": "b", "toolName": "t", "output": {"type": "error-json", "value": {"x": 1}}},
                {"type": "tool-result", "toolCallId": "a", "toolName": "t", "output": {"type": "error-text", "value":
                "AI_X: Invalid input for tool t: JSON parsing failed: Text: {\"a\": 1.\nError message: SyntaxError: x"}}]}]"#,
        );
        let [first, second] = &trace.steps[0][..] else { panic!("{trace:?}") };
        assert_eq!(first.arguments, Some(Json::String("{\"a\": 1".to_owned())));
        assert_eq!(second.arguments, Some(Json::Object(Vec::new())));
        assert!(first.is_error && second.is_error);
    }

    #[test]
    fn version_4_names_things_otherwise() {
        let trace = trace(
            r#"[{"role": "user", "content": "q"}, {"role": "assistant", "content": [{"type": "text", "text": "so"},
                {"type": "tool-call", "toolCallId": "a", "toolName": "t", "args": {"x": 1}}]},
            {"role": "tool", "content": [
                {"type": "tool-result", "toolCallId": "a", "toolName": "t", "result": {"y": 2}, "isError": true}]},
            {"role": "assistant", "content": "done"}]"#,
        );
        let call = &trace.steps[0][0];
        assert_eq!(call.arguments.as_ref().unwrap().get("x"), Some(&Json::Integer(1)));
        assert_eq!(call.result.as_ref().unwrap().get("y"), Some(&Json::Integer(2)));
        assert!(call.is_error);
        assert_eq!(trace.final_reply.as_deref(), Some("done"));
        assert_eq!(trace.question.unwrap().text(), "q");
    }

    #[test]
    fn a_call_that_was_denied_did_not_fail() {
        let trace = trace(
            r#"[{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "a", "toolName": "t", "input": {}},
                {"type": "tool-approval-request", "approvalId": "p", "toolCallId": "a"}]},
            {"role": "tool", "content": [{"type": "tool-approval-response", "approvalId": "p", "approved": false},
                {"type": "tool-result", "toolCallId": "a", "toolName": "t",
                 "output": {"type": "execution-denied", "reason": "no"}}]}]"#,
        );
        assert_eq!(trace.steps[0][0].result.as_ref().and_then(Json::as_str), Some("no"));
        assert!(!trace.steps[0][0].is_error && trace.notes.iter().next().is_none());
    }
}
