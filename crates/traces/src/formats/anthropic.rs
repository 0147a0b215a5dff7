//! Anthropic's Messages: lists of messages, requests, replies, logs and streams.

use crate::arguments::unwrapped;
use crate::events::events;
use crate::export::restore;
use crate::fields::count;
use crate::formats::prelude::*;
use crate::logs::{Exchange, each_chain, is_exchange};

/// Replies, logs and streams, recognized by members that only they have.
pub(super) const REPLIES: Format = Format {
    name: "anthropic",
    title: "Anthropic Messages: replies, logs and streams",
    recognizes: |head| match head.shape {
        Shape::Events => head.values.iter().any(|event| event.says("type", "message_start")),
        _ => head.any(|value| {
            is_reply(value)
                || is_start(value)
                || is_exchange(value) && value.member("response").is_some_and(is_reply)
        }),
    },
    read,
};

/// Lists of messages, by their blocks.
pub(super) const MESSAGES: Format = Format {
    name: "anthropic-messages",
    title: "Anthropic Messages: messages",
    recognizes: |head| {
        head.any_message(|message| {
            message.has("role")
                && message.list("content").iter().any(|block| {
                    block.text("type").is_some_and(|kind| match kind {
                        "tool_use" | "server_tool_use" | "mcp_tool_use" => block.has("name"),
                        "tool_result" => block.has("tool_use_id"),
                        // Other dialects have thoughts, too, beside their own blocks.
                        kind => kind == "thinking" && has_texts_alone(message),
                    })
                })
        })
    },
    read,
};

fn has_texts_alone(message: &Json) -> bool {
    let is_text = |block: &Json| block.says("type", "text") || block.says("type", "thinking");
    message.list("content").iter().all(is_text)
}

fn is_reply(value: &Json) -> bool {
    // Items of the Responses API are messages, too, but not replies.
    value.says("type", "message") && (value.get("stop_reason").is_some() || value.has("usage"))
        || value.items().first().is_some_and(is_start)
}

/// Whether a value is the first event of a streamed reply.
fn is_start(value: &Json) -> bool {
    // Sessions of other programs have events of this name, with messages that have no type.
    let is_own = value.member("message").is_none_or(|message| message.says("type", "message"));
    is_own && matches!(event_kind(value), Some("message_start" | "messageStart"))
}

/// The kind of a streamed event: its type, or the name of its only member as in Bedrock's Converse.
fn event_kind(event: &Json) -> Option<&str> {
    event.text("type").or_else(|| Some(&*members(event).first()?.0))
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    if input.head.shape == Shape::Events || input.head.any(is_start) {
        let mut conversation = Conversation::default();
        add_stream(&mut conversation, &events(input, sink)?);
        return sink.trace(None, conversation.finish());
    }
    if input.head.any(is_exchange) {
        return each_chain(input, sink, |request| request.list("messages"), logged);
    }
    if input.head.any(is_reply) {
        return input.replies(sink, is_reply, reply);
    }
    input.conversations(sink, |sink, at, value| {
        let mut conversation = Conversation::default();
        conversation.model = value.text("model").map(str::to_owned);
        for message in messages(value).unwrap_or_default() {
            self::message(&mut conversation, message);
        }
        restore(&mut conversation, value);
        conversation.id = at.id(value.id("id"));
        sink.trace(at.line, conversation.finish())
    })
}

