//! Calls that a model writes into its text: between tags, after `Action:`, as `@tool(id): {..}`, and those that a chat program
//! shows as `<details type="tool_calls">`.

use crate::arguments::read as read_arguments;
use crate::call_shapes::call;
use crate::conversation::NextMessage;
use crate::fields::Fields as _;
use crate::formats::prelude::*;
use crate::formats::training;

/// Characters of HTML, as an attribute holds them; `&` is the last, so that none is read twice.
const ESCAPES: [(&str, &str); 6] =
    [("&quot;", "\""), ("&#x27;", "'"), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];

/// The tool that runs commands, where a program has no other.
const SHELL: &str = "bash";

/// Adds a text of the model, with the calls in it.
pub(super) fn add(conversation: &mut Conversation, text: &str) {
    if text.contains("<tool_call>") && !is_quoted(text) {
        training::tagged_reply(conversation, text);
    } else if !is_quoted(text) && training::calls_in_elements(conversation, text) {
        (conversation.in_texts.awaits_observation, conversation.in_texts.is_any) = (true, true);
    } else if let Some(calls) = whole(conversation, text) {
        conversation.note("a text that is nothing but a call is one");
        for call in calls {
            written(conversation, call);
        }
    } else if text.contains("<details type=\"tool_calls\"") {
        details(conversation, text);
    } else if ["Action:", "Final Answer:", "@"].iter().any(|label| begins_line(text, label)) {
        actions(conversation, text);
    } else if let Some((before, call)) = element(conversation, text) {
        conversation.say(before.trim());
        conversation.note("an argument whose type is unknown is taken as a text");
        written(conversation, call);
    } else if let Some(answer) = between(text, "<attempt_completion>", "</attempt_completion>") {
        conversation.say(between(answer, "<result>", "</result>").unwrap_or(answer).trim());
    } else {
        conversation.say(text);
    }
}

/// The tool whose result a message of the user begins with, as Cline writes it: `[read_file for 'a.py'] Result:`.
pub(super) fn answered(message: &Json) -> Option<String> {
    let content = message.member("content")?;
    let text = content.as_str().or_else(|| content.items().first()?.text("text"))?;
    let (head, _) = text.strip_prefix('[')?.split_once("Result:")?;
    let name = head.split([' ', ']']).next().filter(|name| !name.is_empty())?;
    Some(name.to_owned())
}

/// The call that the next message answers, an element with one for each argument, and the text before it.
fn element<'t>(conversation: &mut Conversation, text: &'t str) -> Option<(&'t str, TracedCall)> {
    let name = conversation.in_texts.answered.take()?;
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut inside = between(text, &open, &close)?.trim_start();
    let mut arguments = Vec::new();
    while let Some((key, _)) = inside.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        let (open, close) = (format!("<{key}>"), format!("</{key}>"));
        let value = between(inside, &open, &close)?;
        arguments.push((key.to_owned(), string(value.trim_matches('\n'))));
        inside = inside.split_once(&close)?.1.trim_start();
    }
    let call = TracedCall::new(None, tool(None, &name), Some(Json::Object(arguments)));
    Some((text.split(&open).next()?, call))
}

/// The text between two tags.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    text.split_once(open)?.1.split_once(close).map(|(inside, _)| inside)
}

/// The calls of a text that holds nothing else, and that the next message answers.
fn whole(conversation: &mut Conversation, text: &str) -> Option<Vec<TracedCall>> {
    let calls = training::calls_of_whole_text(text)?;
    let is_json = text.contains('{');
    let is_answered = match conversation.in_texts.next {
        NextMessage::Result => true,
        NextMessage::Other => is_json,
        NextMessage::Nothing => false,
    };
    if !is_answered {
        conversation.note("what looks like a call in the last text is taken for text");
    }
    is_answered.then_some(calls)
}

/// Whether the first element of a text that is named like a call stands in a block of code, or in a line between backticks:
/// an example.
fn is_quoted(text: &str) -> bool {
    let begin = ["<tool_call>", "<function=", "<invoke "].iter().filter_map(|tag| text.find(tag)).min();
    let before = begin.and_then(|begin| text.get(..begin)).unwrap_or(text);
    before.matches("```").count() % 2 == 1 || before.ends_with('`')
}

fn begins_line(text: &str, label: &str) -> bool {
    text.match_indices(label).any(|(place, _)| place == 0 || text.as_bytes().get(place - 1) == Some(&b'\n'))
}

/// A command in a member or a block of a message. What the user writes next is its result.
pub(super) fn command(conversation: &mut Conversation, command: &str) {
    let arguments = Json::Object(vec![("command".to_owned(), string(command.trim()))]);
    conversation.note("a command that is written as a text is a call of `bash`");
    written(conversation, TracedCall::new(None, SHELL.to_owned(), Some(arguments)));
}

/// The command in the first block of code of a text.
pub(super) fn block(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```")?;
    let (_, rest) = rest.split_once('\n')?;
    let (block, _) = rest.split_once("```")?;
    Some(block)
}

/// Adds a call whose result is told in a message of the user, if it does not stand beside it.
fn written(conversation: &mut Conversation, call: TracedCall) {
    let is_open = call.result.is_none();
    conversation.call(call);
    (conversation.in_texts.awaits_observation, conversation.in_texts.is_any) = (is_open, true);
}

/// What a line of a text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Action,
    Input,
    Observation,
    Answer,
    /// `@tool(id): {..}`.
    Sign,
    /// A thought, or the text before all labels.
    Other,
}

