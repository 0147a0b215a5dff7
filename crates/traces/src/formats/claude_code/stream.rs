//! The output of `stream-json` and the Agent SDK: lines of messages, and a last one with the answer and the tokens.

use super::blocks;
use crate::formats::prelude::*;

/// A session that is being read.
#[derive(Debug, Default)]
struct Run {
    line: Option<u64>,
    conversation: Conversation,
    agents: Vec<(String, Conversation)>,
    /// The sub-agents by the calls that began them.
    of_calls: HashMap<String, usize>,
    /// Tokens of each reply, for a stream that was cut.
    usage: HashMap<String, Usage>,
    has_usage: bool,
    has_messages: bool,
}

pub(super) fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut runs: Vec<Run> = Vec::new();
    let mut of_ids: HashMap<String, usize> = HashMap::new();
    input.values(sink, |_, record| {
        let lines = items_or_one(&record.value);
        for line in lines {
            let Some(id) = line.id("session_id") else { continue };
            let place = *of_ids.entry(id).or_insert_with_key(|id| {
                let mut run = Run { line: record.line, ..Run::default() };
                run.conversation.id = Some(id.clone());
                runs.push(run);
                runs.len() - 1
            });
            if let Some(run) = runs.get_mut(place) {
                run.line(line);
            }
        }
        Ok(())
    })?;
    if !runs.iter().any(|run| run.has_messages) {
        return Err(ReadError::refused(
            "the last line of a run of Claude Code alone: it has the answer, but no calls; print all lines with \
             `--output-format stream-json --verbose`, or take the session's file below `~/.claude/projects`",
        ));
    }
    runs.into_iter().filter(|run| run.has_messages).try_for_each(|run| {
        let line = run.line;
        sink.trace(line, run.finish().finish())
    })
}

impl Run {
    fn line(&mut self, line: &Json) {
        let kind = line.text("type");
        let message = line.member("message").unwrap_or(&Json::Null);
        match kind {
            Some("assistant") if message.says("model", "<synthetic>") => {}
            Some("assistant") => {
                self.has_messages = true;
                let call = line.text("parent_tool_use_id");
                if call.is_none() {
                    self.begun(message);
                }
                let it = self.conversation(call);
                it.model = message.text("model").map(str::to_owned).or(it.model.take());
                blocks::assistant(it, message);
            }
            Some("user") => {
                self.has_messages = true;
                let is_own = ["isSynthetic", "isMeta", "isCompactSummary"].iter().any(|key| line.is(key));
                blocks::user(self.conversation(line.text("parent_tool_use_id")), message, is_own);
            }
            Some("result") => self.result(line),
            _ => {}
        }
    }

    /// Stores the tokens at the beginning of a reply, when its output tokens are not known yet.
    fn begun(&mut self, message: &Json) {
        if let (Some(id), Some(usage)) = (message.id("id"), message.member("usage")) {
            self.usage.insert(id, Usage { output: None, ..Usage::of_anthropic(usage) });
        }
    }

    /// The outer conversation, or that of the sub-agent that a call began.
    fn conversation(&mut self, call: Option<&str>) -> &mut Conversation {
        let place = call.map(|call| {
            *self.of_calls.entry(call.to_owned()).or_insert_with_key(|call| {
                self.agents.push((call.clone(), Conversation::default()));
                self.agents.len() - 1
            })
        });
        match place.and_then(|place| self.agents.get_mut(place)) {
            Some((_, agent)) => agent,
            None => &mut self.conversation,
        }
    }

    /// Reads the last line: the answer, and the tokens of all replies.
    fn result(&mut self, line: &Json) {
        let it = &mut self.conversation;
        if let Some(usage) = line.member("usage") {
            it.usage = Usage::of_anthropic(usage);
            self.has_usage = true;
        }
        it.seconds = line.number("duration_ms").map(|milliseconds| milliseconds / 1000.0).or(it.seconds);
        if line.is("is_error") || !line.says("subtype", "success") {
            it.answer = Answer::FromMessages;
            it.note("the program says that the run failed");
        } else if let Some(text) = line.text("result").filter(|text| !text.is_empty()) {
            it.answer = Answer::Stated(Some(text.to_owned()));
        }
    }