/// The whole conversation of a log: the messages of the last request, and the last reply.
fn logged(chain: &[Exchange<'_>]) -> Conversation {
    let mut conversation = Conversation::default();
    let Some(last) = chain.last() else { return conversation };
    for message in last.request.list("messages") {
        self::message(&mut conversation, message);
    }
    for exchange in &chain[..chain.len() - 1] {
        conversation.usage.add(exchange.response.member("usage").map(Usage::of_anthropic));
    }
    conversation.model = last.request.text("model").map(str::to_owned);
    reply(&mut conversation, last.response);
    conversation
}

/// Adds a whole reply. It continues an assistant's message before it, which was prefilled or paused.
pub(super) fn reply(conversation: &mut Conversation, response: &Json) {
    if let Json::Array(events) = response {
        return add_stream(conversation, events);
    }
    conversation.set_model(response.text("model"));
    conversation.usage.add(response.member("usage").map(Usage::of_anthropic));
    message(conversation, response);
}

/// Adds a message: of the user, with results, or of the assistant, with calls.
pub(super) fn message(conversation: &mut Conversation, message: &Json) {
    let Some(content) = message.member("content") else { return };
    match message.text("role") {
        Some("user") => {
            let blocks = content.items();
            let is_result = |block: &&Json| block.says("type", "tool_result");
            for block in blocks.iter().filter(is_result) {
                conversation.result(result(block));
            }
            let mut own = Content::default();
            match content {
                Json::String(text) => own = Content::of_text(text),
                _ => blocks.iter().filter(|block| !is_result(block)).for_each(|block| own.add(block)),
            }
            if !own.is_empty() {
                conversation.user(own);
            }
        }
        Some("assistant") => {
            conversation.reply(None);
            match content {
                Json::String(text) => conversation.say(text),
                _ => content.items().iter().for_each(|block| self::block(conversation, block)),
            }
        }
        _ => {}
    }
}

/// Adds a block of an assistant's message.
pub(super) fn block(conversation: &mut Conversation, block: &Json) {
    let kind = block.text("type").unwrap_or_default();
    match kind {
        "text" => conversation.say(block.text("text").unwrap_or_default()),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let call = call(block);
            match block.member("caller").filter(|caller| !caller.says("type", "direct")) {
                Some(caller) => {
                    let code = caller.first_text(&["tool_id", "tool_use_id", "id"]);
                    conversation.nested_call(code.unwrap_or("code_execution"), call);
                }
                None => conversation.call(call),
            }
        }
        _ if kind.ends_with("_tool_result") => conversation.result(result(block)),
        "thinking" | "redacted_thinking" | "mcp_tool_listing" | "container_upload" | "tool_reference"
        | "fallback" | "compaction" => {}
        _ => conversation.note_named("a block of type", kind, "is left out"),
    }
}

/// The call in a block.
pub(super) fn call(block: &Json) -> TracedCall {
    let server = block.first_text(&["server_name", "toolset_name"]);
    let id = call_id(block.member("id"));
    TracedCall::new(
        id,
        tool(server, block.text("name").unwrap_or_default()),
        arguments(block.member("input")).map(unwrapped),
    )
}

/// The result in a block. Tools that the provider runs return values; an error is an object with the type of an error.
pub(super) fn result(block: &Json) -> Outcome {
    let content = block.member("content");
    let is_value = |content: &Json| match content {
        Json::Object(_) => true,
        Json::Array(items) => {
            let is_plain = |item: &Json| {
                matches!(item.text("type"), Some("text" | "image" | "document" | "search_result"))
            };
            !items.iter().all(is_plain)
        }
        _ => false,
    };
    let failed = content.and_then(|it| it.text("type")).is_some_and(|kind| kind.ends_with("_error"));
    Outcome {
        id: call_id(block.member("tool_use_id")),
        result: Some(match content {
            Some(content) if !block.says("type", "tool_result") && is_value(content) => content.clone(),
            Some(content) => match Content::from_json(content) {
                // Some programs put objects of their own there.
                parts if parts.is_empty() && !content.items().is_empty() => content.clone(),
                parts => parts.to_json(),
            },
            None => string(""),
        }),
        is_error: failed || block.is("is_error"),
        error_type: content.filter(|_| failed).and_then(|it| it.text("error_code")).map(str::to_owned),
        ..Outcome::default()
    }
}

/// Adds the replies of a stream, in the events of Anthropic or of Bedrock's Converse, whose body is their only member.
fn add_stream(conversation: &mut Conversation, events: &[Json]) {
    let mut blocks: BTreeMap<u64, (Json, String)> = BTreeMap::new();
    let mut usage = Usage::default();
    for event in events {
        let kind = event_kind(event).unwrap_or_default();
        let event = if event.has("type") { event } else { event.member(kind).unwrap_or(event) };
        let at = event.first(&["index", "contentBlockIndex"]).and_then(count).unwrap_or_default();
        match kind {
            "message_start" | "messageStart" => {
                finish(conversation, &mut blocks, std::mem::take(&mut usage));
                conversation.end_reply();
                let Some(message) = event.member("message") else { continue };
                usage = message.member("usage").map(Usage::of_anthropic).unwrap_or_default();
                conversation.model = message.text("model").map(str::to_owned);
            }
            "content_block_start" | "contentBlockStart" => {
                let block = event.member("content_block").cloned();
                blocks.insert(at, (block.unwrap_or_else(|| converse_block(event)), String::new()));
            }
            "content_block_delta" | "contentBlockDelta" => {
                let Some(delta) = event.member("delta") else { continue };
                let piece = ["text", "partial_json"].iter().find_map(|key| delta.text(key));
                let piece = piece.or_else(|| delta.below(&["toolUse", "input"])?.as_str());
                if let Some(piece) = piece {
                    // Texts of Converse have no start.
                    blocks.entry(at).or_insert_with(|| (text_block(), String::new())).1.push_str(piece);
                }
            }
            // The usage of a delta is a running total: the last one counts.
            "message_delta" => {
                let update = event.member("usage").map(Usage::of_anthropic).unwrap_or_default();
                usage.output = update.output.or(usage.output);
            }
            "metadata" => usage = event.member("usage").map_or(usage, Usage::of_ai_sdk),
            _ => {}
        }
    }
    finish(conversation, &mut blocks, usage);
}

