//! Keys above the plot, in one row or in columns.

use super::frame::{GAP, MARGIN, TEXT, baseline};
use super::svg::{Anchor, Canvas, WIDTH};
use super::text;

/// Width kept for a key's mark.
const MARK: f64 = 16.0;

/// Space between two keys.
const BETWEEN: f64 = 20.0;

/// The most width of the name of a key; longer names are shortened.
const NAME: f64 = 220.0;

/// Height of a row.
const ROW: f64 = 20.0;

/// Draws a key for each of `names`, from `top` down. `mark` draws the mark of key `index` into a box of 16 x 12, given
/// its upper left corner. Returns the y below the keys.
pub(super) fn draw(
    canvas: &mut Canvas,
    names: &[String],
    top: f64,
    mark: impl Fn(&mut Canvas, usize, (f64, f64)),
) -> f64 {
    let names: Vec<String> = names.iter().map(|name| text::fitted(name, TEXT, NAME)).collect();
    let widths: Vec<f64> = names.iter().map(|name| MARK + 6.0 + text::width(name, TEXT) + BETWEEN).collect();
    let room = WIDTH - 2.0 * MARGIN + BETWEEN;
    // Keys that fit into one row stand side by side; more keys are easier to read in columns.
    let column = (widths.iter().sum::<f64>() > room).then(|| widths.iter().copied().fold(0.0, f64::max));
    let (mut x, mut y) = (MARGIN, top);
    for (index, (content, key)) in names.iter().zip(&widths).enumerate() {
        let key_width = column.unwrap_or(*key);
        if x > MARGIN && x + key_width > MARGIN + room {
            (x, y) = (MARGIN, y + ROW);
        }
        mark(canvas, index, (x, y + (ROW - 12.0) / 2.0));
        let place = (x + MARK + 6.0, baseline(y + ROW / 2.0, TEXT));
        canvas.text(place, TEXT, Anchor::Start, content);
        x += key_width;
    }
    if names.is_empty() { y } else { y + ROW + GAP }
}
