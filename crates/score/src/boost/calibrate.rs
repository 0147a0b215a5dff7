//! Converts sums of trees to log-odds.

/// A sum of trees, whether its label is "the same", and its weight.
pub(crate) type WeighedSum = (f64, bool, f64);

/// The most points of a curve.
const POINTS: usize = 16;

/// The least share of each label in a part of the curve, by weight: no share is certain.
const LEAST_DOUBT: f64 = 0.005;

/// A curve through the sums and their log-odds of "the same": parts of about the same weight, made to rise by isotonic
/// regression (pooling of neighbours that do not).
pub(crate) fn isotonic(scored: &[WeighedSum]) -> Vec<(f64, f64)> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
    let part_weight = sorted.iter().map(|pair| pair.2).sum::<f64>() / POINTS as f64;
    // For each part: its weight, its weighted sums, its weight with the label "the same".
    let mut parts: Vec<[f64; 3]> = Vec::new();
    let mut open = [0.0; 3];
    for (sum, is_same, weight) in sorted {
        open = [open[0] + weight, open[1] + weight * sum, open[2] + weight * f64::from(u8::from(is_same))];
        if open[0] >= part_weight {
            parts.push(std::mem::take(&mut open));
        }
    }
    parts.push(open);
    parts.retain(|part| part[0] > 0.25 * part_weight);
    let share = |part: &[f64; 3]| part[2] / part[0];
    let mut rising: Vec<[f64; 3]> = Vec::new();
    for mut part in parts {
        while let Some(last) = rising.last().filter(|last| share(last) >= share(&part)) {
            part = [part[0] + last[0], part[1] + last[1], part[2] + last[2]];
            rising.pop();
        }
        rising.push(part);
    }
    let rounded = |x: f64| (x * 1e4).round() / 1e4;
    let point = |part: &[f64; 3]| {
        // The same doubt for every part: a light one would otherwise fall below the one before it.
        let same = (share(part) + LEAST_DOUBT) / (1.0 + 2.0 * LEAST_DOUBT);
        (rounded(part[1] / part[0]), rounded((same / (1.0 - same)).ln()))
    };
    let mut curve: Vec<(f64, f64)> = rising.iter().map(point).collect();
    // Two sums may be one when they are rounded.
    curve.dedup_by_key(|point| point.0);
    curve
}

/// The value of a curve at `x`: linear between the points, and with the slope 1 beyond them.
pub(crate) fn on_curve(curve: &[(f64, f64)], x: f64) -> f64 {
    let after = curve.partition_point(|point| point.0 < x);
    match (after.checked_sub(1).and_then(|before| curve.get(before)), curve.get(after)) {
        (Some(&(x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (None, Some(&(end, y))) | (Some(&(end, y)), None) => y + x - end,
        (None, None) => x,
    }
}
