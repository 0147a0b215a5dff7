//! How certain a comparison of models is: intervals, paired differences, ranks.
//!
//! The metrics of a set are ratios of sums over its trajectories, and the calls of one trajectory belong together. So
//! the unit of resampling is always the whole trajectory, never the call: sums are drawn or left out trajectory by
//! trajectory, and the ratios computed anew. A model is a `Vec` of sums, one per trajectory; models that are compared
//! have the same trajectories in the same order.
//!
//! ```text
//! sums of models -> bootstrap -> Resamples -> Estimate of a model, of a difference
//!                                          -> RankInterval
//!                                          -> flip test -> p-values -> holm -> tie_groups
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | `draws` | the number of draws, their random numbers and threads |
//! | `bootstrap` | sums of drawn trajectories, the same draws for all models |
//! | `interval` | BCa intervals and standard errors |
//! | `paired` | tests of the difference of two models, Holm's correction, detectable differences |
//! | `bound` | the same tests without permutations, for many models |
//! | `pass` | pass@k and pass^k of repeated tasks, the spread over repetitions |
//! | `resample` | resamples of other statistics, such as the place of a maximum |
//! | `rank` | ranks with intervals, groups of models that do not differ significantly |
//! | [`agreement`] | agreement of raters, scores of a panel, true rates corrected for the errors of a judge |
//!
//! Everything is the same on every run and on any number of threads: each draw has its own random numbers, made from
//! the seed and the number of the draw.
//!
//! ```
//! use m3_stats::agreement::{Weights, cohen_kappa};
//! use m3_stats::{Trials, pass_all, pass_at};
//!
//! // Three of five trials passed. Of two, one or both pass with 1 - C(2,2)/C(5,2), both with C(3,2)/C(5,2).
//! let trials = Trials { count: 5, passed: 3 };
//! assert!((pass_at(trials, 2).unwrap() - 0.9).abs() < 1e-12);
//! assert!((pass_all(trials, 2).unwrap() - 0.3).abs() < 1e-12);
//! // Two raters who agree on everything.
//! assert_eq!(cohen_kappa(&[(0, 0), (1, 1), (1, 1)], Weights::None), Some(1.0));
//! ```

#![forbid(unsafe_code)]

pub mod agreement;
mod bootstrap;
mod bound;
mod draws;
mod interval;
mod paired;
mod pass;
mod rank;
mod resample;
#[cfg(test)]
mod simulation;

use std::ops::{AddAssign, Mul};

pub use bootstrap::{Resamples, bootstrap, estimates, leave_one_out};
pub use bound::{FlipBounds, least_bound, tail_constant};
pub use draws::Draws;
pub use interval::{Estimate, Interval, Method};
pub use paired::{holm, least_p_value, pairs, smallest_detectable_difference};
pub use pass::{PassRate, PassRates, Spread, Trials, pass_all, pass_at};
pub use rank::{RankInterval, groups, tie_groups};
pub use resample::{percentiles, resampled};

/// The usual level of intervals.
pub const LEVEL: f64 = 0.95;

/// The usual significance level of tests: the accepted share of false alarms.
pub const SIGNIFICANCE: f64 = 0.05;

/// The usual power of tests: the share of true differences that should be found.
pub const POWER: f64 = 0.8;

/// Values that differ by less than this, relative to their size, differ only by rounding.
const ROUNDING: f64 = 1e-12;

/// Sums over trajectories; `default()` is the sum of no trajectories.
pub trait Additive: Copy + Default + Send + Sync + AddAssign + Mul<f64, Output = Self> {}

impl<T> Additive for T where T: Copy + Default + Send + Sync + AddAssign + Mul<f64, Output = T> {}

/// Two models have different numbers of trajectories, so these cannot belong to the same tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("model {model} has {found} trajectories, the first model {expected}")]
pub struct DifferentLengths {
    /// The index of the model, counted from 0.
    pub model: usize,
    /// The number of its trajectories.
    pub found: usize,
    /// The number of trajectories of the first model.
    pub expected: usize,
}

/// The number of trajectories of every model; 0 without models.
fn common_length<S>(models: &[Vec<S>]) -> Result<usize, DifferentLengths> {
    let expected = models.first().map_or(0, Vec::len);
    match models.iter().position(|model| model.len() != expected) {
        Some(model) => Err(DifferentLengths { model, found: models[model].len(), expected }),
        None => Ok(expected),
    }
}
