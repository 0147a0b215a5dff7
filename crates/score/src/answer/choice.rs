//! The letter of a choice: `B`, `B. 22.87%`, `the answer is (B)`.

use super::tokens::Token;

/// Words after which the letter stands that counts.
const LABELS: [&str; 4] = ["answer", "option", "choice", "answers"];

/// So many tokens a label and its letter may be apart: `the correct answer would be option B`.
const NEAR: usize = 4;

/// The letter that a reference consists of.
pub(super) fn wanted(reference: &[Token]) -> Option<char> {
    match reference {
        [token] => letter(token),
        _ => None,
    }
}

/// The letter that a reply chooses: the last one near a label, else the last one of all.
pub(super) fn chosen(reply: &[Token]) -> Option<char> {
    // `A` may be an article, and `I` the model.
    let is_word = |at: usize| {
        let is_small = |next: &Token| next.shown.len() > 1 && next.shown.starts_with(char::is_lowercase);
        matches!(&*reply[at].shown, "A" | "I") && reply.get(at + 1).is_some_and(is_small)
    };
    let letters = || {
        (0..reply.len()).filter_map(|at| letter(&reply[at]).filter(|_| !is_word(at)).map(|found| (at, found)))
    };
    let is_labelled =
        |at: usize| reply[at.saturating_sub(NEAR)..at].iter().any(|token| LABELS.contains(&&*token.text));
    let labelled = letters().filter(|(at, _)| is_labelled(*at)).last();
    labelled.or_else(|| letters().last()).map(|(_, letter)| letter)
}

fn letter(token: &Token) -> Option<char> {
    let mut letters = token.shown.chars();
    letters.next().filter(|first| first.is_ascii_uppercase() && letters.next().is_none())
}
