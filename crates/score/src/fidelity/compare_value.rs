//! What kind two single values are, and their comparison as that.

use m3_trajectory::json::Json;

use super::constants::{CLOSE, MORE_THAN_VALUE, NOTHING, SAME_OTHERWISE};
use super::name::Name;
use super::words::Words;
use super::{
    Finding, Kind, code, color, degrees, expression, identifier, iso, location, moment, notation, number,
    numeral, quantity, source, sql, text, units,
};
use crate::schema::Schema;

/// Where two values stand.
#[derive(Debug, Clone, Default)]
pub(super) struct ArgumentContext<'a> {
    pub(super) name: Name,
    pub(super) schema: Option<Schema<'a>>,
    pub(super) is_required: bool,
    /// The length of the box that they are sides of.
    pub(super) span: Option<f64>,
    /// Whether they are of a tile of a map, which is another one with another digit.
    pub(super) is_tile: bool,
}

/// The kind of two values: of two kinds the last in their list, so that the order of the values makes no difference.
pub(super) fn kind_of_both(a: &Json, b: &Json) -> Kind {
    kind_of(a).max(kind_of(b))
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
pub(super) fn compare(context: &ArgumentContext<'_>, words: &Words, a: &Json, b: &Json) -> Finding {
    // A description is read only where it can matter: beside a number without a unit.
    let described = (number::of(a).is_some() != number::of(b).is_some())
        .then(|| context.schema.and_then(Schema::description).and_then(quantity::told))
        .flatten();
    match described {
        Some(unit) => {
            let name = context.name.clone().in_unit(unit);
            compare_values(&ArgumentContext { name, ..context.clone() }, words, a, b)
        }
        None => compare_values(context, words, a, b),
    }
}

fn compare_values(context: &ArgumentContext<'_>, words: &Words, a: &Json, b: &Json) -> Finding {
    let is_endless = |value: &Json| matches!(value, Json::Float(value) if !value.is_finite());
    if is_endless(a) || is_endless(b) {
        return Finding::new(Kind::Number, NOTHING, "another number");
    }
    let is_boolean = context.schema.is_some_and(|schema| schema.is_of_type("boolean"));
    if is_boolean || matches!(a, Json::Bool(_)) || matches!(b, Json::Bool(_)) {
        return match (truth(a), truth(b)) {
            (Some(a), Some(b)) if a == b => {
                Finding::new(Kind::Boolean, SAME_OTHERWISE, "the same truth value")
            }
            (Some(_), Some(_)) => Finding::new(Kind::Boolean, NOTHING, "the opposite"),
            _ => Finding::new(Kind::Boolean, NOTHING, "not both true or false"),
        };
    }
    if context.name.is_version()
        && let (Some(a), Some(b)) = (written(a), written(b))
        && let Some(finding) = notation::versions(&a, &b)
    {
        return finding;
    }
    let are_texts = matches!((a, b), (Json::String(_), Json::String(_)));
    if let (Some(x), Some(y)) = (number::of(a), number::of(b))
        && !(are_texts && (context.name.is_code() || is_padded(a) || is_padded(b)))
    {
        return numbers(context, a, b, x, y);
    }
    if let Some(finding) = written_otherwise(context, a, b) {
        return finding;
    }
    match (written(a), written(b)) {
        (Some(a), Some(b)) => texts(context, words, &a, &b),
        _ => Finding::new(kind_of_both(a, b), NOTHING, "values of different types"),
    }
}

/// Compares numbers that are written as people do: a month by its name, degrees with their hemisphere, a fraction, a
/// date beside the seconds since 1970.
fn written_otherwise(context: &ArgumentContext<'_>, a: &Json, b: &Json) -> Option<Finding> {
    let name = &context.name;
    let (x, y) = (written(a)?, written(b)?);
    if name.is_month()
        && let (Some(x), Some(y)) = (iso::month(&x), iso::month(&y))
    {
        let (score, reason) =
            if x == y { (SAME_OTHERWISE, "the same month") } else { (NOTHING, "another month") };
        return Some(Finding::new(Kind::Moment, score, reason));
    }
    if (name.is_degrees() || degrees::is_told(&x) || degrees::is_told(&y))
        && let (Some(x), Some(y)) = (degrees::of(&x), degrees::of(&y))
    {
        return Some(number::degrees(x, y));
    }
    let (of_x, of_y) = (number::of(a), number::of(b));
    let epoch = match (of_x, of_y) {
        (Some(number), None) => moment::with_epoch(number, &y),
        (None, Some(number)) => moment::with_epoch(number, &x),
        _ => None,
    };
    // A fraction may be a day and a month.
    let is_day = name.is_moment() && of_x.is_none() && of_y.is_none() && (x.contains('/') || y.contains('/'));
    if epoch.is_some() || name.is_code() || name.is_path() || is_day {
        return epoch;
    }
    let beside = match (of_x, of_y) {
        // Between texts `3` and `3 peaches` are two.
        _ if matches!((a, b), (Json::String(_), Json::String(_))) && !name.is_rating() => None,
        (Some(number), None) => numeral::beside(name, number, &y),
        (None, Some(number)) => numeral::beside(name, number, &x),
        _ => None,
    };
    // What has a unit of measure is compared as that.
    if let Some(beside) = beside
        && quantity::compare(name, &x, &y).is_none()
    {
        return Some(beside);
    }
    // What is a quantity or a date as well is compared as that, unless the other is a number.
    let (first, second) = (of_x.or_else(|| number::written(&x))?, of_y.or_else(|| number::written(&y))?);
    if of_x.is_some() && of_y.is_some() {
        return None;
    }
    Some(numbers(context, a, b, first, second))
}

fn numbers(context: &ArgumentContext<'_>, a: &Json, b: &Json, x: f64, y: f64) -> Finding {
    if !x.is_finite() || !y.is_finite() {
        // Larger than any number that is compared as one.
        let is_same = text_of(a) == text_of(b);
        let (score, reason) =
            if is_same { (SAME_OTHERWISE, "the same number") } else { (NOTHING, "another number") };
        Finding::new(Kind::Number, score, reason)
    } else if context.name.is_degrees() {
        number::degrees(x, y)
    } else if let Some(span) = context.span {
        number::box_sides(x, y, span)
    } else if is_long(a) || is_long(b) {
        // More digits than a double tells apart.
        let is_same = text_of(a) == text_of(b);
        let (score, reason) =
            if is_same { (SAME_OTHERWISE, "the same number") } else { (NOTHING, "another number") };
        Finding::new(Kind::Code, score, reason)
    } else if context.name.is_moment()
        && let Some(finding) = moment::epochs(x, y)
    {
        finding
    } else {
        number::numbers(x, y, context.name.is_exact() || context.is_tile, context.name.is_measure())
    }
}

/// Compares two texts.
fn texts(context: &ArgumentContext<'_>, words: &Words, a: &str, b: &str) -> Finding {
    let name = &context.name;
    let (a, b) = if name.may_be_said() { (without_label(name, a), without_label(name, b)) } else { (a, b) };
    if a == b {
        return Finding::new(Kind::Text, SAME_OTHERWISE, "the argument's name before it");
    }
    // Two values that one tool lists are two, also where they are one language.
    if context.schema.is_some_and(|schema| schema.has_choice(a) && schema.has_choice(b)) {
        return code::choices(a, b);
    }
    if (name.is_language() || name.is_region() || name.is_currency())
        && let Some(finding) = code::iso_names(name, a, b)
    {
        return finding;
    }
    if context.schema.is_some_and(Schema::has_choices) {
        return code::choices(a, b);
    }
    let has_digit = a.bytes().any(|byte| byte.is_ascii_digit());
    if (name.is_unit() || has_digit) && units::differ_in_case(a.trim(), b.trim()) {
        return Finding::new(Kind::Quantity, NOTHING, "a unit of another case");
    }
    let rules: [&dyn Fn() -> Option<Finding>; 15] = [
        &|| iso::compare(name, a, b),
        &|| if name.is_unit() { quantity::units(a, b) } else { None },
        &|| color::compare(name, a, b),
        &|| if name.is_expression() { expression::compare(a, b) } else { None },
        &|| code::dois(a, b),
        &|| notation::compare(name, a, b),
        &|| identifier::compare(name, a, b),
        &|| numeral::compare(name, a, b),
        &|| location::articles(a, b),
        &|| location::urls(a, b, name.is_url()),
        &|| degrees::pairs(a, b),
        &|| moment::compare(a, b).or_else(|| moment::ranges(a, b)),
        &|| quantity::compare(name, a, b),
        &|| sql::compare(a, b),
        &|| source::compare(name, a, b),
    ];
    if let Some(finding) = rules.iter().find_map(|rule| rule()) {
        return finding;
    }
    if location::is_path(a, name.is_path()) && location::is_path(b, name.is_path()) {
        return location::paths(a, b);
    }
    if code::is_code(a, name.is_code()) && code::is_code(b, name.is_code()) {
        return code::codes(a, b, name.is_code());
    }
    if let (Some(x), Some(y)) = (iso::weekday(a), iso::weekday(b)) {
        let (score, reason) =
            if x == y { (SAME_OTHERWISE, "the same day") } else { (NOTHING, "another day") };
        return Finding::new(Kind::Moment, score, reason);
    }
    if code::are_lists(a, b) {
        let items = |text: &str| text.split(',').map(|item| item.trim().to_lowercase()).collect::<Vec<_>>();
        // Two currencies or towns in another order may be another pair; names of parts are not.
        let are_parts = name.is_of_items() || a.split(',').all(|item| item.contains(['@', '.', '_']));
        if items(a) == items(b) || are_parts && !name.is_ordered() {
            return Finding::new(Kind::List, SAME_OTHERWISE, "the same items in another writing");
        }
    }
    let is_of_signs = |text: &str| !text.contains(char::is_alphanumeric);
    if is_of_signs(a) && is_of_signs(b) && a.trim() != b.trim() {
        return Finding::new(Kind::Text, NOTHING, "other signs");
    }
    if name.is_query() && excluded(a) != excluded(b) {
        return Finding::new(Kind::Text, NOTHING, "a word is excluded in one of them");
    }
    if name.is_person() && are_two_people(a, b) {
        return Finding::new(Kind::Text, NOTHING, "another person");
    }
    let finding = text::compare(words, a, b, name.is_place());
    let words_of = |text: &str| text.split_whitespace().count();
    let is_value = name.is_code() || name.is_moment();
    // A word more, however little it says, makes another value of what is no prose.
    if is_value && finding.score >= CLOSE && words_of(a) != words_of(b) && words_of(a).min(words_of(b)) == 1 {
        return Finding::new(finding.kind, MORE_THAN_VALUE, "more than the value alone");
    }
    finding
}

/// A text without the name of its argument before it, as in `address: ..`.
fn without_label<'t>(name: &Name, text: &'t str) -> &'t str {
    let label =
        text.split_once(": ").filter(|(label, rest)| name.says(label.trim()) && !rest.trim().is_empty());
    label.map_or(text, |(_, rest)| rest)
}

