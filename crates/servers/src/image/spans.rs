//! Shapes as rows of pixels. Every shape is cut to the image before anything is counted or walked, so that a
//! radius of a billion takes no longer than the image is high.
//!
//! A pixel is its center: the pixel at (3, 5) belongs to a shape if the point (3, 5) does. Edges are not smoothed, so
//! that the pixels of a shape can be computed by hand.

use std::ops::Range;

/// A point in pixels from the top left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The four edges of a rectangle, all of them inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Edges {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

/// A shape that can be filled with a color.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// All points at most `radius` from the center.
    Disc { center: Point, radius: f64 },
    /// All points at least `inner` and less than `outer` from the center.
    Ring { center: Point, inner: f64, outer: f64 },
    /// A rectangle.
    Rectangle(Edges),
    /// A rectangle without the one inside of it.
    Frame { outer: Edges, hole: Edges },
    /// All points at most `radius` from the straight line between two points.
    Line { from: Point, to: Point, radius: f64 },
    /// The area of a polygon by the even-odd rule, its outline included.
    Polygon(Vec<Point>),
}

/// Columns `.0` to `.1`, both inside; empty if the first is larger.
type Columns = (f64, f64);

const NONE: Columns = (f64::INFINITY, f64::NEG_INFINITY);

/// A tolerance, so that rounding errors do not decide whether a pixel belongs to a shape.
const ROUNDOFF: f64 = 1e-6;

impl Edges {
    /// A rectangle between any two opposite corners.
    pub(super) fn between(a: Point, b: Point) -> Self {
        Self { left: a.x.min(b.x), top: a.y.min(b.y), right: a.x.max(b.x), bottom: a.y.max(b.y) }
    }

    /// The rectangle with each edge moved outward.
    pub(super) fn grown(self, by: f64) -> Self {
        Self { left: self.left - by, top: self.top - by, right: self.right + by, bottom: self.bottom + by }
    }

    fn columns(&self, y: f64) -> Columns {
        if (self.top..=self.bottom).contains(&y) { (self.left, self.right) } else { NONE }
    }
}

impl Shape {
    /// Calls `paint` with each row that the shape has in an image, and the columns there; a pixel may be painted more
    /// than once. Returns how many pixels were painted.
    pub(super) fn spans(&self, (width, height): (u32, u32), mut paint: impl FnMut(u32, Range<u32>)) -> u64 {
        let (top, bottom) = self.rows();
        let mut painted = 0;
        for row in cut((top, bottom), height) {
            let mut paint = |columns: Columns| {
                let columns = cut(columns, width);
                painted += u64::from(columns.end.saturating_sub(columns.start));
                if !columns.is_empty() {
                    paint(row, columns);
                }
            };
            self.row(f64::from(row), &mut paint);
        }
        painted
    }

    /// The first and the last row in which the shape may have pixels.
    fn rows(&self) -> (f64, f64) {
        match self {
            Self::Disc { center, radius: reach } | Self::Ring { center, outer: reach, .. } => {
                (center.y - reach, center.y + reach)
            }
            Self::Rectangle(edges) | Self::Frame { outer: edges, .. } => (edges.top, edges.bottom),
            Self::Line { from, to, radius } => (from.y.min(to.y) - radius, from.y.max(to.y) + radius),
            Self::Polygon(corners) => {
                corners.iter().fold(NONE, |rows, corner| hull(rows, (corner.y, corner.y)))
            }
        }
    }

    fn row(&self, y: f64, paint: &mut impl FnMut(Columns)) {
        match self {
            Self::Disc { center, radius } => paint(disc(*center, *radius, y)),
            Self::Ring { center, inner, outer } => {
                apart(open_disc(*center, *outer, y), open_disc(*center, *inner, y), paint);
            }
            Self::Rectangle(edges) => paint(edges.columns(y)),
            Self::Frame { outer, hole } => apart(outer.columns(y), hole.columns(y), paint),
            Self::Line { from, to, radius } => paint(line(*from, *to, *radius, y)),
            Self::Polygon(corners) => polygon(corners, y, paint),
        }
    }
}

