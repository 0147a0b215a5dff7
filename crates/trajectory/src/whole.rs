//! Reads small JSON files as a whole: catalogs, configurations, arguments.

use std::io::Read as _;
use std::path::Path;

use super::json::{self, Json, Oddity};
use super::source::Source;
use super::source_error::SourceError;
use super::split::without_byte_order_mark;

/// A JSON file as it was read.
#[derive(Debug)]
pub struct WholeFile {
    /// The file as the user named it, made safe to show; `standard input` for `-`.
    pub name: String,
    /// The SHA-256 of the file's bytes in hexadecimal, after decompression.
    pub digest: String,
    /// The content of the file.
    pub value: Json,
    /// The parts that are not plain JSON.
    pub oddities: Vec<Oddity>,
}

/// Why a JSON file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WholeFileError {
    /// Opening or reading failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The file is larger than such a file can be.
    #[error("`{path}` has more than {mebibytes} MiB\nhint: this is probably another file than was meant")]
    TooLarge {
        /// The path of the file.
        path: String,
        /// The limit in MiB.
        mebibytes: u64,
    },
    /// The file is not JSON.
    #[error("`{path}:{line}:{column}` is not JSON: {message}")]
    Syntax {
        /// The path of the file.
        path: String,
        /// Line, from 1.
        line: u64,
        /// Column in bytes, from 1.
        column: u64,
        /// The problem in words.
        message: String,
    },
}

impl WholeFile {
    /// Reads one JSON value from a file, `-` for standard input, gzip too.
    ///
    /// # Errors
    /// [`WholeFileError`], with the place.
    pub fn read(path: &Path, max_mebibytes: u64) -> Result<Self, WholeFileError> {
        Self::read_as(path, max_mebibytes, json::parse)
    }

    /// Reads one JSON value from a file in the style of editors, with comments, commas before closing brackets, and a
    /// byte order mark.
    ///
    /// # Errors
    /// [`WholeFileError`], with the place.
    pub fn read_commented(path: &Path, max_mebibytes: u64) -> Result<Self, WholeFileError> {
        Self::read_as(path, max_mebibytes, parse_commented)
    }

    /// Reads one JSON value, or JSON Lines: one value a line, which become the items of a list.
    ///
    /// # Errors
    /// [`WholeFileError`], with the place.
    pub fn read_lines(path: &Path, max_mebibytes: u64) -> Result<Self, WholeFileError> {
        Self::read_as(path, max_mebibytes, parse_lines)
    }

    fn read_as(
        path: &Path,
        max_mebibytes: u64,
        parse: impl FnOnce(&[u8]) -> Result<(Json, Vec<Oddity>), json::SyntaxError>,
    ) -> Result<Self, WholeFileError> {
        let max_bytes = max_mebibytes << 20;
        let source = Source::open_within(path, max_bytes).map_err(|error| match error {
            SourceError::TooLarge { path } => WholeFileError::TooLarge { path, mebibytes: max_mebibytes },
            error => error.into(),
        })?;
        let mut text = Vec::new();
        source.reader()?.take(max_bytes + 1).read_to_end(&mut text).map_err(|cause| source.error(cause))?;
        let name = source.name().to_owned();
        if text.len() as u64 > max_bytes {
            return Err(WholeFileError::TooLarge { path: name, mebibytes: max_mebibytes });
        }
        let plain = without_byte_order_mark(&text);
        match parse(plain) {
            Ok((value, oddities)) => Ok(Self { name, digest: source.digest()?, value, oddities }),
            Err(error) => {
                let (line, column) = source.position((text.len() - plain.len() + error.offset) as u64);
                Err(WholeFileError::Syntax { path: name, line, column, message: error.message })
            }
        }
    }
}

/// Replaces everything that is not JSON by white space, so that offsets stay.
fn parse_commented(text: &[u8]) -> Result<(Json, Vec<Oddity>), json::SyntaxError> {
    let mut text = text.to_vec();
    if text.starts_with(b"\xef\xbb\xbf") {
        text[..3].fill(b' ');
    }
    json::parse(&text).or_else(|error| {
        // A parser of plain JSON then reports the place of a comment without an end.
        let Ok(()) = json_strip_comments::strip_slice(&mut text) else { return Err(error) };
        json::parse(&text)
    })
}

/// Parses a single value, or else one value per line into a list. If both fail, the error is that of a line if the
/// first line is a value, else that of the whole text.
fn parse_lines(text: &[u8]) -> Result<(Json, Vec<Oddity>), json::SyntaxError> {
    json::parse(text).or_else(|error| {
        let (mut items, mut oddities, mut start) = (Vec::new(), Vec::new(), 0);
        for line in text.split(|&byte| byte == b'\n') {
            if !line.trim_ascii().is_empty() {
                match json::parse(line) {
                    Ok((item, odd)) => {
                        items.push(item);
                        oddities.extend(odd);
                    }
                    Err(_) if items.is_empty() => return Err(error),
                    Err(error) => {
                        return Err(json::SyntaxError { offset: start + error.offset, ..error });
                    }
                }
            }
            start += line.len() + 1;
        }
        Ok((Json::Array(items), oddities))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_left_aside_and_nothing_else() {
        let text =
            "\u{feff}{ // a \"comment\"\n \"url\": \"http://x/*y*/,}\", /* b */\n \"list\": [1, 2, ],\n}\n";
        let (value, oddities) = parse_commented(text.as_bytes()).unwrap();
        assert_eq!(value.get("url").and_then(Json::as_str), Some("http://x/*y*/,}"));
        assert!(oddities.is_empty());
        let plain = r#"{"a": "\\", "b": "// no comment"}"#;
        assert_eq!(parse_commented(plain.as_bytes()).unwrap().0, json::parse(plain.as_bytes()).unwrap().0);
        for wrong in ["{\"a\": 1 \"b\": 2}", "", "{x}", "[1,,2]"] {
            assert!(parse_commented(wrong.as_bytes()).is_err(), "{wrong}");
        }
        // The place is kept: the second line, after a comment.
        let text = "{ // one\n \"a\": x}";
        assert_eq!(parse_commented(text.as_bytes()).unwrap_err().offset, text.find('x').unwrap());
    }

    #[test]
    fn a_stream_without_end_is_refused_early() {
        let error = WholeFile::read(Path::new("/dev/zero"), 1).unwrap_err();
        assert!(matches!(error, WholeFileError::Source(SourceError::Device { .. })), "{error}");
    }
}
