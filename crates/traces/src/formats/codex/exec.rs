//! The stream of `codex exec --json`: items that begin and end. The model's own calls and its replies are not in it.

use super::{is_failed, usage};
use crate::formats::prelude::*;
use crate::overlap::Overlap;

/// A session that is being read.
#[derive(Debug, Default)]
struct Thread {
    line: Option<u64>,
    conversation: Conversation,
    calls: Overlap,
    /// The items that have begun.
    open: HashMap<String, usize>,
    /// The last text after the last call.
    last_text: Option<String>,
    moment: u64,
}

pub(super) fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut threads: Vec<Thread> = vec![Thread::default()];
    input.values(sink, |_, record| {
        let lines = items_or_one(&record.value);
        for line in lines {
            if let Some(begun) = begins(line, threads.last()) {
                threads.push(Thread { line: record.line, ..begun });
            }
            if let Some(thread) = threads.last_mut() {
                thread.event(line);
            }
        }
        Ok(())
    })?;
    threads.into_iter().filter(|thread| thread.moment > 0).try_for_each(|thread| {
        let line = thread.line;
        sink.trace(line, thread.finish().finish())
    })
}

/// A new session, if a line begins one; a session that is resumed has the same id, and goes on.
fn begins(line: &Json, last: Option<&Thread>) -> Option<Thread> {
    let id = if line.says("type", "thread.started") { line.id("thread_id")? } else { return None };
    let is_same = last.is_some_and(|last| last.conversation.id.as_ref() == Some(&id));
    let mut thread = Thread::default();
    thread.conversation.id = Some(id);
    (!is_same).then_some(thread)
}

impl Thread {
    fn event(&mut self, event: &Json) {
        self.moment += 1;
        let kind = event.text("type").unwrap_or_default();
        match (kind, event.member("item")) {
            // Each run counts its items from 0 again.
            ("thread.started", _) => self.open.clear(),
            ("item.started" | "item.completed", Some(item)) => self.item(item, kind == "item.completed"),
            // The usage of a resumed session is the total of all its turns.
            ("turn.completed", _) => {
                let reported = event.member("usage").map(usage).filter(|usage: &Usage| !usage.is_empty());
                self.conversation.usage = reported.unwrap_or(self.conversation.usage);
            }
            ("turn.failed", _) => self.conversation.note("the program says that a turn failed"),
            _ => {}
        }
    }

    fn item(&mut self, item: &Json, is_done: bool) {
        let kind = item.text("type").unwrap_or_default();
        let Some(call) = call(kind, item) else {
            match kind {
                "agent_message" if is_done => self.last_text = item.text("text").map(str::to_owned),
                "agent_message" | "reasoning" | "error" | "todo_list" => {}
                _ if is_done => self.conversation.note("an item of an unknown type is left out"),
                _ => {}
            }
            return;
        };
        self.last_text = None;
        let id = item.id("id").unwrap_or_default();
        let begun = self.open.remove(&id);
        if !is_done {
            let number = self.calls.begin(call, self.moment);
            self.open.insert(id, number);
            return;
        }
        let number = begun.unwrap_or_else(|| self.calls.begin(TracedCall::default(), self.moment));
        if let Some(place) = self.calls.end(number, self.moment) {
            *place = call;
        }
    }

    fn finish(mut self) -> Conversation {
        if !self.calls.is_empty() {
            self.conversation.note("which calls a model made together is told by their times alone");
        }
        self.conversation.answer = Answer::Stated(self.last_text);
        self.calls.steps(&mut self.conversation);
        self.conversation
    }
}

/// The call that an item shows; `None` if the item is not a call.
fn call(kind: &str, item: &Json) -> Option<TracedCall> {
    let some = |key: &str| Some(object([(key, item.member(key)?.clone())]));
    let text = |text: &str| Json::String(text.to_owned());
    let (name, arguments, result) = match kind {
        "command_execution" => {
            let result = item.text("aggregated_output").map(text);
            (kind.to_owned(), some("command"), result.filter(|_| !item.says("status", "in_progress")))
        }
        "mcp_tool_call" => {
            let error =
                item.member("error").and_then(|error| error.as_str().or_else(|| error.text("message")));
            let content =
                item.below(&["result", "content"]).map(|content| Content::from_json(content).to_json());
            let name = tool(item.text("server"), item.text("tool").unwrap_or_default());
            (name, arguments(item.member("arguments")), content.or_else(|| error.map(text)))
        }
        "file_change" => (kind.to_owned(), some("changes"), None),
        "web_search" => (kind.to_owned(), item.member("action").cloned().or_else(|| some("query")), None),
        _ => return None,
    };
    let code = matches!(item.member("exit_code"), Some(Json::Integer(code)) if *code != 0);
    let is_error = is_failed(item.text("status")) || code || kind == "mcp_tool_call" && item.has("error");
    Some(TracedCall { result, is_error, ..TracedCall::new(None, name, arguments) })
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    #[test]
    fn items_that_overlap_are_a_step_and_a_resumed_session_goes_on() {
        let text = r#"{"type":"thread.started","thread_id":"t"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"I will"}}
{"type":"item.started","item":{"id":"item_1","type":"mcp_tool_call","server":"shop","tool":"a","arguments":{"x":1},"status":"in_progress"}}
{"type":"item.started","item":{"id":"item_2","type":"mcp_tool_call","server":"shop","tool":"b","arguments":{},"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_2","type":"mcp_tool_call","server":"shop","tool":"b","arguments":{},"result":null,"error":{"message":"no"},"status":"failed"}}
{"type":"item.completed","item":{"id":"item_1","type":"mcp_tool_call","server":"shop","tool":"a","arguments":{"x":1},"result":{"content":[{"type":"text","text":"A"}]},"error":null,"status":"completed"}}
{"type":"item.started","item":{"id":"item_3","type":"todo_list","items":[]}}
{"type":"item.completed","item":{"id":"item_4","type":"file_change","changes":[{"path":"p","kind":"add"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"item_5","type":"agent_message","text":"Done."}}
{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}
{"type":"thread.started","thread_id":"t"}
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"turn.completed","usage":{"input_tokens":20,"cached_input_tokens":4,"output_tokens":3}}
{"type":"thread.started","thread_id":"u"}
{"type":"item.completed","item":{"id":"item_0","type":"strange"}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Hi."}}
"#;
        let (format, kept) = read_text("stream.jsonl", text).unwrap();
        let [first, second] = &kept.traces[..] else { panic!("{kept:?}") };
        assert_eq!(format, "codex-exec");
        assert_eq!(
            shown(first),
            [
                r#"shop/a({"x":1})=A shop/b({})=no!"#,
                r#"file_change({"changes":[{"path":"p","kind":"add"}]})=-"#,
                r#"command_execution({"command":"ls"})=-"#
            ]
        );
        assert_eq!(
            (first.id.as_deref(), first.final_reply.as_deref(), first.usage.input),
            (Some("t"), None, Some(20))
        );
        assert_eq!((second.id.as_deref(), second.final_reply.as_deref()), (Some("u"), Some("Hi.")));
        assert_eq!(second.notes.iter().next(), Some(("an item of an unknown type is left out", 1)));
    }
}
