//! Parts that the terminal and Markdown both show: the metrics, the weakest types, the origin of the numbers.

use m3_score::{Metric, NoteContext, Profile, Similarity};
use m3_support::text::counted;
use unicode_width::UnicodeWidthStr as _;

use super::arguments::{Column, CutAt, Findings};
use super::metrics::fitting;
use super::wire::start;
use super::{AggregateReport, ScoreSummary, shortened};

/// The most types that are shown.
const WEAKEST: usize = 5;

/// The longest name of an encoder, in columns.
const NAME_WIDTH: usize = 40;

/// The longest name of a type.
const TYPE_WIDTH: usize = 16;

/// The least width of the column with the types' names: with fewer than nine metrics beside it, and with nine.
const TYPE_LEAST: [usize; 2] = [16, 9];

/// More metrics do not fit beside a type.
const MOST_NUMBERS: usize = 9;

/// A metric, its value in [0, 1] and what it is computed from.
pub(super) struct MetricRow {
    pub(super) metric: Metric,
    pub(super) value: f64,
    pub(super) note: String,
}

/// A text with a capital at its start.
pub(super) fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    first.to_uppercase() + rest
}

/// The metrics of the whole set that are known.
pub(super) fn metrics(summary: &ScoreSummary) -> Vec<MetricRow> {
    let a = &summary.aggregate;
    let jobs = a.jobs.map(|jobs| jobs.words());
    let set = NoteContext {
        metrics: &a.metrics,
        reference_calls: a.reference_calls,
        predicted_calls: a.predicted_calls,
        matched: a.matched,
        jobs: jobs.as_deref(),
        profile: Profile::from_name(&summary.profile).unwrap_or_default(),
        similarity: Similarity::from_name(&summary.similarity).unwrap_or_default(),
    };
    let row =
        |metric: Metric| Some(MetricRow { metric, value: a.metrics.get(metric)?, note: metric.note(&set)? });
    Metric::ALL.into_iter().filter_map(row).collect()
}

/// The result of `--match` as a heading and a text, such as `strict match` and `12 of 16 trajectories`, followed by the
/// options that are not the defaults.
pub(super) fn matched(summary: &ScoreSummary) -> Option<(String, String)> {
    let (options, found) = (summary.match_options.as_ref()?, summary.aggregate.matched_whole?);
    let trajectories = counted(found.of, "trajectory");
    let others = options.others();
    Some((format!("{} match", options.mode), format!("{} of {trajectories}{others}", found.passed)))
}

/// The weakest types, the weakest first; no rows if there is only one type.
pub(super) fn weakest_types(summary: &ScoreSummary) -> Findings {
    let tasks = if summary.repeats.is_some() { "trials" } else { "tasks" };
    let is_known = |metric: Metric| summary.by_type.values().any(|a| a.metrics.get(metric).is_some());
    let known: Vec<Metric> = Metric::of_scores().filter(|metric| is_known(*metric)).collect();
    let shown = fitting(&known, MOST_NUMBERS, Metric::Average);
    let shown = || shown.iter().copied();
    let numbers = [tasks].into_iter().chain(shown().map(Metric::heading)).map(Column::number);
    let least = TYPE_LEAST[usize::from(shown().count() >= MOST_NUMBERS)];
    let mut types: Vec<(&String, &AggregateReport)> = summary.by_type.iter().collect();
    // The sort is stable: types of equal average stay in the order of their names.
    types.sort_by(|(_, a), (_, b)| a.metrics[Metric::Average].total_cmp(&b.metrics[Metric::Average]));
    let row = |(name, a): (&String, &AggregateReport)| {
        let value =
            |metric| a.metrics.get(metric).map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
        let metrics = shown().map(value);
        [shortened(name, TYPE_WIDTH), a.trajectories.to_string()].into_iter().chain(metrics).collect()
    };
    let count = if types.len() < 2 { 0 } else { WEAKEST };
    let rows: Vec<Vec<String>> = types.into_iter().take(count).map(row).collect();
    Findings {
        title: format!("weakest types ({} of {})", rows.len(), summary.by_type.len()),
        columns: [Column::text("type", CutAt::End, least)].into_iter().chain(numbers).collect(),
        rows,
    }
}

/// The definitions and the encoder behind the numbers.
pub(super) fn provenance(summary: &ScoreSummary) -> String {
    provenance_parts(summary).join(", ")
}

/// The definitions and the encoder behind the numbers, on lines of this many columns.
pub(super) fn provenance_lines(summary: &ScoreSummary, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in provenance_parts(summary) {
        match lines.last_mut() {
            None => lines.push(part),
            // 3: the comma and the space before the part, and a comma that may follow it.
            Some(line) if line.width() + part.width() + 3 <= columns => line.extend([", ", &part]),
            Some(line) => {
                line.push(',');
                lines.push(part);
            }
        }
    }
    lines
}

fn provenance_parts(summary: &ScoreSummary) -> Vec<String> {
    let encoder = &summary.encoder;
    let digest = start(encoder.fingerprint.trim_start_matches("sha256:"));
    let name = shortened(&encoder.name, NAME_WIDTH);
    let mut parts = vec![format!("profile {}", summary.profile), format!("encoder {name} ({digest})")];
    let own_model = summary.fidelity_model.iter().filter(|model| !model.built_in);
    parts.extend(own_model.map(|model| format!("fidelity model {}", start(&model.fingerprint))));
    if is_typed(summary) {
        parts.push("similarity typed".to_owned());
    }
    parts.push(format!("tau {} / {}", summary.thresholds.weak, summary.thresholds.strong));
    let names = &summary.tool_names;
    if names.mode != "off" {
        parts.push(format!("tool names {} ({} mapped)", names.mode, names.mapping.len()));
    }
    parts
}

/// A summary of the questions that a language model was asked, if one was.
pub(super) fn asked(summary: &ScoreSummary) -> Option<String> {
    summary.asked.as_ref().map(ToString::to_string)
}

/// How recorded results count as evidence for fidelity, if they do.
pub(super) fn results(summary: &ScoreSummary) -> Option<String> {
    let results = summary.results.as_ref()?;
    let tools = |names: &[String], words: &str| {
        (!names.is_empty()).then(|| format!("{} {words}", counted(names.len(), "tool")))
    };
    let parts = [
        tools(&results.answer_same_to_same, "answering the same to the same"),
        tools(&results.vary, "varying"),
        tools(&results.always_answer_alike, "always alike, which tells nothing"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let list = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    Some(format!("results of {} count as evidence for fidelity{list}", counted(results.calls, "call")))
}

/// Whether calls are aligned by their fidelity.
fn is_typed(summary: &ScoreSummary) -> bool {
    summary.similarity == Similarity::Typed.name()
}

/// Whether the profile is the paper's.
pub(super) fn is_paper(summary: &ScoreSummary) -> bool {
    summary.profile == Profile::Paper.name()
}
