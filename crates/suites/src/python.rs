//! Values as Python's `str` writes them, which MCPAgentBench's program compares.

use std::fmt::Write as _;

use m3_trajectory::json::{Json, Keys};
use unicode_general_category::{GeneralCategory, get_general_category};

/// The text of `str(value)`: a string is itself, everything else is in Python's notation.
pub(crate) fn str_of(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => {
            let mut out = String::new();
            repr(&mut out, other);
            out
        }
    }
}

/// Writes `repr(value)`.
fn repr(out: &mut String, value: &Json) {
    match value {
        Json::Null => out.push_str("None"),
        Json::Bool(true) => out.push_str("True"),
        Json::Bool(false) => out.push_str("False"),
        Json::Float(number) if number.is_nan() => out.push_str("nan"),
        Json::Float(number) if number.is_infinite() => {
            out.push_str(if *number > 0.0 { "inf" } else { "-inf" });
        }
        // JSON text has these numbers as Python writes them.
        Json::Integer(_) | Json::LongInteger(_) | Json::Float(_) => {
            out.push_str(&value.to_text(Keys::AsRead));
        }
        Json::String(text) => string(out, text),
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                repr(out, item);
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                string(out, key);
                out.push_str(": ");
                repr(out, value);
            }
            out.push('}');
        }
    }
}

/// A string in quotes: double ones if it has single and no double ones, else single ones.
fn string(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        let code = u32::from(c);
        // Writing to a string cannot fail.
        let _ = match c {
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            _ if c == quote => write!(out, "\\{c}"),
            _ if is_printable(c) => write!(out, "{c}"),
            _ if code < 0x100 => write!(out, "\\x{code:02x}"),
            _ if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
            _ => write!(out, "\\U{code:08x}"),
        };
    }
    out.push(quote);
}

/// Python's `str.isprintable` of one character.
fn is_printable(c: char) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Surrogate, Unassigned,
    };
    c == ' '
        || !matches!(
            get_general_category(c),
            Control
                | Format
                | LineSeparator
                | ParagraphSeparator
                | PrivateUse
                | SpaceSeparator
                | Surrogate
                | Unassigned
        )
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    /// Right-hand sides are the output of Python 3.11: `str(json.loads(x))`.
    #[test]
    fn values_are_written_as_python_writes_them() {
        for (json, python) in [
            (r#""it's""#, "it's"),
            (
                r#"["it's", "say \"x\"", "both ' and \"", "\\", "\u0007", "\u00e9", "\u00a0", "\u200b", "a\tb"]"#,
                "[\"it's\", 'say \"x\"', 'both \\' and \"', '\\\\', '\\x07', 'é', '\\xa0', '\\u200b', 'a\\tb']",
            ),
            (
                r#"{"a": {"x": 1, "y": null}, "b": [true, false, 1.0, 1e21, 1e-7, -0.0]}"#,
                "{'a': {'x': 1, 'y': None}, 'b': [True, False, 1.0, 1e+21, 1e-07, -0.0]}",
            ),
            (
                "[100000000000000000000, 0.10, NaN, Infinity, -Infinity]",
                "[100000000000000000000, 0.1, nan, inf, -inf]",
            ),
            (r#"["\ud83d\ude00", "\udb40\udc01"]"#, "['😀', '\\U000e0001']"),
            ("[[], {}]", "[[], {}]"),
            ("true", "True"),
        ] {
            assert_eq!(str_of(&parse(json.as_bytes()).unwrap().0), python);
        }
    }
}
