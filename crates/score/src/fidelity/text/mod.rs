//! Free text: the same words in other forms, orders and spellings say the same; one more word of content does not.
//!
//! ```text
//! text -> fold -> tokens (words, numbers, weights) -> equal keys -> lexicon, compounds, quantities, spelling,
//!                                                    embeddings for what is left over -> loss -> score
//! ```

mod fold;
pub(super) mod lexicon;
mod meaning;
mod numerals;
mod order;
mod overlap;
mod phrases;
mod thesaurus;
mod token;

pub(super) use fold::fold;

use super::constants::{MAX_TEXT, SAME_OTHERWISE, TEXT_COSINE, TOO_LONG, WEIGHT_OF_WORDS, on_curve};
use super::words::Words;
use super::{Finding, Kind};

/// Compares two texts that are not equal; `is_place` where the argument's name says that they are places.
pub(super) fn compare(words: &Words, a: &str, b: &str, is_place: bool) -> Finding {
    let kind = if is_place { Kind::Place } else { Kind::Text };
    let (short_a, short_b) = (cut(a), cut(b));
    let is_cut = short_a.len() < a.len() || short_b.len() < b.len();
    let (folded_a, folded_b) = (fold(short_a), fold(short_b));
    if folded_a == folded_b && (!is_cut || a.len() == b.len()) {
        let score = if is_cut { TOO_LONG } else { SAME_OTHERWISE };
        return Finding::new(
            kind,
            score,
            if is_cut { "too long to be compared" } else { "differs in case, accents or white space" },
        );
    }
    let (plain_a, plain_b) = (without_sign(short_a), without_sign(short_b));
    let is_foreign = are_foreign(&folded_a, &folded_b, is_place);
    let mut found = overlap::compare(words, plain_a, plain_b, is_place, is_foreign);
    if is_cut {
        // What was cut off has not been read.
        found.score = found.score.min(TOO_LONG);
        return Finding::new(kind, found.score, found.reason);
    }
    if !is_foreign {
        return Finding::new(kind, found.score, found.reason);
    }
    // What the lexicon and the stems know is English; of other languages the encoder knows more.
    let Some(cosine) = words.cosine(short_a, short_b) else {
        return Finding::new(kind, found.score, found.reason);
    };
    let whole = on_curve(&TEXT_COSINE, cosine);
    if found.has_other_numbers {
        return Finding::new(kind, found.score, found.reason);
    }
    let score = WEIGHT_OF_WORDS * found.score + (1.0 - WEIGHT_OF_WORDS) * whole;
    Finding::new(kind, score, found.reason)
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

/// A text without the sign before the name of a group or a person.
fn without_sign(text: &str) -> &str {
    let text = text.trim();
    ["/r/", "r/", "/u/", "u/", "@", "#"].iter().find_map(|sign| text.strip_prefix(sign)).unwrap_or(text)
}

/// Whether two texts are of another script, or have more function words of other languages than of English.
fn are_foreign(a: &str, b: &str, is_place: bool) -> bool {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
    let others = |text: &str| text.chars().filter(|c| c.is_alphabetic() && !c.is_ascii()).count();
    if others(a) * 3 > letters(a) || others(b) * 3 > letters(b) {
        return true;
    }
    let words = || [a, b].into_iter().flat_map(|text| text.split(|c: char| !c.is_alphabetic()));
    let is_foreign = |word: &str| lexicon::is_foreign_function_word(word) && !lexicon::is_function_word(word);
    let foreign = words().filter(|word| is_foreign(word)).count();
    // Single letters are words of many languages.
    let english = words().filter(|word| word.len() > 1 && lexicon::is_function_word(word)).count();
    // Addresses are full of such words, and English texts have names like `Los Angeles`.
    if is_place || foreign <= english {
        return false;
    }
    if foreign > 2 {
        return true;
    }
    let content = || words().filter(|word| word.len() > 2 && !lexicon::is_foreign_function_word(word));
    // Names are known in any language.
    let is_known = |word: &&str| {
        thesaurus::meanings(word).first().is_some_and(|sense| !thesaurus::is_instance(sense.synset))
    };
    let known = content().filter(is_known).count();
    known * 2 <= content().count()
}
