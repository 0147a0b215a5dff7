//! Calls of one tool whose pairing is open: which of them may be compared with which, and the best pairs.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use m3_embedding::Embedder;

use super::ComparedCalls;
use crate::Bucket;
use crate::assign::{Side, assign};
use crate::chunk::{Chunk, PreparedPair};
use crate::fidelity::constants::THRESHOLD;
use crate::flow::PairFlow;
use crate::matching::{Match, cosine_of_calls};
use crate::matrix::Matrix;

/// Cosines that differ by less hardly distinguish calls: six boxes, each drawn 6 pixels off, differ by up to 0.03.
const INDISTINCT: f64 = 0.05;

/// The most pairs of calls of one tool that are all tried. Of more, only pairs with equal keys are tried, and only
/// where calls name files that calls make.
const MOST_PAIRS: usize = 1 << 12;

/// The most cells in the matrices of one tool; only a trajectory that repeats itself needs more.
const MOST_PLACES: usize = 1 << 22;

/// The deduction for a pair whose keys differ, so that of pairs with equal fidelity the one that does the same work
/// wins.
const TIE: f64 = 1e-6;

/// The bonus of a pair of the alignment where no call names a file that calls make, so that equally good pairs stay.
const ALIGNED: f64 = 1e-9;

/// A pair of the alignment and the fidelity of its calls, in [0, 1].
#[derive(Clone, Copy)]
pub(super) struct AlignedPair<'m> {
    pub(super) pair: &'m Match,
    pub(super) fidelity: f64,
}

/// Leaves out the pairs that ask for exactly the same: they stay together, even where another pairing would have a larger sum.
fn leave_out_settled(
    rows: &mut Vec<usize>,
    columns: &mut Vec<usize>,
    matched: &HashMap<usize, AlignedPair<'_>>,
) {
    let mut settled: HashSet<usize> = HashSet::new();
    rows.retain(|row| match matched.get(row) {
        Some(AlignedPair { pair, fidelity }) if *fidelity >= 1.0 => !settled.insert(pair.predicted.index),
        _ => true,
    });
    columns.retain(|column| !settled.contains(column));
}

/// A key of a call that does not depend on names of files; 0 where no flow is known.
fn key_of(prepared: &PreparedPair, key: fn(&PairFlow, usize) -> u64, call: usize) -> u64 {
    prepared.flow.as_ref().map_or(0, |flow| key(flow, call))
}

/// The calls of one tool that may get another partner than the alignment's.
pub(super) struct Candidates {
    /// Reference calls; the first `matched` of them are matched by the alignment, and keep a partner.
    rows: Vec<usize>,
    matched: usize,
    /// Predicted calls.
    columns: Vec<usize>,
    /// Whether any call of the tool names a file that a call makes: its fidelity then depends on the pairing.
    pub(super) names_files: bool,
}

