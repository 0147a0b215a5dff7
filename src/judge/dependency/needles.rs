//! What is looked for: the values of arguments, and those of results that stand in arguments.

use std::collections::HashMap;

use super::leaves::{Leaf, Segment, names_of};
use super::names::{argument_classes, field_classes, is_amount, is_setting};
use super::telling::{TextWeight, text_weight};
use super::tokens::{Number, numbers, tokens};
use crate::trajectory::json::Json;

/// More different values than this are not looked for.
const MAX_NEEDLES: usize = 100_000;

/// A longer text is known by its first tokens.
const MAX_TOKENS: usize = 64;

/// A value that is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Needle {
    /// A text, by the numbers of its tokens.
    Text(Vec<u32>),
    /// A number.
    Number(Number),
    /// A value that says something only in a field of this name.
    Named(String, String),
}

/// How a text that is looked for stands where it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// As part of a longer piece, or as a number that was rounded.
    Within,
    /// As a whole piece or value.
    Whole,
}

/// All needles, and how they are found in texts.
#[derive(Debug, Default)]
pub(super) struct Needles {
    vocabulary: HashMap<String, u32>,
    words: Vec<String>,
    numbers_of: HashMap<Needle, usize>,
    needles: Vec<Needle>,
    weights: Vec<TextWeight>,
    branches: HashMap<(u32, u32), u32>,
    ends: Vec<Option<u32>>,
    /// Digits behind the point of numbers that may be rounded ones.
    decimals: Vec<usize>,
}

/// A token of a text that is searched: its number, 0 for one that no argument has, and whether a piece begins with it.
type Known = (u32, bool);

impl Needles {
    /// The needle's number, if there is such a needle.
    fn number_of(&self, needle: &Needle) -> Option<usize> {
        self.numbers_of.get(needle).copied()
    }

    /// How much a text needle says; numbers and named values are weighed where they are found.
    pub(super) fn weight(&self, needle: usize) -> TextWeight {
        self.weights.get(needle).copied().unwrap_or(TextWeight::Nothing)
    }

    /// The needle of this number.
    pub(super) fn get(&self, needle: usize) -> Option<&Needle> {
        self.needles.get(needle)
    }

    fn add(&mut self, needle: Needle) {
        if self.numbers_of.contains_key(&needle) || self.needles.len() >= MAX_NEEDLES {
            return;
        }
        let number = self.needles.len();
        let mut weight = TextWeight::Anywhere;
        match &needle {
            Needle::Text(ids) => {
                let texts: Vec<String> =
                    ids.iter().filter_map(|&id| self.words.get(id as usize - 1).cloned()).collect();
                weight = text_weight(&texts);
                if weight == TextWeight::Nothing {
                    return;
                }
                let ids = ids.clone();
                self.plant(&ids, number);
            }
            Needle::Number(number) => {
                let decimals = number.decimals();
                if number.significant_digits() >= 3 && decimals <= 9 && !self.decimals.contains(&decimals) {
                    self.decimals.push(decimals);
                }
                if !matches!(number, Number::Fraction(_))
                    && number.significant_digits() >= 2
                    && !self.decimals.contains(&0)
                {
                    self.decimals.push(0);
                }
            }
            Needle::Named(..) => {}
        }
        self.numbers_of.insert(needle.clone(), number);
        self.needles.push(needle);
        self.weights.push(weight);
    }

    fn plant(&mut self, ids: &[u32], number: usize) {
        if self.ends.is_empty() {
            self.ends.push(None);
        }
        let mut at = 0;
        for &id in ids.iter().take(MAX_TOKENS) {
            let next = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
            at = *self.branches.entry((at, id)).or_insert(next);
            if at == next {
                self.ends.push(None);
            }
        }
        if let Some(end) = self.ends.get_mut(at as usize) {
            *end = end.or(u32::try_from(number).ok());
        }
    }

    /// Learns the tokens of an argument's text.
    fn learn(&mut self, text: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        for token in tokens(text) {
            let token = token.text.to_lowercase();
            let next = u32::try_from(self.words.len() + 1).unwrap_or(u32::MAX);
            let id = *self.vocabulary.entry(token.clone()).or_insert(next);
            if id == next {
                self.words.push(token);
            }
            ids.push(id);
        }
        ids
    }

