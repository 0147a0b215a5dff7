//! One score from those of a panel: [`trimmed_mean`] (M³-Bench, equation 7).

/// The mean of a panel's scores without the extremes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrimmedMean {
    /// The mean, in the unit of the scores.
    pub value: f64,
    /// The number of scores in the mean.
    pub used: usize,
    /// Whether the lowest and the highest score were left out; false for fewer than three scores.
    pub is_trimmed: bool,
}

/// The mean without the lowest and the highest score: for four judges that of the middle two, as in equation 7; for
/// three the middle one. With fewer than three nothing is trimmed, as [`TrimmedMean::is_trimmed`] shows. With more
/// than four, still only one at each end is left out. `None` without scores, or if one is not finite.
#[must_use]
pub fn trimmed_mean(scores: &[f64]) -> Option<TrimmedMean> {
    if scores.is_empty() || !scores.iter().all(|score| score.is_finite()) {
        return None;
    }
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let is_trimmed = sorted.len() >= 3;
    let kept = if is_trimmed { &sorted[1..sorted.len() - 1] } else { &sorted[..] };
    let value = kept.iter().sum::<f64>() / kept.len() as f64;
    Some(TrimmedMean { value, used: kept.len(), is_trimmed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extremes_are_left_out() {
        let of = |scores: &[f64]| trimmed_mean(scores).map(|mean| (mean.value, mean.used, mean.is_trimmed));
        // By hand, after equation 7 of the paper: (0.5 + 0.75) / 2.
        assert_eq!(of(&[1.0, 0.5, 0.0, 0.75]), Some((0.625, 2, true)));
        assert_eq!(of(&[0.5, 0.5, 0.5, 1.0]), Some((0.5, 2, true)), "of equal ones, one goes");
        assert_eq!(of(&[0.25, 1.0, 0.5]), Some((0.5, 1, true)));
        assert_eq!(of(&[0.25, 0.75]), Some((0.5, 2, false)));
        assert_eq!(of(&[0.25]), Some((0.25, 1, false)));
        assert_eq!(of(&[0.0, 0.25, 0.5, 0.75, 1.0]), Some((0.5, 3, true)));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[0.5, f64::NAN]), None);
    }
}
