//! YAML files as JSON: test recordings and results of evaluations are often YAML. Messages about such a file give places
//! in its JSON form.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use crate::json::{Json, Keys};

/// The largest file that is read: in memory a document takes many times its bytes.
pub(crate) const MOST_BYTES: u64 = 64 << 20;

/// The most values of a file; YAML's references to earlier values count with all that they stand for.
const MOST_VALUES: usize = 4_000_000;

/// The deepest nesting, that of JSON files.
const DEEPEST: usize = 128;

/// Whether a file is YAML, by its name or its first line. JSON is YAML too, and is read as JSON.
pub(crate) fn is_yaml(name: &str, start: &[u8]) -> bool {
    let name = m3_support::unpack::unpacked_name(name);
    let is_named = [".yaml", ".yml"].iter().any(|ending| name.ends_with(ending));
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let is_json = start.is_empty() || start.starts_with(b"{") || start.starts_with(b"[");
    !is_json && (is_named || start.starts_with(b"---\n") || start.starts_with(b"---\r\n"))
}

/// The JSON of a file's documents: of one, itself; of several, one on each line.
///
/// # Errors
/// What is wrong, with its place in the YAML.
pub(crate) fn to_json(text: &str) -> Result<String, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: MOST_VALUES,
            max_nodes: MOST_VALUES,
            max_total_scalar_bytes: usize::try_from(MOST_BYTES).unwrap_or(usize::MAX),
            max_depth: DEEPEST,
        },
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        with_snippet: false,
    };
    let documents: Vec<Yaml> =
        serde_saphyr::from_multiple_with_options(text, options).map_err(|error| error.to_string())?;
    let lines: Vec<String> = documents.iter().map(|Yaml(value)| value.to_text(Keys::AsRead)).collect();
    Ok(lines.join("\n"))
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

    fn visit_i128<E>(self, value: i128) -> Result<Json, E> {
        Ok(Json::LongInteger(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Json, E> {
        Ok(Json::LongInteger(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::String(text.to_owned()))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Json, E> {
        Ok(Json::String(String::from_utf8_lossy(bytes).into_owned()))
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

    /// YAML 1.2, section 10.3 (core schema); `id001` as PyYAML names what it writes twice.
    #[test]
    fn documents_become_json_with_their_order_and_types() {
        let text = "b: [1, -2.5, ~, true, 'yes', no, 2024-05-01]\na: &id001\n  1: |\n    two\n    lines\nc: *id001\n";
        let json = r#"{"b":[1,-2.5,null,true,"yes","no","2024-05-01"],"a":{"1":"two\nlines\n"},"c":{"1":"two\nlines\n"}}"#;
        assert_eq!(to_json(text).unwrap(), json);
        assert_eq!(
            to_json("---\na: 1\n---\n- 18446744073709551615\n").unwrap(),
            "{\"a\":1}\n[18446744073709551615]"
        );
        // As PyYAML writes bytes and objects.
        assert_eq!(to_json("a: !!binary |\n  eyJhIjoxfQ==\n").unwrap(), r#"{"a":"{\"a\":1}"}"#);
        assert_eq!(to_json("!!python/object:lib.Run\na: !!python/tuple [1]\n").unwrap(), r#"{"a":[1]}"#);
    }

    #[test]
    fn what_would_grow_without_end_or_is_damaged_is_refused() {
        let bomb: String = (1..30).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1)).collect();
        assert!(to_json(&format!("a0: &a0 [x, x]\n{bomb}")).is_err());
        assert!(to_json(&"[".repeat(100_000)).is_err());
        assert!(to_json(&"- ".repeat(100_000)).is_err());
        let error = to_json("a: 1\nb: [1\nc: 2").unwrap_err();
        assert!(error.contains("line"), "{error}");
    }

    #[test]
    fn json_and_texts_are_not_taken_for_yaml() {
        assert!(is_yaml("a/run.YML.gz".to_lowercase().as_str(), b"runs:\n"));
        assert!(is_yaml("run", b"---\nruns:\n"));
        assert!(!is_yaml("run.yaml", b" {\"a\": 1}"));
        assert!(!is_yaml("run.log", b"--- start\n"));
        assert!(!is_yaml("run.md", b"a: 1\n"));
    }
}
