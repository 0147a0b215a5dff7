//! Halves of surrogate pairs in JSON. Programs whose texts are UTF-16 or code points write `\ud83d` alone when they have
//! cut a text inside an emoji; parsers of UTF-8 refuse it.

/// How such a half was read, for notes.
pub const LONE_SURROGATE: &str = "half of a surrogate pair; read as U+FFFD";

/// Replaces each `\uD800`..`\uDFFF` escape without a partner by `\ufffd`, which has the same length, so that offsets
/// stay.
#[must_use]
pub fn without_lone_surrogates(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    let mut at = 0;
    while at + 1 < out.len() {
        if out[at] != b'\\' {
            at += 1;
            continue;
        }
        match (surrogate(&out, at), surrogate(&out, at + 6)) {
            (Some(Half::High), Some(Half::Low)) => at += 12,
            (Some(_), _) => {
                out[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
            (None, _) => at += 2,
        }
    }
    out
}

#[derive(Clone, Copy)]
enum Half {
    High,
    Low,
}

/// The half of a surrogate pair that is escaped at `at`, if there is one.
fn surrogate(text: &[u8], at: usize) -> Option<Half> {
    let escape = text.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    match (digits[0], digits[1].to_ascii_lowercase()) {
        (b'd' | b'D', b'8' | b'9' | b'a' | b'b') => Some(Half::High),
        (b'd' | b'D', b'c'..=b'f') => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::without_lone_surrogates;

    #[test]
    fn halves_are_replaced_and_pairs_stay() {
        let replaced = |text: &str| String::from_utf8(without_lone_surrogates(text.as_bytes())).unwrap();
        assert_eq!(replaced(r#""a\ud83d""#), r#""a\ufffd""#);
        assert_eq!(replaced(r#""\ude00\ud83d\uDE00\ud83dx""#), r#""\ufffd\ud83d\uDE00\ufffdx""#);
        assert_eq!(replaced(r#""\\ud83d""#), r#""\\ud83d""#);
        assert_eq!(replaced(r"\ud8"), r"\ud8");
    }
}
