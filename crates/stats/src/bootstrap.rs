//! The bootstrap: [`bootstrap`] draws whole trajectories with replacement and gives [`Resamples`].
//!
//! Efron (1979), "Bootstrap methods: another look at the jackknife". Every resample draws the same
//! trajectories for all models, so that differences of models are paired and ranks are those of one imagined
//! set of tasks. [`estimates`] does the same for many models with less memory.

use rand::RngExt;

use super::draws::Purpose;
use super::interval::Distribution;
use super::{Additive, DifferentLengths, Draws, Estimate, ROUNDING, common_length};

/// The values of M metrics: for the models, for their resamples, and with each trajectory left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Resamples<const M: usize> {
    /// `[models]`.
    points: Vec<[f64; M]>,
    /// `[resamples x models]`, stored by resample.
    resampled: Vec<[f64; M]>,
    /// The values without each trajectory in turn, `[trajectories x models]`.
    jackknife: Vec<[f64; M]>,
}

/// Resamples the trajectories of all models together.
///
/// `models` is `[models][trajectories]`: the contribution of each trajectory to the sums. `statistic` computes the
/// values of M metrics from such sums; it should be finite for the sums of any trajectories, since an estimate with a
/// NaN has no interval. With fewer than two trajectories nothing can be resampled: there are points only. Takes time
/// models x trajectories x `draws.count`, and memory models x M x `draws.count` x 8 bytes.
///
/// # Errors
/// [`DifferentLengths`] when not all models have the same number of trajectories.
pub fn bootstrap<S: Additive, const M: usize>(
    models: &[Vec<S>],
    statistic: impl Fn(&S) -> [f64; M] + Sync,
    draws: &Draws,
) -> Result<Resamples<M>, DifferentLengths> {
    let trajectories = common_length(models)?;
    let points = models.iter().map(|model| statistic(&sum(model))).collect();
    let mut jackknife = vec![[0.0; M]; trajectories * models.len()];
    for (index, model) in models.iter().enumerate() {
        let values = jackknife.iter_mut().skip(index).step_by(models.len());
        values.zip(leave_one_out(model)).for_each(|(value, others)| *value = statistic(&others));
    }
    let rows = if trajectories < 2 { 0 } else { draws.count };
    let mut resampled = vec![[0.0; M]; rows * models.len()];
    draws.fill_rows(&mut resampled, models.len(), |draw, values| {
        let mut random = draws.random(Purpose::Resample, draw);
        let mut counts = vec![0.0; trajectories];
        for _ in 0..trajectories {
            counts[random.random_range(0..trajectories)] += 1.0;
        }
        for (value, model) in values.iter_mut().zip(models) {
            *value = statistic(&weighted_sum(model, &counts));
        }
    });
    Ok(Resamples { points, resampled, jackknife })
}

/// The most bytes of resampled values that [`estimates`] keeps at once.
const MOST_AT_ONCE: usize = 32 << 20;

/// The estimates of M metrics of each model, `[models]`, with intervals of `level`, and the resamples of the metric
/// `kept`, by which models can be compared.
///
/// The results are equal to those of [`bootstrap`] and [`Resamples::estimate`], digit for digit. A few models are
/// resampled at a time, all with the same draws. This needs the memory for the metric `kept` only, models x
/// `draws.count` x 8 bytes, instead of M times as much.
///
/// # Errors
/// [`DifferentLengths`] if the models have different numbers of trajectories.
///
/// # Panics
/// When there is no metric `kept`.
pub fn estimates<S: Additive, const M: usize>(
    models: &[Vec<S>],
    statistic: impl Fn(&S) -> [f64; M] + Sync,
    kept: usize,
    level: f64,
    draws: &Draws,
) -> Result<(Vec<[Estimate; M]>, Resamples<1>), DifferentLengths> {
    let trajectories = common_length(models)?;
    let at_once = MOST_AT_ONCE / (M * size_of::<f64>() * draws.count.max(1));
    let unknown = Estimate { value: f64::NAN, standard_error: None, interval: None };
    let mut rows = vec![[unknown; M]; models.len()];
    let mut all = Resamples {
        points: Vec::with_capacity(models.len()),
        resampled: vec![[0.0]; if trajectories < 2 { 0 } else { draws.count } * models.len()],
        jackknife: vec![[0.0]; trajectories * models.len()],
    };
    let width = models.len();
    for (models, rows) in models.chunks(at_once.max(1)).zip(rows.chunks_mut(at_once.max(1))) {
        let some = bootstrap(models, &statistic, draws)?;
        draws.fill_rows(rows, 1, |model, estimates| {
            estimates[0] = std::array::from_fn(|metric| some.estimate(model, metric, level));
        });
        all.append(&some, kept, width);
    }
    Ok((rows, all))
}

