//! Gradient boosting of regression trees with the logistic loss (Friedman, 2001), on numbers in bins, leaf by leaf.

use std::collections::BTreeSet;

use super::{Node, Sign, Tree, sigmoid};

/// How trees are grown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growth {
    /// The number of trees.
    pub(crate) trees: usize,
    /// The most leaves of a tree.
    pub(crate) leaves: usize,
    /// The fewest rows of a leaf.
    pub(crate) least_rows: usize,
    /// The learning rate: the factor of each leaf's value.
    pub(crate) rate: f64,
}

/// The factor of the ridge penalty, which pulls the values of leaves to zero.
const RIDGE: f64 = 5.0;

/// The share of the rows that a tree sees, and the share of the numbers.
const ROWS: f64 = 0.8;
const NUMBERS: f64 = 0.6;

/// The most bins of a number, besides the bin of missing numbers.
const BINS: usize = 127;

/// A row: its numbers, its label, and its weight.
#[derive(Debug, Clone)]
pub(crate) struct Row<'e> {
    /// The numbers of the row, one for each sign; NaN is missing.
    pub(crate) numbers: &'e [f64],
    /// The label of the row.
    pub(crate) label: bool,
    /// The weight of the row.
    pub(crate) weight: f64,
}

/// A generator of pseudo-random numbers (`SplitMix64`), the same on every machine.
struct Random(u64);

impl Random {
    /// The next number, in [0, 1).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Rows with their numbers in bins: bin 0 has the missing numbers.
struct BinnedRows {
    /// By number, then by row.
    bins: Vec<Vec<u8>>,
    /// By number: the upper ends of the bins from 1 on, but the last.
    ends: Vec<Vec<f64>>,
}

impl BinnedRows {
    fn new(rows: &[Row<'_>], numbers: usize) -> Self {
        let (mut bins, mut ends) = (Vec::new(), Vec::new());
        for number in 0..numbers {
            let column: Vec<f64> = rows.iter().map(|row| row.numbers[number]).collect();
            let end = bin_ends(&column);
            let bin =
                |value: f64| if value.is_nan() { 0 } else { 1 + end.partition_point(|end| *end < value) };
            bins.push(column.iter().map(|&value| u8::try_from(bin(value)).unwrap_or(u8::MAX)).collect());
            ends.push(end);
        }
        Self { bins, ends }
    }
}

/// The ends of bins with about the same number of rows each.
fn bin_ends(column: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = column.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let mut distinct = sorted.clone();
    distinct.dedup();
    let cuts: BTreeSet<usize> = if distinct.len() <= BINS {
        (1..distinct.len()).collect()
    } else {
        let at = |part: usize| distinct.partition_point(|value| *value < sorted[part * sorted.len() / BINS]);
        (1..BINS).map(at).filter(|&cut| cut > 0).collect()
    };
    // Six digits are enough to distinguish values, and short in the file.
    let between = |cut: usize| {
        let (low, high) = (distinct[cut - 1], distinct[cut]);
        let rounded = (f64::midpoint(low, high) * 1e6).round() / 1e6;
        if (low..high).contains(&rounded) { rounded } else { low }
    };
    cuts.into_iter().map(between).collect()
}

/// The sums of the gradient and of the curvature of the loss over rows, and the number of the rows.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    gradient: f64,
    curvature: f64,
    rows: usize,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.gradient += other.gradient;
        self.curvature += other.curvature;
        self.rows += other.rows;
    }

    fn without(self, other: Self) -> Self {
        Self {
            gradient: self.gradient - other.gradient,
            curvature: self.curvature - other.curvature,
            rows: self.rows - other.rows,
        }
    }

    /// The best value within bounds.
    fn value(self, (low, high): (f64, f64)) -> f64 {
        (-self.gradient / (self.curvature + RIDGE)).clamp(low, high)
    }

    /// Twice the decrease of the loss by a value.
    fn gain(self, value: f64) -> f64 {
        -(2.0 * self.gradient * value + (self.curvature + RIDGE) * value * value)
    }
}

/// A leaf that may be split.
struct Leaf {
    rows: Vec<usize>,
    sums: Sums,
    bounds: (f64, f64),
    /// The node and the side that lead to the leaf.
    parent: Option<(usize, usize)>,
    split: Option<BestSplit>,
}

/// The best split of a leaf.
#[derive(Debug, Clone, Copy)]
struct BestSplit {
    gain: f64,
    number: usize,
    /// The last bin of the left side.
    bin: usize,
    missing_left: bool,
    left: Sums,
    values: (f64, f64),
}

/// Grows trees that are added to `base`, the sums that rows have already. `signs` are the signs of the numbers; `seed`
/// chooses the rows and numbers that each tree sees.
pub(crate) fn boost(rows: &[Row<'_>], base: &[f64], signs: &[Sign], growth: Growth, seed: u64) -> Vec<Tree> {
    let binned = BinnedRows::new(rows, signs.len());
    let mut sums = base.to_vec();
    let mut random = Random(seed);
    let mut trees = Vec::with_capacity(growth.trees);
    for _ in 0..growth.trees {
        let wants: Vec<Sums> = rows
            .iter()
            .zip(&sums)
            .map(|(row, &sum)| {
                let probability = sigmoid(sum);
                let label = f64::from(u8::from(row.label));
                let curvature = row.weight * (probability * (1.0 - probability)).max(1e-9);
                Sums { gradient: row.weight * (probability - label), curvature, rows: 1 }
            })
            .collect();
        let sample: Vec<usize> = (0..rows.len()).filter(|_| random.next() < ROWS).collect();
        let numbers: Vec<usize> = (0..signs.len()).filter(|_| random.next() < NUMBERS).collect();
        let choice = Choice { binned: &binned, wants: &wants, numbers: &numbers, signs };
        let tree = grow(&choice, sample, growth);
        for (row, sum) in rows.iter().zip(&mut sums) {
            *sum += tree.value(row.numbers);
        }
        trees.push(tree);
    }
    trees
}

/// The data that a tree is grown from.
#[derive(Clone, Copy)]
struct Choice<'a> {
    binned: &'a BinnedRows,
    /// The gradient and the curvature of each row.
    wants: &'a [Sums],
    /// The numbers that the tree may use.
    numbers: &'a [usize],
    signs: &'a [Sign],
}

