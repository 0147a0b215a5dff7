//! Replies of the `react` mode: a thought, and then either an action or the final answer.

use super::calls::{BARE_LIST, Calls, calls};

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

/// Reads a reply. Whichever of action and answer comes first counts; what a model invents as an observation, and all
/// that it builds on it, does not.
pub(in crate::executor) fn react(text: &str) -> Reacted {
    let (action, answer) = (marker(text, ACTION), marker(text, ANSWER));
    match (action, answer) {
        (Some(action), answer) if answer.is_none_or(|(at, _)| action.0 < at) => {
            let after = &text[action.1..];
            let ends =
                [OBSERVATION, ANSWER, ACTION].iter().filter_map(|end| Some(marker(after, end)?.0)).min();
            let end = ends.unwrap_or(after.len());
            let mut calls = calls(&after[..end]);
            if let Some(first) = calls.calls.first_mut().filter(|call| call.name.is_empty())
                && first.arguments.is_string()
            {
                // The whole reply tells more than what stands behind the word.
                first.arguments = text.into();
            }
            // A list is what the prompt asks for.
            calls.oddities.retain(|oddity| oddity != BARE_LIST);
            let cut = ends.map(|_| text[..action.1 + end].trim_end().to_owned());
            if cut.is_some() {
                calls.oddities.push(
                    "the reply goes on after its action, before there was an observation; that was left out"
                        .to_owned(),
                );
            }
            Reacted { act: Act::Calls(calls), cut }
        }
        (_, Some((_, end))) => {
            let after = &text[end..];
            Reacted { act: Act::Answer(after.trim().to_owned()), cut: None }
        }
        _ => {
            let reason = format!("it has neither `{ACTION}` nor `{ANSWER}`");
            Reacted { act: Act::Neither(reason), cut: None }
        }
    }
}

/// Where a marker begins and ends that stands at the beginning of a line, perhaps in bold.
fn marker(text: &str, marker: &str) -> Option<(usize, usize)> {
    text.match_indices(marker).find_map(|(at, _)| {
        let line = text[..at].rsplit('\n').next().unwrap_or_default();
        let is_first = line.chars().all(|c| c.is_whitespace() || matches!(c, '*' | '#' | '>'));
        let end = at + marker.len();
        let bold = text[end..].bytes().take_while(|byte| *byte == b'*').count();
        is_first.then_some((at, end + bold))
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

    #[test]
    fn an_action_that_is_none_is_kept_with_the_whole_reply() {
        let text = "Thought: t\nAction: search for eels";
        let Act::Calls(calls) = react(text).act else { panic!() };
        assert!(calls.problem.is_some());
        assert_eq!(calls.calls[0].arguments, json!(text));
    }
}
