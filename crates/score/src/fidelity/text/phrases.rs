//! Aligns words that together mean the same as one word or as other words: compounds, initials, other names.

use super::super::constants::{MAX_LEFT_NAMED, MAX_NAMED};
use super::side::Side;
use super::thesaurus::{self, Relation, Sense};
use super::token::{Token, key};

/// The most words of a name that is looked up in the thesaurus.
const LONGEST_NAME: usize = 4;

/// Aligns one word with several, and names of several words with other names.
pub(super) fn align(a: &mut Side, b: &mut Side) {
    one_for_several(a, b);
    one_for_several(b, a);
    names(a, b);
}

/// Aligns one word of `a` with several neighbouring words of `b`: a compound or initials.
fn one_for_several(a: &mut Side, b: &mut Side) {
    for at in a.left_over() {
        let token = a.tokens[at].clone();
        if token.number.is_some() || token.word.len() < 2 {
            continue;
        }
        let phrase = together(&token, b).or_else(|| initials(&token, b));
        if let Some(places) = phrase {
            b.settle(&places, 0.0);
            a.settle(&[at], 0.0);
        }
    }
}

/// Neighbouring words, all of them left over, whose letters together are the word's: `wi-fi` for `wifi`.
fn together(token: &Token, side: &Side) -> Option<Vec<usize>> {
    (2..=3).find_map(|length| {
        (0..(side.tokens.len() + 1).saturating_sub(length)).find_map(|start| {
            let places: Vec<usize> = (start..start + length).collect();
            let joined: String = places.iter().map(|&at| side.tokens[at].word.as_str()).collect();
            let is_left = places.iter().all(|&at| side.left[at] >= 1.0);
            (is_left && key(&joined) == token.key).then_some(places)
        })
    })
}

/// Neighbouring words whose first letters are the word: `new york city` for `nyc`; numbers count as a whole: `wwii`.
fn initials(token: &Token, side: &Side) -> Option<Vec<usize>> {
    let word = token.word.as_str();
    if !(2..=6).contains(&word.len()) || !word.is_ascii() {
        return None;
    }
    let begins = |at: &usize| side.left[*at] >= 1.0 && side.tokens[*at].word.starts_with(&word[..1]);
    (0..side.tokens.len()).filter(begins).find_map(|start| {
        // Small words may be left out, as in `Department of Defense`.
        [false, true].into_iter().find_map(|skips| {
            let (mut places, mut rest) = (Vec::new(), word);
            for at in start..side.tokens.len().min(start + 2 * word.len()) {
                let other = &side.tokens[at];
                if rest.is_empty() {
                    break;
                }
                if skips && other.is_function_word() {
                    places.push(at);
                    continue;
                }
                let first = other.word.chars().next().map_or(0, char::len_utf8);
                let initial = if other.number.is_some() { other.word.as_str() } else { &other.word[..first] };
                rest = rest.strip_prefix(initial)?;
                places.push(at);
            }
            let is_left = places.iter().all(|&at| side.left[at] >= 1.0 || side.tokens[at].is_function_word());
            (rest.is_empty() && places.len() > 1 && is_left).then_some(places)
        })
    })
}

/// Neighbouring words, and their senses as a name.
struct Name {
    places: std::ops::Range<usize>,
    senses: Vec<Sense>,
}

/// Aligns two names that are one thing in the thesaurus: `bald eagle` and `Haliaeetus leucocephalus`.
fn names(a: &mut Side, b: &mut Side) {
    let (left_a, left_b) = (a.content_left_over(), b.content_left_over());
    let length = a.tokens.len().max(b.tokens.len());
    if length > MAX_NAMED
        || left_a.len() + left_b.len() > MAX_LEFT_NAMED
        || (left_a.is_empty() && left_b.is_empty())
    {
        return;
    }
    let (of_a, of_b) = (names_of(a, b), names_of(b, a));
    let mut pairs: Vec<(&Name, &Name)> = Vec::new();
    for x in &of_a {
        for y in &of_b {
            let is_phrase = x.places.len() + y.places.len() > 2;
            if is_phrase && matches!(thesaurus::relation(&x.senses, &y.senses), Relation::Same(_)) {
                pairs.push((x, y));
            }
        }
    }
    // The longest first.
    pairs.sort_by_key(|(x, y)| {
        let length = x.places.len() + y.places.len();
        (usize::MAX - length, x.places.start + y.places.start, x.places.start.abs_diff(y.places.start))
    });
    for (x, y) in pairs {
        let is_closed = |side: &Side, own: &Name, other: &Name| {
            own.places.clone().all(|at| match side.partner[at] {
                Some(partner) => other.places.contains(&partner),
                None => side.left[at] >= 1.0,
            })
        };
        let has_left = |side: &Side, name: &Name| name.places.clone().any(|at| side.left[at] >= 1.0);
        let is_other_name = match (has_left(a, x), has_left(b, y)) {
            (true, true) => true,
            (true, false) => is_shortened(y, x) && b.content_left_over().is_empty(),
            (false, true) => is_shortened(x, y) && a.content_left_over().is_empty(),
            (false, false) => false,
        };
        if is_other_name && is_closed(a, x, y) && is_closed(b, y, x) {
            a.settle(&x.places.clone().collect::<Vec<_>>(), 0.0);
            b.settle(&y.places.clone().collect::<Vec<_>>(), 0.0);
        }
    }
}

/// Whether a name is usually short for another that has its words: `soda` for `soda pop`, but not a surname for a person.
fn is_shortened(short: &Name, long: &Name) -> bool {
    short.senses.first().is_some_and(|sense| {
        !thesaurus::is_instance(sense.synset) && long.senses.iter().any(|other| other.synset == sense.synset)
    })
}

/// The names in a text that have a left-over word, or a word aligned with a neighbour of a left-over word of the other
/// text.
fn names_of(side: &Side, other: &Side) -> Vec<Name> {
    let is_near = |at: usize| {
        let near = at.saturating_sub(LONGEST_NAME - 1)..other.left.len().min(at + LONGEST_NAME);
        near.into_iter().any(|at| other.left[at] >= 1.0)
    };
    let is_wanted: Vec<bool> = (0..side.left.len())
        .map(|at| side.left[at] >= 1.0 || side.partner[at].is_some_and(is_near))
        .collect();
    let mut names = Vec::new();
    for start in 0..side.tokens.len() {
        for end in start + 1..=side.tokens.len().min(start + LONGEST_NAME) {
            if side.tokens[end - 1].part != side.tokens[start].part {
                break;
            }
            if side.tokens[start].is_function_word() && side.tokens[start].word != "how"
                || !(start..end).any(|at| is_wanted[at])
            {
                continue;
            }
            let senses = side.meanings(start..end);
            if !senses.is_empty() {
                names.push(Name { places: start..end, senses });
            }
        }
    }
    names
}
