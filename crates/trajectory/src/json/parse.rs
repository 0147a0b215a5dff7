//! Parses text into JSON values as Python does, and notes everything that is not plain JSON.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use jiter::{JsonErrorType, JsonValue};
use m3_support::surrogates::{LONE_SURROGATE, without_lone_surrogates};

use super::text::float_text;
use super::{Json, pointer_to};

/// A part that is not plain JSON but was read all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// The JSON pointer (RFC 6901) within the parsed value.
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
            let repaired = without_lone_surrogates(text);
            let value = JsonValue::parse(&repaired, true).map_err(|e| syntax_error(&e))?;
            Ok(convert(&value, Some(LONE_SURROGATE)))
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

/// Converts the parser's value to ours, and notes oddities with their places.
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

/// The most oddities that are noted in one value.
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
        let mut places = Places::of(members.len());
        for (key, value) in members {
            let value = self.below(Segment::Member(key), value);
            if let Some(place) = places.find_or_add(key, &out) {
                out[place].1 = value;
                self.path.push(Segment::Member(key));
                self.note("the same key twice in one object; the last is used");
                self.path.pop();
            } else {
                out.push((key.to_string(), value));
            }
        }
        out
    }
}

/// Where the keys of an object are. Most objects are so small that looking at each key is faster than a table.
enum Places<'a> {
    Few,
    Many(HashMap<&'a str, usize>),
}

impl<'a> Places<'a> {
    const FEW: usize = 16;

    fn of(count: usize) -> Self {
        if count <= Self::FEW { Self::Few } else { Self::Many(HashMap::with_capacity(count)) }
    }

    /// The place of a key that came before; `None` for a new key, which gets the next place.
    fn find_or_add(&mut self, key: &'a str, before: &[(String, Json)]) -> Option<usize> {
        match self {
            Self::Few => before.iter().position(|(known, _)| known == key),
            Self::Many(places) => match places.entry(key) {
                Entry::Occupied(place) => Some(*place.get()),
                Entry::Vacant(place) => {
                    place.insert(before.len());
                    None
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Keys;
    use super::parse;

    #[test]
    fn oddities_have_a_pointer() {
        let (_, oddities) = parse(br#"{"a~/b": [1, NaN], "x": {"k": 1, "k": 2}}"#).unwrap();
        let found: Vec<_> = oddities.iter().map(|o| o.pointer.as_str()).collect();
        assert_eq!(found, ["/a~0~1b/1", "/x/k"]);
    }

    #[test]
    fn the_last_of_two_keys_counts_in_small_and_large_objects() {
        for count in [2, 16, 17, 100] {
            let keys: Vec<String> = (0..count).map(|key| format!(r#""{key}": 0"#)).collect();
            let text = format!(r#"{{{}, "1": 9}}"#, keys.join(", "));
            let (value, oddities) = parse(text.as_bytes()).unwrap();
            assert_eq!((value.pointer("/1"), oddities.len()), (Some(&super::Json::Integer(9)), 1));
        }
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
