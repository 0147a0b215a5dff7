//! Whole replies of a model without their requests: a list of them may be all replies of one run, or those of a batch.
//!
//! A run ends with the first reply that calls nothing, and each of its requests is longer than the one before.

use crate::input::{ReadError, Sink};
use crate::trace::{Trace, TraceKind};

/// Formats whose records are replies.
const FORMATS: [&str; 4] = ["anthropic", "gemini", "openai-chat", "openai-responses"];

/// The most replies of a run.
const MOST: usize = 256;

/// Holds replies back until it is known whether they are of one run.
#[derive(Default)]
pub(crate) struct ReplyList {
    held: Vec<(Option<u64>, Trace)>,
    /// Whether they can be of one run.
    is_run: bool,
}

impl ReplyList {
    /// For a file of this format; records with ids of their own, in an envelope, are those of a batch.
    pub(crate) fn new(format: &str, is_in_envelope: bool) -> Self {
        Self { held: Vec::new(), is_run: FORMATS.contains(&format) && !is_in_envelope }
    }

    /// Takes a trajectory, and gives those on that need not wait.
    pub(crate) fn take(
        &mut self,
        sink: &mut dyn Sink,
        line: Option<u64>,
        trace: Trace,
    ) -> Result<(), ReadError> {
        self.is_run &= is_lone_reply(&trace) && self.held.len() < MOST;
        self.held.push((line, trace));
        if self.is_run { Ok(()) } else { self.give(sink) }
    }

    /// Gives the rest on, as one trajectory if it is one run.
    pub(crate) fn finish(mut self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        if self.is_run && is_run(&self.held) {
            let mut replies = std::mem::take(&mut self.held).into_iter();
            let Some((line, mut run)) = replies.next() else { return Ok(()) };
            run.id = None;
            for (_, reply) in replies {
                run.steps.extend(reply.steps);
                run.final_reply = reply.final_reply;
                run.usage.add(reply.usage);
                run.notes.extend(&reply.notes);
            }
            run.notes.add("replies of which only the last calls nothing are those of one run");
            return sink.trace(line, run);
        }
        self.give(sink)
    }

    fn give(&mut self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        self.held.drain(..).try_for_each(|(line, trace)| sink.trace(line, trace))
    }
}

/// Whether a trajectory is one reply, without question and results.
fn is_lone_reply(trace: &Trace) -> bool {
    let is_open = trace.steps.iter().flatten().all(|call| call.result.is_none());
    trace.question.is_none()
        && trace.kind == TraceKind::Prediction
        && trace.steps.len() <= 1
        && is_open
        && trace.label.is_none()
        && trace.nested.is_empty()
}

/// Whether replies are those of one run.
fn is_run(replies: &[(Option<u64>, Trace)]) -> bool {
    let Some(((_, last), before)) = replies.split_last() else { return false };
    let read: Vec<Option<u64>> = replies.iter().map(|(_, reply)| reply.usage.input).collect();
    let is_shorter = |pair: &[Option<u64>]| matches!(pair, [Some(one), Some(next)] if next < one);
    !before.is_empty()
        && before.iter().all(|(_, reply)| !reply.steps.is_empty())
        && last.steps.is_empty()
        && last.final_reply.is_some()
        && !read.windows(2).any(is_shorter)
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    /// Replies of Chat Completions; a negative number of tokens calls nothing.
    fn replies(tokens: &[i32]) -> Vec<usize> {
        let reply = |(number, tokens): (usize, &i32)| {
            let message = if *tokens > 0 {
                format!(
                    r#""tool_calls": [{{"id": "{number}", "function": {{"name": "f", "arguments": "{{}}"}}}}]"#
                )
            } else {
                r#""content": "A.""#.to_owned()
            };
            format!(
                r#"{{"object": "chat.completion", "id": "{number}", "usage": {{"prompt_tokens": {}}}, "choices": [{{"message": {{"role": "assistant", {message}}}}}]}}"#,
                tokens.abs()
            )
        };
        let lines: Vec<String> = tokens.iter().enumerate().map(reply).collect();
        let (_, kept) = read_text("replies.jsonl", &lines.join("\n")).unwrap();
        kept.traces.iter().map(|trace| shown(trace).len()).collect()
    }

    #[test]
    fn replies_of_one_run_end_with_the_first_that_calls_nothing() {
        assert_eq!(replies(&[10, 20, -30]), [2]);
        assert_eq!(replies(&[10, 10, -10]), [2]);
        // A batch: shorter requests, or calls in all of them.
        assert_eq!(replies(&[10, 9, -30]), [1, 1, 0]);
        assert_eq!(replies(&[10, 20]), [1, 1]);
        assert_eq!(replies(&[10, -20, 30, -40]), [1, 0, 1, 0]);
    }
}
