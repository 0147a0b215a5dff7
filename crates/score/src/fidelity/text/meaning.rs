//! Aligns left-over words by their meaning: written apart or together, abbreviated, measured in another unit, misspelt,
//! synonyms; at last by the embeddings of words.

use super::super::constants::{
    COUSIN_COSINE, FOREIGN_WORD_COSINE, INFLECTED, KNOWN_WORD_COSINE, LOOK_ALIKE, MISSPELT, RARE_SENSE,
    SYNONYM, UNREADABLE, WORD_COSINE, on_curve,
};
use super::super::language::numerals;
use super::super::name::NamedThing;
use super::super::readers::unit;
use super::super::words::Words;
use super::Manner;
use super::phrases;
use super::side::Side;
use super::thesaurus::{self, Relation};
use super::token::Token;

/// The most bytes of a word; longer ones are aligned with equal ones only.
const LONGEST_WORD: usize = 256;

/// Aligns the left-over words of two texts.
pub(super) fn align(words: &Words, a: &mut Side, b: &mut Side, manner: Manner) {
    phrases::align(a, b);
    quantities(a, b);
    single_words(words, a, b, manner);
}

/// Aligns numbers with their units: `2 km` and `2000 m`.
fn quantities(a: &mut Side, b: &mut Side) {
    let of = |side: &Side, at: usize| -> Option<(usize, f64, f64, Vec<usize>)> {
        let number = side.tokens[at].number?;
        let next = side.tokens.get(at + 1)?;
        let (dimension, factor) = unit(&next.word)?;
        Some((dimension, factor, number * factor, vec![at, at + 1]))
    };
    for at in a.left_over() {
        let Some((dimension, factor, value, places)) = of(a, at) else { continue };
        let partner = b.left_over().into_iter().find_map(|other| {
            let (other_dimension, other_factor, other_value, other_places) = of(b, other)?;
            // Converted numbers are rounded, others are not.
            let tolerance = if (factor - other_factor).abs() < 1e-12 { 1e-9 } else { 5e-3 };
            let is_same = dimension == other_dimension
                && (value - other_value).abs() <= tolerance * value.abs().max(other_value.abs());
            is_same.then_some(other_places)
        });
        if let Some(other_places) = partner {
            a.settle(&places, 0.0);
            b.settle(&other_places, 0.0);
        }
    }
}

/// Aligns single words, the most alike first.
fn single_words(words: &Words, a: &mut Side, b: &mut Side, manner: Manner) {
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for &x in &a.left_over() {
        for &y in &b.left_over() {
            let (first, second) = (&a.tokens[x], &b.tokens[y]);
            let alike = alike(words, first, second, manner);
            if alike > 0.0 {
                pairs.push((alike, x, y));
            }
        }
    }
    // Of pairs that are equally alike, those nearest in position come first, whichever text is the first.
    pairs.sort_by(|p, q| {
        q.0.total_cmp(&p.0)
            .then(p.1.abs_diff(p.2).cmp(&q.1.abs_diff(q.2)))
            .then((p.1 + p.2).cmp(&(q.1 + q.2)))
    });
    for (alike, x, y) in pairs {
        if a.left[x] >= 1.0 && b.left[y] >= 1.0 {
            (a.left[x], b.left[y]) = (1.0 - alike, 1.0 - alike);
            (a.partner[x], b.partner[y]) = (Some(y), Some(x));
        }
    }
}

/// How far two words mean the same, in [0, 1].
fn alike(words: &Words, x: &Token, y: &Token, manner: Manner) -> f64 {
    let is_digits = |token: &Token| token.word.starts_with(|c: char| c.is_ascii_digit());
    if is_digits(x) || is_digits(y) || x.number.is_some() || y.number.is_some() {
        let is_same = x.number.is_some() && x.number == numerals::roman(&y.word)
            || y.number.is_some() && y.number == numerals::roman(&x.word);
        return if is_same { SYNONYM } else { 0.0 };
    }
    if x.weight < 0.5 || y.weight < 0.5 {
        // Words of little weight are not worth an embedding.
        return 0.0;
    }
    let (a, b) = (x.word.as_str(), y.word.as_str());
    // The time to compare letters grows with the product of both lengths.
    if a.len().max(b.len()) > LONGEST_WORD {
        return 0.0;
    }
    if let (Some(a), Some(b)) = (unit(a), unit(b)) {
        // Two names of one unit, or two units.
        return if a == b { SYNONYM } else { 0.0 };
    }
    let is_shortened = manner.named == NamedThing::People && (is_initial(a, b) || is_initial(b, a));
    if is_shortened || are_inflected(a, b) {
        return INFLECTED;
    }
    if manner.is_foreign {
        return by_thesaurus(words, a, b, true);
    }
    words.settle(a, b, || by_thesaurus(words, a, b, false))
}

