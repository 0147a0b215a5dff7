//! Replies of the `react` mode: a thought, and then either an action or the final answer. An action is the JSON that
//! the prompt asks for, or the classic pair of a tool's name and its input (Yao et al. 2022, arXiv:2210.03629; with
//! the input as JSON on a line of its own, as `LangChain`'s agents have it).

use std::iter::Peekable;

use serde_json::Value;

use super::calls::{BARE_LIST, Calls, ParsedCall, calls, note};
use super::json::{LONGEST, find, too_long};

/// The calls or the answer of a model, after its thought.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    /// The model calls tools.
    Calls(Calls),
    /// The model answers.
    Answer(String),
    /// The model does neither; the text says what is missing.
    Neither(String),
}

/// A reply that was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReactReply {
    /// The calls or the answer in the reply.
    pub(crate) act: Act,
    /// The reply up to where the model went on to invent an observation; `None` if it did not.
    pub(crate) cut: Option<String>,
}

/// The kind of a marker, by the part of a reply that begins there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Thought,
    Action,
    Input,
    Observation,
    Answer,
}

/// A marker at the beginning of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Mark {
    word: Word,
    start: usize,
    end: usize,
}

/// Reads a reply. Whichever of action and answer comes first counts. An observation that the model invents, and
/// everything after it, does not.
pub(crate) fn react(text: &str) -> ReactReply {
    if text.len() > LONGEST {
        return ReactReply { act: Act::Neither(too_long(text)), cut: None };
    }
    let mut marks = marks(text).filter(|mark| mark.word != Word::Thought).peekable();
    match marks.find(|mark| matches!(mark.word, Word::Action | Word::Answer)) {
        Some(action) if action.word == Word::Action => acted(text, action, &mut marks),
        Some(answer) => ReactReply { act: Act::Answer(text[answer.end..].trim().to_owned()), cut: None },
        None => {
            let reason = "it has neither `Action:` nor `Final Answer:`".to_owned();
            ReactReply { act: Act::Neither(reason), cut: None }
        }
    }
}

/// Reads an action, and where the reply goes on after it.
fn acted(text: &str, action: Mark, marks: &mut Peekable<impl Iterator<Item = Mark>>) -> ReactReply {
    // The prompt asks for JSON; with an input after it, it is still the prompt's form with something added.
    let is_pair = |input: &Mark| input.word == Word::Input && !text[action.end..input.start].contains('{');
    let (mut calls, next) = if marks.peek().is_some_and(is_pair) {
        pairs(text, action, marks)
    } else {
        let next = marks.next();
        let mut calls = calls(&text[action.end..next.map_or(text.len(), |next| next.start)]);
        // The `react` prompt asks for a list, so a bare list is not odd here.
        calls.oddities.retain(|oddity| oddity != BARE_LIST);
        (calls, next)
    };
    if let Some(first) = calls.calls.first_mut().filter(|call| call.name.is_empty())
        && first.arguments.is_string()
    {
        // The whole reply is kept, because it tells more than the text after the marker.
        first.arguments = text.into();
    }
    let cut = next.map(|next| text[..next.start].trim_end().to_owned());
    if cut.is_some() {
        calls.oddities.push(
            "the reply goes on after its action, before there was an observation; that was left out"
                .to_owned(),
        );
    }
    ReactReply { act: Act::Calls(calls), cut }
}

/// The calls of actions and their inputs, pair by pair, and what follows the last one.
fn pairs(
    text: &str,
    mut action: Mark,
    marks: &mut Peekable<impl Iterator<Item = Mark>>,
) -> (Calls, Option<Mark>) {
    let oddities = vec!["the action is a name with an `Action Input` and no JSON with calls".to_owned()];
    let mut calls = Calls { oddities, ..Calls::default() };
    while let Some(input) = marks.next_if(|mark| mark.word == Word::Input) {
        let next = marks.next();
        let end = next.map_or(text.len(), |next| next.start);
        let call = paired(&text[action.end..input.start], &text[input.end..end], &mut calls.oddities);
        if let Some(reason) = &call.illegal {
            calls.problem.get_or_insert_with(|| reason.clone());
        }
        calls.calls.push(call);
        match next {
            Some(mark) if mark.word == Word::Action => action = mark,
            next => return (calls, next),
        }
    }
    (calls, Some(action))
}

