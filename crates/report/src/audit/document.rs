//! The part of an audit that the page of a trajectory shows besides the calls, as JSON: how arguments and steps
//! compare, and the similarities. Long lists are cut, with a note; texts by others are safe to show.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::limits::{MATRIX_CELLS, MATRIX_STEPS, PAGE_ARGUMENTS, PAGE_MATCHES, PAGE_SENTENCES, more};
use super::text::{around_difference, passage};
use crate::MatchReport;

use super::{ArgumentAudit, BucketAudit, MatchArguments, StepWeight, Structure, TrajectoryAudit, words};

/// The most characters of an unequal value.
const VALUE: usize = 400;

/// The most characters of a name.
const NAME: usize = 200;

/// The audit of a trajectory for a page.
#[derive(Debug, Clone, Serialize)]
pub struct AuditDocument {
    /// The trajectory's cost to the set's average, in words; null if there is none.
    pub cost: Option<String>,
    /// Whether the trajectory passes, in words; null where that was not asked for.
    pub verdict: Option<String>,
    /// How the steps compare, in sentences.
    pub structure: Vec<String>,
    /// How the arguments of each match compare, in the order of the score's `matches`; the first 400.
    pub arguments: Vec<ArgumentsDocument>,
    /// The similarities of the calls of each tool that both sides use, as many as fit into 20,000 numbers.
    pub buckets: Vec<BucketDocument>,
    /// The weights W of the step alignment (M³-Bench, equation 4); null if no steps have calls in common.
    pub steps: Option<MatrixDocument>,
    /// Notes on what is not shown.
    pub more: Vec<String>,
}

/// How the arguments of a match compare.
#[derive(Debug, Clone, Serialize)]
pub struct ArgumentsDocument {
    /// The arguments that are not equal; the first 40.
    pub unequal: Vec<ArgumentDocument>,
    /// The number of unequal arguments that are not shown.
    pub more: u64,
    /// The equal arguments, in words; null if there are none.
    pub equal: Option<String>,
    /// How far regions of pictures in the arguments overlap, in words; null without regions.
    pub regions: Option<String>,
}

/// An argument that is not equal.
#[derive(Debug, Clone, Serialize)]
pub struct ArgumentDocument {
    /// The argument's name, followed by its name in the prediction if that differs.
    pub names: Vec<String>,
    /// A sign for the verdict, such as `≠`.
    pub mark: char,
    /// `equivalent`, `close`, `different`, `missing` or `extra`.
    pub verdict: String,
    /// How bad the verdict is: `fine`, `near` or `wrong`.
    pub weight: &'static str,
    /// The reason for the verdict, in a few words.
    pub reason: String,
    /// The score and the kind of comparison, such as `score 0.03, compared as coordinate`.
    pub title: String,
    /// The reference's value; null where it has none.
    pub reference: Option<String>,
    /// The prediction's value; null where it has none.
    pub predicted: Option<String>,
}

/// The similarities of one tool's calls.
#[derive(Debug, Clone, Serialize)]
pub struct BucketDocument {
    /// The tool.
    pub tool: String,
    /// A note on rows and columns that are cut off.
    pub cut: Option<String>,
    /// The similarities.
    pub matrix: MatrixDocument,
}

/// A table of numbers between calls or steps of both sides: rows are of the reference, columns of the prediction.
#[derive(Debug, Clone, Serialize)]
pub struct MatrixDocument {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Names of the rows, with their cells.
    pub rows: Vec<(String, Vec<CellDocument>)>,
}

/// A number of a matrix: its text, its shade in [0, 1], and whether its two calls are a match (never for steps).
pub type CellDocument = (String, f64, bool);

impl AuditDocument {
    /// Makes the document of an audit.
    #[must_use]
    pub fn new(audit: &TrajectoryAudit) -> Self {
        let buckets = buckets(audit);
        let matches = audit.score.matches.iter().zip(&audit.arguments);
        let hidden = [
            more(audit.arguments.len().saturating_sub(PAGE_MATCHES), "matches"),
            more(audit.buckets.len() - buckets.len(), "tools"),
        ];
        Self {
            cost: words::cost(audit.cost),
            verdict: audit.score.verdict.as_ref().map(words::verdict),
            structure: words::structure(audit, PAGE_SENTENCES, name),
            arguments: matches.take(PAGE_MATCHES).map(arguments).collect(),
            steps: weights(&audit.structure),
            buckets,
            more: hidden.into_iter().flatten().collect(),
        }
    }
}

fn arguments((pair, arguments): (&MatchReport, &MatchArguments)) -> ArgumentsDocument {
    let unequal: Vec<ArgumentDocument> = arguments.unequal().take(PAGE_ARGUMENTS).map(argument).collect();
    ArgumentsDocument {
        more: arguments.unequal_count().saturating_sub(unequal.len() as u64),
        unequal,
        equal: equal(arguments),
        regions: words::regions(pair, PAGE_ARGUMENTS),
    }
}

