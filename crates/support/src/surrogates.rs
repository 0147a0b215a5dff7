//! Halves of surrogate pairs in JSON. Programs whose texts are UTF-16 or code points write `\ud83d` alone when they have
//! cut a text inside an emoji; parsers of UTF-8 refuse it.

/// The note on a text in which half of a surrogate pair was replaced.
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
        let is_first = is_half(&out, at, FIRST);
        if is_first && is_half(&out, at + 6, SECOND) {
            at += 12;
        } else if is_first || is_half(&out, at, SECOND) {
            out[at + 2..at + 6].copy_from_slice(b"fffd");
            at += 6;
        } else {
            at += 2;
        }
    }
    out
}

/// The second digits of the first halves of pairs, `\ud800` to `\udbff`.
const FIRST: &[u8] = b"89abAB";

/// The second digits of the second halves of pairs, `\udc00` to `\udfff`.
const SECOND: &[u8] = b"cdefCDEF";

/// Whether a half of a surrogate pair is escaped at `at` whose second digit is one of these.
fn is_half(text: &[u8], at: usize, digits: &[u8]) -> bool {
    let escape = text.get(at..at + 6);
    matches!(escape, Some([b'\\', b'u', b'd' | b'D', digit, ..]) if digits.contains(digit))
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
