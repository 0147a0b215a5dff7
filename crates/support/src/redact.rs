//! Replaces secrets in everything that is about to be written.
//!
//! Servers repeat what they were given: the address of a map contains the key of its request, and an error message
//! the header. Each secret is searched for unchanged, percent-encoded (RFC 3986), as part of JSON text and of HTML,
//! in hexadecimal, and in base64 at any offset.

use std::borrow::Cow;
use std::fmt::Write as _;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

use crate::text;

/// The text in place of a secret.
pub const REDACTED: &str = "***";

/// The shortest secret that is searched for in base64, in bytes: fewer characters would match by chance.
const MIN_BASE64: usize = 8;

/// In the base64 of an image or a sound, only forms of at least this many characters are searched for: shorter ones
/// occur there by chance (one of four characters once in 17 million places), and replacing them would damage the
/// file.
const MIN_IN_MEDIA: usize = 8;

/// The shortest text that counts as the base64 of a file, in bytes.
const MIN_MEDIA: usize = 128;

/// How the base64 of files begins: PNG, JPEG, GIF, RIFF (WebP, WAV), TIFF in both byte orders, BMP, MP3, Ogg, FLAC.
const MEDIA: [&str; 10] =
    ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "SUkqA", "TU0AK", "Qk0", "SUQz", "T2dnUw", "ZkxhQw"];

/// The fewest characters of a secret that reveal it.
const LEAST_CUT: usize = 4;

/// The most beginnings of a secret that are searched for in shortened texts.
const MOST_CUT: usize = 1000;

/// Finds and replaces secrets.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Finds all forms; `None` without secrets.
    finder: Option<AhoCorasick>,
    /// Finds the forms that are long enough to be searched for in the base64 of a file; `None` without any.
    in_media: Option<AhoCorasick>,
}

/// There are too many secrets to search for, or they are too long.
#[derive(Debug, thiserror::Error)]
#[error(
    "the secrets of the configuration cannot be looked for: {0}\nhint: there may be fewer and shorter ones"
)]
pub struct RedactorError(#[from] aho_corasick::BuildError);

impl Redactor {
    /// A redactor for these secrets; empty ones are ignored. If several match at a place, the longest counts.
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
        let long: Vec<&String> = patterns.iter().filter(|pattern| pattern.len() >= MIN_IN_MEDIA).collect();
        let in_media = if long.is_empty() { None } else { Some(find_longest(long)?) };
        Ok(Self { finder: Some(find_longest(&patterns)?), in_media })
    }

    /// True if there are no secrets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.finder.is_none()
    }

    /// The text with secrets replaced.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let finder = match &self.finder {
            Some(_) if is_media(text) => self.in_media.as_ref(),
            finder => finder.as_ref(),
        };
        let Some(finder) = finder.filter(|finder| finder.is_match(text)) else {
            return Cow::Borrowed(text);
        };
        let mut out = String::with_capacity(text.len());
        finder.replace_all_with(text, &mut out, |_, _, out| {
            out.push_str(REDACTED);
            true
        });
        Cow::Owned(out)
    }

    /// The bytes of a file with secrets replaced. Each byte of a secret becomes `*`, so that everything else stays in
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

    /// Replaces the secrets in all texts, keys and numbers of a JSON value.
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

fn find_longest<P: AsRef<[u8]>>(patterns: impl IntoIterator<Item = P>) -> Result<AhoCorasick, RedactorError> {
    Ok(AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(patterns)?)
}

/// Whether the text is the base64 of an image or a sound and nothing else, as in results and `data:` addresses.
fn is_media(text: &str) -> bool {
    let data = match text.strip_prefix("data:") {
        Some(address) => address.split_once(";base64,").map_or("", |(_, data)| data),
        None => text,
    };
    data.len() >= MIN_MEDIA
        && MEDIA.iter().any(|start| data.starts_with(start))
        && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_=\r\n".contains(&byte))
}

/// Adds the forms in which a secret may be written.
fn add_forms(secret: &str, patterns: &mut Vec<String>) {
    if secret.is_empty() {
        return;
    }
    patterns.push(secret.to_owned());
    for is_upper in [true, false] {
        let encoded = percent_encoded(secret, is_upper);
        // HTML forms write a space as a plus sign, and paths keep their slashes.
        patterns.push(encoded.replace("%20", "+"));
        patterns.push(encoded.replace(if is_upper { "%2F" } else { "%2f" }, "/"));
        patterns.push(encoded);
        patterns.push(json_escaped(secret, is_upper));
        if secret.len() >= LEAST_CUT {
            patterns.extend(["", "%"].map(|mark| each_byte(secret, mark, is_upper)));
        }
    }
    if let Ok(quoted) = serde_json::to_string(secret) {
        let inside = &quoted[1..quoted.len() - 1];
        patterns.push(inside.to_owned());
        // PHP escapes slashes.
        patterns.push(inside.replace('/', "\\/"));
    }
    add_html_forms(secret, patterns);
    if secret.len() >= MIN_BASE64 {
        patterns.extend((0..3).flat_map(|offset| in_base64(secret, offset)));
    }
}

/// Adds the HTML forms of a secret: with quotes as escaped by Python, PHP, Go and templates.
fn add_html_forms(secret: &str, patterns: &mut Vec<String>) {
    let escaped = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    for quote in ["\"", "&quot;", "&#34;"] {
        let escaped = escaped.replace('"', quote);
        patterns.extend(
            ["'", "&#x27;", "&#39;", "&#039;", "&apos;"].map(|apostrophe| escaped.replace('\'', apostrophe)),
        );
    }
}

/// Every byte of a text in hexadecimal, each after `mark`.
fn each_byte(text: &str, mark: &str, is_upper: bool) -> String {
    let byte = |byte: u8| if is_upper { format!("{mark}{byte:02X}") } else { format!("{mark}{byte:02x}") };
    text.bytes().map(byte).collect()
}

/// Adds the beginnings of a secret as they appear in a text that was shortened before its secrets were known.
fn add_cut_forms(secret: &str, patterns: &mut Vec<String>) {
    let cuts = secret.char_indices().map(|(index, _)| index).skip(LEAST_CUT).take(MOST_CUT);
    patterns.extend(cuts.map(|index| format!("{}…", &secret[..index])));
}

/// The text in percent-encoding: everything is escaped but unreserved characters.
fn percent_encoded(text: &str, is_upper: bool) -> String {
    let pieces = text::percent_encoded(text);
    // A piece that begins with a percent sign is an escape: the sign itself is always escaped.
    let lower = |piece: &str| if piece.starts_with('%') { piece.to_lowercase() } else { piece.to_owned() };
    if is_upper { pieces.collect() } else { pieces.map(lower).collect() }
}

/// The text as in JSON with everything but ASCII escaped, as Python writes it.
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

/// The base64 characters that depend only on the secret if it starts at `offset` (modulo 3) of the encoded bytes, in
/// both alphabets of RFC 4648; also with the ending for a secret at the end.
fn in_base64(secret: &str, offset: usize) -> [String; 6] {
    let bytes = [&[0; 2][..offset], secret.as_bytes()].concat();
    // Each character holds 6 bits: characters that share bits with the bytes around the secret are left out.
    let start = (offset * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    let [standard, url_safe] = [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)];
    [
        standard.get(start..end),
        url_safe.get(start..end),
        standard.get(start..),
        url_safe.get(start..),
        STANDARD.encode(&bytes).get(start..),
        URL_SAFE.encode(&bytes).get(start..),
    ]
    .map(|encoded| encoded.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests;
