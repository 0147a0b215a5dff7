//! Splits a text into numbers, words and signs.

use super::super::super::language::numerals::spoken_number;

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A number: its value, how many digits it has (0 for a word), and whether it is an ordinal.
    Number(i64, usize, bool),
    Word(String),
    Sign(char),
}

use Token::{Number, Sign, Word};

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let characters: Vec<char> = text.chars().collect();
    let mut at = 0;
    while let Some(&c) = characters.get(at) {
        let run = |is: fn(char) -> bool| {
            characters[at..].iter().copied().take_while(|&c| is(c)).collect::<String>()
        };
        if c.is_ascii_digit() {
            let digits = run(|c| c.is_ascii_digit());
            at += digits.len();
            tokens.push(Number(digits.parse().unwrap_or(i64::MAX), digits.len(), false));
            continue;
        }
        if !c.is_alphabetic() {
            if !c.is_whitespace() {
                tokens.push(Sign(c));
            }
            at += 1;
            continue;
        }
        let word = run(char::is_alphabetic);
        at += word.chars().count();
        match (word.as_str(), tokens.last_mut()) {
            ("st" | "nd" | "rd" | "th", Some(Number(_, 1.., is_ordinal))) => *is_ordinal = true,
            _ => match spoken_number(&word) {
                Some((number, is_ordinal)) => push_spoken(&mut tokens, number, is_ordinal),
                None => tokens.push(Word(word)),
            },
        }
    }
    tokens
}

/// Adds a number that is a word: `thirty five` and `twenty-first` become one number.
fn push_spoken(found: &mut Vec<Token>, number: i64, is_ordinal: bool) {
    let is_unit = (1..10).contains(&number);
    let dash = found.last() == Some(&Sign('-'));
    let before = found.len().checked_sub(1 + usize::from(dash));
    if let Some(Number(tens @ (20 | 30 | 40 | 50), 0, false)) = before.and_then(|at| found.get(at)).cloned()
        && is_unit
    {
        found.truncate(before.unwrap_or_default());
        found.push(Number(tens + number, 0, is_ordinal));
    } else {
        found.push(Number(number, 0, is_ordinal));
    }
}
