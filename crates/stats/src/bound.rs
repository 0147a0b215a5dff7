//! Tests of single pairs among many models: [`FlipBounds`].
//!
//! A thousand models have half a million pairs, and a p-value that survives a correction for so many would take
//! hundreds of millions of permutations. [`FlipBounds`] bounds the p-value of the flip test from above without any.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{ROUNDING, Resamples};

/// The contributions of trajectories to one metric of models.
#[derive(Debug, Clone, PartialEq)]
pub struct FlipBounds {
    /// The values of the models, `[models]`.
    points: Vec<f64>,
    /// The contributions of the trajectories, `[models x trajectories]`.
    pseudo_values: Vec<f64>,
    trajectories: usize,
}

/// How many times larger than a normal tail the tail of a sum of numbers with random signs can be: 3.178.
///
/// For numbers whose squares add up to 1, with signs that are + or - with probability 1/2, P(sum >= x) is at most c
/// times P(Z >= x), for every x and any number of them; c = 1 / (4 P(Z >= sqrt 2)) is the smallest such number:
/// Bentkus and Dzindzalieta (2015), "A tight Gaussian bound for weighted sums of Rademacher random variables",
/// Bernoulli 21(2).
#[must_use]
pub fn tail_constant() -> f64 {
    0.25 / Normal::standard().sf(std::f64::consts::SQRT_2)
}

fn bound(standardized: f64) -> f64 {
    (2.0 * tail_constant() * Normal::standard().sf(standardized)).min(1.0)
}

/// The smallest bound that is possible with this many trajectories.
#[must_use]
pub fn least_bound(trajectories: usize) -> f64 {
    // By the Cauchy-Schwarz inequality, no sum is larger than that of equal contributions.
    bound((trajectories as f64).sqrt())
}

impl<const M: usize> Resamples<M> {
    /// The data for tests in one metric. Takes models x trajectories x 8 bytes of memory, and M times that while it
    /// is computed.
    ///
    /// # Panics
    /// When there is no such metric.
    #[must_use]
    pub fn flip_bounds(&self, metric: usize) -> FlipBounds {
        let (models, values) = (self.models(), self.pseudo_values());
        let of_model = |model| values.iter().skip(model).step_by(models).map(|values| values[metric]);
        FlipBounds {
            points: self.points().iter().map(|values| values[metric]).collect(),
            pseudo_values: (0..models).flat_map(of_model).collect(),
            trajectories: self.trajectories(),
        }
    }
}

impl FlipBounds {
    /// An upper bound, in (0, 1], of the two-sided p-value that [`Resamples::flip_test`] has with all permutations. A
    /// test by this bound raises no more false alarms than stated, and finds slightly fewer differences: at p = 1e-7
    /// it requires a difference that is 4 % larger.
    ///
    /// # Panics
    /// When there is no such model.
    #[must_use]
    pub fn p_value(&self, first: usize, second: usize) -> f64 {
        let scale = self.points[first].abs().max(self.points[second].abs());
        let difference = (self.points[first] - self.points[second]).abs();
        if difference <= ROUNDING * scale {
            return 1.0;
        }
        let squares: f64 = self.contributions(first, second).map(|value| value.powi(2)).sum();
        bound(difference * self.trajectories as f64 / squares.sqrt())
    }

    /// The jackknife standard error of the paired difference of two models; NaN with fewer than two trajectories.
    ///
    /// # Panics
    /// When there is no such model.
    #[must_use]
    pub fn standard_error(&self, first: usize, second: usize) -> f64 {
        let (mean, count) = (self.points[first] - self.points[second], self.trajectories as f64);
        let squares: f64 = self.contributions(first, second).map(|value| (value - mean).powi(2)).sum();
        (squares / (count * (count - 1.0))).sqrt()
    }

    fn contributions(&self, first: usize, second: usize) -> impl Iterator<Item = f64> {
        let of = |model: usize| &self.pseudo_values[model * self.trajectories..][..self.trajectories];
        of(first).iter().zip(of(second)).map(|(first, second)| first - second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Task, ratio, simulate_pair};
    use crate::{Draws, LEVEL, bootstrap};

    fn resamples(set: u64, trajectories: usize, worse: f64) -> Resamples<1> {
        let models = simulate_pair(set, trajectories, Task::chance, |task| task.chance() - worse);
        bootstrap(&models, ratio, &Draws { count: 2000, ..Draws::default() }).unwrap()
    }

    /// The constant as published.
    #[test]
    fn the_constant_is_that_of_the_paper() {
        assert!((tail_constant() - 3.178).abs() < 1e-3, "{}", tail_constant());
    }

    /// Up to twelve trajectories the test counts all permutations.
    #[test]
    fn no_p_value_is_above_its_bound() {
        let draws = Draws::default();
        for set in 0..200 {
            let trajectories = 4 + usize::try_from(set % 9).unwrap();
            let resamples = resamples(set, trajectories, 0.03 * (set % 12) as f64);
            let p_value = resamples.flip_test(&[(0, 1)], &draws)[0][0];
            let bound = resamples.flip_bounds(0).p_value(1, 0);
            assert!(p_value <= bound + 1e-12, "{set}: {p_value} > {bound}");
            assert!(bound >= least_bound(trajectories), "{set}: {bound}");
        }
    }

    /// The bound is not far above the p-value: a normal tail times the constant.
    #[test]
    fn the_bound_is_three_times_the_p_value_of_many_trajectories() {
        let resamples = resamples(3, 200, 0.06);
        let p_value = resamples.flip_test(&[(0, 1)], &Draws { count: 50_000, ..Draws::default() })[0][0];
        let ratio = resamples.flip_bounds(0).p_value(0, 1) / p_value;
        assert!(p_value < 0.1 && (2.5..4.0).contains(&ratio), "{p_value}, {ratio}");
    }

    #[test]
    fn the_standard_error_is_that_of_the_bootstrap() {
        let resamples = resamples(4, 150, 0.1);
        let expected = resamples.difference(0, 1, 0, LEVEL).standard_error.unwrap();
        let error = resamples.flip_bounds(0).standard_error(0, 1);
        assert!((error / expected - 1.0).abs() < 0.1, "{error}, {expected}");
    }

    #[test]
    fn equal_models_are_not_told_apart() {
        let [model, _] = simulate_pair(1, 30, Task::chance, Task::chance);
        let draws = Draws { count: 0, ..Draws::default() };
        let bounds = bootstrap(&[model.clone(), model], ratio, &draws).unwrap().flip_bounds(0);
        assert!((bounds.p_value(0, 1) - 1.0).abs() < 1e-12);
    }
}
