//! The sought values: the values of arguments, and those values of results whose words are in arguments.

mod arguments;

use std::collections::{HashMap, HashSet};

pub(crate) use arguments::only_text;
use arguments::{named_value, of_classes};
use m3_trajectory::json::Json;

use super::leaves::{Segment, names_of};
use super::names::field_classes;
use super::plain::plain;
use super::significance::{TextWeight, text_weight};
use super::tokens::{Number, tokens};
use super::vectors::{KnownVectors, Row, Vector};

/// The most different values that are looked for.
const MAX_SOUGHT: usize = 100_000;

/// The most tokens of a text that are compared.
const MAX_TOKENS: usize = 64;

/// If this many consecutive words are in a result and in an argument, they were copied from the result.
const ROW: usize = 8;

/// The most such rows of words in arguments that are looked for.
const MAX_ROWS: usize = 500_000;

/// A value that is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum SoughtValue {
    /// A text, as the numbers of its tokens.
    Text(Vec<u32>),
    /// A number.
    Number(Number),
    /// A value that is significant only in a field of this name.
    Named(String, String),
    /// A text that is significant only as the whole of a result.
    Only(String),
    /// Numbers that are significant in this order.
    Vector(Vec<Number>),
}

/// How a sought text appears where it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// The value is part of a longer piece, or a number that was rounded.
    Within,
    /// The value is a whole piece or value.
    Whole,
}

/// Pieces of a text of a result.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// The pieces, as tokens.
    pub(crate) found: Vec<Vec<u32>>,
    /// The word, if the text is a single word.
    pub(crate) whole: Option<u32>,
}

/// All sought values, and how they are found in texts.
#[derive(Debug, Default)]
pub(crate) struct ValueIndex {
    vocabulary: HashMap<String, u32>,
    words: Vec<String>,
    numbers_of: HashMap<SoughtValue, usize>,
    all: Vec<SoughtValue>,
    weights: Vec<TextWeight>,
    branches: HashMap<(u32, u32), u32>,
    ends: Vec<Option<u32>>,
    /// The numbers of decimals of numbers that may have been rounded.
    decimals: Vec<usize>,
    /// Rows of words in long arguments.
    rows: HashSet<[u32; ROW]>,
    /// The values of fields that are looked for by their name.
    named_values: HashSet<String>,
    /// Words that are the whole of a value in a result.
    whole: HashSet<u32>,
    /// Numbers that are looked for together.
    vectors: KnownVectors,
}

/// A token of a searched text: its number, 0 if no argument has it, and whether a piece begins with it.
type TokenMatch = (u32, bool);

impl ValueIndex {
    /// The number of a sought value, if it is looked for.
    fn number_of(&self, sought: &SoughtValue) -> Option<usize> {
        self.numbers_of.get(sought).copied()
    }

    /// How significant a sought text is; numbers and named values are weighed where they are found.
    pub(crate) fn weight(&self, sought: usize) -> TextWeight {
        self.weights.get(sought).copied().unwrap_or(TextWeight::Nothing)
    }

    /// The sought value of this number.
    pub(crate) fn get(&self, sought: usize) -> Option<&SoughtValue> {
        self.all.get(sought)
    }

