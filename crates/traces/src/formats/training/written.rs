//! Calls as a model writes them into its text: JSON, Python-like dicts or XML between tags.

use super::types::Types;
use crate::formats::prelude::*;
use crate::literal::value;

/// The text outside of all pairs of these tags, and the text in each pair. A block without an end goes to the next
/// beginning.
pub(super) fn tagged<'t>(text: &'t str, open: &str, close: &str) -> (String, Vec<&'t str>) {
    let mut pieces = text.split(open);
    let mut outside = pieces.next().unwrap_or_default().to_owned();
    let mut blocks = Vec::new();
    for piece in pieces {
        let (block, rest) = piece.split_once(close).unwrap_or((piece, ""));
        blocks.push(block);
        outside.push_str(rest);
    }
    (outside, blocks)
}

/// A text without the thoughts that stand in front of it; their first tag may be in the prompt.
pub(super) fn without_thoughts(text: &str) -> &str {
    text.rsplit_once("</think>").map_or(text, |(_, rest)| rest).trim()
}

/// Adds the text of a reply, and its calls, each in `<tool_call>`.
pub(super) fn reply(conversation: &mut Conversation, text: &str, types: &Types) {
    let (plain, blocks) = tagged(without_thoughts(text), "<tool_call>", "</tool_call>");
    conversation.reply(None);
    conversation.say(plain.trim());
    for block in &blocks {
        calls(conversation, block, types);
    }
}

/// The calls of a text that has nothing else: JSON of one or of a list, a Python-like dict or list, or XML. A text that
/// cannot be read becomes a call without a name, whose arguments are the text.
pub(super) fn calls(conversation: &mut Conversation, text: &str, types: &Types) {
    let text = text.trim();
    if let Some(tags) = ELEMENTS.iter().find(|tags| text.starts_with(tags[0])) {
        return xml(conversation, text, tags, types);
    }
    match value(text).and_then(|value| of_value(&value)) {
        Some(calls) => conversation.calls(calls),
        None => conversation.call(unreadable(text)),
    }
}

/// An object in JSON or Python, else the text.
pub(super) fn object(text: &str) -> Json {
    match value(text) {
        Some(object @ Json::Object(_)) => object,
        _ if text.trim().is_empty() => Json::Object(Vec::new()),
        _ => string(text),
    }
}

/// A call that cannot be read: it has no name, and its arguments are the text.
pub(super) fn unreadable(text: &str) -> TracedCall {
    TracedCall { arguments: Some(string(text)), ..TracedCall::default() }
}

/// The calls of a value, if all are calls.
pub(super) fn of_value(value: &Json) -> Option<Vec<TracedCall>> {
    match value {
        Json::Array(list) => list.iter().map(of_object).collect(),
        one => Some(vec![of_object(one)?]),
    }
}

fn of_object(value: &Json) -> Option<TracedCall> {
    let function = value.member("function").filter(|it| matches!(it, Json::Object(_))).unwrap_or(value);
    let id = call_id(value.member("id"));
    Some(TracedCall::new(
        id,
        tool(None, function.text("name")?),
        or_empty(function.first(&["arguments", "parameters"])),
    ))
}

/// How an element of a call begins and ends, how one of an argument begins, and what ends a name.
pub(super) const ELEMENTS: [[&str; 4]; 2] = [
    ["<function=", "</function>", "<parameter=", ">"],
    ["<invoke name=\"", "</invoke>", "<parameter name=\"", "\">"],
];

/// Adds the calls of `<function=NAME><parameter=KEY>VALUE</parameter></function>`, or with JSON in place of parameters,
/// once or more.
pub(super) fn xml(conversation: &mut Conversation, text: &str, tags: &[&str; 4], types: &Types) {
    let [begin, end, argument, after_name] = *tags;
    for piece in text.split(begin).skip(1) {
        let (name, body) = piece.split_once(after_name).unwrap_or((piece, ""));
        let body = body.split(end).next().unwrap_or_default();
        if body.trim_start().starts_with('{') {
            conversation.call(TracedCall::new(None, tool(None, name.trim()), Some(object(body))));
            continue;
        }
        let pairs = body.split(argument).skip(1).map(|piece| {
            let (key, value) = piece.split_once(after_name).unwrap_or((piece, ""));
            (key, value.split("</parameter>").next().unwrap_or_default())
        });
        typed(conversation, name, pairs, types);
    }
}

/// Adds a call whose arguments are written as text, on lines of their own.
fn typed<'t>(
    conversation: &mut Conversation,
    name: &str,
    pairs: impl Iterator<Item = (&'t str, &'t str)>,
    types: &Types,
) {
    let (name, mut members) = (name.trim(), Vec::new());
    for (key, text) in pairs {
        let text = text.strip_prefix('\n').unwrap_or(text);
        let text = text.strip_suffix('\n').unwrap_or(text);
        let (value, is_known) = types.value(name, key.trim(), text);
        if !is_known {
            conversation.note("an argument whose type is unknown is taken as a text");
        }
        members.push((key.trim().to_owned(), value));
    }
    conversation.call(TracedCall::new(None, tool(None, name), Some(Json::Object(members))));
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::Keys;

    use super::*;

    fn read(text: &str) -> (Vec<(String, String)>, Option<String>) {
        let mut conversation = Conversation::default();
        reply(&mut conversation, text, &Types::default());
        let trace = conversation.finish();
        let call = |call: TracedCall| (call.tool, call.arguments.unwrap().to_text(Keys::AsRead));
        (trace.steps.into_iter().flatten().map(call).collect(), trace.final_reply)
    }

    fn one(tool: &str, arguments: &str) -> (Vec<(String, String)>, Option<String>) {
        (vec![(tool.to_owned(), arguments.to_owned())], None)
    }

    #[test]
    fn blocks_in_any_writing() {
        for (text, expected) in [
            (
                "<tool_call>{\"name\": \"t\", \"arguments\": \"{\\\"a\\\": 1}\"}</tool_call>",
                one("t", "{\"a\":1}"),
            ),
            ("<tool_call>\n{'name': 't', 'arguments': {'a': True}}\n</tool_call>", one("t", "{\"a\":true}")),
            ("<tool_call>{\"name\": \"t\"}", one("t", "{}")),
            ("<tool_call>{\"a\": 1}</tool_call>", one("", "\"{\\\"a\\\": 1}\"")),
            ("<tool_call>[1]</tool_call>", one("", "\"[1]\"")),
            (
                "<tool_call><function=t><parameter=a>\n1\n</parameter></function></tool_call>",
                one("t", "{\"a\":\"1\"}"),
            ),
            ("<tool_call><function=t>{\"a\": 1}</function></tool_call>", one("t", "{\"a\":1}")),
            (
                "<tool_call><invoke name=\"t\"><parameter name=\"a\">1</parameter></invoke></tool_call>",
                one("t", "{\"a\":\"1\"}"),
            ),
            ("<think><tool_call>{}</tool_call></think>\n\nYes.", (Vec::new(), Some("Yes.".to_owned()))),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert_eq!(read("<tool_call>{\"name\": \"a\"}<tool_call>{\"name\": \"b\"}</tool_call>").0.len(), 2);
    }
}
