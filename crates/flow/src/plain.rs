//! Texts in the form in which they are compared: without percent escapes of URLs and without accents.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization as _;

/// Letters that Unicode does not decompose, and their spelling in plain letters.
const LETTERS: [(char, &str); 14] = [
    ('ø', "o"),
    ('Ø', "O"),
    ('ł', "l"),
    ('Ł', "L"),
    ('đ', "d"),
    ('Đ', "D"),
    ('ı', "i"),
    ('ß', "ss"),
    ('æ', "ae"),
    ('Æ', "Ae"),
    ('œ', "oe"),
    ('Œ', "Oe"),
    ('þ', "th"),
    ('Þ', "Th"),
];

/// The text with `%20` and the like decoded (RFC 3986, section 2.1) and Latin letters without their accents, so that
/// `Barnegat%20Inlet` is `Barnegat Inlet` and `São Tomé` is `Sao Tome`. Escapes that do not decode to UTF-8 stay.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let decoded = decoded(text);
    if !decoded.contains(is_accented) {
        return decoded;
    }
    let mut plain = String::with_capacity(decoded.len());
    for c in decoded.nfd().filter(|&c| !is_mark(c)) {
        match LETTERS.iter().find(|(letter, _)| *letter == c) {
            Some((_, written)) => plain.push_str(written),
            None => plain.push(c),
        }
    }
    // The decomposition takes Korean syllables apart too; this joins them again.
    Cow::Owned(plain.nfc().collect())
}

fn decoded(text: &str) -> Cow<'_, str> {
    let is_escape = |rest: &[u8]| rest[1].is_ascii_hexdigit() && rest[2].is_ascii_hexdigit();
    if text.as_bytes().windows(3).any(|rest| rest[0] == b'%' && is_escape(rest)) {
        percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
    } else {
        Cow::Borrowed(text)
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Latin letters with accents, and accents that stand alone.
fn is_accented(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') || is_mark(c)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn escapes_and_accents_mean_nothing() {
        for (text, wanted) in [
            ("https://x.org/?q=Barnegat%20Inlet%2C%20NJ", "https://x.org/?q=Barnegat Inlet, NJ"),
            ("S%C3%A3o%20Tom%c3%a9", "Sao Tome"),
            ("São Tomé, Łódź, Straße, Ærø", "Sao Tome, Lodz, Strasse, Aero"),
            ("Sa\u{303}o Tome\u{301}", "Sao Tome"),
            ("한국 é", "한국 e"),
            ("50% of 20%, %zz and %", "50% of 20%, %zz and %"),
            ("%ff%fe", "%ff%fe"),
            ("%e", "%e"),
        ] {
            assert_eq!(plain(text), wanted, "{text}");
        }
    }
}
