//! Agreement of any number of raters, with missing values: [`krippendorff_alpha`].
//!
//! Krippendorff (2011), "Computing Krippendorff's alpha-reliability".

/// The kind of scale, which decides how differences between values count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Values are names: different or not.
    Nominal,
    /// Values have an order.
    Ordinal,
    /// Values have distances.
    Interval,
}

/// Alpha: at most 1; 0 if raters agree as much as by chance. `units` has for each subject the value of each rater, or
/// `None`; subjects with fewer than two values are left out, as are values that are not finite.
///
/// `None` if no subject has two values, or all values are equal.
#[must_use]
pub fn krippendorff_alpha(units: &[Vec<Option<f64>>], scale: Scale) -> Option<f64> {
    let units: Vec<Vec<f64>> = units
        .iter()
        .map(|unit| unit.iter().flatten().copied().filter(|value| value.is_finite()).collect::<Vec<f64>>())
        .filter(|unit| unit.len() >= 2)
        .collect();
    let mut values: Vec<f64> = units.iter().flatten().copied().collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let place = |value: f64| values.partition_point(|other| *other < value);
    let mut totals = vec![0.0; values.len()];
    for value in units.iter().flatten() {
        totals[place(*value)] += 1.0;
    }
    let difference = Difference { scale, values: &values, totals: &totals };
    let mut observed = 0.0;
    for unit in &units {
        let of_unit: f64 = unit
            .iter()
            .flat_map(|first| unit.iter().map(move |second| (*first, *second)))
            .map(|(first, second)| difference.squared(place(first), place(second)))
            .sum();
        observed += of_unit / (unit.len() as f64 - 1.0);
    }
    let mut expected = 0.0;
    for first in 0..values.len() {
        for second in 0..values.len() {
            expected += totals[first] * totals[second] * difference.squared(first, second);
        }
    }
    let count: f64 = totals.iter().sum();
    (expected > 0.0).then(|| 1.0 - (count - 1.0) * observed / expected)
}

/// The squared differences of section C.4, for values given by their index in the sorted list.
struct Difference<'a> {
    scale: Scale,
    values: &'a [f64],
    totals: &'a [f64],
}

impl Difference<'_> {
    fn squared(&self, first: usize, second: usize) -> f64 {
        if first == second {
            return 0.0;
        }
        match self.scale {
            Scale::Nominal => 1.0,
            Scale::Interval => (self.values[first] - self.values[second]).powi(2),
            Scale::Ordinal => {
                let (low, high) = (first.min(second), first.max(second));
                let between: f64 = self.totals[low..=high].iter().sum();
                (between - f64::midpoint(self.totals[low], self.totals[high])).powi(2)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::near;

    /// The subjects of a table with a line for each rater, `.` where a value is missing.
    fn units(raters: &[&str]) -> Vec<Vec<Option<f64>>> {
        let rows: Vec<Vec<Option<f64>>> = raters
            .iter()
            .map(|row| row.split_whitespace().map(|value| value.parse().ok()).collect())
            .collect();
        (0..rows[0].len()).map(|unit| rows.iter().map(|row| row[unit]).collect()).collect()
    }

    #[test]
    fn four_observers_and_twelve_units_of_krippendorff() {
        // Krippendorff (2011), section C: nominal 0.743, ordinal 0.815, interval 0.849.
        let units = units(&[
            "1 2 3 3 2 1 4 1 2 . . .",
            "1 2 3 3 2 2 4 1 2 5 . 3",
            ". 3 3 3 2 3 4 2 2 5 1 .",
            "1 2 3 3 2 4 4 1 2 5 1 .",
        ]);
        for (scale, alpha) in [(Scale::Nominal, 0.743), (Scale::Ordinal, 0.815), (Scale::Interval, 0.849)] {
            near(krippendorff_alpha(&units, scale), alpha, 5e-4);
        }
    }

    #[test]
    fn two_observers_and_two_values_of_krippendorff() {
        // Krippendorff (2011), section A: 0.095.
        let units = units(&["0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"]);
        near(krippendorff_alpha(&units, Scale::Nominal), 0.095, 5e-4);
    }

    #[test]
    fn three_coders_and_fifteen_units() {
        // The example of the article "Krippendorff's alpha" of Wikipedia: nominal 0.691, interval 0.811.
        let units = units(&[
            ". . . . . 3 4 1 2 1 1 3 3 . 3",
            "1 . 2 1 3 3 4 3 . . . . . . .",
            ". . 2 1 3 4 4 . 2 1 1 3 3 . 4",
        ]);
        near(krippendorff_alpha(&units, Scale::Nominal), 0.691, 5e-4);
        near(krippendorff_alpha(&units, Scale::Interval), 0.811, 5e-4);
    }

    #[test]
    fn what_is_not_defined_is_none() {
        assert_eq!(krippendorff_alpha(&[], Scale::Interval), None);
        assert_eq!(krippendorff_alpha(&units(&["1 2 3"]), Scale::Interval), None, "a single rater");
        assert_eq!(krippendorff_alpha(&units(&["1 1", "1 1"]), Scale::Interval), None, "a single value");
        let with_nan = vec![vec![Some(f64::NAN), Some(1.0)], vec![Some(1.0), Some(2.0)]];
        // One unit with two values is left: observed 2, expected 2, alpha 1 - 1 x 2 / 2.
        near(krippendorff_alpha(&with_nan, Scale::Interval), 0.0, 1e-12);
    }
}
