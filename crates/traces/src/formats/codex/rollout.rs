//! Rollout files: lines of a time, a type and a payload. The model's items have the calls, events their outcomes.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::items::{Item, item};
use super::{is_failed, usage};
use crate::formats::prelude::*;

/// The outcome of a call, by its event.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    is_error: bool,
    seconds: Option<f64>,
}

/// A rollout that is being read.
#[derive(Debug, Default)]
struct Rollout {
    conversation: Conversation,
    marks: HashMap<String, Mark>,
    /// Tokens of all replies so far, as events repeat them.
    total: Option<Usage>,
    /// Hashes of the items with ids, to drop items that a session repeats after a further head.
    seen: HashSet<u64>,
    heads: u64,
}

pub(super) fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut it = Rollout::default();
    input.values(sink, |_, record| {
        match &record.value {
            Json::Array(lines) => lines.iter().for_each(|line| it.line(line)),
            line => it.line(line),
        }
        Ok(())
    })?;
    sink.trace(None, it.finish().finish())
}

impl Rollout {
    fn line(&mut self, line: &Json) {
        let Some(payload) = line.member("payload") else { return };
        self.conversation.at(line.member("timestamp").and_then(time));
        let kind = line.text("type").unwrap_or_default();
        self.heads += u64::from(kind == "session_meta");
        match kind {
            // Forks repeat the head of the session that they come from after their own.
            "session_meta" if self.conversation.id.is_none() => self.conversation.id = payload.id("id"),
            "turn_context" => {
                self.conversation.set_model(payload.text("model"));
            }
            "response_item" if self.is_repeated(payload) => {
                self.conversation.note("a repeated item is left out");
            }
            "response_item" => self.item(payload),
            "event_msg" => self.event(payload),
            "token_usage_record" => {
                self.conversation.usage.add(payload.member("usage").map(usage).unwrap_or_default());
            }
            _ => {}
        }
    }

    /// Whether an equal item with the same id came before. Without a further session head, it is a new item of a
    /// provider that counts ids from 0 again.
    fn is_repeated(&mut self, payload: &Json) -> bool {
        if payload.text("id").is_none_or(str::is_empty) {
            return false;
        }
        let mut hasher = DefaultHasher::new();
        payload.to_plain_text().hash(&mut hasher);
        !self.seen.insert(hasher.finish()) && self.heads > 1
    }

    fn item(&mut self, payload: &Json) {
        if payload.says("type", "message") {
            return self.message(payload);
        }
        match item(payload) {
            Item::Call(call) => {
                self.conversation.reply(None);
                self.conversation.call(call);
            }
            Item::Hosted(call) => self.conversation.step(vec![call]),
            Item::Result(mut outcome) => {
                let mark = outcome.id.as_ref().and_then(|id| self.marks.remove(id)).unwrap_or_default();
                outcome.is_error |= mark.is_error;
                outcome.seconds = mark.seconds;
                self.conversation.result(outcome);
            }
            Item::Nothing => {}
            Item::Unknown => self.conversation.note("an item of an unknown type is left out"),
        }
    }

    fn message(&mut self, payload: &Json) {
        let content = Content::of_member(payload, "content");
        match payload.text("role") {
            Some("user") => self.conversation.user(user_content(payload).unwrap_or(content)),
            Some("assistant") => {
                self.conversation.reply(None);
                self.conversation.say(&content.text());
            }
            _ => {}
        }
    }

    /// Reads an event: only its facts about calls count, because it repeats messages.
    fn event(&mut self, payload: &Json) {
        match payload.text("type").unwrap_or_default() {
            "token_count" => {
                let total = payload.below(&["info", "total_token_usage"]).map(usage);
                self.total = total.or(self.total);
            }
            "task_started" | "turn_started" => {
                self.conversation.answer = Answer::FromMessages;
                self.conversation.end_reply();
            }
            "task_complete" | "turn_complete" => {
                let last = payload.text("last_agent_message").filter(|text| !text.is_empty());
                self.conversation.answer =
                    last.map_or(Answer::FromMessages, |text| Answer::Stated(Some(text.to_owned())));
            }
            "thread_rolled_back" => self.conversation.note("turns that the user took back are kept"),
            "item_completed" => {
                if let Some(item) = payload.member("item") {
                    self.mark(item.id("id"), item, is_failed(item.text("status")));
                }
            }
            kind if kind.ends_with("_end") || kind == "dynamic_tool_call_response" => {
                self.mark(payload.id("call_id"), payload, has_failed(payload));
            }
            _ => {}
        }
    }