/// The call of an action and its input.
fn paired(name: &str, input: &str, oddities: &mut Vec<String>) -> ParsedCall {
    let is_around = |c: char| c.is_whitespace() || matches!(c, '`' | '*' | '"' | '\'' | '[' | ']');
    let name = name.trim_matches(is_around);
    if name.is_empty() || name.contains('\n') {
        return ParsedCall::illegal(name, "an action is not the name of a tool");
    }
    // The next thought is not part of the input.
    let end = marks(input).find(|mark| mark.word == Word::Thought).map_or(input.len(), |mark| mark.start);
    let input = input[..end].trim();
    let call =
        |arguments: Value, illegal: Option<String>| ParsedCall { name: name.to_owned(), arguments, illegal };
    if input.is_empty() {
        note(oddities, "a call has no `arguments`");
        return call(Value::Null, None);
    }
    match find(input) {
        Ok(found) => {
            let further = found.len().saturating_sub(1);
            let Some(first) = found.into_iter().next().filter(|first| first.value.is_object()) else {
                return call(input.into(), Some("the `Action Input` is no JSON object".to_owned()));
            };
            first.oddities.iter().for_each(|oddity| note(oddities, oddity));
            if further > 0 {
                note(oddities, "further JSON stands in an `Action Input`; only the first counts");
            }
            call(first.value, None)
        }
        Err(reason) => {
            call(input.into(), Some(format!("the `Action Input` should be a JSON object: {reason}")))
        }
    }
}

/// The markers of a text, in order: those that stand at the beginning of a line, perhaps in bold or with a number.
fn marks(text: &str) -> impl Iterator<Item = Mark> {
    let mut line_start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = line_start;
        line_start += line.len();
        let rest = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '#' | '>'));
        let (word, after) = word(rest)?;
        let after = after.trim_start_matches('*');
        Some(Mark { word, start: at + line.len() - rest.len(), end: at + line.len() - after.len() })
    })
}

