//! What kind two single values are, and their comparison as that.

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::name::Name;
use super::words::Words;
use super::{Finding, Kind, code, location, moment, number, quantity, text};
use crate::score::schema::Schema;
use crate::trajectory::json::Json;

/// Where two values stand.
#[derive(Debug, Clone, Default)]
pub(super) struct Setting<'a> {
    pub(super) name: Name,
    pub(super) schema: Option<Schema<'a>>,
    pub(super) is_required: bool,
    /// The length of the box that they are sides of.
    pub(super) span: Option<f64>,
    /// Whether they are of a tile of a map, which is another one with another digit.
    pub(super) is_tile: bool,
}

/// What kind a value looks like by itself.
pub(super) fn kind_of(value: &Json) -> Kind {
    match value {
        Json::Null => Kind::Null,
        Json::Bool(_) => Kind::Boolean,
        Json::Integer(_) | Json::LongInteger(_) | Json::Float(_) => Kind::Number,
        Json::String(_) => Kind::Text,
        Json::Array(_) => Kind::List,
        Json::Object(_) => Kind::Object,
    }
}

/// Compares two values that are not equal, and neither lists nor objects both.
pub(super) fn compare(setting: &Setting<'_>, words: &Words, a: &Json, b: &Json) -> Finding {
    let is_boolean = setting.schema.is_some_and(|schema| schema.is_of_type("boolean"));
    if is_boolean || matches!(a, Json::Bool(_)) || matches!(b, Json::Bool(_)) {
        return match (truth(a), truth(b)) {
            (Some(a), Some(b)) if a == b => {
                Finding::new(Kind::Boolean, SAME_OTHERWISE, "the same truth value")
            }
            (Some(_), Some(_)) => Finding::new(Kind::Boolean, NOTHING, "the opposite"),
            _ => Finding::new(Kind::Boolean, NOTHING, "not both true or false"),
        };
    }
    let are_texts = matches!((a, b), (Json::String(_), Json::String(_)));
    if let (Some(x), Some(y)) = (number::of(a), number::of(b))
        && !(are_texts && (setting.name.is_code() || is_padded(a) || is_padded(b)))
    {
        return numbers(setting, a, b, x, y);
    }
    match (written(a), written(b)) {
        (Some(a), Some(b)) => texts(setting, words, &a, &b),
        _ => Finding::new(kind_of(a), NOTHING, "values of different types"),
    }
}

fn numbers(setting: &Setting<'_>, a: &Json, b: &Json, x: f64, y: f64) -> Finding {
    if setting.name.is_degrees() {
        number::degrees(x, y)
    } else if let Some(span) = setting.span {
        number::box_sides(x, y, span)
    } else if matches!((a, b), (Json::LongInteger(_), _) | (_, Json::LongInteger(_))) {
        // More digits than a double tells apart.
        Finding::new(
            Kind::Code,
            if text_of(a) == text_of(b) { SAME_OTHERWISE } else { NOTHING },
            "long numbers",
        )
    } else {
        number::numbers(x, y, setting.name.is_exact() || setting.is_tile)
    }
}

/// Compares two texts.
fn texts(setting: &Setting<'_>, words: &Words, a: &str, b: &str) -> Finding {
    let name = &setting.name;
    if setting.schema.is_some_and(Schema::has_choices) {
        return code::choices(a, b);
    }
    if (name.is_language() || name.is_region() || name.is_currency())
        && let Some(finding) = code::standard(name, a, b)
    {
        return finding;
    }
    if let Some(finding) = code::dois(a, b) {
        return finding;
    }
    if let Some(finding) = location::urls(a, b, name.is_url()) {
        return finding;
    }
    if let (Some(x), Some(y)) = (number::pair_of_degrees(a), number::pair_of_degrees(b)) {
        let (first, second) = (number::degrees(x.0, y.0), number::degrees(x.1, y.1));
        return if first.score <= second.score { first } else { second };
    }
    if let Some(finding) = moment::compare(a, b) {
        return finding;
    }
    if let Some(finding) = quantity::compare(a, b) {
        return finding;
    }
    if location::is_path(a, name.is_path()) && location::is_path(b, name.is_path()) {
        return location::paths(a, b);
    }
    if code::is_code(a, name.is_code()) && code::is_code(b, name.is_code()) {
        return code::codes(a, b);
    }
    text::compare(words, a, b, name.is_place())
}

fn truth(value: &Json) -> Option<bool> {
    match value {
        Json::Bool(value) => Some(*value),
        Json::Integer(0) => Some(false),
        Json::Integer(1) => Some(true),
        Json::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A text whose zeros at the front are part of it, as in a postal code.
fn is_padded(value: &Json) -> bool {
    let digits = value.as_str().unwrap_or_default().trim();
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A text, or a number as one.
fn written(value: &Json) -> Option<std::borrow::Cow<'_, str>> {
    match value {
        Json::String(text) => Some(text.as_str().into()),
        Json::Integer(_) | Json::LongInteger(_) | Json::Float(_) => Some(text_of(value).into()),
        _ => None,
    }
}

fn text_of(value: &Json) -> String {
    match value {
        Json::String(text) => text.trim().to_owned(),
        value => value.to_text(crate::trajectory::json::Keys::Sorted),
    }
}

/// The length of the box that members of two objects are sides of, along an axis: the smaller of both, so that a side
/// that moves away never makes the others look nearer.
pub(super) fn spans(a: &[(String, Json)], b: &[(String, Json)], axis: usize) -> Option<f64> {
    let span = |members: &[(String, Json)]| {
        let sides = members.iter().filter_map(|(key, value)| {
            let name = Name::new(key);
            (name.side() == Some(axis)).then(|| number::of(value).map(|value| (name.is_length(), value)))?
        });
        let sides: Vec<(bool, f64)> = sides.collect();
        if let Some((_, length)) = sides.iter().find(|side| side.0) {
            return (sides.len() > 1).then_some(length.abs());
        }
        let ends = sides.iter().map(|side| side.1);
        let (low, high) =
            (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(f64::NEG_INFINITY, f64::max));
        // A point has no length; markers and letters are some dozen pixels large.
        if sides.len() > 1 { Some(high - low) } else { sides.first().map(|_| POINT) }
    };
    Some(span(a)?.min(span(b)?)).filter(|span| span.is_finite() && *span > 0.0)
}

/// The size, in pixels, that a point is taken to have.
const POINT: f64 = 40.0;

/// The lengths, by axis, of the box that two lists of four numbers are: two corners, or a corner and two lengths.
pub(super) fn tuple_spans(name: &Name, a: &[Json], b: &[Json]) -> [Option<f64>; 2] {
    let span = |items: &[Json], axis: usize| {
        let sides: Vec<f64> = items.iter().map_while(number::of).collect();
        let [x1, y1, x2, y2] = sides[..] else { return None };
        let is_corners = x2 > x1 && y2 > y1;
        let (near, far) = if axis == 0 { (x1, x2) } else { (y1, y2) };
        Some(if is_corners { far - near } else { far }).filter(|span| span.is_finite() && *span > 0.0)
    };
    if !name.is_box() {
        return [None, None];
    }
    [0, 1].map(|axis| Some(span(a, axis)?.min(span(b, axis)?)))
}
