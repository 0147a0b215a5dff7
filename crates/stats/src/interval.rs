//! Standard errors and intervals of one value: [`Estimate`], [`Interval`].
//!
//! Intervals are BCa, bias-corrected and accelerated: Efron (1987), "Better bootstrap confidence intervals";
//! Efron and Tibshirani (1993), "An introduction to the bootstrap", chapter 14. Unlike the value plus and
//! minus standard errors they follow skewed distributions and stay within [0, 1] for ratios that do.

use statrs::distribution::{ContinuousCDF, Normal};

/// A value and its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The value on the actual set.
    pub value: f64,
    /// The standard deviation of the resamples, in the unit of the value; `None` with fewer than two
    /// trajectories or resamples.
    pub standard_error: Option<f64>,
    /// `None` with fewer than two trajectories, if a value is NaN, and for a level outside (0, 1).
    pub interval: Option<Interval>,
}

/// An interval that covers the true value in about as many sets as its level says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The method by which it was computed.
    pub method: Method,
}

/// The method of computing an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Bias-corrected and accelerated.
    Bca,
    /// Plain quantiles of the resamples, if BCa is not defined: all resamples are on one side of the value, or
    /// leaving out a trajectory never changes it, or the corrected quantiles are outside of the distribution.
    Percentile,
    /// All resamples are equal, for example because every call was matched: the interval is the value alone. This
    /// does not mean certainty, because the bootstrap only sees what the trajectories show: after n trajectories
    /// without a miss, up to about 3 / n of all trajectories may still have one (the rule of three, at 95 %).
    Constant,
}

/// The data of an estimate.
pub(super) struct Distribution {
    /// The value on the actual set.
    pub point: f64,
    /// The values of the resamples, in any order.
    pub resamples: Vec<f64>,
    /// The values without each trajectory in turn.
    pub jackknife: Vec<f64>,
    /// Values that differ by no more than this count as equal.
    pub rounding: f64,
}

impl Distribution {
    pub(super) fn estimate(mut self, level: f64) -> Estimate {
        let standard_error = standard_deviation(&self.resamples);
        self.resamples.sort_unstable_by(f64::total_cmp);
        Estimate { value: self.point, standard_error, interval: self.interval(level) }
    }

    /// The interval; the resamples must be sorted.
    fn interval(&self, level: f64) -> Option<Interval> {
        let (first, last) = (self.resamples.first()?, self.resamples.last()?);
        // In a sorted list, NaN and infinities are at the ends.
        let finite = [*first, *last, self.point].iter().chain(&self.jackknife).all(|value| value.is_finite());
        let possible = level > 0.0 && level < 1.0;
        if !finite || !possible {
            return None;
        }
        if last - first <= self.rounding {
            return Some(Interval { low: self.point, high: self.point, method: Method::Constant });
        }
        let (tail, normal) = ((1.0 - level) / 2.0, Normal::standard());
        let (shares, method) = match self.bca_shares(normal.inverse_cdf(tail)) {
            Some(shares) => (shares, Method::Bca),
            None => ([tail, 1.0 - tail], Method::Percentile),
        };
        let [low, high] = shares.map(|share| quantile(&self.resamples, share));
        Some(Interval { low, high, method })
    }

    /// The quantiles of the resamples at the ends of the interval: equation 14.10 of Efron and Tibshirani, where `z`
    /// is the normal quantile of the lower end, below 0. `None` if this is not defined.
    fn bca_shares(&self, z: f64) -> Option<[f64; 2]> {
        let (bias, acceleration) = (self.bias()?, self.acceleration()?);
        let corrected = |z: f64| {
            let stretch = 1.0 - acceleration * (bias + z);
            // Where `stretch` is 0 or less, the ends of the interval would be swapped.
            (stretch > 0.0).then(|| Normal::standard().cdf(bias + (bias + z) / stretch))
        };
        Some([corrected(z)?, corrected(-z)?])
    }

    /// The bias correction, z0: how far the point is from the median of the resamples, in normal quantiles.
    ///
    /// Resamples equal to the point count half below, half above: ratios of counts are often equal.
    fn bias(&self) -> Option<f64> {
        let below = self.resamples.partition_point(|value| *value < self.point - self.rounding);
        let not_above = self.resamples.partition_point(|value| *value <= self.point + self.rounding);
        let share = (below + not_above) as f64 / 2.0 / self.resamples.len() as f64;
        (share > 0.0 && share < 1.0).then(|| Normal::standard().inverse_cdf(share))
    }

