//! Rates of success over repeated trials of tasks: [`pass_at`], [`pass_all`], [`PassRates`], and how much a metric
//! varies over repetitions: [`Spread`].
//!
//! pass@k is the chance that at least one of k trials passes: Chen et al. (2021), "Evaluating large language models
//! trained on code", equation 1. pass^k is the chance that all of k trials pass: Yao et al. (2024), "τ-bench",
//! section 2. Both are means over all choices of k of a task's n trials, which makes them unbiased, unlike 1 - (1 -
//! c/n)^k and (c/n)^k for c passes.

use std::ops::{AddAssign, Mul};

use super::interval::standard_deviation;
use super::{DifferentLengths, Draws, Estimate, Resamples, bootstrap, estimates};

/// The trials of one task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Trials {
    /// The number of trials, n.
    pub count: u32,
    /// The number of trials that passed, c; at most `count`.
    pub passed: u32,
}

/// The estimator of pass@k: 1 - C(n-c, k) / C(n, k), in [0, 1]. `None` if it is not defined: k is 0 or above n, or
/// there are more passes than trials.
#[must_use]
pub fn pass_at(trials: Trials, k: u32) -> Option<f64> {
    let failed = trials.count.checked_sub(trials.passed)?;
    if k == 1 {
        // For k = 1 both are the share of passes, to the last digit.
        return pass_all(trials, k);
    }
    Some(1.0 - share_of_choices(failed, trials.count, k)?)
}

/// The estimator of pass^k: C(c, k) / C(n, k), in [0, 1]. `None` as for [`pass_at`].
#[must_use]
pub fn pass_all(trials: Trials, k: u32) -> Option<f64> {
    share_of_choices(trials.passed, trials.count, k)
}

/// C(some, k) / C(all, k): of all choices of k of `all`, the share that contains only the first `some`. It is computed
/// as a product of ratios, none above 1, because the binomials may be too large for a float.
fn share_of_choices(some: u32, all: u32, k: u32) -> Option<f64> {
    if k == 0 || k > all || some > all {
        return None;
    }
    if k > some {
        return Some(0.0);
    }
    Some((0..k).map(|taken| f64::from(some - taken) / f64::from(all - taken)).product())
}

/// Sums over tasks of their rates, in the order of [`PassRate::ALL`], and the number of tasks.
#[derive(Debug, Clone, Copy, Default)]
struct RateSums {
    sums: [f64; 3],
    tasks: f64,
}

impl AddAssign for RateSums {
    fn add_assign(&mut self, other: Self) {
        self.tasks += other.tasks;
        for (sum, other) in self.sums.iter_mut().zip(other.sums) {
            *sum += other;
        }
    }
}

impl Mul<f64> for RateSums {
    type Output = Self;

    fn mul(self, weight: f64) -> Self {
        Self { sums: self.sums.map(|sum| sum * weight), tasks: self.tasks * weight }
    }
}

/// The order of pass@1, pass@k and pass^k in [`PassRates`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassRate {
    /// The share of trials that pass, each task counting the same.
    Once,
    /// pass@k.
    AtK,
    /// pass^k.
    AllK,
}

impl PassRate {
    /// All rates, in their order.
    pub const ALL: [PassRate; 3] = [PassRate::Once, PassRate::AtK, PassRate::AllK];

    /// The rate's name for `k` trials, such as `pass@3`.
    #[must_use]
    pub fn name(self, k: u32) -> String {
        match self {
            PassRate::Once => "pass@1".to_owned(),
            PassRate::AtK => format!("pass@{k}"),
            PassRate::AllK => format!("pass^{k}"),
        }
    }
}

/// pass@1, pass@k and pass^k of models, in the order of [`PassRate::ALL`], as means over tasks, each task with the
/// same weight. All trials of a task are one unit of resampling, because a hard task is hard in every trial.
#[derive(Debug, Clone)]
pub struct PassRates {
    /// `[models][tasks]`.
    units: Vec<Vec<RateSums>>,
}

impl PassRates {
    /// `models` is `[models][tasks]`, the same tasks for all, so that differences are paired. Tasks with fewer than k
    /// trials of any model are left out; [`Self::tasks`] is the number of the others.
    ///
    /// # Errors
    /// [`DifferentLengths`] when not all models have the same number of tasks.
    pub fn new(models: &[Vec<Trials>], k: u32) -> Result<Self, DifferentLengths> {
        let tasks = super::common_length(models)?;
        let of = |trials: Trials| {
            let rates = [pass_at(trials, 1)?, pass_at(trials, k)?, pass_all(trials, k)?];
            Some(RateSums { sums: rates, tasks: 1.0 })
        };
        let has_all = |task: &usize| models.iter().all(|model| of(model[*task]).is_some());
        let kept: Vec<usize> = (0..tasks).filter(has_all).collect();
        let units = models.iter().map(|model| kept.iter().filter_map(|task| of(model[*task])).collect());
        Ok(Self { units: units.collect() })
    }

