//! Compares two texts by the words that are left over once their words are aligned.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use m3_support::text::shortened;

use super::super::constants::{
    EXCHANGED, HALVING_LOSS, IMPLIED, LENGTH_POWER, MAX_LEFT_OVER, MAX_NAMED, MAX_WORDS, MOST_IMPLIED,
    REQUEST_WORD, SAME_OTHERWISE, SHORT_TEXT, TOO_LONG,
};
use super::super::name::NamedThing;
use super::super::words::Words;
use super::side::Side;
use super::thesaurus::{self, Sense};
use super::token::{Token, tokens};
use super::{Manner, meaning, order};

/// The keys of directions in addresses.
const DIRECTIONS: [&str; 8] = ["n", "s", "e", "w", "ne", "nw", "se", "sw"];

/// The most words on each side of the difference of two long texts that are compared with it.
const AROUND: usize = 64;

/// Two texts without their common start and end, where they have too many words to be compared as wholes.
fn differing_parts<'t>(a: &'t str, b: &'t str) -> (&'t str, &'t str) {
    // Texts of so few bytes cannot have too many words.
    if a.len().max(b.len()) < MAX_WORDS {
        return (a, b);
    }
    let words = |text: &'t str| -> Vec<&'t str> { text.split_whitespace().collect() };
    let (of_a, of_b) = (words(a), words(b));
    if of_a.len().max(of_b.len()) <= MAX_WORDS / 2 {
        return (a, b);
    }
    let shorter = of_a.len().min(of_b.len());
    let before = of_a.iter().zip(&of_b).take_while(|(a, b)| a == b).count();
    let behind = of_a.iter().rev().zip(of_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let behind = behind.min(shorter - before);
    let (before, behind) = (before.saturating_sub(AROUND), behind.saturating_sub(AROUND));
    let part = |text: &'t str, words: &[&'t str]| {
        let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
        let (Some(first), Some(last)) =
            (words.get(before), words.len().checked_sub(behind + 1).and_then(|last| words.get(last)))
        else {
            return text;
        };
        &text[place(first)..place(last) + last.len()]
    };
    (part(a, &of_a), part(b, &of_b))
}

/// Two texts whose words are aligned as far as they can be.
pub(super) struct AlignedTexts {
    pub(super) a: Side,
    pub(super) b: Side,
    /// Whether `a` is the second of the texts that were given.
    pub(super) is_turned: bool,
    /// Whether signs that are not part of words distinguish the texts.
    pub(super) has_other_signs: bool,
    is_cut: bool,
}

/// Aligns the words of two texts. Words that are aligned first are taken, so the texts are put in a fixed order: it
/// must not matter which of them is the reference.
pub(super) fn align(words: &Words, a: &str, b: &str, manner: Manner) -> AlignedTexts {
    let is_turned = a > b;
    let (a, b) = if is_turned { (b, a) } else { (a, b) };
    let has_other_signs = order::have_other_signs(a, b);
    let (a, b) = differing_parts(a, b);
    let ((tokens_a, cut_a), (tokens_b, cut_b)) = (tokens(a, manner), tokens(b, manner));
    let (mut a, mut b) = (Side::new(tokens_a), Side::new(tokens_b));
    equal_keys(&mut a, &mut b);
    if a.left_over().len().max(b.left_over().len()) <= MAX_LEFT_OVER {
        meaning::align(words, &mut a, &mut b, manner);
    }
    forgive_implied(&mut a, &b);
    forgive_implied(&mut b, &a);
    forgive_short(&mut a, &b, manner.named);
    forgive_short(&mut b, &a, manner.named);
    AlignedTexts { a, b, is_turned, has_other_signs, is_cut: cut_a || cut_b }
}

/// Compares two texts: the score, in [0, 1], and its reason.
pub(super) fn compare(words: &Words, a: &str, b: &str, manner: Manner) -> (f64, Cow<'static, str>) {
    let AlignedTexts { a, b, is_turned, has_other_signs, is_cut } = align(words, a, b, manner);
    let (loss_a, loss_b) = (a.loss(), b.loss());
    let loss = loss_a.max(loss_b) + 0.25 * loss_a.min(loss_b);
    let says = |side: &Side, word: &str| side.left_over().iter().any(|&at| side.tokens[at].word == word);
    let is_other_logic = says(&a, "and") && says(&b, "or") || says(&a, "or") && says(&b, "and");
    // A negation reverses a text, however long it is.
    let is_negated =
        [&a, &b].iter().any(|side| side.left_over().iter().any(|&at| side.tokens[at].key == "not"));
    let is_told_apart = loss < 0.1 && (has_other_signs || is_other_logic);
    let loss = if is_negated || is_other_logic || has_other_signs { loss + 1.0 } else { loss };
    let content = a.content().min(b.content());
    let halving = HALVING_LOSS * (content / SHORT_TEXT).max(1.0).powf(LENGTH_POWER);
    let mut score = SAME_OTHERWISE / (1.0 + (loss / halving).powi(2));
    // Only one of the texts has content.
    if content < REQUEST_WORD && loss > 0.5 {
        score = 0.0;
    }
    let mut reason = if is_turned { reason(&b, &a) } else { reason(&a, &b) };
    if is_told_apart {
        reason = Cow::Borrowed("a sign or a small word differs that tells them apart");
    }
    if order::is_turned(&a, &b) {
        (score, reason) = (
            score.min(EXCHANGED),
            Cow::Borrowed("the words before and after a direction or a verb have changed places"),
        );
    }
    if is_cut {
        score = score.min(TOO_LONG);
    }
    (score, reason)
}

