//! What a record says of the success of its trajectory: a verdict, a reward or a score.

use m3_trajectory::json::Json;

use crate::content::{object, string};
use crate::fields::{Fields, members, names, number, plain};

/// Plain names of members with a verdict or a reward, the surest first.
const NAMES: &[&str] = names![
    success succeeded passed pass resolved solved iscorrect correct utility reward finalreward score verdict
    grade
];

/// Plain names of members that hold such a member, or several scores by name.
const HOLDERS: &[&str] = names![
    rewardinfo evaluation scores report testresult result gradingresult info metadata
];

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
    let own = NAMES.iter().filter_map(with_name).find_map(|(key, value)| label(key, value));
    let is_deep = depth >= DEPTH;
    own.or_else(|| {
        let mut holders = HOLDERS.iter().filter(|_| !is_deep).filter_map(with_name);
        holders.find_map(|(key, inner)| match inner {
            Json::Object(_) => within(inner, depth + 1).or_else(|| only(key, inner)),
            Json::Array(_) => only(key, inner),
            _ => None,
        })
    })
}

/// The only score of a list or of an object by names: `[{"name": .., "value": 1}]`, `{"exact_match": 1}`.
fn only(key: &str, scores: &Json) -> Option<Label> {
    if plain(key) != "scores" {
        return None;
    }
    match (scores, scores.items()) {
        (_, [score]) => label(score.text("name").unwrap_or(key), score),
        (Json::Object(all), _) => match &all[..] {
            [(name, score)] => label(name, score),
            _ => None,
        },
        _ => None,
    }
}

fn label(member: &str, value: &Json) -> Option<Label> {
    let value = value.first(&["value", "score"]).unwrap_or(value);
    // The cells of a table are texts.
    let score = number(value);
    let pass = match value {
        Json::Bool(pass) => Some(*pass),
        Json::String(word) if score.is_none() => match word.trim().to_ascii_lowercase().as_str() {
            "pass" | "passed" | "success" | "true" | "correct" | "c" => Some(true),
            "fail" | "failed" | "failure" | "false" | "incorrect" | "i" => Some(false),
            _ => None,
        },
        // A reward between them says how far it came.
        _ => score.filter(|score| *score == 0.0 || *score == 1.0).map(|score| score == 1.0),
    };
    let is_told = pass.is_some() || score.is_some();
    is_told.then(|| Label { member: member.to_owned(), pass, score })
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
            (r#"{"success": null, "messages": []}"#, None),
            (r#"{"result": "A.", "grade": "B"}"#, None),
        ] {
            let label = Label::find(&parse(text.as_bytes()).unwrap().0);
            let label = label.as_ref().map(|it| (it.member.as_str(), it.pass, it.score));
            assert_eq!(label, expected, "{text}");
        }
    }
}
