//! Simulated trajectories with a known truth, for the tests of this crate.

use std::ops::{AddAssign, Mul};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// The numerator and the denominator of a ratio, as sums.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Ratio {
    pub numerator: f64,
    pub denominator: f64,
}

impl AddAssign for Ratio {
    fn add_assign(&mut self, other: Self) {
        self.numerator += other.numerator;
        self.denominator += other.denominator;
    }
}

impl Mul<f64> for Ratio {
    type Output = Self;

    fn mul(self, weight: f64) -> Self {
        Self { numerator: self.numerator * weight, denominator: self.denominator * weight }
    }
}

/// The ratio; 1 for sums of nothing.
pub(super) fn ratio(sums: &Ratio) -> [f64; 1] {
    [if sums.denominator < 0.5 { 1.0 } else { sums.numerator / sums.denominator }]
}

/// A simulated task: 1 to 8 calls, and hard or easy for every model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    calls: u32,
    easier: f64,
}

impl Task {
    const MOST_CALLS: u32 = 8;

    /// The chance of each call to be right. Long tasks are harder, so the mean of ratios would differ from the ratio
    /// of sums.
    pub(super) fn chance(self) -> f64 {
        0.85 - 0.04 * f64::from(self.calls) + self.easier
    }

    /// The true ratio of right calls to calls: that of the expected sums, where `easier` cancels out.
    pub(super) fn truth() -> f64 {
        let calls = || (1..=Self::MOST_CALLS).map(|calls| Task { calls, easier: 0.0 });
        let right: f64 = calls().map(|task| f64::from(task.calls) * task.chance()).sum();
        right / calls().map(|task| f64::from(task.calls)).sum::<f64>()
    }

    fn random(random: &mut ChaCha8Rng) -> Self {
        let easier = if random.random_bool(0.5) { 0.12 } else { -0.12 };
        Self { calls: random.random_range(1..=Self::MOST_CALLS), easier }
    }

    fn attempt(self, random: &mut ChaCha8Rng, chance: f64) -> Ratio {
        let right: u32 = (0..self.calls).map(|_| u32::from(random.random_bool(chance))).sum();
        Ratio { numerator: f64::from(right), denominator: f64::from(self.calls) }
    }
}

/// The results of one model on a random set of tasks.
pub(super) fn simulate(seed: u64, trajectories: usize, chance: impl Fn(Task) -> f64) -> Vec<Ratio> {
    let [model, _] = simulate_pair(seed, trajectories, &chance, &chance);
    model
}

/// The results of two models on a random set of tasks.
pub(super) fn simulate_pair(
    seed: u64,
    trajectories: usize,
    first: impl Fn(Task) -> f64,
    second: impl Fn(Task) -> f64,
) -> [Vec<Ratio>; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let attempts = (0..trajectories).map(|_| {
        let task = Task::random(&mut random);
        (task.attempt(&mut random, first(task)), task.attempt(&mut random, second(task)))
    });
    let (first, second) = attempts.unzip();
    [first, second]
}