/// How far two words mean the same by what the thesaurus knows of them, their spelling and their embeddings.
fn by_thesaurus(words: &Words, a: &str, b: &str, is_foreign: bool) -> f64 {
    let (of_a, of_b) = (thesaurus::meanings(a), thesaurus::meanings(b));
    // Different words of one embedding are words that the encoder cannot read.
    let cosine = || words.cosine(a, b).filter(|cosine| *cosine < UNREADABLE);
    let by_cosine = |curve: &[(f64, f64)]| cosine().map_or(0.0, |cosine| on_curve(curve, cosine));
    let known = usize::from(!of_a.is_empty()) + usize::from(!of_b.is_empty());
    match thesaurus::relation(&of_a, &of_b) {
        Relation::Same(0) if !cosine().is_some_and(|cosine| cosine >= RARE_SENSE) => 0.0,
        Relation::Same(_) => SYNONYM,
        Relation::Derived if have_one_root(a, b) => INFLECTED,
        Relation::Opposite | Relation::Siblings => 0.0,
        _ if is_foreign => {
            if are_misspelt(a, b, known) {
                MISSPELT
            } else {
                by_cosine(&FOREIGN_WORD_COSINE)
            }
        }
        Relation::Cousins => by_cosine(&COUSIN_COSINE),
        _ if are_misspelt(a, b, known) => MISSPELT,
        Relation::Unrelated | Relation::Broader if thesaurus::is_name(&of_a) || thesaurus::is_name(&of_b) => {
            by_cosine(&COUSIN_COSINE)
        }
        // Words that look alike and are not related are other words: `affect` and `effect`.
        Relation::Unrelated | Relation::Broader
            if known == 2 && strsim::normalized_damerau_levenshtein(a, b) >= LOOK_ALIKE =>
        {
            0.0
        }
        Relation::Derived | Relation::Similar | Relation::Unrelated | Relation::Broader if known == 2 => {
            by_cosine(&KNOWN_WORD_COSINE)
        }
        // One letter says nothing by itself.
        _ if a.chars().count() < 2 || b.chars().count() < 2 => 0.0,
        _ => by_cosine(&WORD_COSINE),
    }
}

/// Whether a name is the first letter of another.
fn is_initial(short: &str, long: &str) -> bool {
    short.chars().count() == 1 && long.starts_with(short)
}

/// Whether two words are forms of one word, by their endings: `drive`, `drives`, `driving`; `book`, `booked`. Names
/// that only look like plurals count, too.
fn are_inflected(a: &str, b: &str) -> bool {
    let stem = |word: &str| -> String {
        let cut = ["ing", "ed", "es", "s", "e"].iter().find_map(|end| word.strip_suffix(end));
        let stem = cut.filter(|stem| stem.len() >= 3).unwrap_or(word);
        let bytes = stem.as_bytes();
        // The doubled letter of `running`.
        match bytes {
            [.., x, y] if x == y && stem.len() > 3 && stem.is_ascii() => stem[..stem.len() - 1].to_owned(),
            _ => stem.to_owned(),
        }
    };
    let is_plural = |a: &str, b: &str| b.len() > 1 && a.strip_suffix('s') == Some(b);
    is_plural(a, b) || is_plural(b, a) || (a.len().min(b.len()) >= 4 && stem(a) == stem(b))
}

/// Whether two words begin alike, as words of one root do where one is made from the other.
fn have_one_root(a: &str, b: &str) -> bool {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    common >= 2
}

/// Whether two words differ by a slip of the keyboard after their first letter; two known words are different words. If
/// one of them is known, shorter words are enough, and long ones may have two slips if both use the same letters.
fn are_misspelt(a: &str, b: &str, known: usize) -> bool {
    let length = a.chars().count().min(b.chars().count());
    let slips = match known {
        0 if length >= 6 => 1,
        1 if length >= 8 => 2,
        1 if length >= 5 => 1,
        _ => 0,
    };
    let letters = |word: &str| -> std::collections::BTreeSet<char> { word.chars().collect() };
    let distance = || strsim::osa_distance(a, b);
    slips > 0
        && a.chars().next() == b.chars().next()
        && (distance() <= 1 || slips == 2 && distance() == 2 && letters(a) == letters(b))
}
