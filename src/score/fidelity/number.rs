//! Numbers, degrees, and sides of boxes.

use super::constants::{
    BOX_SHIFT, DEGREES, LEAST_MEASURE, NOTHING, OTHER_COUNT, RELATIVE_DIFFERENCE, SAME_OTHERWISE, on_curve,
    on_log_curve,
};
use super::{Finding, Kind};
use crate::trajectory::json::Json;

/// The number that a value is, or that its text says.
pub(super) fn of(value: &Json) -> Option<f64> {
    let number = match value {
        #[expect(clippy::cast_precision_loss, reason = "differences this small make no other number")]
        Json::Integer(value) => *value as f64,
        Json::LongInteger(digits) => digits.parse().ok()?,
        Json::Float(value) => *value,
        Json::String(text) => in_text(text)?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// A number that is all of a text, with or without separators of thousands.
pub(super) fn in_text(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.is_empty()
        || text.len() > 40
        || text.bytes().any(|byte| byte.is_ascii_alphabetic() && byte != b'e' && byte != b'E')
    {
        return None;
    }
    let plain = without_thousands(text);
    plain.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// `1,234,567.8` without its commas; anything else as it is.
pub(super) fn without_thousands(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').map_or((text, ""), |(whole, fraction)| (whole, fraction));
    let mut groups = whole.trim_start_matches(['-', '+']).split(',');
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.peekable();
    let is_grouped = rest.peek().is_some()
        && (1..=3).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_digit())
        && !fraction.contains(',')
        && rest.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()));
    if is_grouped { text.replace(',', "") } else { text.to_owned() }
}

/// Compares two numbers; exact ones are another number with another digit.
pub(super) fn numbers(x: f64, y: f64, is_exact: bool) -> Finding {
    let kind = Kind::Number;
    let larger = x.abs().max(y.abs());
    if (x - y).abs() <= larger * f64::EPSILON {
        return Finding::new(kind, SAME_OTHERWISE, "the same number");
    }
    if x * y < 0.0 {
        return Finding::new(kind, NOTHING, "the sign differs");
    }
    let relative = (x - y).abs() / larger;
    let are_whole = x.fract() == 0.0 && y.fract() == 0.0;
    let are_years = (1800.0..=2100.0).contains(&x) && (1800.0..=2100.0).contains(&y);
    if are_whole && (is_exact || are_years || larger < LEAST_MEASURE) {
        return Finding::new(kind, OTHER_COUNT, "another number");
    }
    let reason = if relative > 0.89 {
        "another order of magnitude"
    } else if relative < 0.01 {
        "differs by rounding"
    } else {
        "another number"
    };
    Finding::new(kind, on_log_curve(&RELATIVE_DIFFERENCE, relative), reason)
}

/// Compares two latitudes or two longitudes.
pub(super) fn degrees(x: f64, y: f64) -> Finding {
    let difference = (x - y).abs();
    // The same meridian has two numbers.
    let difference = if difference > 180.0 { (360.0 - difference).abs() } else { difference };
    let reason = if x * y < 0.0 && (x + y).abs() < 0.01 * x.abs() {
        "the sign differs"
    } else if difference < 1e-3 {
        "less than a hundred metres away"
    } else if difference < 1e-2 {
        "about a kilometre away"
    } else {
        "another place"
    };
    Finding::new(Kind::Coordinate, on_log_curve(&DEGREES, difference), reason)
}

/// Compares sides of two boxes of this length.
pub(super) fn box_sides(x: f64, y: f64, span: f64) -> Finding {
    if x * y < 0.0 {
        return Finding::new(Kind::BoxSide, NOTHING, "the sign differs");
    }
    let shift = (x - y).abs() / span;
    let reason = if shift < 0.06 { "nearly the same box" } else { "another box" };
    Finding::new(Kind::BoxSide, on_curve(&BOX_SHIFT, shift), reason)
}

/// Latitude and longitude in one text, `52.08,4.31`.
pub(super) fn pair_of_degrees(text: &str) -> Option<(f64, f64)> {
    let (latitude, longitude) = text.trim().trim_matches(['(', ')', '[', ']']).split_once(',')?;
    let has_point = latitude.contains('.') && longitude.contains('.');
    let (latitude, longitude) = (in_text(latitude)?, in_text(longitude)?);
    (has_point && latitude.abs() <= 180.0 && longitude.abs() <= 180.0).then_some((latitude, longitude))
}
