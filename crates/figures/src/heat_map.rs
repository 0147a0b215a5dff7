//! A map of the agreement with labels, by both thresholds of similarity.

use super::axis::{self, Axis, Unit};
use super::frame::{self, GAP, MARGIN, SMALL, baseline};
use super::svg::{Anchor, Canvas, Rectangle, WIDTH};
use super::text;

/// Height of the plot, which is as wide as the page.
const PLOT_HEIGHT: f64 = 560.0;

/// Free space at the left, for the labels of the vertical axis.
const LEFT: f64 = 64.0;

/// The number of steps on the vertical axis.
const TICKS: u32 = 10;

/// The number of squares in the scale.
const SCALE: u32 = 24;

/// A square for each pair of thresholds, darker where the decisions agree with more labels.
#[derive(Debug, Clone, PartialEq)]
pub struct AgreementMap {
    /// The heading.
    pub title: String,
    /// Weak threshold, strong threshold and agreement, each in [0, 1]; cells with other values are left out.
    pub cells: Vec<(f64, f64, f64)>,
    /// The distance between neighbouring thresholds.
    pub step: f64,
    /// Pairs of thresholds that are marked, with their names.
    pub marks: Vec<(String, f64, f64)>,
}

impl AgreementMap {
    /// The figure as SVG.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let cells: Vec<(f64, f64, f64)> = self
            .cells
            .iter()
            .copied()
            .filter(|(weak, strong, agreement)| {
                [weak, strong, agreement].into_iter().all(|v| (0.0..=1.0).contains(v))
            })
            .collect();
        let values = || cells.iter().map(|(_, _, agreement)| *agreement);
        let (low, high) = (values().fold(1.0, f64::min), values().fold(0.0, f64::max));
        let (mut canvas, top) = frame::titled(&self.title);
        let top = if cells.is_empty() { top } else { draw_scale(&mut canvas, top, low, high) } + TITLE;
        let bottom = top + PLOT_HEIGHT;
        let x = Axis::whole(LEFT, WIDTH - MARGIN - GAP, Unit::Fraction);
        let y = |value: f64| bottom - value.clamp(0.0, 1.0) * PLOT_HEIGHT;
        x.draw(&mut canvas, top, bottom, "weak threshold");
        let ticks = (0..=TICKS).map(|tick| f64::from(tick) / f64::from(TICKS));
        x.draw_side(&mut canvas, ticks.map(|value| (y(value), format!("{value:.1}"))));
        canvas.text((MARGIN, top - 12.0), SMALL, Anchor::Start, "strong threshold");
        let half = if self.step.is_finite() { self.step.clamp(0.001, 1.0) / 2.0 } else { 0.01 };
        for &(weak, strong, agreement) in &cells {
            let (left, right) = (x.x(weak - half), x.x(weak + half));
            let (upper, lower) = (y(strong + half), y(strong - half));
            let area = Rectangle { x: left, y: upper, width: right - left, height: lower - upper };
            let about = format!("weak {weak:.2}, strong {strong:.2}: {:.1} %", 100.0 * agreement);
            canvas.described(&about, |canvas| canvas.rectangle(area, &shade(agreement, low, high)));
        }
        let places = self.marks.iter().map(|(_, weak, strong)| (x.x(weak.clamp(0.0, 1.0)), y(*strong)));
        let places: Vec<(f64, f64)> = places.collect();
        for &place in &places {
            canvas.disc(place, 5.0, "#fff");
        }
        self.draw_names(&mut canvas, &places, (top, bottom));
        let note =
            if cells.is_empty() { "There is nothing to show." } else { "Darker: more labels are met." };
        frame::finish(canvas, &self.title, [note.to_owned()], bottom + axis::HEIGHT)
    }
}

/// Free space above the plot, for the title of the vertical axis.
const TITLE: f64 = 28.0;

/// Height of the plate under a name, and the distance of two of them.
const PLATE: f64 = 16.0;