impl Resamples<1> {
    /// Adds one metric of further models. `width` is the final number of models.
    fn append<const M: usize>(&mut self, others: &Resamples<M>, metric: usize, width: usize) {
        let (first, count) = (self.points.len(), others.points.len());
        let copy = |values: &mut [[f64; 1]], others: &[[f64; M]]| {
            for (values, others) in values.chunks_mut(width).zip(others.chunks(count)) {
                for (value, other) in values[first..].iter_mut().zip(others) {
                    value[0] = other[metric];
                }
            }
        };
        copy(&mut self.resampled, &others.resampled);
        copy(&mut self.jackknife, &others.jackknife);
        self.points.extend(others.points.iter().map(|values| [values[metric]]));
    }
}

fn sum<S: Additive>(model: &[S]) -> S {
    model.iter().fold(S::default(), |mut sum, &trajectory| {
        sum += trajectory;
        sum
    })
}

fn weighted_sum<S: Additive>(model: &[S], weights: &[f64]) -> S {
    let mut sum = S::default();
    for (&trajectory, &weight) in model.iter().zip(weights) {
        // More than a third of the trajectories are not drawn.
        if weight > 0.0 {
            sum += trajectory * weight;
        }
    }
    sum
}

/// The sums without each trajectory in turn.
///
/// Adds the trajectories before to those after instead of subtracting one from the whole: this loses no digits, and a
/// sum of nothing is exactly 0.
pub fn leave_one_out<S: Additive>(model: &[S]) -> impl Iterator<Item = S> {
    let mut after = vec![S::default(); model.len() + 1];
    for (index, &trajectory) in model.iter().enumerate().rev() {
        after[index] = trajectory;
        let rest = after[index + 1];
        after[index] += rest;
    }
    let mut before = S::default();
    model.iter().zip(after.into_iter().skip(1)).map(move |(&trajectory, after)| {
        let mut others = before;
        others += after;
        before += trajectory;
        others
    })
}

impl<const M: usize> Resamples<M> {
    /// The number of models.
    #[must_use]
    pub fn models(&self) -> usize {
        self.points.len()
    }

    /// The number of resamples: zero with fewer than two trajectories.
    #[must_use]
    pub fn count(&self) -> usize {
        self.by_resample().len()
    }

    /// The number of trajectories of each model.
    #[must_use]
    pub fn trajectories(&self) -> usize {
        self.jackknife.len() / self.models().max(1)
    }

    /// The values of the models on the actual set, `[models]`.
    #[must_use]
    pub fn points(&self) -> &[[f64; M]] {
        &self.points
    }

    /// The values of all models in each resample, `[resamples][models]`.
    #[must_use]
    pub fn by_resample(&self) -> impl ExactSizeIterator<Item = &[[f64; M]]> {
        // Without models there are no values, but the size of a chunk must not be 0.
        self.resampled.chunks(self.models().max(1))
    }

    /// The value of one metric of one model, its standard error and its interval of `level`, in (0, 1).
    ///
    /// # Panics
    /// When there is no such model or metric.
    #[must_use]
    pub fn estimate(&self, model: usize, metric: usize, level: f64) -> Estimate {
        let point = self.points[model][metric];
        self.distribution(point.abs(), |values| values[model][metric], level)
    }

