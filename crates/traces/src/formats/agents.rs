//! OpenAI's Agents SDK: traces as it exports them, a trace or a span on each line, children before their parents.

use super::chat;
use crate::formats::prelude::*;
use crate::groups::{Names, grouped};

/// The format of traces and spans.
pub(super) const FORMAT: Format = Format {
    name: "openai-agents",
    title: "OpenAI Agents SDK: traces",
    recognizes: |head| head.any(|value| value.says("object", "trace") || value.says("object", "trace.span")),
    read,
};

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    // Traces are numbered in the order in which they first occur.
    let mut names = Names::default();
    let work = |values: &[Json]| {
        let mut spans: Vec<Span<'_>> = values.iter().filter_map(Span::parse).collect();
        spans.sort_by(|a, b| a.started.total_cmp(&b.started));
        let mut conversation = Tree::new(&spans).conversation(None, 0);
        conversation.id = values.first().and_then(trace).map(str::to_owned);
        conversation.finish()
    };
    let key = |value: &Json| trace(value).map(str::to_owned);
    grouped(input, sink, key, |trace| names.number(&trace), work, |sink, trace| sink.trace(None, trace))
}

/// The id of the trace that a line belongs to.
fn trace(value: &Json) -> Option<&str> {
    value.text("trace_id").or_else(|| value.text("id"))
}

/// A span of a trace.
#[derive(Debug, Clone, Copy)]
struct Span<'j> {
    id: &'j str,
    parent: Option<&'j str>,
    kind: &'j str,
    started: f64,
    ended: f64,
    data: &'j Json,
    error: Option<&'j Json>,
}

impl<'j> Span<'j> {
    fn parse(value: &'j Json) -> Option<Self> {
        let data = value.member("span_data")?;
        let started = value.member("started_at").and_then(time).unwrap_or_default();
        Some(Self {
            id: value.text("id")?,
            parent: value.text("parent_id"),
            kind: data.text("type").unwrap_or_default(),
            started,
            ended: value.member("ended_at").and_then(time).unwrap_or(started),
            data,
            error: value.member("error"),
        })
    }

    fn is_reply(&self) -> bool {
        matches!(self.kind, "response" | "generation")
    }

    fn is_call(&self) -> bool {
        matches!(self.kind, "function" | "handoff")
    }

    /// Whether the span stands for one request and the calls that followed from it.
    fn is_turn(&self) -> bool {
        self.data.text_below(&["data", "sdk_span_type"]) == Some("turn")
    }
}

/// The spans of a trace, by their ids, and by the call whose agent they belong to; `None` for the outer agent.
struct Tree<'s, 'j> {
    spans: &'s [Span<'j>],
    by_id: HashMap<&'j str, usize>,
    by_owner: HashMap<Option<usize>, Vec<usize>>,
}

/// The most spans around a span: in hostile files, parents may form circles.
const DEEPEST: usize = 100;

