//! Pairs of a reference and the run that it was made of.

use std::collections::HashMap;
use std::path::Path;

use m3_judge::review::Pairs;
use m3_judge::review::origin::{Origin, content};
use m3_report::{SheetForm, write_sheets};
use m3_support::text::counted;
use m3_trajectory::Trajectory;
use m3_trajectory::json::{Json, Keys};

use crate::cli::common::{Failure, Printer, Result, input, place_of, print};
use crate::report::Table;

const MEANING: [&str; 2] = [
    "share: of the reconstructed trajectory, without ties",
    "interval: Wilson's, as if no judgement depended on another one",
];

/// For each reference, a pair: the run that it was made of, if known, or else the first run of its task; and the
/// reference.
pub(super) fn of(
    originals: &Path,
    (path, references): (&Path, Vec<Trajectory>),
    printer: Printer,
) -> Result<Vec<[Trajectory; 2]>> {
    if place_of(originals) == place_of(path) {
        return Err(Failure::input(
            "both files are the same\nhint: the runs come first: --pairs ORIGINAL REF",
        ));
    }
    let ran = input::open_predicted(originals, printer)?;
    let mut runs: HashMap<String, Vec<(usize, String)>> =
        references.iter().map(|reference| (reference.id.clone(), Vec::new())).collect();
    for index in 0..ran.len() {
        let run = ran.read(index)?;
        if let Some(known) = runs.get_mut(&run.id) {
            known.push((index, content(&run)));
        }
    }
    let (mut pairs, mut missing, mut unclear, mut equal) = (Vec::new(), 0, 0, 0);
    for reference in references {
        let known = &runs[&reference.id];
        let origin = Origin::of(&reference);
        let source = match origin.content() {
            Some(made_of) => known.iter().find(|(_, content)| content == made_of),
            None => known.first(),
        };
        let Some((index, _)) = source else {
            missing += usize::from(!known.is_empty());
            continue;
        };
        unclear += usize::from(origin.content().is_none() && known.len() > 1);
        let run = ran.read(*index)?;
        if calls(&run) == calls(&reference) {
            equal += 1;
        } else {
            pairs.push([run, reference]);
        }
    }
    let shown = originals.display();
    if missing > 0 {
        let missing = counted(missing, "reference");
        printer.warn(&format!("{missing} left out: the run that it was made of is not in `{shown}`"));
    }
    if unclear > 0 {
        let unclear = counted(unclear, "reference");
        printer.warn(&format!(
            "{unclear} with several runs in `{shown}`, and nothing says which one it was made of: the first is shown"
        ));
    }
    if equal > 0 {
        printer.note(&format!("{} left out: both sides are the same", counted(equal, "pair")));
    }
    if !pairs.is_empty() {
        return Ok(pairs);
    }
    Err(Failure::input(match (missing, equal) {
        (0, 0) => "the two files have no task in common\nhint: the runs come first: --pairs ORIGINAL REF",
        (_, 0) => "no reference was made of a run in this file\nhint: name the file that was judged",
        _ => "there is no pair whose sides differ",
    }))
}

/// The calls of each step, without their order: two trajectories are the same if these are.
fn calls(trajectory: &Trajectory) -> Vec<Vec<(&str, String)>> {
    let steps = trajectory.steps.iter().filter(|step| !step.calls.is_empty());
    let of_step = steps.map(|step| {
        let calls = step.calls.iter().map(|call| {
            let arguments = call.arguments.as_ref().unwrap_or(&Json::Null).to_text(Keys::Sorted);
            (call.tool.as_str(), arguments)
        });
        let mut calls: Vec<(&str, String)> = calls.collect();
        calls.sort_unstable();
        calls
    });
    of_step.collect()
}

/// Prints how often people prefer each side.
pub(super) fn summarize(pairs: &Pairs) -> Result {
    let summary = pairs.summary();
    if summary.people.is_empty() {
        let pairs = counted(summary.pairs, "pair");
        return print(format!("{pairs}, and nobody has judged any of them\n"));
    }
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let interval = |(low, high): (f64, f64)| format!("{} to {}", percent(low), percent(high));
    let dash = || "-".to_owned();
    let people = summary.people.iter().map(|(name, counts)| (name.as_str(), *counts));
    let sheet = Table::new(people.chain([("all", summary.all)]))
        .text("who", |(name, _)| (*name).to_owned())
        .number("reconstructed", "reconstructed", |(_, counts)| counts.reconstructed.to_string())
        .number("original", "original", |(_, counts)| counts.original.to_string())
        .number("ties", "ties", |(_, counts)| counts.ties.to_string())
        .number("share", "share", |(_, counts)| counts.share().map_or_else(dash, percent))
        .number("95 % interval", "95 % interval", |(_, counts)| counts.interval().map_or_else(dash, interval))
        .sheet(counted(summary.pairs, "pair"), MEANING.map(str::to_owned).to_vec());
    let mut text = Vec::new();
    write_sheets(SheetForm::Terminal { columns: 80, is_styled: false }, &[sheet], &mut text)?;
    print(text)
}
