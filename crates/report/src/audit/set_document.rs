//! The part of the page of a whole set besides its score, as JSON: what was counted, intervals, the histogram of
//! similarities.

use std::collections::BTreeMap;

use m3_score::Metric;
use m3_stats::{Draws, LEVEL};
use serde::Serialize;

use super::Overview;
use super::text::passage;
use crate::{InputsReport, ScoreSummary, ledger, tables};

/// The most characters of a file's name.
const NAME: usize = 200;

/// The interval of each metric of the whole set, if known; each bound in [0, 1].
pub type MetricIntervals = BTreeMap<Metric, (f64, f64)>;

/// The audit of a set for a page.
#[derive(Debug, Clone, Serialize)]
pub struct SetDocument {
    /// Profile, encoder, thresholds; what a language model was asked; how many trajectories pass.
    pub notes: Vec<String>,
    /// What a reader should know before the numbers.
    pub warnings: Vec<String>,
    /// Sentences on what was counted.
    pub ledger: Vec<String>,
    /// The input files (predictions, references, tools if given): the kind, the file's name, its SHA-256.
    pub inputs: Vec<(&'static str, String, String)>,
    /// The bounds of the intervals, by the names of metrics.
    pub intervals: BTreeMap<&'static str, (f64, f64)>,
    /// How the intervals are made; null if there are none.
    pub interval_note: Option<String>,
    /// tau_weak and tau_strong.
    pub thresholds: [f64; 2],
    /// The histogram, why calls are unmatched, confused tools.
    pub overview: Overview,
}

impl SetDocument {
    /// Makes the document of a set's score.
    #[must_use]
    pub fn new(summary: &ScoreSummary, overview: &Overview, intervals: &MetricIntervals) -> Self {
        let passed = tables::matched(summary).map(|(label, count)| format!("{label} {count}"));
        let notes = [Some(tables::provenance(summary)), tables::asked(summary), passed];
        Self {
            notes: notes.into_iter().flatten().collect(),
            warnings: ledger::warnings(summary),
            ledger: ledger::ledger(summary),
            inputs: inputs(summary),
            intervals: intervals.iter().map(|(metric, bounds)| (metric.name(), *bounds)).collect(),
            interval_note: (!intervals.is_empty()).then(interval_note),
            thresholds: [summary.thresholds.weak, summary.thresholds.strong],
            overview: overview.clone(),
        }
    }
}

fn inputs(summary: &ScoreSummary) -> Vec<(&'static str, String, String)> {
    let InputsReport { predictions, references, tools, .. } = &summary.inputs;
    let files =
        [("predictions", Some(predictions)), ("references", Some(references)), ("tools", tools.as_ref())];
    let named = files.into_iter().filter_map(|(what, file)| Some((what, file?)));
    named.map(|(what, file)| (what, passage(&file.name, NAME), file.sha256.clone())).collect()
}

/// How intervals are made: pages always use the default number of resamples and the default seed.
fn interval_note() -> String {
    let Draws { count, seed, .. } = Draws::default();
    let thousands = format!("{},{:03}", count / 1_000, count % 1_000);
    format!("Intervals: {:.0} %, {thousands} resamples of the trajectories, seed {seed}.", 100.0 * LEVEL)
}
