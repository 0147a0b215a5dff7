//! Sums that do not depend on the order of their terms, and sums with the number of their terms.

use std::fmt;
use std::iter::Sum;
use std::num::ParseIntError;
use std::ops::AddAssign;
use std::str::FromStr;

/// The exact sum of numbers rounded to multiples of 2^-64: the same whatever the order of the terms, which
/// plain floating-point addition is not. For terms of magnitude below 2^30, and fewer than 2^32 of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExactSum(i128);

/// 2^64
const UNIT: f64 = 18_446_744_073_709_551_616.0;

impl ExactSum {
    /// The sum so far.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0 as f64 / UNIT
    }
}

/// Writes the sum in units of 2^-64, so that nothing is lost.
impl fmt::Display for ExactSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ExactSum {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl From<f64> for ExactSum {
    fn from(term: f64) -> Self {
        // Multiplying by a power of two is exact; a conversion that does not fit saturates.
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and rounding is the purpose")]
        Self((term * UNIT).round() as i128)
    }
}

impl AddAssign<f64> for ExactSum {
    fn add_assign(&mut self, term: f64) {
        *self += Self::from(term);
    }
}

impl AddAssign for ExactSum {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        for term in terms {
            sum += term;
        }
        sum
    }
}

/// The sum of values in [0, 1], and their number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SumAndCount {
    /// The sum of the values.
    pub sum: f64,
    /// The number of values.
    pub count: u64,
}

impl From<Option<f64>> for SumAndCount {
    fn from(value: Option<f64>) -> Self {
        Self { sum: value.unwrap_or_default(), count: u64::from(value.is_some()) }
    }
}

impl Sum for SumAndCount {
    fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
        values
            .fold(Self::default(), |a, b| Self { sum: a.sum + b.sum, count: a.count.saturating_add(b.count) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_terms_does_not_matter() {
        let terms = [0.1, 0.7, 1e-9, 0.3, 123.456, 1e5];
        let forward: ExactSum = terms.into_iter().collect();
        let backward: ExactSum = terms.into_iter().rev().collect();
        assert_eq!(forward, backward);
        assert!((forward.value() - 100_124.556_000_001).abs() < 1e-10);
    }
}
