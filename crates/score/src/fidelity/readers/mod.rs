//! Readers of single values. The first reader of a table that can read both values compares what it read and gives the
//! reason. The kind of its finding is its name in explanations (those of numbers are `number`, `coordinate` and
//! `box_side`). Values that no reader can read are free text.

mod address;
mod code;
mod color;
mod contact;
mod moment;
pub(super) mod number;
mod quantity;
mod standard;
#[cfg(test)]
mod tests;
mod units;

use std::borrow::Cow;

pub(super) use code::{ANOTHER_ID, NO_ID};
use m3_trajectory::json::{Json, Keys};
use unicode_normalization::{UnicodeNormalization as _, is_nfc};
pub(super) use units::unit;

use super::constants::{NOTHING, OTHER_NOTATION, SAME_OTHERWISE};
use super::language::fold;
use super::name::Name;
use super::{Finding, Kind};
use crate::schema::Schema;

/// The argument of two values that are compared.
#[derive(Debug, Clone, Default)]
pub(super) struct ArgumentContext<'a> {
    pub(super) name: Name,
    pub(super) schema: Option<Schema<'a>>,
    pub(super) is_required: bool,
    /// The lengths, along x and along y, of the region of a picture that the values belong to; for a single number,
    /// both are those of its own axis.
    pub(super) span: [Option<f64>; 2],
}

/// Two values that are not equal, and not both lists or both objects.
pub(super) struct Values<'v> {
    json: [&'v Json; 2],
    /// Both values as texts, if both are texts or numbers.
    texts: Option<[Cow<'v, str>; 2]>,
}

impl<'v> Values<'v> {
    fn new(a: &'v Json, b: &'v Json) -> Self {
        let texts = written(a).zip(written(b)).map(|(a, b)| [a, b]);
        Self { json: [a, b], texts }
    }
}

/// Reads two values and compares them; `None` unless the reader can read both.
type Reader = fn(&ArgumentContext<'_>, &Values<'_>) -> Option<Finding>;

/// The readers, in the order in which they are tried.
const READERS: &[Reader] = &[
    boolean,
    number::compare,
    choice,
    verbatim,
    standard::compare,
    color,
    contact::mails,
    address::urls,
    moment::compare,
    quantity::compare,
    address::paths,
    code::compare,
];

/// Compares two values that are not equal, and not both lists or both objects; `None` where no reader can read both.
pub(super) fn read(context: &ArgumentContext<'_>, a: &Json, b: &Json) -> Option<Finding> {
    let values = Values::new(a, b);
    READERS.iter().find_map(|reader| reader(context, &values))
}

/// The kind of two values: the one that [`Kind`] lists later, so that the order of the values makes no difference.
pub(super) fn kind_of_both(a: &Json, b: &Json) -> Kind {
    kind_of(a).max(kind_of(b))
}

/// The kind of a value by its JSON type alone.
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

/// Compares two values as booleans, if one of them is a boolean or the schema says so.
fn boolean(context: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.json;
    let is_boolean = context.schema.is_some_and(|schema| schema.is_of_type("boolean"));
    if !is_boolean && !matches!(a, Json::Bool(_)) && !matches!(b, Json::Bool(_)) {
        return None;
    }
    let (score, reason) = match (truth(a), truth(b)) {
        (Some(a), Some(b)) if a == b => (SAME_OTHERWISE, "the same truth value"),
        (Some(_), Some(_)) => (NOTHING, "the opposite"),
        _ => (NOTHING, "not both true or false"),
    };
    Some(Finding::new(Kind::Boolean, score, reason))
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

/// Compares two values of an argument whose schema lists choices.
fn choice(context: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.texts.as_ref()?;
    let schema = context.schema.filter(|schema| schema.has_choices())?;
    // Two choices of one tool mean different things.
    if schema.has_choice(a) && schema.has_choice(b) {
        return Some(Finding::new(Kind::Choice, NOTHING, "another choice"));
    }
    if let Some(finding) = standard::compare(context, values) {
        return Some(finding);
    }
    let plain = |text: &str| -> String { fold(text).chars().filter(|c| c.is_alphanumeric()).collect() };
    let is_unit = |a: &str, b: &str| units::named(a).is_some_and(|unit| Some(unit) == units::named(b));
    let is_same = plain(a) == plain(b) && !plain(a).is_empty() || is_unit(&fold(a), &fold(b));
    Some(Finding::same_or_not(Kind::Choice, is_same, ["the same choice", "another choice"]))
}

/// Compares passwords, patterns and notations, in which every sign counts, and programs, in which white space does not.
fn verbatim(context: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.texts.as_ref()?;
    if context.name.is_of("verbatim") && !a.contains(' ') && !b.contains(' ') {
        return Some(Finding::new(Kind::Verbatim, OTHER_NOTATION, "every letter of it counts"));
    }
    // A text of one word is a code, not a program.
    let is_program = |text: &str| text.trim().contains([' ', '(', '=', ';', '\n', '+', '*', '^']);
    if !context.name.is_of("programs") || !is_program(a) || !is_program(b) {
        return None;
    }
    let plain = |text: &str| -> Vec<char> {
        let text = text.trim().trim_end_matches(';').replace("**", "^");
        let signs = text.chars().filter(|c| !c.is_whitespace());
        signs.map(|c| if matches!(c, '"' | '`') { '\'' } else { c }).collect()
    };
    let (mut x, mut y) = (plain(a), plain(b));
    if x == y {
        let reason = "the same but for white space and quotation marks";
        return Some(Finding::new(Kind::Verbatim, SAME_OTHERWISE, reason));
    }
    let letters = |text: &[char]| text.iter().copied().filter(|c| c.is_alphanumeric()).collect::<String>();
    if letters(&x) == letters(&y) {
        return Some(Finding::new(Kind::Verbatim, NOTHING, "its signs differ"));
    }
    x.sort_unstable();
    y.sort_unstable();
    (x == y).then(|| Finding::new(Kind::Verbatim, NOTHING, "the same signs in another order"))
}

/// Compares colours in any writing of CSS; words alone are colours only where the argument's name says so.
fn color(context: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.texts.as_ref()?;
    let is_written = |text: &str| text.trim().starts_with(['#', 'r', 'h']) && text.contains(['#', '(']);
    if !context.name.is_of("colors") && !is_written(a) && !is_written(b) {
        return None;
    }
    let read = |text: &str| color::color(&text.trim().to_ascii_lowercase());
    let is_same = read(a)? == read(b)?;
    Some(Finding::same_or_not(Kind::Color, is_same, ["the same colour", "another colour"]))
}

/// A text, or a number as a text; `None` for other values. Accents are part of their letters (NFC), however the file
/// system or the program wrote them.
pub(super) fn written(value: &Json) -> Option<Cow<'_, str>> {
    match value {
        Json::String(text) if !is_nfc(text) => Some(text.nfc().collect::<String>().into()),
        Json::String(text) => Some(text.as_str().into()),
        Json::Integer(_) | Json::LongInteger(_) | Json::Float(_) => Some(text_of(value).into()),
        _ => None,
    }
}

fn text_of(value: &Json) -> String {
    match value {
        Json::String(text) => text.trim().to_owned(),
        value => value.to_text(Keys::Sorted),
    }
}
