//! `UIMessage`s, as chat applications store them: one message of the assistant holds all its replies.

use super::{call, restore_inputs};
use crate::formats::prelude::*;

/// Lists of messages with calls as parts.
pub(in super::super) const UI_MESSAGES: Format = Format {
    name: "vercel-ai-ui-messages",
    title: "Vercel AI SDK: UI messages",
    recognizes: |head| head.any_message(is_message),
    read,
};

fn is_message(message: &Json) -> bool {
    let is_part =
        |part: &Json| part.says("type", "step-start") || part.has("toolInvocation") || is_tool(part);
    // opencode keeps the role elsewhere.
    message.has("role") && message.list("parts").iter().any(is_part)
        || message.list("toolInvocations").iter().any(|it| it.has("toolName"))
}

fn is_tool(part: &Json) -> bool {
    let kind = part.text("type").unwrap_or_default();
    (kind == "dynamic-tool" || kind.starts_with("tool-")) && part.has("toolCallId") && part.has("state")
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.conversations(sink, |sink, at, value| {
        let mut conversation = Conversation::with_id(at.id(value.id("id")));
        for message in messages(value).unwrap_or_default() {
            self::message(&mut conversation, message);
        }
        restore_inputs(&mut conversation);
        sink.trace(at.line, conversation.finish())
    })
}

fn message(conversation: &mut Conversation, message: &Json) {
    conversation.within(message.member("createdAt").and_then(time));
    match message.text("role") {
        Some("user") => {
            let parts = message.member("parts").map(Content::from_json).filter(|content| !content.is_empty());
            conversation.user(
                parts.or_else(|| message.member("content").map(Content::from_json)).unwrap_or_default(),
            );
        }
        Some("assistant") => {
            conversation.end_reply();
            let usage =
                message.member("metadata").and_then(|metadata| metadata.first(&["totalUsage", "usage"]));
            conversation.usage.add(usage.map(Usage::of_ai_sdk));
            if message.list("parts").is_empty() {
                invocations(conversation, message);
            } else {
                parts(conversation, message.list("parts"));
            }
        }
        Some("system" | "data") => {}
        _ => conversation.note("a message of an unknown role is left out"),
    }
}

/// A call with its outcome.
fn call_and_outcome(part: &Json) -> (TracedCall, Option<Outcome>) {
    let part = part.member("toolInvocation").unwrap_or(part);
    let name = part.text("toolName").or_else(|| part.text("type")?.strip_prefix("tool-")).unwrap_or_default();
    let state = part.text("state").unwrap_or_default();
    // An input that is still being written is only a part of what the model wrote.
    let is_whole = !matches!(state, "input-streaming" | "partial-call");
    let written = part.first(&["input", "rawInput", "args"]).filter(|_| is_whole);
    let call = TracedCall { tool: tool(None, name), arguments: arguments(written), ..call(part) };
    let id = call_id(part.member("toolCallId"));
    let (result, is_error) = match state {
        "output-error" => (part.member("errorText").cloned(), true),
        "output-denied" => (part.below(&["approval", "reason"]).cloned(), false),
        "output-available" if !part.is("preliminary") => (part.get("output").cloned(), false),
        "result" => (part.get("result").cloned(), false),
        _ => return (call, None),
    };
    (call, Some(Outcome { is_error, ..Outcome::new(id, result) }))
}

/// Adds the parts of a message; `step-start` separates its replies.
fn parts(conversation: &mut Conversation, parts: &[Json]) {
    let has_steps = parts.iter().any(|part| part.says("type", "step-start"));
    let mut outcomes = Vec::new();
    for part in parts {
        match part.text("type") {
            Some("step-start") => {
                conversation.results(outcomes.drain(..));
                conversation.end_reply();
            }
            Some("text") => {
                conversation.reply(None);
                conversation.say(part.text("text").unwrap_or_default());
            }
            _ if is_tool(part) || part.has("toolInvocation") => {
                conversation.reply(None);
                let (call, outcome) = call_and_outcome(part);
                conversation.call(call);
                // A call that the provider ran is done before the reply goes on.
                if part.is("providerExecuted") {
                    if let Some(outcome) = outcome {
                        conversation.result(outcome);
                    }
                } else {
                    outcomes.extend(outcome);
                }
                if !has_steps {
                    conversation.results(outcomes.drain(..));
                    conversation.end_reply();
                    conversation.note("whether a call was made together with others is unknown");
                }
            }
            Some("reasoning" | "file" | "source" | "source-url" | "source-document") => {}
            Some(kind) if kind.starts_with("data-") => {}
            _ => conversation.note("a part of an unknown type is left out"),
        }
    }
    conversation.results(outcomes);
    conversation.end_reply();
}

