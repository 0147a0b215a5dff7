//! DeepSeek: calls and results between tokens of their own.

use super::super::written;
use super::{result, say, sections};
use crate::arguments::{read as arguments, tool};
use crate::content::Content;
use crate::conversation::Conversation;
use crate::trace::TracedCall;

const TOKENS: [&str; 13] = [
    "<｜User｜>",
    "<｜Assistant｜>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁outputs▁begin｜>",
    "<｜tool▁output▁begin｜>",
    "<｜tool▁output▁end｜>",
    "<｜tool▁outputs▁end｜>",
    "<｜begin▁of▁sentence｜>",
    "<｜end▁of▁sentence｜>",
];

pub(super) fn read(conversation: &mut Conversation, text: &str) {
    let mut before = "";
    for (token, body) in sections(text, &TOKENS) {
        match token {
            "<｜User｜>" => conversation.user(Content::of_text(body.trim())),
            // The answer follows the results without a token for the speaker.
            "<｜Assistant｜>" | "<｜tool▁outputs▁end｜>" | "<｜tool▁output▁end｜>" => {
                say(conversation, written::without_thoughts(body));
            }
            "<｜tool▁call▁begin｜>" => before = body.trim(),
            "<｜tool▁sep｜>" => call(conversation, before, body),
            "<｜tool▁output▁begin｜>" => result(conversation, None, body.trim_matches('\n')),
            _ => {}
        }
    }
}

/// A call: `function`, then its name and its arguments in a block of code; in V3.1 the name, then the arguments.
fn call(conversation: &mut Conversation, before: &str, body: &str) {
    let (name, written) = match body.split_once("\n```json\n") {
        Some((name, code)) => (name.trim(), code.trim_end().trim_end_matches("```").trim_end()),
        None => (before, body.trim()),
    };
    conversation.reply(None);
    conversation.call(TracedCall {
        tool: tool(None, name),
        arguments: arguments(written),
        ..TracedCall::default()
    });
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn both_versions_and_lost_delimiters() {
        let call = |x: &str| {
            format!("<｜tool▁call▁begin｜>function<｜tool▁sep｜>a\n```json\n{x}\n```<｜tool▁call▁end｜>")
        };
        let result = |x: &str| format!("<｜tool▁output▁begin｜>{x}<｜tool▁output▁end｜>");
        check(
            &format!(
                "<｜begin▁of▁sentence｜>s<｜User｜>q<｜Assistant｜>So.<｜tool▁calls▁begin｜>{}\n{}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>\
                 <｜tool▁outputs▁begin｜>{}{}\n{}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>{}<｜tool▁outputs▁end｜>A<｜end▁of▁sentence｜>",
                call("{\"x\": 1}"),
                call("{\"x\""),
                result("r"),
                result("s"),
                call("{}"),
                result("t")
            ),
            &["a{\"x\":1}=\"r\" a\"{\\\"x\\\"\"=\"s\"", "a{}=\"t\""],
            "A",
        );
        check(
            "<｜User｜>q<｜Assistant｜></think><｜tool▁calls▁begin｜><｜tool▁call▁begin｜>a<｜tool▁sep｜>{}<｜tool▁call▁end｜>\
             <｜tool▁calls▁end｜><｜end▁of▁sentence｜><｜tool▁output▁begin｜>r<｜tool▁output▁end｜>A<｜end▁of▁sentence｜>",
            &["a{}=\"r\""],
            "A",
        );
    }
}
