//! Pairs the regions of two calls, those of each argument one to one by best overlap.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Region, RegionOverlap};
use crate::hungarian::cheapest_pairs;

/// The most overlaps of two calls that are computed to find the best pairs. Regions beyond it are paired in their
/// order: only a crafted call has so many different regions.
const MOST_OVERLAPS: usize = 1 << 14;

/// The cost, in an assignment, of a pair that does not overlap.
const COST_UNITS: f64 = 1e9;

/// The regions of the reference in their order, each with its partner, then those that only the prediction has.
pub(super) fn paired(reference: &[Region], predicted: &[Region], point_radius: f64) -> Vec<RegionOverlap> {
    let overlap =
        |row: usize, column: usize| reference[row].shape.overlap(&predicted[column].shape, point_radius);
    let mut partners = vec![None; reference.len()];
    let mut room = MOST_OVERLAPS;
    for (rows, columns) in groups(reference, predicted) {
        let (rows, columns) = pair_equal((reference, rows), (predicted, columns), &mut partners);
        for (row, column) in best_pairs(&rows, &columns, &overlap, &mut room) {
            partners[row] = Some(column);
        }
    }
    let of_reference = reference.iter().enumerate().map(|(row, region)| RegionOverlap {
        reference: Some(region.name.clone()),
        predicted: partners[row].map(|column| predicted[column].name.clone()),
        shape: region.shape.name(),
        overlap: partners[row].map_or(0.0, |column| overlap(row, column)),
    });
    let taken: BTreeSet<usize> = partners.iter().flatten().copied().collect();
    let extra = predicted.iter().enumerate().filter(|(column, _)| !taken.contains(column));
    let extra = extra.map(|(_, region)| RegionOverlap {
        reference: None,
        predicted: Some(region.name.clone()),
        shape: region.shape.name(),
        overlap: 0.0,
    });
    of_reference.chain(extra).collect()
}

/// The regions of each argument, by their indices. Regions in arguments that only one of the calls has form one group:
/// some tools take a region in several ways.
fn groups(reference: &[Region], predicted: &[Region]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut groups: BTreeMap<&str, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (row, region) in reference.iter().enumerate() {
        groups.entry(&region.argument).or_default().0.push(row);
    }
    for (column, region) in predicted.iter().enumerate() {
        groups.entry(&region.argument).or_default().1.push(column);
    }
    let (mut groups, one_sided): (Vec<_>, Vec<_>) =
        groups.into_values().partition(|(rows, columns)| !rows.is_empty() && !columns.is_empty());
    groups.push(one_sided.into_iter().fold((Vec::new(), Vec::new()), |mut all, (rows, columns)| {
        all.0.extend(rows);
        all.1.extend(columns);
        all
    }));
    groups
}

/// Pairs regions that are equal, and returns the others. This loses no better pairs: 1 less the overlap is a distance
/// (Jaccard's), for which the triangle inequality holds.
fn pair_equal(
    (reference, rows): (&[Region], Vec<usize>),
    (predicted, columns): (&[Region], Vec<usize>),
    partners: &mut [Option<usize>],
) -> (Vec<usize>, Vec<usize>) {
    // Zero and its negative are one number.
    let key = |region: &Region| {
        (region.shape.name(), region.shape.numbers().map(|number| (number + 0.0).to_bits()))
    };
    let mut equal: BTreeMap<_, VecDeque<usize>> = BTreeMap::new();
    for column in columns {
        equal.entry(key(&predicted[column])).or_default().push_back(column);
    }
    let mut rest = Vec::new();
    for row in rows {
        match equal.get_mut(&key(&reference[row])).and_then(VecDeque::pop_front) {
            Some(column) => partners[row] = Some(column),
            None => rest.push(row),
        }
    }
    let mut columns: Vec<usize> = equal.into_values().flatten().collect();
    columns.sort_unstable();
    (rest, columns)
}

/// Pairs as many rows and columns as possible with the greatest sum of overlaps; in their order once `room` is used up.
fn best_pairs(
    rows: &[usize],
    columns: &[usize],
    overlap: &impl Fn(usize, usize) -> f64,
    room: &mut usize,
) -> Vec<(usize, usize)> {
    let in_order = || rows.iter().copied().zip(columns.iter().copied()).collect();
    let Some(left) = room.checked_sub(rows.len().saturating_mul(columns.len())) else { return in_order() };
    *room = left;
    #[expect(clippy::cast_possible_truncation, reason = "at most a billion")]
    let cost = |row: usize, column: usize| i128::from(((1.0 - overlap(row, column)) * COST_UNITS) as i64);
    let costs: Vec<Vec<i128>> =
        rows.iter().map(|&row| columns.iter().map(|&column| cost(row, column)).collect()).collect();
    let (count, others) = (rows.len(), columns.len());
    let pairs = cheapest_pairs(count, others, count <= others, |row, column| costs[row][column]);
    pairs.into_iter().map(|(row, column)| (rows[row], columns[column])).collect()
}
