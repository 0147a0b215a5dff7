//! OpenAI's Chat Completions: lists of messages, requests, replies, logs and streams. Also messages for chat templates,
//! whose arguments are objects.

use super::dialects::{calls_in_parts, each_conversation};
use super::streamed_calls::StreamedCalls;
use crate::arguments::input;
use crate::events::events;
use crate::formats::prelude::*;
use crate::logs::{Exchange, each_chain, is_exchange};

/// Replies, logs of requests and replies, and streams, recognized by members that only they have.
pub(super) const REPLIES: Format = Format {
    name: "openai-chat",
    title: "OpenAI Chat Completions: replies, logs and streams",
    recognizes: |head| match head.shape {
        Shape::Events => head.values.iter().any(is_chunk),
        _ => head.any(|value| {
            is_reply(value) || is_exchange(value) && value.member("response").is_some_and(is_reply)
        }),
    },
    read,
};

/// Lists of messages, by their calls.
pub(super) const MESSAGES: Format = Format {
    name: "openai-chat-messages",
    title: "OpenAI Chat Completions: messages",
    recognizes: |head| {
        head.any_message(|message| {
            message.has("role")
                && (message.list("tool_calls").iter().any(|call| call.has("function") || call.has("custom"))
                    || message.member("function_call").is_some_and(|call| call.has("name")))
        })
    },
    read,
};

fn is_reply(value: &Json) -> bool {
    value.text("object").is_some_and(|object| object.starts_with("chat.completion"))
        || value.list("choices").iter().any(|choice| choice.has("message") || choice.has("delta"))
        || value.items().first().is_some_and(is_chunk)
}

fn is_chunk(value: &Json) -> bool {
    value.says("object", "chat.completion.chunk")
        || value.list("choices").iter().any(|choice| choice.has("delta"))
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    if input.head.shape == Shape::Events || input.head.any(is_chunk) {
        let mut conversation = Conversation::default();
        add_stream(&mut conversation, &events(input, sink)?);
        return sink.trace(None, conversation.finish());
    }
    if input.head.any(is_exchange) {
        return each_chain(input, sink, |request| request.list("messages"), logged);
    }
    if input.head.any(is_reply) {
        return input.replies(sink, is_reply, |conversation, value| {
            // Some logs keep the messages of the request beside the reply.
            for message in value.list("messages") {
                self::message(conversation, message);
            }
            conversation.end_reply();
            reply(conversation, value);
        });
    }
    each_conversation(input, sink, message)
}

