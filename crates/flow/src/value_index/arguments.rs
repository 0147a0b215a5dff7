//! The sought values of a single argument, and the other values in its text.

use m3_trajectory::json::Json;

use super::{Fit, MAX_TOKENS, SoughtValue, ValueIndex};
use crate::leaves::Leaf;
use crate::names::{argument_classes, is_amount, is_setting};
use crate::plain::plain;
use crate::significance::{TextWeight, is_common, text_weight};
use crate::tokens::{Number, numbers, tokens};

/// The longest text that can be a formula, in bytes.
const MAX_FORMULA: usize = 256;

/// The longest text in which a number of three digits is not there by chance, in bytes.
const SHORT: usize = 64;

/// The most numbers of one text that are looked for.
const MAX_NUMBERS: usize = 200;

impl ValueIndex {
    /// Adds the values of an argument to those that are looked for.
    pub(crate) fn add_argument(&mut self, leaf: &Leaf<'_>) {
        for sought in self.of_argument(leaf, true) {
            self.add(sought);
        }
    }

    /// The sought values for an argument as a whole; with `learns`, its words are added to the index.
    fn of_argument(&mut self, leaf: &Leaf<'_>, learns: bool) -> Vec<SoughtValue> {
        let mut values = Vec::new();
        let is_setting = is_setting(&leaf.name);
        if is_setting || is_weak(leaf.value) {
            values = named(argument_classes(&leaf.name), leaf.value);
            values.extend(only_text(leaf.value).map(SoughtValue::Only));
        }
        if is_setting {
            return values;
        }
        match leaf.value {
            Json::String(text) => {
                let text = plain(text);
                let ids = if learns { self.learn(&text) } else { Vec::new() };
                match Number::from_text(&text) {
                    Some(number) => values.push(SoughtValue::Number(number)),
                    None if !ids.is_empty() => {
                        values.push(SoughtValue::Text(ids.into_iter().take(MAX_TOKENS).collect()));
                    }
                    None => {}
                }
                let least = least_digits(&text);
                let long = numbers(&text).map(|(_, number)| number);
                let long = long.filter(|number| number.significant_digits() >= least);
                values.extend(long.take(MAX_NUMBERS).map(SoughtValue::Number));
            }
            Json::LongInteger(digits) => {
                let ids = if learns { self.learn(digits) } else { Vec::new() };
                values.push(SoughtValue::Text(ids));
            }
            value => {
                let number = Number::from_json(value);
                let is_small_amount =
                    |number: &Number| is_amount(&leaf.name) && number.significant_digits() <= 2;
                values.extend(number.filter(|number| !is_small_amount(number)).map(SoughtValue::Number));
            }
        }
        values
    }

    /// The sought values that an argument contains: the argument itself, and those in its text.
    pub(crate) fn in_argument(&mut self, leaf: &Leaf<'_>) -> Vec<usize> {
        let mut numbers: Vec<usize> =
            self.of_argument(leaf, false).iter().filter_map(|sought| self.number_of(sought)).collect();
        if !is_setting(&leaf.name) {
            let text = match leaf.value {
                Json::String(text) | Json::LongInteger(text) => text.as_str(),
                _ => "",
            };
            let text = plain(text);
            let length = tokens(&text).take(MAX_TOKENS + 1).count();
            self.in_text(&text, &mut |sought, fit| {
                let Some(SoughtValue::Text(ids)) = self.all.get(sought) else { return };
                let is_all = ids.len() == length.min(MAX_TOKENS);
                // A single word in a long text occurs by chance, unless a result has it as a value.
                let is_lost = matches!(ids.as_slice(), [word] if !self.whole.contains(word))
                    && length > 24
                    && fit == Fit::Within;
                if is_all || (self.weight(sought) == TextWeight::Anywhere && !is_lost) {
                    numbers.push(sought);
                }
            });
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// The fewest digits of a number in a text for it to be looked for: in a formula any number, in a short text three
/// digits, in others enough to be recognized anywhere, such as coordinates or an id in a query.
fn least_digits(text: &str) -> usize {
    match text.len() {
        ..=MAX_FORMULA if is_formula(text) => 1,
        ..=SHORT => 3,
        _ => 4,
    }
}

/// Whether a text consists of numbers, operators and names of functions: `129*37`, `sqrt(12) / 7`, `(3 + 4) ^ 2`.
fn is_formula(text: &str) -> bool {
    let is_sign = |c: char| matches!(c, '+' | '-' | '*' | '/' | '^' | '%' | '=' | '(' | '×' | '÷' | '·');
    let words = || text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    text.contains(is_sign)
        && text.contains(|c: char| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || c.is_whitespace() || is_sign(c) || ").,_<>!&|".contains(c))
        && words().all(|word| word.len() <= 6)
        && words().count() <= numbers(text).count()
}

/// Whether a value is hardly significant without the name of its field.
fn is_weak(value: &Json) -> bool {
    match value {
        Json::String(text) => match Number::from_text(text) {
            Some(number) => number.significant_digits() <= 3,
            None if text.len() > 64 => false,
            None => {
                let tokens: Vec<String> =
                    tokens(&plain(text)).map(|token| token.text.to_lowercase()).collect();
                text_weight(&tokens) == TextWeight::Nothing
            }
        },
        Json::Integer(_) | Json::Float(_) => {
            Number::from_json(value).is_some_and(|number| number.significant_digits() <= 3)
        }
        Json::Bool(_) => true,
        _ => false,
    }
}

/// The sought values for a value in fields of these names; empty if the value needs no name.
fn named(classes: Vec<String>, value: &Json) -> Vec<SoughtValue> {
    named_value(value).map(|text| of_classes(classes, &text)).unwrap_or_default()
}

/// A value as it is searched by the name of its field: numbers are equal to their texts. `None` for a value that needs
/// no name.
pub(super) fn named_value(value: &Json) -> Option<String> {
    let text = match value {
        Json::String(text) if text.len() <= 64 => match Number::from_text(text) {
            Some(Number::Whole(value)) => value.to_string(),
            _ => plain(text.trim()).to_lowercase(),
        },
        Json::Integer(value) => value.unsigned_abs().to_string(),
        Json::Float(value) => match Number::from_double(*value)? {
            Number::Whole(value) => value.to_string(),
            Number::Fraction(_) => value.abs().to_string(),
        },
        Json::Bool(value) => value.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// The sought values for a value's text, as [`named_value`] gives it, in fields of these names.
pub(super) fn of_classes(classes: Vec<String>, text: &str) -> Vec<SoughtValue> {
    let classes = classes.into_iter().filter(|class| !class.is_empty());
    classes.map(|class| SoughtValue::Named(class, text.to_owned())).collect()
}

/// A text that is significant as the whole of a result: short, and not a common word.
pub(crate) fn only_text(value: &Json) -> Option<String> {
    let text = plain(value.as_str().filter(|text| text.len() <= SHORT)?.trim()).to_lowercase();
    let is_word = Number::from_text(&text).is_none() && tokens(&text).any(|token| !is_common(token.text));
    is_word.then_some(text)
}
