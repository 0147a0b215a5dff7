//! How alike two values are written.

use super::super::language::fold;
use super::{Evidence, NONE, flag};

pub(super) fn spelling(e: &mut Evidence, texts: Option<&(String, String)>) {
    let folded = texts.map(|(a, b)| (fold(a), fold(b)));
    let of = |value: &dyn Fn(&str, &str) -> f64| folded.as_ref().map_or(NONE, |(a, b)| value(a, b));
    // Only the first 512 bytes of a text are compared letter by letter.
    let start = |text: &str| text[..text.floor_char_boundary(512)].to_owned();
    let holds = |long: &str, short: &str| format!(" {long} ").contains(&format!(" {short} "));
    e.push("folded_equal", of(&|a, b| flag(a == b)));
    e.push("spelling", of(&|a, b| strsim::normalized_levenshtein(&start(a), &start(b))));
    e.push("length_ratio", of(&|a, b| a.len().min(b.len()) as f64 / a.len().max(b.len()).max(1) as f64));
    e.push("contains", of(&|a, b| flag(holds(a, b) || holds(b, a))));
}
