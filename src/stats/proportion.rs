//! Intervals of a share of counts, such as how often one of two was preferred.

use statrs::distribution::{ContinuousCDF, Normal};

/// The interval of Wilson (1927), "Probable inference, the law of succession, and statistical inference", for
/// `successes` of `trials` that do not depend on one another; both ends in [0, 1]. Unlike the usual one it has a width
/// when all or none succeed. `None` without trials, with more successes than trials, and for a level outside (0, 1).
#[must_use]
pub fn wilson(successes: u64, trials: u64, level: f64) -> Option<(f64, f64)> {
    if trials == 0 || successes > trials || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let (count, share) = (trials as f64, successes as f64 / trials as f64);
    let z = Normal::standard().inverse_cdf(f64::midpoint(1.0, level));
    let shrink = 1.0 + z * z / count;
    let middle = (share + z * z / (2.0 * count)) / shrink;
    let half = z * (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt() / shrink;
    // At the ends rounding would leave something beside 0 and 1.
    let low = if successes == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if successes == trials { 1.0 } else { (middle + half).min(1.0) };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::LEVEL;

    /// Newcombe (1998), "Two-sided confidence intervals for the single proportion: comparison of seven methods",
    /// Statistics in Medicine 17, table I, method 3 (the score interval without correction).
    #[test]
    fn the_published_intervals_are_reproduced() {
        for (successes, trials, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let found = wilson(successes, trials, LEVEL).unwrap();
            assert!((found.0 - low).abs() < 5e-5 && (found.1 - high).abs() < 5e-5, "{found:?}");
        }
    }

    /// M³-Bench, section 6.4: the reconstructed trajectory was preferred in 589 of 600 selections. By hand: with
    /// z = 1.959964 the middle is (0.981667 + 0.003201) / 1.006402 = 0.978602 and half the width
    /// 1.959964 sqrt(0.00002999540 + 0.00000266768) / 1.006402 = 0.011130.
    #[test]
    fn the_papers_preference_has_this_interval() {
        let (low, high) = wilson(589, 600, LEVEL).unwrap();
        assert!((low - 0.967_472).abs() < 2e-6 && (high - 0.989_733).abs() < 2e-6, "{low} {high}");
    }

    #[test]
    fn the_ends_are_those_of_shares_and_nonsense_has_none() {
        assert_eq!(wilson(0, 5, LEVEL).unwrap().0.to_bits(), 0.0_f64.to_bits());
        assert_eq!(wilson(5, 5, LEVEL).unwrap().1.to_bits(), 1.0_f64.to_bits());
        for (successes, trials, level) in
            [(0, 0, LEVEL), (2, 1, LEVEL), (1, 2, 0.0), (1, 2, 1.0), (1, 2, f64::NAN)]
        {
            assert_eq!(wilson(successes, trials, level), None);
        }
    }
}
