//! Measures of a score against labels.

/// A score, and whether the pair asks for the same.
pub(super) type ScoredPair = (f64, bool);

/// Of all combinations of a pair that asks for the same and a pair that does not, the share that the score ranks
/// correctly, ties counting half: the area under the receiver operating characteristic, by the Mann-Whitney
/// statistic. `None` without both kinds.
pub(crate) fn area_under_curve(scored: &[(f64, bool)]) -> Option<f64> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut wins, mut same) = (0.0, 0.0, 0.0);
    for group in sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let of_same = group.iter().filter(|pair| pair.1).count() as f64;
        let of_different = group.len() as f64 - of_same;
        wins += of_same * (below + of_different / 2.0);
        below += of_different;
        same += of_same;
    }
    (same > 0.0 && below > 0.0).then(|| wins / (same * below))
}

/// The mean squared difference of score and label (Brier, 1950), in [0, 1]; `None` without pairs.
pub(crate) fn brier_score(scored: &[(f64, bool)]) -> Option<f64> {
    let squares = scored.iter().map(|&(score, is_same)| (score - f64::from(u8::from(is_same))).powi(2));
    (!scored.is_empty()).then(|| squares.sum::<f64>() / scored.len() as f64)
}

/// The mean difference between mean score and share of "same" over bins of a tenth, weighted by their pairs: the
/// expected calibration error; `None` without pairs.
pub(crate) fn calibration_error(scored: &[(f64, bool)]) -> Option<f64> {
    let gaps = (0..BINS).filter_map(|bin| {
        let of_bin = of_bin(scored, bin);
        let (mean, share) = mean_and_share(&of_bin)?;
        Some(of_bin.len() as f64 * (mean - share).abs())
    });
    (!scored.is_empty()).then(|| gaps.sum::<f64>() / scored.len() as f64)
}

/// The number of bins for the reliability.
pub(super) const BINS: usize = 10;

/// The pairs whose score is in a bin; the last bin includes 1.
pub(super) fn of_bin(scored: &[ScoredPair], bin: usize) -> Vec<ScoredPair> {
    let (low, high) = (bin as f64 / BINS as f64, (bin + 1) as f64 / BINS as f64);
    let is_in = |score: f64| score >= low && (score < high || bin + 1 == BINS);
    scored.iter().filter(|pair| is_in(pair.0)).copied().collect()
}

/// The mean score, and the share of pairs that ask for the same.
pub(super) fn mean_and_share(scored: &[ScoredPair]) -> Option<(f64, f64)> {
    let count = scored.len() as f64;
    let same = scored.iter().filter(|pair| pair.1).count() as f64;
    (!scored.is_empty()).then(|| (scored.iter().map(|pair| pair.0).sum::<f64>() / count, same / count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_by_hand() {
        assert_eq!(area_under_curve(&[(0.1, false), (0.9, true)]), Some(1.0));
        assert_eq!(area_under_curve(&[(0.9, false), (0.1, true)]), Some(0.0));
        assert_eq!(area_under_curve(&[(0.5, false), (0.5, true)]), Some(0.5));
        // Five of six combinations are ranked correctly.
        assert_eq!(
            area_under_curve(&[(0.1, false), (0.2, false), (0.3, true), (0.4, false), (0.5, true)]),
            Some(5.0 / 6.0)
        );
        assert_eq!(area_under_curve(&[(0.5, true)]), None);
    }

    #[test]
    fn calibration_by_hand() {
        // 0.8 three times, correct twice: 0.8 against 0.667.
        let scored = [(0.8, true), (0.8, true), (0.8, false)];
        assert!((calibration_error(&scored).unwrap() - (0.8 - 2.0 / 3.0)).abs() < 1e-12);
        assert!((brier_score(&scored).unwrap() - (0.04 + 0.04 + 0.64) / 3.0).abs() < 1e-12);
        assert_eq!((calibration_error(&[]), brier_score(&[])), (None, None));
    }
}
