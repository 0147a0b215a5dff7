//! Kendall's rank correlation.

/// Kendall's tau-b of pairs of values (Kendall 1945), in [-1, 1]: concordant minus discordant pairs, divided by the
/// geometric mean of the numbers of pairs that are untied on the first and on the second side. `None` if all values of
/// a side are equal, or one is not a number. Looks at each pair of pairs.
#[must_use]
pub fn kendall_tau(values: &[(f64, f64)]) -> Option<f64> {
    let (mut sum, mut untied_first, mut untied_second) = (0_i64, 0_i64, 0_i64);
    for (index, (a, b)) in values.iter().enumerate() {
        for (c, d) in values.get(index + 1..).unwrap_or_default() {
            let sign = |x: f64, y: f64| x.partial_cmp(&y).map(|order| order as i64);
            let (first, second) = (sign(*a, *c)?, sign(*b, *d)?);
            sum += first * second;
            untied_first += first.abs();
            untied_second += second.abs();
        }
    }
    let pairs = (untied_first as f64 * untied_second as f64).sqrt();
    (pairs > 0.0).then(|| sum as f64 / pairs)
}

#[cfg(test)]
mod tests {
    use super::kendall_tau;

    /// Right-hand sides are the output of `scipy.stats.kendalltau` 1.17.
    #[test]
    fn tau_is_that_of_scipy() {
        for (first, second, tau) in [
            (&[1.0, 2.0, 3.0, 4.0][..], &[1.0, 2.0, 3.0, 4.0][..], 1.0),
            (&[1.0, 2.0, 3.0, 4.0], &[4.0, 3.0, 2.0, 1.0], -1.0),
            (&[12.0, 2.0, 1.0, 12.0, 2.0], &[1.0, 4.0, 7.0, 1.0, 0.0], -0.471_404_520_791_031_6),
            (&[1.0, 1.0, 2.0, 3.0], &[1.0, 2.0, 2.0, 3.0], 0.8),
        ] {
            let pairs: Vec<(f64, f64)> = first.iter().copied().zip(second.iter().copied()).collect();
            assert!((kendall_tau(&pairs).unwrap() - tau).abs() < 1e-12, "{pairs:?}");
        }
        assert_eq!(kendall_tau(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(kendall_tau(&[]), None);
        assert_eq!(kendall_tau(&[(f64::NAN, 1.0), (1.0, 2.0)]), None);
    }
}
