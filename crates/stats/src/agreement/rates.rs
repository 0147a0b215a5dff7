//! Shares with intervals, and the true share behind a judge that errs: [`wilson`], [`double_sampled`].
//!
//! Wilson (1927), "Probable inference, the law of succession, and statistical inference"; Tenenbein (1970), "A double
//! sampling scheme for estimating from binomial data with misclassifications".

use statrs::distribution::{ContinuousCDF, Normal};

/// A share with its interval, all in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The share itself.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The score interval of Wilson (1927) of `successes` among `trials`, without correction for continuity. Unlike the
/// share plus and minus standard errors it holds for small numbers and for shares of 0 and 1.
///
/// `None` without trials, with more successes than trials, and for a level outside (0, 1).
#[must_use]
pub fn wilson(successes: u64, trials: u64, level: f64) -> Option<Share> {
    if trials == 0 || successes > trials {
        return None;
    }
    let share = score_interval(successes as f64 / trials as f64, trials as f64, quantile(level)?);
    let low = if successes == 0 { 0.0 } else { share.low };
    let high = if successes == trials { 1.0 } else { share.high };
    Some(Share { low, high, ..share })
}

/// Wilson's interval of a share, in [0, 1], over `trials` that may succeed in part, such as a mean of probabilities.
///
/// `None` without trials, for a share outside [0, 1], and for a level outside (0, 1).
#[must_use]
pub fn share_interval(share: f64, trials: u64, level: f64) -> Option<Share> {
    let is_share = trials > 0 && (0.0..=1.0).contains(&share);
    is_share.then_some(())?;
    Some(score_interval(share, trials as f64, quantile(level)?))
}

fn score_interval(value: f64, n: f64, z: f64) -> Share {
    let centre = value + z * z / (2.0 * n);
    let half = z * (value * (1.0 - value) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    Share { value, low: (centre - half) / scale, high: (centre + half) / scale }
}

/// A judge's verdicts on subjects whose truth is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Judgements {
    /// Passes that the judge calls passes.
    pub true_positives: u64,
    /// Passes that the judge calls failures.
    pub false_negatives: u64,
    /// Failures that the judge calls failures.
    pub true_negatives: u64,
    /// Failures that the judge calls passes.
    pub false_positives: u64,
}

impl Judgements {
    /// Passes among the subjects whose truth is known.
    #[must_use]
    pub fn positives(&self) -> u64 {
        self.true_positives + self.false_negatives
    }

    /// Failures among the subjects whose truth is known.
    #[must_use]
    pub fn negatives(&self) -> u64 {
        self.true_negatives + self.false_positives
    }

    /// The squared correlation of judge and truth, with half a subject added to each count.
    fn squared_correlation(&self) -> f64 {
        let counts = [self.true_positives, self.false_negatives, self.true_negatives, self.false_positives];
        let [hit, miss, rejected, false_alarm] = counts.map(|count| count as f64 + 0.5);
        let covariance = hit * rejected - miss * false_alarm;
        let spread = (hit + miss) * (rejected + false_alarm) * (hit + false_alarm) * (rejected + miss);
        covariance.powi(2) / spread
    }
}

/// The true share of passes, if a judge passes `passed` of `judged` subjects and the truth of some of these is known.
/// This is Tenenbein's (1970) estimate: the share of true passes among known subjects that the judge passes, weighted
/// by how many of all subjects it passes, plus the same for those that it fails.
///
/// The subjects whose truth is known are some of the judged ones, drawn at random. The judge's verdicts on the others
/// count as much as they reveal about the truth: K, the squared correlation of verdicts and truth. The variance is that
/// of `1 / ((1 - K) / known + K / judged)` subjects with known truth, and the interval is Wilson's for this number of
/// subjects; if the truth of all is known, it depends on the known shares alone. K is computed with half a subject
/// added to each of the four counts, so that few subjects cannot make a judge look perfect. If the truth is known only
/// of subjects that the judge passes, or only of those that it fails, the known share is used alone.
///
/// `None` without known truth, if more is known than was judged, and for a level outside (0, 1).
#[must_use]
pub fn double_sampled(passed: u64, judged: u64, known: &Judgements, level: f64) -> Option<Share> {
    let count = |count: u64| count as f64;
    let known_passed = known.true_positives + known.false_positives;
    let known_failed = known.true_negatives + known.false_negatives;
    let number = known_passed + known_failed;
    if number == 0 || passed > judged || known_passed > passed || known_failed > judged - passed {
        return None;
    }
    let (value, told) = if known_passed == 0 || known_failed == 0 {
        (count(known.positives()) / count(number), 0.0)
    } else {
        let passed = count(passed) / count(judged);
        let true_pass = count(known.true_positives) / count(known_passed);
        let missed_pass = count(known.false_negatives) / count(known_failed);
        (passed * true_pass + (1.0 - passed) * missed_pass, known.squared_correlation())
    };
    let worth = 1.0 / ((1.0 - told) / count(number) + told / count(judged));
    let share = score_interval(value, worth, quantile(level)?);
    Some(Share { low: share.low.max(0.0), high: share.high.min(1.0), ..share })
}

