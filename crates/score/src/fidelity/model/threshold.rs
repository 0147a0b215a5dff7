//! The threshold between "the same" and "different".

/// The threshold, in [0.02, 0.98], at which errors of both kinds balance: the share of the different pairs that are
/// accepted equals the share of the same pairs that are rejected, both as means over the sources. A source has the
/// score of each pair, and whether the pair is the same. Sources with only one kind of pair are ignored.
#[must_use]
pub fn balanced_threshold(sources: &[Vec<(f64, bool)>]) -> f64 {
    // The share of same pairs that are rejected minus the share of different pairs that are accepted, summed over the
    // sources. It rises with the threshold.
    let excess = |threshold: f64| {
        let shares = sources.iter().filter_map(|scored| {
            let share = |label: bool| {
                let all = scored.iter().filter(|pair| pair.1 == label).count();
                let wrong =
                    scored.iter().filter(|pair| pair.1 == label && (pair.0 >= threshold) != label).count();
                (all > 0).then(|| wrong as f64 / all as f64)
            };
            Some(share(true)? - share(false)?)
        });
        shares.sum::<f64>()
    };
    let mut grid = (2..=98).map(|percent| f64::from(percent) / 100.0);
    let last = grid.clone().rfind(|&threshold| excess(threshold) <= 0.0).unwrap_or(0.02);
    let first = grid.find(|&threshold| excess(threshold) >= 0.0).unwrap_or(0.98);
    // If several thresholds balance the errors, take the middle of them.
    f64::midpoint(first, last.max(first))
}
