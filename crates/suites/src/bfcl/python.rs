//! Values and texts as Python compares and reads them.

use std::collections::HashMap;

use m3_trajectory::json::Json;

/// Whether `a == b` in Python: numbers by value, `True` is 1, objects in any order, `nan` equals nothing.
pub(super) fn equals(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Bool(flag), other) | (other, Json::Bool(flag)) if !matches!(other, Json::Bool(_)) => {
            equals(&Json::Integer(i64::from(*flag)), other)
        }
        (Json::Integer(whole), Json::Float(number)) | (Json::Float(number), Json::Integer(whole)) => {
            integer(*number) == Some(i128::from(*whole))
        }
        (Json::LongInteger(digits), Json::Float(number))
        | (Json::Float(number), Json::LongInteger(digits)) => {
            // A float without a fraction is written with all its digits.
            number.is_finite() && number.fract() == 0.0 && format!("{number:.0}") == *digits
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equals(a, b)),
        (Json::Object(a), Json::Object(b)) => a.len() == b.len() && have_equal_members(a, b),
        _ => a == b,
    }
}

/// The float as a whole number, if it has no fraction and is below 1e20.
#[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is small enough")]
fn integer(number: f64) -> Option<i128> {
    (number.fract() == 0.0 && number.abs() < 1e20).then_some(number as i128)
}

fn have_equal_members(a: &[(String, Json)], b: &[(String, Json)]) -> bool {
    let members: HashMap<&str, &Json> = b.iter().map(|(key, value)| (key.as_str(), value)).collect();
    a.iter().all(|(key, value)| members.get(key.as_str()).is_some_and(|other| equals(value, other)))
}

/// Whether Python counts a character as blank: four separators more than Rust.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `text.strip()`.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// `text.lstrip()`.
pub(super) fn strip_start(text: &str) -> &str {
    text.trim_start_matches(is_blank)
}

/// A text without the line break at its end; `$` of an expression also matches before that.
pub(super) fn line(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// `text[1:-1]`.
pub(super) fn inner(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.next_back();
    chars.as_str()
}

/// The most digits of a whole number that Python reads.
const MAX_DIGITS: usize = 4300;

/// `int(text)` of a text without blanks around it; `None` if that fails. Python reads the digits of many scripts, but
/// only 0 to 9 are read here.
pub(super) fn int(text: &str) -> Option<Json> {
    let text = without_underscores(text)?;
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(&text)),
    };
    if !are_digits(digits) || digits.len() > MAX_DIGITS {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let written = if digits.is_empty() { "0".to_owned() } else { format!("{sign}{digits}") };
    Some(written.parse().map_or(Json::LongInteger(written), Json::Integer))
}

/// `float(text)` of a text without blanks around it; `None` if that fails.
pub(super) fn float(text: &str) -> Option<Json> {
    without_underscores(text)?.parse().ok().map(Json::Float)
}

/// The number in a text: a whole one if possible, else a float; `None` if it is not a number.
pub(super) fn number(text: &str) -> Option<Json> {
    int(text).or_else(|| float(text))
}

/// A number without the single underscores between its digits; `None` if an underscore is elsewhere.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let mut marks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_');
    let are_between = marks.all(|(at, _)| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)));
    are_between.then(|| text.replace('_', ""))
}

/// One digit or more, and nothing else.
fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is digits, with or without a minus sign.
pub(super) fn is_whole(text: &str) -> bool {
    are_digits(text.strip_prefix('-').unwrap_or(text))
}

/// Whether a text is digits, perhaps with a minus sign before them and a point and digits after them.
pub(super) fn is_decimal(text: &str) -> bool {
    match text.split_once('.') {
        Some((whole, fraction)) => is_whole(whole) && are_digits(fraction),
        None => is_whole(text),
    }
}

/// Whether a text is a decimal number, perhaps with an exponent after it.
pub(super) fn is_scientific(text: &str) -> bool {
    match text.split_once(['e', 'E']) {
        Some((number, exponent)) => {
            is_decimal(number) && are_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
        }
        None => is_decimal(text),
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    fn json(text: &str) -> Json {
        parse(text.as_bytes()).unwrap().0
    }

    /// The answers of Python 3.11 to `json.loads(a) == json.loads(b)`.
    #[test]
    fn values_are_equal_as_in_python() {
        for (a, b) in [
            ("1", "1.0"),
            ("true", "1"),
            ("0.0", "false"),
            ("[1, {\"a\": 1, \"b\": 2}]", "[true, {\"b\": 2.0, \"a\": 1}]"),
            ("9223372036854775808", "9223372036854775808.0"),
            ("-0.0", "0"),
        ] {
            assert!(equals(&json(a), &json(b)) && equals(&json(b), &json(a)), "{a} {b}");
        }
        for (a, b) in [
            ("1", "\"1\""),
            ("NaN", "NaN"),
            ("null", "0"),
            ("9007199254740993", "9007199254740992.0"),
            ("9223372036854775807", "9223372036854775808.0"),
            ("9223372036854775809", "9223372036854775808.0"),
            ("[1]", "[1, 1]"),
            ("{\"a\": 1}", "{\"b\": 1}"),
        ] {
            assert!(!equals(&json(a), &json(b)) && !equals(&json(b), &json(a)), "{a} {b}");
        }
    }

    /// The answers of Python 3.11 to `int(text)` and `float(text)`.
    #[test]
    fn texts_are_numbers_as_in_python() {
        let long = "9".repeat(MAX_DIGITS);
        for (text, wanted) in [
            ("+007", Some(Json::Integer(7))),
            ("-1_000", Some(Json::Integer(-1000))),
            ("-0", Some(Json::Integer(0))),
            (&*long, Some(Json::LongInteger(long.clone()))),
            (&*format!("{long}9"), None),
            ("1__0", None),
            ("_1", None),
            ("1_", None),
            ("1.0", None),
            ("", None),
            ("- 1", None),
        ] {
            assert_eq!(int(text), wanted, "{text}");
        }
        for (text, wanted) in [
            ("1_0.5", Some(10.5)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
        ] {
            assert_eq!(float(text), wanted.map(Json::Float), "{text}");
        }
        for text in ["", ".", "1._5", "1e", "0x1", "1f"] {
            assert_eq!(float(text), None, "{text}");
        }
        assert_eq!(strip("\u{1c}\u{a0} a b\n"), "a b");
        assert_eq!((inner("\"ä\""), inner("\""), inner("")), ("ä", "", ""));
    }
}
