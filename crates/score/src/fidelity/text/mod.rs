//! Free text: the same words in other forms, orders and spellings say the same; one more word of content does not.
//!
//! ```text
//! text -> fold -> tokens (words, numbers, weights) -> equal keys -> lexicon, compounds, quantities, spelling,
//!                                                    embeddings for what is left over -> loss -> score
//! ```

mod meaning;
mod order;
mod overlap;
mod phrases;
mod side;
mod thesaurus;
mod token;

use side::Side;
pub(super) use token::key;

use super::constants::{MAX_TEXT, NOTHING, SAME_OTHERWISE, TOO_LONG};
use super::language::{fold, lexicon};
use super::name::NamedThing;
use super::words::Words;
use super::{Finding, Kind};

/// How the words of two texts are read.
#[derive(Debug, Clone, Copy)]
struct Manner {
    named: NamedThing,
    /// Whether the texts are not English.
    is_foreign: bool,
}

/// Compares two texts that are not equal.
pub(super) fn compare(words: &Words, a: &str, b: &str, named: NamedThing) -> Finding {
    let kind = if named == NamedThing::Places { Kind::Place } else { Kind::Text };
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
    let is_of_signs = |text: &str| !text.contains(char::is_alphanumeric);
    if is_of_signs(short_a) && is_of_signs(short_b) {
        return Finding::new(kind, NOTHING, "other signs");
    }
    let (plain_a, plain_b) = (without_sign(short_a), without_sign(short_b));
    let manner = Manner { named, is_foreign: are_foreign(&folded_a, &folded_b, named) };
    let (score, reason) = overlap::compare(words, plain_a, plain_b, manner);
    // The part that was cut off has not been read.
    Finding::new(kind, if is_cut { score.min(TOO_LONG) } else { score }, reason)
}

/// The left-over and the shared words of a text, after it was aligned with another text.
#[derive(Debug, Clone, Default)]
pub(super) struct Rest {
    /// The words that are left over, folded, each with its weight.
    pub(super) words: Vec<(String, f64)>,
    /// The words that both texts share, folded, each with its weight.
    pub(super) common: Vec<(String, f64)>,
    /// Whether a negation is left over, or signs distinguish both texts.
    pub(super) is_negated: bool,
}

impl Rest {
    fn new(side: &Side) -> Self {
        let mut rest = Self::default();
        for (token, &left) in side.tokens.iter().zip(&side.left) {
            let part = |weight: f64| (token.word.clone(), weight);
            if token.weight * left > 0.15 {
                rest.words.push(part(token.weight * left));
            }
            rest.is_negated |= left >= 1.0 && token.key == "not";
            if token.weight * (1.0 - left) > 0.15 {
                rest.common.push(part(token.weight * (1.0 - left)));
            }
        }
        rest
    }

    /// Makes a text of signs alone, such as `-`, one left-over word: no other text's words can stand for it.
    fn count_signs(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() && !text.contains(char::is_alphanumeric) {
            self.words = vec![(text.chars().take(16).collect(), 1.0)];
        }
    }

    /// The weight of the left-over words.
    pub(super) fn lost(&self) -> f64 {
        self.words.iter().map(|word| word.1).sum()
    }

    /// The weight of the shared words.
    pub(super) fn shared(&self) -> f64 {
        self.common.iter().map(|word| word.1).sum()
    }
}

/// Aligns the words of two texts, and returns the left-over and the shared words of each.
pub(super) fn rests(words: &Words, a: &str, b: &str, named: NamedThing) -> [Rest; 2] {
    let (a, b) = (cut(a), cut(b));
    let manner = Manner { named, is_foreign: are_foreign(&fold(a), &fold(b), named) };
    let alignment = overlap::align(words, without_sign(a), without_sign(b), manner);
    let (mut x, mut y) = (Rest::new(&alignment.a), Rest::new(&alignment.b));
    if alignment.is_turned {
        (x, y) = (y, x);
    }
    x.count_signs(a);
    y.count_signs(b);
    x.is_negated |= alignment.has_other_signs;
    y.is_negated |= alignment.has_other_signs;
    [x, y]
}

