//! Values of JSON that memory can hold: a hostile text has more of them than its length tells.

use std::borrow::Cow;

use m3_trajectory::Source;
use m3_trajectory::json::{Json, SyntaxError, parse};

use crate::lines::{each_line, each_sign};
use crate::sink::{LONGEST, ReadError};

/// The most values of a text: each takes some dozens of bytes of memory, and two bytes of the text.
const MOST: usize = 20_000_000;

/// Reads a value.
pub(crate) fn value(text: &[u8]) -> Result<Json, SyntaxError> {
    // Each value takes at least one byte.
    if text.len() > MOST && count(text) > MOST {
        let message = format!("more than {} million values; export it in smaller parts", MOST / 1_000_000);
        return Err(SyntaxError { offset: 0, message });
    }
    parse(text).map(|(value, _)| value)
}

/// The object or the list that a text of JSON holds; any other value stays as it is.
pub(crate) fn opened(json: &Json) -> Cow<'_, Json> {
    let text = json.as_str().filter(|text| text.trim_start().starts_with(['{', '[']));
    let parsed = text.and_then(|text| value(text.as_bytes()).ok());
    parsed.map_or(Cow::Borrowed(json), Cow::Owned)
}

/// Calls `each` with each of the values that stand one after another, and the line on which it begins; with the reason if
/// it is not JSON. Text between the values, such as the output of a program, is passed over.
pub(crate) fn each_value(
    source: &Source,
    mut each: impl FnMut(u64, Result<Json, String>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let (mut text, mut depth, mut first) = (Vec::new(), 0_usize, 0);
    each_line::<ReadError>(source, LONGEST, |number, line| {
        let (mut begin, mut ends) = (0, Vec::new());
        each_sign(line, |place, sign| match sign {
            b'[' | b'{' => {
                (begin, first) = if depth == 0 { (place, number) } else { (begin, first) };
                depth += 1;
            }
            b']' | b'}' if depth > 0 => {
                depth -= 1;
                ends.extend((depth == 0).then_some((begin, place, first)));
            }
            _ => {}
        });
        for (begin, end, first) in ends {
            text.extend_from_slice(line.get(begin..=end).unwrap_or_default());
            each(first, value(&std::mem::take(&mut text)).map_err(|error| error.message))?;
        }
        if depth > 0 {
            text.extend_from_slice(line.get(begin..).unwrap_or_default());
            text.push(b'\n');
        }
        if text.len() as u64 > LONGEST {
            return Err(ReadError::refused("one JSON value of more than 256 MB"));
        }
        Ok(())
    })?;
    if depth > 0 { each(first, Err("the file ends in the middle of a value".to_owned())) } else { Ok(()) }
}

/// The approximate number of values in a JSON text: the separators outside of strings.
fn count(text: &[u8]) -> usize {
    let (mut in_string, mut is_escaped) = (false, false);
    let is_separator = |&&byte: &&u8| {
        if in_string {
            (in_string, is_escaped) = (is_escaped || byte != b'"', !is_escaped && byte == b'\\');
            return false;
        }
        in_string = byte == b'"';
        matches!(byte, b',' | b'[' | b'{')
    };
    text.iter().filter(is_separator).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        assert_eq!(count(br#"[1, {"a,[": "\",{"}, []]"#), 5);
    }
}