    /// The acceleration: a sixth of the skewness of the jackknife values (equation 14.15).
    fn acceleration(&self) -> Option<f64> {
        let mean = self.jackknife.iter().sum::<f64>() / self.jackknife.len() as f64;
        let from_mean = || self.jackknife.iter().map(|value| mean - value);
        let largest = from_mean().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        if largest <= self.rounding {
            return None;
        }
        let squares: f64 = from_mean().map(|value| value.powi(2)).sum();
        let cubes: f64 = from_mean().map(|value| value.powi(3)).sum();
        Some(cubes / (6.0 * squares.powf(1.5)))
    }
}

/// The sample standard deviation; `None` for fewer than two values.
pub(super) fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The quantile of sorted values, of which there is at least one: the value at (n + 1) x share, counted from 1,
/// interpolated; the first or the last value beyond the ends (type 6 of Hyndman and Fan, 1996).
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (share * (sorted.len() + 1) as f64 - 1.0).clamp(0.0, (sorted.len() - 1) as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to indices")]
    let index = place.floor() as usize;
    let next = sorted[(index + 1).min(sorted.len() - 1)];
    sorted[index] + (place - place.floor()) * (next - sorted[index])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Ratio, Task, ratio, simulate};
    use crate::{Draws, LEVEL, bootstrap};

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
    }

    /// Abramowitz and Stegun, tables 26.1 (the distribution) and 26.5 (its quantiles). The library's distribution has
    /// eleven correct digits; no interval shows more than five.
    #[test]
    fn the_normal_distribution_is_that_of_the_tables() {
        let normal = Normal::standard();
        near(normal.cdf(0.0), 0.5, 1e-15);
        near(normal.cdf(1.0), 0.841_344_746_068_543, 1e-10);
        near(normal.cdf(-2.0), 0.022_750_131_948_179, 1e-10);
        near(normal.inverse_cdf(0.975), 1.959_963_984_540_054, 1e-13);
        near(normal.inverse_cdf(0.8), 0.841_621_233_572_914, 1e-13);
        near(normal.inverse_cdf(0.001), -3.090_232_306_167_814, 1e-13);
    }

    #[test]
    fn quantiles_are_interpolated_and_end_at_the_ends() {
        let sorted = [1.0, 2.0, 4.0];
        near(quantile(&sorted, 0.5), 2.0, 0.0);
        near(quantile(&sorted, 0.25), 1.0, 0.0);
        near(quantile(&sorted, 0.625), 3.0, 1e-15);
        near(quantile(&sorted, 0.001), 1.0, 0.0);
        near(quantile(&sorted, 1.0), 4.0, 0.0);
        near(quantile(&[5.0], 0.3), 5.0, 0.0);
    }

    /// The spatial test data of Efron and Tibshirani (1993), table 14.1, A of 26 children. Their variance
    /// with denominator n is 171.5, its acceleration 0.061 (section 14.3) and, of 2,000 resamples, the 90 %
    /// interval (115.8, 259.6). The tighter values are those of scipy 1.17.1, `scipy.stats.bootstrap` with
    /// 400,000 resamples: (97.9, 235.8) by percentiles, (116.0, 261.7) by BCa, 0.571 of the resamples below
    /// the point.
    #[test]
    fn the_published_example_of_bca_is_reproduced() {
        let children = [
            48.0, 36.0, 20.0, 29.0, 42.0, 42.0, 20.0, 42.0, 22.0, 41.0, 45.0, 14.0, 6.0, 0.0, 33.0, 28.0,
            34.0, 4.0, 32.0, 24.0, 47.0, 41.0, 24.0, 26.0, 30.0, 41.0,
        ];
        let sums = children.map(|value: f64| Ratio { numerator: value, denominator: value * value });
        let draws = Draws { count: 50_000, ..Draws::default() };
        let variance = |sums: &Ratio, n: f64| sums.denominator / n - (sums.numerator / n).powi(2);
        let spatial = bootstrap(&[sums.to_vec()], |sums| [variance(sums, 26.0)], &draws).unwrap();
        let mut resamples: Vec<f64> = spatial.by_resample().map(|values| values[0][0]).collect();
        resamples.sort_unstable_by(f64::total_cmp);

        let total = children.iter().sum::<f64>();
        let squares = children.iter().map(|value| value * value).sum::<f64>();
        let without = |value: f64| {
            variance(&Ratio { numerator: total - value, denominator: squares - value * value }, 25.0)
        };
        let distribution = Distribution {
            point: spatial.points()[0][0],
            resamples,
            jackknife: children.iter().map(|&value| without(value)).collect(),
            rounding: 0.0,
        };
        near(distribution.point, 171.5, 0.05);
        near(distribution.acceleration().unwrap(), 0.061, 0.0005);
        near(distribution.bias().unwrap(), Normal::standard().inverse_cdf(0.571), 0.015);
        near(quantile(&distribution.resamples, 0.05), 97.9, 1.5);
        near(quantile(&distribution.resamples, 0.95), 235.8, 1.5);
        let interval = distribution.interval(0.9).unwrap();
        near(interval.low, 116.0, 1.5);
        near(interval.high, 261.7, 2.5);
        assert_eq!(interval.method, Method::Bca);
    }

    /// The interval covers the true ratio in about 95 of 100 sets, and misses it on both sides.
    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let (mut covered, mut too_low, mut too_high) = (0, 0, 0);
        for set in 0..300 {
            let trajectories = 60 + usize::try_from(set % 41).unwrap();
            let model = simulate(set, trajectories, Task::chance);
            let draws = Draws { count: 800, seed: set, ..Draws::default() };
            let interval =
                bootstrap(&[model], ratio, &draws).unwrap().estimate(0, 0, LEVEL).interval.unwrap();
            assert_eq!(interval.method, Method::Bca);
            let truth = Task::truth();
            covered += u32::from(interval.low <= truth && truth <= interval.high);
            too_low += u32::from(interval.high < truth);
            too_high += u32::from(truth < interval.low);
        }
        assert!(
            (270..=294).contains(&covered),
            "{covered} of 300 cover, {too_low} too low, {too_high} too high"
        );
        assert!(too_low >= 1 && too_high >= 1, "{too_low} too low, {too_high} too high");
    }

    /// The standard error of a mean is s / sqrt(n), where s has the denominator n as in the bootstrap.
    #[test]
    fn the_standard_error_of_a_mean_is_the_textbooks() {
        let values: Vec<f64> = (0..50).map(|index| f64::from(index % 7)).collect();
        let mean = values.iter().sum::<f64>() / 50.0;
        let expected = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()).sqrt() / 50.0;
        let resamples = bootstrap(&[values], |&sum: &f64| [sum / 50.0], &Draws::default()).unwrap();
        near(resamples.estimate(0, 0, LEVEL).standard_error.unwrap(), expected, expected * 0.03);
    }

    #[test]
    fn equal_resamples_are_one_constant_whatever_the_rounding() {
        // 0.1 n / n does not have the same bits for all n.
        let trajectory =
            |calls: u32| Ratio { numerator: 0.1 * f64::from(calls), denominator: f64::from(calls) };
        let model: Vec<Ratio> = (1..40).map(trajectory).collect();
        let draws = Draws { count: 200, ..Draws::default() };
        let estimate = bootstrap(&[model], ratio, &draws).unwrap().estimate(0, 0, LEVEL);
        let interval = estimate.interval.unwrap();
        assert_eq!(interval.method, Method::Constant);
        near(interval.low, 0.1, 1e-15);
        near(interval.high, 0.1, 1e-15);
        near(estimate.standard_error.unwrap(), 0.0, 1e-15);
    }

    fn distribution(point: f64, resamples: Vec<f64>, jackknife: Vec<f64>) -> Distribution {
        Distribution { point, resamples, jackknife, rounding: 1e-12 }
    }

    #[test]
    fn percentiles_stand_in_where_bca_is_undefined() {
        let resamples = || (0..100).map(f64::from).collect::<Vec<_>>();
        let method = |point: f64, jackknife: &[f64], level: f64| {
            distribution(point, resamples(), jackknife.to_vec()).estimate(level).interval.unwrap().method
        };
        assert_eq!(method(50.0, &[1.0, 2.0, 4.0], LEVEL), Method::Bca);
        assert_eq!(method(-1.0, &[1.0, 2.0, 4.0], LEVEL), Method::Percentile, "all above");
        assert_eq!(method(50.0, &[1.0; 3], LEVEL), Method::Percentile, "no acceleration");
        // One outlier gives the largest possible acceleration, 1/6, so the formula breaks down from z0 + z = 6 on.
        let mut outlier = vec![0.0; 2000];
        outlier[0] = -1.0;
        assert_eq!(method(98.0, &outlier, LEVEL), Method::Bca);
        assert_eq!(method(98.0, &outlier, 0.999_999), Method::Percentile, "beyond the pole");
    }

    #[test]
    fn nothing_and_nonsense_have_no_interval() {
        assert_eq!(distribution(1.0, vec![], vec![]).estimate(LEVEL).interval, None);
        assert_eq!(distribution(1.0, vec![1.0, f64::NAN], vec![1.0, 2.0]).estimate(LEVEL).interval, None);
        assert_eq!(distribution(1.0, vec![1.0, 2.0], vec![1.0, f64::NAN]).estimate(LEVEL).interval, None);
        for level in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
            assert_eq!(
                distribution(1.0, vec![1.0, 2.0], vec![1.0, 2.0]).estimate(level).interval,
                None,
                "{level}"
            );
        }
    }
}
