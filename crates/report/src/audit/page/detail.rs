//! The page's view of one trajectory: everything as text, cut if it is long.

use std::collections::{BTreeMap, BTreeSet};

use m3_support::text::percent_encoded;
use sha2::{Digest as _, Sha256};

use super::arguments::{MatchView, findings, matched};
use super::{MetricIntervals, MetricView, NAME, metrics, name};
use crate::PlaceReport;
use crate::audit::limits::{MATRIX_CELLS, MATRIX_STEPS, PAGE, more};
use crate::audit::text::{headline, passage};
use crate::audit::words::{self, CallView};
use crate::audit::{BucketAudit, Picture, Structure, TrajectoryAudit};

/// The most characters of a question or an answer.
const PASSAGE: usize = 4_000;

/// The most characters of arguments.
const ARGUMENTS: usize = 2_000;

/// The most columns of the question in the list.
const HEADLINE: usize = 90;

/// Arguments longer than this are folded, in characters.
const FOLDED: usize = 160;

/// The page's view of one trajectory.
#[derive(Debug)]
pub(super) struct Detail {
    /// The id as part of an address.
    pub(super) fragment: String,
    /// The id in a form for people.
    pub(super) title: String,
    /// The type of task; empty without one.
    pub(super) task_type: String,
    pub(super) cost: String,
    /// Why it failed, in words; `None` if it did not.
    pub(super) failure: Option<String>,
    /// Whether it passes, in words, where that was asked for.
    pub(super) verdict: Option<String>,
    /// What it costs the set's average, in words; `None` if nothing.
    pub(super) cost_words: Option<String>,
    pub(super) metrics: Vec<MetricView>,
    /// The reasons for unmatched calls, each once.
    pub(super) reasons: BTreeSet<&'static str>,
    /// The findings that apply to it and can be filtered by.
    pub(super) findings: Vec<&'static str>,
    pub(super) headline: String,
    pub(super) question: Option<String>,
    pub(super) image: Option<(String, Picture)>,
    pub(super) sides: Vec<SideView>,
    pub(super) matches: Vec<MatchView>,
    /// How many of the shown matches are rejected.
    pub(super) rejected: usize,
    /// The note on matches that are not shown; the fields below do the same for other lists.
    pub(super) more_matches: Option<String>,
    pub(super) alone: Vec<AloneView>,
    pub(super) more_alone: Option<String>,
    pub(super) structure: Vec<String>,
    pub(super) buckets: Vec<BucketView>,
    pub(super) more_buckets: Option<String>,
    pub(super) weights: Option<MatrixView>,
}

/// One side of a trajectory.
#[derive(Debug)]
pub(super) struct SideView {
    pub(super) name: &'static str,
    pub(super) steps: Vec<Vec<CallCard>>,
    /// Notes on the steps and calls that are not shown.
    pub(super) more: Vec<String>,
    pub(super) answer: Option<String>,
}

/// A call.
#[derive(Debug)]
pub(super) struct CallCard {
    pub(super) index: usize,
    pub(super) place: String,
    pub(super) tool: String,
    pub(super) arguments: String,
    pub(super) is_folded: bool,
    pub(super) partner: Option<PartnerView>,
}

/// The matched call on the other side.
#[derive(Debug)]
pub(super) struct PartnerView {
    pub(super) index: usize,
    pub(super) place: String,
    /// The similarity with two digits, as on its line.
    pub(super) similarity: String,
    pub(super) is_strong: bool,
    pub(super) is_inverted: bool,
    pub(super) is_rejected: bool,
}

/// An unmatched call.
#[derive(Debug)]
pub(super) struct AloneView {
    pub(super) side: &'static str,
    pub(super) place: String,
    pub(super) tool: String,
    pub(super) reason: &'static str,
    pub(super) candidate: Option<String>,
}

/// The similarities of one tool's calls.
#[derive(Debug)]
pub(super) struct BucketView {
    pub(super) tool: String,
    /// A note on rows and columns that are cut off.
    pub(super) cut: Option<String>,
    pub(super) matrix: MatrixView,
}

/// A table of numbers between calls or steps of both sides.
#[derive(Debug)]
pub(super) struct MatrixView {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<(String, Vec<CellView>)>,
}

/// A number of a matrix.
#[derive(Debug)]
pub(super) struct CellView {
    pub(super) text: String,
    /// The darkness of the cell, 0 to 5.
    pub(super) shade: u8,
    pub(super) is_chosen: bool,
}

