//! GLM: `<tool_call>NAME` with `<arg_key>` and `<arg_value>`.

use super::super::types::Types;
use super::super::{results, written};
use super::sections;
use crate::content::Content;
use crate::conversation::Conversation;

const TOKENS: [&str; 5] = ["<|system|>", "<|user|>", "<|assistant|>", "<|observation|>", "<|endoftext|>"];

pub(super) fn read(conversation: &mut Conversation, text: &str) {
    let mut types = Types::default();
    for (token, body) in sections(text, &TOKENS) {
        match token {
            "<|system|>" => types.add_prompt(body),
            "<|user|>" => {
                conversation.user(Content::of_text(body.trim().trim_end_matches("/nothink").trim_end()));
            }
            "<|observation|>" => results::results(conversation, body),
            "<|assistant|>" => reply(conversation, body, &types),
            _ => {}
        }
    }
}

fn reply(conversation: &mut Conversation, body: &str, types: &Types) {
    let (plain, blocks) = written::tagged(written::without_thoughts(body), "<tool_call>", "</tool_call>");
    conversation.reply(None);
    conversation.say(plain.trim());
    for block in blocks {
        let mut pieces = block.split("<arg_key>");
        let name = pieces.next().unwrap_or_default().trim();
        if name.is_empty() || name.starts_with(['{', '<']) {
            written::calls(conversation, block, types);
            continue;
        }
        let pairs = pieces.map(|piece| {
            let (key, rest) = piece.split_once("</arg_key>").unwrap_or((piece, ""));
            let value = rest.split_once("<arg_value>").map_or("", |(_, value)| value);
            (key, value.split("</arg_value>").next().unwrap_or_default())
        });
        written::typed(conversation, name, pairs, types);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn keys_and_values() {
        check(
            "[gMASK]<sop><|system|>\n<tools>\n{\"type\": \"function\", \"function\": {\"name\": \"a\", \"parameters\": {\"properties\": \
             {\"x\": {\"type\": \"number\"}, \"s\": {\"type\": \"string\"}}}}}\n</tools>\n<tool_call>{function-name}\n</tool_call>\
             <|user|>\nq<|assistant|>\n<think></think>\nSo.\n<tool_call>a\n<arg_key>x</arg_key>\n<arg_value>-3</arg_value>\n\
             <arg_key>s</arg_key>\n<arg_value>1\n2</arg_value>\n</tool_call>\n<tool_call>b\n</tool_call><|observation|>\n\
             <tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response><|assistant|>\n<think></think>\nA",
            &["a{\"x\":-3,\"s\":\"1\\n2\"}=\"1\" b{}=\"2\""],
            "A",
        );
    }
}