impl<'s, 'j> Tree<'s, 'j> {
    fn new(spans: &'s [Span<'j>]) -> Self {
        let by_id = spans.iter().enumerate().map(|(at, span)| (span.id, at)).collect();
        let mut tree = Self { spans, by_id, by_owner: HashMap::new() };
        for at in 0..spans.len() {
            let owner = tree.around(at).find(|around| spans[*around].kind == "function");
            tree.by_owner.entry(owner).or_default().push(at);
        }
        tree
    }

    /// The spans of an agent, in their order.
    fn spans_of(&self, owner: Option<usize>) -> &[usize] {
        self.by_owner.get(&owner).map(Vec::as_slice).unwrap_or_default()
    }

    /// The spans around a span, the nearest first.
    fn around(&self, at: usize) -> impl Iterator<Item = usize> {
        let parent = |at: &usize| self.by_id.get(self.spans[*at].parent?).copied();
        std::iter::successors(parent(&at), parent).take(DEEPEST)
    }

    /// The turn of a span.
    fn turn(&self, at: usize) -> Option<usize> {
        self.around(at).find(|around| self.spans[*around].is_turn())
    }

    /// The trajectory of the agent that a call has run, or of the outer one.
    fn conversation(&self, owner: Option<usize>, depth: usize) -> Conversation {
        let mut conversation = Conversation::default();
        let own = self.spans_of(owner);
        let has_messages = own.iter().any(|at| self.spans[*at].kind == "generation");
        if has_messages {
            self.read_messages(&mut conversation, own);
        } else {
            self.read_calls(&mut conversation, own);
        }
        for at in own.iter().filter(|at| self.spans[**at].is_reply()) {
            let usage = self.spans[*at].data.member("usage").map(Usage::of_openai);
            conversation.usage.add(usage.unwrap_or_default());
        }
        for &at in own {
            conversation.at(Some(self.spans[at].started).filter(|time| *time > 0.0));
            conversation.at(Some(self.spans[at].ended).filter(|time| *time > 0.0));
            let inner = self.spans_of(Some(at));
            if depth < DEEPEST && !inner.is_empty() {
                let agent = inner.iter().map(|inner| &self.spans[*inner]).find(|span| span.kind == "agent");
                let name = agent.and_then(|agent| agent.data.text("name"));
                let name = name.or_else(|| self.spans[at].data.text("name")).unwrap_or_default();
                conversation.nested.push((name.to_owned(), self.conversation(Some(at), depth + 1)));
            }
        }
        conversation
    }

    /// Reads replies with messages: names, arguments and groups of calls; their spans have results and times.
    fn read_messages(&self, conversation: &mut Conversation, own: &[usize]) {
        let replies: Vec<usize> = own.iter().copied().filter(|at| self.spans[*at].is_reply()).collect();
        for (number, &at) in replies.iter().enumerate() {
            let span = &self.spans[at];
            conversation.model = span.data.text("model").map(str::to_owned).or(conversation.model.take());
            for message in span.data.list("input").iter().filter(|message| message.says("role", "user")) {
                if !conversation.has_question() {
                    chat::message(conversation, message);
                }
            }
            conversation.end_reply();
            conversation.reply(Some(span.id));
            let mut waiting: Vec<TracedCall> = Vec::new();
            for item in span.data.list("output") {
                // The SDK for JavaScript keeps the provider's whole reply.
                let message = item.list("choices").first().and_then(|choice| choice.member("message"));
                let message = message.unwrap_or(item);
                conversation.say(&Content::of_member(message, "content").text());
                for call in message.list("tool_calls").iter().map(chat::call) {
                    waiting.push(call.clone());
                    conversation.call(call);
                }
            }
            let until = replies.get(number + 1).map_or(f64::INFINITY, |next| self.spans[*next].started);
            let first = own.partition_point(|at| self.spans[*at].started < span.started);
            let within = own[first..].iter().copied().take_while(|at| self.spans[*at].started < until);
            for at in within.filter(|at| self.spans[*at].kind == "function") {
                let call = self.call(at);
                let is_same =
                    |other: &TracedCall| other.tool == call.tool && other.arguments == call.arguments;
                let place = waiting.iter().position(is_same);
                let place = place.or_else(|| waiting.iter().position(|other| other.tool == call.tool));
                let Some(place) = place else {
                    // The messages, or this call in them, were not recorded.
                    conversation.call(call);
                    continue;
                };
                let id = waiting.remove(place).id;
                conversation.result(Outcome {
                    tool: Some(call.tool),
                    is_error: call.is_error,
                    seconds: call.seconds,
                    ..Outcome::new(id, call.result)
                });
            }
        }
    }

    /// Reads calls alone: a step has the calls of one turn, or without turns those that overlap between replies.
    fn read_calls(&self, conversation: &mut Conversation, own: &[usize]) {
        let mut step: Vec<usize> = Vec::new();
        // The number of replies so far, and at the last call of the step; and the latest end of the step's calls.
        let (mut replies, mut seen, mut until) = (0, 0, f64::MIN);
        for &at in own {
            if self.spans[at].is_reply() {
                replies += 1;
            }
            if !self.spans[at].is_call() {
                continue;
            }
            let goes_on = step.last().is_some_and(|last| {
                if let (Some(turn), Some(other)) = (self.turn(*last), self.turn(at)) {
                    return turn == other;
                }
                replies == seen && self.spans[at].started < until
            });
            if !goes_on && !step.is_empty() {
                conversation.step(step.drain(..).map(|at| self.call(at)).collect());
                until = f64::MIN;
            }
            seen = replies;
            until = until.max(self.spans[at].ended);
            step.push(at);
        }
        if !step.is_empty() {
            conversation.step(step.into_iter().map(|at| self.call(at)).collect());
        }
    }

    /// The call of a span.
    fn call(&self, at: usize) -> TracedCall {
        let span = &self.spans[at];
        let seconds = Some(span.ended - span.started).filter(|seconds| *seconds >= 0.0);
        if span.kind == "handoff" {
            // The control passes: there is no result.
            let name = snake_case(span.data.text("to_agent").unwrap_or_default());
            let arguments = Some(Json::Object(Vec::new()));
            return TracedCall::new(None, format!("transfer_to_{name}"), arguments);
        }
        let server = span.data.text_below(&["mcp_data", "server"]);
        let failure = span.error.map(|error| error.text("message").unwrap_or_default());
        TracedCall {
            result: span.data.member("output").map(result).or_else(|| failure.map(string)),
            is_error: failure.is_some(),
            seconds,
            ..TracedCall::new(
                None,
                tool(server, span.data.text("name").unwrap_or_default()),
                arguments(span.data.member("input")),
            )
        }
    }
}

