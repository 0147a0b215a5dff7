//! The metrics that predict success: a bar for the area under the curve of each, and below the bars the reliability of
//! a probability.

use super::axis::{self, Axis, Unit};
use super::frame::{self, GAP, MARGIN, MAX_ROWS, Names, SMALL, TEXT, baseline};
use super::marks;
use super::palette;
use super::svg::{Anchor, Canvas, Rectangle, WIDTH};
use super::{legend, text};

const ROW: f64 = 24.0;

/// Side of the curve's square.
const SIDE: f64 = 300.0;

/// The diameter of the point with the most trials, and the least radius of a point.
const GREATEST: f64 = 22.0;
const LEAST: f64 = 3.0;

/// The marker of areas within tasks.
const WITHIN: usize = 3;

/// The area under the curve of each metric, beside chance.
#[derive(Debug, Clone, PartialEq)]
pub struct SuccessAreas {
    /// The heading.
    pub title: String,
    /// The metrics from top to bottom; at most [`MAX_ROWS`] are drawn.
    pub bars: Vec<AreaBar>,
    /// The reliability of a probability, if there is one.
    pub curve: Option<ReliabilityCurve>,
}

/// A metric's area under the curve.
#[derive(Debug, Clone, PartialEq)]
pub struct AreaBar {
    /// The metric.
    pub name: String,
    /// The area under the curve, [0, 1]; a value that is not finite is missing.
    pub area: f64,
    /// The lower and upper end of the area's interval, [0, 1], drawn as a whisker.
    pub interval: Option<(f64, f64)>,
    /// The area within tasks, [0, 1], drawn as a marker; a value that is not finite is left out.
    pub within_tasks: f64,
}

/// The reliability of a probability: how close it is to the share that succeeded.
#[derive(Debug, Clone, PartialEq)]
pub struct ReliabilityCurve {
    /// The heading.
    pub title: String,
    /// The points, from left to right.
    pub points: Vec<ReliabilityPoint>,
}

/// Trials of similar probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReliabilityPoint {
    /// The mean probability, [0, 1].
    pub expected: f64,
    /// The share that succeeded, [0, 1].
    pub succeeded: f64,
    /// The number of trials, drawn as the area of the point.
    pub trials: u64,
}

impl SuccessAreas {
    /// The figure as SVG.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let bars = self.bars.get(..MAX_ROWS).unwrap_or(&self.bars);
        let (mut canvas, top) = frame::titled(&self.title);
        let keys = ["over all trials, with its interval", "within tasks"].map(str::to_owned);
        let top = legend::draw(&mut canvas, &keys, top, |canvas, index, (x, y)| match index {
            0 => canvas.rectangle(Rectangle { x, y, width: 16.0, height: 12.0 }, palette::BAR),
            _ => marks::marker(canvas, WITHIN, (x + 8.0, y + 6.0)),
        });
        let names = Names::new(bars.iter().map(|bar| bar.name.as_str()));
        let values = bars.iter().map(|bar| text::width(&text::value(bar.area), TEXT)).fold(0.0, f64::max);
        let axis = Axis::whole(names.right, WIDTH - MARGIN - values - GAP, Unit::Fraction);
        let row_top = |index: usize| top + ROW * index as f64;
        let bottom = row_top(bars.len().max(1));
        for index in 0..bars.len() {
            names.draw(&mut canvas, index, row_top(index), ROW);
        }
        axis.draw(&mut canvas, top, bottom, "area under the curve; 0.5 is chance");
        for (index, bar) in bars.iter().enumerate() {
            let about = format!("{}: {}", text::brief(&bar.name), text::value(bar.area));
            canvas.described(&about, |canvas| bar.draw(canvas, &axis, row_top(index) + ROW / 2.0));
        }
        canvas.dashed((axis.x(0.5), top), (axis.x(0.5), bottom));
        let mut bottom = bottom + axis::HEIGHT;
        if let Some(curve) = &self.curve {
            bottom = curve.draw(&mut canvas, bottom + MARGIN);
        }
        frame::finish(canvas, &self.title, frame::count_note(self.bars.len(), "metrics"), bottom)
    }
}

impl AreaBar {
    fn draw(&self, canvas: &mut Canvas, axis: &Axis, middle: f64) {
        let is_drawn = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low <= high;
        axis.draw_bar(canvas, self.area, self.interval.filter(is_drawn), middle);
        if self.within_tasks.is_finite() {
            marks::marker(canvas, WITHIN, (axis.x(self.within_tasks), middle));
        }
        let place = (axis.right + GAP, baseline(middle, TEXT));
        canvas.text(place, TEXT, Anchor::Start, &text::value(self.area));
    }
}

impl ReliabilityCurve {
    /// Draws the curve below `top`; returns where the figure goes on.
    fn draw(&self, canvas: &mut Canvas, top: f64) -> f64 {
        let title = text::fitted(&self.title, TEXT, WIDTH - 2.0 * MARGIN);
        let y = top + TEXT;
        canvas.text((MARGIN, y), TEXT, Anchor::Start, &title);
        let (upper, left) = (y + GREATEST + GAP, (WIDTH - SIDE) / 2.0);
        let axis = Axis::whole(left, left + SIDE, Unit::Fraction);
        let height = |share: f64| upper + SIDE - (axis.x(share) - left);
        let shares = (0..=5_u8).map(|fifth| f64::from(fifth) / 5.0);
        axis.draw_side(canvas, shares.map(|share| (height(share), format!("{share:.1}"))));
        let place = (axis.left - 5.0 * GAP, baseline(height(0.5), SMALL));
        canvas.text(place, SMALL, Anchor::End, "true share");
        axis.draw(canvas, upper, upper + SIDE, "the share to be expected");
        canvas.dashed((left, height(0.0)), (left + SIDE, height(1.0)));
        let is_drawn = |point: &&ReliabilityPoint| point.expected.is_finite() && point.succeeded.is_finite();
        let points: Vec<&ReliabilityPoint> = self.points.iter().filter(is_drawn).collect();
        let place = |point: &ReliabilityPoint| (axis.x(point.expected), height(point.succeeded));
        for pair in points.windows(2) {
            canvas.line(place(pair[0]), place(pair[1]), palette::BLUE, 2.0);
        }
        let most = points.iter().map(|point| point.trials).max().unwrap_or(0).max(1);
        for point in points {
            let about = format!(
                "{} trials: {} expected, {} true",
                text::thousands(point.trials),
                text::value(point.expected),
                text::value(point.succeeded)
            );
            let radius = (GREATEST * (point.trials as f64 / most as f64).sqrt() / 2.0).max(LEAST);
            canvas.described(&about, |canvas| canvas.disc(place(point), radius, palette::SKY));
        }
        let notes = upper + SIDE + axis::HEIGHT + SMALL;
        let content = "On the dashed line expected and true are the same; a larger point has more trials.";
        canvas.text((WIDTH / 2.0, notes), SMALL, Anchor::Middle, content);
        notes + GAP
    }
}
