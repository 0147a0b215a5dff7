//! Gemma 4: `<|tool_call>call:NAME{..}`, with a syntax of its own for values. Results stand in the turn of the model or
//! in turns of their own, and some versions leave out the next speaker.

use m3_trajectory::json::Json;

use super::{result, say, sections};
use crate::arguments::{read as arguments, tool};
use crate::content::{Content, string};
use crate::conversation::Conversation;
use crate::literal::literal;
use crate::outcome::Outcome;
use crate::trace::TracedCall;

const TOKENS: [&str; 10] = [
    "<|turn>",
    "<turn|>",
    "<|tool_call>",
    "<tool_call|>",
    "<|tool_response>",
    "<tool_response|>",
    "<|channel>",
    "<channel|>",
    "<|tool>",
    "<tool|>",
];

/// The token before and after a text.
const QUOTE: &str = "<|\"|>";

/// How deep values may be nested.
const DEEPEST: usize = 100;

pub(super) fn read(conversation: &mut Conversation, text: &str) {
    let mut is_model = false;
    for (token, body) in sections(text, &TOKENS) {
        match token {
            "<|turn>" => {
                let (role, body) = body.split_once('\n').unwrap_or((body, ""));
                is_model = role.trim() == "model";
                match role.trim() {
                    "user" => conversation.user(Content::of_text(body.trim())),
                    "tool" => result(conversation, None, body.trim()),
                    "model" => say(conversation, body),
                    _ => {}
                }
            }
            "<turn|>" => {
                conversation.end_reply();
                // Text without the beginning of a turn is the model's.
                is_model |= !body.trim().is_empty();
                say(conversation, body);
            }
            "<|tool_call>" => call(conversation, body),
            "<|tool_response>" => response(conversation, body),
            "<tool_call|>" | "<tool_response|>" | "<channel|>" if is_model => say(conversation, body),
            _ => {}
        }
    }
}

/// The name of a call or a result, and the text between its outermost braces.
fn named<'t>(body: &'t str, kind: &str) -> Option<(&'t str, &'t str)> {
    let (name, rest) = body.trim().strip_prefix(kind)?.split_once('{')?;
    Some((name.trim(), rest.strip_suffix('}').unwrap_or(rest)))
}

fn call(conversation: &mut Conversation, body: &str) {
    let Some((name, inside)) = named(body, "call:") else {
        conversation.call(super::super::written::unreadable(body.trim()));
        return;
    };
    conversation.reply(None);
    let arguments = object(inside).or_else(|| arguments(inside));
    conversation.call(TracedCall { tool: tool(None, name), arguments, ..TracedCall::default() });
}

/// Adds a result: the only member `value`, or else the whole object. A token without a result only asks for one.
fn response(conversation: &mut Conversation, body: &str) {
    let Some((name, inside)) = named(body, "response:") else { return };
    let value = match object(inside) {
        Some(Json::Object(mut members))
            if members.len() == 1 && members.iter().all(|(key, _)| key == "value") =>
        {
            members.pop().map(|(_, value)| value)
        }
        Some(value) => Some(value),
        None => Some(string(inside)),
    };
    conversation.result(Outcome { tool: Some(tool(None, name)), result: value, ..Outcome::default() });
}

/// An object from the text between its braces, if all of it can be read.
fn object(inside: &str) -> Option<Json> {
    let mut reader = Reader { rest: inside };
    let members = reader.members(0)?;
    reader.rest.trim().is_empty().then_some(Json::Object(members))
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn eat(&mut self, mark: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// `key:value,..` up to the brace or the end.
    fn members(&mut self, depth: usize) -> Option<Vec<(String, Json)>> {
        let mut members = Vec::new();
        while !self.rest.trim_start().is_empty() && !self.rest.trim_start().starts_with('}') {
            let key = if self.eat(QUOTE) {
                self.quoted()?
            } else {
                let end = self.rest.find([':', ',', '{', '}', '"', '<'])?;
                let (key, rest) = self.rest.split_at(end);
                self.rest = rest;
                key.trim().to_owned()
            };
            if !self.eat(":") {
                return None;
            }
            members.push((key, self.value(depth + 1)?));
            if !self.eat(",") {
                break;
            }
        }
        Some(members)
    }

    fn quoted(&mut self) -> Option<String> {
        let (text, rest) = self.rest.split_once(QUOTE)?;
        self.rest = rest;
        Some(text.to_owned())
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEEPEST {
            return None;
        }
        if self.eat(QUOTE) {
            return self.quoted().map(Json::String);
        }
        if self.eat("{") {
            let members = self.members(depth)?;
            return self.eat("}").then_some(Json::Object(members));
        }
        if self.eat("[") {
            let mut items = Vec::new();
            while !self.eat("]") {
                items.push(self.value(depth + 1)?);
                if !self.eat(",") && !self.rest.trim_start().starts_with(']') {
                    return None;
                }
            }
            return Some(Json::Array(items));
        }
        let end = self.rest.find([',', '}', ']', '{', '<']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        literal(word.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn values() {
        let json = |text: &str| object(text).map(|value| value.to_text(m3_trajectory::json::Keys::AsRead));
        let text = "a:<|\"|>x, }<|\"|>,b:[1,-2.5,{c:true}],<|\"|>d<|\"|>:{},e:None";
        assert_eq!(json(text).as_deref(), Some(r#"{"a":"x, }","b":[1,-2.5,{"c":true}],"d":{},"e":null}"#));
        assert_eq!(json("").as_deref(), Some("{}"));
        for wrong in ["{\"city\": \"Oslo\"", "a", "a:", "a:[1", "a:{b:1", "a:<|\"|>x", "a:1}"] {
            assert_eq!(json(wrong), None, "{wrong}");
        }
        assert_eq!(json(&"a:{".repeat(100_000)), None);
        assert_eq!(json(&format!("a:{}", "[".repeat(100_000))), None);
    }

    #[test]
    fn results_in_the_turn_of_the_model_or_after_it() {
        let start = "<bos><|turn>system\n<|tool>declaration:a{x:{type:<|\"|>call:b{}<|\"|>}}<tool|><turn|>\n<|turn>user\nq<turn|>\n<|turn>model\n";
        let calls = "<|tool_call>call:a{x:1}<tool_call|><|tool_call>call:b{{\"y\"}<tool_call|>";
        let inline = "<|tool_response>response:a{value:<|\"|>r<|\"|>}<tool_response|><|tool_response>response:b{s:2}<tool_response|>";
        check(
            &format!(
                "{start}{calls}{inline}So.<turn|>\n<|tool_call>call:c{{}}<tool_call|><|tool_response>response:c{{value:3}}<tool_response|>A<turn|>\n"
            ),
            &["a{\"x\":1}=\"r\" b\"{\\\"y\\\"\"={\"s\":2}", "c{}=3"],
            "A",
        );
        check(
            &format!(
                "{start}<|channel>thought\nhm<channel|>{calls}So.<turn|>\n<|turn>tool\nr<turn|>\n<|turn>tool\ns<turn|>\n<|turn>model\nA<turn|>\n"
            ),
            &["a{\"x\":1}=\"r\" b\"{\\\"y\\\"\"=\"s\""],
            "A",
        );
    }
}
