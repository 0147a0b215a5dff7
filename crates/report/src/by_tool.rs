//! The calls of each tool, and what costs the most, for people: a table and a sentence.

use m3_score::Metric;
use m3_support::text::counted;

use super::arguments::{Column, CutAt, Findings};
use super::{ScoreSummary, ToolReport, shortened};

/// The index of the column for the tool that was called instead; the column is left out if it is empty.
const REPLACED_BY: usize = 5;

/// The most rows of the table.
const SHOWN: usize = 5;

/// The longest name of a tool in a sentence, in columns.
const NAME_WIDTH: usize = 40;

/// The tools that lose the most calls, as a table; without rows if none is lost.
pub(super) fn table(summary: &ScoreSummary) -> Findings {
    let mean = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    let losing = || summary.by_tool.iter().filter(|tool| tool.lost() > 0).take(SHOWN);
    let has_regions = losing().any(|tool| tool.region_overlap.is_some());
    let row = |tool: &ToolReport| {
        let counts = [tool.needed, tool.matched, tool.missed, tool.extra].map(|count| count.to_string());
        let replaced = tool.replaced_by.as_ref().map_or_else(String::new, |other| other.tool.clone());
        let means = [mean(tool.argument_similarity), mean(tool.argument_fidelity)];
        let overlap = has_regions.then(|| mean(tool.region_overlap));
        [tool.tool.clone()].into_iter().chain(counts).chain([replaced]).chain(means).chain(overlap).collect()
    };
    let mut rows: Vec<Vec<String>> = losing().map(row).collect();
    // The columns are narrower if there is another one for regions.
    let [tool, replaced_by] = if has_regions { [14, 11] } else { [18, 14] };
    let mut columns = vec![
        Column::text("tool", CutAt::Start, tool),
        Column::number("needed"),
        Column::number("matched"),
        Column::number("missed"),
        Column::number("extra"),
        Column::text("replaced by", CutAt::Start, replaced_by),
        Column::number(Metric::ArgumentSimilarity.heading()),
        Column::number(Metric::ArgumentFidelity.heading()),
    ];
    columns.extend(has_regions.then(|| Column::number(Metric::RegionOverlap.heading())));
    if rows.iter().all(|row| row[REPLACED_BY].is_empty()) {
        columns.remove(REPLACED_BY);
        for row in &mut rows {
            row.remove(REPLACED_BY);
        }
    }
    Findings {
        title: format!("tools with most errors ({} of {})", rows.len(), summary.by_tool.len()),
        columns,
        rows,
    }
}

/// The kinds of extra calls, such as `10 extra calls: 7 look, 1 changes something, 2 unknown`; `None` without any.
pub(super) fn extra_calls(summary: &ScoreSummary) -> Option<String> {
    let of_role =
        |role: &str| summary.by_tool.iter().filter(|tool| tool.role == role).map(|tool| tool.extra).sum();
    let [looks, changes, unknown]: [u64; 3] = ["looks", "changes", "unknown"].map(of_role);
    let all = looks + changes + unknown;
    let parts = [
        (looks, if looks == 1 { "looks" } else { "look" }),
        (changes, if changes == 1 { "changes something" } else { "change something" }),
        (unknown, "unknown"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    (all > 0).then(|| format!("{}: {}", counted(all, "extra call"), parts.join(", ")))
}

/// What costs the most, in one sentence; `None` if nothing is lost.
pub(super) fn costs_most(summary: &ScoreSummary) -> Option<String> {
    let cost = summary.costs.first()?;
    let words = match (cost.calls.as_str(), cost.reason.as_str()) {
        ("missed", "task_failed") => "are of tasks that failed or have no prediction",
        ("extra", "too_large") => "are of trajectories too large to be aligned",
        ("missed", "tool_not_in_prediction") => "are of tools never called in that task",
        ("missed", "below_threshold") => "were made with too different arguments",
        ("missed", _) => "are of tools that were called too few times",
        ("extra", "tool_not_in_reference") => "are of tools that were not needed",
        ("extra", "below_threshold") => "have too different arguments",
        ("extra", _) => "are of tools that were called too many times",
        _ => "have a wrong argument",
    };
    let calls = match cost.calls.as_str() {
        "missed" => "needed calls",
        "extra" => "calls made",
        _ => "matched",
    };
    let most = cost.tools.first().map_or_else(String::new, |most| {
        let tool = shortened(&most.tool, NAME_WIDTH);
        format!(", most often {tool} ({} of {} {calls})", most.lost, most.of)
    });
    Some(format!("{} of {} {} calls {words}{most}", cost.lost, cost.of, cost.calls))
}
