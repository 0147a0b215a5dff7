//! Replaces secrets in everything that is about to be written.
//!
//! Servers repeat what they were given: a map's address holds the key it was asked with, an error message the
//! header. Each secret is looked for as it is, percent-encoded (RFC 3986), as a part of JSON text, and in
//! base64 at any offset.

use std::borrow::Cow;
use std::fmt::Write as _;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

/// What stands in place of a secret.
pub const REDACTED: &str = "***";

/// Shorter secrets are not looked for in base64, in bytes: what is left of them there is found by chance.
const MIN_BASE64: usize = 8;

/// Fewer characters of a secret than these say nothing.
const LEAST_CUT: usize = 4;

/// Shortened texts are not longer than this, in characters.
const MOST_CUT: usize = 1000;

/// Finds and replaces secrets.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// `None` without secrets.
    finder: Option<AhoCorasick>,
}

/// There are too many secrets, or too long ones, to look for.
#[derive(Debug, thiserror::Error)]
#[error(
    "the secrets of the configuration cannot be looked for: {0}\nhint: there may be fewer and shorter ones"
)]
pub struct RedactorError(#[from] aho_corasick::BuildError);

impl Redactor {
    /// Looks for these secrets; empty ones are left aside. Where several match, the longest counts.
    ///
    /// # Errors
    /// [`RedactorError`] if they are too many or too long: some hundred megabytes.
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Result<Self, RedactorError> {
        let mut patterns = Vec::new();
        for secret in secrets {
            add_forms(secret.as_ref(), &mut patterns);
            add_cut_forms(secret.as_ref(), &mut patterns);
        }
        patterns.retain(|pattern| !pattern.is_empty());
        patterns.sort_unstable();
        patterns.dedup();
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(patterns)?;
        Ok(Self { finder: Some(finder) })
    }

    /// True if there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.finder.is_none()
    }

    /// The text without secrets.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(finder) = self.finder.as_ref().filter(|finder| finder.is_match(text)) else {
            return Cow::Borrowed(text);
        };
        let mut out = String::with_capacity(text.len());
        finder.replace_all_with(text, &mut out, |_, _, out| {
            out.push_str(REDACTED);
            true
        });
        Cow::Owned(out)
    }

    /// The bytes of a file without secrets. Each byte of a secret becomes `*`, so that everything else stays in
    /// its place.
    #[must_use]
    pub fn bytes<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let Some(finder) = self.finder.as_ref().filter(|finder| finder.is_match(bytes)) else {
            return Cow::Borrowed(bytes);
        };
        let mut out = bytes.to_vec();
        for found in finder.find_iter(bytes) {
            out[found.range()].fill(b'*');
        }
        Cow::Owned(out)
    }

    /// Takes the secrets out of all texts, keys and numbers of a JSON value.
    pub fn value(&self, value: &mut Value) {
        if self.finder.is_none() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.text(text) {
                    *text = redacted;
                }
            }
            Value::Number(number) => {
                if let Cow::Owned(redacted) = self.text(&number.to_string()) {
                    *value = Value::String(redacted);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => self.members(members),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn members(&self, members: &mut Map<String, Value>) {
        members.values_mut().for_each(|value| self.value(value));
        let named: Vec<String> =
            members.keys().filter(|key| matches!(self.text(key), Cow::Owned(_))).cloned().collect();
        for key in named {
            let Some(value) = members.remove(&key) else { continue };
            let mut redacted = self.text(&key).into_owned();
            while members.contains_key(&redacted) {
                redacted.push('*');
            }
            members.insert(redacted, value);
        }
    }
}

/// The ways in which a secret may be written.
fn add_forms(secret: &str, patterns: &mut Vec<String>) {
    if secret.is_empty() {
        return;
    }
    patterns.push(secret.to_owned());
    for is_upper in [true, false] {
        let encoded = percent_encoded(secret, is_upper);
        // Forms of web pages write a space as a plus, and paths keep their slashes.
        patterns.push(encoded.replace("%20", "+"));
        patterns.push(encoded.replace(if is_upper { "%2F" } else { "%2f" }, "/"));
        patterns.push(encoded);
        patterns.push(json_escaped(secret, is_upper));
    }
    if let Ok(quoted) = serde_json::to_string(secret) {
        let inside = &quoted[1..quoted.len() - 1];
        patterns.push(inside.to_owned());
        // As PHP writes it.
        patterns.push(inside.replace('/', "\\/"));
    }
    if secret.len() >= MIN_BASE64 {
        patterns.extend((0..3).flat_map(|offset| in_base64(secret, offset)));
    }
}

/// The beginnings of a secret that stand where a text was shortened, which is done before it is known whose text it is.
fn add_cut_forms(secret: &str, patterns: &mut Vec<String>) {
    let cuts = secret.char_indices().map(|(index, _)| index).skip(LEAST_CUT).take(MOST_CUT);
    patterns.extend(cuts.map(|index| format!("{}…", &secret[..index])));
}

/// With everything escaped but unreserved characters (RFC 3986, section 2.3).
fn percent_encoded(text: &str, is_upper: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        // Writing to a string cannot fail.
        let _ = match byte {
            byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                out.push(char::from(byte));
                Ok(())
            }
            byte if is_upper => write!(out, "%{byte:02X}"),
            byte => write!(out, "%{byte:02x}"),
        };
    }
    out
}