impl Detail {
    pub(super) fn new(audit: &TrajectoryAudit, picture: Option<Picture>) -> Self {
        let question = audit.question.as_deref();
        let alone = words::alone(audit);
        let pairs = audit.score.matches.iter().zip(&audit.arguments);
        let matches: Vec<MatchView> = pairs.take(PAGE.matches).map(matched).collect();
        let buckets = buckets(audit);
        Self {
            fragment: fragment(&audit.score.id),
            title: title(&audit.score.id),
            task_type: audit.score.task_type.as_deref().map(name).unwrap_or_default(),
            cost: format!("{:.6}", audit.cost),
            failure: words::failure(audit.score.failure.as_deref()),
            verdict: audit.score.verdict.as_ref().map(words::verdict),
            cost_words: words::cost(audit.cost),
            metrics: metrics(&audit.score.metrics, &MetricIntervals::default()),
            reasons: alone.iter().map(|alone| alone.reason).collect(),
            headline: question.map(|text| headline(text, HEADLINE)).unwrap_or_default(),
            question: question.map(|text| passage(text, PASSAGE)),
            image: audit
                .image
                .as_deref()
                .map(|path| (name(path), picture.unwrap_or(Picture::Note("images were not looked for")))),
            sides: sides(audit),
            findings: findings(audit),
            rejected: matches.iter().filter(|pair| pair.is_rejected).count(),
            matches,
            more_matches: more(audit.score.matches.len().saturating_sub(PAGE.matches), "matches"),
            alone: alone.iter().take(PAGE.unmatched).map(alone_view).collect(),
            more_alone: more(alone.len().saturating_sub(PAGE.unmatched), "unmatched calls"),
            structure: words::structure(audit, &PAGE, name),
            more_buckets: more(audit.buckets.len() - buckets.len(), "tools"),
            buckets,
            weights: weights(&audit.structure),
        }
    }

    /// The reasons as one HTML attribute.
    pub(super) fn reason_list(&self) -> String {
        self.reasons.iter().copied().collect::<Vec<_>>().join("|")
    }

    /// The findings as one HTML attribute.
    pub(super) fn finding_list(&self) -> String {
        self.findings.join("|")
    }
}

fn sides(audit: &TrajectoryAudit) -> Vec<SideView> {
    let [reference, prediction] = words::sides(audit);
    // The inverted matches by their reference call and by their predicted call.
    let matches = &audit.score.matches;
    let named =
        audit.structure.inverted.iter().flat_map(|pair| [&matches[pair.first], &matches[pair.second]]);
    let (expected, made): (BTreeSet<usize>, BTreeSet<usize>) =
        named.map(|pair| (pair.reference.index, pair.predicted.index)).unzip();
    vec![
        side("reference", reference, &expected, audit.reference.final_reply.as_deref()),
        side("prediction", prediction, &made, audit.prediction.final_reply.as_deref()),
    ]
}

fn side(
    name: &'static str,
    steps: Vec<Vec<CallView<'_>>>,
    inverted: &BTreeSet<usize>,
    answer: Option<&str>,
) -> SideView {
    let (steps, more) = words::shown(steps, &PAGE);
    let cards = |step: &Vec<CallView<'_>>| step.iter().map(|view| card(view, inverted)).collect();
    let answer = answer.map(|text| passage(text, PASSAGE));
    SideView { name, steps: steps.iter().map(cards).collect(), more, answer }
}

fn card(view: &CallView<'_>, inverted: &BTreeSet<usize>) -> CallCard {
    let arguments = view.call.arguments.as_deref().unwrap_or_default();
    let arguments = passage(arguments, ARGUMENTS);
    CallCard {
        index: view.place.index,
        place: view.place.to_string(),
        tool: name(&view.call.tool),
        is_folded: arguments.chars().count() > FOLDED,
        arguments,
        partner: view.partner.map(|partner| PartnerView {
            index: partner.place.index,
            place: partner.place.to_string(),
            similarity: words::similarity(partner.similarity),
            is_strong: partner.is_strong,
            is_inverted: inverted.contains(&view.place.index),
            is_rejected: partner.is_rejected,
        }),
    }
}

fn alone_view(alone: &words::Alone<'_>) -> AloneView {
    AloneView {
        side: alone.side,
        place: alone.place.to_string(),
        tool: name(alone.tool),
        reason: alone.reason,
        candidate: alone.candidate(),
    }
}