/// Aligns tokens with equal keys; of several with one key, those with the same role first.
fn equal_keys(a: &mut Side, b: &mut Side) {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, token) in b.tokens.iter().enumerate() {
        places.entry(token.key.clone()).or_default().push(at);
    }
    for needs_role in [true, false] {
        for at in 0..a.tokens.len() {
            let token = &a.tokens[at];
            if a.left[at] < 1.0 {
                continue;
            }
            let Some(found) = places.get_mut(token.key.as_str()) else { continue };
            let wanted = found.iter().position(|&other| !needs_role || b.tokens[other].role == token.role);
            if let Some(position) = wanted {
                let other = found.remove(position);
                (a.left[at], b.left[other]) = (0.0, 0.0);
                (a.partner[at], b.partner[other]) = (Some(other), Some(at));
            }
        }
    }
}

/// Takes most of the weight from initials of people and directions of streets that only one text has: `Michael J. Franklin`,
/// `3000 W. Paradise Rd.`
fn forgive_short(side: &mut Side, other: &Side, named: NamedThing) {
    // Without a house number, a direction belongs to a name: `West Virginia` is not `Virginia`.
    let is_address = named == NamedThing::Places && side.tokens.iter().any(|token| token.number.is_some());
    let is_short = |token: &Token| match named {
        NamedThing::People => token.number.is_none() && token.word.chars().count() == 1,
        NamedThing::Places => is_address && DIRECTIONS.contains(&token.key.as_str()),
        NamedThing::Other => false,
    };
    let is_beside = other.left_over().iter().any(|&at| is_short(&other.tokens[at]));
    for at in 0..side.tokens.len() {
        if !is_beside && side.left[at] >= 1.0 && is_short(&side.tokens[at]) {
            side.left[at] = IMPLIED;
        }
    }
}

/// Takes most of the weight from words that another word of the same text implies, if the other text has nothing else
/// in their place: `tuna fish`, `Chicago, Illinois`.
fn forgive_implied(side: &mut Side, other: &Side) {
    let left = side.content_left_over();
    if left.is_empty() || left.len() > MOST_IMPLIED || side.tokens.len() > MAX_NAMED || other.loss() >= 0.1 {
        return;
    }
    let mut names: Vec<(Range<usize>, Vec<Sense>)> = Vec::new();
    for start in 0..side.tokens.len() {
        for end in start + 1..=side.tokens.len().min(start + 3) {
            let senses =
                if side.tokens[start].weight > REQUEST_WORD { side.meanings(start..end) } else { Vec::new() };
            if !senses.is_empty() {
                names.push((start..end, senses));
            }
        }
    }
    let is_left = |at: usize| left.contains(&at);
    for (places, senses) in &names {
        let is_implied = places.clone().all(is_left)
            && names
                .iter()
                .any(|(others, by)| !others.clone().any(is_left) && thesaurus::is_implied(senses, by));
        if is_implied {
            side.settle(&places.clone().collect::<Vec<_>>(), IMPLIED / places.len() as f64);
        }
    }
}

/// The reason: the words that differ.
fn reason(a: &Side, b: &Side) -> Cow<'static, str> {
    let heaviest = |side: &Side| -> Vec<String> {
        let is_heavy = |at: &usize| side.tokens[*at].weight * side.left[*at] >= 0.15;
        let heaviest = (0..side.tokens.len()).filter(is_heavy).take(3);
        heaviest.map(|at| shortened(&side.tokens[at].word, 24)).collect()
    };
    match (heaviest(a), heaviest(b)) {
        (a, b) if a.is_empty() && b.is_empty() => Cow::Borrowed("the same in other words or another order"),
        (a, b) if b.is_empty() => Cow::Owned(format!("lacks `{}`", a.join(" "))),
        (a, b) if a.is_empty() => Cow::Owned(format!("adds `{}`", b.join(" "))),
        (a, b) => Cow::Owned(format!("expected `{}`, got `{}`", a.join(" "), b.join(" "))),
    }
}
