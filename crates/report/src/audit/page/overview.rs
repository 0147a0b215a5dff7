//! The part of the page about the whole set.

use std::collections::BTreeSet;

use m3_stats::{Draws, LEVEL};

use super::arguments::argument_name;
use super::detail::{self, fragment};
use super::{MetricIntervals, MetricView, metrics, name};
use crate::audit::limits::{LISTED_FINDINGS, more};
use crate::audit::{Overview, words};
use crate::{
    InputsReport, PlaceReport, RejectedMatchReport, ScoreSummary, ToolReport, WrongArgumentReport, by_tool,
    ledger, tables,
};

/// Width and height of the histogram, in units of its drawing.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 180.0;

/// What the overview shows.
pub(super) struct OverviewView {
    pub(super) provenance: String,
    /// What a language model was asked, if one was.
    pub(super) asked: Option<String>,
    /// How many trajectories pass, where that was asked for.
    pub(super) passed: Option<String>,
    pub(super) metrics: Vec<MetricView>,
    /// How intervals are made; `None` if there are none.
    pub(super) intervals: Option<String>,
    /// Warnings that a reader should see before the numbers.
    pub(super) warnings: Vec<String>,
    /// What costs the set the most, in a sentence.
    pub(super) costs: Option<String>,
    pub(super) tools: Vec<ToolView>,
    pub(super) more_tools: Option<String>,
    pub(super) ledger: Vec<String>,
    pub(super) signature: String,
    /// Predictions, references and perhaps tools: what it is, the file's name and its hash.
    pub(super) inputs: Vec<(&'static str, String, String)>,
    /// Types of task: name, number of tasks, metrics with three digits.
    pub(super) types: Vec<(String, u64, Vec<String>)>,
    pub(super) bars: Vec<BarView>,
    pub(super) thresholds: Vec<ThresholdView>,
    /// Confused tools: the reference's tool, the predicted tool, the number of calls.
    pub(super) confused: Vec<(String, String, u64)>,
    /// Why calls are unmatched: side, reason in words, number of calls.
    pub(super) reasons: Vec<(String, &'static str, u64)>,
    pub(super) wrong: Vec<WrongView>,
    /// The note on rows that are not shown; the fields below do the same for other lists.
    pub(super) more_wrong: Option<String>,
    pub(super) rejected: Vec<RejectedView>,
    pub(super) more_rejected: Option<String>,
    pub(super) rejected_count: u64,
    pub(super) matched: u64,
}

/// The calls of one tool, counted.
pub(super) struct ToolView {
    pub(super) tool: String,
    /// Needed, matched, missed and extra calls.
    pub(super) counts: [u64; 4],
    /// The tool that was called in its place, and how often.
    pub(super) replaced_by: Option<(String, u64)>,
    /// Similarity and fidelity with three digits; empty without pairs.
    pub(super) means: [String; 2],
}

impl From<&ToolReport> for ToolView {
    fn from(tool: &ToolReport) -> Self {
        let means = [tool.argument_similarity, tool.argument_fidelity];
        Self {
            tool: name(&tool.tool),
            counts: [tool.needed, tool.matched, tool.missed, tool.extra],
            replaced_by: tool.replaced_by.as_ref().map(|other| (name(&other.tool), other.calls)),
            means: means.map(|mean| mean.map_or_else(String::new, |mean| format!("{mean:.3}"))),
        }
    }
}

/// An argument that is wrong somewhere in the set.
pub(super) struct WrongView {
    pub(super) tool: String,
    pub(super) argument: String,
    pub(super) wrong: u64,
    pub(super) pairs: u64,
    /// The first trajectory in which it is wrong.
    pub(super) first: LinkView,
    pub(super) reason: String,
}

/// A matched pair whose arguments do not ask for the same.
pub(super) struct RejectedView {
    pub(super) tool: String,
    pub(super) trajectory: LinkView,
    /// The places of both calls, such as `2.1 → 1.3`.
    pub(super) places: String,
    pub(super) similarity: String,
    pub(super) fidelity: String,
    /// The argument that lowers the fidelity most.
    pub(super) argument: String,
    pub(super) reason: String,
}

/// A trajectory by its id, with its address if it is in the page.
pub(super) struct LinkView {
    pub(super) id: String,
    pub(super) fragment: Option<String>,
}

impl LinkView {
    fn new(id: &str, links: &BTreeSet<&str>) -> Self {
        let fragment = fragment(id);
        Self { id: detail::title(id), fragment: links.contains(fragment.as_str()).then_some(fragment) }
    }
}

/// A bar of the histogram, in units of the drawing.
pub(super) struct BarView {
    pub(super) x: String,
    pub(super) width: String,
    pub(super) matched_y: String,
    pub(super) matched_height: String,
    pub(super) unmatched_y: String,
    pub(super) unmatched_height: String,
    /// The x of the label with the number of calls: the middle of the bar.
    pub(super) middle: String,
    pub(super) calls_y: String,
    /// The range of similarities, such as `0.60 to 0.65`.
    pub(super) range: String,
    pub(super) matched: u64,
    pub(super) unmatched: u64,
}

/// A threshold in the histogram.
pub(super) struct ThresholdView {
    pub(super) label: String,
    pub(super) x: String,
    /// The x where its label ends.
    pub(super) label_x: String,
    pub(super) label_y: &'static str,
}

impl OverviewView {
    /// `links` are the addresses of the trajectories in the page.
    pub(super) fn new(
        summary: &ScoreSummary,
        overview: &Overview,
        intervals: &MetricIntervals,
        links: &BTreeSet<&str>,
    ) -> Self {
        let metrics = metrics(&summary.aggregate, intervals);
        let types = summary.by_type.iter().map(|(task_type, report)| {
            let metrics = super::metrics(report, &MetricIntervals::default()).into_iter();
            (name(task_type), report.trajectories, metrics.map(|metric| metric.value).collect())
        });
        let highest = overview.similarities.iter().map(|bin| bin.matched + bin.unmatched).max().unwrap_or(0);
        let confused = overview.confused_tools.iter();
        let reasons = overview.reasons.iter();
        let wrong = &summary.wrong_arguments;
        let rejected = &summary.rejected_matches;
        let hidden = rejected.count.saturating_sub(LISTED_FINDINGS as u64);
        Self {
            wrong: wrong.iter().take(LISTED_FINDINGS).map(|found| wrong_view(found, links)).collect(),
            more_wrong: more(wrong.len().saturating_sub(LISTED_FINDINGS), "arguments"),
            rejected: rejected
                .matches
                .iter()
                .take(LISTED_FINDINGS)
                .map(|pair| rejected_view(pair, links))
                .collect(),
            more_rejected: more(usize::try_from(hidden).unwrap_or(usize::MAX), "pairs"),
            rejected_count: rejected.count,
            matched: summary.aggregate.matched,
            provenance: tables::provenance(summary),
            asked: tables::asked(summary),
            passed: tables::matched(summary).map(|(label, count)| format!("{label} {count}")),
            intervals: metrics.iter().any(|metric| metric.interval.is_some()).then(intervals_in_words),
            metrics,
            warnings: ledger::warnings(summary),
            costs: by_tool::costs_most(summary),
            tools: summary.by_tool.iter().take(LISTED_FINDINGS).map(ToolView::from).collect(),
            more_tools: more(summary.by_tool.len().saturating_sub(LISTED_FINDINGS), "tools"),
            ledger: ledger::ledger(summary),
            signature: summary.signature.clone(),
            inputs: inputs(summary),
            types: types.collect(),
            bars: bars(overview, highest.max(1)),
            thresholds: thresholds(summary),
            confused: confused
                .map(|confused| (name(&confused.reference), name(&confused.predicted), confused.calls))
                .collect(),
            reasons: reasons
                .map(|count| (count.side.clone(), words::reason(&count.reason), count.calls))
                .collect(),
        }
    }
}

fn inputs(summary: &ScoreSummary) -> Vec<(&'static str, String, String)> {
    let InputsReport { predictions, references, tools, .. } = &summary.inputs;
    let files =
        [("predictions", Some(predictions)), ("references", Some(references)), ("tools", tools.as_ref())];
    let named = files.into_iter().filter_map(|(what, file)| Some((what, file?)));
    named.map(|(what, file)| (what, name(&file.name), file.sha256.clone())).collect()
}

fn wrong_view(found: &WrongArgumentReport, links: &BTreeSet<&str>) -> WrongView {
    WrongView {
        tool: name(&found.tool),
        argument: argument_name(&found.argument),
        wrong: found.wrong,
        pairs: found.pairs,
        first: LinkView::new(&found.id, links),
        reason: name(&found.reason),
    }
}

fn rejected_view(pair: &RejectedMatchReport, links: &BTreeSet<&str>) -> RejectedView {
    let places = |places: [PlaceReport; 2]| places.map(|place| place.to_string()).join(" → ");
    RejectedView {
        tool: name(&pair.tool),
        trajectory: LinkView::new(&pair.id, links),
        places: places([pair.reference, pair.predicted]),
        similarity: format!("{:.4}", pair.similarity),
        fidelity: format!("{:.4}", pair.argument_fidelity),
        argument: argument_name(&pair.argument),
        reason: name(&pair.reason),
    }
}

/// How intervals are made: pages always use the default number of resamples and the default seed.
fn intervals_in_words() -> String {
    let Draws { count, seed, .. } = Draws::default();
    let thousands = format!("{},{:03}", count / 1_000, count % 1_000);
    format!("Intervals: {:.0} %, {thousands} resamples of the trajectories, seed {seed}.", 100.0 * LEVEL)
}

fn bars(overview: &Overview, highest: u64) -> Vec<BarView> {
    let bins = overview.similarities.len().max(1) as f64;
    let number = |value: f64| format!("{value:.1}");
    let bar = |bin: &super::super::SimilarityBin| {
        let height = |calls: u64| HEIGHT * calls as f64 / highest as f64;
        let (matched, unmatched) = (height(bin.matched), height(bin.unmatched));
        BarView {
            x: number(WIDTH * bin.from + 1.0),
            width: number(WIDTH / bins - 2.0),
            matched_y: number(HEIGHT - matched),
            matched_height: number(matched),
            unmatched_y: number(HEIGHT - matched - unmatched),
            unmatched_height: number(unmatched),
            middle: number(WIDTH * bin.from + WIDTH / bins / 2.0),
            calls_y: number(HEIGHT - matched - unmatched - 4.0),
            range: format!("{:.2} to {:.2}", bin.from, bin.from + 1.0 / bins),
            matched: bin.matched,
            unmatched: bin.unmatched,
        }
    };
    overview.similarities.iter().map(bar).collect()
}

fn thresholds(summary: &ScoreSummary) -> Vec<ThresholdView> {
    let threshold = |label: &str, value: f64, label_y| ThresholdView {
        label: format!("{label} {value}"),
        x: format!("{:.1}", WIDTH * value),
        label_x: format!("{:.1}", WIDTH * value - 5.0),
        label_y,
    };
    vec![
        threshold("weak", summary.thresholds.weak, "14"),
        threshold("strong", summary.thresholds.strong, "34"),
    ]
}
