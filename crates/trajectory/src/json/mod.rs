//! JSON values as Python's `json` module sees them.
//!
//! The benchmark's files and its published scorer are Python's: integers of any length, `NaN` and `Infinity`
//! as literals, the last of two equal keys, numbers printed by `repr`. [`parse()`] reads that dialect and
//! reports each oddity with its place; [`Json::to_text`] writes it back byte for byte as
//! `json.dumps(value, ensure_ascii=False, separators=(",", ":"))` would.

mod parse;
mod text;
mod value;

pub use parse::{Oddity, SyntaxError, parse};
pub use text::Keys;

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
}