fn text_block() -> Json {
    object([("type", string("text"))])
}

/// The block that an event of Converse begins, as Anthropic writes it.
fn converse_block(event: &Json) -> Json {
    let Some(call) = event.below(&["start", "toolUse"]) else { return text_block() };
    let own = |key| call.member(key).cloned().unwrap_or(Json::Null);
    let (id, name) = (own("toolUseId"), own("name"));
    object([("type", string("tool_use")), ("id", id), ("name", name), ("input", object([]))])
}

/// Adds the blocks of a streamed message.
fn finish(conversation: &mut Conversation, blocks: &mut BTreeMap<u64, (Json, String)>, usage: Usage) {
    conversation.usage.add(usage);
    let whole = |(block, pieces): (Json, String)| {
        let Json::Object(mut members) = block else { return Json::Null };
        let is_text = members.iter().any(|(key, value)| key == "type" && value.as_str() == Some("text"));
        let (key, value) = if is_text {
            let begun = members.iter().find(|(key, _)| key == "text").and_then(|(_, text)| text.as_str());
            ("text", string(&format!("{}{pieces}", begun.unwrap_or_default())))
        } else {
            // Only arguments that are whole can be read as an object.
            ("input", parse(pieces.as_bytes()).map_or_else(|_| string(&pieces), |(value, _)| value))
        };
        if is_text || !pieces.is_empty() {
            members.retain(|(name, _)| name != key);
            members.push((key.to_owned(), value));
        }
        Json::Object(members)
    };
    let content = std::mem::take(blocks).into_values().map(whole).filter(|block| *block != Json::Null);
    let content = Json::Array(content.collect());
    if !content.items().is_empty() {
        message(conversation, &object([("role", string("assistant")), ("content", content)]));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    #[test]
    fn a_stream_is_put_together_and_its_last_total_counts() {
        let events = [
            r#"{"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 1}}}"#,
            r#"{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}"#,
            r#"{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me look."}}"#,
            r#"{"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "1", "name": "mcp__shop__buy", "input": {}}}"#,
            r#"{"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ""}}"#,
            r#"{"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"n\": "}}"#,
            r#"{"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "2}"}}"#,
            r#"{"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "2", "name": "list", "input": {}}}"#,
            r#"{"type": "message_delta", "usage": {"output_tokens": 7}}"#,
            r#"{"type": "message_delta", "usage": {"output_tokens": 9}}"#,
        ];
        let text = events.map(|event| format!("event: x\ndata: {event}\n\n")).concat();
        let (name, kept) = read_text("stream.txt", &text).unwrap();
        let trace = &kept.traces[0];
        assert_eq!((name, shown(trace)), ("anthropic", vec!["shop/buy({\"n\":2})=- list({})=-".to_owned()]));
        assert_eq!((trace.usage.input, trace.usage.cached, trace.usage.output), (Some(8), Some(3), Some(9)));
        assert_eq!(trace.final_reply, None);
    }

    #[test]
    fn results_stand_beside_texts_and_calls_of_code_are_nested() {
        let text = r#"[{"role": "user", "content": "q"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "zoom", "toolset_name": "computer", "input": {}},
                {"type": "tool_use", "id": "2", "name": "inner", "input": {}, "caller": {"type": "code_execution_20250825", "tool_id": "c"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": true}, {"type": "text", "text": "go on"}]},
            {"role": "assistant", "content": "Done."}]"#;
        let (name, kept) = read_text("messages.json", text).unwrap();
        let trace = &kept.traces[0];
        assert_eq!((name, shown(trace)), ("anthropic-messages", vec!["computer/zoom({})=!".to_owned()]));
        assert_eq!(
            (trace.nested[0].0.as_str(), shown(&trace.nested[0].1)),
            ("c", vec!["inner({})=-".to_owned()])
        );
        assert_eq!(trace.final_reply.as_deref(), Some("Done."));
        assert_eq!(trace.question.as_ref().map(crate::Content::text).as_deref(), Some("q"));
    }
}
