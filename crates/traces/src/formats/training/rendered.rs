//! Texts that chat templates rendered, one conversation each: those of `ChatML` (`<|im_start|>`: Qwen, Hermes and others;
//! calls stand in `<tool_call>`, as JSON or as XML) and of Llama 3. Templates may lose calls and delimiters, which cannot
//! be restored here.

mod llama;

use super::types::Types;
use super::{records, results, written};
use crate::formats::prelude::*;

/// Rendered conversations.
pub(in super::super) const RENDERED: Format = Format {
    name: "rendered-text",
    title: "training data: texts that the chat templates of ChatML and Llama 3 rendered",
    recognizes: |head| head.any(|value| value.text("text").and_then(template).is_some()),
    read: |input, sink| {
        records(input, sink, |conversation, value| {
            let text = value.text("text").unwrap_or_default();
            template(text).map(|read| read(conversation, text)).is_some()
        })
    },
};

/// What reads texts of the template that has rendered this one; `None` for another text.
fn template(text: &str) -> Option<fn(&mut Conversation, &str)> {
    let llama = text.contains("<|start_header_id|>").then_some(llama::read as fn(&mut Conversation, &str));
    llama.or_else(|| text.contains("<|im_start|>").then_some(chat_ml as _))
}

fn chat_ml(conversation: &mut Conversation, text: &str) {
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
    use m3_trajectory::json::{Json, Keys};

    use super::*;
    use crate::trace::TracedCall;

    pub(super) fn check(text: &str, steps: &[&str], answer: &str) {
        let mut conversation = Conversation::default();
        template(text).unwrap()(&mut conversation, text);
        let trace = conversation.finish();
        let call = |call: &TracedCall| {
            let text =
                |value: &Option<Json>| value.as_ref().map_or("-".to_owned(), |it| it.to_text(Keys::AsRead));
            format!("{}{}={}", call.tool, text(&call.arguments), text(&call.result))
        };
        let shown = trace.steps.iter().map(|step| step.iter().map(call).collect::<Vec<_>>().join(" "));
        assert_eq!(shown.collect::<Vec<_>>(), steps);
        assert_eq!(trace.question.as_ref().map(Content::text).unwrap_or_default(), "q");
        assert_eq!(trace.final_reply.unwrap_or_default(), answer);
    }

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