    fn mark(&mut self, id: Option<String>, event: &Json, is_error: bool) {
        let Some(id) = id.filter(|id| !id.is_empty()) else { return };
        let code =
            event.member("exit_code").is_some_and(|code| matches!(code, Json::Integer(code) if *code != 0));
        let seconds = event.member("duration").and_then(seconds);
        self.marks.insert(id, Mark { is_error: is_error || code, seconds });
    }

    fn finish(mut self) -> Conversation {
        let it = &mut self.conversation;
        // Complete calls whose result came before the event, or never.
        for call in it.calls_mut().rev() {
            if let Some(mark) = call.id.as_ref().and_then(|id| self.marks.remove(id)) {
                call.is_error |= mark.is_error;
                call.seconds = mark.seconds.or(call.seconds);
            }
        }
        it.usage = self.total.unwrap_or(it.usage);
        self.conversation
    }
}

/// The user's own part of a message, where the file says who wrote which part; `None` if it does not.
fn user_content(payload: &Json) -> Option<Content> {
    let kinds = payload.below(&["internal_chat_message_metadata_passthrough", "content_item_kinds"])?;
    let kinds: Vec<&str> = kinds.items().iter().filter_map(Json::as_str).collect();
    let parts = payload.list("content");
    if kinds.len() != parts.len() || kinds.iter().all(|kind| *kind == "unknown") {
        return None;
    }
    let mut content = Content::default();
    let own = kinds.iter().zip(parts).filter(|(kind, _)| kind.starts_with("user."));
    own.for_each(|(_, part)| content.add(part));
    Some(content)
}

/// Whether an event of older versions says that a call failed.
fn has_failed(event: &Json) -> bool {
    let result = event.member("result");
    let is_ok = |value: &Json| !["is_error", "isError"].iter().any(|key| value.is(key));
    is_failed(event.text("status"))
        || event.get("success") == Some(&Json::Bool(false))
        || result
            .is_some_and(|result| result.has("Err") || result.member("Ok").is_some_and(|value| !is_ok(value)))
}

/// A duration: `{secs, nanos}`, or a text such as `1.5s`.
fn seconds(duration: &Json) -> Option<f64> {
    if members(duration).is_empty() {
        return duration
            .as_str()?
            .trim_end_matches('s')
            .parse()
            .ok()
            .filter(|seconds: &f64| seconds.is_finite());
    }
    Some(duration.number("secs")? + duration.number("nanos").unwrap_or_default() / 1e9)
}

#[cfg(test)]
mod tests {
    use crate::Trace;
    use crate::testing::{read_text, shown};

    fn rollout(lines: &[&str]) -> Trace {
        let head = r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}"#;
        let line = |(kind, payload): (&str, &str)| {
            format!("{{\"timestamp\":\"2026-01-01T00:00:01Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
        };
        let lines = lines.iter().filter_map(|text| text.split_once(' ')).map(|(kind, payload)| {
            line((
                match kind {
                    "item" => "response_item",
                    "event" => "event_msg",
                    other => other,
                },
                payload,
            ))
        });
        let text: String = std::iter::once(format!("{head}\n")).chain(lines).collect();
        let (format, mut kept) = read_text("rollout.jsonl", &text).unwrap();
        assert_eq!(format, "codex-rollout");
        kept.traces.remove(0)
    }

