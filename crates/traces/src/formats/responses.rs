//! OpenAI's Responses: flat lists of items, as requests, sessions and `to_input_list()` of the Agents SDK have them; replies,
//! logs and streams.

mod event_log;
mod log;

use crate::arguments::input;
use crate::events::events;
use crate::fields::names;
use crate::formats::prelude::*;
use crate::logs::is_exchange;

/// Replies, logs and streams, recognized by members that only they have.
pub(super) const REPLIES: Format = Format {
    name: "openai-responses",
    title: "OpenAI Responses: replies, logs and streams; events of Realtime",
    recognizes: |head| match head.shape {
        Shape::Events => head
            .values
            .iter()
            .any(|event| event.text("type").is_some_and(|kind| kind.starts_with("response."))),
        _ => head.any(|value| {
            is_reply(value)
                || is_model_response(value)
                || event_log::is_event(value)
                || is_exchange(value) && value.member("response").is_some_and(is_reply)
        }),
    },
    read,
};

/// The format of lists of items, recognized by the types of the items.
pub(super) const ITEMS: Format = Format {
    name: "openai-responses-items",
    title: "OpenAI Responses and Agents SDK: items",
    recognizes: |head| head.any_message(is_item),
    read,
};

/// The types of items that are calls.
const CALL_TYPES: &[&str] = names![
    apply_patch_call code_interpreter_call computer_call custom_tool_call file_search_call function_call
    image_generation_call local_shell_call mcp_call shell_call web_search_call
];

fn is_reply(value: &Json) -> bool {
    value.says("object", "response") && value.has("output")
}

/// Whether a value is one of the replies that the Agents SDK keeps of a run.
fn is_model_response(value: &Json) -> bool {
    value.first(&["response_id", "responseId"]).is_some()
        && value.has("usage")
        && value.list("output").iter().any(|item| item.has("type"))
}

/// An item, without what the Agents SDK puts around it.
fn bare(item: &Json) -> &Json {
    item.first(&["raw_item", "rawItem"]).unwrap_or(item)
}

fn is_item(item: &Json) -> bool {
    let item = bare(item);
    // Logs of other programs have records such as `tool_call` and `llm_call`.
    let is_of_type = item.text("type").is_some_and(|kind| {
        matches!(kind, "function_call_result" | "reasoning")
            || CALL_TYPES.contains(&kind.strip_suffix("_output").unwrap_or(kind))
    });
    let is_part = |part: &Json| part.says("type", "input_text") || part.says("type", "output_text");
    is_of_type && !item.has("payload") || item.list("content").iter().any(is_part)
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    if input.head.shape == Shape::Events {
        let events = events(input, sink)?;
        return sink.trace(None, stream(&events).finish());
    }
    if input.head.any(event_log::is_event) {
        let events = input.list(sink)?;
        return sink.trace(None, event_log::read_events(&events).finish());
    }
    // A list of replies is that of one run; lines may be of any.
    if input.head.shape == Shape::Document && input.head.any(is_model_response) {
        let mut conversation = Conversation::default();
        input.list(sink)?.iter().for_each(|response| reply(&mut conversation, response));
        return sink.trace(None, conversation.finish());
    }
    if input.head.any(is_exchange) {
        return log::read(input, sink);
    }
    let is_any_reply = |value: &Json| is_reply(value) || is_model_response(value);
    if input.head.any(is_any_reply) {
        return input.replies(sink, is_any_reply, reply);
    }
    input.conversations(sink, |sink, at, value| {
        let mut conversation = Conversation::default();
        conversation.model = value.text("model").map(str::to_owned);
        for item in messages(value).unwrap_or_default().iter().chain(value.list("output")) {
            self::item(&mut conversation, item);
        }
        conversation.id = at.id(value.id("id"));
        sink.trace(at.line, conversation.finish())
    })
}

/// Adds the messages of a request.
fn ask(conversation: &mut Conversation, request: &Json) {
    conversation.model = request.text("model").map(str::to_owned).or(conversation.model.take());
    match request.member("input") {
        Some(Json::String(text)) => conversation.user(Content::of_text(text)),
        Some(input) => input.items().iter().for_each(|item| self::item(conversation, item)),
        None => {}
    }
    conversation.end_reply();
}

/// Adds the time, the usage and the model of a reply, but not its items.
fn replied(conversation: &mut Conversation, response: &Json) {
    conversation.at(response.number("created_at"));
    conversation.usage.add(response.member("usage").map(Usage::of_openai));
    conversation.set_model(response.text("model"));
}

/// Adds a whole reply with its items.
pub(super) fn reply(conversation: &mut Conversation, response: &Json) {
    replied(conversation, response);
    for item in response.list("output") {
        self::item(conversation, item);
    }
    conversation.end_reply();
}

/// Reads a streamed reply from its last event, which holds all of it; without that event, from its finished items.
fn stream(events: &[Json]) -> Conversation {
    let mut conversation = Conversation::default();
    let is_last = |event: &&Json| {
        matches!(event.text("type"), Some("response.completed" | "response.incomplete" | "response.failed"))
    };
    for response in events.iter().filter(is_last).filter_map(|event| event.member("response")) {
        reply(&mut conversation, response);
    }
    if conversation.is_empty() {
        conversation.note("a stream without its last event: the tokens are not known");
        for event in events.iter().filter(|event| event.says("type", "response.output_item.done")) {
            event.member("item").into_iter().for_each(|item| self::item(&mut conversation, item));
        }
    }
    conversation
}