    /// A text as tokens that arguments have.
    fn known(&self, text: &str) -> Vec<Known> {
        let mut lower = String::new();
        let id = |text: &str, lower: &mut String| {
            if text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
                return self.vocabulary.get(text).copied().unwrap_or(0);
            }
            lower.clear();
            lower.extend(text.chars().flat_map(char::to_lowercase));
            self.vocabulary.get(lower.as_str()).copied().unwrap_or(0)
        };
        tokens(text).map(|token| (id(token.text, &mut lower), token.is_cut)).collect()
    }

    /// Looks for what an argument has.
    pub(super) fn add_argument(&mut self, leaf: &Leaf<'_>) {
        for needle in self.of_argument(leaf, true) {
            self.add(needle);
        }
    }

    /// The needles that an argument as a whole is; with `learns`, its words become known.
    fn of_argument(&mut self, leaf: &Leaf<'_>, learns: bool) -> Vec<Needle> {
        if is_setting(&leaf.name) {
            return named(argument_classes(&leaf.name), leaf.value);
        }
        let mut found = Vec::new();
        if is_weak(leaf.value) {
            found = named(argument_classes(&leaf.name), leaf.value);
        }
        match leaf.value {
            Json::String(text) => {
                let ids = if learns { self.learn(text) } else { Vec::new() };
                match Number::from_text(text) {
                    Some(number) => found.push(Needle::Number(number)),
                    None if !ids.is_empty() => {
                        found.push(Needle::Text(ids.into_iter().take(MAX_TOKENS).collect()))
                    }
                    None => {}
                }
                // Coordinates in one text, an id in a query: digits enough to be known again.
                let long =
                    numbers(text).map(|(_, number)| number).filter(|number| number.significant_digits() >= 4);
                found.extend(long.take(200).map(Needle::Number));
            }
            Json::LongInteger(digits) => {
                let ids = if learns { self.learn(digits) } else { Vec::new() };
                found.push(Needle::Text(ids));
            }
            value => {
                let number = Number::from_json(value);
                let is_small_amount =
                    |number: &Number| is_amount(&leaf.name) && number.significant_digits() <= 2;
                found.extend(number.filter(|number| !is_small_amount(number)).map(Needle::Number));
            }
        }
        found
    }

    /// Looks for pieces of a result whose tokens all stand in arguments, should they stand there together.
    pub(super) fn pieces(&self, text: &str) -> Vec<Vec<u32>> {
        let mut pieces: Vec<Vec<u32>> = Vec::new();
        let known = self.known(text);
        let mut rest = known.as_slice();
        let mut is_first = true;
        while let [first, ..] = rest {
            let end =
                rest.iter().skip(1).position(|token| token.1).map_or(rest.len(), |position| position + 1);
            if first.0 != 0 && end <= 12 && rest[..end].iter().all(|token| token.0 != 0) {
                pieces.push(rest[..end].iter().map(|token| token.0).collect());
            }
            rest = &rest[end..];
            if is_first && !rest.is_empty() && known.len() <= 12 && known.iter().all(|token| token.0 != 0) {
                pieces.push(known.iter().map(|token| token.0).collect());
            }
            is_first = false;
        }
        pieces
    }

    /// Looks for a piece of a result.
    pub(super) fn add_piece(&mut self, ids: Vec<u32>) {
        let is_number = |id: &u32| {
            self.words
                .get(*id as usize - 1)
                .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if !ids.iter().all(is_number) {
            self.add(Needle::Text(ids));
        }
    }

    /// Needles in a text, each with how it stands there.
    pub(super) fn in_text(&self, text: &str, found: &mut dyn FnMut(usize, Fit)) {
        let known = self.known(text);
        let is_end = |index: usize| known.get(index + 1).is_none_or(|next| next.1);
        for start in 0..known.len() {
            let mut at = 0;
            for (index, token) in known.iter().enumerate().skip(start) {
                let Some(&next) = (token.0 != 0).then(|| self.branches.get(&(at, token.0))).flatten() else {
                    break;
                };
                at = next;
                if let Some(needle) = self.ends.get(at as usize).copied().flatten() {
                    let is_whole = known[start].1 && is_end(index);
                    found(needle as usize, if is_whole { Fit::Whole } else { Fit::Within });
                }
            }
        }
    }

    /// The needle that is this number, and those that it becomes when it is rounded.
    pub(super) fn of_number(&self, number: Number, found: &mut dyn FnMut(usize, Number, Fit)) {
        if let Some(needle) = self.number_of(&Needle::Number(number)) {
            found(needle, number, Fit::Whole);
        }
        for &decimals in &self.decimals {
            if let Some(rounded) =
                number.rounded(decimals).filter(|rounded| rounded.significant_digits() >= 2)
                && let Some(needle) = self.number_of(&Needle::Number(rounded))
            {
                found(needle, rounded, Fit::Within);
            }
        }
    }

    /// Needles that a field of a result is by its name.
    pub(super) fn of_field(&self, path: &[Segment], value: &Json, found: &mut dyn FnMut(usize)) {
        let (Some(name), parent) = names_of(path) else { return };
        for needle in named(field_classes(name, parent), value) {
            if let Some(needle) = self.number_of(&needle) {
                found(needle);
            }
        }
    }

    /// Needles that the words before a number in a text name: `department id: 10`.
    pub(super) fn of_named_number(
        &self,
        text: &str,
        start: usize,
        number: Number,
        found: &mut dyn FnMut(usize),
    ) {
        let from = text.floor_char_boundary(start.saturating_sub(60));
        let before: Vec<&str> = tokens(&text[from..start]).map(|token| token.text).collect();
        let Number::Whole(value) = number else { return };
        let value = Json::String(value.to_string());
        for count in 1..=before.len().min(2) {
            let name = before[before.len() - count..].join("_");
            for needle in named(field_classes(&name, None), &value) {
                if let Some(needle) = self.number_of(&needle) {
                    found(needle);
                }
            }
        }
    }

    /// Needles that an argument has: those it is, and those that stand in its text.
    pub(super) fn in_argument(&mut self, leaf: &Leaf<'_>) -> Vec<usize> {
        let mut found: Vec<usize> =
            self.of_argument(leaf, false).iter().filter_map(|needle| self.number_of(needle)).collect();
        if !is_setting(&leaf.name) {
            let text = match leaf.value {
                Json::String(text) | Json::LongInteger(text) => text.as_str(),
                _ => "",
            };
            let length = tokens(text).take(MAX_TOKENS + 1).count();
            self.in_text(text, &mut |needle, fit| {
                let Some(Needle::Text(ids)) = self.needles.get(needle) else { return };
                let is_all = ids.len() == length.min(MAX_TOKENS);
                // One word in a long text is there by chance.
                let is_lost = ids.len() == 1 && length > 24 && fit == Fit::Within;
                if is_all || (self.weight(needle) == TextWeight::Anywhere && !is_lost) {
                    found.push(needle);
                }
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Whether a value says little without the name of its field.
fn is_weak(value: &Json) -> bool {
    match value {
        Json::String(text) => match Number::from_text(text) {
            Some(number) => number.significant_digits() <= 3,
            None if text.len() > 64 => false,
            None => {
                let tokens: Vec<String> = tokens(text).map(|token| token.text.to_lowercase()).collect();
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

/// A value in fields of these names. Numbers and their texts are the same; long texts need no name.
fn named(classes: Vec<String>, value: &Json) -> Vec<Needle> {
    let text = match value {
        Json::String(text) if text.len() <= 64 => match Number::from_text(text) {
            Some(Number::Whole(value)) => value.to_string(),
            _ => text.trim().to_lowercase(),
        },
        Json::Integer(value) => value.unsigned_abs().to_string(),
        Json::Float(value) => match Number::from_double(*value) {
            Some(Number::Whole(value)) => value.to_string(),
            Some(Number::Fraction(_)) => value.abs().to_string(),
            None => return Vec::new(),
        },
        Json::Bool(value) => value.to_string(),
        _ => return Vec::new(),
    };
    if text.is_empty() {
        return Vec::new();
    }
    classes
        .into_iter()
        .filter(|class| !class.is_empty())
        .map(|class| Needle::Named(class, text.clone()))
        .collect()
}