/// The whole conversation of a log: the messages of the last request, and the last reply.
fn logged(chain: &[Exchange<'_>]) -> Conversation {
    let mut conversation = Conversation::default();
    let Some(last) = chain.last() else { return conversation };
    conversation.model = last.request.text("model").map(str::to_owned);
    for message in last.request.list("messages") {
        self::message(&mut conversation, message);
    }
    for exchange in &chain[..chain.len() - 1] {
        conversation.usage.add(exchange.response.member("usage").map(Usage::of_openai));
        conversation.at(exchange.response.number("created"));
    }
    conversation.end_reply();
    reply(&mut conversation, last.response);
    conversation
}

/// Adds a whole reply: the first of several choices, which are alternatives.
pub(super) fn reply(conversation: &mut Conversation, response: &Json) {
    if let Json::Array(chunks) = response {
        return add_stream(conversation, chunks);
    }
    conversation.at(response.number("created"));
    conversation.set_model(response.text("model"));
    conversation.usage.add(response.member("usage").map(Usage::of_openai));
    let choices = response.list("choices");
    let first = choices.iter().min_by_key(|choice| choice.count("index").unwrap_or_default());
    if let Some(message) = first.and_then(|choice| choice.member("message")) {
        self::message(conversation, message);
    }
    for _ in choices.iter().skip(1) {
        conversation.note("another choice of the same reply is left out");
    }
}

/// Adds a message.
pub(super) fn message(conversation: &mut Conversation, message: &Json) {
    let content = message.first(&["content", "parts"]).map(Content::from_json).unwrap_or_default();
    match message.text("role") {
        // Messages of tools have texts alone, so a message of the user whose name is a call's id has its pictures.
        Some("user") if message.text("name").is_some_and(|name| conversation.has_result(name)) => {
            conversation.add_to_result(message.text("name").unwrap_or_default(), &content);
        }
        Some("user" | "human") => conversation.user(content),
        Some("assistant" | "model" | "ai") => {
            reply_message(conversation, message, None);
        }
        // Several results, as AutoGen keeps them beside their texts.
        Some("tool") if !message.list("tool_responses").is_empty() => {
            message.list("tool_responses").iter().for_each(|each| self::message(conversation, each));
        }
        Some("tool" | "function") => {
            // Some programs write a JSON value as the content.
            let result = match message.member("content") {
                Some(value) if content.is_empty() && !matches!(value, Json::String(_) | Json::Array(_)) => {
                    value.clone()
                }
                _ => content.to_json(),
            };
            conversation.result(Outcome {
                tool: message.text("name").map(str::to_owned),
                is_error: message.text("error").is_some_and(|error| !error.is_empty()),
                ..Outcome::new(call_id(message.member("tool_call_id")), Some(result))
            });
        }
        Some("system" | "developer") => {}
        role => conversation.note_named("a message of role", role.unwrap_or("none"), "is left out"),
    }
}

/// The message of a reply, which may have an id of its own.
pub(super) fn reply_message(conversation: &mut Conversation, message: &Json, id: Option<&str>) {
    conversation.reply(id);
    // Parts are pieces of one text: some stand between citations.
    let text = message.first(&["content", "parts"]).map(Content::from_json).unwrap_or_default().joined_text();
    conversation.say(if text.is_empty() { message.text("refusal").unwrap_or_default() } else { &text });
    let legacy = message.member("function_call").into_iter();
    let calls = message.list("tool_calls").iter().map(call);
    let calls: Vec<TracedCall> = legacy.map(function).chain(calls).collect();
    // Some programs write calls as parts, too: those with the ids of others are the same.
    let others = calls_in_parts(message.list("content"));
    let known: HashSet<Option<String>> = calls.iter().map(|call| call.id.clone()).collect();
    let others: Vec<TracedCall> = others.filter(|call| !known.contains(&call.id)).collect();
    conversation.calls(calls.into_iter().chain(others));
}

/// A call with an id.
pub(super) fn call(call: &Json) -> TracedCall {
    let id = call_id(call.member("id"));
    if let Some(custom) = call.member("custom") {
        let written = custom.member("input").cloned().unwrap_or_else(|| string(""));
        let name = custom.text("name").unwrap_or_default();
        return TracedCall::new(id, tool(None, name), Some(input(&written)));
    }
    // Some programs have the name in the place of the function.
    if let Some(name) = call.text("function") {
        let arguments = arguments(call.first(&["arguments", "args"]));
        return TracedCall::new(id, tool(None, name), arguments);
    }
    TracedCall { id, ..function(call.member("function").unwrap_or(call)) }
}

/// A function with its arguments.
fn function(function: &Json) -> TracedCall {
    TracedCall::new(
        None,
        tool(function.text("namespace"), function.text("name").unwrap_or_default()),
        arguments(function.member("arguments")),
    )
}

/// Puts the replies of a stream together, with the first of several choices.
fn add_stream(conversation: &mut Conversation, chunks: &[Json]) {
    let mut calls = StreamedCalls::default();
    let mut others = BTreeSet::new();
    let (mut usage, mut before) = (Usage::default(), None);
    for chunk in chunks {
        // Chunks of one reply have one id.
        let id = chunk.text("id").filter(|id| !id.is_empty()).or(before);
        if before.is_some() && id != before {
            whole(conversation, &mut calls);
            conversation.usage.add(std::mem::take(&mut usage));
            conversation.end_reply();
        }
        before = id;
        conversation.reply_goes_on();
        conversation.at(chunk.number("created"));
        conversation.set_model(chunk.text("model").filter(|model| !model.is_empty()));
        usage = chunk.member("usage").map_or(usage, Usage::of_openai);
        for choice in chunk.list("choices") {
            match (choice.count("index").unwrap_or_default(), choice.member("delta")) {
                (0, Some(delta)) => piece(conversation, &mut calls, delta),
                (0, None) => {}
                (other, _) => others.extend([(before, other)]),
            }
        }
    }
    whole(conversation, &mut calls);
    conversation.usage.add(usage);
    for _ in others {
        conversation.note("another choice of the same reply is left out");
    }
}

/// Adds a piece of a streamed reply.
fn piece(conversation: &mut Conversation, calls: &mut StreamedCalls, delta: &Json) {
    conversation.say(delta.text("content").or_else(|| delta.text("refusal")).unwrap_or_default());
    for piece in delta.list("tool_calls") {
        let (body, key) = match piece.member("custom") {
            Some(custom) => (Some(custom), "input"),
            None => (piece.member("function"), "arguments"),
        };
        let name = body.and_then(|body| body.text("name")).unwrap_or_default();
        let arguments = body.and_then(|body| body.member(key));
        let has_arguments = arguments.is_some_and(|arguments| arguments.as_str() != Some(""));
        let pieces = calls.piece(call_id(piece.member("id")), piece.count("index"), name, has_arguments);
        pieces.is_custom |= key == "input";
        // Some servers send the whole name with every piece.
        if pieces.name != name {
            pieces.name.push_str(name);
        }
        if let Some(arguments) = arguments {
            pieces.add(arguments);
        }
    }
}

/// Adds the calls of a streamed reply.
fn whole(conversation: &mut Conversation, calls: &mut StreamedCalls) {
    for pieces in std::mem::take(calls).all {
        let written = pieces.arguments.unwrap_or_else(|| string(""));
        let arguments = if pieces.is_custom { Some(input(&written)) } else { arguments(Some(&written)) };
        let tool = tool(None, &pieces.name);
        conversation.call(TracedCall::new(pieces.id, tool, arguments));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    #[test]
    fn chunks_of_several_replies_are_told_apart_and_headers_are_none() {
        let chunk = |id: &str, name: &str| {
            format!(
                r#"{{"object": "chat.completion.chunk", "id": "{id}", "choices": [{{"index": 0, "delta": {{"tool_calls": [{{"index": 0, "id": "{name}", "function": {{"name": "{name}", "arguments": "{{}}"}}}}]}}}}]}}"#
            )
        };
        // The first chunk of some providers is empty.
        let empty = r#"{"object": "", "id": "", "choices": []}"#.to_owned();
        let lines = [empty, chunk("x", "a"), chunk("y", "b")].join("\n");
        let (name, kept) = read_text("chunks.jsonl", &lines).unwrap();
        assert_eq!(
            (name, shown(&kept.traces[0])),
            ("openai-chat", vec!["a({})=-".to_owned(), "b({})=-".to_owned()])
        );
        let reply = r#"{"id": "r", "choices": [{"message": {"role": "assistant", "content": "hi"}}]}"#;
        let (name, kept) = read_text(
            "log.jsonl",
            &format!("{{\"run\": 1}}\n{{\"request\": {{\"messages\": []}}, \"response\": {reply}}}\n"),
        )
        .unwrap();
        assert_eq!((name, kept.traces.len(), kept.warnings.len()), ("openai-chat", 1, 1));
        assert_eq!(kept.traces[0].final_reply.as_deref(), Some("hi"));
    }

    #[test]
    fn a_result_that_is_a_value_stays_one() {
        let text = r#"[{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": {"n": 3}}]"#;
        let (_, kept) = read_text("messages.json", text).unwrap();
        assert_eq!(shown(&kept.traces[0]), ["f({})={\"n\":3}"]);
    }
}
