//! Horizontal bars, one for each model (figure 1 of the paper).

use super::axis::{self, Axis};
use super::frame::{self, GAP, MARGIN, MAX_ROWS, Names, TEXT, baseline};
use super::svg::{Anchor, WIDTH};
use super::text;

const ROW: f64 = 24.0;

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
        let (mut canvas, top) = frame::titled(&self.title);
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
                let middle = row_top(index) + ROW / 2.0;
                let end = axis.draw_bar(canvas, bar.value, whisker(bar), middle);
                let place = (end + GAP, baseline(middle, TEXT));
                canvas.text(place, TEXT, Anchor::Start, &text::value(bar.value));
            });
        }
        let whiskers = bars.iter().any(|bar| whisker(bar).is_some());
        let whiskers = whiskers.then(|| "Error bars: the interval of each value.".to_owned());
        let notes = whiskers.into_iter().chain(frame::count_note(self.bars.len(), "models"));
        frame::finish(canvas, &self.title, notes, bottom + axis::HEIGHT)
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
