//! Texts without what says nothing: case, accents, forms of Unicode, HTML entities, white space.

/// A text in lower case and plain letters, with single spaces. Letters of other scripts stay.
pub(in crate::fidelity) fn fold(text: &str) -> String {
    let text = entities(text);
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !folded.is_empty() && !folded.ends_with(' ') {
                folded.push(' ');
            }
        } else {
            push(&mut folded, c);
        }
    }
    folded.truncate(folded.trim_end().len());
    folded
}

fn push(folded: &mut String, c: char) {
    match c {
        // Full-width forms of ASCII.
        '\u{ff01}'..='\u{ff5e}' => {
            let plain = char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c);
            folded.push(plain.to_ascii_lowercase());
        }
        // Combining accents, soft hyphens, joiners, marks of direction.
        '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {}
        '\u{2018}' | '\u{2019}' | '\u{2032}' | '`' | '\u{b4}' => folded.push('\''),
        '\u{201c}' | '\u{201d}' | '\u{ab}' | '\u{bb}' | '\u{201e}' => folded.push('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => folded.push('-'),
        '\u{2026}' => folded.push_str("..."),
        _ => {
            for lower in c.to_lowercase() {
                match plain(lower) {
                    Some(letters) => folded.push_str(letters),
                    None => folded.push(lower),
                }
            }
        }
    }
}

/// The plain letters of a Latin letter with an accent, and of ligatures and raised digits.
fn plain(c: char) -> Option<&'static str> {
    const TABLE: &[(&str, &str)] = &[
        ("àáâãäåāăąǎ", "a"),
        ("çćĉċč", "c"),
        ("ďđð", "d"),
        ("èéêëēĕėęě", "e"),
        ("ĝğġģ", "g"),
        ("ĥħ", "h"),
        ("ìíîïĩīĭįı", "i"),
        ("ĵ", "j"),
        ("ķ", "k"),
        ("ĺļľŀł", "l"),
        ("ñńņňŉ", "n"),
        ("òóôõöøōŏőơ", "o"),
        ("ŕŗř", "r"),
        ("śŝşšș", "s"),
        ("ţťŧț", "t"),
        ("ùúûüũūŭůűųư", "u"),
        ("ŵ", "w"),
        ("ýÿŷ", "y"),
        ("źżž", "z"),
        ("ß", "ss"),
        ("æ", "ae"),
        ("œ", "oe"),
        ("þ", "th"),
        ("ﬁ", "fi"),
        ("ﬂ", "fl"),
        ("⁰₀", "0"),
        ("¹₁", "1"),
        ("²₂", "2"),
        ("³₃", "3"),
        ("₄", "4"),
        ("½", "0.5"),
        ("¼", "0.25"),
        ("¾", "0.75"),
        ("µμ", "u"),
        ("×", "x"),
        ("ạảấầẩẫậắằẳẵặ", "a"),
        ("ẹẻẽếềểễệ", "e"),
        ("ỉị", "i"),
        ("ọỏốồổỗộớờởỡợ", "o"),
        ("ụủứừửữự", "u"),
    ];
    if c.is_ascii() {
        return None;
    }
    TABLE.iter().find(|(letters, _)| letters.contains(c)).map(|(_, plain)| *plain)
}

/// The characters of the most usual HTML entities.
fn entities(text: &str) -> std::borrow::Cow<'_, str> {
    const TABLE: &[(&str, &str)] = &[
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&nbsp;", " "),
        ("&ndash;", "-"),
        ("&mdash;", "-"),
        ("&amp;", "&"),
        ("&#38;", "&"),
    ];
    if !text.contains('&') || !text.contains(';') {
        return text.into();
    }
    let mut found = text.to_owned();
    for (entity, character) in TABLE {
        if found.contains(entity) {
            found = found.replace(entity, character);
        }
    }
    found.into()
}