/// The whole columns or rows between two places, in an image that has `count` of them.
fn cut((first, last): (f64, f64), count: u32) -> Range<u32> {
    let first = (first - ROUNDOFF).ceil().max(0.0);
    let last = (last + ROUNDOFF).floor().min(f64::from(count) - 1.0);
    if first > last {
        return 0..0;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both are in 0..count")]
    let range = first as u32..last as u32 + 1;
    range
}

fn hull(a: Columns, b: Columns) -> Columns {
    (a.0.min(b.0), a.1.max(b.1))
}

/// Paints the columns of a row without those of a hole in it.
fn apart(all: Columns, hole: Columns, paint: &mut impl FnMut(Columns)) {
    if hole.0 > hole.1 {
        paint(all);
    } else {
        paint((all.0, hole.0 - 1.0));
        paint((hole.1 + 1.0, all.1));
    }
}

/// Points at most `radius` away.
fn disc(center: Point, radius: f64, y: f64) -> Columns {
    let rest = radius * radius - (y - center.y) * (y - center.y);
    if rest < 0.0 { NONE } else { (center.x - rest.sqrt(), center.x + rest.sqrt()) }
}

/// Points less than `radius` away from a center at whole numbers; the bounds are whole.
fn open_disc(center: Point, radius: f64, y: f64) -> Columns {
    let rest = radius * radius - (y - center.y) * (y - center.y);
    if radius <= 0.0 || rest <= 0.0 {
        return NONE;
    }
    let reach = (rest.sqrt() - ROUNDOFF).ceil() - 1.0;
    (center.x - reach, center.x + reach)
}

/// Points at most `radius` from a straight line: two discs and the strip between them, which together are convex.
fn line(from: Point, to: Point, radius: f64, y: f64) -> Columns {
    let ends = hull(disc(from, radius, y), disc(to, radius, y));
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy);
    if length == 0.0 {
        return ends;
    }
    let (dx, dy, down) = (dx / length, dy / length, y - from.y);
    // Both are linear in x: the way along the line, 0 to its length, and the distance to its side.
    let along = solved(down * dy - from.x * dx, dx, 0.0, length);
    let aside = solved(down * dx + from.x * dy, -dy, -radius, radius);
    let strip = (along.0.max(aside.0), along.1.min(aside.1));
    if strip.0 <= strip.1 { hull(ends, strip) } else { ends }
}

/// The range where `low <= constant + slope * x <= high`.
fn solved(constant: f64, slope: f64, low: f64, high: f64) -> Columns {
    if slope.abs() < 1e-12 {
        let all = (f64::NEG_INFINITY, f64::INFINITY);
        return if (low..=high).contains(&constant) { all } else { NONE };
    }
    let (a, b) = ((low - constant) / slope, (high - constant) / slope);
    (a.min(b), a.max(b))
}

