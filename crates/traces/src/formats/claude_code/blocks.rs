//! The messages in Claude Code's lines: blocks of Anthropic's Messages.

use crate::formats::prelude::*;

/// Adds the blocks of a line of the model to its reply.
pub(super) fn assistant(it: &mut Conversation, message: &Json) {
    it.reply(message.text("id"));
    let content = message.member("content");
    it.say(content.and_then(Json::as_str).unwrap_or_default());
    for block in content.map(Json::items).unwrap_or_default() {
        match block.text("type") {
            Some("text") => it.say(block.text("text").unwrap_or_default()),
            Some("tool_use") => it.call(TracedCall::new(
                call_id(block.member("id")),
                tool(block.text("toolset_name"), block.text("name").unwrap_or_default()),
                arguments(block.member("input")),
            )),
            Some("thinking" | "redacted_thinking") => {}
            _ => it.note("a block of an unknown type is left out"),
        }
    }
}

/// Adds a line of the user: results of calls, and the user's text unless the program wrote it.
pub(super) fn user(it: &mut Conversation, message: &Json, is_own: bool) {
    let Some(content) = message.member("content") else { return };
    let mut own = Content::default();
    match content {
        Json::Array(blocks) => {
            for block in blocks {
                if is_result(block) {
                    result(it, block);
                } else {
                    own.add(block);
                }
            }
        }
        other => own.add(other),
    }
    if is_own {
        it.end_reply();
    } else if !own.is_empty() {
        it.user(own);
    }
}

/// Adds the result of a call.
pub(super) fn result(it: &mut Conversation, block: &Json) {
    let content = Content::of_member(block, "content");
    let outcome = Outcome::new(call_id(block.member("tool_use_id")), Some(content.to_json()));
    it.result(Outcome { is_error: block.is("is_error"), ..outcome });
}

/// Whether a block is the result of a call.
pub(super) fn is_result(block: &Json) -> bool {
    block.says("type", "tool_result")
}

/// The ids of the calls whose results a message holds.
pub(super) fn results(message: &Json) -> impl Iterator<Item = &str> {
    message
        .list("content")
        .iter()
        .filter(|block| is_result(block))
        .filter_map(|block| block.text("tool_use_id"))
}

/// The ids of the calls that a message makes.
pub(super) fn calls(message: &Json) -> impl Iterator<Item = &str> {
    let calls = message.list("content").iter().filter(|block| block.says("type", "tool_use"));
    calls.filter_map(|block| block.text("id"))
}
