//! Agreement of any number of raters: [`fleiss_kappa`].
//!
//! Fleiss (1971), "Measuring nominal scale agreement among many raters".

/// Kappa of several raters, at most 1. `counts` has, for each subject, the number of raters who chose each category.
///
/// `None` without subjects, if subjects have different numbers of ratings, or fewer than two, or different numbers of
/// categories, or if all ratings are in one category.
#[must_use]
pub fn fleiss_kappa(counts: &[Vec<u32>]) -> Option<f64> {
    let first = counts.first()?;
    let raters: u32 = first.iter().sum();
    let is_even = |row: &Vec<u32>| row.len() == first.len() && row.iter().sum::<u32>() == raters;
    if raters < 2 || !counts.iter().all(is_even) {
        return None;
    }
    let (subjects, raters) = (counts.len() as f64, f64::from(raters));
    let agreed = |row: &Vec<u32>| {
        let pairs: f64 = row.iter().map(|&count| f64::from(count) * (f64::from(count) - 1.0)).sum();
        pairs / (raters * (raters - 1.0))
    };
    let observed = counts.iter().map(agreed).sum::<f64>() / subjects;
    let share = |category: usize| {
        counts.iter().map(|row| f64::from(row[category])).sum::<f64>() / (subjects * raters)
    };
    let shares: Vec<f64> = (0..first.len()).map(share).collect();
    if shares.iter().filter(|share| **share > 0.0).count() < 2 {
        return None;
    }
    let expected: f64 = shares.iter().map(|share| share.powi(2)).sum();
    Some((observed - expected) / (1.0 - expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::near;

    #[test]
    fn fourteen_raters_and_ten_subjects() {
        // The example of the article "Fleiss' kappa" of Wikipedia: 0.378 observed, 0.213 by chance, kappa 0.210.
        let counts = [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ];
        near(fleiss_kappa(&counts.map(Vec::from)), 0.210, 5e-4);
    }

    #[test]
    fn three_raters_by_hand() {
        // Subjects agree in 1, 1/3 and 1: 7/9. Categories have 5/9 and 4/9: 41/81 by chance. (63 - 41) / (81 - 41).
        near(fleiss_kappa(&[vec![3, 0], vec![2, 1], vec![0, 3]]), 22.0 / 40.0, 1e-12);
        // All agree on every subject.
        near(fleiss_kappa(&[vec![2, 0], vec![0, 2]]), 1.0, 1e-12);
    }

    #[test]
    fn what_is_not_defined_is_none() {
        assert_eq!(fleiss_kappa(&[]), None);
        assert_eq!(fleiss_kappa(&[vec![1, 0], vec![0, 1]]), None, "a single rater");
        assert_eq!(fleiss_kappa(&[vec![3, 0], vec![3, 0]]), None, "a single category");
        assert_eq!(fleiss_kappa(&[vec![2, 1], vec![1, 1]]), None, "different numbers of ratings");
        assert_eq!(fleiss_kappa(&[vec![2, 1], vec![1, 1, 1]]), None, "different numbers of categories");
    }
}