/// The result of a tool: a text, parts, or a value.
fn result(output: &Json) -> Json {
    let content = Content::from_json(output);
    let is_parts = !content.is_empty() && output.items().iter().all(|part| part.has("type"));
    if is_parts { content.to_json() } else { output.clone() }
}

/// An agent's name in the form of a tool's name.
fn snake_case(name: &str) -> String {
    let sign = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    /// A line of a span.
    fn span(id: &str, parent: &str, seconds: [u32; 2], data: &str) -> String {
        format!(
            r#"{{"object": "trace.span", "trace_id": "t", "id": "{id}", "parent_id": "{parent}", "started_at": "2026-01-01T00:00:{:02}Z", "ended_at": "2026-01-01T00:00:{:02}Z", "span_data": {data}}}"#,
            seconds[0], seconds[1]
        )
    }

    fn call(name: &str) -> String {
        format!(r#"{{"type": "function", "name": "{name}", "input": "{{}}", "output": "r"}}"#)
    }

    #[test]
    fn the_output_of_a_reply_may_be_the_whole_reply_of_the_provider() {
        let reply = |message: &str| {
            format!(
                r#"{{"type": "generation", "input": [{{"role": "user", "content": "Q?"}}], "output": [{{"object": "chat.completion", "choices": [{{"index": 0, "message": {message}}}]}}]}}"#
            )
        };
        let calls = r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}, {"id": "2", "function": {"name": "b", "arguments": "{}"}}]}"#;
        let lines = [
            span("r", "x", [0, 1], &reply(calls)),
            span("a", "x", [2, 3], &call("a")),
            span("b", "x", [4, 5], &call("b")),
            span("s", "x", [6, 7], &reply(r#"{"role": "assistant", "content": "A."}"#)),
        ];
        let trace = read_text("spans.jsonl", &lines.join("\n")).unwrap().1.traces.remove(0);
        assert_eq!(shown(&trace), ["a({})=r b({})=r"]);
        assert_eq!(trace.final_reply.as_deref(), Some("A."));
    }

    #[test]
    fn without_turns_calls_between_two_replies_that_overlap_are_a_step() {
        let reply = r#"{"type": "response", "usage": {"input_tokens": 1, "output_tokens": 2}}"#;
        let lines = [
            span("a", "x", [2, 4], &call("a")),
            span("r", "x", [0, 1], reply),
            span("b", "x", [3, 5], &call("b")),
            span("c", "x", [6, 7], &call("c")),
            span("s", "x", [7, 8], reply),
            span("d", "x", [9, 10], &call("d")),
            span("in", "d", [9, 10], &call("inner")),
            span("h", "x", [11, 11], r#"{"type": "handoff", "from_agent": "A", "to_agent": "The Clerk"}"#),
        ];
        let (name, kept) = read_text("trace.jsonl", &lines.join("\n")).unwrap();
        let trace = &kept.traces[0];
        assert_eq!(name, "openai-agents");
        assert_eq!(shown(trace), ["a({})=r b({})=r", "c({})=r", "d({})=r", "transfer_to_the_clerk({})=-"]);
        assert_eq!(
            (trace.nested[0].0.as_str(), shown(&trace.nested[0].1)),
            ("d", vec!["inner({})=r".to_owned()])
        );
        assert_eq!((trace.usage.input, trace.usage.output), (Some(2), Some(4)));
    }

    #[test]
    fn parents_that_lead_in_a_circle_end() {
        let lines = [
            span("a", "b", [0, 1], &call("a")),
            span("b", "a", [0, 1], &call("b")),
            span("c", "c", [0, 1], &call("c")),
        ];
        assert!(read_text("trace.jsonl", &lines.join("\n")).is_ok());
    }
}