/// The matrices of tools that both sides call, as many as fit.
fn buckets(audit: &TrajectoryAudit) -> Vec<BucketView> {
    let assigned: BTreeSet<(usize, usize)> =
        audit.score.matches.iter().map(|pair| (pair.reference.index, pair.predicted.index)).collect();
    let [reference, prediction] = words::sides(audit);
    let places = |steps: Vec<Vec<CallView<'_>>>| -> Vec<PlaceReport> {
        steps.into_iter().flatten().map(|view| view.place).collect()
    };
    let (expected, made) = (places(reference), places(prediction));
    let view = |bucket: &BucketAudit| {
        let rows = bucket.references.iter().zip(&bucket.similarity).map(|(&row, similarity)| {
            let cells = bucket.predictions.iter().zip(similarity).map(|(&column, &similarity)| CellView {
                text: words::similarity(similarity),
                shade: shade(similarity),
                is_chosen: assigned.contains(&(row, column)),
            });
            (expected[row].to_string(), cells.collect())
        });
        let columns = bucket.predictions.iter().map(|&column| made[column].to_string()).collect();
        let matrix = MatrixView { columns, rows: rows.collect() };
        BucketView { tool: name(&bucket.tool), cut: cut(bucket), matrix }
    };
    let mut cells = 0;
    let fits = |bucket: &&BucketAudit| {
        cells += bucket.references.len() * bucket.predictions.len();
        cells <= MATRIX_CELLS
    };
    audit.buckets.iter().take_while(fits).map(view).collect()
}

/// The note on a matrix that is not shown whole.
fn cut(bucket: &BucketAudit) -> Option<String> {
    let (rows, columns) = (bucket.references.len(), bucket.predictions.len());
    let is_cut = rows < bucket.reference_calls || columns < bucket.predicted_calls;
    is_cut.then(|| {
        format!(
            "the first {rows} of {} rows and {columns} of {} columns",
            bucket.reference_calls, bucket.predicted_calls
        )
    })
}

/// The weights W of the step alignment, if any steps have calls in common.
fn weights(structure: &Structure) -> Option<MatrixView> {
    let highest = |of: fn(&super::super::StepWeight) -> usize| structure.weights.iter().map(of).max();
    let rows = highest(|weight| weight.reference)?.min(MATRIX_STEPS - 1);
    let columns = highest(|weight| weight.predicted)?.min(MATRIX_STEPS - 1);
    let heaviest = structure.weights.iter().map(|weight| weight.weight).fold(f64::MIN_POSITIVE, f64::max);
    let shown = structure.weights.iter().filter(|at| at.reference <= rows && at.predicted <= columns);
    let weights: BTreeMap<(usize, usize), f64> =
        shown.map(|at| ((at.reference, at.predicted), at.weight)).collect();
    let weight_of = |row, column| weights.get(&(row, column)).copied().unwrap_or_default();
    let cell = |weight: f64| CellView {
        text: if weight > 0.0 { format!("{weight:.2}") } else { "·".to_owned() },
        shade: shade(weight / heaviest),
        is_chosen: false,
    };
    let row = |row: usize| {
        let cells = (0..=columns).map(|column| cell(weight_of(row, column)));
        (format!("step {}", row + 1), cells.collect())
    };
    let columns_named = (0..=columns).map(|column| format!("step {}", column + 1)).collect();
    Some(MatrixView { columns: columns_named, rows: (0..=rows).map(row).collect() })
}

/// The darkness for a value in [0, 1], 0 to 5.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in [0, 5]")]
fn shade(value: f64) -> u8 {
    (value.clamp(0.0, 1.0) * 5.0) as u8
}

/// An id in a form for people.
pub(super) fn title(id: &str) -> String {
    if id.is_empty() { "(empty id)".to_owned() } else { name(id) }
}

/// The address of the empty id, because an empty address is that of the overview. In other ids this character is
/// percent-encoded.
const EMPTY: &str = "!";

/// An id as part of an address. Of a long id the start and a digest are used, so that each id has its own address.
pub(super) fn fragment(id: &str) -> String {
    if id.is_empty() {
        return EMPTY.to_owned();
    }
    match id.char_indices().nth(NAME) {
        None => percent_encoded(id).to_string(),
        Some((offset, _)) => {
            let digest = Sha256::digest(id);
            let number = digest.iter().take(8).fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
            format!("{}~{number:016x}", percent_encoded(&id[..offset]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_fragments() {
        assert_eq!(fragment("00050000"), "00050000");
        assert_eq!([fragment(""), fragment("!")], ["!", "%21"]);
        let long = |end| fragment(&format!("{}{end}", "x".repeat(1000)));
        assert!(long("a") != long("b") && long("a").len() == 217);
        assert_eq!(fragment("a b/é\">"), "a%20b%2F%C3%A9%22%3E");
    }

    #[test]
    fn shades_are_few() {
        assert_eq!([-1.0, 0.0, 0.19, 0.2, 0.99, 1.0].map(shade), [0, 0, 0, 1, 4, 5]);
    }
}
