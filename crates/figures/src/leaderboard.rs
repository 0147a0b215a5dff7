//! Horizontal bars, one for each model (figure 1 of the paper).

use super::axis::{self, Axis};
use super::frame::{self, GAP, INK, MARGIN, MAX_ROWS, Names, TEXT, baseline};
use super::palette;
use super::svg::{Anchor, Canvas, Rectangle, Text, WIDTH};
use super::text;

const ROW: f64 = 24.0;
const BAR_HEIGHT: f64 = 14.0;

/// Half of the height of the bars across a whisker's ends.
const CAP: f64 = 4.0;

/// One model's bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The model.
    pub name: String,
    /// The length of the bar, [0, 1]; a value that is not finite is missing.
    pub value: f64,
    /// The lower and upper end of the value's interval, [0, 1], drawn as a whisker.
    pub interval: Option<(f64, f64)>,
}

/// A leaderboard: a bar for each model, in the order given.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaderboardBars {
    /// The heading.
    pub title: String,
    /// The name of the axis below: what the bars measure.
    pub axis: String,
    /// The bars from top to bottom; at most [`MAX_ROWS`] are drawn.
    pub bars: Vec<Bar>,
}

impl LeaderboardBars {
    /// The figure as SVG.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let bars = self.bars.get(..MAX_ROWS).unwrap_or(&self.bars);
        let mut canvas = Canvas::default();
        let top = frame::draw_title(&mut canvas, &self.title);
        let names = Names::new(bars.iter().map(|bar| bar.name.as_str()));
        let values = bars.iter().map(|bar| text::width(&text::value(bar.value), TEXT)).fold(0.0, f64::max);
        let ends = bars.iter().flat_map(|bar| [bar.value, whisker(bar).map_or(0.0, |(_, high)| high)]);
        let axis = Axis::up_to(names.right, WIDTH - MARGIN - values - 2.0 * GAP, ends);

        let row_top = |index: usize| top + ROW * index as f64;
        let bottom = row_top(bars.len().max(1));
        for index in 0..bars.len() {
            names.draw(&mut canvas, index, row_top(index), ROW);
        }
        axis.draw(&mut canvas, top, bottom, &self.axis);
        for (index, bar) in bars.iter().enumerate() {
            canvas.described(&description(bar), |canvas| {
                draw_bar(canvas, &axis, bar, row_top(index) + ROW / 2.0);
            });
        }
        let whiskers = bars.iter().any(|bar| whisker(bar).is_some());
        let whiskers = whiskers.then(|| "Error bars: the interval of each value.".to_owned());
        let notes: Vec<String> =
            whiskers.into_iter().chain(frame::count_note(self.bars.len(), "models")).collect();
        frame::finish(canvas, &self.title, &notes, bottom + axis::HEIGHT)
    }
}

/// The ends of the interval, if there is one that can be drawn.
fn whisker(bar: &Bar) -> Option<(f64, f64)> {
    bar.interval
        .filter(|(low, high)| bar.value.is_finite() && low.is_finite() && high.is_finite() && low <= high)
}

fn description(bar: &Bar) -> String {
    let interval = whisker(bar).map(|(low, high)| format!(" [{}, {}]", text::value(low), text::value(high)));
    format!("{}: {}{}", text::brief(&bar.name), text::value(bar.value), interval.unwrap_or_default())
}

fn draw_bar(canvas: &mut Canvas, axis: &Axis, bar: &Bar, middle: f64) {
    let mut end = axis.left;
    if bar.value.is_finite() {
        end = axis.x(bar.value);
        let (y, width) = (middle - BAR_HEIGHT / 2.0, end - axis.left);
        canvas.rectangle(Rectangle { x: axis.left, y, width, height: BAR_HEIGHT }, palette::BAR);
    }
    if let Some((low, high)) = whisker(bar) {
        let (low, high) = (axis.x(low), axis.x(high));
        canvas.line((low, middle), (high, middle), INK, 1.5);
        for x in [low, high] {
            canvas.line((x, middle - CAP), (x, middle + CAP), INK, 1.5);
        }
        end = end.max(high);
    }
    let (x, y) = (end + GAP, baseline(middle, TEXT));
    let content = &text::value(bar.value);
    canvas.text(Text { x, y, size: TEXT, anchor: Anchor::Start, colour: INK, content });
}