/// The normal quantile of the upper end of an interval.
fn quantile(level: f64) -> Option<f64> {
    (level > 0.0 && level < 1.0).then(|| Normal::standard().inverse_cdf(f64::midpoint(1.0, level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_newcombe() {
        // Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I, method 3.
        for (successes, trials, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = wilson(successes, trials, 0.95).unwrap();
            assert!((interval.low - low).abs() < 5e-5 && (interval.high - high).abs() < 5e-5, "{interval:?}");
        }
        assert_eq!(wilson(7, 7, 0.95).map(|share| share.high), Some(1.0));
        assert_eq!([wilson(0, 0, 0.95), wilson(2, 1, 0.95), wilson(1, 2, 1.0)], [None; 3]);
    }

    #[test]
    fn a_rate_is_corrected_by_what_is_known() {
        // By hand: 40 of 100 pass. Of 20 known among the passed 15 are right, of 20 known among the failed 2 are wrong:
        // 0.4 x 15/20 + 0.6 x 2/20 = 0.36. With halves added 15.5, 2.5, 18.5, 5.5: K = (15.5 x 18.5 - 2.5 x 5.5)^2 /
        // (18 x 24 x 21 x 21); the interval is Wilson's of 1 / ((1 - K) / 40 + K / 100) subjects.
        let known =
            Judgements { true_positives: 15, false_negatives: 2, true_negatives: 18, false_positives: 5 };
        let rate = double_sampled(40, 100, &known, 0.95).unwrap();
        assert!((rate.value - 0.36).abs() < 1e-12, "{rate:?}");
        let share = 273_f64.powi(2) / (18.0 * 24.0 * 21.0 * 21.0);
        let (n, z) = (1.0 / ((1.0 - share) / 40.0 + share / 100.0), 1.959_963_985_f64);
        let half = z * (0.36 * 0.64 / n + z * z / (4.0 * n * n)).sqrt() / (1.0 + z * z / n);
        assert!((rate.high - rate.low - 2.0 * half).abs() < 1e-8, "{rate:?}");
    }

    #[test]
    fn where_all_is_known_the_judge_changes_nothing() {
        for (hit, miss, rejected, alarm) in [(40, 5, 50, 5), (8, 0, 1, 1), (3, 7, 2, 8), (10, 0, 0, 0)] {
            let known = Judgements {
                true_positives: hit,
                false_negatives: miss,
                true_negatives: rejected,
                false_positives: alarm,
            };
            let all = hit + miss + rejected + alarm;
            let rate = double_sampled(hit + alarm, all, &known, 0.95).unwrap();
            let labels = wilson(hit + miss, all, 0.95).unwrap();
            for (rate, label) in
                [(rate.value, labels.value), (rate.low, labels.low), (rate.high, labels.high)]
            {
                assert!((rate - label).abs() < 1e-12, "{rate} is not {label}");
            }
        }
    }

    #[test]
    fn what_is_not_known_is_not_made_up() {
        let passes_only = Judgements { true_positives: 3, false_positives: 1, ..Judgements::default() };
        // No truth is known of the subjects that the judge fails: only the labels count.
        let rate = double_sampled(50, 100, &passes_only, 0.95).unwrap();
        assert!((rate.value - 0.75).abs() < 1e-12 && rate.high - rate.low > 0.5, "{rate:?}");
        // A judge that was always right so far is still not certain.
        let right = Judgements { true_positives: 3, true_negatives: 3, ..Judgements::default() };
        let rate = double_sampled(500, 1000, &right, 0.95).unwrap();
        assert!((rate.value - 0.5).abs() < 1e-12 && rate.high - rate.low > 0.2, "{rate:?}");
        let none = Judgements::default();
        assert_eq!(double_sampled(5, 10, &none, 0.95), None);
        // More is known than was judged.
        assert_eq!(double_sampled(2, 10, &passes_only, 0.95), None);
        assert_eq!(double_sampled(5, 10, &passes_only, 1.0), None);
    }

    /// Simulated tasks and judges with a known truth; each share is of 2,000 sets with a standard error of 0.005.
    #[test]
    fn intervals_of_corrected_rates_cover_the_truth_as_often_as_they_say() {
        use rand::rngs::ChaCha8Rng;
        use rand::{RngExt, SeedableRng};
        const SETS: u32 = 2000;
        for (seed, (truth, sensitivity, specificity)) in
            [(0.5, 0.8, 0.8), (0.8, 0.9, 0.7), (0.3, 0.7, 0.9), (0.5, 0.6, 0.6)].into_iter().enumerate()
        {
            for labelled in [20, 50, 100] {
                let mut random = ChaCha8Rng::seed_from_u64(seed as u64);
                let mut covered = 0;
                for _ in 0..SETS {
                    let (mut known, mut passed) = (Judgements::default(), 0);
                    for task in 0..100 {
                        let is_good = random.random_bool(truth);
                        let chance = if is_good { sensitivity } else { 1.0 - specificity };
                        let is_passed = random.random_bool(chance);
                        passed += u64::from(is_passed);
                        if task < labelled {
                            *match (is_good, is_passed) {
                                (true, true) => &mut known.true_positives,
                                (true, false) => &mut known.false_negatives,
                                (false, false) => &mut known.true_negatives,
                                (false, true) => &mut known.false_positives,
                            } += 1;
                        }
                    }
                    let rate = double_sampled(passed, 100, &known, 0.95).unwrap();
                    covered += u32::from(rate.low <= truth && truth <= rate.high);
                }
                let share = f64::from(covered) / f64::from(SETS);
                // Even if all is labelled, Wilson's interval is not exact at 100 tasks.
                assert!((0.925..=0.975).contains(&share), "{truth} {labelled}: {share}");
            }
        }
    }
}