/// As JSON is written where everything but ASCII is escaped, as Python does.
fn json_escaped(text: &str, is_upper: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let quoted = serde_json::to_string(text).unwrap_or_default();
    for c in quoted.trim_start_matches('"').chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = if is_upper { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
        }
    }
    out.truncate(out.strip_suffix('"').map_or(out.len(), str::len));
    out
}

/// The characters that depend on the secret alone when it stands at `offset` (modulo 3) of what is encoded, in
/// both alphabets of RFC 4648.
fn in_base64(secret: &str, offset: usize) -> [String; 2] {
    let bytes = [&[0; 2][..offset], secret.as_bytes()].concat();
    // Each character holds 6 bits: those that share bits with what stands around the secret are left out.
    let start = (offset * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)]
        .map(|encoded| encoded.get(start..end).unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn redactor(secrets: &[&str]) -> Redactor {
        Redactor::new(secrets).unwrap()
    }

    #[test]
    fn a_secret_that_was_cut_or_stands_in_a_path_is_found() {
        let redactor = Redactor::new(["Sup3r/S3cr+t=K"]).unwrap();
        assert_eq!(redactor.text("key Sup3r/S3c… failed"), "key *** failed");
        // Three characters say nothing.
        assert_eq!(redactor.text("key Sup…"), "key Sup…");
        // As Python's `urllib.parse.quote` writes it.
        assert_eq!(redactor.text("at /Sup3r/S3cr%2Bt%3DK"), "at /***");
    }

    #[test]
    fn every_form_of_a_secret_is_replaced() {
        let secret = "pä/ss w\"rd+1";
        let redactor = redactor(&[secret]);
        for form in [
            secret,
            "p%C3%A4%2Fss%20w%22rd%2B1",
            "p%c3%a4%2fss%20w%22rd%2b1",
            "p%C3%A4%2Fss+w%22rd%2B1",
            "pä/ss w\\\"rd+1",
            "pä\\/ss w\\\"rd+1",
            "p\\u00e4/ss w\\\"rd+1",
            "p\\u00E4/ss w\\\"rd+1",
        ] {
            assert_eq!(redactor.text(&format!("a {form} b")), "a *** b", "{form}");
        }
        assert!(matches!(redactor.text("nothing here"), Cow::Borrowed(_)));
        assert_eq!(Redactor::new([""]).unwrap().text("x"), "x");
    }

    #[test]
    fn the_longest_secret_counts() {
        let redactor = redactor(&["secret", "secretive", "tiv"]);
        assert_eq!(redactor.text("secretive secret motive"), "*** *** mo***e");
    }

    #[test]
    fn values_lose_secrets_in_texts_keys_and_numbers() {
        let mut value = json!({"a": ["x12345678y", 12_345_678], "12345678": 1, "***": 2, "b": 1234});
        redactor(&["12345678"]).value(&mut value);
        assert_eq!(value, json!({"a": ["x***y", "***"], "****": 1, "***": 2, "b": 1234}));
    }

    #[test]
    fn files_keep_their_length() {
        assert_eq!(redactor(&["key1"]).bytes(b"\xff\x00key1\xff").as_ref(), b"\xff\x00****\xff");
    }

    proptest! {
        #[test]
        fn no_secret_is_left_in_any_text(
            secrets in prop::collection::vec("[a-zA-Z0-9/+=_. é\"-]{4,20}", 1..5),
            pieces in prop::collection::vec("[a-z ,.\"/]{0,6}", 1..8),
        ) {
            let redactor = Redactor::new(&secrets).unwrap();
            let pieces = pieces.iter().zip(secrets.iter().cycle());
            let text: String = pieces.flat_map(|(a, b)| [a.as_str(), b.as_str()]).collect();
            for secret in &secrets {
                prop_assert!(!redactor.text(&text).contains(secret.as_str()));
                let json = serde_json::to_string(&json!({ "k": text })).unwrap();
                let inside = serde_json::to_string(secret).unwrap();
                prop_assert!(!redactor.text(&json).contains(inside.trim_matches('"')) || inside.contains("\\\""));
            }
        }

        #[test]
        fn no_secret_can_be_decoded_from_base64(before in ".{0,5}", after in ".{0,5}", secret in "[a-zA-Z0-9_-]{8,40}") {
            let redactor = Redactor::new([&secret]).unwrap();
            for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                let encoded = engine.encode(format!("{before}{secret}{after}"));
                prop_assert!(redactor.text(&encoded).contains(REDACTED));
            }
            let padded = STANDARD.encode(format!("{before}{secret}{after}"));
            prop_assert!(redactor.text(&padded).contains(REDACTED));
        }

        #[test]
        fn text_without_secrets_stays(text in "[a-m ]{0,60}", secret in "[n-z]{4,12}") {
            prop_assert!(Redactor::new([&secret]).unwrap().text(&text) == text.as_str());
        }
    }
}
