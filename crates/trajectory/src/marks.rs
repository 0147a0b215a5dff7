//! The keys that m3 itself writes into trajectories: one row for each kind of record, with how it is recognized and
//! its keys. The reader asks for the known keys of a trajectory and does not depend on commands.

use super::json::Json;

/// The schema of predictions, which are trajectories.
pub const PREDICTION_SCHEMA: &str = "m3.prediction/1";

/// The role of a trajectory, by a record in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The actual work of a model.
    Prediction,
    /// The correct solution.
    Reference,
}

/// A kind of record.
struct Record {
    /// The member of the trajectory that holds the record.
    member: &'static str,
    /// The member of the record that must be there.
    sign: &'static str,
    /// The beginning of that member's text; empty for any value.
    prefix: &'static str,
    /// The role of a trajectory with this record.
    role: Option<Role>,
    /// The members of a trajectory that belong to this record.
    keys: &'static [&'static str],
    /// The members of a call that belong to this record.
    call_keys: &'static [&'static str],
}

/// All kinds of records, in any version.
const RECORDS: [Record; 5] = [
    Record {
        member: "versions",
        sign: "schema",
        prefix: "m3.prediction/",
        role: Some(Role::Prediction),
        // The keys of `m3 schema prediction`; a test compares them.
        keys: &[
            "finish", "reason", "failure", "model", "mode", "prompts", "tools", "versions", "usage",
            "images", "turns", "dialogue", "run",
        ],
        call_keys: &["milliseconds"],
    },
    Record {
        member: "judge",
        sign: "schema",
        prefix: "m3.reference/",
        role: Some(Role::Reference),
        keys: &["judge"],
        call_keys: &[],
    },
    Record {
        member: "review",
        sign: "schema",
        prefix: "m3.review/",
        role: Some(Role::Reference),
        keys: &["review"],
        call_keys: &[],
    },
    Record {
        member: "import",
        sign: "schema",
        prefix: "m3.import/",
        role: None,
        keys: &["import", "model", "usage", "milliseconds", "images", "language", "functions"],
        call_keys: &["error_type", "milliseconds", "accepted", "id", "similar_tools"],
    },
    Record {
        member: "grades",
        sign: "rubric",
        prefix: "",
        role: None,
        keys: &["grades", "other_grades"],
        call_keys: &[],
    },
];

/// Members by which any call may say that it failed: [`Call::has_failed`](super::Call::has_failed) reads them.
pub(super) const FAILURE_KEYS: [&str; 3] = ["is_error", "isError", "outcome"];

/// The keys that are known from a trajectory's records.
#[derive(Debug, Default)]
pub(super) struct KnownKeys {
    /// The keys of the trajectory.
    pub(super) keys: Vec<&'static str>,
    /// The keys of its calls.
    pub(super) call_keys: Vec<&'static str>,
}

/// Whether a prediction may have this key in addition to those of every trajectory.
#[must_use]
pub fn is_recorded_key(key: &str) -> bool {
    let mut predictions = RECORDS.iter().filter(|record| record.role == Some(Role::Prediction));
    predictions.any(|record| record.keys.contains(&key))
}

/// Whether a record among these members gives the trajectory this role.
pub(super) fn has_role(members: &[(String, Json)], role: Role) -> bool {
    RECORDS.iter().any(|record| record.role == Some(role) && record.is_in(members))
}

/// Whether these members are of a trajectory that was read from a trace.
pub(super) fn is_imported(members: &[(String, Json)]) -> bool {
    RECORDS.iter().any(|record| record.member == "import" && record.is_in(members))
}

/// The keys of the trajectory and of its calls that m3 itself writes, by the records among these members.
pub(super) fn known_keys(members: &[(String, Json)]) -> KnownKeys {
    let mut known = KnownKeys::default();
    for record in RECORDS.iter().filter(|record| record.is_in(members)) {
        known.keys.extend(record.keys);
        known.call_keys.extend(record.call_keys);
    }
    known
}

impl Record {
    fn is_in(&self, members: &[(String, Json)]) -> bool {
        let member = members.iter().find(|(key, _)| key == self.member);
        let sign = member.and_then(|(_, value)| value.get(self.sign));
        sign.is_some_and(|sign| {
            self.prefix.is_empty() || sign.as_str().is_some_and(|text| text.starts_with(self.prefix))
        })
    }
}
