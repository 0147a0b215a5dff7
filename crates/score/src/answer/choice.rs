//! The letter of a choice: `B`, `B. 22.87%`, `the answer is (B)`.

use std::ops::Range;

use super::tokens::Token;
use super::words::is_in;

/// Words that come before the letter that counts.
const LABELS: [&str; 4] = ["answer", "option", "choice", "answers"];

/// The most tokens from a label to its letter: `the correct answer would be option B`.
const NEAR: usize = 4;

/// The letter that a reference consists of.
pub(super) fn wanted(reference: &[Token]) -> Option<char> {
    if let [token] = reference { letter(token) } else { None }
}

/// The letter that a reply chooses: the first one behind the last label that has any, else the first one of all.
pub(super) fn chosen(reply: &[Token]) -> Option<char> {
    // `A` before a noun is an article, `I` before a verb the model.
    let is_word = |at: usize| {
        let is_small = |next: &&Token| next.shown.len() > 1 && next.shown.starts_with(char::is_lowercase);
        reply.get(at + 1).filter(is_small).is_some_and(|next| match &*reply[at].shown {
            "A" => !is_in("stop", &next.text),
            shown => shown == "I",
        })
    };
    let letters = |places: Range<usize>| {
        let chosen = places.filter(|&at| !is_word(at) && !is_denied(reply, at));
        chosen.filter_map(|at| letter(&reply[at])).collect::<Vec<_>>()
    };
    let is_label = |at: &usize| LABELS.contains(&&*reply[*at].text);
    let near = |at: usize| letters(at + 1..reply.len().min(at + 1 + NEAR));
    let labelled = (0..reply.len()).rev().filter(is_label).map(near).find(|letters| !letters.is_empty());
    let letters = labelled.unwrap_or_else(|| letters(0..reply.len()));
    // `A or B` is not a choice.
    let is_open = reply.iter().any(|token| token.text == "or") && letters.len() > 1;
    letters.first().copied().filter(|_| !is_open)
}

/// Whether the letter at a place is denied: `not B`.
fn is_denied(reply: &[Token], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| is_in("not", &reply[before].text))
}

fn letter(token: &Token) -> Option<char> {
    let mut letters = token.shown.chars();
    letters.next().filter(|first| first.is_ascii_uppercase() && letters.next().is_none())
}
