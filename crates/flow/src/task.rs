//! The task's own texts: a value found there need not come from a result.

use std::collections::HashSet;

use m3_support::text::head;

use super::names::{is_amount_class, names_one_of_many};
use super::plain::plain;
use super::tokens::{Number, numbers, tokens};
use super::value_index::SoughtValue;

/// The most bytes of each text of the task that are read.
const MAX_GIVEN: usize = 1 << 20;

/// The texts of a task.
pub(crate) struct TaskText {
    texts: Vec<String>,
    /// All words in lower case, with a blank before and after each.
    words: String,
    numbers: HashSet<Number>,
}

impl TaskText {
    pub(crate) fn new(given: &[String]) -> Self {
        let cut = |text: &String| plain(head(text, MAX_GIVEN)).into_owned();
        let texts: Vec<String> = given.iter().map(cut).collect();
        let mut words = String::from(" ");
        for token in texts.iter().flat_map(|text| tokens(text)) {
            words.push_str(&token.text.to_lowercase());
            words.push(' ');
        }
        let numbers = texts.iter().flat_map(|text| numbers(text)).map(|(_, number)| number).collect();
        Self { texts, words, numbers }
    }

    /// The texts, in the form in which they are compared.
    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether the task contains this value; false for texts, which are searched separately.
    pub(crate) fn gives(&self, sought: &SoughtValue) -> bool {
        match sought {
            SoughtValue::Text(_) => false,
            SoughtValue::Number(number) => self.numbers.contains(number),
            SoughtValue::Vector(numbers) => numbers.iter().all(|number| self.numbers.contains(number)),
            SoughtValue::Only(text) => self.has_words(text),
            SoughtValue::Named(class, _) if names_one_of_many(class) => false,
            SoughtValue::Named(class, value) => match Number::from_text(value) {
                // A 10 somewhere in a text need not be the age that is asked for.
                Some(number) => {
                    self.numbers.contains(&number)
                        && (number.significant_digits() > 2
                            || is_amount_class(class)
                            || self.has_word_of(class))
                }
                None => self.has_words(value),
            },
        }
    }

    fn has_words(&self, text: &str) -> bool {
        let words: Vec<&str> = tokens(text).map(|token| token.text).collect();
        self.words.contains(&format!(" {} ", words.join(" ")))
    }

    /// Whether a word of the task is part of the name, such as `guests` in `guestcount`.
    fn has_word_of(&self, class: &str) -> bool {
        self.words.split(' ').any(|word| {
            let stem = word.strip_suffix('s').unwrap_or(word);
            stem.len() >= 3 && class.contains(stem)
        })
    }
}
