//! JSON values as Python's `json` module sees them.
//!
//! The benchmark's files and its published scorer are Python's: integers of any length, `NaN` and `Infinity`
//! as literals, the last of two equal keys, numbers printed by `repr`. [`parse`] reads that dialect and
//! reports each oddity with its place; [`Json::to_text`] writes it back byte for byte as
//! `json.dumps(value, ensure_ascii=False, separators=(",", ":"))` would.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;

use jiter::{JsonErrorType, JsonValue};

/// A JSON value. Objects keep the order of the file; a key occurs once.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer that fits 64 bits.
    Integer(i64),
    /// A longer integer: its decimal digits, with a minus sign where it is negative.
    LongInteger(String),
    /// A number with a point or an exponent; may be infinite or not a number.
    Float(f64),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

/// Something that is not JSON, or not only JSON, but was read all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// JSON pointer (RFC 6901) below the parsed value.
    pub pointer: String,
    /// What is odd, and how it was read.
    pub message: String,
}

/// Text that is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte offset in the parsed text.
    pub offset: usize,
    /// What was expected or found.
    pub message: String,
}

/// Parses one JSON value.
///
/// Accepts what Python's `json.loads` accepts. Half of a surrogate pair, which no UTF-8 text can hold, is
/// read as U+FFFD.
///
/// # Errors
/// [`SyntaxError`] with the offset of the first byte that cannot be read. Nesting deeper than 200 and
/// integers of more than 4300 digits (Python's limit) are errors too.
pub fn parse(text: &[u8]) -> Result<(Json, Vec<Oddity>), SyntaxError> {
    match JsonValue::parse(text, true) {
        Ok(value) => Ok(convert(&value, None)),
        Err(error) if is_lone_surrogate(&error.error_type) => {
            let repaired = replace_lone_surrogates(text);
            let value = JsonValue::parse(&repaired, true).map_err(|e| syntax_error(&e))?;
            Ok(convert(&value, Some("half of a surrogate pair; read as U+FFFD")))
        }
        Err(error) => Err(syntax_error(&error)),
    }
}

fn convert(value: &JsonValue<'_>, oddity: Option<&str>) -> (Json, Vec<Oddity>) {
    let mut reader = Reader::default();
    if let Some(message) = oddity {
        reader.note(message);
    }
    (reader.convert(value), reader.oddities)
}

fn is_lone_surrogate(kind: &JsonErrorType) -> bool {
    matches!(kind, JsonErrorType::LoneLeadingSurrogateInHexEscape | JsonErrorType::UnexpectedEndOfHexEscape)
}

fn syntax_error(error: &jiter::JsonError) -> SyntaxError {
    let message = match error.error_type {
        JsonErrorType::InvalidUnicodeCodePoint => "not UTF-8".to_owned(),
        JsonErrorType::RecursionLimitExceeded => "nested deeper than 200 levels".to_owned(),
        JsonErrorType::NumberOutOfRange => "a number of more than 4300 digits".to_owned(),
        ref other => other.to_string(),
    };
    SyntaxError { offset: error.index, message }
}

