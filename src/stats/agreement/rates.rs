//! Shares with intervals, and the true share behind a judge that errs: [`wilson`], [`rogan_gladen`].
//!
//! Wilson (1927), "Probable inference, the law of succession, and statistical inference"; Rogan and Gladen (1978),
//! "Estimating prevalence from the results of a screening test".

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
    let (n, value, z) = (trials as f64, successes as f64 / trials as f64, quantile(level)?);
    let centre = value + z * z / (2.0 * n);
    let half = z * (value * (1.0 - value) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    let low = if successes == 0 { 0.0 } else { (centre - half) / scale };
    let high = if successes == trials { 1.0 } else { (centre + half) / scale };
    Some(Share { value, low, high })
}

/// What a judge says of subjects whose truth is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Judgements {
    /// Passes that it calls passes.
    pub true_positives: u64,
    /// Passes that it calls failures.
    pub false_negatives: u64,
    /// Failures that it calls failures.
    pub true_negatives: u64,
    /// Failures that it calls passes.
    pub false_positives: u64,
}

/// The share of passes behind a judge that errs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrectedRate {
    /// The share of passes that the judge calls passes.
    pub sensitivity: f64,
    /// The share of failures that the judge calls failures.
    pub specificity: f64,
    /// The share of passes by the judge, corrected, in [0, 1].
    pub rate: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Judgements {
    /// Passes among those whose truth is known.
    #[must_use]
    pub fn positives(&self) -> u64 {
        self.true_positives + self.false_negatives
    }

    /// Failures among those whose truth is known.
    #[must_use]
    pub fn negatives(&self) -> u64 {
        self.true_negatives + self.false_positives
    }
}

/// The true share of passes among `judged` subjects of which the judge passes `passed`, given what it makes of subjects
/// whose truth is known: (p + specificity - 1) / (sensitivity + specificity - 1), cut to [0, 1].
///
/// The interval is the normal one of Rogan and Gladen (1978), which has the errors of all three shares, but each share
/// enters its variance with one success and one failure added, so that a judge that made no mistake among few is not
/// taken for certain. It supposes that the subjects with known truth are drawn at random.
///
/// `None` without passes or without failures of known truth, where the judge is no better than chance (sensitivity
/// and specificity add up to 1 or less), and for a level outside (0, 1).
#[must_use]
pub fn rogan_gladen(passed: u64, judged: u64, known: &Judgements, level: f64) -> Option<CorrectedRate> {
    let (positives, negatives) = (known.positives(), known.negatives());
    if judged == 0 || passed > judged || positives == 0 || negatives == 0 {
        return None;
    }
    let share = |count: u64, of: u64| count as f64 / of as f64;
    let sensitivity = share(known.true_positives, positives);
    let specificity = share(known.true_negatives, negatives);
    let strength = sensitivity + specificity - 1.0;
    if strength <= 0.0 {
        return None;
    }
    let rate = ((share(passed, judged) + specificity - 1.0) / strength).clamp(0.0, 1.0);
    let variance = |count: u64, of: u64| {
        let share = (count as f64 + 1.0) / (of as f64 + 2.0);
        share * (1.0 - share) / (of as f64 + 2.0)
    };
    let spread = variance(passed, judged)
        + rate.powi(2) * variance(known.true_positives, positives)
        + (1.0 - rate).powi(2) * variance(known.true_negatives, negatives);
    let half = quantile(level)? * spread.sqrt() / strength;
    let (low, high) = ((rate - half).max(0.0), (rate + half).min(1.0));
    Some(CorrectedRate { sensitivity, specificity, rate, low, high })
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
            let found = wilson(successes, trials, 0.95).unwrap();
            assert!((found.low - low).abs() < 5e-5 && (found.high - high).abs() < 5e-5, "{found:?}");
        }
        assert_eq!(wilson(7, 7, 0.95).map(|share| share.high), Some(1.0));
        assert_eq!([wilson(0, 0, 0.95), wilson(2, 1, 0.95), wilson(1, 2, 1.0)], [None; 3]);
    }

    #[test]
    fn a_rate_is_corrected_for_the_judges_errors() {
        // By hand: 30 of 100 pass, sensitivity 0.9, specificity 0.8: (0.3 - 0.2) / 0.7 = 1/7. The variance is
        // (31/102)(71/102)/102 + (1/49)(46/52)(6/52)/52 + (36/49)(41/52)(11/52)/52 with 50 known of each kind.
        let known =
            Judgements { true_positives: 45, false_negatives: 5, true_negatives: 40, false_positives: 10 };
        let found = rogan_gladen(30, 100, &known, 0.95).unwrap();
        assert!((found.rate - 1.0 / 7.0).abs() < 1e-12, "{found:?}");
        assert_eq!((found.sensitivity, found.specificity), (0.9, 0.8));
        let variance: f64 = 31.0 * 71.0 / 102_f64.powi(3)
            + 46.0 * 6.0 / 52_f64.powi(3) / 49.0
            + 36.0 / 49.0 * 41.0 * 11.0 / 52_f64.powi(3);
        let half = 1.959_963_985 * variance.sqrt() / 0.7;
        assert!((found.high - (found.rate + half)).abs() < 1e-8, "{found:?}");
        assert!(found.low.abs() < 1e-12, "the rest of the interval would be below 0");
    }

    #[test]
    fn a_judge_that_tells_nothing_corrects_nothing() {
        let half =
            Judgements { true_positives: 5, false_negatives: 5, true_negatives: 5, false_positives: 5 };
        assert_eq!(rogan_gladen(5, 10, &half, 0.95), None);
        let without_failures = Judgements { true_positives: 5, ..Judgements::default() };
        assert_eq!(rogan_gladen(5, 10, &without_failures, 0.95), None);
        // One that is always right changes nothing, and is not certain all the same.
        let right = Judgements { true_positives: 10, true_negatives: 10, ..Judgements::default() };
        let found = rogan_gladen(6, 10, &right, 0.95).unwrap();
        assert!((found.rate - 0.6).abs() < 1e-12, "{found:?}");
        assert!(found.high - found.low > 0.5, "{found:?}");
    }
}
