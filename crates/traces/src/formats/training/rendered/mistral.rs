//! Mistral: `[TOOL_CALLS]` with a list in JSON, later with the name, `[CALL_ID]` and `[ARGS]`. Written from its published
//! templates; no rendered text was at hand.

use m3_trajectory::json::{Json, parse};

use super::super::types::Types;
use super::super::written;
use super::{result, say, sections};
use crate::arguments::{call_id, read as arguments, tool};
use crate::content::{Content, string};
use crate::conversation::Conversation;
use crate::fields::Fields;
use crate::outcome::Outcome;
use crate::trace::TracedCall;

const TOKENS: [&str; 15] = [
    "[INST]",
    "[/INST]",
    "[TOOL_CALLS]",
    "[CALL_ID]",
    "[ARGS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CONTENT]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[THINK]",
    "[/THINK]",
    "</s>",
];

pub(super) fn read(conversation: &mut Conversation, text: &str) {
    let (mut name, mut id, mut of) = ("", None, None);
    let sections = sections(text, &TOKENS);
    for (number, (token, body)) in sections.iter().enumerate() {
        let next = sections.get(number + 1).map(|(token, _)| *token);
        let body = body.trim();
        match *token {
            "[INST]" => conversation.user(Content::of_text(body)),
            "[/INST]" | "[/TOOL_RESULTS]" | "[/THINK]" => say(conversation, body),
            "[TOOL_CALLS]" => {
                conversation.reply(None);
                (name, id) = (body, None);
                if !matches!(next, Some("[CALL_ID]" | "[ARGS]")) {
                    written::calls(conversation, body, &Types::default());
                }
            }
            "[CALL_ID]" => id = call_id(Some(&string(body))),
            "[ARGS]" => conversation.call(TracedCall {
                id: id.take(),
                tool: tool(None, name),
                arguments: arguments(body),
                ..TracedCall::default()
            }),
            "[TOOL_RESULTS]" if next == Some("[TOOL_CONTENT]") => of = call_id(Some(&string(body))),
            "[TOOL_RESULTS]" => results(conversation, body),
            "[TOOL_CONTENT]" => {
                conversation.result(Outcome {
                    id: of.take(),
                    result: Some(string(body)),
                    ..Outcome::default()
                });
            }
            _ => {}
        }
    }
}

/// Results: {`content`, `call_id`}, a list of {`name`, `content`}, or a text.
fn results(conversation: &mut Conversation, text: &str) {
    let value = parse(text.as_bytes()).ok().map(|(value, _)| value);
    let list = match &value {
        Some(Json::Array(_)) => value.as_ref().map(Json::items).unwrap_or_default(),
        Some(Json::Object(_)) => value.as_slice(),
        _ => &[],
    };
    let is_result = |item: &Json| item.has("content") && (item.has("call_id") || item.has("name"));
    if list.is_empty() || !list.iter().all(is_result) {
        return result(conversation, None, text);
    }
    for item in list {
        conversation.result(Outcome {
            id: call_id(item.member("call_id")),
            tool: item.text("name").map(str::to_owned),
            result: item.member("content").cloned(),
            ..Outcome::default()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn lists_and_tokens() {
        check(
            "<s>[AVAILABLE_TOOLS] [{}][/AVAILABLE_TOOLS][INST] q[/INST][TOOL_CALLS] [{\"name\": \"a\", \"arguments\": {\"x\": 1}, \"id\": \"1\"}, \
             {\"name\": \"a\", \"arguments\": {}, \"id\": \"2\"}]</s>[TOOL_RESULTS] {\"content\": \"s\", \"call_id\": \"2\"}[/TOOL_RESULTS]\
             [TOOL_RESULTS] {\"content\": \"r\", \"call_id\": \"1\"}[/TOOL_RESULTS] A</s>",
            &["a{\"x\":1}=\"r\" a{}=\"s\""],
            "A",
        );
        check(
            "[INST]q[/INST]So.[TOOL_CALLS]a[CALL_ID]1[ARGS]{\"x\": 1}[TOOL_CALLS]b[ARGS]{\"y\"</s>[TOOL_RESULTS]1[TOOL_CONTENT]r[/TOOL_RESULTS]\
             [TOOL_RESULTS]s[/TOOL_RESULTS]A</s>",
            &["a{\"x\":1}=\"r\" b\"{\\\"y\\\"\"=\"s\""],
            "A",
        );
    }
}
