//! Regions of a picture, and how far two of them overlap: intersection over union.

use std::f64::consts::PI;

/// A region, in whatever unit its numbers are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::fidelity) enum Shape {
    /// An upright box, by its least and its greatest coordinates.
    Box { low: [f64; 2], high: [f64; 2] },
    /// A circle.
    Circle { center: [f64; 2], radius: f64 },
    /// A point.
    Point([f64; 2]),
    /// A straight line between two points; an arrow has a direction.
    Line { ends: [[f64; 2]; 2], is_arrow: bool },
}

/// The way in which numbers describe a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Writing {
    /// Two or more corners of a box, each x and y.
    Corners,
    /// The least corner of a box, its width and its height.
    Sizes,
    /// The centre of a box, its width and its height.
    Centers,
    /// The two ends of an arrow.
    Ends,
    /// The centre and the radius of a circle.
    Circle,
    /// A point.
    Point,
}

impl Writing {
    /// The writing with this name in the table.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "corners" => Self::Corners,
            "sizes" => Self::Sizes,
            "centers" => Self::Centers,
            "ends" => Self::Ends,
            "circle" => Self::Circle,
            "point" => Self::Point,
            _ => return None,
        })
    }
}

/// The largest coordinate. Larger ones are in no picture, and areas could not be computed with them.
const FARTHEST: f64 = 1e12;

impl Shape {
    /// The region that some numbers describe; `None` if they describe none.
    pub(super) fn new(writing: Writing, numbers: &[f64]) -> Option<Self> {
        if numbers.iter().any(|number| !number.is_finite() || number.abs() > FARTHEST) {
            return None;
        }
        match (writing, numbers) {
            (Writing::Corners, [_, _, _, _, ..]) if numbers.len().is_multiple_of(2) => {
                let of_axis = |axis: usize| numbers.iter().skip(axis).step_by(2).copied();
                let low = [0, 1].map(|axis| of_axis(axis).fold(f64::INFINITY, f64::min));
                let high = [0, 1].map(|axis| of_axis(axis).fold(f64::NEG_INFINITY, f64::max));
                Some(Self::Box { low, high })
            }
            (Writing::Sizes, &[x, y, width, height]) => {
                Self::new(Writing::Corners, &[x, y, x + width, y + height])
            }
            (Writing::Centers, &[x, y, width, height]) => {
                let (width, height) = (width / 2.0, height / 2.0);
                Self::new(Writing::Corners, &[x - width, y - height, x + width, y + height])
            }
            (Writing::Ends, &[x1, y1, x2, y2]) => {
                Some(Self::Line { ends: [[x1, y1], [x2, y2]], is_arrow: true })
            }
            (Writing::Circle, &[x, y, radius]) if radius >= 0.0 => {
                Some(Self::Circle { center: [x, y], radius })
            }
            (Writing::Point, &[x, y]) => Some(Self::Point([x, y])),
            _ => None,
        }
    }

    /// The names of all shapes in results.
    pub(in crate::fidelity) const NAMES: [&'static str; 4] = ["box", "circle", "point", "line"];

    /// The name of the shape in results.
    pub(in crate::fidelity) fn name(&self) -> &'static str {
        let [upright, circle, point, line] = Self::NAMES;
        match self {
            Self::Box { .. } => upright,
            Self::Circle { .. } => circle,
            Self::Point(_) => point,
            Self::Line { .. } => line,
        }
    }

    /// The coordinates and lengths of the region, by which equal regions are found.
    pub(super) fn numbers(&self) -> [f64; 4] {
        match *self {
            Self::Box { low: [x1, y1], high: [x2, y2] } | Self::Line { ends: [[x1, y1], [x2, y2]], .. } => {
                [x1, y1, x2, y2]
            }
            Self::Circle { center: [x, y], radius } => [x, y, radius, 0.0],
            Self::Point([x, y]) => [x, y, 0.0, 0.0],
        }
    }

    /// The greatest absolute coordinate of the region.
    pub(in crate::fidelity) fn farthest(&self) -> f64 {
        let reach = match *self {
            Self::Circle { center: [x, y], radius } => [x - radius, y - radius, x + radius, y + radius],
            other => other.numbers(),
        };
        reach.into_iter().map(f64::abs).fold(0.0, f64::max)
    }

