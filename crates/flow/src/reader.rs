//! Reads one result once: finds the sought values in it, and decides which of them are significant.

use std::collections::{HashMap, HashSet};

use m3_trajectory::json::Json;

use super::leaves::{Segment, pointer_of};
use super::plain::plain;
use super::significance::{ResultSize, TextWeight};
use super::tokens::{Number, numbers, tokens};
use super::value_index::{Fit, SoughtValue, ValueIndex, only_text};
use super::vectors::Row;

/// Searches one result for values that arguments use.
pub(crate) struct ResultReader<'a> {
    sought_values: &'a ValueIndex,
    found: HashMap<usize, (Fit, String, Option<Number>)>,
    numbers: HashSet<Number>,
    tokens: usize,
    /// The numbers of the result in order.
    row: Row,
    /// The first distinct texts and numbers, at most two: it only matters whether there is more than one.
    values: HashSet<String>,
}

impl<'a> ResultReader<'a> {
    pub(crate) fn new(sought_values: &'a ValueIndex) -> Self {
        Self {
            sought_values,
            found: HashMap::new(),
            numbers: HashSet::new(),
            tokens: 0,
            row: Row::default(),
            values: HashSet::new(),
        }
    }

    pub(crate) fn read(&mut self, value: &Json, path: &[Segment]) {
        // The protocol's own members of an item are not values of the tool.
        if let [Segment::Member(content), Segment::Item(_), Segment::Member(name)] = path
            && content == "content"
            && (name == "type" || name == "mimeType")
        {
            return;
        }
        let best = &mut self.found;
        let mut note = |sought: usize, fit: Fit, number: Option<Number>| {
            if best.get(&sought).is_none_or(|(known, ..)| *known < fit) {
                best.insert(sought, (fit, pointer_of(path), number));
            }
        };
        self.sought_values.of_field(path, value, &mut |sought| note(sought, Fit::Whole, None));
        match value {
            Json::String(text) | Json::LongInteger(text) => {
                let text = plain(text);
                self.tokens += tokens(&text).count();
                if self.values.len() < 2 {
                    self.values.insert(text.clone().into_owned());
                }
                if let Some(sought) = only_text(value).and_then(|text| self.sought_values.of_only(&text)) {
                    note(sought, Fit::Whole, None);
                }
                self.sought_values.in_text(&text, &mut |sought, fit| note(sought, fit, None));
                for (start, number) in numbers(&text) {
                    self.numbers.insert(number);
                    self.sought_values
                        .in_row(&mut self.row, number, &mut |sought| note(sought, Fit::Whole, None));
                    self.sought_values
                        .of_number(number, &mut |sought, number, fit| note(sought, fit, Some(number)));
                    self.sought_values
                        .of_named_number(&text, start, number, &mut |sought| note(sought, Fit::Whole, None));
                }
            }
            value => {
                self.tokens += 1;
                if let Some(number) = Number::from_json(value) {
                    self.numbers.insert(number);
                    if self.values.len() < 2 {
                        self.values.insert(number.text());
                    }
                    self.sought_values
                        .in_row(&mut self.row, number, &mut |sought| note(sought, Fit::Whole, None));
                    self.sought_values
                        .of_number(number, &mut |sought, number, fit| note(sought, fit, Some(number)));
                }
            }
        }
    }

    /// The sought values that are significant in this result, each with its place and whether the result is one value
    /// and little else.
    pub(crate) fn significant(self) -> Vec<(usize, String, bool)> {
        let size = ResultSize { numbers: self.numbers.len(), tokens: self.tokens };
        let is_all = self.values.len() == 1;
        let is_significant = |sought: usize, fit: Fit, number: Option<Number>| match number {
            Some(number) if fit == Fit::Whole => size.makes_telling(number),
            Some(number) => {
                size.makes_telling(number) && (number.significant_digits() >= 3 || size.is_one_value())
            }
            None if matches!(self.sought_values.get(sought), Some(SoughtValue::Only(_))) => is_all,
            None => match self.sought_values.weight(sought) {
                TextWeight::Anywhere => true,
                TextWeight::Whole => fit == Fit::Whole,
                TextWeight::Nothing => false,
            },
        };
        let candidates = self.found.into_iter();
        let significant =
            candidates.filter(|(sought, (fit, _, number))| is_significant(*sought, *fit, *number));
        significant.map(|(sought, (_, pointer, _))| (sought, pointer, size.is_one_value())).collect()
    }
}
