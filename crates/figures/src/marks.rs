//! The markers of models. Each differs from the others in colour or shape, the first ones in both, so that neither
//! colour-blind readers nor grey printers lose one.

use super::palette::{BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW};
use super::svg::{Canvas, Rectangle};

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
    // Each round of colours is paired with the shapes shifted by one.
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