    /// The width and the height of the region; `None` for a point.
    pub(in crate::fidelity) fn lengths(&self) -> Option<[f64; 2]> {
        match *self {
            Self::Box { low, high } => Some([0, 1].map(|axis| high[axis] - low[axis])),
            Self::Circle { radius, .. } => Some([2.0 * radius; 2]),
            Self::Line { ends: [a, b], .. } => Some([0, 1].map(|axis| (a[axis] - b[axis]).abs())),
            Self::Point(_) => None,
        }
    }

    /// Intersection over union, in [0, 1]; 0 for regions of different shapes. A point counts as a disc of
    /// `point_radius`, and a line by the mean overlap of its ends. Regions without an area have 1 if they are equal,
    /// else 0.
    pub(super) fn overlap(&self, other: &Self, point_radius: f64) -> f64 {
        let points = |a: &[f64; 2], b: &[f64; 2]| discs((*a, point_radius), (*b, point_radius));
        match (self, other) {
            (Self::Box { low: a, high: b }, Self::Box { low: c, high: d }) => boxes([*a, *b], [*c, *d]),
            (Self::Circle { center: a, radius: r }, Self::Circle { center: b, radius: s }) => {
                discs((*a, *r), (*b, *s))
            }
            (Self::Point(a), Self::Point(b)) => points(a, b),
            (Self::Line { ends: [a, b], is_arrow }, Self::Line { ends: [c, d], .. }) => {
                let along = points(a, c) + points(b, d);
                let against = if *is_arrow { 0.0 } else { points(a, d) + points(b, c) };
                along.max(against) / 2.0
            }
            _ => 0.0,
        }
    }
}

/// Intersection over union of two boxes, each its least and its greatest corner.
fn boxes([a, b]: [[f64; 2]; 2], [c, d]: [[f64; 2]; 2]) -> f64 {
    let area = |low: [f64; 2], high: [f64; 2]| (high[0] - low[0]) * (high[1] - low[1]);
    let common = [0, 1].map(|axis: usize| (b[axis].min(d[axis]) - a[axis].max(c[axis])).max(0.0));
    let intersection = common[0] * common[1];
    let union = area(a, b) + area(c, d) - intersection;
    if union > 0.0 { (intersection / union).clamp(0.0, 1.0) } else { same((a, b) == (c, d)) }
}

/// Intersection over union of two discs, each its centre and its radius. Their intersection is two segments of circles.
fn discs((a, r): ([f64; 2], f64), (b, s): ([f64; 2], f64)) -> f64 {
    let distance = (a[0] - b[0]).hypot(a[1] - b[1]);
    let (small, large) = (r.min(s), r.max(s));
    if large <= 0.0 {
        return same(distance <= 0.0);
    }
    if distance >= r + s {
        return 0.0;
    }
    if distance <= large - small {
        return (small / large).powi(2);
    }
    // In units of the larger radius, so that nothing is too large or too small.
    let (distance, r, s) = (distance / large, r / large, s / large);
    let sector = |r: f64, s: f64| {
        let cosine = (distance * distance + r * r - s * s) / (2.0 * distance * r);
        r * r * cosine.clamp(-1.0, 1.0).acos()
    };
    let kite = (r + s - distance) * (distance + r - s) * (distance - r + s) * (distance + r + s);
    let lens = sector(r, s) + sector(s, r) - kite.max(0.0).sqrt() / 2.0;
    (lens / (PI * (r * r + s * s) - lens)).clamp(0.0, 1.0)
}