/// The words that lines begin with.
const LABELS: [(&str, Label); 6] = [
    ("Action Input:", Label::Input),
    ("Action:", Label::Action),
    ("Observation:", Label::Observation),
    ("Final Answer:", Label::Answer),
    ("Thought:", Label::Other),
    ("@", Label::Sign),
];

/// The sections of a text: each begins with a line that has a label, which its text does not have.
fn sections(text: &str) -> Vec<(Label, &str, &str)> {
    let mut sections = Vec::new();
    let (mut label, mut begin, mut word) = (Label::Other, 0, "");
    let (mut place, mut is_code) = (0, false);
    for line in text.split_inclusive('\n') {
        is_code ^= line.starts_with("```");
        if let Some((next, is)) = LABELS.iter().find(|(next, _)| !is_code && line.starts_with(next)) {
            sections.push((label, word, text.get(begin..place).unwrap_or_default()));
            (label, begin, word) = (*is, place + next.len(), next);
        }
        place += line.len();
    }
    sections.push((label, word, text.get(begin..).unwrap_or_default()));
    sections
}

/// Adds the sections of a text: `Action:` with a JSON object, or with a name before `Action Input:`; what is observed; the
/// rest is what the model says.
fn actions(conversation: &mut Conversation, text: &str) {
    // What nobody answers is mostly an example.
    if conversation.in_texts.next == NextMessage::Nothing && !conversation.in_texts.is_any {
        if sections(text).iter().any(|(label, ..)| matches!(label, Label::Action | Label::Sign)) {
            conversation.note("what looks like a call in the last text is taken for text");
        }
        return conversation.say(text);
    }
    let (mut own, mut name) = (String::new(), None);
    for (label, word, body) in sections(text) {
        let call = match label {
            Label::Action => {
                let call = json(body).and_then(|value| call(&value)).filter(|call| call.arguments.is_some());
                let word = body.trim().trim_matches(['`', '[', ']', '"']);
                name = Some(word).filter(|word| call.is_none() && !word.contains(char::is_whitespace));
                call
            }
            Label::Input => name.take().map(|name| {
                let input = json(body).or_else(|| read_arguments(body.trim()));
                TracedCall::new(None, tool(None, name), input)
            }),
            Label::Sign => sign(body),
            Label::Observation if conversation.in_texts.awaits_observation => {
                conversation.in_texts.awaits_observation = false;
                let result = Some(body.trim()).filter(|result| !result.is_empty()).map(string);
                conversation
                    .last_calls_mut()
                    .last()
                    .into_iter()
                    .for_each(|call| call.result.clone_from(&result));
                conversation.end_reply();
                continue;
            }
            Label::Answer => {
                own.push_str(body.trim_start());
                continue;
            }
            Label::Observation | Label::Other => None,
        };
        match call {
            Some(call) => {
                conversation.say(std::mem::take(&mut own).trim_end());
                written(conversation, call);
            }
            None => own.extend([word, body]),
        }
    }
    conversation.say(own.trim_end());
}

/// The object in a section, which may stand in a block of code.
fn json(body: &str) -> Option<Json> {
    let body = body.trim().trim_start_matches("```json").trim_start_matches("```").trim_start();
    let end = body.rfind('}').filter(|_| body.starts_with('{'))?;
    parse(body.get(..=end)?.as_bytes()).ok().map(|(value, _)| value)
}

/// A call such as `shell(id): {"command": ..}`.
fn sign(body: &str) -> Option<TracedCall> {
    let (name, after) = body.split_once('(')?;
    let (id, after) = after.split_once("): ")?;
    let is_name = |name: &str| name.chars().all(|sign| sign.is_alphanumeric() || "_-./".contains(sign));
    let arguments = json(after).filter(|_| !name.is_empty() && is_name(name))?;
    let (id, tool) = (Some(id.to_owned()), tool(None, name));
    Some(TracedCall::new(id, tool, Some(arguments)))
}

/// A text with blocks `<details type="tool_calls" name=".." arguments=".." result="..">`. Thoughts stand in such blocks, too; all
/// others are text.
fn details(conversation: &mut Conversation, text: &str) {
    let mut pieces = text.split("<details type=\"");
    conversation.say(pieces.next().unwrap_or_default().trim());
    for piece in pieces {
        let (block, after) = piece.split_once("</details>").unwrap_or((piece, ""));
        if block.starts_with("tool_calls\"") {
            let attribute = |name: &str| {
                let (_, value) = block.split_once(&format!(" {name}=\""))?;
                let value = value.split('"').next().unwrap_or_default();
                Some(ESCAPES.iter().fold(value.to_owned(), |text, (escape, sign)| text.replace(escape, sign)))
            };
            // A value is JSON, and a text in it may be JSON again.
            let json = |name: &str| {
                let text = attribute(name).filter(|text| !text.is_empty())?;
                Some(parse(text.as_bytes()).map_or_else(|_| string(&text), |(value, _)| value))
            };
            let id = attribute("id");
            conversation.call(TracedCall::new(
                id,
                tool(None, &attribute("name").unwrap_or_default()),
                arguments(json("arguments").as_ref()),
            ));
            if let Some(result) = json("result") {
                conversation.result(Outcome::new(attribute("id"), Some(result)));
            }
        }
        let is_thought = block.starts_with("reasoning\"");
        let rest = if block.starts_with("tool_calls\"") || is_thought {
            after.trim().to_owned()
        } else {
            format!("<details type=\"{piece}")
        };
        if !rest.is_empty() {
            conversation.new_reply();
            conversation.say(&rest);
        }
    }
}

#[cfg(test)]
mod tests;
