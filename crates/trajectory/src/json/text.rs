//! Writes JSON values as text, as Python does.

use std::fmt::Write as _;

use super::Json;

/// How [`Json::to_text`] orders the members of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// In the order of the file.
    AsRead,
    /// By code point, Python's `sort_keys=True`.
    Sorted,
}

impl Json {
    /// The text of Python's `json.dumps(self, ensure_ascii=False, separators=(",", ":"))`, with
    /// `sort_keys=True` for [`Keys::Sorted`]; byte for byte, floats by `repr`.
    #[must_use]
    pub fn to_text(&self, keys: Keys) -> String {
        let mut out = String::new();
        self.write(&mut out, keys);
        out
    }

    /// A string unchanged, any other value as in [`Json::to_text`]: a tool's result for a reader.
    #[must_use]
    pub fn to_plain_text(&self) -> String {
        self.as_str().map_or_else(|| self.to_text(Keys::AsRead), str::to_owned)
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
            Json::Object(members) if keys == Keys::Sorted => {
                let mut members: Vec<&(String, Json)> = members.iter().collect();
                // The order of UTF-8 is that of code points, by which Python compares strings.
                members.sort_by(|a, b| a.0.cmp(&b.0));
                write_members(out, members.into_iter(), keys);
            }
            Json::Object(members) => write_members(out, members.iter(), keys),
        }
    }
}

fn write_members<'j>(out: &mut String, members: impl Iterator<Item = &'j (String, Json)>, keys: Keys) {
    out.push('{');
    for (index, (key, value)) in members.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(out, key);
        out.push(':');
        value.write(out, keys);
    }
    out.push('}');
}

/// Python's escaping with `ensure_ascii=False`: quotes, backslashes and control characters below U+0020.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    // What is escaped is ASCII, so both sides of it are whole characters.
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            8 => out.push_str("\\b"),
            12 => out.push_str("\\f"),
            byte => {
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Python's `repr` of a float: the shortest digits that read back as the same number, with an exponent
/// below 1e-4 and from 1e16 on.
pub(super) fn float_text(value: f64) -> String {
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
    use super::super::parse;
    use super::Keys;

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
}
