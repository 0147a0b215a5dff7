//! Texts that chat templates rendered, one conversation each. Templates may lose calls and delimiters, which cannot be
//! restored here.

mod chatml;
mod deepseek;
mod gemma;
mod glm;
mod harmony;
mod llama;
mod mistral;

use m3_trajectory::json::{Json, parse};

use super::super::Format;
use super::records;
use crate::content::string;
use crate::conversation::Conversation;
use crate::fields::Fields;
use crate::input::{Input, ReadError, Sink};
use crate::outcome::Outcome;

/// Rendered conversations.
pub(in super::super) const RENDERED: Format = Format {
    name: "rendered-text",
    title: "training data: texts that chat templates rendered",
    recognizes: |head| head.any(|value| value.text("text").and_then(template).is_some()),
    read,
};

/// A function that reads the texts of one family of templates.
type TemplateReader = fn(&mut Conversation, &str);

/// The family of templates that a text is from, by the tokens that begin a turn.
fn template(text: &str) -> Option<TemplateReader> {
    let has = |token: &str| text.contains(token);
    let families: [(bool, TemplateReader); 7] = [
        (has("<|start|>") && has("<|message|>"), harmony::read),
        (has("<|turn>"), gemma::read),
        (has("<|start_header_id|>"), llama::read),
        (has("<|im_start|>"), chatml::read),
        (has("<|assistant|>") && has("<|user|>"), glm::read),
        (has("<｜User｜>"), deepseek::read),
        (has("[INST]") && has("[/INST]"), mistral::read),
    ];
    families.into_iter().find(|(is, _)| *is).map(|(_, read)| read)
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    records(input, sink, |conversation, value| {
        let text = value.text("text").unwrap_or_default();
        let read = template(text);
        if let Some(read) = read {
            read(conversation, text);
        }
        read.is_some()
    })
}

/// The text after each of these tokens, up to the next of them.
fn sections<'t>(text: &'t str, tokens: &[&'static str]) -> Vec<(&'static str, &'t str)> {
    let begins = |letter: char| tokens.iter().any(|token| token.starts_with(letter));
    let mut marks = Vec::new();
    for (place, _) in text.match_indices(begins) {
        let rest = text.get(place..).unwrap_or_default();
        marks.extend(tokens.iter().find(|token| rest.starts_with(**token)).map(|token| (*token, place)));
    }
    let ends = marks.iter().skip(1).map(|(_, place)| *place).chain([text.len()]);
    let body = |(token, place): &(&'static str, usize), end| {
        (*token, text.get(place + token.len()..end).unwrap_or_default())
    };
    marks.iter().zip(ends).map(|(start, end)| body(start, end)).collect()
}

/// Adds text to the current reply, unless the text is empty.
fn say(conversation: &mut Conversation, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        conversation.reply(None);
        conversation.say(text);
    }
}

/// Adds a result that is written as text; some templates render text as JSON.
fn result(conversation: &mut Conversation, tool: Option<&str>, text: &str) {
    let result = Some(string(&unquoted(text)));
    conversation.result(Outcome { tool: tool.map(str::to_owned), result, ..Outcome::default() });
}

/// The content of a JSON string; any other text stays as it is.
fn unquoted(text: &str) -> String {
    if text.starts_with('"')
        && let Ok((Json::String(inside), _)) = parse(text.as_bytes())
    {
        return inside;
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::Keys;

    use super::*;
    use crate::trace::TracedCall;

    /// The trajectory of a rendered text: its steps as texts, its question and its answer.
    pub(super) fn shown(text: &str) -> (Vec<String>, String, String) {
        let mut conversation = Conversation::default();
        template(text).unwrap()(&mut conversation, text);
        let trace = conversation.finish();
        let call = |call: &TracedCall| {
            let text =
                |value: &Option<Json>| value.as_ref().map_or("-".to_owned(), |it| it.to_text(Keys::AsRead));
            format!("{}{}={}", call.tool, text(&call.arguments), text(&call.result))
        };
        let steps = trace.steps.iter().map(|step| step.iter().map(call).collect::<Vec<_>>().join(" "));
        let question = trace.question.as_ref().map(crate::content::Content::text).unwrap_or_default();
        (steps.collect(), question, trace.final_reply.unwrap_or_default())
    }

    pub(super) fn check(text: &str, steps: &[&str], answer: &str) {
        assert_eq!(
            shown(text),
            (steps.iter().map(|it| (*it).to_owned()).collect(), "q".to_owned(), answer.to_owned())
        );
    }

    #[test]
    fn sections_of_tokens() {
        assert_eq!(sections("x<a>y<<b>é", &["<a>", "<b>"]), [("<a>", "y<"), ("<b>", "é")]);
        assert!(sections("", &["<a>"]).is_empty());
    }

    #[test]
    fn other_texts_have_no_template() {
        for text in ["", "Hello <user>", "[INST] only", "<|user|> only"] {
            assert!(template(text).is_none(), "{text}");
        }
    }

    #[test]
    fn no_text_is_too_odd() {
        let tokens = [
            "<|start|>",
            "<|message|>",
            "<|turn>",
            "<|tool_call>",
            "<|start_header_id|>",
            "<|im_start|>",
            "<|assistant|>",
            "<|user|>",
            "<｜User｜>",
            "<｜tool▁sep｜>",
            "[INST]",
            "[/INST]",
            "[TOOL_CALLS]",
            "[ARGS]",
            "<|tool_response>",
            "call:",
            "{",
        ];
        for token in tokens {
            for other in tokens {
                let text = format!("{token}é{other}{token}assistant\n{other}{token}");
                if let Some(read) = template(&text) {
                    read(&mut Conversation::default(), &text);
                }
            }
        }
    }
}
