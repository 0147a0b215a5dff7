//! Shared parts of all kinds of decisions: names, notes, times, files beside others, the identity of a trajectory.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use m3_support::text::{hexadecimal, visible};
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, Trajectory};
use sha2::{Digest as _, Sha256};

use super::arrangement::Revision;

/// The longest note, in characters.
pub(super) const LONGEST_NOTE: usize = 4000;

/// The longest name of a person, in characters.
pub(super) const LONGEST_NAME: usize = 100;

/// The current time as RFC 3339 in UTC, to the second, such as `2025-03-01T09:05:00Z`.
#[must_use]
pub fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The path of a file beside another one: the other path with `ending` added.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// A note as it is kept: trimmed and safe to show. An error if it is too long.
pub(super) fn checked_note(note: &str) -> Result<String, &'static str> {
    if note.chars().nth(LONGEST_NOTE).is_some() {
        return Err("a note has at most 4000 characters");
    }
    Ok(visible(&note.replace("\r\n", "\n"), true).trim().to_owned())
}

/// A name as it is kept: trimmed and safe to show. An error if it is empty or too long.
pub(super) fn person(name: &str) -> Result<String, &'static str> {
    let name = visible(name.trim(), false).into_owned();
    match name.chars().count() {
        0 => Err("a decision needs the name of who decides"),
        1..=LONGEST_NAME => Ok(name),
        _ => Err("a name has at most 100 characters"),
    }
}

/// Why a reference that [says nothing](says_nothing) cannot be accepted.
pub(super) const SAYS_NOTHING: &str =
    "a reference without calls and without an answer cannot be accepted: add one of them, or reject it";

/// Whether a reference has neither calls nor an answer. One with an answer alone may be right, for a task that needs
/// no calls.
pub(super) fn says_nothing(reference: &Trajectory, revision: &Revision) -> bool {
    revision.steps.iter().all(Vec::is_empty) && revision.answer(reference).is_none()
}

/// SHA-256 of a trajectory, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Digests {
    /// The digest of the parts that people judge. They do not judge the provenance, so it may change.
    pub(super) judged: String,
    /// The digest of the whole trajectory, by which earlier versions of m3 named it in the lines of decisions.
    pub(super) whole: String,
}

impl Digests {
    pub(super) fn of(trajectory: &Trajectory) -> Self {
        let of = |value: &Json| hexadecimal(&Sha256::digest(value.to_text(Keys::AsRead)));
        Self { judged: of(&judged(trajectory)), whole: of(&trajectory.to_json()) }
    }

    /// Whether a decision with this digest is about this trajectory.
    pub(super) fn are_in(&self, digest: &str) -> bool {
        self.judged == digest || self.whole == digest
    }

    /// A short name for the trajectory that begins with a letter.
    pub(super) fn key(&self) -> String {
        format!("r{}", &self.judged[..12])
    }
}

/// The parts of a trajectory that people judge: id, image, question, tools, arguments and results of all steps,
/// answer.
fn judged(trajectory: &Trajectory) -> Json {
    let text = |text: &Option<String>| text.clone().map_or(Json::Null, Json::String);
    let call = |call: &Call| {
        let mut members = vec![("name".to_owned(), Json::String(call.tool.clone()))];
        members.extend(call.arguments.clone().map(|arguments| ("arguments".to_owned(), arguments)));
        members.extend(call.result.clone().map(|result| ("result".to_owned(), result)));
        Json::Object(members)
    };
    let steps = trajectory.steps.iter().map(|step| Json::Array(step.calls.iter().map(call).collect()));
    Json::Array(vec![
        Json::String(trajectory.id.clone()),
        text(&trajectory.image),
        text(&trajectory.question),
        Json::Array(steps.collect()),
        text(&trajectory.final_reply),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_one_of_rfc_3339_to_the_second() {
        let text = now();
        assert_eq!(text.len(), "2025-03-01T09:05:00Z".len(), "{text}");
        assert!(text.parse::<Timestamp>().is_ok(), "{text}");
    }
}