/// Adds a message of version 3 or 4: its calls, some with the number of their reply, and then its text.
fn invocations(conversation: &mut Conversation, message: &Json) {
    let (mut outcomes, mut last) = (Vec::new(), None);
    for invocation in message.list("toolInvocations") {
        let step = invocation.count("step");
        if step.is_none() {
            conversation.note("whether a call was made together with others is unknown");
        }
        if step.is_none() || step != last {
            conversation.results(outcomes.drain(..));
            conversation.end_reply();
        }
        last = step;
        let (call, outcome) = call_and_outcome(invocation);
        conversation.call(call);
        outcomes.extend(outcome);
    }
    conversation.results(outcomes);
    conversation.new_reply();
    conversation.say(Content::of_member(message, "content").text().as_str());
    conversation.end_reply();
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;
    use crate::trace::Trace;

    fn trace(text: &str) -> Trace {
        let (message, _) = parse(text.as_bytes()).unwrap();
        assert!(is_message(&message));
        let mut conversation = Conversation::default();
        self::message(&mut conversation, &message);
        conversation.finish()
    }

    fn sizes(trace: &Trace) -> Vec<usize> {
        trace.steps.iter().map(Vec::len).collect()
    }

    #[test]
    fn states() {
        let trace = trace(
            r#"{"role": "assistant", "metadata": {"usage": {"inputTokens": 4}}, "parts": [{"type": "step-start"},
            {"type": "tool-a", "toolCallId": "1", "state": "input-streaming", "input": {"x": "ab"}},
            {"type": "dynamic-tool", "toolName": "b", "toolCallId": "2", "state": "output-available", "input": {}, "output": null},
            {"type": "tool-c", "toolCallId": "3", "state": "output-error", "input": "{\"x\"", "errorText": "E"},
            {"type": "tool-d", "toolCallId": "4", "state": "output-denied", "input": {}, "approval": {"reason": "no"}},
            {"type": "tool-e", "toolCallId": "5", "state": "approval-requested", "input": {}},
            {"type": "data-weather", "data": 1}, {"type": "step-start"}, {"type": "text", "text": "done"}]}"#,
        );
        let [open, null, broken, denied, asked] = &trace.steps[0][..] else { panic!("{trace:?}") };
        assert_eq!((&open.arguments, &open.result), (&None, &None));
        assert_eq!((null.tool.as_str(), &null.result), ("b", &Some(Json::Null)));
        assert_eq!(
            (broken.arguments.as_ref().and_then(Json::as_str), broken.is_error),
            (Some("{\"x\""), true)
        );
        assert_eq!((denied.result.as_ref().and_then(Json::as_str), denied.is_error), (Some("no"), false));
        assert_eq!(asked.result, None);
        assert_eq!(trace.final_reply.as_deref(), Some("done"));
        assert_eq!(trace.usage.input, Some(4));
    }

    #[test]
    fn without_steps_nobody_knows_what_was_parallel() {
        let part = |id: u8| {
            format!(
                r#"{{"type": "tool-invocation", "toolInvocation": {{"toolName": "a", "toolCallId": "{id}", "state": "result", "args": {{}}, "result": {id}}}}}"#
            )
        };
        let trace = trace(&format!(
            r#"{{"role": "assistant", "parts": [{}, {}, {{"type": "text", "text": "t"}}]}}"#,
            part(1),
            part(2)
        ));
        assert_eq!(sizes(&trace), [1, 1]);
        assert_eq!(trace.notes.iter().map(|(_, count)| count).collect::<Vec<_>>(), [2]);
        assert_eq!(trace.final_reply.as_deref(), Some("t"));
    }

    #[test]
    fn older_messages_may_number_their_steps() {
        let trace = trace(
            r#"{"role": "assistant", "content": "done", "toolInvocations": [
            {"toolName": "a", "toolCallId": "1", "state": "result", "step": 0, "args": {"x": 1}, "result": "r"},
            {"toolName": "a", "toolCallId": "2", "state": "result", "step": 0, "args": {}, "result": "s"},
            {"toolName": "a", "toolCallId": "3", "state": "call", "step": 1, "args": {}}]}"#,
        );
        assert_eq!(sizes(&trace), [2, 1]);
        assert_eq!(trace.steps[0][0].result.as_ref().and_then(Json::as_str), Some("r"));
        assert_eq!(trace.final_reply.as_deref(), Some("done"));
    }
}
