//! The similarities of pairs of calls, with the thresholds that decide about them (compare figure 8 of the paper).

use super::axis::{self, Axis, Unit};
use super::frame::{self, GAP, MARGIN, SMALL};
use super::svg::{Anchor, Canvas, Rectangle, WIDTH};
use super::{legend, marks, text};

const PLOT_HEIGHT: f64 = 280.0;

/// Height of a threshold's label above the plot.
const LABEL: f64 = 17.0;

/// The most bins. More would be thinner than their edges, so neighbours are added up.
const MAX_BINS: usize = 100;

/// The most ticks on the axis of counts.
const MAX_TICKS: u64 = 6;

/// The look of matched and of unmatched pairs.
const MATCHED: usize = 0;
const UNMATCHED: usize = 1;

/// A histogram of similarities in [0, 1].
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarityHistogram {
    /// The heading.
    pub title: String,
    /// The name of the axis below: which similarities are counted.
    pub axis: String,
    /// Bins of equal width over [0, 1], the lowest first; if there are over 100, neighbours are added up.
    pub bins: Vec<SimilarityBin>,
    /// Below this similarity nothing is matched; not drawn if it is not finite.
    pub weak_threshold: f64,
    /// From this similarity on a match is strong; not drawn if it is not finite.
    pub strong_threshold: f64,
}

/// Counts of one bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SimilarityBin {
    /// Pairs that were matched.
    pub matched: u64,
    /// Pairs that were not matched.
    pub unmatched: u64,
}

impl SimilarityHistogram {
    /// The figure as SVG.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let bins = merged(&self.bins);
        let (mut canvas, top) = frame::titled(&self.title);
        let total = bins.iter().fold(SimilarityBin::default(), |sum, (_, _, bin)| sum.plus(*bin));
        let keys = [("matched pairs", total.matched), ("unmatched pairs", total.unmatched)];
        let keys = keys.map(|(name, count)| format!("{name} ({})", text::thousands(count)));
        let top = legend::draw(&mut canvas, &keys, top, |canvas, index, (x, y)| {
            marks::swatch(canvas, [MATCHED, UNMATCHED].get(index).copied().unwrap_or_default(), x, y);
        });
        let counts = Counts::new(bins.iter().map(|(_, _, bin)| bin.total()), top + 2.0 * LABEL);
        let axis = Axis::whole(MARGIN + counts.width() + GAP, WIDTH - MARGIN - GAP, Unit::Fraction);
        axis.draw_side(&mut canvas, counts.ticks().map(|tick| (counts.y(tick), text::thousands(tick))));
        axis.draw(&mut canvas, counts.top, counts.bottom, &self.axis);
        for &(low, high, bin) in &bins {
            counts.draw_bin(&mut canvas, &axis, low, high, bin);
        }
        // Each label has a line of its own, so that close thresholds do not run into each other.
        draw_threshold(&mut canvas, &axis, "strong threshold", self.strong_threshold, top, counts.bottom);
        draw_threshold(&mut canvas, &axis, "weak threshold", self.weak_threshold, top + LABEL, counts.bottom);
        let notes = (total.total() == 0).then(|| "There are no pairs.".to_owned());
        frame::finish(canvas, &self.title, notes, counts.bottom + axis::HEIGHT)
    }
}

impl SimilarityBin {
    fn total(self) -> u64 {
        self.matched.saturating_add(self.unmatched)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            matched: self.matched.saturating_add(other.matched),
            unmatched: self.unmatched.saturating_add(other.unmatched),
        }
    }
}

/// Bins with their lower and upper edges, neighbours added up where there are too many.
fn merged(bins: &[SimilarityBin]) -> Vec<(f64, f64, SimilarityBin)> {
    let together = bins.len().div_ceil(MAX_BINS).max(1);
    let edge = |bin: usize| bin as f64 / bins.len() as f64;
    let merge = |(index, chunk): (usize, &[SimilarityBin])| {
        let first = index * together;
        let sum = chunk.iter().fold(SimilarityBin::default(), |sum, bin| sum.plus(*bin));
        (edge(first), edge(first + chunk.len()), sum)
    };
    bins.chunks(together).enumerate().map(merge).collect()
}

