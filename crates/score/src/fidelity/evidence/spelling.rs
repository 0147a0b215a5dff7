//! How alike two values are written.

use std::collections::BTreeSet;

use super::super::text;
use super::{Evidence, NONE, flag};

/// The start of a text, of which letters are compared.
fn start(text: &str) -> &str {
    &text[..text.floor_char_boundary(512)]
}

fn trigrams(text: &str) -> BTreeSet<[char; 3]> {
    let characters: Vec<char> = std::iter::once(' ').chain(start(text).chars()).chain([' ']).collect();
    characters.windows(3).map(|three| [three[0], three[1], three[2]]).collect()
}

pub(super) fn spelling(e: &mut Evidence, texts: Option<&(String, String)>) {
    let folded = texts.map(|(a, b)| (text::fold(a), text::fold(b)));
    let of = |value: &dyn Fn(&str, &str) -> f64| folded.as_ref().map_or(NONE, |(a, b)| value(a, b));
    let letters = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
    e.push("folded_equal", of(&|a, b| flag(a == b)));
    e.push("letters_equal", of(&|a, b| flag(letters(a) == letters(b))));
    e.push(
        "trigrams",
        of(&|a, b| {
            let (x, y) = (trigrams(a), trigrams(b));
            x.intersection(&y).count() as f64 / x.union(&y).count().max(1) as f64
        }),
    );
    e.push("spelling", of(&|a, b| strsim::normalized_levenshtein(start(a), start(b))));
    // Of several letters of one kind the order of both texts matters to it.
    let jaro = |a: &str, b: &str| strsim::jaro_winkler(start(a), start(b));
    e.push("jaro", of(&|a, b| f64::midpoint(jaro(a, b), jaro(b, a))));
    e.push("initials", of(&|a, b| flag(are_initials(a, b) || are_initials(b, a))));
    e.push("length", of(&|a, b| (a.len().max(b.len()) as f64).min(400.0)));
    e.push("length_ratio", of(&|a, b| a.len().min(b.len()) as f64 / a.len().max(b.len()).max(1) as f64));
    let holds = |long: &str, short: &str| format!(" {long} ").contains(&format!(" {short} "));
    e.push("contains", of(&|a, b| flag(holds(a, b) || holds(b, a))));
    e.push("starts", of(&|a, b| flag(a.starts_with(b) || b.starts_with(a))));
    e.push("ends", of(&|a, b| flag(a.ends_with(b) || b.ends_with(a))));
    let raw = |value: &dyn Fn(&str) -> bool| texts.map(|(a, b)| (value(a), value(b)));
    let signs = raw(&|text| text.contains(['/', '\\', '_', '@', '=', '(', '{', '<', '^', '*']));
    e.push("signs", signs.map_or(NONE, |(a, b)| flag(a || b)));
    let capitals = raw(&|text| {
        let mut words = text.split_whitespace().filter(|word| word.len() > 2);
        words.all(|word| word.starts_with(|c: char| c.is_uppercase() || c.is_numeric()))
    });
    e.push("capitals", capitals.map_or(NONE, |(a, b)| flag(a) + flag(b)));
    let latin = raw(&|text| text.chars().filter(|c| c.is_alphabetic()).all(|c| c < '\u{250}'));
    e.push("latin", latin.map_or(NONE, |(a, b)| flag(a && b)));
}

/// Whether a text has the initials of the words of another.
fn are_initials(short: &str, long: &str) -> bool {
    let words: Vec<&str> =
        long.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let initials: String = words.iter().filter_map(|word| word.chars().next()).collect();
    let short: String = short.chars().filter(|c| c.is_alphanumeric()).collect();
    words.len() > 1 && short.len() > 1 && short == initials
}