impl Candidates {
    /// Selects the calls of a tool; `None` where another pairing cannot help: no pair is wrong because of its partner,
    /// and names of files give no reason to pair anew.
    fn new(
        prepared: &PreparedPair,
        bucket: Bucket<'_>,
        (matched, wrong): (&HashMap<usize, AlignedPair<'_>>, &HashSet<&str>),
    ) -> Option<Self> {
        let any_call = |is: fn(&PairFlow, [Option<usize>; 2]) -> bool| {
            prepared.flow.as_ref().is_some_and(|flow| {
                bucket.references.iter().any(|&call| is(flow, [Some(call), None]))
                    || bucket.predictions.iter().any(|&call| is(flow, [None, Some(call)]))
            })
        };
        let (names_files, has_names) =
            (any_call(PairFlow::names_made_files), any_call(PairFlow::names_files));
        let has_unmatched = bucket.references.iter().any(|call| !matched.contains_key(call));
        let is_of_interest =
            wrong.contains(bucket.tool) || names_files && !wrong.is_empty() || has_names && has_unmatched;
        if !is_of_interest {
            return None;
        }
        let (mut rows, mut unmatched): (Vec<usize>, Vec<usize>) =
            bucket.references.into_iter().partition(|call| matched.contains_key(call));
        let mut columns = bucket.predictions;
        if !has_names {
            unmatched.clear();
        }
        if !names_files {
            leave_out_settled(&mut rows, &mut columns, matched);
        }
        let own_key = |call: usize| key_of(prepared, PairFlow::reference_key, call);
        prepared.references.calls.sort_by(&mut rows, &own_key);
        prepared.references.calls.sort_by(&mut unmatched, &own_key);
        prepared
            .predictions
            .calls
            .sort_by(&mut columns, &|call| key_of(prepared, PairFlow::predicted_key, call));
        let matched = rows.len();
        rows.append(&mut unmatched);
        Some(Self { rows, matched, columns, names_files })
    }
}

/// Calls of one tool whose pairing is open.
pub(super) struct OpenBucket {
    pub(super) item: usize,
    pub(super) calls: Candidates,
    /// Whether a reference call (row) and a predicted call (column) may be paired.
    allowed: Matrix<bool>,
    /// Whether both calls have the same key, which does not depend on names of files.
    same_keys: Matrix<bool>,
    /// Whether both calls are a pair of the alignment.
    aligned: Matrix<bool>,
}

impl OpenBucket {
    /// Creates the bucket of one tool of a trajectory, if its pairing is open. `matched` holds the alignment's pairs by
    /// reference call, `wrong` the tools with a pair that does not ask for the same.
    pub(super) fn new(
        (item, prepared): (usize, &PreparedPair),
        bucket: Bucket<'_>,
        (matched, wrong): (&HashMap<usize, AlignedPair<'_>>, &HashSet<&str>),
        embedder: &Embedder,
    ) -> Option<Self> {
        let calls = Candidates::new(prepared, bucket, (matched, wrong))?;
        let Candidates { rows, columns, names_files, .. } = &calls;
        let places = rows.len().saturating_mul(columns.len());
        if places == 0 || places > MOST_PLACES {
            return None;
        }
        let (own_keys, given_keys): (Vec<u64>, Vec<u64>) = (
            rows.iter().map(|&call| key_of(prepared, PairFlow::reference_key, call)).collect(),
            columns.iter().map(|&call| key_of(prepared, PairFlow::predicted_key, call)).collect(),
        );
        let same_keys =
            Matrix::from_fn(rows.len(), columns.len(), |row, column| own_keys[row] == given_keys[column]);
        let own = |row: usize| matched.get(&rows[row]).map(|aligned| aligned.pair);
        let aligned = Matrix::from_fn(rows.len(), columns.len(), |row, column| {
            own(row).is_some_and(|own| own.predicted.index == columns[column])
        });
        let is_large = places > MOST_PAIRS;
        let is_indistinct = |own: &Match, pair: (usize, usize)| {
            let (references, predictions) = (&prepared.references.calls, &prepared.predictions.calls);
            own.similarity < 1.0
                && cosine_of_calls(references, predictions, embedder, pair) >= own.similarity - INDISTINCT
        };
        let allowed = Matrix::from_fn(rows.len(), columns.len(), |row, column| match own(row) {
            _ if aligned[(row, column)] => true,
            _ if is_large => *names_files && same_keys[(row, column)],
            Some(own) => *names_files || is_indistinct(own, (rows[row], columns[column])),
            None => true,
        });
        let all = || (0..rows.len()).flat_map(|row| allowed.row(row));
        if is_large && all().filter(|is_allowed| *is_allowed).nth(MOST_PAIRS).is_some() {
            return None;
        }
        let has_choice = |row: usize| allowed.row(row).filter(|is_allowed| *is_allowed).nth(1).is_some();
        let is_open = rows.len() > calls.matched || (0..rows.len()).any(has_choice);
        is_open.then_some(Self { item, calls, allowed, same_keys, aligned })
    }

    /// The pairs that are compared.
    pub(super) fn pairs(&self) -> impl Iterator<Item = ComparedCalls> {
        let Candidates { rows, columns, .. } = &self.calls;
        let all = (0..rows.len()).flat_map(|row| (0..columns.len()).map(move |column| (row, column)));
        all.filter(|&place| self.allowed[place]).map(|(row, column)| (self.item, rows[row], columns[column]))
    }

    /// Finds the best pairs, as rows and columns, by the fidelities of [`OpenBucket::pairs`] in the same order. Matched
    /// reference calls choose first; unmatched ones get a remaining predicted call that asks for the same.
    pub(super) fn assign(
        &self,
        chunk: &Chunk,
        fidelities: &mut impl Iterator<Item = f64>,
    ) -> Vec<(usize, usize)> {
        let Candidates { rows, columns, matched, names_files } = &self.calls;
        let fidelity = Matrix::from_fn(rows.len(), columns.len(), |row, column| {
            if !self.allowed[(row, column)] {
                return -1.0;
            }
            let fidelity = fidelities.next().unwrap_or(0.0);
            // The alignment depends on names of files, which must not matter where the calls choose these names.
            let kept = if self.aligned[(row, column)] && !names_files { ALIGNED } else { 0.0 };
            kept + if self.same_keys[(row, column)] { fidelity } else { fidelity - TIE }
        });
        let all: Vec<usize> = (0..columns.len()).collect();
        let mut pairs = self.assign_some(chunk, &fidelity, (0..*matched, &all), -TIE);
        let is_left = |column: &usize| pairs.iter().all(|(_, taken)| taken != column);
        let left: Vec<usize> = all.iter().copied().filter(is_left).collect();
        if pairs.len() == *matched {
            let rest = (*matched..rows.len(), left.as_slice());
            pairs.extend(self.assign_some(chunk, &fidelity, rest, THRESHOLD - TIE));
        }
        pairs
    }

    fn assign_some(
        &self,
        chunk: &Chunk,
        fidelity: &Matrix<f64>,
        (rows, columns): (Range<usize>, &[usize]),
        least: f64,
    ) -> Vec<(usize, usize)> {
        let prepared = &chunk.items[self.item];
        let (count, start) = (rows.len(), rows.start);
        let part =
            Matrix::from_fn(count, columns.len(), |row, column| fidelity[(start + row, columns[column])]);
        let classes: Vec<usize> = (0..count.max(columns.len())).collect();
        let predicted: Vec<usize> = columns.iter().map(|&column| self.calls.columns[column]).collect();
        let references = prepared.references.calls.steps_of(&self.calls.rows[rows]);
        let predictions = prepared.predictions.calls.steps_of(&predicted);
        let references = Side { classes: &classes[..count], steps: &references };
        let predictions = Side { classes: &classes[..columns.len()], steps: &predictions };
        let pairs = assign(&part, least, references, predictions).unwrap_or_default();
        pairs.into_iter().map(|(row, column)| (start + row, columns[column])).collect()
    }

    /// Writes the pairs into the pairing; returns whether that changes it.
    pub(super) fn settle(&self, pairs: &[(usize, usize)], pairing: &mut [Option<usize>]) -> bool {
        // The alignment is one of the possible assignments, so the best one has at least `matched` pairs.
        let Candidates { rows, columns, matched, .. } = &self.calls;
        if pairs.len() < *matched {
            return false;
        }
        let before: Vec<Option<usize>> = columns.iter().map(|&call| pairing[call]).collect();
        for &call in columns {
            pairing[call] = None;
        }
        for &(row, column) in pairs {
            pairing[columns[column]] = Some(rows[row]);
        }
        before.iter().zip(columns).any(|(before, &call)| *before != pairing[call])
    }
}
