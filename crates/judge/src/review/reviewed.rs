//! References after their review, with the decisions.

use m3_trajectory::{Member, Trajectory};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::arrangement::arranged;
use super::decision::{REVIEW_SCHEMA, State};
use super::reviews::Reviews;

/// Who reviewed a reference, and what they decided.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReviewRecord {
    /// `m3.review/1`.
    pub schema: String,
    /// The state of the review.
    pub state: State,
    /// The decisions that were not undone, oldest first.
    pub decisions: Vec<CountedDecision>,
    /// The `review` that the reference had before, from an earlier review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
}

impl Member for ReviewRecord {
    const KEY: &'static str = "review";
}

/// A decision on a reference that was not undone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CountedDecision {
    /// The person.
    pub name: String,
    /// The time of the decision, as RFC 3339 in UTC.
    pub time: String,
    /// What was decided, in a few words.
    pub what: String,
    /// A remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// References after their review.
#[derive(Debug, Default)]
pub struct ReviewedReferences {
    /// The accepted and edited references in the order of the file, each with its [`ReviewRecord`].
    pub references: Vec<Trajectory>,
    /// The other references: id, state, and the note of a rejection.
    pub left_out: Vec<(String, State, String)>,
}

/// The references that people accepted or edited; with `with_undecided` also those without a decision.
#[must_use]
pub fn reviewed(reviews: &Reviews, with_undecided: bool) -> ReviewedReferences {
    let mut reviewed = ReviewedReferences::default();
    for (index, reference) in reviews.references().iter().enumerate() {
        let state = reviews.state(index);
        match state {
            State::Accepted | State::Edited => reviewed.references.push(with_provenance(reviews, index)),
            State::Open if with_undecided => reviewed.references.push(reference.clone()),
            State::Open | State::Rejected => {
                let note = reviews.last(index).map(|last| last.action.note().to_owned());
                reviewed.left_out.push((reference.id.clone(), state, note.unwrap_or_default()));
            }
        }
    }
    reviewed
}

fn with_provenance(reviews: &Reviews, index: usize) -> Trajectory {
    let reference = &reviews.references()[index];
    let mut made = match reviews.revision(index) {
        Some(revision) => arranged(reference, revision),
        None => reference.clone(),
    };
    let decisions = reviews.counting(index).map(|decision| CountedDecision {
        name: decision.name.clone(),
        time: decision.time.clone(),
        what: decision.action.summary(),
        note: Some(decision.action.note().to_owned()).filter(|note| !note.is_empty()),
    });
    let decisions = decisions.collect();
    // A reference that was reviewed before keeps its earlier review, and the new one stands last.
    let earlier = made.extra.iter().position(|(key, _)| key == ReviewRecord::KEY);
    let before = earlier.map(|at| made.extra.remove(at).1.to_value_or_text());
    let state = reviews.state(index);
    made.set_member(&ReviewRecord { schema: REVIEW_SCHEMA.to_owned(), state, decisions, before });
    made
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::{self, Json, Keys};
    use m3_trajectory::{Call, Step};

    use super::*;
    use crate::review::Action;
    use crate::review::arrangement::{PlacedCall, Revision};

    #[test]
    fn what_was_accepted_or_edited_is_written_and_the_rest_is_listed() {
        let call = |tool: &str| Call {
            tool: tool.to_owned(),
            arguments: Some(Json::Object(Vec::new())),
            result: None,
            extra: Vec::new(),
        };
        let reference = |id: &str| Trajectory {
            id: id.to_owned(),
            steps: vec![Step { number: Some(1), calls: vec![call("a/b"), call("a/c")], ..Step::default() }],
            extra: vec![(ReviewRecord::KEY.to_owned(), Json::Bool(true))],
            ..Trajectory::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let references = ["accepted", "edited", "rejected", "open"].map(reference).to_vec();
        let mut reviews = Reviews::open(references, &folder.path().join("r.jsonl")).unwrap();
        let placed = |call, tool: Option<&str>, arguments: &str| {
            vec![PlacedCall { call, tool: tool.map(str::to_owned), arguments: Some(arguments.to_owned()) }]
        };
        let steps = vec![placed(1, None, "{\"n\":1}"), placed(2, Some("a/d"), "{}")];
        let revision = Revision { steps, reply: Some("7".to_owned()) };
        let edit = Action::Edit { revision, change: "removed a/b".to_owned(), note: String::new() };
        reviews.decide(0, 0, "Ada", Action::Accept { note: "fine".to_owned() }).unwrap();
        reviews.decide(1, 0, "Bob", edit).unwrap();
        reviews.decide(2, 0, "Bob", Action::Reject { note: "wrong image".to_owned() }).unwrap();
        let made = reviewed(&reviews, false);
        let left_out = |id: &str, state, note: &str| (id.to_owned(), state, note.to_owned());
        let expected =
            [left_out("rejected", State::Rejected, "wrong image"), left_out("open", State::Open, "")];
        assert_eq!(made.left_out, expected);
        let text: Vec<String> =
            made.references.iter().map(|made| made.to_json().to_text(Keys::AsRead)).collect();
        assert!(text[0].contains(r#""state":"accepted""#) && text[0].contains(r#""note":"fine""#));
        assert!(text[0].contains(r#""before":true"#), "{}", text[0]);
        let steps = [
            r#""steps":[{"step":1,"calls":[{"name":"a/c","arguments":{"n":1}}]},"#,
            r#"{"step":2,"calls":[{"name":"a/d","arguments":{}}]}],"final_reply":"7""#,
        ];
        assert!(
            text[1].contains(&steps.concat()) && text[1].contains(r#""what":"edited: removed a/b""#),
            "{}",
            text[1]
        );
        assert!(json::parse(text[1].as_bytes()).is_ok());
        assert_eq!(reviewed(&reviews, true).references.len(), 3);
    }
}