/// Grows one tree.
fn grow(choice: &Choice<'_>, sample: Vec<usize>, growth: Growth) -> Tree {
    let Choice { binned, wants, .. } = *choice;
    let total = |rows: &[usize]| {
        let mut sums = Sums::default();
        for &row in rows {
            sums.add(wants[row]);
        }
        sums
    };
    let mut tree = Tree::default();
    let bounds = (f64::NEG_INFINITY, f64::INFINITY);
    let mut root = Leaf { sums: total(&sample), rows: sample, bounds, parent: None, split: None };
    root.split = best(choice, &root, growth.least_rows);
    let mut leaves = vec![root];
    while leaves.len() < growth.leaves {
        let gain = |leaf: &Leaf| leaf.split.map_or(0.0, |split| split.gain);
        let Some(at) =
            (0..leaves.len()).reduce(|x, y| if gain(&leaves[y]) > gain(&leaves[x]) { y } else { x })
        else {
            break;
        };
        let Some(split) = leaves[at].split.filter(|split| split.gain > 1e-9) else { break };
        let leaf = leaves.swap_remove(at);
        let node = tree.nodes.len();
        if let Some((parent, side)) = leaf.parent {
            tree.nodes[parent].next[side] = node.cast_signed();
        }
        let threshold = binned.ends[split.number].get(split.bin - 1).copied().unwrap_or(f64::MAX);
        let missing_left = split.missing_left;
        tree.nodes.push(Node { number: split.number, threshold, missing_left, next: [0, 0] });
        let is_left = |&row: &usize| match usize::from(binned.bins[split.number][row]) {
            0 => split.missing_left,
            bin => bin <= split.bin,
        };
        let (left, right): (Vec<usize>, Vec<usize>) = leaf.rows.iter().partition(|row| is_left(row));
        let middle = f64::midpoint(split.values.0, split.values.1);
        let (low, high) = leaf.bounds;
        let bounds = match choice.signs[split.number] {
            Sign::Up => [(low, middle), (middle, high)],
            Sign::Down => [(middle, high), (low, middle)],
            Sign::Free => [leaf.bounds; 2],
        };
        let sums = [split.left, leaf.sums.without(split.left)];
        for (side, rows) in [left, right].into_iter().enumerate() {
            let (sums, bounds, parent) = (sums[side], bounds[side], Some((node, side)));
            let mut leaf = Leaf { rows, sums, bounds, parent, split: None };
            leaf.split = best(choice, &leaf, growth.least_rows);
            leaves.push(leaf);
        }
    }
    for leaf in leaves {
        let value = leaf.sums.value(leaf.bounds) * growth.rate;
        let place = -1 - tree.leaves.len().cast_signed();
        if let Some((parent, side)) = leaf.parent {
            tree.nodes[parent].next[side] = place;
        }
        tree.leaves.push((value * 1e6).round() / 1e6);
    }
    tree
}

/// The best split of a leaf, if there is any.
fn best(choice: &Choice<'_>, leaf: &Leaf, least_rows: usize) -> Option<BestSplit> {
    let Choice { binned, wants, numbers, signs } = *choice;
    if leaf.rows.len() < 2 * least_rows {
        return None;
    }
    let own = leaf.sums.gain(leaf.sums.value(leaf.bounds));
    let mut best: Option<BestSplit> = None;
    let mut bins = [Sums::default(); BINS + 2];
    for &number in numbers {
        let used = binned.ends[number].len() + 2;
        bins[..used].fill(Sums::default());
        for &row in &leaf.rows {
            bins[usize::from(binned.bins[number][row])].add(wants[row]);
        }
        let missing = bins[0];
        for missing_left in if missing.rows > 0 { &[true, false][..] } else { &[false] } {
            let mut left = if *missing_left { missing } else { Sums::default() };
            for (bin, sums) in bins.iter().enumerate().take(used).skip(1) {
                left.add(*sums);
                let right = leaf.sums.without(left);
                if left.rows < least_rows || right.rows < least_rows || sums.rows == 0 {
                    continue;
                }
                let values = (left.value(leaf.bounds), right.value(leaf.bounds));
                let is_allowed = match signs[number] {
                    Sign::Up => values.0 <= values.1,
                    Sign::Down => values.0 >= values.1,
                    Sign::Free => true,
                };
                let gain = left.gain(values.0) + right.gain(values.1) - own;
                if is_allowed && gain > best.map_or(0.0, |best| best.gain) {
                    best = Some(BestSplit { gain, number, bin, missing_left: *missing_left, left, values });
                }
            }
        }
    }
    best
}
