//! Replies of the `react` mode: a thought, and then either an action or the final answer.

use super::calls::{BARE_LIST, Calls, calls};
use super::json::{LONGEST, too_long};

/// What a model says after its thought.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::executor) enum Act {
    /// It calls tools.
    Calls(Calls),
    /// It answers.
    Answer(String),
    /// Neither; this is missing.
    Neither(String),
}

/// A reply that was read.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::executor) struct Reacted {
    /// What it says.
    pub(in crate::executor) act: Act,
    /// The reply up to where the model went on with what only others can say; `None` if it did not.
    pub(in crate::executor) cut: Option<String>,
}

const ACTION: &str = "Action:";
const OBSERVATION: &str = "Observation:";
const ANSWER: &str = "Final Answer:";

/// A marker at the beginning of a line.
#[derive(Clone, Copy)]
struct Mark {
    word: &'static str,
    start: usize,
    end: usize,
}

/// Reads a reply. Whichever of action and answer comes first counts; what a model invents as an observation, and all
/// that it builds on it, does not.
pub(in crate::executor) fn react(text: &str) -> Reacted {
    if text.len() > LONGEST {
        return Reacted { act: Act::Neither(too_long(text)), cut: None };
    }
    let mut marks = marks(text);
    match marks.find(|mark| mark.word != OBSERVATION) {
        Some(action) if action.word == ACTION => {
            let next = marks.next();
            let end = next.map_or(text.len(), |next| next.start);
            let mut calls = calls(&text[action.end..end]);
            if let Some(first) = calls.calls.first_mut().filter(|call| call.name.is_empty())
                && first.arguments.is_string()
            {
                // The whole reply tells more than what stands behind the word.
                first.arguments = text.into();
            }
            // A list is what the prompt asks for.
            calls.oddities.retain(|oddity| oddity != BARE_LIST);
            let cut = next.map(|_| text[..end].trim_end().to_owned());
            if cut.is_some() {
                calls.oddities.push(
                    "the reply goes on after its action, before there was an observation; that was left out"
                        .to_owned(),
                );
            }
            Reacted { act: Act::Calls(calls), cut }
        }
        Some(answer) => Reacted { act: Act::Answer(text[answer.end..].trim().to_owned()), cut: None },
        None => {
            let reason = format!("it has neither `{ACTION}` nor `{ANSWER}`");
            Reacted { act: Act::Neither(reason), cut: None }
        }
    }
}

/// The markers of a text, in order: those that stand at the beginning of a line, perhaps in bold.
fn marks(text: &str) -> impl Iterator<Item = Mark> {
    let mut line_start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = line_start;
        line_start += line.len();
        let rest = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '#' | '>'));
        let start = at + line.len() - rest.len();
        [ACTION, OBSERVATION, ANSWER].into_iter().find(|word| rest.starts_with(word)).map(|word| {
            let bold = rest[word.len()..].bytes().take_while(|byte| *byte == b'*').count();
            Mark { word, start, end: start + word.len() + bold }
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(reacted: &Reacted) -> Vec<&str> {
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

    /// Each would take minutes if every marker looked back over the text.
    #[test]
    fn hostile_replies_take_no_time() {
        for text in
            ["Action: ".repeat(LONGEST / 8), "x Action:".repeat(LONGEST / 9), "Action:\n".repeat(LONGEST / 8)]
        {
            assert_eq!(react(&text), react(&text));
        }
        let text = "x".repeat(LONGEST) + "\nFinal Answer: 7";
        assert!(
            matches!(react(&text).act, Act::Neither(reason) if reason.contains("at most 1048576 are read"))
        );
    }

    #[test]
    fn markers_stand_at_the_beginning_of_lines() {
        let found = |text| marks(text).map(|mark| (mark.word, mark.start, mark.end)).collect::<Vec<_>>();
        assert_eq!(
            found("an Action: no\r\n > **Action:** yes\nObservation:\n\u{a0}## Final Answer: 7"),
            [(ACTION, 20, 29), (OBSERVATION, 34, 46), (ANSWER, 52, 65)]
        );
        assert!(found("").is_empty());
    }

    #[test]
    fn an_action_that_is_none_is_kept_with_the_whole_reply() {
        let text = "Thought: t\nAction: search for eels";
        let Act::Calls(calls) = react(text).act else { panic!() };
        assert!(calls.problem.is_some());
        assert_eq!(calls.calls[0].arguments, json!(text));
    }
}
