//! Finds texts that mean something else although their words are the same: in another order, or with other signs. Words
//! that are only listed, as in queries, may stand in any order.

use super::side::Side;
use super::thesaurus::{self, Sense};

/// Words between two others that make it matter which of them comes first.
const DIRECTIONS: &[&str] = &[
    "to", "from", "than", "over", "under", "by", "into", "onto", "on", "before", "after", "for", "against",
    "without", "minus", "above", "below", "not", "as", "per", "through", "via", "behind", "less", "greater",
];

/// The most words that may have changed places.
const MOST_WORDS: usize = 24;

/// Whether two texts differ only in that the words before and after a direction or a verb have changed places: `X by Y`
/// and `Y by X`.
pub(super) fn is_turned(a: &Side, b: &Side) -> bool {
    let keys = |side: &Side| -> Vec<String> { side.tokens.iter().map(|token| token.key.clone()).collect() };
    let (of_a, of_b) = (keys(a), keys(b));
    if of_a.len() != of_b.len() {
        return false;
    }
    let before = of_a.iter().zip(&of_b).take_while(|(a, b)| a == b).count();
    let behind = of_a.iter().rev().zip(of_b.iter().rev()).take_while(|(a, b)| a == b).count();
    if before + behind >= of_a.len() {
        return false;
    }
    let range = before..of_a.len() - behind;
    let (first, second) = (&of_a[range.clone()], &of_b[range]);
    let length = first.len();
    if !(3..=MOST_WORDS).contains(&length) {
        return false;
    }
    (1..length - 1).any(|x| {
        (1..length - x).any(|y| {
            let link = &first[x..length - y];
            first[..x] == second[length - x..]
                && first[length - y..] == second[..y]
                && link == &second[y..length - x]
                && (x..length - y).any(|at| is_direction(a, before + at))
        })
    })
}

/// Whether a word says which of two comes first: a preposition of direction, or a verb in the form of a sentence.
fn is_direction(side: &Side, at: usize) -> bool {
    let word = side.tokens[at].word.as_str();
    let meanings = thesaurus::meanings(word);
    let is_verb = |sense: &Sense| thesaurus::is_verb(*sense);
    DIRECTIONS.contains(&word)
        || meanings.first().is_some_and(is_verb)
        || (word.ends_with("ing") && meanings.iter().any(is_verb))
}

/// Whether two texts differ in signs that change the meaning: operators, the minus before a word that a search leaves
/// out, and, where both texts have some, pictures and signs of mathematics.
pub(super) fn have_other_signs(a: &str, b: &str) -> bool {
    let signs = |text: &str, is: &dyn Fn(&[char]) -> bool| -> Vec<char> {
        let spaced: Vec<char> = std::iter::once(' ').chain(text.chars()).chain([' ']).collect();
        let mut operators: Vec<char> =
            spaced.windows(3).filter(|three| is(three)).map(|three| three[1]).collect();
        operators.sort_unstable();
        operators
    };
    let is_operator = |three: &[char]| match *three {
        [_, '<' | '>' | '=' | '*' | '^', _] | [' ', '+', ' '] | [_, '!', '='] => true,
        [' ', '-', next] => next.is_alphabetic(),
        _ => false,
    };
    let is_picture = |three: &[char]| matches!(three[1], '\u{2200}'..='\u{22ff}' | '\u{2600}'..='\u{27bf}' | '\u{1f000}'..);
    let (x, y) = (signs(a, &is_picture), signs(b, &is_picture));
    signs(a, &is_operator) != signs(b, &is_operator) || x != y && !x.is_empty() && !y.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_that_are_no_words_tell_texts_apart() {
        for (a, b) in [
            ("status != 'x'", "status = 'x'"),
            ("age < 5", "age > 5"),
            ("cats -dogs", "cats dogs"),
            ("return a + b", "return a b"),
            ("send \u{1f44d}", "send \u{1f44e}"),
        ] {
            assert!(have_other_signs(a, b) && have_other_signs(b, a), "{a} {b}");
        }
        for (a, b) in [("wi-fi", "wifi"), ("wow!", "wow"), ("well done \u{1f44d}", "well done"), ("", "")] {
            assert!(!have_other_signs(a, b), "{a} {b}");
        }
    }
}