/// The vertical axis: from 0 to a round count that is not below any bin's.
struct Counts {
    top: f64,
    bottom: f64,
    step: u64,
    steps: u64,
}

impl Counts {
    fn new(totals: impl Iterator<Item = u64>, top: f64) -> Self {
        let greatest = totals.max().unwrap_or_default().max(1);
        let round = (0..20)
            .flat_map(|power| [1, 2, 5].map(|digit: u64| digit.saturating_mul(10_u64.pow(power).max(1))));
        let step = round.into_iter().find(|step| greatest.div_ceil(*step) < MAX_TICKS).unwrap_or(u64::MAX);
        Self { top, bottom: top + PLOT_HEIGHT, step, steps: greatest.div_ceil(step) }
    }

    fn y(&self, count: u64) -> f64 {
        let share = count as f64 / (self.step as f64 * self.steps as f64);
        self.bottom - share.clamp(0.0, 1.0) * (self.bottom - self.top)
    }

    fn ticks(&self) -> impl Iterator<Item = u64> {
        (0..=self.steps).map(|i| i.saturating_mul(self.step))
    }

    /// The width of the widest label.
    fn width(&self) -> f64 {
        self.ticks().map(|tick| text::width(&text::thousands(tick), SMALL)).fold(0.0, f64::max)
    }

    fn draw_bin(&self, canvas: &mut Canvas, axis: &Axis, low: f64, high: f64, bin: SimilarityBin) {
        let (x, width) = (axis.x(low) + 0.5, axis.x(high) - axis.x(low) - 1.0);
        let description =
            format!("{low:.2} to {high:.2}: {} matched, {} unmatched", bin.matched, bin.unmatched);
        canvas.described(&description, |canvas| {
            let mut floor = self.bottom;
            for (count, up_to, look) in
                [(bin.matched, bin.matched, MATCHED), (bin.unmatched, bin.total(), UNMATCHED)]
            {
                let y = self.y(up_to);
                if count > 0 {
                    canvas.patterned(Rectangle { x, y, width, height: floor - y }, look);
                }
                floor = y;
            }
        });
    }
}

fn draw_threshold(canvas: &mut Canvas, axis: &Axis, name: &str, threshold: f64, top: f64, bottom: f64) {
    if !threshold.is_finite() {
        return;
    }
    let x = axis.x(threshold);
    canvas.dashed((x, top), (x, bottom));
    let content = &format!("{name} {}", text::value(threshold));
    // The label goes to the left of its line; the other line is there only if the thresholds are swapped.
    let has_room = x - GAP - text::width(content, SMALL) > axis.left;
    let (x, anchor) = if has_room { (x - 4.0, Anchor::End) } else { (x + 4.0, Anchor::Start) };
    canvas.text((x, top + 11.0), SMALL, anchor, content);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_end_at_a_round_number() {
        let end = |greatest: u64| {
            let counts = Counts::new([1, greatest].into_iter(), 0.0);
            (counts.step, counts.steps)
        };
        assert_eq!(
            [end(0), end(7), end(50), end(51), end(1_234)],
            [(1, 1), (2, 4), (10, 5), (20, 3), (500, 3)]
        );
        assert!(end(u64::MAX).1 < MAX_TICKS);
    }

    #[test]
    fn many_bins_are_added_up() {
        let bins = merged(&vec![SimilarityBin { matched: 1, unmatched: 2 }; 250]);
        assert_eq!(bins.len(), 84);
        assert_eq!(bins[0], (0.0, 3.0 / 250.0, SimilarityBin { matched: 3, unmatched: 6 }));
        assert_eq!(bins[83], (249.0 / 250.0, 1.0, SimilarityBin { matched: 1, unmatched: 2 }));
        assert_eq!(merged(&[]), []);
    }
}
