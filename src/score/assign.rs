//! The assignment of predicted to reference calls within a bucket: the cheapest one, and one only.
//!
//! Cost is 1 - S where S >= tau_weak, else a penalty so large that first the number of allowed pairs is
//! maximal and then their total cost minimal (equation 1 of M³-Bench). Solved by the Kuhn-Munkres algorithm
//! of the `pathfinding` crate on integers: costs are rounded to 2^-40, so equal means equal.

use ndarray::Array2;
use pathfinding::matrix::Matrix;
use pathfinding::prelude::kuhn_munkres_min;

/// One unit of cost is 2^-40 of similarity.
const COST_UNITS: f64 = (1_u64 << 40) as f64;

/// The largest matrix, in pairs. Kuhn-Munkres needs 16 bytes a pair and time cubic in the shorter side:
/// a square bucket of this size takes a minute.
const MAX_PAIRS: usize = 1 << 23;

/// Costs leave so many low bits for the choice among assignments of equal cost: room for the products of
/// ranks (at most [`MAX_PAIRS`]) of all pairs (at most 2^12, the root of it).
const TIE_BITS: u32 = 40;

/// The cost of a pair below the threshold: more than that of 2^12 allowed pairs, 2^(40 + 40) each.
const PENALTY: i128 = 1 << 96;

/// A bucket is too large to be assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// Pairs rows (reference calls) with columns (predicted calls).
///
/// `similarity` is [references, predictions], in [-1, 1], NaN nowhere; exactly 1 only where the two are the
/// same to the encoder. `reference_steps` and `predicted_steps` are the steps of rows and columns.
///
/// Among assignments of equal cost, earlier reference steps go to earlier predicted steps: the one with the
/// largest sum of products of the steps' ranks, counted from the last. If that is equal too, the order of
/// rows and columns decides; callers put them into an order that does not depend on the order in the file.
///
/// Returns pairs of row and column with `similarity >= weak`, by row.
///
/// # Errors
/// [`TooLarge`] above 2^23 pairs.
pub fn assign(
    similarity: &Array2<f64>,
    weak: f64,
    reference_steps: &[usize],
    predicted_steps: &[usize],
) -> Result<Vec<(usize, usize)>, TooLarge> {
    let (references, predictions) = similarity.dim();
    if references == 0 || predictions == 0 {
        return Ok(Vec::new());
    }
    check_size(references, predictions)?;
    let (reference_ranks, predicted_ranks) = (ranks(reference_steps), ranks(predicted_steps));
    let largest_product = MAX_PAIRS as i128;
    let cost = |reference: usize, prediction: usize| {
        let s = similarity[[reference, prediction]];
        if s < weak {
            return PENALTY;
        }
        let product = reference_ranks[reference] * predicted_ranks[prediction];
        (units(s) << TIE_BITS) + (largest_product - product)
    };
    // The algorithm wants no more rows than columns.
    let is_wide = references <= predictions;
    let (rows, columns) = if is_wide { (references, predictions) } else { (predictions, references) };
    let matrix = Matrix::from_fn(
        rows,
        columns,
        |(row, column)| {
            if is_wide { cost(row, column) } else { cost(column, row) }
        },
    );
    let (_, assigned) = kuhn_munkres_min(&matrix);
    let mut pairs: Vec<(usize, usize)> = assigned
        .into_iter()
        .enumerate()
        .map(|(row, column)| if is_wide { (row, column) } else { (column, row) })
        .filter(|&pair| similarity[pair] >= weak)
        .collect();
    pairs.sort_unstable();
    Ok(pairs)
}

/// Whether a bucket of so many calls on each side can be assigned.
///
/// # Errors
/// [`TooLarge`] if it cannot.
pub(super) fn check_size(references: usize, predictions: usize) -> Result<(), TooLarge> {
    if references.saturating_mul(predictions) <= MAX_PAIRS { Ok(()) } else { Err(TooLarge) }
}

/// 1 - s in units of 2^-40; at least one unit unless s is exactly 1.
fn units(s: f64) -> i128 {
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^41, for s = -1")]
    let units = ((1.0 - s) * COST_UNITS).ceil() as i128;
    units.max(0)
}

