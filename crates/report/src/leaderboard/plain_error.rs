//! Describes errors in a JSON file in terms of JSON, because serde's messages name types of this program.

use serde_json::Error;
use serde_json::error::Category;

/// serde's terms, and the corresponding ones for JSON.
const WORDS: [(&str, &str); 12] = [
    ("a sequence", "a list"),
    ("sequence", "a list"),
    ("a map", "an object"),
    ("map", "an object"),
    ("f64", "a number"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number from 0"),
    ("usize", "a whole number from 0"),
    ("string", "the text"),
    ("boolean", "the value"),
    ("integer", "the number"),
    ("floating point", "the number"),
];

/// The error with its place: what was expected, and what is there instead.
pub(super) fn plain(error: &Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = message.strip_suffix(&place).unwrap_or(&message);
    let place = format!("line {}, column {}", error.line(), error.column());
    match error.classify() {
        // The file could not be read, so a place in it says nothing.
        Category::Io => return reason.to_owned(),
        Category::Syntax | Category::Eof => return format!("not JSON: {reason}, {place}"),
        Category::Data => {}
    }
    let kinds = ["invalid type: ", "invalid value: ", "invalid length "];
    let of_kind = kinds.iter().find_map(|kind| reason.strip_prefix(kind)?.split_once(", expected "));
    match of_kind {
        Some((found, expected)) => {
            format!("{place}: expected {}, found {}", in_words(expected), in_words(found))
        }
        None => format!("{place}: {}", reason.replace("field", "member")),
    }
}

/// The text with its first words replaced.
fn in_words(text: &str) -> String {
    let known = WORDS.iter().find_map(|(word, plain)| {
        let rest = text.strip_prefix(word)?;
        (rest.is_empty() || rest.starts_with(' ')).then(|| format!("{plain}{rest}"))
    });
    known.unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(expecting = "an object", deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Part {
        count: u32,
        values: Option<Vec<f64>>,
        names: Option<BTreeMap<String, usize>>,
    }

    #[test]
    fn errors_are_in_words_of_json() {
        for (json, expected) in [
            ("3", "line 1, column 1: expected an object, found the number `3`"),
            ("[]", "line 1, column 2: expected an object, found 0"),
            (
                r#"{"count": "x"}"#,
                "line 1, column 13: expected a whole number from 0 to 4294967295, found the text \"x\"",
            ),
            (
                "{\n\"count\": -1}",
                "line 2, column 11: expected a whole number from 0 to 4294967295, found the number `-1`",
            ),
            (r#"{"count": 1, "values": {}}"#, "line 1, column 23: expected a list, found an object"),
            (r#"{"count": 1, "values": [[]]}"#, "line 1, column 24: expected a number, found a list"),
            (
                r#"{"count": 1, "names": null, "values": [true]}"#,
                "line 1, column 43: expected a number, found the value `true`",
            ),
            ("{}", "line 1, column 2: missing member `count`"),
            (
                r#"{"count": 1, "other": 2}"#,
                "line 1, column 20: unknown member `other`, expected one of `count`, `values`, `names`",
            ),
            ("{", "not JSON: EOF while parsing an object, line 1, column 1"),
        ] {
            assert_eq!(plain(&serde_json::from_str::<Part>(json).unwrap_err()), expected, "{json}");
        }
    }
}
