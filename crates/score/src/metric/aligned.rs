//! An aligned trajectory, with everything that the sums behind metrics need.

use crate::calls::Calls;
use crate::metrics::Pair;
use crate::{Changes, SumAndCount};

/// A matched pair, with what sums over pairs need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatchedPair {
    /// The similarity S, in [tau_weak, 1].
    pub similarity: f64,
    /// Whether S is tau_strong or more.
    pub is_strong: bool,
    /// The fidelity of its arguments, in [0, 1].
    pub fidelity: f64,
    /// The overlaps of the regions of pictures in its arguments, each in [0, 1].
    pub regions: SumAndCount,
}

/// An aligned trajectory, with what sums over trajectories need.
pub struct AlignedTrajectory<'a> {
    /// The matched pairs, by step.
    pub(crate) pairs: &'a [Pair],
    /// The calls of the reference.
    pub(crate) references: &'a Calls,
    /// The sum of the fidelities of all reference calls that were compared, matched or not.
    pub(crate) fidelity: f64,
    /// The agreement of what both trajectories leave behind, if it is known.
    pub(crate) artifact_agreement: Option<f64>,
    /// How well the final replies agree, if that is known.
    pub(crate) answer_agreement: Option<f64>,
    /// The probability that the trajectory did its job, if it is known.
    pub(crate) verdict: Option<f64>,
    /// How well the calls that change something are matched.
    pub(crate) changes: Changes,
}

impl AlignedTrajectory<'_> {
    pub(super) fn matched(&self) -> f64 {
        self.pairs.len() as f64
    }
}
