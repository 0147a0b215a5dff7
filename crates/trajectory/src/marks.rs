//! What m3 leaves in the trajectories that it writes: the keys of its own, and by what they are known.

use super::json::Json;

/// The schema of the predictions that `m3 run` writes, which are trajectories.
pub const PREDICTION_SCHEMA: &str = "m3.prediction/1";

/// What `m3 run` writes beside what every trajectory has (`m3 schema prediction`; a test compares).
const RECORDED_KEYS: [&str; 13] = [
    "finish", "reason", "failure", "model", "mode", "prompts", "tools", "versions", "usage", "images",
    "turns", "dialogue", "run",
];

/// The same of a call.
pub(super) const RECORDED_CALL_KEYS: [&str; 3] = ["is_error", "outcome", "milliseconds"];

/// Whether `m3 run` writes a key of a prediction beside what every trajectory has.
#[must_use]
pub fn is_recorded_key(key: &str) -> bool {
    RECORDED_KEYS.contains(&key)
}

/// Whether a trajectory of these members says that it is a prediction of `m3 run`, in whichever version.
pub(super) fn is_prediction(members: &[(String, Json)]) -> bool {
    has_schema(members, "versions", PREDICTION_SCHEMA)
}

/// Whether it says that `m3 judge` or `m3 review` has written it.
pub(super) fn is_reference(members: &[(String, Json)]) -> bool {
    has_schema(members, "judge", "m3.reference/") || has_schema(members, "review", "m3.review/")
}

/// The keys among these that m3 has written.
pub(super) fn own_keys(members: &[(String, Json)]) -> Vec<&'static str> {
    let mut keys = if is_prediction(members) { RECORDED_KEYS.to_vec() } else { Vec::new() };
    let marked = [("judge", "m3.reference/"), ("review", "m3.review/")];
    keys.extend(marked.iter().filter(|(key, schema)| has_schema(members, key, schema)).map(|(key, _)| *key));
    // What `m3 grade` writes has no schema, but always the rubric.
    if get(members, "grades").is_some_and(|grades| grades.get("rubric").is_some()) {
        keys.extend(["grades", "other_grades"]);
    }
    keys
}

/// Whether the member `key` names this schema, in whichever version.
fn has_schema(members: &[(String, Json)], key: &str, schema: &str) -> bool {
    let name = schema.split_inclusive('/').next().unwrap_or_default();
    let found = get(members, key).and_then(|value| value.get("schema")).and_then(Json::as_str);
    found.is_some_and(|found| found.starts_with(name))
}

fn get<'a>(members: &'a [(String, Json)], key: &str) -> Option<&'a Json> {
    members.iter().find(|(found, _)| found == key).map(|(_, value)| value)
}
