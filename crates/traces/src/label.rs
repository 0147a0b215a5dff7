//! What a record says of the success of its trajectory: a verdict, a reward or a score.

use m3_trajectory::json::Json;

use crate::content::{object, string};
use crate::fields::{Fields, members, names, number, plain};

/// Plain names of members with a verdict, which is true or false or a word for it.
const VERDICTS: &[&str] = names![success succeeded passed pass resolved solved iscorrect utility verdict];

/// Plain names of members with a number.
const NUMBERS: &[&str] = names![reward finalreward score];

/// Plain names of members that hold one of these.
const HOLDERS: &[&str] = names![rewardinfo evaluation testresult report gradingresult info];

/// Members with scores by their names: those of programs that keep them beside spans, too.
const SCORES: [&str; 4] = ["scores", "feedback_stats", "feedback", "assessments"];

/// The deepest holder that is looked into.
const DEPTH: usize = 2;

/// What a file says of the success of a trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The member that says it.
    pub member: String,
    /// Whether the trajectory succeeded, where the member can only mean this: a verdict, or a reward of 0 or 1.
    pub pass: Option<bool>,
    /// The reward or score, in the file's own range.
    pub score: Option<f64>,
}

impl Label {
    /// The label of a record; `None` if it has none, or scores of several kinds.
    pub(crate) fn find(record: &Json) -> Option<Self> {
        within(record, 0)
    }

    pub(crate) fn to_json(&self) -> Json {
        let pass = self.pass.map(|pass| ("pass", Json::Bool(pass)));
        // Other programs read a score as a share of what could be reached.
        let name = |score: f64| if (0.0..=1.0).contains(&score) { "score" } else { "value" };
        let score = self.score.map(|score| (name(score), Json::Float(score)));
        object(pass.into_iter().chain(score).chain([("member", string(&self.member))]))
    }
}

fn within(value: &Json, depth: usize) -> Option<Label> {
    let with_name = |name: &&str| members(value).iter().find(|(key, _)| plain(key) == **name);
    let verdict = VERDICTS.iter().filter_map(with_name).find_map(|(key, value)| verdict(key, value));
    // A share of something else is no share of success.
    let is_share = !members(value).iter().any(|(key, _)| plain(key).starts_with("max"));
    let number = || {
        NUMBERS.iter().filter(|_| is_share).filter_map(with_name).find_map(|(key, value)| score(key, value))
    };
    verdict.or_else(number).or_else(|| only(value.first(&SCORES)?)).or_else(|| {
        let mut holders = HOLDERS.iter().filter(|_| depth < DEPTH).filter_map(with_name);
        holders.find_map(|(_, inner)| within(inner, depth + 1))
    })
}

/// The only score of a list or of an object by names: `[{"name": .., "value": 1}]`, `{"exact_match": 1}`.
fn only(scores: &Json) -> Option<Label> {
    let (name, value) = match (scores, scores.items()) {
        (_, [one]) => {
            let name = one.first_text(&["name", "key", "assessment_name"]);
            (name.unwrap_or("scores"), one)
        }
        (Json::Object(all), _) => match &all[..] {
            [(name, value)] => (name.as_str(), value),
            _ => return None,
        },
        _ => return None,
    };
    let value = value.member("feedback").unwrap_or(value);
    // LangSmith's statistics of one kind of feedback.
    let mean = value.member("avg").filter(|_| value.count("n") == Some(1));
    let value = value.first(&["value", "score"]).or(mean).unwrap_or(value);
    // The letters of inspect_ai for correct and incorrect.
    let letter = match value.as_str() {
        Some("C") => Some(true),
        Some("I") => Some(false),
        _ => None,
    };
    let letter = letter.map(|pass| Label { member: name.to_owned(), pass: Some(pass), score: None });
    letter.or_else(|| verdict(name, value)).or_else(|| score(name, value))
}

fn verdict(member: &str, value: &Json) -> Option<Label> {
    let pass = match value {
        Json::Bool(pass) => *pass,
        Json::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "pass" | "passed" | "success" | "true" | "correct" => true,
            "fail" | "failed" | "failure" | "false" | "incorrect" => false,
            _ => return None,
        },
        _ => return None,
    };
    Some(Label { member: member.to_owned(), pass: Some(pass), score: None })
}

/// A number, or the text of one in a table. One between 0 and 1 says how far the trajectory came.
fn score(member: &str, value: &Json) -> Option<Label> {
    let score = number(value)?;
    let pass = match score {
        0.0 => Some(false),
        1.0 => Some(true),
        _ => None,
    };
    Some(Label { member: member.to_owned(), pass, score: Some(score) })
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    #[test]
    fn verdicts_rewards_and_scores_are_labels() {
        for (text, expected) in [
            (r#"{"reward": 1.0}"#, Some(("reward", Some(true), Some(1.0)))),
            (r#"{"reward_info": {"reward": 0.25}}"#, Some(("reward", None, Some(0.25)))),
            (r#"{"utility": false, "score": 3}"#, Some(("utility", Some(false), None))),
            (r#"{"scores": {"match": {"value": "C"}}}"#, Some(("match", Some(true), None))),
            (r#"{"scores": [{"name": "m", "value": 0}]}"#, Some(("m", Some(false), Some(0.0)))),
            (r#"{"scores": {"a": 1, "b": 0}}"#, None),
            (r#"{"test_result": {"report": {"resolved": true}}}"#, Some(("resolved", Some(true), None))),
            (r#"{"feedback_stats": {"m": {"n": 1, "avg": 1.0}}}"#, Some(("m", Some(true), Some(1.0)))),
            (r#"{"feedback_stats": {"m": {"n": 2, "avg": 1.0}}}"#, None),
            (
                r#"{"info": {"assessments": [{"assessment_name": "m", "feedback": {"value": true}}]}}"#,
                Some(("m", Some(true), None)),
            ),
            (r#"{"assessments": [{"assessment_name": "m", "expectation": {"value": true}}]}"#, None),
            (r#"{"score": "0.5"}"#, Some(("score", None, Some(0.5)))),
            (r#"{"success": null, "messages": []}"#, None),
            (r#"{"grade": "C", "correct": "C", "pass": 1}"#, None),
            (r#"{"report": {"passed": 1, "failed": 9}}"#, None),
            (r#"{"score": 1, "max_score": 5}"#, None),
            (r#"{"result": {"success": false}, "metadata": {"score": 0.8}}"#, None),
            (r#"{"result": "A.", "grade": "B"}"#, None),
        ] {
            let label = Label::find(&parse(text.as_bytes()).unwrap().0);
            let label = label.as_ref().map(|it| (it.member.as_str(), it.pass, it.score));
            assert_eq!(label, expected, "{text}");
        }
    }
}
