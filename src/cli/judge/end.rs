//! The report on judged tasks: a line for each, and a table at the end.

use std::collections::BTreeMap;
use std::time::Duration;

use m3_judge::reference::{JudgeEnd, JudgedRun, JudgedTask, RefusalKind, Status};
use m3_llm::Usage;
use m3_support::text::{counted, duration, shortened, visible};

use super::args::Targets;
use crate::cli::common::{Failure, Printer, Result, code, print_rows};
use crate::result_files::ResultFiles;

/// The longest reason in a line, in columns.
const REASON: usize = 200;

/// The line for a finished task.
pub(super) fn line(task: &JudgedTask, (done, all): (usize, usize)) -> String {
    let id = shortened(&task.trajectory.id, 100);
    let provenance = &task.provenance;
    let what = match (provenance.status, provenance.chosen.and_then(|chosen| provenance.runs.get(chosen))) {
        (Status::Accepted, Some(run)) => {
            let (calls, steps) = (task.trajectory.call_count(), task.trajectory.steps.len());
            let of = if provenance.runs.len() > 1 {
                format!(", of {}", counted(provenance.runs.len(), "run"))
            } else {
                String::new()
            };
            format!(
                "accepted: {} in {}, from {} in {}{of}",
                counted(calls, "call"),
                counted(steps, "step"),
                run.calls,
                run.steps
            )
        }
        (status, _) => {
            let word = if status == Status::Undecided { "undecided" } else { "rejected" };
            let refusal = provenance
                .runs
                .iter()
                .filter(|run| run.status == status)
                .find_map(|run| run.refusal.as_ref());
            let reason = refusal.map_or_else(String::new, |refusal| {
                format!(": {} ({})", refusal.kind.name(), shortened(&refusal.reason, REASON))
            });
            format!("{word}{reason}")
        }
    };
    format!("{id} {what} ({done} of {})", counted(all, "task"))
}

/// The counts over all tasks.
#[derive(Debug, Default)]
struct JudgeCounts {
    tasks: [usize; 3],
    runs: usize,
    refusals: BTreeMap<RefusalKind, usize>,
    /// The calls of the runs that references were made of, and of the references.
    calls: [usize; 2],
    steps: [usize; 2],
    removed: usize,
    merged: usize,
    disagreements: usize,
    usage: Usage,
    /// Whether the judge has given any answer.
    has_answers: bool,
    has_verification: bool,
}

impl JudgeCounts {
    fn of(end: &JudgeEnd) -> Self {
        let mut counts = Self::default();
        for task in &end.tasks {
            let provenance = &task.provenance;
            counts.tasks[provenance.status as usize] += 1;
            counts.disagreements += provenance.disagreements.len();
            for run in &provenance.runs {
                counts.add(run);
            }
            if let Some(run) = provenance.chosen.and_then(|chosen| provenance.runs.get(chosen)) {
                counts.calls[0] += run.calls;
                counts.calls[1] += task.trajectory.call_count();
                counts.steps[0] += run.steps;
                counts.steps[1] += task.trajectory.steps.len();
                let rebuilt = run.reconstruction.as_ref();
                counts.removed += rebuilt.map_or(0, |rebuilt| rebuilt.removed.len());
                counts.merged += rebuilt.map_or(0, |rebuilt| rebuilt.merged.len());
            }
        }
        counts
    }

    fn add(&mut self, run: &JudgedRun) {
        self.runs += 1;
        self.usage = self.usage.plus(run.usage);
        self.has_answers |= run.verdict.is_some() || !run.problems.is_empty();
        self.has_verification |= run.verification.is_some();
        if let Some(refusal) = &run.refusal {
            *self.refusals.entry(refusal.kind).or_default() += 1;
        }
    }

    fn count(&self, kind: RefusalKind) -> usize {
        self.refusals.get(&kind).copied().unwrap_or(0)
    }

    /// The number of undecided runs.
    fn undecided(&self) -> usize {
        let undecided = self.refusals.iter().filter(|(kind, _)| kind.status() == Status::Undecided);
        undecided.map(|(_, count)| count).sum()
    }

    fn rows(&self, has_judge: bool, elapsed: Duration, results: &ResultFiles) -> Vec<(&'static str, String)> {
        let why = |status: Status| {
            let kinds = self.refusals.iter().filter(|(kind, _)| kind.status() == status);
            let kinds: Vec<String> =
                kinds.map(|(kind, count)| format!("{count} {}", kind.name().replace('_', " "))).collect();
            if kinds.is_empty() { String::new() } else { format!(" (runs: {})", kinds.join(", ")) }
        };
        let of = |status: Status| self.tasks[status as usize];
        let mut rows = vec![
            ("tasks", self.tasks.iter().sum::<usize>().to_string()),
            ("runs", self.runs.to_string()),
            ("accepted", of(Status::Accepted).to_string()),
            ("rejected", format!("{}{}", of(Status::Rejected), why(Status::Rejected))),
            ("undecided", format!("{}{}", of(Status::Undecided), why(Status::Undecided))),
            ("calls", format!("{} in the runs, {} in the references", self.calls[0], self.calls[1])),
            ("steps", format!("{} in the runs, {} in the references", self.steps[0], self.steps[1])),
            ("removed", counted(self.removed, "call")),
            ("merged", counted(self.merged, "call")),
            ("disagreements", self.disagreements.to_string()),
        ];
        rows.extend(results.rows());
        if has_judge {
            rows.push(("tokens", self.usage.in_words()));
        }
        rows.push(("time", duration(elapsed)));
        rows
    }
}

/// Prints the table and the next command; fails if some runs are undecided.
pub(super) fn say(
    end: &JudgeEnd,
    targets: &Targets,
    (has_judge, elapsed, results): (bool, Duration, &ResultFiles),
    printer: Printer,
) -> Result {
    let counts = JudgeCounts::of(end);
    print_rows(&counts.rows(has_judge, elapsed, results), 0)?;
    results.problem().iter().for_each(|problem| printer.warn(problem));
    let name = |path: &std::path::Path| visible(&path.display().to_string(), false).into_owned();
    let unrecorded = end.tasks.iter().flat_map(|task| &task.provenance.runs).filter(|run| {
        run.refusal.as_ref().is_some_and(|refusal| refusal.reason == m3_judge::reference::NO_RESULTS)
    });
    let unrecorded = unrecorded.count();
    if unrecorded > 0 {
        printer.warn(&format!(
            "{} no results of calls, and only calls that succeeded can be judged\nhint: `m3 record PRED --servers \
             CONFIG -o FILE` makes the calls again and writes what they return",
            if unrecorded == 1 { "1 run has".to_owned() } else { format!("{unrecorded} runs have") }
        ));
    }
    if counts.tasks[Status::Accepted as usize] > 0 {
        let references = name(&targets.references);
        printer.note(&format!("next: m3 review {references}, or m3 score PREDICTIONS {references}"));
    }
    let undecided = counts.undecided();
    if undecided == 0 {
        return Ok(());
    }
    let message = format!(
        "{} of {} undecided\nhint: `judge` in {} says why; the same command asks again what was not answered, \
         or in no way that can be read",
        undecided,
        if counts.runs == 1 { "1 run is".to_owned() } else { format!("{} runs are", counts.runs) },
        name(&targets.rejected),
    );
    let is_unavailable = counts.count(RefusalKind::NoReply) > 0 && !counts.has_answers;
    Err(Failure::new(if is_unavailable { code::UNAVAILABLE } else { code::FAILED }, message))
}
