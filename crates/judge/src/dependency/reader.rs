//! One result, read once: which needles it has, and which of them say something.

use std::collections::{HashMap, HashSet};

use m3_trajectory::json::Json;

use super::leaves::{Segment, pointer_of};
use super::plain::plain;
use super::significance::{ResultSize, TextWeight};
use super::tokens::{Number, numbers, tokens};
use super::value_index::{Fit, SoughtValue, ValueIndex, only_text};
use super::vectors::Row;

/// What is found in one result.
pub(super) struct ResultReader<'a> {
    needles: &'a ValueIndex,
    found: HashMap<usize, (Fit, String, Option<Number>)>,
    numbers: HashSet<Number>,
    tokens: usize,
    /// Numbers in their order.
    row: Row,
    /// Different texts and numbers, as far as it matters how many.
    values: HashSet<String>,
}

impl<'a> ResultReader<'a> {
    pub(super) fn new(needles: &'a ValueIndex) -> Self {
        Self {
            needles,
            found: HashMap::new(),
            numbers: HashSet::new(),
            tokens: 0,
            row: Row::default(),
            values: HashSet::new(),
        }
    }

    pub(super) fn read(&mut self, value: &Json, path: &[Segment]) {
        // What the protocol says of an item is no value of the tool's.
        if let [Segment::Member(content), Segment::Item(_), Segment::Member(name)] = path
            && content == "content"
            && (name == "type" || name == "mimeType")
        {
            return;
        }
        let found = &mut self.found;
        let mut note = |needle: usize, fit: Fit, number: Option<Number>| {
            if found.get(&needle).is_none_or(|(known, ..)| *known < fit) {
                found.insert(needle, (fit, pointer_of(path), number));
            }
        };
        self.needles.of_field(path, value, &mut |needle| note(needle, Fit::Whole, None));
        match value {
            Json::String(text) | Json::LongInteger(text) => {
                let text = plain(text);
                self.tokens += tokens(&text).count();
                if self.values.len() < 2 {
                    self.values.insert(text.clone().into_owned());
                }
                if let Some(needle) = only_text(value).and_then(|text| self.needles.of_only(&text)) {
                    note(needle, Fit::Whole, None);
                }
                self.needles.in_text(&text, &mut |needle, fit| note(needle, fit, None));
                for (start, number) in numbers(&text) {
                    self.numbers.insert(number);
                    self.needles.in_row(&mut self.row, number, &mut |needle| note(needle, Fit::Whole, None));
                    self.needles
                        .of_number(number, &mut |needle, number, fit| note(needle, fit, Some(number)));
                    self.needles
                        .of_named_number(&text, start, number, &mut |needle| note(needle, Fit::Whole, None));
                }
            }
            value => {
                self.tokens += 1;
                if let Some(number) = Number::from_json(value) {
                    self.numbers.insert(number);
                    if self.values.len() < 2 {
                        self.values.insert(number.text());
                    }
                    self.needles.in_row(&mut self.row, number, &mut |needle| note(needle, Fit::Whole, None));
                    self.needles
                        .of_number(number, &mut |needle, number, fit| note(needle, fit, Some(number)));
                }
            }
        }
    }

    /// The needles that the result says something of, each with its place.
    pub(super) fn significant(self) -> Vec<(usize, String, bool)> {
        let size = ResultSize { numbers: self.numbers.len(), tokens: self.tokens };
        let is_all = self.values.len() == 1;
        let is_telling = |needle: usize, fit: Fit, number: Option<Number>| match number {
            Some(number) if fit == Fit::Whole => size.makes_telling(number),
            Some(number) => {
                size.makes_telling(number) && (number.significant_digits() >= 3 || size.is_one_value())
            }
            None if matches!(self.needles.get(needle), Some(SoughtValue::Only(_))) => is_all,
            None => match self.needles.weight(needle) {
                TextWeight::Anywhere => true,
                TextWeight::Whole => fit == Fit::Whole,
                TextWeight::Nothing => false,
            },
        };
        let found = self.found.into_iter();
        let telling = found.filter(|(needle, (fit, _, number))| is_telling(*needle, *fit, *number));
        telling.map(|(needle, (_, pointer, _))| (needle, pointer, size.is_one_value())).collect()
    }
}