    fn finish(self) -> Conversation {
        let mut it = self.conversation;
        if !self.has_usage {
            self.usage.into_values().for_each(|usage| it.usage.add(usage));
        }
        it.nested = self.agents;
        it
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    const LINES: &str = r#"{"type":"system","subtype":"init","session_id":"s"}
{"type":"user","isReplay":true,"message":{"role":"user","content":"Q?"},"parent_tool_use_id":null,"session_id":"s"}
{"type":"stream_event","event":{"type":"content_block_delta"},"session_id":"s"}
{"type":"assistant","message":{"id":"m1","model":"m","content":[{"type":"tool_use","id":"t1","name":"Task","input":{}}],"usage":{"input_tokens":5,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s"}
{"type":"user","message":{"content":[{"type":"text","text":"SUB"}]},"parent_tool_use_id":"t1","session_id":"s"}
{"type":"assistant","message":{"id":"m2","model":"x","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{}}]},"parent_tool_use_id":"t1","session_id":"s"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"in"}]},"parent_tool_use_id":"t1","session_id":"s"}
{"type":"assistant","message":{"id":"m1","model":"m","content":[{"type":"tool_use","id":"t3","name":"mcp__shop__a","input":{}}],"usage":{"input_tokens":5,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1"},{"type":"tool_result","tool_use_id":"t3","content":"no","is_error":true}]},"parent_tool_use_id":null,"session_id":"s"}
"#;

    #[test]
    fn calls_below_a_call_are_those_of_a_sub_agent() {
        let end = r#"{"type":"result","subtype":"success","is_error":false,"result":"End.","duration_ms":1500,"usage":{"input_tokens":9,"cache_read_input_tokens":1,"output_tokens":7},"session_id":"s"}"#;
        let (format, kept) = read_text("stream.jsonl", &[LINES, end].concat()).unwrap();
        let [trace] = &kept.traces[..] else { panic!("{kept:?}") };
        assert_eq!(
            (format, shown(trace)),
            ("claude-code-stream", vec!["Task({})= shop/a({})=no!".to_owned()])
        );
        assert_eq!(trace.question.as_ref().unwrap().text(), "Q?");
        let nested: Vec<(&str, Vec<String>)> =
            trace.nested.iter().map(|(name, it)| (name.as_str(), shown(it))).collect();
        assert_eq!(nested, [("t1", vec!["Bash({})=in".to_owned()])]);
        assert_eq!((trace.id.as_deref(), trace.model.as_deref()), (Some("s"), Some("m")));
        assert_eq!((trace.usage.input, trace.usage.output, trace.seconds), (Some(10), Some(7), Some(1.5)));
        assert_eq!(trace.final_reply.as_deref(), Some("End."));
    }

    #[test]
    fn a_run_that_failed_or_was_cut_has_no_answer() {
        let (_, kept) = read_text("stream.jsonl", LINES).unwrap();
        let trace = &kept.traces[0];
        assert_eq!((trace.usage.input, trace.usage.output, &trace.final_reply), (Some(5), None, &None));
        let end = r#"{"type":"result","subtype":"error_max_turns","is_error":false,"session_id":"s"}"#;
        let (_, kept) = read_text("stream.jsonl", &[LINES, end].concat()).unwrap();
        assert_eq!(kept.traces[0].final_reply, None);
        assert!(kept.traces[0].notes.iter().any(|(note, _)| note == "the program says that the run failed"));
        assert!(read_text("result.json", end).unwrap_err().contains("stream-json --verbose"));
    }

    #[test]
    fn a_list_of_all_lines_is_read_like_the_lines() {
        let list = format!("[{}]", LINES.trim().lines().collect::<Vec<_>>().join(","));
        let (_, kept) = read_text("all.json", &list).unwrap();
        assert_eq!(shown(&kept.traces[0]).len(), 1);
    }
}
