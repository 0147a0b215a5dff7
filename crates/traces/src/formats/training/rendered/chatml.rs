//! `<|im_start|>`: Qwen, Hermes and others. Calls stand in `<tool_call>`, as JSON or as XML.

use super::super::types::Types;
use super::super::{results, written};
use crate::content::Content;
use crate::conversation::Conversation;

pub(super) fn read(conversation: &mut Conversation, text: &str) {
    let mut types = Types::default();
    for piece in text.split("<|im_start|>").skip(1) {
        let (role, body) = piece.split_once('\n').unwrap_or((piece, ""));
        let body = body.split("<|im_end|>").next().unwrap_or_default();
        match role.trim() {
            "system" | "developer" => types.add_prompt(body),
            "user" if body.trim_start().starts_with("<tool_response>") => {
                results::results(conversation, body);
            }
            "tool" => results::results(conversation, body),
            "user" => conversation.user(Content::of_text(body.trim())),
            "assistant" => written::reply(conversation, body, &types),
            _ => conversation.note("a turn of an unknown role is left out"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn json_and_xml() {
        let prompt = "<|im_start|>system\n<tools>\n{\"type\": \"function\", \"function\": {\"name\": \"a\", \"parameters\": {\"type\": \
            \"object\", \"properties\": {\"x\": {\"type\": \"integer\"}}}}}\n</tools>\n<tool_call>\n{\"name\": <function-name>}\n\
            </tool_call><|im_end|>\n<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<think>\nhm\n</think>\n\n";
        let end = "<|im_end|>\n<|im_start|>user\n<tool_response>\n1\n</tool_response><|im_end|>\n<|im_start|>assistant\nA<|im_end|>\n";
        let json = "<tool_call>\n{\"name\": \"a\", \"arguments\": {\"x\": 5}}\n</tool_call>";
        check(&format!("{prompt}So.\n{json}{end}"), &["a{\"x\":5}=\"1\""], "A");
        let xml = "<tool_call>\n<function=a>\n<parameter=x>\n5\n</parameter>\n<parameter=y>\n6\n</parameter>\n</function>\n</tool_call>";
        check(&format!("{prompt}{xml}{end}"), &["a{\"x\":5,\"y\":\"6\"}=\"1\""], "A");
        let broken = "<tool_call>\n{\"name\": \"a\", \"arguments\": {\"x\": 5}\n</tool_call>";
        check(
            &format!("{prompt}{broken}{end}"),
            &["\"{\\\"name\\\": \\\"a\\\", \\\"arguments\\\": {\\\"x\\\": 5}\"=\"1\""],
            "A",
        );
    }
}
