//! The lines of a file, and the signs of JSON in a text.

use std::io::BufRead as _;

use m3_trajectory::{Source, SourceError};

/// Calls `each` with the brackets and commas outside of strings.
pub(crate) fn each_sign(text: &[u8], mut each: impl FnMut(usize, u8)) {
    let (mut in_string, mut is_escaped) = (false, false);
    for (place, &byte) in text.iter().enumerate() {
        if in_string {
            (in_string, is_escaped) = (is_escaped || byte != b'"', !is_escaped && byte == b'\\');
        } else if byte == b'"' {
            in_string = true;
        } else if matches!(byte, b'[' | b'{' | b']' | b'}' | b',') {
            each(place, byte);
        }
    }
}

/// Calls `each` with the lines of a file that are not empty, numbered from 1. Only the first `longest` bytes of a line
/// are read.
pub(crate) fn each_line<E: From<SourceError>>(
    source: &Source,
    longest: u64,
    mut each: impl FnMut(u64, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = source.reader()?;
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        let read = std::io::Read::take(&mut reader, longest).read_until(b'\n', &mut line);
        let read = read.map_err(|cause| source.error(cause))?;
        if read == 0 {
            return Ok(());
        }
        if read as u64 == longest && !line.ends_with(b"\n") {
            reader.skip_until(b'\n').map_err(|cause| source.error(cause))?;
        }
        number += 1;
        let text = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) } else { &line };
        let text = text.trim_ascii();
        if !text.is_empty() {
            each(number, text)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_line_that_is_too_long_is_no_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "ab\nabcdefgh\nabcd\n\nabc\nabcdefghi").unwrap();
        let mut lines = Vec::new();
        let each = |number, line: &[u8]| {
            lines.push((number, String::from_utf8(line.to_owned()).unwrap()));
            Ok::<_, SourceError>(())
        };
        each_line(&Source::open(file.path()).unwrap(), 4, each).unwrap();
        let lines: Vec<(u64, &str)> = lines.iter().map(|(number, line)| (*number, &**line)).collect();
        assert_eq!(lines, [(1, "ab"), (2, "abcd"), (3, "abcd"), (5, "abc"), (6, "abcd")]);
    }
}
