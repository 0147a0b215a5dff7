//! Resampling of statistics that are not ratios of sums, such as the place of a maximum: [`resampled`].

use rand::RngExt;

use super::Draws;
use super::draws::Purpose;
use super::interval::quantile;

/// The values of a statistic over resamples of `units` units, drawn with replacement, as many as the set has. The
/// statistic gets the number of draws of each unit. Nothing is drawn from fewer than two units.
///
/// If the statistic is a ratio of sums, [`bootstrap`](super::bootstrap()) is faster and has better intervals.
#[must_use]
pub fn resampled<const M: usize>(
    units: usize,
    statistic: impl Fn(&[u32]) -> [f64; M] + Sync,
    draws: &Draws,
) -> Vec<[f64; M]> {
    let mut values = vec![[0.0; M]; if units < 2 { 0 } else { draws.count }];
    draws.fill_rows(&mut values, 1, |draw, row| {
        let mut random = draws.random(Purpose::Resample, draw);
        let mut counts = vec![0; units];
        for _ in 0..units {
            counts[random.random_range(0..units)] += 1;
        }
        row[0] = statistic(&counts);
    });
    values
}

/// The plain quantiles of resampled values that leave out equal shares at both ends, according to the level. Values
/// that are not finite are left out; `None` if none is left, and for a level outside (0, 1).
#[must_use]
pub fn percentiles(values: impl Iterator<Item = f64>, level: f64) -> Option<(f64, f64)> {
    let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    if sorted.is_empty() || level <= 0.0 || level >= 1.0 {
        return None;
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    Some((quantile(&sorted, tail), quantile(&sorted, 1.0 - tail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resample_has_as_many_units_and_is_the_same_every_time() {
        let draws = Draws { count: 50, ..Draws::default() };
        let total = |counts: &[u32]| [f64::from(counts.iter().sum::<u32>()), f64::from(counts[0])];
        let resamples = resampled(7, total, &draws);
        assert_eq!(resamples.len(), 50);
        assert!(resamples.iter().all(|[total, _]| (*total - 7.0).abs() < 1e-12));
        assert!(resamples.iter().any(|[_, first]| (*first - resamples[0][1]).abs() > 0.5));
        assert_eq!(resampled(7, total, &draws), resamples);
        assert!(resampled(1, total, &draws).is_empty());
    }

    #[test]
    fn percentiles_leave_out_the_tails() {
        // By type 6 of Hyndman and Fan: of 1 to 99, the values at 100 x 0.05 and 100 x 0.95.
        let (low, high) = percentiles((1..=99).map(f64::from), 0.9).unwrap();
        assert!((low - 5.0).abs() < 1e-9 && (high - 95.0).abs() < 1e-9, "{low} {high}");
        assert_eq!(percentiles([f64::NAN].into_iter(), 0.9), None);
    }
}
