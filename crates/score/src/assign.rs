//! The assignment of predicted to reference calls within a bucket: the cheapest one, made unique by a rule for ties.
//!
//! Cost is 1 - S where S >= tau_weak, else a penalty so large that first the number of allowed pairs is
//! maximal and then their total cost minimal (equation 1 of M³-Bench). Solved by the Hungarian method (`hungarian`) on
//! integers: costs are rounded to 2^-40, so equal means equal.
//!
//! Equal calls are handled together: a bucket that is large because a model repeats itself is first solved for its
//! classes of equal calls (`transport`), which leaves few or no choices between single calls.

use std::collections::BTreeMap;

use super::hungarian::cheapest_pairs;
use super::matrix::Matrix;
use super::transport::{Group, NEVER, TooLarge, cheapest_groups};

/// One unit of cost is 2^-40 of similarity.
const COST_UNITS: f64 = (1_u64 << 40) as f64;

/// The most pairs of different calls. The Hungarian method needs time cubic in the shorter side: a square bucket of this size
/// takes a minute.
const MAX_PAIRS: usize = 1 << 23;

/// Up to this number of pairs no classes are made, because solving takes no time.
const FEW_PAIRS: usize = 1 << 18;

/// The largest product of the ranks of two steps.
const LARGEST_PRODUCT: u64 = 1 << 40;

/// Costs leave this many low bits for the choice among assignments of equal cost: room for the products of ranks of
/// all pairs (at most 2^12, the root of [`MAX_PAIRS`]).
const TIE_BITS: u32 = 52;

/// The cost of a pair below the threshold: more than that of 2^12 allowed pairs, 2^(41 + 52) each.
const PENALTY: i128 = 1 << 106;

/// One side of a bucket: the calls of one tool, by ascending step.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The class of each call; calls of one class are equal.
    pub classes: &'a [usize],
    /// The step of each call.
    pub steps: &'a [usize],
}

/// Pairs reference calls with predicted calls.
///
/// `similarity` has the similarities of classes, [references, predictions], in [-1, 1], without NaN; exactly 1 only if
/// the encoder cannot distinguish both.
///
/// Among assignments of equal cost, earlier reference steps go to earlier predicted steps: the one with the largest
/// sum of products of the steps' ranks, counted from the last. If that is equal too, the order of calls decides;
/// callers sort the calls of a step in a way that does not depend on the file.
///
/// Returns pairs of reference and predicted call with `similarity >= weak`, by reference.
///
/// # Errors
/// [`TooLarge`] above 2^23 pairs of classes, or of calls between which equal cost leaves a choice.
pub fn assign(
    similarity: &Matrix<f64>,
    weak: f64,
    references: Side<'_>,
    predictions: Side<'_>,
) -> Result<Vec<(usize, usize)>, TooLarge> {
    check_size(similarity.rows(), similarity.columns())?;
    let bucket = Bucket {
        prices: similarity.map(|s| if s < weak { NEVER } else { units(s) }),
        rows: nodes(references),
        columns: nodes(predictions),
    };
    let all =
        Members { rows: (0..bucket.rows.len()).collect(), columns: (0..bucket.columns.len()).collect() };
    let few = bucket.that_matter(&all);
    let mut pairs = if few.pairs() <= FEW_PAIRS || few.pairs() <= similarity.rows() * similarity.columns() {
        bucket.assign_each(&all)?
    } else {
        bucket.assign_classes()?
    };
    pairs.sort_unstable();
    Ok(pairs)
}

/// Checks that a bucket with this many different calls on each side can be assigned.
///
/// # Errors
/// [`TooLarge`] if it cannot.
pub(super) fn check_size(references: usize, predictions: usize) -> Result<(), TooLarge> {
    if references.saturating_mul(predictions) <= MAX_PAIRS { Ok(()) } else { Err(TooLarge) }
}

/// A call: its class, and the rank of its step among the steps that occur; the last step has rank 1.
#[derive(Debug, Clone, Copy)]
struct Node {
    class: usize,
    rank: u64,
}

/// A bucket: rows are reference calls, columns predicted calls.
struct Bucket {
    /// The cost of a pair, by class; [`NEVER`] below the threshold.
    prices: Matrix<i64>,
    rows: Vec<Node>,
    columns: Vec<Node>,
}

/// Some calls of a bucket, in its order.
struct Members {
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl Members {
    fn pairs(&self) -> usize {
        self.rows.len().saturating_mul(self.columns.len())
    }
}

impl Bucket {
    /// The members without those that certainly stay unmatched: equal calls beyond the number of calls on the other
    /// side. Leaving them out changes nothing, not even the choice among ties: whenever the algorithm could take one
    /// of them, an earlier equal call is free at no higher cost.
    fn that_matter(&self, members: &Members) -> Members {
        Members {
            rows: first_of_each_class(&self.rows, &members.rows, self.prices.rows(), members.columns.len()),
            columns: first_of_each_class(
                &self.columns,
                &members.columns,
                self.prices.columns(),
                members.rows.len(),
            ),
        }
    }

