//! The items of OpenAI's Responses that a rollout holds: calls and their results.

use crate::arguments::input;
use crate::content::{Media, of_text_or_parts};
use crate::formats::prelude::*;

/// The meaning of an item.
pub(super) enum Item {
    /// A call that the program runs; its result is a separate item.
    Call(TracedCall),
    /// A call that the provider ran, with its result if it is there.
    Hosted(TracedCall),
    /// The result of a call.
    Result(Outcome),
    /// An item of a known type that is neither a call nor a result.
    Nothing,
    /// An item of an unknown type.
    Unknown,
}

/// Reads an item that is not a message.
pub(super) fn item(item: &Json) -> Item {
    let id = || call_id(item.first(&["call_id", "id"]));
    let named = |name: &str, arguments| TracedCall::new(id(), name.to_owned(), arguments);
    let name = item.text("name").unwrap_or_default();
    let written = |key| item.member(key).cloned().unwrap_or_else(|| string(""));
    match item.text("type").unwrap_or_default() {
        "function_call" => Item::Call(named(&full(item, name), arguments(item.member("arguments")))),
        "custom_tool_call" => Item::Call(named(&full(item, name), Some(input(&written("input"))))),
        "local_shell_call" => Item::Call(named("local_shell", item.member("action").cloned())),
        "tool_search_call" => Item::Call(named("tool_search", arguments(item.member("arguments")))),
        "web_search_call" => Item::Hosted(named("web_search", item.member("action").cloned())),
        "image_generation_call" => {
            let data = item.text("result").map(|data| Media::of_data("image", data, Some("image/png")));
            let result = data.map(|media| Json::Array(vec![media.to_json()]));
            let is_error = item.says("status", "failed");
            Item::Hosted(TracedCall { result, is_error, ..named("image_generation", None) })
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            Item::Result(output(item))
        }
        "tool_search_output" => {
            Item::Result(Outcome::new(call_id(item.member("call_id")), item.member("tools").cloned()))
        }
        "reasoning" | "compaction" | "compaction_summary" | "context_compaction" | "ghost_snapshot" => {
            Item::Nothing
        }
        _ => Item::Unknown,
    }
}

/// The tool's name: a namespace of MCP is its server, any other is not part of the name.
fn full(item: &Json, name: &str) -> String {
    let namespace = item.text("namespace").and_then(|namespace| namespace.strip_prefix("mcp__"));
    tool(namespace.map(|server| server.strip_suffix("__").unwrap_or(server)), name)
}

/// The result of a call: a text, a list of parts, or a text that is a list of parts.
fn output(item: &Json) -> Outcome {
    let output = item.member("output");
    // Some versions wrote an object around the content.
    let content = output.and_then(|output| output.first(&["content", "content_items"])).or(output);
    let content = match content {
        Some(Json::String(text)) => of_text_or_parts(text),
        other => other.map(Content::from_json).unwrap_or_default(),
    };
    let has_failed = output.is_some_and(|output| output.get("success") == Some(&Json::Bool(false)));
    let is_error = has_failed || output.and_then(Json::as_str).is_some_and(says_failed);
    Outcome { is_error, ..Outcome::new(call_id(item.member("call_id")), Some(content.to_json())) }
}

/// Whether a result is a record with an exit code that is not 0, as early versions wrote them: `{output, metadata}`.
fn says_failed(text: &str) -> bool {
    text.starts_with("{\"")
        && text.contains("\"exit_code\"")
        && parse(text.as_bytes()).is_ok_and(|(record, _)| {
            let code = record.below(&["metadata", "exit_code"]);
            record.has("output") && matches!(code, Some(Json::Integer(code)) if *code != 0)
        })
}