/// Replaces each `\uD800`..`\uDFFF` escape that has no partner by `\ufffd`; same length, so offsets stay.
fn replace_lone_surrogates(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    let mut at = 0;
    while at + 1 < out.len() {
        if out[at] != b'\\' {
            at += 1;
            continue;
        }
        match (surrogate(&out, at), surrogate(&out, at + 6)) {
            (Some(Half::High), Some(Half::Low)) => at += 12,
            (Some(_), _) => {
                out[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
            (None, _) => at += 2,
        }
    }
    out
}

#[derive(Clone, Copy)]
enum Half {
    High,
    Low,
}

/// The half of a surrogate pair that is escaped at `at`, if one is.
fn surrogate(text: &[u8], at: usize) -> Option<Half> {
    let escape = text.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    match (digits[0], digits[1].to_ascii_lowercase()) {
        (b'd' | b'D', b'8' | b'9' | b'a' | b'b') => Some(Half::High),
        (b'd' | b'D', b'c'..=b'f') => Some(Half::Low),
        _ => None,
    }
}

/// Turns the parser's value into ours, noting oddities with the path that leads to them.
#[derive(Default)]
struct Reader<'a> {
    path: Vec<Segment<'a>>,
    oddities: Vec<Oddity>,
}

#[derive(Clone, Copy)]
enum Segment<'a> {
    Item(usize),
    Member(&'a str),
}

/// More oddities than this in one value say nothing new.
const MAX_ODDITIES: usize = 100;

impl<'a> Reader<'a> {
    fn note(&mut self, message: impl Into<String>) {
        if self.oddities.len() < MAX_ODDITIES {
            let pointer = self.path.iter().fold(String::new(), |pointer, segment| match segment {
                Segment::Item(index) => pointer_to(&pointer, index),
                Segment::Member(key) => pointer_to(&pointer, key),
            });
            self.oddities.push(Oddity { pointer, message: message.into() });
        }
    }

    fn convert(&mut self, value: &'a JsonValue<'a>) -> Json {
        match value {
            JsonValue::Null => Json::Null,
            JsonValue::Bool(b) => Json::Bool(*b),
            JsonValue::Int(i) => Json::Integer(*i),
            JsonValue::BigInt(i) => Json::LongInteger(i.to_string()),
            JsonValue::Float(f) => {
                if !f.is_finite() {
                    self.note(format!("{} is not a JSON number; read as Python reads it", float_text(*f)));
                }
                Json::Float(*f)
            }
            JsonValue::Str(s) => Json::String(s.to_string()),
            JsonValue::Array(items) => {
                let items = items.iter().enumerate();
                Json::Array(items.map(|(index, item)| self.below(Segment::Item(index), item)).collect())
            }
            JsonValue::Object(members) => Json::Object(self.convert_members(members)),
        }
    }

    fn below(&mut self, segment: Segment<'a>, value: &'a JsonValue<'a>) -> Json {
        self.path.push(segment);
        let value = self.convert(value);
        self.path.pop();
        value
    }

    /// Python's rule for equal keys: the place of the first, the value of the last.
    fn convert_members(&mut self, members: &'a [(Cow<'a, str>, JsonValue<'a>)]) -> Vec<(String, Json)> {
        let mut out: Vec<(String, Json)> = Vec::with_capacity(members.len());
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(members.len());
        for (key, value) in members {
            let value = self.below(Segment::Member(key), value);
            match places.entry(key) {
                Entry::Occupied(place) => {
                    out[*place.get()].1 = value;
                    self.path.push(Segment::Member(key));
                    self.note("the same key twice in one object; the last is used");
                    self.path.pop();
                }
                Entry::Vacant(place) => {
                    place.insert(out.len());
                    out.push((key.to_string(), value));
                }
            }
        }
        out
    }
}

/// The JSON pointer (RFC 6901) of member or item `segment` below `pointer`.
#[must_use]
pub fn pointer_to(pointer: &str, segment: impl std::fmt::Display) -> String {
    let segment = segment.to_string();
    if segment.contains(['~', '/']) {
        format!("{pointer}/{}", segment.replace('~', "~0").replace('/', "~1"))
    } else {
        format!("{pointer}/{segment}")
    }
}

/// How [`Json::to_text`] orders the members of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// As they stood in the file.
    AsRead,
    /// By code point, Python's `sort_keys=True`.
    Sorted,
}

impl Json {
    /// The member `key` of an object; `None` for anything else.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The string, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(s) => Some(s),
            _ => None,
        }
    }

    /// What kind of value it is, with its article, for messages: `a string`, `an array`, ...
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Integer(_) | Json::LongInteger(_) | Json::Float(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    /// The text of Python's `json.dumps(self, ensure_ascii=False, separators=(",", ":"))`, with
    /// `sort_keys=True` for [`Keys::Sorted`]; byte for byte, floats by `repr`.
    #[must_use]
    pub fn to_text(&self, keys: Keys) -> String {
        let mut out = String::new();
        self.write(&mut out, keys);
        out
    }

    fn write(&self, out: &mut String, keys: Keys) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Json::Integer(i) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "{i}");
            }
            Json::LongInteger(digits) => out.push_str(digits),
            Json::Float(f) => out.push_str(&float_text(*f)),
            Json::String(s) => write_string(out, s),
            Json::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out, keys);
                }
                out.push(']');
            }
            Json::Object(members) => {
                let mut members: Vec<&(String, Json)> = members.iter().collect();
                if keys == Keys::Sorted {
                    // UTF-8 sorts as code points do, which is how Python compares strings.
                    members.sort_by(|a, b| a.0.cmp(&b.0));
                }
                out.push('{');
                for (index, (key, value)) in members.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_string(out, key);
                    out.push(':');
                    value.write(out, keys);
                }
                out.push('}');
            }
        }
    }
}

