//! Makes untrusted text safe to show: on a terminal, in a log, in a message.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use sha2::{Digest as _, Sha256};
use unicode_width::UnicodeWidthStr as _;

/// Writes control characters, terminal escapes and characters that reorder or hide text as `\u{..}`, so that an id or
/// a tool name cannot move the cursor or look like another. Line breaks become `\n` unless `keep_lines`.
#[must_use]
pub fn visible(text: &str, keep_lines: bool) -> Cow<'_, str> {
    let is_safe = |c: char| !is_hidden(c) || (keep_lines && c == '\n');
    if text.chars().all(is_safe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if keep_lines && c == '\n' {
            out.push(c);
        } else {
            push_visible(&mut out, c);
        }
    }
    Cow::Owned(out)
}

/// Adds one character to `out`, made [`visible`].
pub fn push_visible(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        c if is_hidden(c) => {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// A JSON text in which the characters that [`visible`] shows are written as `\u` escapes. Its meaning is unchanged,
/// but it cannot act on a terminal: JSON itself allows most of these characters. `json` should be valid; line breaks
/// between its values stay.
#[must_use]
pub fn json_without_hidden(json: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| !matches!(c, '\n' | '\r' | '\t') && is_hidden(c);
    // Most of it is plain text, which is checked in blocks.
    let is_plain =
        |block: &[u8]| block.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~' | b'\n'));
    if json.as_bytes().chunks(64).all(is_plain) || !json.chars().any(is_hidden) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Whether a character is a control character (C0, C1), or one of the format characters of Unicode that change how
/// their neighbours are shown: zero-width ones, bidirectional marks and overrides, line separators, the byte order
/// mark, tags. Also noncharacters, which XML cannot express.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        || u32::from(c) & 0xfffe == 0xfffe
}

/// The beginning of a text, made [`visible`], in at most `width` columns of a terminal; an ellipsis stands for the
/// rest. A Chinese character takes two columns.
#[must_use]
pub fn shortened(text: &str, width: usize) -> String {
    // Few characters take no column, so the rest of a long text need not be read.
    let start = text.floor_char_boundary(width.saturating_mul(16));
    let shown = visible(&text[..start], false);
    if start == text.len() && shown.width() <= width {
        return shown.into_owned();
    }
    if shown.is_ascii() {
        // Each character takes one column.
        return format!("{}…", &shown[..shown.len().min(width.saturating_sub(1))]);
    }
    let mut cut = String::new();
    for c in shown.chars() {
        cut.push(c);
        // Measured as a whole, because combined characters may be narrower or wider than one by one.
        if cut.width() >= width {
            cut.pop();
            break;
        }
    }
    cut + "…"
}

/// The beginning of a text: at most this many bytes, in whole characters.
#[must_use]
pub fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// An error with all its causes: the outermost error of an HTTP failure says too little.
pub fn error_with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut reason = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !reason.contains(&text) {
            reason = format!("{reason}: {text}");
        }
        cause = error.source();
    }
    reason
}

/// A time in words: `85 ms`, `12.3 s`, `4 min 10 s`, `2 h 7 min`; anything below the last unit is cut off.
#[must_use]
pub fn duration(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.subsec_millis()),
        seconds @ 1..60 => format!("{seconds}.{} s", time.subsec_millis() / 100),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A size in words, in decimal units as disks are sold: `85 bytes`, `12.3 KB`, `4.1 MB`.
#[must_use]
pub fn size(bytes: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
    let of = |unit: usize| bytes as f64 / unit as f64;
    match bytes {
        0..1_000 => counted(u64::try_from(bytes).unwrap_or_default(), "byte"),
        1_000..1_000_000 => format!("{:.1} KB", of(1_000)),
        _ => format!("{:.1} MB", of(1_000_000)),
    }
}