/// The equal arguments by name.
fn equal(arguments: &MatchArguments) -> Option<String> {
    let count = arguments.verdicts.equal;
    let shown = arguments.arguments.iter().filter(|argument| argument.is_equal()).take(PAGE_ARGUMENTS);
    let mut names: Vec<String> = shown.map(|argument| argument_name(&argument.argument)).collect();
    let rest = count.saturating_sub(names.len() as u64);
    if rest > 0 {
        names.push(format!("{rest} more"));
    }
    (count > 0).then(|| format!("{count} equal: {}", names.join(", ")))
}

fn argument(argument: &ArgumentAudit) -> ArgumentDocument {
    let (reference, predicted) = match (&argument.reference, &argument.predicted) {
        (Some(a), Some(b)) => {
            let (a, b) = around_difference(a, b, VALUE);
            (Some(a), Some(b))
        }
        (a, b) => {
            let value = |text: &Option<String>| text.as_deref().map(|text| passage(text, VALUE));
            (value(a), value(b))
        }
    };
    let names = [Some(&argument.argument), argument.predicted_argument.as_ref()];
    ArgumentDocument {
        names: names.into_iter().flatten().map(|name| argument_name(name)).collect(),
        mark: argument.mark(),
        verdict: argument.verdict.clone(),
        weight: argument.weight(),
        reason: name(&argument.reason),
        title: format!("score {:.2}, compared as {}", argument.score, argument.kind.replace('_', " ")),
        reference,
        predicted,
    }
}

/// The matrices of tools that both sides call, as many as fit.
fn buckets(audit: &TrajectoryAudit) -> Vec<BucketDocument> {
    let assigned: BTreeSet<(usize, usize)> =
        audit.score.matches.iter().map(|pair| (pair.reference.index, pair.predicted.index)).collect();
    let [expected, made] = words::sides(audit).map(|steps| -> Vec<String> {
        steps.into_iter().flatten().map(|view| view.place.to_string()).collect()
    });
    let place = |places: &[String], index: usize| places.get(index).cloned().unwrap_or_default();
    let document = |bucket: &BucketAudit| {
        let rows = bucket.references.iter().zip(&bucket.similarity).map(|(&row, similarity)| {
            let cells = bucket.predictions.iter().zip(similarity).map(|(&column, &similarity)| {
                (words::similarity(similarity), shade(similarity), assigned.contains(&(row, column)))
            });
            (place(&expected, row), cells.collect())
        });
        let columns = bucket.predictions.iter().map(|&column| place(&made, column)).collect();
        let matrix = MatrixDocument { columns, rows: rows.collect() };
        BucketDocument { tool: name(&bucket.tool), cut: cut(bucket), matrix }
    };
    let mut cells = 0;
    let fits = |bucket: &&BucketAudit| {
        cells += bucket.references.len() * bucket.predictions.len();
        cells <= MATRIX_CELLS
    };
    audit.buckets.iter().take_while(fits).map(document).collect()
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
fn weights(structure: &Structure) -> Option<MatrixDocument> {
    let highest = |of: fn(&StepWeight) -> usize| structure.weights.iter().map(of).max();
    let rows = highest(|weight| weight.reference)?.min(MATRIX_STEPS - 1);
    let columns = highest(|weight| weight.predicted)?.min(MATRIX_STEPS - 1);
    let heaviest = structure.weights.iter().map(|weight| weight.weight).fold(f64::MIN_POSITIVE, f64::max);
    let shown = structure.weights.iter().filter(|at| at.reference <= rows && at.predicted <= columns);
    let weights: BTreeMap<(usize, usize), f64> =
        shown.map(|at| ((at.reference, at.predicted), at.weight)).collect();
    let cell = |row, column| match weights.get(&(row, column)) {
        Some(&weight) if weight > 0.0 => (format!("{weight:.2}"), shade(weight / heaviest), false),
        _ => ("·".to_owned(), 0.0, false),
    };
    let step = |index: usize| format!("step {}", index + 1);
    let row = |row: usize| (step(row), (0..=columns).map(|column| cell(row, column)).collect());
    Some(MatrixDocument { columns: (0..=columns).map(step).collect(), rows: (0..=rows).map(row).collect() })
}

/// The shade of a cell, in [0, 1], rounded to tenths.
fn shade(value: f64) -> f64 {
    (value.clamp(0.0, 1.0) * 10.0).round() / 10.0
}

/// A name from others: made safe to show, and cut if it is long.
fn name(text: &str) -> String {
    passage(text, NAME)
}

/// An argument's name, or `(all arguments)` for the arguments as a whole.
fn argument_name(argument: &str) -> String {
    if argument.is_empty() { "(all arguments)".to_owned() } else { name(argument) }
}