/// Python's escaping with `ensure_ascii=False`: quotes, backslashes and control characters below U+0020.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Python's `repr` of a float: the shortest digits that read back as the same number, with an exponent
/// below 1e-4 and from 1e16 on.
fn float_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    // Rust's `{:e}` gives the same shortest digits, as `d.ddde-x`.
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dumps(text: &str) -> String {
        parse(text.as_bytes()).unwrap().0.to_text(Keys::Sorted)
    }

    /// Right-hand sides are the output of Python 3.11:
    /// `json.dumps(json.loads(x), ensure_ascii=False, sort_keys=True, separators=(",", ":"))`.
    #[test]
    fn text_equals_python_byte_for_byte() {
        for (input, python) in [
            ("1e-5", "1e-05"),
            ("0.0001", "0.0001"),
            ("1e16", "1e+16"),
            ("1e15", "1000000000000000.0"),
            ("123456789012345680.0", "1.2345678901234568e+17"),
            ("9999999999999998.0", "9999999999999998.0"),
            ("5.0", "5.0"),
            ("5", "5"),
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("1E5", "100000.0"),
            ("0.1", "0.1"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("5e-324", "5e-324"),
            ("1e400", "Infinity"),
            ("[NaN, Infinity, -Infinity]", "[NaN,Infinity,-Infinity]"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("-9223372036854775809", "-9223372036854775809"),
            (r#"{"b": 1, "a": {"d": 2, "c": 3}}"#, r#"{"a":{"c":3,"d":2},"b":1}"#),
            (r#"{"a": 1, "a": 2}"#, r#"{"a":2}"#),
            (r#"{"é": 1, "z": 2, "😀": 3, "ﬀ": 4}"#, r#"{"z":2,"é":1,"ﬀ":4,"😀":3}"#),
            (r#""\u00e9\u2028\ud83d\ude00""#, "\"é\u{2028}😀\""),
            (r#""\b\f\n\r\t\"\\\/\u0001\u007f""#, "\"\\b\\f\\n\\r\\t\\\"\\\\/\\u0001\u{7f}\""),
            ("[true, false, null, [], {}]", "[true,false,null,[],{}]"),
        ] {
            assert_eq!(dumps(input), python, "json.dumps(json.loads({input}))");
        }
    }

    #[test]
    fn oddities_have_a_pointer() {
        let (_, oddities) = parse(br#"{"a~/b": [1, NaN], "x": {"k": 1, "k": 2}}"#).unwrap();
        let found: Vec<_> = oddities.iter().map(|o| o.pointer.as_str()).collect();
        assert_eq!(found, ["/a~0~1b/1", "/x/k"]);
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced_and_noted() {
        let (value, oddities) = parse(br#"["\ud83d", "\ude00x", "\ud83d\ude00", "\\ud83d"]"#).unwrap();
        assert_eq!(value.to_text(Keys::AsRead), "[\"\u{fffd}\",\"\u{fffd}x\",\"😀\",\"\\\\ud83d\"]");
        assert_eq!(oddities.len(), 1);
    }

    #[test]
    fn what_is_not_json_is_an_error_with_its_offset() {
        for (text, offset) in [("[1,]", 3), ("01", 1), ("\"\u{1}\"", 1), ("", 0)] {
            assert_eq!(parse(text.as_bytes()).unwrap_err().offset, offset, "{text:?}");
        }
        assert!(parse(b"\"\xff\"").unwrap_err().message.contains("UTF-8"));
        assert!(parse("[".repeat(1000).as_bytes()).unwrap_err().message.contains("nested"));
        assert!(parse("9".repeat(5000).as_bytes()).unwrap_err().message.contains("4300"));
    }
}