impl AgreementMap {
    /// Writes the name of each mark beside it, or below or above where it would cover another one or leave the plot.
    fn draw_names(&self, canvas: &mut Canvas, places: &[(f64, f64)], (top, bottom): (f64, f64)) {
        let disc = |&(cx, cy): &(f64, f64)| Rectangle { x: cx - 5.0, y: cy - 5.0, width: 10.0, height: 10.0 };
        let mut taken: Vec<Rectangle> = places.iter().map(disc).collect();
        for ((name, weak, strong), &(cx, cy)) in self.marks.iter().zip(places) {
            let content = format!("{} ({weak:.3}, {strong:.3})", text::brief(name));
            let width = text::width(&content, SMALL) + 4.0;
            // The name goes to the right, over the half that has no squares, or to the left if there is no room.
            let is_right = cx + GAP + width < WIDTH - MARGIN;
            let x = if is_right { cx + GAP - 2.0 } else { cx - GAP - width + 2.0 };
            let plate = |offset: i32| Rectangle {
                x,
                y: cy.clamp(top + PLATE / 2.0, bottom - PLATE / 2.0) + PLATE * (f64::from(offset) - 0.5),
                width,
                height: PLATE,
            };
            let is_free = |plate: &Rectangle| {
                plate.y >= top
                    && plate.y + PLATE <= bottom
                    && !taken.iter().any(|other| overlap(other, plate))
            };
            let plate =
                (0..20).flat_map(|far| [plate(far), plate(-far)]).find(is_free).unwrap_or_else(|| plate(0));
            canvas.rectangle(plate, "#fff");
            let label_at = (plate.x + 2.0, baseline(plate.y + PLATE / 2.0, SMALL));
            canvas.text(label_at, SMALL, Anchor::Start, &content);
            taken.push(plate);
        }
    }
}

fn overlap(one: &Rectangle, other: &Rectangle) -> bool {
    let apart = |a: f64, width: f64, b: f64, other: f64| a + width <= b || b + other <= a;
    !apart(one.x, one.width, other.x, other.width) && !apart(one.y, one.height, other.y, other.height)
}

/// A shade from light to dark between the lowest and the highest value: lightness distinguishes values, not hue alone.
fn shade(value: f64, low: f64, high: f64) -> String {
    let share = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
    let between = |light: f64, dark: f64| light + share * (dark - light);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
    let hexadecimal = |value: f64| format!("{:02x}", value.round() as u8);
    let [red, green, blue] =
        [between(240.0, 0.0), between(246.0, 68.0), between(252.0, 110.0)].map(hexadecimal);
    format!("#{red}{green}{blue}")
}

fn draw_scale(canvas: &mut Canvas, top: f64, low: f64, high: f64) -> f64 {
    let (size, y) = (12.0, top + 4.0);
    let base = baseline(y + size / 2.0, SMALL);
    canvas.text((LEFT, base), SMALL, Anchor::Start, &format!("{:.1} %", 100.0 * low));
    let left = LEFT + 56.0;
    for square in 0..SCALE {
        let value = low + (high - low) * f64::from(square) / f64::from(SCALE - 1);
        let area = Rectangle { x: left + size * f64::from(square), y, width: size, height: size };
        canvas.rectangle(area, &shade(value, low, high));
    }
    let right = left + size * f64::from(SCALE) + GAP;
    canvas.text((right, base), SMALL, Anchor::Start, &format!("{:.1} % agreement", 100.0 * high));
    y + size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_darkest_square_is_where_most_labels_are_met() {
        let map = AgreementMap {
            title: "Agreement <by> thresholds".to_owned(),
            cells: vec![(0.2, 0.4, 0.5), (0.6, 0.8, 0.9), (0.5, f64::NAN, 0.9), (2.0, 0.5, 0.5)],
            step: 0.02,
            marks: vec![("recommended".to_owned(), 0.6, 0.8)],
        };
        let svg = map.to_svg();
        assert!(svg.contains("weak 0.60, strong 0.80: 90.0 %") && svg.contains("recommended (0.600, 0.800)"));
        assert_eq!(svg.matches("<title>weak").count(), 2, "what is no threshold is left out");
        assert!(svg.contains("&lt;by&gt;"));
        assert_eq!(shade(0.9, 0.5, 0.9), "#00446e");
        assert_eq!(shade(0.5, 0.5, 0.9), "#f0f6fc");
        assert_eq!(shade(0.5, 0.5, 0.5), "#00446e");
        crate::to_png(&svg, 1.0).unwrap();
        let empty = AgreementMap { cells: Vec::new(), marks: Vec::new(), ..map };
        assert!(empty.to_svg().contains("nothing to show"));
    }
}