    #[test]
    fn tokens_and_thoughts_do_not_divide_a_reply_and_events_are_no_calls() {
        let trace = rollout(&[
            r##"item {"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /x"}]}"##,
            r#"item {"type":"message","role":"user","content":[{"type":"input_text","text":"<user_instructions>x</user_instructions>"}]}"#,
            r#"item {"type":"message","role":"user","content":[{"type":"input_text","text":"Q?"}]}"#,
            r#"turn_context {"model":"m"}"#,
            r#"item {"type":"function_call","name":"a","arguments":"{\"x\":1","call_id":"1"}"#,
            r#"event {"type":"token_count","info":null}"#,
            r#"item {"type":"reasoning","summary":[]}"#,
            r#"item {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Now"}]}"#,
            r#"token_usage_record {"usage":{"input_tokens":5,"output_tokens":1}}"#,
            r#"item {"type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"2"}"#,
            r#"item {"type":"function_call","namespace":"mcp__shop__","name":"b","arguments":"","call_id":"3"}"#,
            r#"event {"type":"exec_command_end","call_id":"1","exit_code":2,"duration":{"secs":1,"nanos":500000000}}"#,
            r#"item {"type":"function_call_output","call_id":"1","output":"one"}"#,
            r#"item {"type":"custom_tool_call_output","call_id":"2","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"}"#,
            r#"event {"type":"mcp_tool_call_end","call_id":"3","result":{"Err":"no"}}"#,
            r#"item {"type":"function_call_output","call_id":"3","output":"[{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":\"image/png\"}]"}"#,
            r#"item {"type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}}"#,
            r#"item {"type":"local_shell_call","call_id":"4","action":{"type":"exec","command":["ls"]}}"#,
            r#"item {"type":"function_call_output","call_id":"4","output":"ok"}"#,
            r#"event {"type":"token_count","info":{"total_token_usage":{"input_tokens":7,"cached_input_tokens":2,"output_tokens":3}}}"#,
            r#"event {"type":"task_complete","last_agent_message":"End."}"#,
        ]);
        assert_eq!(
            shown(&trace),
            [
                r#"a({"x":1)=one! apply_patch({"input":"*** Begin"})={"output":"x","metadata":{"exit_code":1}}! shop/b({})=[{"type":"image","data":"AAAA","mimeType":"image/png"}]!"#,
                r#"web_search({"type":"search","query":"q"})=-"#,
                r#"local_shell({"type":"exec","command":["ls"]})=ok"#,
            ]
        );
        assert_eq!(trace.question.unwrap().text(), "Q?");
        assert_eq!((trace.id.as_deref(), trace.model.as_deref()), (Some("s"), Some("m")));
        assert_eq!((trace.usage.input, trace.usage.cached, trace.usage.output), (Some(7), Some(2), Some(3)));
        assert_eq!(trace.final_reply.as_deref(), Some("End."));
        assert_eq!(trace.steps[0][0].seconds, Some(1.5));
    }

    #[test]
    fn the_file_says_which_part_the_user_wrote_and_repeated_items_are_dropped() {
        let call = r#"item {"type":"function_call","id":"fc_1","name":"a","arguments":"{}","call_id":"1"}"#;
        let out =
            r#"item {"type":"function_call_output","call_id":"1","output":{"content":"no","success":false}}"#;
        let again = rollout(&[call, out, call, out]);
        assert_eq!(shown(&again), ["a({})=no!", "a({})=no!"]);
        let trace = rollout(&[
            r#"item {"type":"message","role":"user","content":[{"type":"input_text","text":"Dir"},{"type":"input_text","text":"Q?"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["harness.x","user.text"]}}"#,
            call,
            out,
            r#"session_meta {"id":"parent"}"#,
            call,
            r#"token_usage_record {"usage":{"input_tokens":5,"output_tokens":1}}"#,
            r#"token_usage_record {"usage":{"input_tokens":6,"output_tokens":1}}"#,
        ]);
        assert_eq!(shown(&trace), ["a({})=no!"]);
        assert_eq!(trace.question.unwrap().text(), "Q?");
        assert_eq!((trace.id.as_deref(), trace.usage.input, trace.final_reply), (Some("s"), Some(11), None));
    }
}