/// The keys of the words of a text, each with its weight. All forms and spellings of one word have the
/// same key.
pub(super) fn keys(text: &str) -> Vec<(String, f64)> {
    let (tokens, _) = token::tokens(cut(text), Manner { named: NamedThing::Other, is_foreign: false });
    tokens.into_iter().map(|token| (token.key, token.weight)).collect()
}

/// The rarity of a word, in (0, 1]: 1 for names and words that the thesaurus does not know, and less the more senses it
/// has.
pub(super) fn rarity(word: &str) -> f64 {
    let senses = thesaurus::meanings(word);
    if senses.is_empty() || thesaurus::is_name(&senses) {
        return 1.0;
    }
    1.0 / (1.0 + (senses.len() as f64).ln())
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

/// A text without the sign before the name of a group or a person.
fn without_sign(text: &str) -> &str {
    let text = text.trim();
    ["/r/", "r/", "/u/", "u/", "@", "#"].iter().find_map(|sign| text.strip_prefix(sign)).unwrap_or(text)
}

/// Whether two texts are not English: one is mostly of another script, or both together have more function words of
/// other languages than of English (of one or two such words, only if few other words are known).
fn are_foreign(a: &str, b: &str, named: NamedThing) -> bool {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
    let others = |text: &str| text.chars().filter(|c| c.is_alphabetic() && !c.is_ascii()).count();
    if others(a) * 3 > letters(a) || others(b) * 3 > letters(b) {
        return true;
    }
    let words = || [a, b].into_iter().flat_map(|text| text.split(|c: char| !c.is_alphabetic()));
    let foreign = words().filter(|word| lexicon::is_foreign_function_word(word)).count();
    // Single letters are words of many languages.
    let english = words().filter(|word| word.len() > 1 && lexicon::FUNCTION_WORDS.contains_key(word)).count();
    // Addresses are full of foreign function words, and English texts have names like `Los Angeles`.
    if named == NamedThing::Places || foreign <= english {
        return false;
    }
    if foreign > 2 {
        return true;
    }
    let content = || words().filter(|word| word.len() > 2 && !lexicon::is_foreign_function_word(word));
    // Names do not count as known words: they are the same in any language.
    let is_known = |word: &&str| {
        thesaurus::meanings(word).first().is_some_and(|sense| !thesaurus::is_instance(sense.synset))
    };
    let known = content().filter(is_known).count();
    known * 2 <= content().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No word of a longer text says what a sign says.
    #[test]
    fn signs_are_left_over_beside_words() {
        let [a, b] = rests(&Words::default(), "-", "Delete everything", NamedThing::Other);
        assert!(a.lost() > 0.5 && b.lost() > 0.5, "{a:?} {b:?}");
        let [b, a] = rests(&Words::default(), "Delete everything", "*", NamedThing::Other);
        assert!(a.lost() > 0.5 && b.lost() > 0.5, "{a:?} {b:?}");
    }

    /// Names of people and addresses, with parts left out or shortened, compared without embeddings.
    #[test]
    fn people_have_initials_and_streets_abbreviations() {
        let score = |named: NamedThing, a: &str, b: &str| compare(&Words::default(), a, b, named).score;
        for (named, a, b) in [
            (NamedThing::People, "Michael J. Franklin", "Michael Franklin"),
            (NamedThing::People, "G. Carrington, E. Davies", "Gavin Carrington, Evan Davies"),
            (NamedThing::Places, "435 S. La Cienega Blvd.", "435 South La Cienega Boulevard"),
            (NamedThing::Places, "3000 W. Paradise Rd.", "3000 Paradise Road"),
            (NamedThing::Places, "8 East 65th Street", "8 E. 65 St."),
        ] {
            assert!(score(named, a, b) > 0.7, "{a} {b} {}", score(named, a, b));
            assert!(score(NamedThing::Other, a, b) < score(named, a, b), "{a} {b}");
        }
        for (named, a, b) in [
            (NamedThing::People, "Michael J. Franklin", "Michael K. Franklin"),
            (NamedThing::Places, "West Virginia", "Virginia"),
            (NamedThing::Places, "100 N Main St", "100 S Main St"),
            (NamedThing::Places, "12 Oak Street", "12 Oak Road"),
        ] {
            assert!(score(named, a, b) < 0.5, "{a} {b} {}", score(named, a, b));
        }
    }
}
