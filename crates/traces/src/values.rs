//! Values of JSON that memory can hold: a hostile text has more of them than its length tells.

use m3_trajectory::json::{Json, SyntaxError, parse};

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
