//! The parts common to all figures: measures, title, column of names, notes.

use super::svg::{Anchor, Canvas, Rectangle, WIDTH};
use super::text;

/// White space at the edges.
pub(super) const MARGIN: f64 = 16.0;

/// Font size of names and values.
pub(super) const TEXT: f64 = 12.0;

/// Font size of ticks and notes: the smallest that is used.
pub(super) const SMALL: f64 = 11.0;

/// Font size of titles.
const TITLE: f64 = 16.0;

/// Space between a name and what it names.
pub(super) const GAP: f64 = 8.0;

/// The widest a column of names may be.
const NAMES: f64 = 250.0;

/// Rows that are drawn; the picture says how many more there are.
pub const MAX_ROWS: usize = 500;

/// The background of every second row.
const STRIPE: &str = "#f4f4f4";

/// A new picture with its title, and the y at which the figure goes on below the title.
pub(super) fn titled(title: &str) -> (Canvas, f64) {
    let title = text::fitted(title, TITLE, WIDTH - 2.0 * MARGIN);
    let mut canvas = Canvas::default();
    canvas.text((MARGIN, MARGIN + TITLE), TITLE, Anchor::Start, &title);
    (canvas, MARGIN + TITLE + 14.0)
}

/// A column of names at the left edge, as wide as the names need up to a limit.
#[derive(Debug)]
pub(super) struct Names {
    names: Vec<String>,
    /// Where the column ends and the plot may begin.
    pub(super) right: f64,
}

impl Names {
    /// The first [`MAX_ROWS`] of `names`.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<String> = names.take(MAX_ROWS).map(|name| text::fitted(name, TEXT, NAMES)).collect();
        let widest = names.iter().map(|name| text::width(name, TEXT)).fold(0.0, f64::max);
        Self { names, right: MARGIN + widest + GAP }
    }

    /// Draws the stripe and the name of row `index`, `height` high from `top`.
    pub(super) fn draw(&self, canvas: &mut Canvas, index: usize, top: f64, height: f64) {
        if index % 2 == 1 {
            // The stripe reaches a little into the margins, so that names do not touch its edge.
            let x = MARGIN / 2.0;
            canvas.rectangle(Rectangle { x, y: top, width: WIDTH - 2.0 * x, height }, STRIPE);
        }
        let Some(content) = self.names.get(index) else { return };
        let place = (self.right - GAP, baseline(top + height / 2.0, TEXT));
        canvas.text(place, TEXT, Anchor::End, content);
    }
}

/// The baseline of text of `size` that is centred on `middle`.
pub(super) fn baseline(middle: f64, size: f64) -> f64 {
    // Half of the height of capitals, 0.73 em in DejaVu Sans.
    middle + size * 0.365
}

/// Draws notes from `top` on, one line each, and finishes the picture below them.
pub(super) fn finish(
    mut canvas: Canvas,
    title: &str,
    notes: impl IntoIterator<Item = String>,
    top: f64,
) -> String {
    let mut y = top;
    for note in notes {
        y += 16.0;
        let note = text::fitted(&note, SMALL, WIDTH - 2.0 * MARGIN);
        canvas.text((MARGIN, y), SMALL, Anchor::Start, &note);
    }
    canvas.finish(&text::brief(title), y + MARGIN)
}

/// A note on how many of `count` rows are missing, if any, or that there is no row at all.
pub(super) fn count_note(count: usize, what: &str) -> Option<String> {
    match count {
        0 => Some(format!("There are no {what}.")),
        n if n > MAX_ROWS => {
            Some(format!("The first {MAX_ROWS} {what} are shown, {} are left out.", n - MAX_ROWS))
        }
        _ => None,
    }
}
