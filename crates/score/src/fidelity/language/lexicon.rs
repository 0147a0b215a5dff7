//! Lists of words from `tables/words.txt`: general ones, none made from the pairs that a fidelity is measured on.
//!
//! Function words hold sentences together, request words ask for something (a search engine takes them or leaves them),
//! and an irregular form stands for the word after its `=`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A list of words, each with the text after its `=`.
pub(in crate::fidelity) type List = LazyLock<HashMap<&'static str, &'static str>>;

fn list(name: &str) -> HashMap<&'static str, &'static str> {
    let mut lines = include_str!("../tables/words.txt").lines();
    let words = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    debug_assert!(words.is_some(), "the table has no line `{name}`");
    let words = words.unwrap_or_default().split_whitespace();
    words.map(|word| word.split_once('=').unwrap_or((word, ""))).collect()
}

/// Words that only hold a sentence together.
pub(in crate::fidelity) static FUNCTION_WORDS: List = LazyLock::new(|| list("function"));

/// Words that ask for something rather than say what is asked for.
pub(in crate::fidelity) static REQUEST_WORDS: List = LazyLock::new(|| list("request"));

/// Prepositions: each ends the phrase of a preposition before it.
pub(in crate::fidelity) static PREPOSITIONS: List = LazyLock::new(|| list("prepositions"));

/// Whether a word is a function word of another language and not of English.
pub(in crate::fidelity) fn is_foreign_function_word(word: &str) -> bool {
    static WORDS: List = LazyLock::new(|| list("foreign"));
    WORDS.contains_key(word) && !FUNCTION_WORDS.contains_key(word)
}

/// The word that an irregular form or spelling is taken for, else the word itself.
pub(in crate::fidelity) fn irregular(word: &str) -> &str {
    static WORDS: List = LazyLock::new(|| list("irregular"));
    WORDS.get(word).copied().unwrap_or(word)
}

/// The abbreviations that addresses have for words.
pub(in crate::fidelity) static IN_ADDRESSES: List = LazyLock::new(|| list("addresses"));

/// Words behind a company's name that say its legal form.
pub(in crate::fidelity) static LEGAL_FORMS: List = LazyLock::new(|| list("legal"));

/// Whether a word says the kind of a named thing, and so is often left out of its name.
pub(in crate::fidelity) fn is_of_kind(word: &str) -> bool {
    static WORDS: List = LazyLock::new(|| list("kinds"));
    WORDS.contains_key(word) || LEGAL_FORMS.contains_key(word)
}

/// The number that a word says.
pub(in crate::fidelity) fn number_word(word: &str) -> Option<f64> {
    static WORDS: List = LazyLock::new(|| list("numbers"));
    let number = WORDS.get(word).copied().or_else(|| Some(irregular(word)).filter(|known| *known != word));
    number?.parse().ok()
}
