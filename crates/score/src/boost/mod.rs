//! Boosted regression trees for labels of two kinds: numbers may be missing, each may be bound to move the result in one
//! direction only, and the same rows give the same trees on every machine.
//!
//! ```text
//! rows -> boost -> trees; sums of trees -> isotonic -> curve -> log-odds
//! ```

mod calibrate;
mod grow;
#[cfg(test)]
mod tests;

pub(crate) use calibrate::{WeighedSum, isotonic, on_curve};
pub(crate) use grow::{Growth, Row, boost};
use serde::{Deserialize, Serialize};

/// How a number may move the result when it grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// The result may rise or stay.
    Up,
    /// The result may fall or stay.
    Down,
    /// The result may rise or fall.
    Free,
}

/// A tree: at each node, one number decides on which side to go on. Every path ends at a leaf, also if it was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "Line", try_from = "Line")]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    leaves: Vec<f64>,
}

/// A question about one number.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    /// The place of the number in a row.
    number: usize,
    /// Numbers up to this go to the left.
    threshold: f64,
    /// Whether a missing number goes to the left.
    missing_left: bool,
    /// The next place on the left and on the right: a node, or a leaf as -1 - its place.
    next: [isize; 2],
}

/// A tree in a file: its nodes (number, threshold, whether missing goes left, next left and right) and its leaves.
#[derive(Serialize, Deserialize)]
struct Line {
    nodes: Vec<(usize, f64, u8, isize, isize)>,
    leaves: Vec<f64>,
}

impl Tree {
    /// The tree with each of its values times `share`, to six digits: the mean of two forests is all their trees with half
    /// their values.
    pub(crate) fn scaled(mut self, share: f64) -> Self {
        for leaf in &mut self.leaves {
            *leaf = (*leaf * share * 1e6).round() / 1e6;
        }
        self
    }

    /// The value that the tree adds for a row. NaN is missing, and so is a number that the row does not have.
    pub(crate) fn value(&self, numbers: &[f64]) -> f64 {
        let mut at = 0_isize;
        // A tree without a question has one leaf.
        while let Some(node) = usize::try_from(at).ok().and_then(|at| self.nodes.get(at)) {
            let number = numbers.get(node.number).copied().unwrap_or(f64::NAN);
            let is_left = if number.is_nan() { node.missing_left } else { number <= node.threshold };
            at = node.next[usize::from(!is_left)];
        }
        let leaf = usize::try_from(-1 - at).unwrap_or_default();
        self.leaves.get(leaf).copied().unwrap_or_default()
    }

    /// The length of a row that has all numbers that the tree uses.
    pub(crate) fn numbers(&self) -> usize {
        self.nodes.iter().map(|node| node.number.saturating_add(1)).max().unwrap_or_default()
    }

    /// The largest absolute value that the tree adds.
    pub(crate) fn largest(&self) -> f64 {
        self.leaves.iter().map(|leaf| leaf.abs()).fold(0.0, f64::max)
    }
}

impl From<Tree> for Line {
    fn from(tree: Tree) -> Self {
        let node = |node: &Node| {
            (node.number, node.threshold, u8::from(node.missing_left), node.next[0], node.next[1])
        };
        Self { nodes: tree.nodes.iter().map(node).collect(), leaves: tree.leaves }
    }
}

impl TryFrom<Line> for Tree {
    type Error = &'static str;

    fn try_from(line: Line) -> Result<Self, Self::Error> {
        let (nodes, leaves) = (line.nodes.len(), line.leaves.len());
        let is_place = |at: usize, next: isize| match usize::try_from(next) {
            // Paths only lead forward, so that they end.
            Ok(next) => next > at && next < nodes,
            Err(_) => usize::try_from(-1 - next).is_ok_and(|leaf| leaf < leaves),
        };
        let is_whole = line
            .nodes
            .iter()
            .enumerate()
            .all(|(at, node)| node.1.is_finite() && is_place(at, node.3) && is_place(at, node.4));
        if !is_whole || leaves == 0 || !line.leaves.iter().all(|leaf| leaf.is_finite()) {
            return Err("a tree is damaged: a way in it leads nowhere, or a number is none");
        }
        let node = |(number, threshold, missing_left, left, right)| Node {
            number,
            threshold,
            missing_left: missing_left != 0,
            next: [left, right],
        };
        Ok(Self { nodes: line.nodes.into_iter().map(node).collect(), leaves: line.leaves })
    }
}

/// The probability for log-odds.
pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