/// Adds one item: a message, a call or a result.
pub(super) fn item(conversation: &mut Conversation, item: &Json) {
    let item = bare(item);
    // A whole reply among the items, as mini-swe-agent keeps them.
    if is_reply(item) {
        return reply(conversation, item);
    }
    let kind = item.text("type").unwrap_or("message");
    match kind {
        "message" => message(conversation, item),
        "reasoning"
        | "mcp_list_tools"
        | "mcp_approval_request"
        | "mcp_approval_response"
        | "compaction"
        | "additional_tools"
        | "program"
        | "program_output"
        | "item_reference" => {}
        "function_call" | "custom_tool_call" | "local_shell_call" | "shell_call" | "apply_patch_call"
        | "computer_call" => {
            let call = call(kind, item);
            match item.text_below(&["caller", "caller_id"]) {
                Some(caller)
                    if item.member("caller").is_some_and(|caller| caller.says("type", "program")) =>
                {
                    conversation.nested_call(caller, call);
                }
                _ => {
                    conversation.reply(None);
                    conversation.call(call);
                }
            }
        }
        _ if kind.ends_with("_output") || kind == "function_call_result" => output(conversation, item),
        _ if kind.ends_with("_call") => conversation.step(vec![hosted(kind, item)]),
        _ => conversation.note_named("an item of type", kind, "is left out"),
    }
}

fn message(conversation: &mut Conversation, item: &Json) {
    let content = Content::of_member(item, "content");
    match item.text("role") {
        Some("user") => conversation.user(content),
        Some("assistant") => {
            conversation.reply(None);
            conversation.answers_after_calls = true;
            conversation.say(&content.text());
        }
        _ => {}
    }
}

/// A call that the client runs.
fn call(kind: &str, item: &Json) -> TracedCall {
    let bare = kind.strip_suffix("_call").unwrap_or(kind);
    let (tool, arguments) = match kind {
        "function_call" => {
            let name = item.text("name").unwrap_or_default();
            (named(item.text("namespace"), name), arguments(item.member("arguments")))
        }
        "custom_tool_call" => {
            let written = item.member("input").cloned().unwrap_or_else(|| string(""));
            (named(item.text("namespace"), item.text("name").unwrap_or_default()), Some(input(&written)))
        }
        _ => (bare.to_owned(), item.first(&["action", "actions", "operation"]).map(without_nulls)),
    };
    let id = call_id(item.first(&["call_id", "callId", "id"]));
    TracedCall::new(id, tool, arguments)
}

/// The name of a tool, with its namespace only if that is an MCP server.
fn named(namespace: Option<&str>, name: &str) -> String {
    tool(namespace.filter(|namespace| namespace.starts_with("mcp__")), name)
}

/// The result of a call that the client ran.
fn output(conversation: &mut Conversation, item: &Json) {
    let id = call_id(item.first(&["call_id", "callId", "id"]));
    let result = item.member("output").map(|output| match output {
        Json::Object(_) | Json::Array(_) => {
            let content = Content::from_json(output);
            if content.is_empty() { output.clone() } else { content.to_json() }
        }
        other => other.clone(),
    });
    if item.says("status", "incomplete") {
        conversation.note("a result was cut off");
    }
    conversation.result(Outcome::new(id, result));
}

/// A call that the provider ran, with its result beside it.
fn hosted(kind: &str, item: &Json) -> TracedCall {
    let bare = kind.strip_suffix("_call").unwrap_or(kind).to_owned();
    let call = TracedCall::new(None, bare, None);
    let list = |key: &str| item.member(key).filter(|it| !it.items().is_empty()).cloned();
    match kind {
        "mcp_call" => {
            let error = item.member("error").map(error_text);
            TracedCall {
                tool: tool(item.text("server_label"), item.text("name").unwrap_or_default()),
                arguments: arguments(item.member("arguments")),
                is_error: error.is_some(),
                result: error.or_else(|| item.member("output").cloned()),
                ..call
            }
        }
        "web_search_call" => TracedCall { arguments: item.member("action").map(without_nulls), ..call },
        "file_search_call" => {
            let queries = item.member("queries").cloned().unwrap_or(Json::Array(Vec::new()));
            TracedCall { arguments: Some(object([("queries", queries)])), result: list("results"), ..call }
        }
        "code_interpreter_call" => {
            let code = item.member("code").cloned().unwrap_or_else(|| string(""));
            let logs: Vec<&str> =
                item.list("outputs").iter().filter_map(|output| output.text("logs")).collect();
            let result = if logs.is_empty() { list("outputs") } else { Some(string(&logs.join("\n"))) };
            TracedCall { arguments: Some(object([("code", code)])), result, ..call }
        }
        "image_generation_call" => {
            let image =
                item.text("result").map(|data| object([("type", string("image")), ("data", string(data))]));
            TracedCall { result: image.map(|image| Content::from_json(&image).to_json()), ..call }
        }
        _ => TracedCall { arguments: arguments(item.first(&["arguments", "action", "input"])), ..call },
    }
}

/// The text of an error: its own, or that of the content that it holds.
fn error_text(error: &Json) -> Json {
    match error {
        Json::Object(_) => {
            let content = Content::of_member(error, "content");
            let text = if content.is_empty() {
                error.text("message").unwrap_or_default().to_owned()
            } else {
                content.text()
            };
            string(&text)
        }
        other => other.clone(),
    }
}

/// A value without the members that are null, which the library adds.
fn without_nulls(value: &Json) -> Json {
    match value {
        Json::Object(_) => Json::Object(
            members(value)
                .iter()
                .filter(|(_, it)| *it != Json::Null)
                .map(|(key, it)| (key.clone(), without_nulls(it)))
                .collect(),
        ),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