    /// The number of tasks that have k trials of all models.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.units.first().map_or(0, Vec::len)
    }

    /// The rates of all models, resampled, for their differences. Without any task they are NaN.
    ///
    /// # Errors
    /// Never: all models have the same tasks.
    pub fn resamples(&self, draws: &Draws) -> Result<Resamples<3>, DifferentLengths> {
        bootstrap(&self.units, means, draws)
    }

    /// The rates of each model with intervals of `level`, `[models]`. Only a few models are in memory at a time.
    ///
    /// # Errors
    /// Never: all models have the same tasks.
    pub fn estimates(&self, level: f64, draws: &Draws) -> Result<Vec<[Estimate; 3]>, DifferentLengths> {
        Ok(estimates(&self.units, means, 0, level, draws)?.0)
    }
}

fn means(rates: &RateSums) -> [f64; 3] {
    rates.sums.map(|sum| sum / rates.tasks)
}

/// How much a value varies over repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation, with the denominator n - 1; `None` for a single value.
    pub deviation: Option<f64>,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Spread {
    /// The spread of these values; `None` if there are none.
    #[must_use]
    pub fn from_values(values: &[f64]) -> Option<Self> {
        let min = values.iter().copied().min_by(f64::total_cmp)?;
        let max = values.iter().copied().max_by(f64::total_cmp)?;
        // Rounding must not move the mean of equal values away from them.
        let mean = (values.iter().sum::<f64>() / values.len() as f64).clamp(min, max);
        Some(Self { mean, deviation: standard_deviation(values), min, max })
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::LEVEL;

    fn near(value: Option<f64>, expected: f64) {
        let value = value.unwrap();
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    fn resampled(models: &[Vec<Trials>], k: u32, draws: &Draws) -> Resamples<3> {
        PassRates::new(models, k).unwrap().resamples(draws).unwrap()
    }

    fn trials(count: u32, passed: u32) -> Trials {
        Trials { count, passed }
    }

    /// By hand. n = 5, c = 2: C(3,2)/C(5,2) = 3/10, C(2,2)/C(5,2) = 1/10. n = 4, c = 1: C(3,2)/C(4,2) = 3/6.
    #[test]
    fn the_estimators_are_those_of_the_papers() {
        near(pass_at(trials(5, 2), 2), 0.7);
        near(pass_all(trials(5, 2), 2), 0.1);
        near(pass_at(trials(4, 1), 2), 0.5);
        near(pass_all(trials(4, 1), 2), 0.0);
        near(pass_at(trials(3, 2), 1), 2.0 / 3.0);
        near(pass_at(trials(3, 2), 3), 1.0);
        near(pass_all(trials(3, 2), 3), 0.0);
    }

    /// The shares of the subsets of k of n trials in which any, or all, pass: counted one by one.
    #[test]
    fn they_are_the_means_over_all_subsets() {
        for n in 1..=8_u32 {
            for c in 0..=n {
                for k in 1..=n {
                    let subsets: Vec<u32> = (0..1_u32 << n).filter(|set| set.count_ones() == k).collect();
                    // The first c trials pass.
                    let passing = |set: &u32| (set & ((1 << c) - 1)).count_ones();
                    let share = |count: usize| count as f64 / subsets.len() as f64;
                    let any = subsets.iter().filter(|set| passing(set) > 0).count();
                    let all = subsets.iter().filter(|set| passing(set) == k).count();
                    near(pass_at(trials(n, c), k), share(any));
                    near(pass_all(trials(n, c), k), share(all));
                }
            }
        }
    }

    #[test]
    fn one_trial_is_the_share_of_passes_and_more_trials_only_help_or_only_harm() {
        for n in [1, 2, 7, 100, 5_000, 1_000_000] {
            for c in [0, 1, n / 3, n - 1, n] {
                let of = trials(n, c.min(n));
                assert_eq!(pass_at(of, 1), pass_all(of, 1));
                near(pass_all(of, 1), f64::from(of.passed) / f64::from(n));
                for k in 1..n.min(200) {
                    assert!(pass_at(of, k + 1).unwrap() >= pass_at(of, k).unwrap() - 1e-15, "{of:?} {k}");
                    assert!(pass_all(of, k + 1).unwrap() <= pass_all(of, k).unwrap(), "{of:?} {k}");
                }
                for rate in [pass_at(of, n.min(200)), pass_all(of, n.min(200))] {
                    assert!(rate.is_some_and(|rate| (0.0..=1.0).contains(&rate)), "{rate:?}");
                }
            }
        }
    }

    #[test]
    fn more_than_there_are_trials_is_not_known() {
        assert_eq!(pass_at(trials(2, 0), 3), None);
        assert_eq!(pass_all(trials(2, 2), 3), None);
        assert_eq!(pass_at(trials(2, 1), 0), None);
        assert_eq!(pass_at(trials(0, 0), 1), None);
        assert_eq!(pass_at(trials(1, 2), 1), None);
        assert_eq!(pass_all(trials(1, 2), 1), None);
    }

    /// Three tasks with 3, 1 and 0 passes of 3: pass@1 = 4/9, pass@2 = (1 + 2/3 + 0) / 3, pass^2 = (1 + 0 + 0) / 3.
    /// The one with two trials has no pass@3.
    #[test]
    fn rates_are_means_over_the_tasks_that_have_them() {
        let tasks = vec![trials(3, 3), trials(3, 1), trials(3, 0)];
        let draws = Draws { count: 200, ..Draws::default() };
        let sample = resampled(std::slice::from_ref(&tasks), 2, &draws);
        for (value, expected) in sample.points()[0].iter().zip([4.0 / 9.0, 5.0 / 9.0, 1.0 / 3.0]) {
            near(Some(*value), expected);
        }
        let with_fewer: Vec<Trials> = tasks.iter().copied().chain([trials(2, 2)]).collect();
        let sample = resampled(std::slice::from_ref(&with_fewer), 3, &draws);
        assert_eq!(sample.trajectories(), 3);
        near(Some(sample.points()[0][1]), 2.0 / 3.0);
        // A pair is compared on the tasks that both have.
        let [second, first] = [with_fewer, vec![trials(3, 1); 4]];
        let sample = resampled(&[first, second], 3, &draws);
        assert_eq!(sample.trajectories(), 3);
        let none = resampled(&[tasks], 9, &draws);
        assert!(none.trajectories() == 0 && none.points()[0][1].is_nan());
        assert_eq!(none.estimate(0, 1, LEVEL).interval, None);
    }

    /// Tasks that always pass or never do: five times as many trials add no information, so the interval is as wide
    /// as with one trial each. If trials were drawn separately, it would be narrower by the square root of five.
    #[test]
    fn trials_of_a_task_are_kept_together() {
        let tasks =
            |count: u32| (0..40).map(|task| trials(count, count * u32::from(task % 2 == 0))).collect();
        let draws = Draws { count: 2_000, ..Draws::default() };
        let width = |count| {
            let interval = resampled(&[tasks(count)], 1, &draws).estimate(0, 0, LEVEL).interval.unwrap();
            interval.high - interval.low
        };
        assert!((width(1) - width(5)).abs() < 1e-12, "{} {}", width(1), width(5));
        // 2 x 1.96 x sqrt(0.25 / 40), the normal interval of a share of 40.
        assert!((width(5) - 0.31).abs() < 0.03, "{}", width(5));
    }

    /// Tasks of three trials, whose chance to pass is uniform in [0, 1]: the true pass@3 is 1 - 1/4, pass^3 is 1/4.
    /// About 95 of 100 intervals cover them.
    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let mut covered = [0, 0];
        for set in 0..200 {
            let mut random = ChaCha8Rng::seed_from_u64(set);
            let task = |random: &mut ChaCha8Rng| {
                let chance: f64 = random.random();
                trials(3, (0..3).map(|_| u32::from(random.random_bool(chance))).sum())
            };
            let tasks: Vec<Trials> = (0..40).map(|_| task(&mut random)).collect();
            let sample = resampled(&[tasks], 3, &Draws { count: 800, seed: set, ..Draws::default() });
            for (covered, (rate, truth)) in covered.iter_mut().zip([(1, 0.75), (2, 0.25)]) {
                let interval = sample.estimate(0, rate, LEVEL).interval.unwrap();
                *covered += u32::from(interval.low <= truth && truth <= interval.high);
            }
        }
        assert!(covered.iter().all(|covered| (180..=198).contains(covered)), "{covered:?} of 200");
    }

    /// For 1, 2 and 6: mean 3; squares 4 + 1 + 9 = 14, divided by 2.
    #[test]
    fn a_spread_has_the_sample_deviation() {
        let spread = Spread::from_values(&[2.0, 6.0, 1.0]).unwrap();
        assert_eq!((spread.min, spread.max), (1.0, 6.0));
        near(Some(spread.mean), 3.0);
        near(spread.deviation, 7_f64.sqrt());
        assert_eq!(Spread::from_values(&[0.5]).unwrap().deviation, None);
        assert_eq!(Spread::from_values(&[]), None);
    }
}
