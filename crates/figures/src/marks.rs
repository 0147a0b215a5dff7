//! Colours, shapes and patterns: each item differs from the others in two ways, so that neither colour-blind
//! readers nor grey printers lose one.
//!
//! The colours are those of Okabe and Ito, "Color Universal Design" (2008), <https://jfly.uni-koeln.de/color/>.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::svg::{Canvas, Rectangle};

const BLACK: &str = "#000000";
const ORANGE: &str = "#e69f00";
const SKY: &str = "#56b4e9";
const GREEN: &str = "#009e73";
const YELLOW: &str = "#f0e442";
const BLUE: &str = "#0072b2";
const VERMILION: &str = "#d55e00";
const PURPLE: &str = "#cc79a7";

/// The fill of bars that stand for one thing only; light enough for black whiskers.
pub(super) const BAR: &str = SKY;

/// Colours of markers.
const COLOURS: [&str; 8] = [BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW, BLACK];

/// How many markers differ from each other in colour or shape.
pub(super) const MARKERS: usize = COLOURS.len() * SHAPES.len();

/// Distance from a marker's centre to its farthest point.
pub(super) const RADIUS: f64 = 5.0;

#[derive(Debug, Clone, Copy)]
enum Shape {
    Disc,
    /// Corners on a circle, the first at this angle in degrees, clockwise from the right.
    Polygon {
        corners: u8,
        start: f64,
    },
    /// Arms of a star; the corners between them lie at this share of the radius.
    Star {
        arms: u8,
        start: f64,
        inner: f64,
    },
}

const SHAPES: [Shape; 8] = [
    Shape::Disc,
    Shape::Polygon { corners: 4, start: 45.0 },
    Shape::Polygon { corners: 3, start: -90.0 },
    Shape::Polygon { corners: 4, start: 0.0 },
    Shape::Star { arms: 4, start: -90.0, inner: 0.4 },
    Shape::Polygon { corners: 3, start: 90.0 },
    Shape::Star { arms: 4, start: 45.0, inner: 0.4 },
    Shape::Star { arms: 5, start: -90.0, inner: 0.5 },
];

/// Draws marker number `index`. The first eight differ in colour and in shape, all [`MARKERS`] in one of them.
pub(super) fn marker(canvas: &mut Canvas, index: usize, centre: (f64, f64)) {
    let colour = COLOURS.get(index % COLOURS.len()).copied().unwrap_or(BLACK);
    // Each round of colours meets the shapes one place further on.
    let shape = SHAPES.get((index + index / COLOURS.len()) % SHAPES.len()).copied().unwrap_or(Shape::Disc);
    match shape {
        Shape::Disc => canvas.disc(centre, RADIUS * 0.9, colour),
        Shape::Polygon { corners, start } => {
            canvas.outline(&around(centre, corners, start, |_| RADIUS), colour);
        }
        Shape::Star { arms, start, inner } => {
            let radius = |corner: u8| if corner.is_multiple_of(2) { RADIUS } else { RADIUS * inner };
            canvas.outline(&around(centre, 2 * arms, start, radius), colour);
        }
    }
}

fn around(centre: (f64, f64), corners: u8, start: f64, radius: impl Fn(u8) -> f64) -> Vec<(f64, f64)> {
    let point = |corner: u8| {
        let angle = (start + 360.0 * f64::from(corner) / f64::from(corners)).to_radians();
        (centre.0 + radius(corner) * angle.cos(), centre.1 + radius(corner) * angle.sin())
    };
    (0..corners).map(point).collect()
}

/// How a category of stacked bars looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Category {
    /// The colour of its area.
    pub(super) colour: &'static str,
    /// The colour of text on it.
    pub(super) ink: &'static str,
    /// What is drawn in a tile of 8 x 8 units over the area.
    pub(super) pattern: &'static str,
}

/// What is left over.
const LAST: Category = Category { colour: "#cccccc", ink: BLACK, pattern: "" };

/// Neighbours differ in lightness as well, so that edges show in grey.
const CATEGORIES: [Category; 8] = [
    Category { colour: BLUE, ink: "#fff", pattern: "" },
    Category { colour: YELLOW, ink: BLACK, pattern: "<path d=\"M0 8L8 0M-2 2L2 -2M6 10L10 6\"/>" },
    Category { colour: VERMILION, ink: BLACK, pattern: "<path d=\"M0 0L8 8M-2 6L2 10M6 -2L10 2\"/>" },
    Category { colour: SKY, ink: BLACK, pattern: "<path d=\"M1 2H3M5 6H7\" stroke-width=\"2\"/>" },
    Category { colour: PURPLE, ink: BLACK, pattern: "<path d=\"M0 0L8 8M8 0L0 8\"/>" },
    Category { colour: ORANGE, ink: BLACK, pattern: "<path d=\"M2 0V8M6 0V8\"/>" },
    Category { colour: GREEN, ink: BLACK, pattern: "<path d=\"M0 2H8M0 6H8\"/>" },
    LAST,
];

/// How many categories differ from each other.
pub(super) const MAX_CATEGORIES: usize = CATEGORIES.len();

/// The look of category `index`; those past the last look like the last.
pub(super) fn category(index: usize) -> Category {
    CATEGORIES.get(index).copied().unwrap_or(LAST)
}

/// The id of a category's pattern. It means the same in every figure: a page may hold several.
pub(super) fn pattern_id(index: usize) -> String {
    format!("m3-category-{index}")
}

/// The `<defs>` of the patterns of `categories`; nothing if there are none.
pub(super) fn pattern_definitions(categories: &BTreeSet<usize>) -> String {
    let mut definitions = String::new();
    for &index in categories {
        // Writing to a string cannot fail.
        let _ = writeln!(
            definitions,
            "<pattern id=\"{}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">\
             <g stroke=\"#222\" stroke-opacity=\"0.55\">{}</g></pattern>",
            pattern_id(index),
            category(index).pattern
        );
    }
    if definitions.is_empty() { definitions } else { format!("<defs>\n{definitions}</defs>\n") }
}

/// A key of category `index`: a small area from its upper left corner.
pub(super) fn swatch(canvas: &mut Canvas, index: usize, x: f64, y: f64) {
    canvas.patterned(Rectangle { x, y, width: 16.0, height: 12.0 }, index);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn all_markers_differ() {
        let drawn = |index| {
            let mut canvas = Canvas::default();
            marker(&mut canvas, index, (0.0, 0.0));
            canvas.finish("", 10.0)
        };
        let different: HashSet<String> = (0..MARKERS).map(drawn).collect();
        assert_eq!(different.len(), MARKERS);
    }
}