fn polygon(corners: &[Point], y: f64, paint: &mut impl FnMut(Columns)) {
    let mut crossings = Vec::new();
    let next = corners.iter().cycle().skip(1);
    for (&from, &to) in corners.iter().zip(next) {
        paint(line(from, to, 0.5, y));
        if (from.y <= y) != (to.y <= y) {
            crossings.push(from.x + (y - from.y) / (to.y - from.y) * (to.x - from.x));
        }
    }
    crossings.sort_by(f64::total_cmp);
    for pair in crossings.chunks_exact(2) {
        paint((pair[0], pair[1]));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: (u32, u32) = (12, 9);

    fn painted(shape: &Shape) -> Vec<(u32, u32)> {
        let mut pixels = Vec::new();
        shape.spans(SIZE, |row, columns| pixels.extend(columns.map(|column| (column, row))));
        pixels.sort_unstable();
        pixels.dedup();
        pixels
    }

    fn expected(is_inside: impl Fn(Point) -> bool) -> Vec<(u32, u32)> {
        let all = (0..SIZE.0).flat_map(|x| (0..SIZE.1).map(move |y| (x, y)));
        all.filter(|&(x, y)| is_inside(Point { x: f64::from(x), y: f64::from(y) })).collect()
    }

    fn distance(a: Point, b: Point) -> f64 {
        (a.x - b.x).hypot(a.y - b.y)
    }

    fn point() -> impl Strategy<Value = Point> {
        (-6_i32..18, -6_i32..15).prop_map(|(x, y)| Point { x: f64::from(x), y: f64::from(y) })
    }

    proptest! {
        #[test]
        fn round_shapes_are_what_is_near_their_center(center in point(), radius in 0_u8..9, width in 1_u8..6) {
            let (radius, half) = (f64::from(radius), f64::from(width) / 2.0);
            let disc = painted(&Shape::Disc { center, radius });
            prop_assert_eq!(disc, expected(|pixel| distance(pixel, center) <= radius));
            let (inner, outer) = (radius - half, radius + half);
            let ring = painted(&Shape::Ring { center, inner, outer });
            prop_assert_eq!(ring, expected(|pixel| (inner..outer).contains(&distance(pixel, center))));
        }

        /// The nearest point of a line is the foot of the perpendicular, or an end of the line.
        #[test]
        fn lines_are_what_is_near_them(from in point(), to in point(), width in 1_u8..6) {
            let radius = f64::from(width) / 2.0;
            let length = distance(from, to).max(1e-9);
            let away = |pixel: Point| {
                let along = (pixel.x - from.x) * (to.x - from.x) + (pixel.y - from.y) * (to.y - from.y);
                let part = (along / length / length).clamp(0.0, 1.0);
                let foot = Point { x: from.x + part * (to.x - from.x), y: from.y + part * (to.y - from.y) };
                distance(pixel, foot)
            };
            let line = painted(&Shape::Line { from, to, radius });
            prop_assert_eq!(line, expected(|pixel| away(pixel) <= radius + 1e-9));
        }

        #[test]
        fn upright_polygons_are_rectangles(a in point(), b in point()) {
            let corners = [(a.x, a.y), (b.x, a.y), (b.x, b.y), (a.x, b.y)];
            let corners = corners.map(|(x, y)| Point { x, y }).to_vec();
            prop_assert_eq!(painted(&Shape::Polygon(corners)), painted(&Shape::Rectangle(Edges::between(a, b))));
        }
    }

    /// A triangle with legs of 4: the rows have 5, 4, 3, 2, 1 pixels. And a star, whose middle is crossed twice.
    #[test]
    fn polygons_follow_the_even_odd_rule() {
        let polygon = |corners: &[(f64, f64)]| {
            painted(&Shape::Polygon(corners.iter().map(|&(x, y)| Point { x, y }).collect()))
        };
        let triangle = polygon(&[(1.0, 1.0), (5.0, 1.0), (1.0, 5.0)]);
        assert_eq!(triangle, expected(|pixel| pixel.x >= 1.0 && pixel.y >= 1.0 && pixel.x + pixel.y <= 6.0));
        // An outline with two squares, the inner one in the same direction.
        let twice = polygon(&[
            (0.0, 0.0),
            (8.0, 0.0),
            (8.0, 8.0),
            (0.0, 8.0),
            (0.0, 0.0),
            (2.0, 2.0),
            (6.0, 2.0),
            (6.0, 6.0),
            (2.0, 6.0),
            (2.0, 2.0),
        ]);
        assert!(twice.contains(&(1, 4)) && twice.contains(&(2, 4)) && !twice.contains(&(4, 4)), "{twice:?}");
        assert_eq!(polygon(&[(3.0, 4.0)]), [(3, 4)], "a point");
    }
}