    /// `first` - `second` in one metric, its standard error and its interval of `level`, in (0, 1); both are paired:
    /// the difficulty of a task for both models cancels out.
    ///
    /// # Panics
    /// When there is no such model or metric.
    #[must_use]
    pub fn difference(&self, first: usize, second: usize, metric: usize, level: f64) -> Estimate {
        let scale = self.points[first][metric].abs().max(self.points[second][metric].abs());
        self.distribution(scale, |values| values[first][metric] - values[second][metric], level)
    }

    /// What each trajectory contributes to the values of the models, `[trajectories x models]`: the value of the set
    /// plus (trajectories - 1) x how much leaving out the trajectory lowers the value below the mean of all such
    /// values.
    ///
    /// The mean of these pseudo-values is the value of the set, unlike that of Tukey's pseudo-values.
    pub(super) fn pseudo_values(&self) -> Vec<[f64; M]> {
        let (models, trajectories) = (self.models(), self.trajectories() as f64);
        let mut means = vec![[0.0; M]; models];
        for (index, values) in self.jackknife.iter().enumerate() {
            for (mean, value) in means[index % models].iter_mut().zip(values) {
                *mean += value / trajectories;
            }
        }
        let pseudo_value = |(index, values): (usize, &[f64; M])| {
            let (point, mean) = (self.points[index % models], means[index % models]);
            std::array::from_fn(|metric| {
                point[metric] + (trajectories - 1.0) * (mean[metric] - values[metric])
            })
        };
        self.jackknife.iter().enumerate().map(pseudo_value).collect()
    }

