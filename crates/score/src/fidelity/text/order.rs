//! When the same words in another order say something else: origin and destination, who does what to whom, what is
//! counted. Words that are only listed, as queries do, may stand in any order.

use std::collections::HashMap;

use super::super::constants::REQUEST_WORD;
use super::overlap::Side;
use super::thesaurus::{self, Relation, Sense};
use super::token::Role;

/// Words between two others that make it matter which of them comes first.
const DIRECTIONS: &[&str] = &[
    "to", "from", "than", "over", "under", "by", "into", "onto", "on", "before", "after", "for", "against",
    "without", "minus", "above", "below", "not", "as", "per", "through", "via", "behind", "less", "greater",
];

/// Words that may have changed places.
const MOST_WORDS: usize = 24;

/// Why the same words in another order do not say the same.
pub(super) fn exchanged(a: &Side, b: &Side, pairs: &[(usize, usize)]) -> Option<&'static str> {
    if ends(a, b, pairs) {
        Some("origin and destination have changed places")
    } else if counts(a, b) {
        Some("numbers have changed places")
    } else if turned(a, b) || is_done(a) || is_done(b) {
        Some("what comes before and what comes behind have changed places")
    } else if compounds(a, b) {
        Some("the words are another name in this order")
    } else {
        None
    }
}

/// Whether what belongs together in the parts of a text belongs to other parts in the other: `Flour: 200 g, sugar: 100 g`
/// with the amounts exchanged. Of texts whose parts have labels or numbers.
pub(super) fn is_regrouped(a: &str, b: &str) -> bool {
    let words = |part: &str| -> Vec<String> {
        let words = part.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut words: Vec<String> = words.map(str::to_lowercase).collect();
        words.sort_unstable();
        words
    };
    let parts = |text: &str| -> Option<Vec<Vec<String>>> {
        // A comma within a number or between coordinates parts nothing.
        let lines = text.split([';', '\n', '|']).flat_map(|line| line.split(", "));
        let parts = lines.filter(|part| part.contains(char::is_alphanumeric));
        let is_told =
            |part: &str| part.contains([':', '=']) || part.bytes().any(|byte| byte.is_ascii_digit());
        let mut found = Vec::new();
        for part in parts {
            let words = words(part);
            let is_named = part.contains(char::is_alphabetic);
            if !is_told(part) || !is_named || words.len() < 2 || found.len() >= MOST_WORDS {
                return None;
            }
            found.push(words);
        }
        found.sort_unstable();
        (found.len() > 1).then_some(found)
    };
    let all = |parts: &[Vec<String>]| -> Vec<String> {
        let mut all = parts.concat();
        all.sort_unstable();
        all
    };
    let (Some(of_a), Some(of_b)) = (parts(a), parts(b)) else { return false };
    of_a.len() == of_b.len() && of_a != of_b && all(&of_a) == all(&of_b)
}

/// Whether origin and destination have changed places.
fn ends(a: &Side, b: &Side, pairs: &[(usize, usize)]) -> bool {
    let content = || pairs.iter().filter(|pair| a.tokens[pair.0].weight > REQUEST_WORD);
    let moved = |from: Option<Role>, to: Option<Role>| {
        content().any(|&(x, y)| a.tokens[x].role == from && b.tokens[y].role == to)
    };
    let (from, to) = (Some(Role::From), Some(Role::To));
    // `euros to dollars`: what stands before `to` needs no `from`.
    (moved(from, to) && moved(to, from)) || (moved(None, to) && moved(to, None))
}

/// Whether two numbers have changed what they count.
fn counts(a: &Side, b: &Side) -> bool {
    let counted = |side: &Side| -> HashMap<String, String> {
        let after =
            side.tokens.windows(2).filter(|pair| pair[0].number.is_some() && pair[1].number.is_none());
        let after = after.filter(|pair| pair[1].weight > REQUEST_WORD && pair[0].part == pair[1].part);
        after.map(|pair| (pair[1].key.clone(), pair[0].key.clone())).collect()
    };
    let (of_a, of_b) = (counted(a), counted(b));
    let moved: Vec<(&String, &String)> = of_a
        .iter()
        .filter_map(|(word, number)| {
            Some((number, of_b.get(word)?)).filter(|(number, other)| number != other)
        })
        .collect();
    moved.iter().any(|(x, y)| moved.iter().any(|(u, v)| x == v && y == u))
}

/// Whether all that differs is that what stands before and behind a direction or a verb have changed places:
/// `X by Y` and `Y by X`.
fn turned(a: &Side, b: &Side) -> bool {
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

/// Whether two neighbouring words have changed places, and both orders are names of different things: `guest house`,
/// `house guest`.
fn compounds(a: &Side, b: &Side) -> bool {
    (1..a.tokens.len()).any(|at| {
        let (Some(x), Some(y)) = (a.partner[at - 1], a.partner[at]) else { return false };
        if x != y + 1 {
            return false;
        }
        let (there, back) = (compound(a, at - 1), compound(b, y));
        !there.is_empty()
            && !back.is_empty()
            && !matches!(thesaurus::relation(&there, &back), Relation::Same(_))
    })
}

/// What two neighbouring words may mean together, in one word or two.
fn compound(side: &Side, at: usize) -> Vec<Sense> {
    let apart = side.meanings(at..at + 2);
    if !apart.is_empty() {
        return apart;
    }
    thesaurus::meanings(&format!("{}{}", side.tokens[at].word, side.tokens[at + 1].word))
}

/// Whether one text has somebody do what in the other is done by him: `acquired Oracle`, `acquired by Oracle`.
fn is_done(a: &Side) -> bool {
    (2..a.tokens.len()).any(|at| {
        a.tokens[at - 1].word == "by"
            && matches!((a.partner[at - 2], a.partner[at]), (Some(verb), Some(noun)) if noun == verb + 1)
            && thesaurus::meanings(&a.tokens[at - 2].word).into_iter().any(thesaurus::is_verb)
    })
}
