//! Lists of words from `tables/words.txt`: general ones, none made from the pairs that a fidelity is measured on.
//!
//! Function words hold sentences together, request words ask for something (a search engine takes them or leaves them),
//! and an irregular form stands for the word after its `=`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A list of words, each with the text after its `=`.
type List = LazyLock<HashMap<&'static str, &'static str>>;

fn list(name: &str) -> HashMap<&'static str, &'static str> {
    let mut lines = include_str!("../tables/words.txt").lines();
    let words = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    debug_assert!(words.is_some(), "the table has no line `{name}`");
    let words = words.unwrap_or_default().split_whitespace();
    words.map(|word| word.split_once('=').unwrap_or((word, ""))).collect()
}

/// Whether a word only holds a sentence together.
pub(in crate::fidelity) fn is_function_word(word: &str) -> bool {
    static WORDS: List = LazyLock::new(|| list("function"));
    WORDS.contains_key(word)
}

/// Whether a word asks for something rather than says what is asked for.
pub(in crate::fidelity) fn is_request_word(word: &str) -> bool {
    static WORDS: List = LazyLock::new(|| list("request"));
    WORDS.contains_key(word)
}

/// Whether a word is a preposition, which ends the phrase of a preposition before it.
pub(in crate::fidelity) fn is_preposition(word: &str) -> bool {
    static WORDS: List = LazyLock::new(|| list("prepositions"));
    WORDS.contains_key(word)
}

/// Whether a word is a function word of another language and not of English.
pub(in crate::fidelity) fn is_foreign_function_word(word: &str) -> bool {
    static WORDS: List = LazyLock::new(|| list("foreign"));
    WORDS.contains_key(word) && !is_function_word(word)
}

/// The word that an irregular form or spelling is taken for, else the word itself.
pub(in crate::fidelity) fn irregular(word: &str) -> &str {
    static WORDS: List = LazyLock::new(|| list("irregular"));
    WORDS.get(word).copied().unwrap_or(word)
}

/// The abbreviation that addresses have for a word.
pub(in crate::fidelity) fn in_addresses(word: &str) -> Option<&'static str> {
    static WORDS: List = LazyLock::new(|| list("addresses"));
    WORDS.get(word).copied()
}

/// Whether a word behind a company's name says its legal form.
pub(in crate::fidelity) fn is_legal_form(word: &str) -> bool {
    static WORDS: List = LazyLock::new(|| list("legal"));
    WORDS.contains_key(word)
}

/// Whether a word says the kind of a named thing, and so is often left out of its name.
pub(in crate::fidelity) fn is_of_kind(word: &str) -> bool {
    static WORDS: List = LazyLock::new(|| list("kinds"));
    WORDS.contains_key(word) || is_legal_form(word)
}

/// The number that a word says.
pub(in crate::fidelity) fn number_word(word: &str) -> Option<f64> {
    static WORDS: List = LazyLock::new(|| list("numbers"));
    let number = WORDS.get(word).copied().or_else(|| Some(irregular(word)).filter(|known| *known != word));
    number?.parse().ok()
}
