//! Says of a file that no format recognizes what it is, if its first bytes show it.

use m3_support::unpack::unpacked_name;
use m3_trajectory::{Source, SourceError};

/// Signs of files that have to be unpacked or converted first: where they stand, the bytes, and what to say.
const SIGNS: [(usize, &[u8], &str); 7] = [
    (0, b"PK\x03\x04", "it is a zip archive: unpack it first"),
    (0, b"\xfd7zXZ\x00", "it is compressed with xz: unpack it first (`xz -d FILE`)"),
    (0, b"BZh", "it is compressed with bzip2: unpack it first (`bzip2 -d FILE`)"),
    (257, b"ustar", "it is a tar archive: unpack it first (`tar -xf FILE`)"),
    (0, b"\xff\xfe", "it is UTF-16: write it as UTF-8 (`iconv -f UTF-16 -t UTF-8 FILE`)"),
    (0, b"\xfe\xff", "it is UTF-16: write it as UTF-8 (`iconv -f UTF-16 -t UTF-8 FILE`)"),
    (0, b"PAR1", "it is a Parquet file: write its rows as JSON Lines first"),
];

/// What begins a turn in texts that chat templates rendered, other than those of `rendered-text`.
const TEMPLATES: [&str; 5] = ["<|start|>", "[INST]", "<|turn>", "<｜User｜>", "<start_of_turn>"];

/// Why no format recognizes a file, if its first bytes show it.
///
/// # Errors
/// [`SourceError`] if it cannot be read.
pub fn why_unknown(source: &Source) -> Result<Option<&'static str>, SourceError> {
    let start = source.start(64 << 10)?;
    let sign = SIGNS.iter().find(|(at, sign, _)| start.get(*at..).is_some_and(|rest| rest.starts_with(sign)));
    if let Some((_, _, reason)) = sign {
        return Ok(Some(reason));
    }
    let name = source.name().to_ascii_lowercase();
    if [".csv", ".tsv"].iter().any(|ending| unpacked_name(&name).ends_with(ending)) {
        return Ok(Some(
            "it is a table without a column of calls, such as `expected_tool_calls` or `expected_tools` (docs/import.md)",
        ));
    }
    let text = String::from_utf8_lossy(&start);
    if TEMPLATES.iter().any(|token| text.contains(token)) {
        return Ok(Some(
            "it has texts that a chat template rendered; only those of ChatML (`<|im_start|>`) and Llama 3 are read: import the messages \
             from which they were made",
        ));
    }
    let mut lines =
        start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let first = lines.next().filter(|_| lines.next().is_some());
    let has_comma = first.is_some_and(|line| line.starts_with(b"{") && line.ends_with(b"},"));
    Ok(has_comma.then_some("its lines end in commas: remove them, or put the lines between brackets"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_to_unpack_or_convert_are_named() {
        let why =
            |bytes: &[u8]| why_unknown(&Source::of_bytes("f", bytes).unwrap()).unwrap().unwrap_or_default();
        let tar = [&[0; 257][..], b"ustar"].concat();
        for (bytes, word) in [
            (&b"PK\x03\x04"[..], "zip"),
            (b"\xfd7zXZ\0", "xz"),
            (b"BZh9", "bzip2"),
            (&tar, "tar"),
            (b"\xff\xfe[\0]\0", "UTF-16"),
            ("{\"text\": \"<｜User｜>q\"}".as_bytes(), "template"),
            (b"{\"a\": 1},\n{\"a\": 2},\n", "commas"),
        ] {
            assert!(why(bytes).contains(word), "{word}");
        }
        assert_eq!(why(b"hello"), "");
        assert_eq!(why(b"{\"a\": 1}\n"), "");
    }
}
