//! JSON values as Python's `json` module reads and writes them.
//!
//! The benchmark's files and its published scorer come from Python: integers of any length, `NaN` and `Infinity` as
//! literals, the last of two equal keys, numbers printed by `repr`. [`parse()`] reads that dialect and reports each
//! oddity with its place; [`Json::to_text`] writes it back byte for byte as `json.dumps(value, ensure_ascii=False,
//! separators=(",", ":"))` would.

mod equality;
mod parse;
mod schema;
mod text;
mod value;

pub use equality::is_same;
pub use m3_support::pointer::pointer_to;
pub use parse::{Oddity, SyntaxError, parse};
pub use text::Keys;

use m3_support::pointer::segments;

/// A JSON value. Objects keep the order of the file; a key occurs once.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer that fits 64 bits.
    Integer(i64),
    /// A longer integer: its decimal digits, with a minus sign if it is negative.
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

impl Json {
    /// The member `key` of an object; `None` for anything else.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The value that a JSON pointer (RFC 6901) leads to.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        segments(pointer).try_fold(self, |value, segment| match value {
            Json::Array(items) => items.get(segment.parse::<usize>().ok()?),
            value => value.get(&segment),
        })
    }

    /// The text of a string; `None` for anything else.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(s) => Some(s),
            _ => None,
        }
    }

    /// An integer of 64 bits that is 0 or more; `None` for anything else.
    #[must_use]
    pub fn as_count(&self) -> Option<u64> {
        match self {
            Json::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The items of an array; empty for anything else.
    #[must_use]
    pub fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            _ => &[],
        }
    }

    /// The kind of value with its article, for messages: `a string`, `an array`, ...
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_lead_to_members_and_items() {
        let value = parse(br#"{"a": [{"b/c": {"~": 1}}]}"#).unwrap().0;
        assert_eq!(value.pointer("/a/0/b~1c/~0"), Some(&Json::Integer(1)));
        assert_eq!(value.pointer(""), Some(&value));
        for pointer in ["/a/1", "/a/x", "/a/0/b", "/a/0/b~1c/~0/x"] {
            assert_eq!(value.pointer(pointer), None, "{pointer}");
        }
    }
}
