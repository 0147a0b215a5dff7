//! Reads calls, results and tokens in the messages of a log.

use crate::arguments::read;
use crate::content::Part;
use crate::formats::prelude::*;

/// Adds a reply of a model. `calls` may come from elsewhere than the message.
pub(super) fn reply<'c>(
    it: &mut Conversation,
    message: &Json,
    id: Option<&str>,
    calls: impl Iterator<Item = &'c Json>,
) {
    it.set_model(message.text("model"));
    for part in message.list("content").iter().filter(|part| part.says("type", "tool_use")) {
        it.step(vec![hosted(part)]);
    }
    it.reply(id);
    for part in Content::of_member(message, "content").parts {
        if let Part::Text(text) = part {
            it.say(&text);
        }
    }
    calls.for_each(|made| it.call(call(made)));
}

/// A call that the provider ran inside of its reply; the result stands beside it.
fn hosted(part: &Json) -> TracedCall {
    let name = part.text("name").filter(|name| !name.is_empty()).or_else(|| part.text("tool_type"));
    let server = part.text("context").filter(|_| part.says("tool_type", "mcp_call"));
    let error = part.text("error");
    TracedCall {
        result: part
            .member("result")
            .filter(|result| error.is_none() || **result != string(""))
            .cloned()
            .or_else(|| error.map(string)),
        is_error: error.is_some(),
        ..TracedCall::new(None, tool(server, name.unwrap_or_default()), arguments(part.member("arguments")))
    }
}

/// The call in a message. If its arguments could not be parsed, only the text of the error has them.
pub(super) fn call(call: &Json) -> TracedCall {
    let written = match call.text("parse_error") {
        Some(error) => match call.member("arguments").filter(|it| !members(it).is_empty()) {
            Some(other) => Some(other.clone()),
            None => written(error).and_then(read),
        },
        None => arguments(call.member("arguments")),
    };
    let id = call_id(call.member("id"));
    TracedCall::new(id, named_tool(call, "function"), written)
}

/// The text that a model wrote as arguments: it stands between the first and the last paragraph of the error.
fn written(error: &str) -> Option<&str> {
    let (_, rest) = error.split_once("\n\n")?;
    let end = rest.rfind("\n\nError details:").or_else(|| rest.rfind("\n\n"))?;
    rest.get(..end)
}

/// The result in a message or an event. If the call failed, the message of its error is often all there is.
pub(super) fn result(id: Option<String>, value: &Json, content: Content) -> Outcome {
    let error = value.member("error");
    let text = error.and_then(|error| error.text("message").or_else(|| error.as_str()));
    let is_empty = content.media().next().is_none() && content.text().is_empty();
    let content = if is_empty { text.map(Content::of_text).unwrap_or(content) } else { content };
    Outcome {
        tool: value.text("function").map(|name| tool(None, name)),
        is_error: error.is_some(),
        error_type: error.and_then(|error| error.text("type")).map(str::to_owned),
        ..Outcome::new(id, Some(content.to_json()))
    }
}

/// Tokens of a model: the log's input tokens do not include those of the cache.
pub(super) fn of_model(usage: &Json) -> Usage {
    let names = ["input_tokens", "input_tokens_cache_read", "output_tokens", "reasoning_tokens"];
    let mut all = Usage::named(usage, names);
    for key in ["input_tokens_cache_read", "input_tokens_cache_write"] {
        all.add(Usage { input: usage.count(key), ..Usage::default() });
    }
    all
}
