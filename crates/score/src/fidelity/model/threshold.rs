//! The threshold between both answers.

/// The threshold at which the errors of both kinds are balanced: the mean over sources of the share of different pairs that
/// are accepted is that of same pairs that are rejected. Each source is its scores with their labels; sources of one label
/// say nothing. In [0.02, 0.98].
#[must_use]
pub fn balanced_threshold(sources: &[Vec<(f64, bool)>]) -> f64 {
    // How many more of the same are rejected than of the different accepted: it rises with the threshold.
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
    // In the middle of several that are equal.
    f64::midpoint(first, last.max(first))
}
