//! Latitudes and longitudes in words: `52.08 N`, `4° 18' 36" W`, and both in one text or object.

use m3_trajectory::json::Json;

use super::constants::SAME_OTHERWISE;
use super::{Finding, number};

/// Longer texts are none.
const LONGEST: usize = 64;

/// Which of the two a hemisphere tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Latitude,
    Longitude,
}

/// The degrees that a text says, with minutes, seconds and hemisphere or without.
pub(super) fn of(text: &str) -> Option<f64> {
    read(text).map(|(degrees, _)| degrees)
}

/// Whether a text says a hemisphere or has a sign of degrees, so that it needs no name to be degrees: a small letter
/// alone is a unit, such as seconds.
pub(super) fn is_told(text: &str) -> bool {
    let is_short = text.len() <= LONGEST && text.bytes().any(|byte| byte.is_ascii_digit());
    let is_signed =
        is_short && (text.contains('°') || (text.contains('.') && text.contains(['N', 'S', 'E', 'W'])));
    is_signed && read(text).is_some_and(|(_, axis)| axis.is_some())
}

fn read(text: &str) -> Option<(f64, Option<Axis>)> {
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (mut parts, mut sign, mut axis) = ([None; 3], 1.0, None);
    let mut rest = text.trim();
    let mut count = 0;
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '0'..='9' | '.' => rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len()),
            _ if c.is_alphabetic() => rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len()),
            _ => c.len_utf8(),
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        match c {
            '0'..='9' | '.' => {
                *parts.get_mut(count)? = Some(part.parse::<f64>().ok()?);
                count += 1;
            }
            '-' | '−' if count == 0 => sign = -1.0,
            '+' if count == 0 => {}
            '°' | 'º' | '\'' | '′' | '’' | '"' | '″' | '”' | ' ' => {}
            _ => {
                let (of, turn) = match part.to_ascii_lowercase().as_str() {
                    "n" | "north" => (Axis::Latitude, 1.0),
                    "s" | "south" => (Axis::Latitude, -1.0),
                    "e" | "east" => (Axis::Longitude, 1.0),
                    "w" | "west" => (Axis::Longitude, -1.0),
                    "deg" | "degrees" | "degree" | "min" | "sec" | "minutes" | "seconds" => continue,
                    _ => return None,
                };
                if axis.replace(of).is_some() {
                    return None;
                }
                sign *= turn;
            }
        }
    }
    let [degrees, minutes, seconds] = parts.map(|part| part.unwrap_or(0.0));
    let is_angle = count > 0 && minutes < 60.0 && seconds < 60.0 && degrees <= 360.0;
    is_angle.then_some((sign * (degrees + minutes / 60.0 + seconds / 3600.0), axis))
}

/// Latitude and longitude in one text: `52.08,4.31`, `52.08° N, 4.31° E`, `51°30'26"N 0°7'39"W`, `geo:52.08,4.31`.
pub(super) fn pair(text: &str) -> Option<(f64, f64)> {
    if text.len() > 2 * LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if let Some(found) = number::pair_of_degrees(text) {
        return Some(found);
    }
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("geo:") {
        return number::pair_of_degrees(rest.split(['?', ';']).next()?);
    }
    // Well-known text has the longitude first.
    if let Some(rest) = text.strip_prefix("POINT") {
        let (longitude, latitude) =
            rest.trim().strip_prefix('(')?.strip_suffix(')')?.trim().split_once(' ')?;
        return Some((number::in_text(latitude)?, number::in_text(longitude)?));
    }
    let text = text.trim_matches(['(', ')', '[', ']']);
    let (first, second) = if let Some(parts) = text.split_once([',', ';']) {
        parts
    } else {
        let end = text.find(['N', 'S'])? + 1;
        text.split_at_checked(end)?
    };
    let ((x, of_x), (y, of_y)) = (read(first)?, read(second)?);
    match (of_x, of_y) {
        (Some(Axis::Latitude), Some(Axis::Longitude)) => Some((x, y)),
        (Some(Axis::Longitude), Some(Axis::Latitude)) => Some((y, x)),
        (None, None) if first.contains('.') && second.contains('.') => {
            (x.abs() <= 90.0 && y.abs() <= 180.0).then_some((x, y))
        }
        _ => None,
    }
}

/// Compares two texts that both say a latitude and a longitude.
pub(super) fn pairs(a: &str, b: &str) -> Option<Finding> {
    Some(both(pair(a)?, pair(b)?))
}

fn both(x: (f64, f64), y: (f64, f64)) -> Finding {
    let (first, second) = (number::degrees(x.0, y.0), number::degrees(x.1, y.1));
    if first.score <= second.score { first } else { second }
}

/// Compares a text and an object that both say a latitude and a longitude.
pub(super) fn shapes(a: &Json, b: &Json) -> Option<Finding> {
    let of = |value: &Json| match value {
        Json::String(text) => pair(text),
        Json::Object(members) if members.len() == 2 => {
            let side = |names: &[&str]| {
                let found = members.iter().find(|(key, _)| names.contains(&key.to_lowercase().as_str()))?;
                number::of(&found.1)
            };
            Some((side(&["lat", "latitude"])?, side(&["lng", "lon", "long", "longitude"])?))
        }
        _ => None,
    };
    let found = both(of(a)?, of(b)?);
    Some(Finding::new(found.kind, found.score.min(SAME_OTHERWISE), found.reason))
}
