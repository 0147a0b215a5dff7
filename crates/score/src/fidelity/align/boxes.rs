//! Boxes in pictures: people and detectors draw the same box a few percent apart, so that its sides are compared by its
//! size.

use m3_trajectory::json::Json;

use super::super::name::Name;
use super::super::readers::number;

/// The size, in pixels, that a point is taken to have: markers and letters are some dozen pixels large.
const POINT: f64 = 40.0;

/// The length of the box that members of two objects are sides of, by axis: the smaller of both, so that a side that moves
/// away never makes the others look nearer.
pub(super) fn of_objects(a: &[(String, Json)], b: &[(String, Json)]) -> [Option<f64>; 2] {
    // Numbers of a tile of a map are another one with another digit.
    let is_tile = a.iter().chain(b).any(|(key, _)| key == "z");
    let length = |members: &[(String, Json)], axis: usize| {
        let sides = members.iter().filter_map(|(key, value)| {
            let name = Name::new(key);
            let is_side = name.side() == Some(axis);
            is_side.then(|| number::of(value).map(|value| (name.is_of("lengths"), value)))?
        });
        let sides: Vec<(bool, f64)> = sides.collect();
        if let Some((_, length)) = sides.iter().find(|side| side.0) {
            return (sides.len() > 1).then_some(length.abs());
        }
        let ends = sides.iter().map(|side| side.1);
        let (low, high) =
            (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(f64::NEG_INFINITY, f64::max));
        if sides.len() > 1 { Some(high - low) } else { sides.first().map(|_| POINT) }
    };
    let lengths = [0, 1].map(|axis| shorter(length(a, axis), length(b, axis)).filter(|_| !is_tile));
    // A point in a picture is some pixels away from its corner: `pow(x, y)` and shares of a width are other numbers.
    // Of both calls, so that a side that moves away never makes the others look nearer.
    let farthest = |members: &[(String, Json)]| {
        let sides = members.iter().filter(|(key, _)| Name::new(key).side().is_some());
        sides.filter_map(|(_, value)| number::of(value)).map(f64::abs).fold(0.0, f64::max)
    };
    let is_near = farthest(a).min(farthest(b)) < POINT;
    // What lies on one axis only is no place in a picture: `x` alone is any number.
    if lengths.contains(&None) || is_near { [None; 2] } else { lengths }
}

/// The lengths, by axis, of the box that two lists of four numbers are: two corners, or a corner and two lengths.
pub(super) fn of_lists(name: &Name, a: &[Json], b: &[Json]) -> [Option<f64>; 2] {
    let length = |items: &[Json], axis: usize| {
        let sides: Vec<f64> = items.iter().map_while(number::of).collect();
        let [x1, y1, x2, y2] = sides[..] else { return None };
        let is_corners = x2 > x1 && y2 > y1;
        let (near, far) = if axis == 0 { (x1, x2) } else { (y1, y2) };
        Some(if is_corners { far - near } else { far })
    };
    [0, 1].map(|axis| shorter(length(a, axis), length(b, axis)).filter(|_| name.is_of("boxes")))
}

fn shorter(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a?.min(b?)).filter(|length| length.is_finite() && *length > 0.0)
}