/// The marker that a line begins with, and what follows it.
fn word(line: &str) -> Option<(Word, &str)> {
    // A marker may be `Action:`, `**Action**:` or `Action 1:`.
    let filling = |text: &str| {
        text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ' ' | '*')).len()
    };
    let words = [
        ("Thought", Word::Thought),
        ("Action", Word::Action),
        ("Observation", Word::Observation),
        ("Final Answer", Word::Answer),
    ];
    let (mut word, mut after) =
        words.iter().find_map(|(name, word)| Some((*word, line.strip_prefix(name)?)))?;
    let mut between = filling(after);
    if word == Word::Action
        && let Some(input) = after[between..].strip_prefix("Input").or(after[between..].strip_prefix("input"))
    {
        (word, after, between) = (Word::Input, input, filling(input));
    }
    // Our own observations are numbered and name their tool: `Observation 1, server/tool:`.
    let is_numbered = word == Word::Observation && after[..between].contains(|c: char| c.is_ascii_digit());
    let end = |c: char| c == ':' || (is_numbered && c == ',');
    Some((word, after[between..].strip_prefix(end)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(reacted: &ReactReply) -> Vec<&str> {
        match &reacted.act {
            Act::Calls(calls) => calls.calls.iter().map(|call| call.name.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn an_action_is_one_call_or_several_at_once() {
        let text = "Thought: both at once.\nAction: [{\"name\": \"a/b\", \"arguments\": {\"x\": 1}}, {\"name\": \"c/d\", \"arguments\": {}}]";
        let reacted = react(text);
        assert_eq!(names(&reacted), ["a/b", "c/d"]);
        let Act::Calls(calls) = &reacted.act else { panic!("{reacted:?}") };
        assert!(calls.oddities.is_empty() && calls.problem.is_none(), "{calls:?}");
        assert_eq!(calls.calls[0].arguments, json!({"x": 1}));
        let one = react("**Action:** {\"name\": \"a/b\", \"arguments\": {}}");
        assert_eq!(names(&one), ["a/b"]);
    }

    #[test]
    fn invented_observations_are_left_out() {
        let action = "Thought: t\nAction: [{\"name\": \"a/b\", \"arguments\": {}}]";
        let text = format!("{action}\nObservation: it is 7.\nThought: so.\nFinal Answer: 7");
        let reacted = react(&text);
        assert_eq!(names(&reacted), ["a/b"]);
        assert_eq!(reacted.cut.as_deref(), Some(action));
    }

    #[test]
    fn answers_end_it() {
        let act = |text: &str| react(text).act;
        assert_eq!(
            act("Thought: t\nFinal Answer: 7 eels.\nIn two lines."),
            Act::Answer("7 eels.\nIn two lines.".to_owned())
        );
        assert_eq!(
            act("Final Answer: the label says\nAction: stop"),
            Act::Answer("the label says\nAction: stop".to_owned())
        );
        assert!(matches!(act("It is 7."), Act::Neither(_)));
        assert!(matches!(act("I give no Final Answer: yet"), Act::Neither(_)));
    }

    /// Each of these replies would take minutes if every marker looked back over the whole text. The numbers are how
    /// often a marker is found and how many calls are read.
    #[test]
    fn hostile_replies_take_no_time() {
        for (text, found, read) in [
            ("Action: ".repeat(LONGEST / 8), 1, 1),
            ("x Action:".repeat(LONGEST / 9), 0, 0),
            ("Action:\n".repeat(LONGEST / 8), LONGEST / 8, 1),
            ("Action 1: a\nAction Input: {\"\n".repeat(LONGEST / 32), LONGEST / 16, LONGEST / 32),
            ("Action: a\nAction Input: {}\n".repeat(LONGEST / 32), LONGEST / 16, LONGEST / 32),
            ("Action ".to_owned() + &"1 ".repeat(LONGEST / 3), 0, 0),
        ] {
            let (done, ended) = std::sync::mpsc::channel();
            let shown = text[..20].to_owned();
            std::thread::spawn(move || done.send((marks(&text).count(), names(&react(&text)).len())));
            let counted = ended.recv_timeout(std::time::Duration::from_mins(1));
            assert_eq!(counted, Ok((found, read)), "{shown}");
        }
        let text = "x".repeat(LONGEST) + "\nFinal Answer: 7";
        assert!(
            matches!(react(&text).act, Act::Neither(reason) if reason.contains("at most 1048576 are read"))
        );
    }

    #[test]
    fn markers_stand_at_the_beginning_of_lines() {
        let markers = |text| marks(text).map(|mark| (mark.word, mark.start, mark.end)).collect::<Vec<_>>();
        assert_eq!(
            markers("an Action: no\r\n > **Action:** yes\nObservation:\n\u{a0}## Final Answer: 7"),
            [(Word::Action, 20, 29), (Word::Observation, 34, 46), (Word::Answer, 52, 65)]
        );
        assert!(markers("").is_empty());
        for (line, expected) in [
            ("Action 1: x", Some((Word::Action, 0, 9))),
            ("**Action**: x", Some((Word::Action, 2, 11))),
            ("Action Input: {}", Some((Word::Input, 0, 13))),
            ("Action Input 12: {}", Some((Word::Input, 0, 16))),
            ("**Action 1 input:** {}", Some((Word::Input, 2, 19))),
            ("Thought 2: x", Some((Word::Thought, 0, 10))),
            ("**Final Answer**: 7", Some((Word::Answer, 2, 17))),
            ("Observation 1, kit/echo: eel", Some((Word::Observation, 0, 14))),
            ("Observation, that is: eel", None),
            ("Action 1, then another: x", None),
            ("Actions: x", None),
            ("Action Items: x", None),
            ("action: x", None),
            ("Action", None),
        ] {
            assert_eq!(markers(line), Vec::from_iter(expected), "{line}");
        }
    }

    /// `read` gives the calls as (name, arguments, whether the call is legal), and the text that was cut off.
    #[test]
    fn the_classic_form_is_a_name_and_its_input() {
        let read = |text: &str| {
            let ReactReply { act: Act::Calls(calls), cut } = react(text) else { panic!("{text}") };
            assert!(calls.oddities[0].contains("`Action Input`"), "{text}: {calls:?}");
            let cut = cut.map_or_else(String::new, |cut| text[cut.len()..].trim_start().to_owned());
            let parsed = calls
                .calls
                .iter()
                .map(|call| (call.name.clone(), call.arguments.clone(), call.illegal.is_none()));
            assert_eq!(calls.problem.is_some(), calls.calls.iter().any(|call| call.illegal.is_some()));
            (parsed.collect::<Vec<_>>(), cut)
        };
        let call = |name: &str, arguments: Value| (name.to_owned(), arguments, true);
        let eel = || call("a/b", json!({"q": "eel"}));
        for (text, calls, cut) in [
            ("Thought: t\nAction: a/b\nAction Input: {\"q\": \"eel\"}", vec![eel()], ""),
            ("Thought 1: t\nAction 1: a/b\nAction Input 1: {\"q\": \"eel\"}", vec![eel()], ""),
            ("**Action:** `a/b`\n**Action Input:**\n```json\n{\"q\": \"eel\"}\n```", vec![eel()], ""),
            ("Action: [a/b]\r\nAction Input: {\"q\": \"eel\",}\r\n", vec![eel()], ""),
            (
                "Action: a/b\nAction Input: {\n  \"q\": \"eel\"\n}\nThought: next\nAction: c/d\nAction Input: {}",
                vec![eel(), call("c/d", json!({}))],
                "",
            ),
            (
                "Action: a/b\nAction Input: {\"q\": \"eel\"}\nObservation: 7\nAction: c/d",
                vec![eel()],
                "Observation: 7\nAction: c/d",
            ),
            (
                "Action: a/b\nAction Input: {\"q\": \"eel\"}\nObservation 1, a/b: 7",
                vec![eel()],
                "Observation 1, a/b: 7",
            ),
            ("Action: a/b\nAction Input: {\"q\": \"eel\"}\nFinal Answer: 7", vec![eel()], "Final Answer: 7"),
            ("Action: a/b\nAction Input: {\"q\": \"eel\"}\nAction: c/d", vec![eel()], "Action: c/d"),
            // An empty input is like a JSON call without `arguments`.
            ("Action: a/b\nAction Input:\n", vec![call("a/b", json!(null))], ""),
            // Arguments that are not an object make no call, and are kept as written.
            (
                "Action: a/b\nAction Input: American eel",
                vec![("a/b".to_owned(), json!("American eel"), false)],
                "",
            ),
            ("Action: a/b\nAction Input: [1]", vec![("a/b".to_owned(), json!("[1]"), false)], ""),
            (
                "Action: a/b\nAction Input: {\"q\": \"ee",
                vec![("a/b".to_owned(), json!("{\"q\": \"ee"), false)],
                "",
            ),
            (
                "Action: a/b\nAction Input: x\nAction: a/b\nAction Input: {\"q\": \"eel\"}",
                vec![("a/b".to_owned(), json!("x"), false), eel()],
                "",
            ),
            // Any single line counts as the name.
            ("Action: look for eels\nAction Input: {}", vec![call("look for eels", json!({}))], ""),
        ] {
            assert_eq!(read(text), (calls, cut.to_owned()), "{text}");
        }
        // Without a name, the whole reply is kept.
        for text in ["Action:\nAction Input: {}", "Action: first a/b\nthen c/d\nAction Input: {}"] {
            assert_eq!(read(text).0, [(String::new(), json!(text), false)], "{text}");
        }
        // An input without an action is neither a call nor an answer.
        assert!(matches!(react("Action Input: {}").act, Act::Neither(_)));
    }

    #[test]
    fn the_form_of_the_prompt_stays_what_it_is_with_an_input_behind_it() {
        let action = "Action: [{\"name\": \"a/b\", \"arguments\": {\"x\": 1}}]";
        let reacted = react(&format!("{action}\nAction Input: {{\"x\": 2}}"));
        let Act::Calls(calls) = &reacted.act else { panic!("{reacted:?}") };
        assert_eq!((names(&reacted), &calls.calls[0].arguments), (vec!["a/b"], &json!({"x": 1})));
        assert_eq!(reacted.cut.as_deref(), Some(action));
    }

    #[test]
    fn an_action_that_is_none_is_kept_with_the_whole_reply() {
        let text = "Thought: t\nAction: search for eels";
        let Act::Calls(calls) = react(text).act else { panic!() };
        assert!(calls.problem.is_some());
        assert_eq!(calls.calls[0].arguments, json!(text));
    }
}