    /// The cheapest assignment between these calls, call by call.
    fn assign_each(&self, members: &Members) -> Result<Vec<(usize, usize)>, TooLarge> {
        // The algorithm requires at most as many rows as columns.
        let is_wide = members.rows.len() <= members.columns.len();
        let members = self.that_matter(members);
        check_size(members.rows.len(), members.columns.len())?;
        let largest = |nodes: &[Node]| nodes.iter().map(|node| node.rank).max().unwrap_or(0);
        if largest(&self.rows).saturating_mul(largest(&self.columns)) > LARGEST_PRODUCT {
            return Err(TooLarge);
        }
        if members.pairs() == 0 {
            return Ok(Vec::new());
        }
        let pair = |row: usize, column: usize| (members.rows[row], members.columns[column]);
        let (rows, columns) = (members.rows.len(), members.columns.len());
        // Costs are computed when needed: no matrix of calls is kept.
        let assigned = cheapest_pairs(rows, columns, is_wide, |row, column| self.cost(pair(row, column)));
        let pairs = assigned.into_iter().map(|(row, column)| pair(row, column));
        Ok(pairs.filter(|&(row, column)| self.price(row, column) < NEVER).collect())
    }

    /// The cheapest assignment between all calls, class by class and then call by call where classes leave a choice.
    fn assign_classes(&self) -> Result<Vec<(usize, usize)>, TooLarge> {
        let rows = by_class(&self.rows, self.prices.rows());
        let columns = by_class(&self.columns, self.prices.columns());
        let counts = |calls: &[Vec<usize>]| calls.iter().map(Vec::len).collect::<Vec<_>>();
        let mut pairs = Vec::new();
        for group in cheapest_groups(&self.prices, &counts(&rows), counts(&columns))? {
            let of = |calls: &[Vec<usize>], classes: &BTreeMap<usize, bool>| {
                let mut members: Vec<usize> =
                    classes.keys().flat_map(|&class| calls[class].clone()).collect();
                members.sort_unstable();
                members
            };
            let members = Members { rows: of(&rows, &group.rows), columns: of(&columns, &group.columns) };
            pairs.extend(if group.is_free {
                self.in_order(&group, &members)
            } else {
                self.assign_each(&members)?
            });
        }
        Ok(pairs)
    }

    /// Any row of the group can be matched with any column at the same total cost. Taking the earliest of both sides
    /// in the order of their steps gives the largest sum of products (the rearrangement inequality).
    fn in_order(&self, group: &Group, members: &Members) -> Vec<(usize, usize)> {
        let leaves_rows = group.rows.values().any(|&may_be_left| may_be_left);
        // If a row may stay unmatched, no column may.
        let count = if leaves_rows { members.columns.len() } else { members.rows.len() };
        let chosen = |members: &[usize], nodes: &[Node], classes: &BTreeMap<usize, bool>| -> Vec<usize> {
            let may_be_left = |at: usize| classes.get(&nodes[at].class).copied().unwrap_or_default();
            let mut spare = count.saturating_sub(members.iter().filter(|&&at| !may_be_left(at)).count());
            let is_chosen = |at: &usize| {
                let is_spare = may_be_left(*at);
                let is_chosen = !is_spare || spare > 0;
                spare -= usize::from(is_spare && is_chosen);
                is_chosen
            };
            members.iter().copied().filter(is_chosen).collect()
        };
        let rows = chosen(&members.rows, &self.rows, &group.rows);
        rows.into_iter().zip(chosen(&members.columns, &self.columns, &group.columns)).collect()
    }

    /// The cost of a pair, with the rule for ties in the low bits.
    fn cost(&self, (row, column): (usize, usize)) -> i128 {
        let price = self.price(row, column);
        if price == NEVER {
            return PENALTY;
        }
        let product = self.rows[row].rank * self.columns[column].rank;
        (i128::from(price) << TIE_BITS) + i128::from(LARGEST_PRODUCT - product)
    }

    fn price(&self, row: usize, column: usize) -> i64 {
        self.prices[(self.rows[row].class, self.columns[column].class)]
    }
}

/// 1 - s in units of 2^-40; at least one unit unless s is exactly 1.
fn units(s: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^41, for s = -1")]
    let units = ((1.0 - s) * COST_UNITS).ceil() as i64;
    units.max(0)
}

fn nodes(side: Side<'_>) -> Vec<Node> {
    let mut distinct = side.steps.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let rank = |step: &usize| (distinct.len() - distinct.partition_point(|other| other < step)) as u64;
    side.classes.iter().zip(side.steps).map(|(&class, step)| Node { class, rank: rank(step) }).collect()
}

/// The calls of each class.
fn by_class(nodes: &[Node], classes: usize) -> Vec<Vec<usize>> {
    let mut calls = vec![Vec::new(); classes];
    nodes.iter().enumerate().for_each(|(at, node)| calls[node.class].push(at));
    calls
}

/// The first `most` calls of each class.
fn first_of_each_class(nodes: &[Node], members: &[usize], classes: usize, most: usize) -> Vec<usize> {
    let mut seen = vec![0; classes];
    let is_among_first = |at: &usize| {
        let count = &mut seen[nodes[*at].class];
        *count += 1;
        *count <= most
    };
    members.iter().copied().filter(is_among_first).collect()
}

#[cfg(test)]
mod tests;
