//! What the checks found in a reference: what the reader of its file, the catalog, the order of its calls, and `m3 judge`
//! say against it. The rules themselves stand elsewhere.

use m3_support::text::shortened;
use m3_trajectory::json::Json;
use m3_trajectory::{Problems, Severity, Trajectory};
use serde::de::DeserializeOwned;

use super::arrangement::{EditProblem, Revision, Rules};
use super::checks::{SAYS_NOTHING, says_nothing};
use super::links::{Linked, misplaced_calls};
use super::origin::Subject;
use super::reviews::Reviews;
use crate::reference::{Disagreement, Opinion, PROVENANCE_KEY, Refusal, Verdict, Verification};

/// The most findings of one reference.
const MOST: usize = 100;

/// The longest finding, in columns.
const LONGEST: usize = 500;

/// For each reference the warnings of `m3 validate` on it. Notes are left out: they say that all is well.
pub(super) fn of_file(reviews: &Reviews, problems: &Problems) -> Vec<Vec<EditProblem>> {
    let mut found = vec![Vec::new(); reviews.references().len()];
    for problem in problems.iter().filter(|problem| problem.severity > Severity::Note) {
        let index = problem.place.id.as_deref().and_then(|id| reviews.find(id));
        if let Some(found) = index.and_then(|index| found.get_mut(index)) {
            let pointer = shortened(&problem.place.pointer, LONGEST);
            found.push(EditProblem { call: None, pointer, message: shortened(&problem.message, LONGEST) });
        }
    }
    found
}

/// What is wrong with a reference as it stands, with these dependencies, and what was found in its file.
pub(super) fn findings(
    subject: Subject<'_>,
    (revision, linked): (&Revision, &Linked),
    rules: &Rules,
    in_file: &[EditProblem],
) -> Vec<EditProblem> {
    let mut found: Vec<EditProblem> = in_file.iter().take(MOST).cloned().collect();
    found.extend(of_answer(subject.reference, revision));
    found.extend(of_calls(subject, revision, rules));
    found.extend(misplaced_calls(subject, &revision.steps, linked));
    found.extend(of_judge(subject.reference));
    found.truncate(MOST);
    found
}

fn finding(call: Option<usize>, message: &str) -> EditProblem {
    EditProblem { call, pointer: String::new(), message: shortened(message, LONGEST) }
}

fn of_answer(reference: &Trajectory, revision: &Revision) -> Option<EditProblem> {
    if says_nothing(reference, revision) {
        return Some(finding(None, SAYS_NOTHING));
    }
    revision.answer(reference).is_none().then(|| finding(None, "there is no answer"))
}

/// What the catalog says of the calls.
fn of_calls(subject: Subject<'_>, revision: &Revision, rules: &Rules) -> Vec<EditProblem> {
    let calls = subject.calls();
    let none = Json::Object(Vec::new());
    let of_call = |placed: &super::arrangement::PlacedCall| {
        let Some(call) = placed.as_it_stands(&calls) else { return Vec::new() };
        let mut found = rules.problems(placed.call, &call.tool, call.arguments.as_ref().unwrap_or(&none));
        found.extend(rules.remark(&call.tool).map(|remark| finding(Some(placed.call), &remark)));
        found
    };
    revision.steps.iter().flatten().flat_map(of_call).collect()
}

/// What `m3 judge` recorded against the run that the reference was made of. Members of another form are ignored:
/// anybody may have written the file.
fn of_judge(reference: &Trajectory) -> Vec<EditProblem> {
    let Some((_, judge)) = reference.extra.iter().find(|(key, _)| key == PROVENANCE_KEY) else {
        return Vec::new();
    };
    let chosen = member::<usize>(judge, "chosen");
    let run = match (judge.get("runs"), chosen) {
        (Some(Json::Array(runs)), Some(chosen)) => runs.get(chosen),
        _ => None,
    };
    let mut found = Vec::new();
    if let Some(refusal) = run.and_then(|run| member::<Refusal>(run, "refusal")) {
        found.push(finding(None, &format!("the run gave no reference: {}", refusal.reason)));
    }
    match run.and_then(|run| member::<Opinion>(run, "verdict")) {
        Some(Opinion { verdict: Verdict::Fail, reason }) => {
            found.push(finding(None, &format!("the judge says that the run failed: {reason}")));
        }
        Some(Opinion { verdict: Verdict::Success, .. }) | None => {}
    }
    if let Some(verification) = run.and_then(|run| member::<Verification>(run, "verification")) {
        let calls_before =
            |step: usize| reference.steps.iter().take(step).map(|step| step.calls.len()).sum::<usize>();
        found.extend(verification.failures.iter().map(|failed| {
            let call = calls_before(failed.place.step).checked_add(failed.place.call);
            let message = format!("made again, it did not succeed: {}, {}", failed.outcome, failed.evidence);
            finding(call.filter(|call| *call < reference.call_count()), &message)
        }));
        let unavailable = verification.unavailable.iter();
        found.extend(unavailable.map(|server| finding(None, &format!("not made again: {server}"))));
    }
    for Disagreement { detail, .. } in member::<Vec<Disagreement>>(judge, "disagreements").unwrap_or_default()
    {
        found.push(finding(None, &format!("another accepted run differs: {detail}")));
    }
    found
}

fn member<T: DeserializeOwned>(value: &Json, key: &str) -> Option<T> {
    serde_json::from_value(value.get(key)?.to_value()?).ok()
}

#[cfg(test)]
mod tests;
