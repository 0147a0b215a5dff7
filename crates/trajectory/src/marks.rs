//! What m3 itself writes into a trajectory beside what every trajectory has: one row for each kind of record, by what it is
//! known and which keys go with it. The reader asks for the keys of a trajectory and knows no command.

use super::json::Json;

/// The schema of predictions, which are trajectories.
pub const PREDICTION_SCHEMA: &str = "m3.prediction/1";

/// What a trajectory is by a record in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// What a model did, as it did it.
    Prediction,
    /// What should be done.
    Reference,
}

/// A kind of record.
struct Record {
    /// The member of the trajectory by which it is known.
    member: &'static str,
    /// The member of that one which must be there.
    sign: &'static str,
    /// What the text of the sign begins with; an empty one stands for any value.
    prefix: &'static str,
    /// What the trajectory is by it.
    role: Option<Role>,
    /// The members of a trajectory that come with it.
    keys: &'static [&'static str],
    /// The members of a call that come with it.
    call_keys: &'static [&'static str],
}

/// Every kind, in any version.
const RECORDS: [Record; 4] = [
    Record {
        member: "versions",
        sign: "schema",
        prefix: "m3.prediction/",
        role: Some(Role::Prediction),
        // `m3 schema prediction` has them; a test compares.
        keys: &[
            "finish", "reason", "failure", "model", "mode", "prompts", "tools", "versions", "usage",
            "images", "turns", "dialogue", "run",
        ],
        call_keys: &["is_error", "outcome", "milliseconds"],
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
        member: "grades",
        sign: "rubric",
        prefix: "",
        role: None,
        keys: &["grades", "other_grades"],
        call_keys: &[],
    },
];

/// The keys of a trajectory that are known by its records.
#[derive(Debug, Default)]
pub(super) struct KnownKeys {
    /// Those of the trajectory.
    pub(super) keys: Vec<&'static str>,
    /// Those of its calls.
    pub(super) call_keys: Vec<&'static str>,
}

/// Whether a prediction has this key beside what every trajectory has.
#[must_use]
pub fn is_recorded_key(key: &str) -> bool {
    let mut predictions = RECORDS.iter().filter(|record| record.role == Some(Role::Prediction));
    predictions.any(|record| record.keys.contains(&key))
}

/// Whether a trajectory of these members says that it is this.
pub(super) fn has_role(members: &[(String, Json)], role: Role) -> bool {
    RECORDS.iter().any(|record| record.role == Some(role) && record.is_in(members))
}

/// The keys among these members, and among those of the calls, that m3 has written.
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