fn same(is_same: bool) -> f64 {
    f64::from(u8::from(is_same))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(writing: Writing, numbers: &[f64]) -> Shape {
        Shape::new(writing, numbers).unwrap()
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }

    /// By hand: of 4 x 4 and 4 x 4, moved by 1: 3 x 4 of 5 x 4. In another writing, and with swapped corners, too.
    #[test]
    fn boxes_overlap_by_their_area() {
        let a = shape(Writing::Corners, &[0.0, 0.0, 4.0, 4.0]);
        for b in [
            shape(Writing::Corners, &[1.0, 0.0, 5.0, 4.0]),
            shape(Writing::Corners, &[5.0, 4.0, 1.0, 0.0]),
            shape(Writing::Corners, &[1.0, 0.0, 5.0, 0.0, 5.0, 4.0, 1.0, 4.0]),
            shape(Writing::Sizes, &[1.0, 0.0, 4.0, 4.0]),
            shape(Writing::Sizes, &[5.0, 4.0, -4.0, -4.0]),
            shape(Writing::Centers, &[3.0, 2.0, 4.0, 4.0]),
        ] {
            near(a.overlap(&b, 1.0), 0.6);
        }
        near(a.overlap(&shape(Writing::Corners, &[4.0, 0.0, 8.0, 4.0]), 1.0), 0.0);
    }

    /// Two unit circles one radius apart share 2 pi / 3 - sqrt(3) / 2 (the vesica piscis); one within the other shares itself.
    #[test]
    fn circles_overlap_by_their_lens() {
        let circle = |x: f64, radius: f64| shape(Writing::Circle, &[x, 0.0, radius]);
        let lens = 2.0 * PI / 3.0 - 3.0_f64.sqrt() / 2.0;
        near(circle(0.0, 1.0).overlap(&circle(1.0, 1.0), 9.0), lens / (2.0 * PI - lens));
        near(circle(0.0, 210.0).overlap(&circle(0.0, 211.0), 9.0), (210.0_f64 / 211.0).powi(2));
        near(circle(0.0, 1.0).overlap(&circle(0.5, 3.0), 9.0), 1.0 / 9.0);
        near(circle(0.0, 1.0).overlap(&circle(2.0, 1.0), 9.0), 0.0);
        near(circle(1e9, 1e-9).overlap(&circle(1e9, 1e-9), 9.0), 1.0);
    }

    #[test]
    fn points_are_discs_and_lines_their_ends() {
        let point = |x: f64| shape(Writing::Point, &[x, 7.0]);
        near(point(1.0).overlap(&point(1.0), 20.0), 1.0);
        near(point(1.0).overlap(&point(41.0), 20.0), 0.0);
        let disc = |x: f64| shape(Writing::Circle, &[x, 7.0, 20.0]);
        near(point(1.0).overlap(&point(9.0), 20.0), disc(1.0).overlap(&disc(9.0), 1.0));
        let arrow = |numbers: &[f64]| shape(Writing::Ends, numbers);
        let (to, back) = (arrow(&[0.0, 0.0, 300.0, 0.0]), arrow(&[300.0, 0.0, 0.0, 0.0]));
        near(to.overlap(&back, 20.0), 0.0);
        let Shape::Line { ends, .. } = to else { panic!("an arrow is a line") };
        near(Shape::Line { ends, is_arrow: false }.overlap(&back, 20.0), 1.0);
    }

    #[test]
    fn what_has_no_area_is_the_same_or_not() {
        let line = shape(Writing::Corners, &[1.0, 1.0, 5.0, 1.0]);
        near(line.overlap(&line, 1.0), 1.0);
        near(line.overlap(&shape(Writing::Corners, &[1.0, 1.0, 6.0, 1.0]), 1.0), 0.0);
        let dot = shape(Writing::Circle, &[1.0, 1.0, 0.0]);
        near(dot.overlap(&dot, 1.0), 1.0);
        near(dot.overlap(&shape(Writing::Circle, &[2.0, 1.0, 0.0]), 1.0), 0.0);
        near(dot.overlap(&line, 1.0), 0.0);
    }

    #[test]
    fn numbers_without_a_meaning_are_no_region() {
        for (writing, numbers) in [
            (Writing::Corners, &[0.0, 0.0, f64::NAN, 1.0][..]),
            (Writing::Corners, &[0.0, 0.0, f64::INFINITY, 1.0]),
            (Writing::Corners, &[0.0, 0.0, 1e300, 1.0]),
            (Writing::Corners, &[0.0, 0.0, 1.0]),
            (Writing::Sizes, &[0.0, 0.0, 1.0, 1.0, 1.0]),
            (Writing::Circle, &[0.0, 0.0, -1.0]),
            (Writing::Point, &[]),
        ] {
            assert_eq!(Shape::new(writing, numbers), None, "{writing:?} {numbers:?}");
        }
    }
}
