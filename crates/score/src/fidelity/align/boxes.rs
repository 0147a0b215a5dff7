//! Regions of pictures: people and detectors draw the same box a few percent apart. So the numbers of boxes, circles,
//! points and lines are compared in relation to the size of the region.

use std::collections::HashMap;

use m3_trajectory::json::Json;

use super::super::constants::{POINT_SHARE, POINT_SIZE};
use super::super::name::Name;
use super::super::regions::{InObject, Shape, in_items, in_object};
use crate::schema::Schema;

/// The lengths of a region along x and along y, where it has any.
pub(super) type Span = [Option<f64>; 2];

/// The lengths by which members of two objects are compared, by their keys in the first. `name` is the name of the
/// objects or of their list, `is_visual` tells whether their calls are about a picture, and `around` holds the lengths
/// of a region that the objects are part of, as a centre is part of a circle.
pub(super) fn of_objects<'j>(
    name: &Name,
    a: &'j [(String, Json)],
    b: &[(String, Json)],
    is_visual: &dyn Fn() -> bool,
    around: Span,
) -> HashMap<&'j str, Span> {
    let mut spans = HashMap::new();
    let others = in_object(b, name);
    for InObject { prefix, shape, members } in in_object(a, name) {
        let is_of = |other: &&InObject<'_>| other.prefix == prefix && other.shape.name() == shape.name();
        let Some(other) = others.iter().find(is_of) else { continue };
        let lengths = if around == [None; 2] { lengths(&shape, &other.shape, is_visual) } else { around };
        for (key, places) in members {
            // A member of several numbers has both lengths.
            let of_one = [lengths[places.start % 2]; 2];
            spans.insert(key, if places.len() > 1 { lengths } else { of_one });
        }
    }
    spans
}

/// The lengths by which the numbers of two lists are compared, where each list is a region.
pub(super) fn of_lists(
    name: &Name,
    schema: Option<Schema<'_>>,
    a: &[Json],
    b: &[Json],
    is_visual: &dyn Fn() -> bool,
) -> Span {
    let of = |items: &[Json]| in_items(items, name, schema, is_visual);
    let Some((a, b)) = of(a).zip(of(b)) else { return [None; 2] };
    let are_corners = a.may_be_corners() && b.may_be_corners();
    let shapes = a.shape(are_corners).zip(b.shape(are_corners));
    shapes.map_or([None; 2], |(a, b)| lengths(&a, &b, is_visual))
}

/// The lengths by which differences of two regions are divided: the smaller ones, so that a side that moves away never
/// makes the others look nearer.
fn lengths(a: &Shape, b: &Shape, is_visual: &dyn Fn() -> bool) -> Span {
    // Large numbers are pixels, and numbers up to 1 may be shares of a picture; numbers between them may count
    // anything.
    let least = match a.farthest().min(b.farthest()) {
        far if far >= POINT_SIZE => Some(POINT_SIZE),
        far if far <= 1.0 && is_visual() => Some(POINT_SHARE),
        _ => None,
    };
    let shorter = |axis: usize| match (a, b) {
        (Shape::Point(_), Shape::Point(_)) => least,
        (Shape::Line { .. }, Shape::Line { .. }) => {
            Some(least?.max(a.lengths()?[axis].min(b.lengths()?[axis])))
        }
        _ => Some(a.lengths()?[axis].min(b.lengths()?[axis])),
    };
    [0, 1].map(|axis| shorter(axis).filter(|length| *length > 0.0))
}
