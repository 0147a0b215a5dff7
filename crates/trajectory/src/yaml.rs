//! YAML files as JSON: test recordings and results of evaluations are often YAML. Messages about such a file give places
//! in its JSON form.

use std::{fmt, io};

use m3_support::text::{shortened, visible};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use crate::json::{Json, Keys};

/// The largest file that is read: in memory a document takes many times its bytes.
pub(crate) const MOST_BYTES: u64 = 64 << 20;

/// The most values of a file; a reference to an earlier value counts as all that it stands for.
const MOST_VALUES: usize = 4_000_000;

/// The deepest nesting of lists and objects.
const DEEPEST: usize = 128;

/// The bytes at the beginning of a file that are looked at.
pub(crate) const START: u64 = 64;

/// The longest reason in a message, in characters.
const REASON: usize = 300;

/// How a file is known to be YAML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum YamlSign {
    /// Its name ends in `.yaml` or `.yml`.
    Name,
    /// Its first line is `---`, as in Markdown and in some logs.
    FirstLine,
}

impl YamlSign {
    /// The sign of a file with this name in small letters and this beginning. What begins as JSON is read as JSON.
    pub(crate) fn find(name: &str, start: &[u8]) -> Option<Self> {
        let name = m3_support::unpack::unpacked_name(name);
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
        if start.is_empty() || start.starts_with(b"{") || start.starts_with(b"[") {
            None
        } else if [".yaml", ".yml"].iter().any(|ending| name.ends_with(ending)) {
            Some(Self::Name)
        } else {
            let first = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
            (first.trim_ascii_end() == b"---" && first.len() < start.len()).then_some(Self::FirstLine)
        }
    }
}

/// Writes the documents of a file as JSON, a line each.
///
/// # Errors
/// Why the JSON cannot be written; or, within, what is wrong with the YAML, with its place.
pub(crate) fn write_json(bytes: &[u8], to: &mut impl io::Write) -> io::Result<Result<(), String>> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let line = bytes[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
            return Ok(Err(format!(
                "line {line} is not UTF-8; `iconv -f ENCODING -t UTF-8` converts the file"
            )));
        }
    };
    // PyYAML writes bytes that are no text, such as pictures, as `!!binary`: these stay in base64.
    let documents = match documents(text, false) {
        Err(error) if matches!(error.without_snippet(), serde_saphyr::Error::BinaryNotUtf8 { .. }) => {
            documents(text, true)
        }
        documents => documents,
    };
    match documents {
        Ok(documents) => {
            for Yaml(value) in documents {
                writeln!(to, "{}", value.to_text(Keys::AsRead))?;
            }
            Ok(Ok(()))
        }
        Err(error) => Ok(Err(shortened(&visible(&error.to_string(), false), REASON))),
    }
}

/// The documents by YAML's core schema (YAML 1.2, section 10.3): numbers with leading zeros or underscores are texts, so
/// that ids stay as they are. Integers beyond 64 bits become the nearest double.
fn documents(text: &str, keeps_base64: bool) -> Result<Vec<Yaml>, serde_saphyr::Error> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: MOST_VALUES,
            max_nodes: MOST_VALUES,
            max_documents: MOST_VALUES,
            max_aliases: MOST_VALUES,
            max_anchors: MOST_VALUES,
            // Programs refer to one list of tools in every record.
            enforce_alias_anchor_ratio: false,
            max_total_scalar_bytes: usize::try_from(MOST_BYTES).unwrap_or(usize::MAX),
            max_depth: DEEPEST,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MOST_VALUES,
            max_alias_expansions_per_anchor: MOST_VALUES,
        },
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::PassThrough,
        ignore_binary_tag_for_string: keeps_base64,
        with_snippet: false,
    };
    serde_saphyr::from_multiple_with_options(text, options)
}

/// A value of a YAML document.
struct Yaml(Json);

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor).map(Self)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON can hold")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or_else(|_| Json::LongInteger(value.to_string()), Json::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(Yaml(item)) = list.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some((key, Yaml(value))) = map.next_entry::<Yaml, Yaml>()? {
            let key = match key.0 {
                Json::String(text) => text,
                other => other.to_text(Keys::AsRead),
            };
            members.push((key, value));
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(yaml: &str) -> Result<String, String> {
        let mut written = Vec::new();
        write_json(yaml.as_bytes(), &mut written).unwrap()?;
        Ok(String::from_utf8(written).unwrap().trim_end().to_owned())
    }

    /// YAML 1.2, section 10.3 (core schema); `id001` as `PyYAML` names what it writes twice.
    #[test]
    fn documents_become_json_with_their_order_and_types() {
        for (yaml, expected) in [
            (
                "b: [1, -2.5, ~, true, 'yes', no]\na: 2024-05-01",
                r#"{"b":[1,-2.5,null,true,"yes","no"],"a":"2024-05-01"}"#,
            ),
            (
                "a: &id001\n  1: |\n    two\n    lines\nc: *id001",
                r#"{"a":{"1":"two\nlines\n"},"c":{"1":"two\nlines\n"}}"#,
            ),
            ("- 0012\n- 1_000\n- .nan\n- 0.5\n- 0", r#"["0012","1_000",NaN,0.5,0]"#),
            ("---\na: 1\n---\n- 18446744073709551615\n", "{\"a\":1}\n[18446744073709551615]"),
            // As PyYAML writes bytes and objects.
            ("a: !!binary |\n  eyJhIjoxfQ==\n", r#"{"a":"{\"a\":1}"}"#),
            ("- !!binary |\n  /w==\n- !!binary |\n  YQ==\n", r#"["/w==\n","YQ==\n"]"#),
            ("!!python/object:lib.Run\na: !!python/tuple [1]\n", r#"{"a":[1]}"#),
        ] {
            assert_eq!(json(yaml).unwrap(), expected, "{yaml}");
        }
        let shared = format!("tools: &id001 [a, b]\nruns:\n{}", "- tools: *id001\n".repeat(2_000));
        assert_eq!(json(&shared).unwrap().matches(r#"["a","b"]"#).count(), 2_001);
    }

    #[test]
    fn what_would_grow_without_end_or_is_damaged_is_refused() {
        let lines = (1..30).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1));
        let bomb = lines.collect::<Vec<_>>().concat();
        assert!(json(&format!("a0: &a0 [x, x]\n{bomb}")).is_err());
        assert!(json(&"[".repeat(100_000)).is_err());
        assert!(json(&"- ".repeat(100_000)).is_err());
        let error = json("a: 1\nb: [1\nc: 2").unwrap_err();
        assert!(error.contains("line"), "{error}");
    }

    #[test]
    fn json_and_texts_are_not_taken_for_yaml() {
        assert_eq!(YamlSign::find("a/run.yml.gz", b"runs:\n"), Some(YamlSign::Name));
        assert_eq!(YamlSign::find("run", b"---\r\nruns:\n"), Some(YamlSign::FirstLine));
        assert_eq!(YamlSign::find("run.yaml", b" {\"a\": 1}"), None);
        assert_eq!(YamlSign::find("run.log", b"--- start\n"), None);
        assert_eq!(YamlSign::find("run.md", b"a: 1\n"), None);
    }
}
