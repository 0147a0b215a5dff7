//! The area under the ROC curve: how well a value separates successes from failures.

use std::ops::{AddAssign, Mul};

/// The numbers of pairs of one success and one failure.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MixedPairs {
    /// The number of pairs, weighted.
    pub all: f64,
    /// The number of pairs in which the success has the higher value; a tie counts half.
    pub right: f64,
}

impl MixedPairs {
    /// The share of pairs that are right, in [0, 1]: the area under the receiver operating characteristic.
    /// 0.5 is chance. `None` without pairs, where all succeeded or none did.
    #[must_use]
    pub fn area(self) -> Option<f64> {
        (self.all > 0.0).then(|| self.right / self.all)
    }
}

impl AddAssign for MixedPairs {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.right += other.right;
    }
}

impl Mul<f64> for MixedPairs {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self { all: self.all * times, right: self.right * times }
    }
}

/// A success or a failure, with a value that should be higher for successes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The value.
    pub value: f64,
    /// Whether this is a success.
    pub succeeded: bool,
    /// The unit of the outcome: a resample draws all outcomes of a unit together.
    pub unit: usize,
}

/// Outcomes in the order of their values, so that pairs of many resamples are counted without sorting again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SortedOutcomes(Vec<Outcome>);

impl SortedOutcomes {
    /// Sorts the outcomes; those whose value is not a number are left out.
    #[must_use]
    pub fn new(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let mut sorted: Vec<Outcome> = outcomes.into_iter().filter(|it| !it.value.is_nan()).collect();
        // Adding 0 turns minus zero into zero.
        sorted.sort_by(|a, b| (a.value + 0.0).total_cmp(&(b.value + 0.0)));
        Self(sorted)
    }

    /// The pairs of a success and a failure; each outcome has the weight that `count` gives its unit.
    #[must_use]
    pub fn pairs(&self, count: impl Fn(usize) -> f64) -> MixedPairs {
        let (mut failed, mut succeeded, mut right) = (0.0, 0.0, 0.0);
        for equal in self.0.chunk_by(|a, b| a.value <= b.value && b.value <= a.value) {
            let (mut failed_here, mut succeeded_here) = (0.0, 0.0);
            for outcome in equal {
                let sum = if outcome.succeeded { &mut succeeded_here } else { &mut failed_here };
                *sum += count(outcome.unit);
            }
            right += succeeded_here * (failed + failed_here / 2.0);
            failed += failed_here;
            succeeded += succeeded_here;
        }
        MixedPairs { all: failed * succeeded, right }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(values: &[(f64, bool)]) -> SortedOutcomes {
        let outcome = |(unit, (value, succeeded)): (usize, &(f64, bool))| Outcome {
            value: *value,
            succeeded: *succeeded,
            unit,
        };
        SortedOutcomes::new(values.iter().enumerate().map(outcome))
    }

    fn area(values: &[(f64, bool)]) -> Option<f64> {
        sorted(values).pairs(|_| 1.0).area()
    }

    /// By hand, of six pairs: 0.8 is above both failures, 0.5 above one and tied with the other, 0.2 tied with one.
    #[test]
    fn a_tie_counts_half() {
        let values = [(0.5, true), (0.2, false), (0.8, true), (0.5, false), (0.2, true)];
        let right = 2.0 + 1.5 + 0.5;
        assert_eq!(sorted(&values).pairs(|_| 1.0), MixedPairs { all: 6.0, right });
        assert_eq!(area(&values), Some(right / 6.0));
        assert_eq!(area(&[(-0.0, true), (0.0, false)]), Some(0.5), "the two zeros are equal");
    }

    #[test]
    fn the_order_decides_and_nothing_else() {
        assert_eq!(area(&[(1.0, true), (0.0, false)]), Some(1.0));
        assert_eq!(area(&[(0.0, true), (1e-300, false)]), Some(0.0));
        assert_eq!(area(&[(f64::NAN, false), (0.3, true)]), None, "no number is left out");
    }

    #[test]
    fn one_class_has_no_area() {
        assert_eq!(area(&[(0.3, true), (0.9, true)]), None);
        assert_eq!(area(&[(0.3, false)]), None);
        assert_eq!(area(&[]), None);
    }

    /// An outcome that is drawn twice counts twice; one that is not drawn does not count.
    #[test]
    fn things_count_as_often_as_they_are_drawn() {
        let values = [(0.5, true), (0.2, false), (0.8, false)];
        let drawn = sorted(&values).pairs(|unit| [1.0, 2.0, 0.0][unit]);
        assert_eq!(drawn, MixedPairs { all: 2.0, right: 2.0 });
    }
}