/// The words of a query that are to be left out, `-car`.
fn excluded(text: &str) -> Vec<&str> {
    if !text.starts_with('-') && !text.contains(" -") {
        return Vec::new();
    }
    let is_excluded = |word: &&str| {
        word.strip_prefix('-').is_some_and(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '"'))
    };
    let mut words: Vec<&str> = text.split_whitespace().filter(is_excluded).collect();
    words.sort_unstable();
    words
}

/// Whether two names of persons differ in one name, which a slip of the keyboard would forgive elsewhere.
fn are_two_people(a: &str, b: &str) -> bool {
    let names = |text: &str| -> Vec<String> {
        let folded = text::fold(text);
        // Letters of other languages have two writings.
        let plain = folded.replace("ae", "a").replace("oe", "o").replace("ue", "u");
        plain.split([' ', '.', ',', '-']).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let is_capital = |text: &str| text.split_whitespace().all(|word| word.starts_with(char::is_uppercase));
    if a.len() > LONGEST_NAME || b.len() > LONGEST_NAME || !is_capital(a) || !is_capital(b) {
        return false;
    }
    let (x, y) = (names(a), names(b));
    let left = |x: &[String], y: &[String]| -> Vec<String> {
        x.iter().filter(|name| !y.contains(name)).cloned().collect()
    };
    let (in_a, in_b) = (left(&x, &y), left(&y, &x));
    let ([one], [other]) = (&in_a[..], &in_b[..]) else { return false };
    // A plural is of a thing that has a name.
    let is_plural = one.strip_suffix('s') == Some(other) || other.strip_suffix('s') == Some(one);
    // Initials are the same name.
    !is_plural && x.len() == y.len() && x.len() > 1 && one.len() > 1 && other.len() > 1
}

/// Longer texts are no names of persons.
const LONGEST_NAME: usize = 64;

/// Compares two values of which one is a text and the other a list or an object of its parts.
pub(super) fn shapes(name: &Name, a: &Json, b: &Json) -> Option<Finding> {
    color::shapes(name, a, b).or_else(|| degrees::shapes(a, b)).or_else(|| notation::size_shapes(a, b))
}

fn truth(value: &Json) -> Option<bool> {
    match value {
        Json::Bool(value) => Some(*value),
        Json::Integer(0) => Some(false),
        Json::Integer(1) => Some(true),
        Json::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" | "on" | "1" | "y" | "t" | "enabled" => Some(true),
            "false" | "no" | "off" | "0" | "n" | "f" | "disabled" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a whole number has more digits than a double tells apart.
fn is_long(value: &Json) -> bool {
    match value {
        Json::LongInteger(_) => true,
        Json::Integer(value) => value.unsigned_abs() > 1 << 53,
        _ => false,
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
        value => value.to_text(m3_trajectory::json::Keys::Sorted),
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
