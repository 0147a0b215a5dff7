//! The findings on a reference: objections by the reader of its file, by the catalog, by the order of its calls, and by
//! `m3 judge`. The rules themselves stand elsewhere.

use std::collections::HashSet;

use m3_support::text::shortened;
use m3_trajectory::json::Json;
use m3_trajectory::{Member as _, Problems, Severity, Trajectory};
use serde::de::DeserializeOwned;

use super::arrangement::{EditProblem, PlacedCall, Revision, Rules, original};
use super::checks::{SAYS_NOTHING, says_nothing};
use super::links::{CallLinks, misplaced_calls};
use super::origin::Subject;
use super::reviews::Reviews;
use crate::reference::{Disagreement, Opinion, Provenance, Refusal, Verdict, Verification};

/// The most findings that are shown of one reference.
const MOST: usize = 100;

/// The longest finding, in columns.
const LONGEST: usize = 500;

/// For each reference its warnings and errors in `m3 validate`. Notes are left out: they say that all is well.
pub(super) fn of_file(reviews: &Reviews, problems: &Problems) -> Vec<Vec<EditProblem>> {
    let mut by_reference = vec![Vec::new(); reviews.references().len()];
    for problem in problems.iter().filter(|problem| problem.severity > Severity::Note) {
        let index = problem.place.id.as_deref().and_then(|id| reviews.find(id));
        if let Some(by_reference) = index.and_then(|index| by_reference.get_mut(index)) {
            let pointer = shortened(&problem.place.pointer, LONGEST);
            by_reference.push(EditProblem {
                call: None,
                pointer,
                message: shortened(&problem.message, LONGEST),
            });
        }
    }
    by_reference
}

/// The findings of the checks on a reference.
#[derive(Debug)]
pub(super) struct Findings {
    /// The findings that are shown.
    pub(super) shown: Vec<EditProblem>,
    /// The number of findings that are not shown.
    pub(super) more: usize,
}

impl Findings {
    /// The number of all findings.
    pub(super) fn count(&self) -> usize {
        self.shown.len() + self.more
    }
}

/// The findings on a reference as it stands, whose dependencies are `linked`, and then the problems in its file.
pub(super) fn findings(
    subject: Subject<'_>,
    (revision, linked): (&Revision, &CallLinks),
    rules: &Rules,
    file_problems: &[EditProblem],
) -> Findings {
    let mut problems: Vec<EditProblem> = of_answer(subject.reference, revision).into_iter().collect();
    problems.extend(of_calls(subject, revision, rules));
    problems.extend(misplaced_calls(subject, &revision.steps, linked));
    problems.extend(of_judge(subject.reference, revision));
    let all = problems.len() + file_problems.len();
    problems.truncate(MOST);
    problems.extend(file_problems.iter().take(MOST - problems.len()).cloned());
    Findings { more: all - problems.len(), shown: problems }
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

/// The problems of the calls by the catalog.
fn of_calls(subject: Subject<'_>, revision: &Revision, rules: &Rules) -> Vec<EditProblem> {
    let calls = subject.calls();
    let none = Json::Object(Vec::new());
    let of_call = |placed: &PlacedCall| {
        let Some(call) = placed.as_it_stands(&calls) else { return Vec::new() };
        let mut problems = rules.problems(placed.call, &call.tool, call.arguments.as_ref().unwrap_or(&none));
        problems.extend(rules.remark(&call.tool).map(|remark| finding(Some(placed.call), &remark)));
        problems
    };
    revision.steps.iter().flatten().flat_map(of_call).collect()
}

/// The objections that `m3 judge` recorded against the run of the reference. Objections to a call that was removed, or
/// has other arguments now, are left out. Members of another form are ignored: anybody may have written the file.
fn of_judge(reference: &Trajectory, revision: &Revision) -> Vec<EditProblem> {
    let Some(judge) = reference.get(Provenance::KEY) else { return Vec::new() };
    let chosen = member::<usize>(judge, "chosen");
    let run = match (judge.get("runs"), chosen) {
        (Some(Json::Array(runs)), Some(chosen)) => runs.get(chosen),
        _ => None,
    };
    let mut problems = Vec::new();
    if let Some(refusal) = run.and_then(|run| member::<Refusal>(run, "refusal")) {
        problems.push(finding(None, &format!("the run gave no reference: {}", refusal.reason)));
    }
    match run.and_then(|run| member::<Opinion>(run, "verdict")) {
        Some(Opinion { verdict: Verdict::Fail, reason }) => {
            problems.push(finding(None, &format!("the judge says that the run failed: {reason}")));
        }
        Some(Opinion { verdict: Verdict::Success, .. }) | None => {}
    }
    if let Some(verification) = run.and_then(|run| member::<Verification>(run, "verification")) {
        let calls = original(reference);
        let as_made: HashSet<usize> = revision
            .steps
            .iter()
            .flatten()
            .filter(|placed| placed.arguments.is_none())
            .map(|placed| placed.call)
            .collect();
        problems.extend(verification.failures.iter().filter_map(|failed| {
            let call = calls.get(failed.place.step).and_then(|step| Some(step.get(failed.place.call)?.call));
            let message = format!("made again, it did not succeed: {}, {}", failed.outcome, failed.evidence);
            call.is_none_or(|call| as_made.contains(&call)).then(|| finding(call, &message))
        }));
        let unavailable = verification.unavailable.iter();
        problems.extend(unavailable.map(|server| finding(None, &format!("not made again: {server}"))));
    }
    for Disagreement { detail, .. } in member::<Vec<Disagreement>>(judge, "disagreements").unwrap_or_default()
    {
        problems.push(finding(None, &format!("another accepted run differs: {detail}")));
    }
    problems
}

fn member<T: DeserializeOwned>(value: &Json, key: &str) -> Option<T> {
    serde_json::from_value(value.get(key)?.to_value()?).ok()
}

#[cfg(test)]
mod tests;