    /// The estimate of a quantity that `value` computes from the values of all models. `scale` is the magnitude of
    /// these values, for rounding errors.
    fn distribution(&self, scale: f64, value: impl Fn(&[[f64; M]]) -> f64, level: f64) -> Estimate {
        let distribution = Distribution {
            point: value(&self.points),
            resamples: self.by_resample().map(&value).collect(),
            jackknife: self.jackknife.chunks(self.models()).map(&value).collect(),
            rounding: ROUNDING * scale,
        };
        distribution.estimate(level)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::simulation::{Ratio, Task, ratio, simulate};
    use crate::{LEVEL, Method};

    fn models(count: u64, trajectories: usize) -> Vec<Vec<Ratio>> {
        (0..count).map(|seed| simulate(seed, trajectories, Task::chance)).collect()
    }

    fn draws(count: usize) -> Draws {
        Draws { count, ..Draws::default() }
    }

    #[test]
    fn every_run_and_every_number_of_threads_gives_the_same_bits() {
        let models = models(3, 40);
        let resamples = |threads| {
            let draws = Draws { threads: NonZero::new(threads), ..draws(200) };
            bootstrap(&models, ratio, &draws).unwrap()
        };
        let first = resamples(1);
        for threads in [1, 2, 3, 8, 0] {
            assert_eq!(resamples(threads), first, "{threads} threads");
        }
        let other = bootstrap(&models, ratio, &Draws { seed: 7, ..draws(200) }).unwrap();
        assert_ne!(other, first);
    }

    /// Pinned on the machine where this was written; other numbers would mean that every published interval changes.
    #[test]
    fn the_draws_of_a_seed_never_change() {
        let places: Vec<f64> = (0..8).map(|place| 10_f64.powi(place)).collect();
        let resamples = bootstrap(&[places], |&sum: &f64| [sum], &draws(3)).unwrap();
        let drawn: Vec<f64> = resamples.by_resample().map(|values| values[0][0]).collect();
        assert_eq!(
            drawn,
            [31_201_010.0, 2_030_102.0, 1_002_212.0],
            "each digit says how often that trajectory was drawn"
        );
    }

    #[test]
    fn a_resample_draws_the_same_trajectories_for_all_models() {
        let mut models = models(1, 30);
        models.push(models[0].clone());
        let resamples = bootstrap(&models, ratio, &draws(100)).unwrap();
        assert_eq!(resamples.count(), 100);
        assert!(
            resamples.by_resample().all(|values| values[0].map(f64::to_bits) == values[1].map(f64::to_bits))
        );
        let difference = resamples.difference(0, 1, 0, LEVEL);
        assert_eq!(difference.interval.map(|interval| interval.method), Some(Method::Constant));
    }

    #[test]
    fn each_trajectory_is_left_out_once() {
        let models = vec![vec![1.0, 2.0, 4.0], vec![10.0, 20.0, 40.0]];
        let resamples = bootstrap(&models, |&sum: &f64| [sum], &draws(10)).unwrap();
        assert_eq!(resamples.points(), [[7.0], [70.0]]);
        assert_eq!(resamples.jackknife, [[6.0], [60.0], [5.0], [50.0], [3.0], [30.0]]);
    }

    /// A resample has as many trajectories as the set, each drawn with the same probability.
    #[test]
    fn resamples_are_as_large_as_the_set() {
        let models = vec![vec![Ratio { numerator: 1.0, denominator: 0.5 }; 6]];
        let size = |sums: &Ratio| [sums.numerator, sums.denominator];
        let resamples = bootstrap(&models, size, &draws(50)).unwrap();
        assert!(resamples.by_resample().all(|values| values == [[6.0, 3.0]]));

        let one_of_ten: Vec<f64> = (0..10).map(|index| f64::from(u8::from(index == 3))).collect();
        let resamples = bootstrap(&[one_of_ten], |&sum: &f64| [sum], &draws(10_000)).unwrap();
        let mean = resamples.by_resample().map(|values| values[0][0]).sum::<f64>() / 10_000.0;
        // Binomial(10, 1/10): mean 1, and the mean of 10,000 has the standard error 0.0095.
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn without_trajectories_there_are_points_only() {
        let resamples = bootstrap(&[Vec::new(), Vec::new()], ratio, &draws(10)).unwrap();
        assert_eq!((resamples.models(), resamples.count()), (2, 0));
        let estimate = resamples.estimate(1, 0, LEVEL);
        assert_eq!((estimate.standard_error, estimate.interval), (None, None));
        assert_eq!(estimate.value.to_bits(), 1.0_f64.to_bits(), "a ratio of nothing is 1 in these tests");
    }

    /// Estimates do not depend on how many models are resampled at once.
    #[test]
    fn estimates_of_many_models_are_those_of_all_at_once() {
        let models = models(9, 20);
        let statistic = |sums: &Ratio| [sums.numerator, ratio(sums)[0]];
        // The values of three models exceed the limit, so two are resampled first and one after them.
        let draws = draws(MOST_AT_ONCE / (2 * 16) - 1000);
        let (found, kept) = estimates(&models[..3], statistic, 1, LEVEL, &draws).unwrap();
        let all = bootstrap(&models[..3], statistic, &draws).unwrap();
        for (model, estimates) in found.iter().enumerate() {
            assert_eq!(*estimates, [0, 1].map(|metric| all.estimate(model, metric, LEVEL)));
        }
        assert_eq!(kept, bootstrap(&models[..3], ratio, &draws).unwrap());
        let few = Draws { count: 100, ..draws };
        let (_, kept) = estimates(&models, statistic, 1, LEVEL, &few).unwrap();
        assert_eq!(kept, bootstrap(&models, ratio, &few).unwrap());
    }

    #[test]
    fn one_trajectory_has_no_interval() {
        let resamples = bootstrap(&models(2, 1), ratio, &draws(10)).unwrap();
        assert_eq!(resamples.count(), 0);
        assert_eq!(resamples.estimate(0, 0, LEVEL).interval, None);
        assert_eq!(resamples.difference(0, 1, 0, LEVEL).interval, None);
    }

    #[test]
    fn no_models_are_no_error() {
        let resamples = bootstrap(&Vec::<Vec<Ratio>>::new(), ratio, &draws(10)).unwrap();
        assert_eq!((resamples.models(), resamples.count()), (0, 0));
    }

    #[test]
    fn models_of_different_length_are_refused() {
        let error = bootstrap(&[vec![1.0], vec![1.0, 2.0]], |&sum: &f64| [sum], &draws(10)).unwrap_err();
        assert_eq!(error, DifferentLengths { model: 1, found: 2, expected: 1 });
        assert_eq!(error.to_string(), "model 1 has 2 trajectories, the first model 1");
    }
}
