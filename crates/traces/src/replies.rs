//! Trajectories of a file that are pieces of one run.
//!
//! Whole replies of a model without their requests may be all replies of one run, or those of a batch: a run ends with the
//! first reply that calls nothing, and each of its requests is longer than the one before. A log may tell a run once for
//! each request, each time with more of it.

use m3_trajectory::json::Json;

use crate::conversation::Conversation;
use crate::fields::Fields as _;
use crate::input::{Input, ReadError, Sink};
use crate::lost::leave_out;
use crate::trace::{Trace, TraceKind};

/// Formats whose records are replies.
const REPLIES: [&str; 4] = ["anthropic", "gemini", "openai-chat", "openai-responses"];

/// Formats of the messages of a request, beside those.
const REQUESTS: [&str; 4] = ["anthropic-messages", "gemini-contents", "messages", "openai-chat-messages"];

/// The most replies of a run.
const MOST: usize = 256;

impl Input<'_> {
    /// Reads each record that is a whole reply of a model as a conversation of its own, with its id; others are left out.
    pub(crate) fn replies(
        &self,
        sink: &mut dyn Sink,
        is_reply: impl Fn(&Json) -> bool + Sync,
        reply: impl Fn(&mut Conversation, &Json) + Sync,
    ) -> Result<(), ReadError> {
        self.records(sink, |sink, at, value| {
            if !is_reply(value) {
                return leave_out(sink, at.line, value, "no reply, left out");
            }
            let mut conversation = Conversation::with_id(at.id(value.id("id")));
            reply(&mut conversation, value);
            sink.trace(at.line, conversation.finish())
        })
    }
}

/// Holds trajectories back until it is known whether they are pieces of one run.
#[derive(Default)]
pub(crate) struct ReplyList {
    held: Vec<(Option<u64>, Trace)>,
    /// Whether they can be of one run.
    is_run: bool,
    /// Whether each may be a request with its reply.
    is_log: bool,
    /// The last trajectory, which the next one may continue.
    last: Option<(Option<u64>, Trace)>,
}

impl ReplyList {
    /// For a file of this format; records with ids of their own, in an envelope, are those of a batch.
    pub(crate) fn new(format: &str, is_in_envelope: bool) -> Self {
        let is_run = REPLIES.contains(&format) && !is_in_envelope;
        let is_log = REPLIES.contains(&format) || REQUESTS.contains(&format);
        Self { is_run, is_log, ..Self::default() }
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
        self.give(sink)?;
        self.last.take().map_or(Ok(()), |(line, trace)| sink.trace(line, trace))
    }

    fn give(&mut self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        for (line, mut trace) in self.held.drain(..) {
            match self.last.take() {
                Some((_, last)) if self.is_log && is_continued(&last, &trace) => {
                    trace.usage.add(last.usage);
                    trace.notes.extend(&last.notes);
                    trace.notes.add("told once for each request; the last time counts");
                }
                Some((line, last)) => sink.trace(line, last)?,
                None => {}
            }
            self.last = Some((line, trace));
        }
        Ok(())
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

/// Whether a trajectory begins with all calls of an earlier one, by their ids, and goes on.
fn is_continued(earlier: &Trace, later: &Trace) -> bool {
    let ids = |trace: &Trace| trace.steps.iter().flatten().map(|call| call.id.clone()).collect::<Vec<_>>();
    let (before, all) = (ids(earlier), ids(later));
    let goes_on = all.len() > before.len() || earlier.final_reply.is_none() && later.final_reply.is_some();
    !before.is_empty()
        && before.iter().all(Option::is_some)
        && all.starts_with(&before)
        && goes_on
        && earlier.question == later.question
        && earlier.kind == later.kind
        && earlier.label == later.label
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
    use super::Trace;
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
    fn a_log_that_tells_a_run_for_each_request_has_one_run() {
        let call = |id: &str| {
            format!(
                r#"{{"role": "assistant", "tool_calls": [{{"id": "{id}", "function": {{"name": "f", "arguments": "{{}}"}}}}]}}"#
            )
        };
        let record = |messages: &[String]| {
            format!(r#"{{"messages": [{{"role": "user", "content": "Q?"}}, {}]}}"#, messages.join(", "))
        };
        let (first, second) = (call("1"), call("2"));
        let steps = |records: &[String]| {
            let (_, kept) = read_text("log.jsonl", &records.join("\n")).unwrap();
            kept.traces.iter().map(Trace::call_count).collect::<Vec<_>>()
        };
        assert_eq!(
            steps(&[
                record(std::slice::from_ref(&first)),
                record(&[first.clone(), second.clone()]),
                record(std::slice::from_ref(&second))
            ]),
            [2, 1]
        );
        // The same calls in two runs have other ids.
        assert_eq!(steps(&[record(std::slice::from_ref(&first)), record(&[second, first])]), [1, 2]);
        let rows = |id: &str| format!(r#"{{"conversation_id": "{id}", "role": "user", "content": "Q?"}}"#);
        let made = call("1").replacen('{', r#"{"conversation_id": "a", "#, 1);
        let (_, kept) = read_text("rows.jsonl", &[rows("a"), rows("b"), made].join("\n")).unwrap();
        assert_eq!(kept.traces.iter().map(|trace| trace.steps.len()).collect::<Vec<_>>(), [1, 0]);
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
