//! What English words do in a reply: `words.txt` as lists, and the stem by which forms of a word are the same.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::tokens::{Token, tokens};

/// The lines of `words.txt`, and the place of each word in its line.
static LISTS: LazyLock<HashMap<&str, HashMap<&str, usize>>> = LazyLock::new(|| {
    let lines = include_str!("words.txt").lines().filter_map(|line| line.split_once(": "));
    let places = |words: &'static str| words.split_whitespace().enumerate().map(|(at, word)| (word, at));
    lines.map(|(name, words)| (name, places(words).collect())).collect()
});

/// Phrases by which a model says that it did not do the job, as words.
static REFUSALS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let line = include_str!("words.txt").lines().find_map(|line| line.strip_prefix("refusals: "));
    let phrases = line.unwrap_or_default().split('|');
    phrases.map(|phrase| tokens(phrase).into_iter().map(|token| token.text).collect()).collect()
});

/// Words that multiply the number before them.
static SCALES: LazyLock<HashMap<&str, f64>> = LazyLock::new(|| {
    let pairs = LISTS.get("scales").into_iter().flatten().filter_map(|(pair, _)| pair.split_once('='));
    pairs.filter_map(|(word, factor)| Some((word, factor.parse().ok()?))).collect()
});

/// The place of a word in a list, from 0.
pub(super) fn place(list: &str, word: &str) -> Option<usize> {
    LISTS.get(list)?.get(word).copied()
}

/// Whether a list has the word.
pub(super) fn is_in(list: &str, word: &str) -> bool {
    place(list, word).is_some()
}

/// The factor by which a word multiplies the number before it.
pub(super) fn scale(word: &str) -> Option<f64> {
    SCALES.get(word).copied()
}

/// The month of this name, from 1.
pub(super) fn month(word: &str) -> Option<u8> {
    let place = place("months", word).or_else(|| place("short months", word))?;
    u8::try_from(place + 1).ok()
}

/// Whether these tokens begin with a phrase by which a model says that it did not do the job.
pub(super) fn begins_with_refusal(tokens: &[Token]) -> bool {
    let begins = |phrase: &[String]| {
        tokens.len() >= phrase.len() && tokens.iter().zip(phrase).all(|(token, word)| token.text == *word)
    };
    REFUSALS.iter().any(|phrase| begins(phrase))
}

/// The stem of a word, which its forms with the usual endings share: `badge` and `badges`, `turned` and `turning`.
pub(super) fn stem(word: &str) -> &str {
    let cut = |end: &str, least: usize| {
        word.strip_suffix(end).filter(|stem| stem.len() >= least && stem.is_ascii())
    };
    let stem = cut("ing", 4).or_else(|| cut("ied", 3)).or_else(|| cut("ies", 3)).or_else(|| cut("ed", 3));
    let stem = stem.or_else(|| cut("es", 3)).or_else(|| cut("s", 3).filter(|stem| !stem.ends_with('s')));
    let stem = stem.unwrap_or(word);
    stem.strip_suffix(['e', 'y']).filter(|stem| stem.len() >= 3).unwrap_or(stem)
}