    fn add(&mut self, sought: SoughtValue) {
        if self.numbers_of.contains_key(&sought) || self.all.len() >= MAX_SOUGHT {
            return;
        }
        let number = self.all.len();
        let mut weight = TextWeight::Anywhere;
        match &sought {
            SoughtValue::Text(ids) => {
                let texts: Vec<String> =
                    ids.iter().filter_map(|&id| self.words.get(id as usize - 1).cloned()).collect();
                weight = text_weight(&texts);
                if weight == TextWeight::Nothing {
                    return;
                }
                let ids = ids.clone();
                self.plant(&ids, number);
            }
            SoughtValue::Number(number) => {
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
            SoughtValue::Named(_, value) => {
                self.named_values.insert(value.clone());
            }
            SoughtValue::Only(_) | SoughtValue::Vector(_) => {}
        }
        self.numbers_of.insert(sought.clone(), number);
        self.all.push(sought);
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

    /// Adds the tokens of an argument's text.
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
        let rows = ids.windows(ROW).filter_map(|row| <[u32; ROW]>::try_from(row).ok());
        let room = MAX_ROWS.saturating_sub(self.rows.len());
        self.rows.extend(rows.take(room));
        ids
    }

    /// A text as tokens, numbered if an argument has them.
    fn known(&self, text: &str) -> Vec<TokenMatch> {
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

    /// Pieces of a result whose tokens are all in arguments, because they may be there together: the whole, the text
    /// between two cuts, and rows of words.
    pub(crate) fn pieces(&self, text: &str) -> Pieces {
        let known = self.known(&plain(text));
        let mut pieces = Pieces::default();
        let ids = |tokens: &[TokenMatch]| -> Option<Vec<u32>> {
            let is_known = !tokens.is_empty() && tokens.iter().all(|token| token.0 != 0);
            is_known.then(|| tokens.iter().take(MAX_TOKENS).map(|token| token.0).collect())
        };
        if let [(word @ 1.., _)] = known.as_slice() {
            pieces.whole = Some(*word);
        }
        pieces.found.extend(ids(&known));
        let mut rest = known.as_slice();
        while !rest.is_empty() {
            let end =
                rest.iter().skip(1).position(|token| token.1).map_or(rest.len(), |position| position + 1);
            pieces.found.extend(ids(&rest[..end]));
            rest = &rest[end..];
        }
        let mut rest = known.as_slice();
        while let Some(row) = rest.get(..ROW) {
            let mut words = [0; ROW];
            words.iter_mut().zip(row).for_each(|(word, token)| *word = token.0);
            let is_found = self.rows.contains(&words);
            pieces.found.extend(is_found.then(|| words.to_vec()));
            rest = &rest[if is_found { ROW } else { 1 }..];
        }
        pieces
    }

    /// Adds a word that is the whole of a value.
    pub(crate) fn add_whole(&mut self, word: u32) {
        self.whole.insert(word);
    }

    /// Adds numbers that are to be found together.
    pub(crate) fn add_vector(&mut self, vector: &Vector) -> Option<usize> {
        let sought = SoughtValue::Vector(vector.numbers.clone());
        if let Some(known) = self.number_of(&sought) {
            return Some(known);
        }
        let number = self.all.len();
        if !self.vectors.add(number, &vector.numbers) {
            return None;
        }
        self.numbers_of.insert(sought.clone(), number);
        self.all.push(sought);
        self.weights.push(TextWeight::Anywhere);
        Some(number)
    }

    /// The vectors that the next number of a row completes.
    pub(crate) fn in_row(&self, row: &mut Row, number: Number, found: &mut dyn FnMut(usize)) {
        row.push(number, &self.vectors, found);
    }

    /// The sought value for a text that is the whole of a result.
    pub(crate) fn of_only(&self, text: &str) -> Option<usize> {
        self.number_of(&SoughtValue::Only(text.to_owned()))
    }

    /// Adds a piece of a result.
    pub(crate) fn add_piece(&mut self, ids: Vec<u32>) {
        let is_number = |id: &u32| {
            self.words
                .get(*id as usize - 1)
                .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if !ids.iter().all(is_number) {
            self.add(SoughtValue::Text(ids));
        }
    }

    /// The sought values in a text, each with how it appears there.
    pub(crate) fn in_text(&self, text: &str, found: &mut dyn FnMut(usize, Fit)) {
        let known = self.known(text);
        let is_end = |index: usize| known.get(index + 1).is_none_or(|next| next.1);
        for start in 0..known.len() {
            let mut at = 0;
            for (index, token) in known.iter().enumerate().skip(start) {
                let Some(&next) = (token.0 != 0).then(|| self.branches.get(&(at, token.0))).flatten() else {
                    break;
                };
                at = next;
                if let Some(sought) = self.ends.get(at as usize).copied().flatten() {
                    let is_whole = known[start].1 && is_end(index);
                    found(sought as usize, if is_whole { Fit::Whole } else { Fit::Within });
                }
            }
        }
    }

    /// The sought values equal to this number, and those equal to it after rounding.
    pub(crate) fn of_number(&self, number: Number, found: &mut dyn FnMut(usize, Number, Fit)) {
        if let Some(sought) = self.number_of(&SoughtValue::Number(number)) {
            found(sought, number, Fit::Whole);
        }
        for &decimals in &self.decimals {
            if let Some(rounded) =
                number.rounded(decimals).filter(|rounded| rounded.significant_digits() >= 2)
                && let Some(sought) = self.number_of(&SoughtValue::Number(rounded))
            {
                found(sought, rounded, Fit::Within);
            }
        }
    }

    /// The sought values that a field of a result matches by its name.
    pub(crate) fn of_field(&self, path: &[Segment], value: &Json, found: &mut dyn FnMut(usize)) {
        let (Some(name), parent) = names_of(path) else { return };
        // Results have thousands of fields; arguments have the values of few of them.
        let Some(text) = named_value(value).filter(|text| self.named_values.contains(text)) else { return };
        for sought in of_classes(field_classes(name, parent), &text) {
            if let Some(sought) = self.number_of(&sought) {
                found(sought);
            }
        }
    }

    /// The sought values named by the words before a number in a text: `department id: 10`.
    pub(crate) fn of_named_number(
        &self,
        text: &str,
        start: usize,
        number: Number,
        found: &mut dyn FnMut(usize),
    ) {
        let Number::Whole(value) = number else { return };
        let value = value.to_string();
        // Tables have thousands of numbers; arguments have few of them.
        if !self.named_values.contains(&value) {
            return;
        }
        let from = text.floor_char_boundary(start.saturating_sub(60));
        let before: Vec<&str> = tokens(&text[from..start]).map(|token| token.text).collect();
        for count in 1..=before.len().min(2) {
            let name = before[before.len() - count..].join("_");
            for sought in of_classes(field_classes(&name, None), &value) {
                if let Some(sought) = self.number_of(&sought) {
                    found(sought);
                }
            }
        }
    }
}
