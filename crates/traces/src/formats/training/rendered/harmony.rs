//! Harmony, of gpt-oss: a message with `to=functions.NAME` is a call.

use super::{result, say, unquoted};
use crate::arguments::{read as arguments, tool};
use crate::content::Content;
use crate::conversation::Conversation;
use crate::trace::TracedCall;

pub(super) fn read(conversation: &mut Conversation, text: &str) {
    for piece in text.split("<|start|>").skip(1) {
        let (head, body) = piece.split_once("<|message|>").unwrap_or((piece, ""));
        let end = ["<|end|>", "<|call|>", "<|return|>"].iter().filter_map(|token| body.find(token)).min();
        message(conversation, head, body.get(..end.unwrap_or(body.len())).unwrap_or_default());
    }
}

/// A message. Its head names the speaker, the recipient and the channel, in different orders.
fn message(conversation: &mut Conversation, head: &str, body: &str) {
    let until_space = |text: &'_ str| text.find([' ', '<']).unwrap_or(text.len());
    let word = |text: &str| text.get(..until_space(text)).unwrap_or_default().to_owned();
    let after = |mark: &str| head.split_once(mark).map(|(_, rest)| word(rest));
    let (speaker, to, channel) = (word(head.trim_start()), after("to="), after("<|channel|>"));
    let name = |text: &str| text.strip_prefix("functions.").unwrap_or(text).to_owned();
    match (speaker.as_str(), to) {
        ("system" | "developer", _) => {}
        ("user", _) => conversation.user(Content::of_text(body)),
        ("assistant", Some(to)) => {
            conversation.reply(None);
            let arguments = arguments(&unquoted(body.trim()));
            conversation.call(TracedCall {
                tool: tool(None, &name(&to)),
                arguments,
                ..TracedCall::default()
            });
        }
        ("assistant", None) if channel.as_deref() == Some("analysis") => {}
        ("assistant", None) => say(conversation, body),
        (other, _) => result(conversation, Some(&tool(None, &name(other))), body),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn heads_in_both_orders() {
        let start = "<|start|>system<|message|>to=functions.x<|end|><|start|>user<|message|>q<|end|><|start|>assistant<|channel|>analysis\
            <|message|>hm<|end|><|start|>assistant";
        let end = "<|start|>functions.a to=assistant<|channel|>commentary<|message|>\"r\"<|end|><|start|>functions.a to=assistant\
            <|channel|>commentary<|message|>\"lost\"<|end|><|start|>assistant<|channel|>final<|message|>A<|return|>";
        for head in [
            " to=functions.a<|channel|>commentary json",
            "<|channel|>commentary to=functions.a <|constrain|>json",
        ] {
            check(&format!("{start}{head}<|message|>{{\"x\": 1}}<|call|>{end}"), &["a{\"x\":1}=\"r\""], "A");
        }
        let broken = " to=functions.a<|channel|>commentary json<|message|>\"{\\\"x\\\"\"<|call|>";
        check(&format!("{start}{broken}{end}"), &["a\"{\\\"x\\\"\"=\"r\""], "A");
    }
}