/// A number of things: `1 step`, `2 steps`, `0 tries`. `thing` is the singular; the plural adds `s`, or replaces a
/// `y` after a consonant by `ies`.
pub fn counted<N: Copy + fmt::Display + PartialEq + From<u8>>(count: N, thing: &str) -> String {
    if count == N::from(1) {
        return format!("{count} {thing}");
    }
    let is_changed = |stem: &str| !stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    match thing.strip_suffix('y').filter(|stem| is_changed(stem)) {
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {thing}s"),
    }
}

/// A message on one line: its hint, which has its own line, goes into brackets, and other line breaks become blanks.
pub fn on_one_line(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut text = lines.next().unwrap_or_default().to_owned();
    let mut is_open = false;
    for line in lines {
        let opens = !is_open && line.starts_with("hint: ");
        is_open |= opens;
        text.push_str(if opens { " (" } else { " " });
        text.push_str(line);
    }
    text.extend(is_open.then_some(')'));
    text
}

/// A time in whole milliseconds, as in records.
#[must_use]
pub fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The hash of bytes: `sha256:` and SHA-256 in hexadecimal.
#[must_use]
pub fn hash_of_bytes(bytes: &[u8]) -> String {
    format!("sha256:{}", hexadecimal(&Sha256::digest(bytes)))
}

/// Bytes in hexadecimal, two lower-case digits each.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// The characters to escape: all but unreserved ones (RFC 3986, section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as part of an address: all of it but letters, digits and `-._~` is escaped, as `%2F` and the like.
#[must_use]
pub fn percent_encoded(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, RESERVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_do() {
        let texts =
            [0, 999, 1_000, 59_999, 60_000, 365_300, 7_620_000].map(Duration::from_millis).map(duration);
        assert_eq!(texts, ["0 ms", "999 ms", "1.0 s", "59.9 s", "1 min 0 s", "6 min 5 s", "2 h 7 min"]);
    }

    #[test]
    fn one_thing_is_told_from_several() {
        assert_eq!(counted(1_u32, "step"), "1 step");
        assert_eq!([0_usize, 2].map(|count| counted(count, "call")), ["0 calls", "2 calls"]);
        assert_eq!(counted(3_u64, "trajectory"), "3 trajectories");
        assert_eq!(counted(1_u64, "trajectory"), "1 trajectory");
        assert_eq!(counted(2_u8, "key"), "2 keys");
    }

    #[test]
    fn a_hint_stands_on_the_line_of_its_message() {
        assert_eq!(
            on_one_line("no key\nhint: set it\nand try again\n"),
            "no key (hint: set it and try again)"
        );
        assert_eq!(on_one_line("two\n  lines"), "two lines");
        assert_eq!(on_one_line(""), "");
    }

    #[test]
    fn what_acts_on_the_terminal_is_shown_instead() {
        assert_eq!(visible("plain é 漢字", false), "plain é 漢字");
        assert_eq!(visible("\u{1b}[31mred\u{7}\u{9b}", false), "\\u{1b}[31mred\\u{7}\\u{9b}");
        assert_eq!(visible("a\u{202e}b\u{200b}\n", false), "a\\u{202e}b\\u{200b}\\n");
        assert_eq!(visible("a\nb", true), "a\nb");
    }

    #[test]
    fn json_keeps_its_meaning() {
        let text = "{\n\"a\u{9b}\": \"\u{202e}\u{e0041}é\"}";
        let safe = json_without_hidden(text);
        assert_eq!(safe, "{\n\"a\\u009b\": \"\\u202e\\udb40\\udc41é\"}");
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(&safe), parse(text));
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
        assert_eq!(shortened("漢字漢字", 8), "漢字漢字");
        assert_eq!(shortened("漢字漢字", 7), "漢字漢…");
        assert!(shortened(&"☺\u{fe0f}".repeat(50), 24).width() <= 24);
        assert!(shortened(&"e\u{301}".repeat(10_000), 3).width() <= 3);
    }
}