/// The rank of each step among the steps that occur, the last being 1.
fn ranks(steps: &[usize]) -> Vec<i128> {
    let mut distinct = steps.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    steps
        .iter()
        .map(|step| (distinct.len() - distinct.partition_point(|other| other < step)) as i128)
        .collect()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn solve(similarity: &Array2<f64>, steps: (&[usize], &[usize])) -> Vec<(usize, usize)> {
        assign(similarity, 0.6, steps.0, steps.1).unwrap()
    }

    #[test]
    fn the_cheapest_total_beats_the_greedy_choice() {
        // By hand: 0.95 + nothing (0.5 is below 0.6) against 0.9 + 0.8.
        let similarity = array![[0.95, 0.9], [0.8, 0.5]];
        assert_eq!(solve(&similarity, (&[0, 1], &[0, 1])), [(0, 1), (1, 0)]);
    }

    #[test]
    fn more_pairs_beat_a_better_pair() {
        // By hand: one pair of cost 0 against two of cost 0.4 each; equation 1's penalty decides for two.
        let similarity = array![[1.0, 0.6], [0.6, 0.0]];
        assert_eq!(solve(&similarity, (&[0, 1], &[0, 1])), [(0, 1), (1, 0)]);
    }

    #[test]
    fn more_references_than_predictions_and_the_reverse() {
        let tall = array![[0.7], [0.9], [0.8]];
        assert_eq!(solve(&tall, (&[0, 1, 2], &[0])), [(1, 0)]);
        let wide = array![[0.7, 0.9, 0.8]];
        assert_eq!(solve(&wide, (&[0], &[0, 1, 2])), [(0, 1)]);
        assert_eq!(solve(&Array2::zeros((0, 3)), (&[], &[0, 0, 0])), []);
    }

    #[test]
    fn equal_calls_keep_the_order_of_the_steps() {
        let equal = Array2::from_elem((3, 3), 1.0);
        assert_eq!(solve(&equal, (&[0, 1, 2], &[4, 5, 9])), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(solve(&equal, (&[2, 1, 0], &[4, 5, 9])), [(0, 2), (1, 1), (2, 0)]);
        // One predicted call, equal to all three: the earliest reference gets it.
        assert_eq!(solve(&Array2::from_elem((3, 1), 1.0), (&[1, 0, 2], &[7])), [(1, 0)]);
    }

    #[test]
    fn nothing_below_the_threshold_is_paired() {
        assert_eq!(solve(&array![[0.599_999, -1.0], [0.0, 0.6]], (&[0, 0], &[0, 0])), [(1, 1)]);
    }

    /// Against trying every assignment, on all shapes up to 4 x 4 with few distinct values and so many ties.
    #[test]
    fn agrees_with_exhaustive_search() {
        let mut seed = 12345_u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from((seed >> 33) % below).unwrap()
        };
        for _ in 0..300 {
            let (rows, columns) = (random(4) + 1, random(4) + 1);
            let similarity = Array2::from_shape_fn((rows, columns), |_| [0.3, 0.6, 0.8, 1.0][random(4)]);
            let steps = |n: usize| (0..n).collect::<Vec<_>>();
            let pairs = solve(&similarity, (&steps(rows), &steps(columns)));
            let cost = |pairs: &[(usize, usize)]| pairs.iter().map(|&p| 1.0 - similarity[p]).sum::<f64>();
            let best = every_matching(&similarity, 0, &mut Vec::new());
            let most = best.iter().map(Vec::len).max().unwrap();
            let cheapest = best.iter().filter(|m| m.len() == most).map(|m| cost(m)).fold(f64::MAX, f64::min);
            assert_eq!(pairs.len(), most, "{similarity}");
            assert!((cost(&pairs) - cheapest).abs() < 1e-9, "{similarity}");
        }
    }

    fn every_matching(s: &Array2<f64>, row: usize, taken: &mut Vec<usize>) -> Vec<Vec<(usize, usize)>> {
        if row == s.nrows() {
            return vec![Vec::new()];
        }
        let mut all = every_matching(s, row + 1, taken);
        for column in 0..s.ncols() {
            if s[[row, column]] >= 0.6 && !taken.contains(&column) {
                taken.push(column);
                let rest = every_matching(s, row + 1, taken);
                all.extend(rest.into_iter().map(|mut m| {
                    m.push((row, column));
                    m
                }));
                taken.pop();
            }
        }
        all
    }
}
