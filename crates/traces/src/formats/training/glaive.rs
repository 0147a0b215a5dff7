//! Glaive: a conversation in one text, with `<functioncall>` and the names of the speakers in capitals.

use super::{records, written};
use crate::formats::prelude::*;
use crate::literal;

/// The format of conversations in one text.
pub(in super::super) const GLAIVE: Format = Format {
    name: "glaive",
    title: "training data: texts of Glaive",
    recognizes: |head| head.any(|value| chat(value).is_some()),
    read,
};

/// The names of the speakers.
const SPEAKERS: [&str; 4] = ["USER:", "ASSISTANT:", "FUNCTION RESPONSE:", "SYSTEM:"];

fn chat(value: &Json) -> Option<&str> {
    // Messages are better than the text that was rendered from them.
    let text = value.text("chat").or_else(|| value.text("text").filter(|_| !value.has("messages")))?;
    (text.contains("USER: ") && text.contains("ASSISTANT: ")).then_some(text)
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    records(input, sink, |conversation, value| {
        let text = chat(value);
        for (speaker, text) in turns(text.unwrap_or_default()) {
            turn(conversation, speaker, text);
        }
        text.is_some()
    })
}

/// The turns with their speakers. A name begins a turn at the beginning of a line or after a tag such as
/// `<|endoftext|>`; in a text of one line also after any space.
fn turns(text: &str) -> Vec<(&'static str, &str)> {
    let is_one_line = !text.trim().contains('\n');
    let mut starts = Vec::new();
    for (place, _) in text.match_indices(':') {
        let before = text.get(..=place).unwrap_or_default();
        let Some(speaker) = SPEAKERS.into_iter().find(|speaker| before.ends_with(speaker)) else { continue };
        let before = before.strip_suffix(speaker).unwrap_or_default();
        let line = before.trim_end_matches(' ');
        if line.is_empty() || line.ends_with(['\n', '>']) || is_one_line && before.ends_with(' ') {
            starts.push((speaker, before.len()));
        }
    }
    let ends = starts.iter().skip(1).map(|(_, start)| *start).chain([text.len()]);
    let piece =
        |start: usize, end: usize, speaker: &str| text.get(start + speaker.len()..end).unwrap_or_default();
    starts.iter().zip(ends).map(|(&(speaker, start), end)| (speaker, piece(start, end, speaker))).collect()
}

fn turn(conversation: &mut Conversation, speaker: &str, text: &str) {
    let text = text.trim().trim_end_matches("<|endoftext|>").trim_end();
    match speaker {
        "USER:" => conversation.user(Content::of_text(text)),
        "ASSISTANT:" => reply(conversation, text),
        "FUNCTION RESPONSE:" => {
            conversation.result(Outcome::new(None, Some(string(text))));
        }
        _ => {}
    }
}

/// Adds a reply, whose calls follow `<functioncall>`.
pub(super) fn reply(conversation: &mut Conversation, text: &str) {
    let mut pieces = text.split("<functioncall>");
    conversation.reply(None);
    conversation.say(pieces.next().unwrap_or_default().replace("<|endoftext|>", "").trim());
    for piece in pieces {
        let piece = piece.split("</functioncall>").next().unwrap_or_default();
        conversation.call(call(piece.replace("<|endoftext|>", "").trim()));
    }
}

/// Reads a call from `{"name": "NAME", "arguments": '{..}'}`, where nothing is escaped within the single quotes.
fn call(text: &str) -> TracedCall {
    if let Some((before, rest)) = text.split_once("'{").filter(|(before, _)| before.trim_end().ends_with(':'))
        && let Some((inside, _)) = rest.rsplit_once('\'')
        && let Ok((value, _)) = parse(format!("{before}null}}").as_bytes())
        && let Some(name) = value.text("name")
    {
        let inside = format!("{{{inside}");
        let arguments = match written::object(&inside) {
            object @ Json::Object(_) => object,
            // Some data sets do escape the arguments as Python does.
            _ => literal::value(&format!("'{inside}'"))
                .map_or_else(|| string(&inside), |it| written::object(it.as_str().unwrap_or(&inside))),
        };
        return TracedCall::new(None, tool(None, name), Some(arguments));
    }
    let value = literal::value(text).filter(|value| value.text("name").is_some());
    value.map_or_else(
        || written::unreadable(text),
        |value| TracedCall::new(None, named_tool(&value, "name"), or_empty(value.member("arguments"))),
    )
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::Keys;

    use super::*;

    #[test]
    fn a_conversation_in_one_text() {
        let text = "USER: What is it: 5 or 6?\n\n\nASSISTANT: I look. <functioncall> {\"name\": \"a\", \"arguments\": '{\"q\": \"What's \
            up\"}'} <|endoftext|>\n\n\nFUNCTION RESPONSE: {\"x\": 1}\n\n\nASSISTANT: It is 5. <|endoftext|>\n\n\n";
        for text in [text.to_owned(), text.replace('\n', " ")] {
            let mut conversation = Conversation::default();
            for (speaker, text) in turns(&text) {
                turn(&mut conversation, speaker, text);
            }
            let trace = conversation.finish();
            assert_eq!(trace.question.as_ref().unwrap().text(), "What is it: 5 or 6?");
            let made = &trace.steps[0][0];
            assert_eq!(made.arguments.as_ref().unwrap().to_text(Keys::AsRead), r#"{"q":"What's up"}"#);
            assert_eq!((made.tool.as_str(), &made.result), ("a", &Some(string("{\"x\": 1}"))));
            assert_eq!(trace.final_reply.as_deref(), Some("It is 5."));
        }
    }

    #[test]
    fn arguments_in_any_quotes() {
        let parsed = |text: &str| {
            let call = call(text);
            (call.tool, call.arguments.unwrap().to_text(Keys::AsRead))
        };
        let expected = |tool: &str, arguments: &str| (tool.to_owned(), arguments.to_owned());
        assert_eq!(
            parsed(r#"{"name": "a", "arguments": '{"t": "x\ny"}'}"#),
            expected("a", r#"{"t":"x\ny"}"#)
        );
        assert_eq!(parsed(r#"{"name": "a", "arguments": {"t": 1}}"#), expected("a", r#"{"t":1}"#));
        assert_eq!(parsed(r#"{"name": "a", "arguments": '{}'}"#), expected("a", "{}"));
        assert_eq!(parsed(r#"{"name": "a", "arguments": '{"t": 1'}"#), expected("a", r#""{\"t\": 1""#));
        assert_eq!(parsed(r#"{"name": "a", "argu"#), expected("", r#""{\"name\": \"a\", \"argu""#));
    }
}
