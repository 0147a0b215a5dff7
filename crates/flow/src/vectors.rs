//! Small numbers that stand together: coordinates, colours, boxes. One of them is not significant; all of them in the
//! same order are.

use std::collections::HashMap;

use m3_trajectory::json::{Json, pointer_to};

use super::tokens::{Number, numbers};

/// The most numbers of a vector that are compared: the last ones.
pub(crate) const MAX_LENGTH: usize = 32;

/// The most vectors of one call that are looked for.
const MAX_VECTORS: usize = 1000;

/// Arguments nested deeper are not looked at.
const MAX_DEPTH: usize = 256;

/// The longest text that can be a vector, in bytes.
const MAX_TEXT: usize = 256;

/// Numbers that stand together in arguments.
pub(crate) struct Vector {
    /// The numbers, in their order.
    pub(crate) numbers: Vec<Number>,
    /// The place of the numbers: a JSON pointer to the list, the object or the text.
    pub(crate) pointer: String,
    /// The numbers as written in the arguments.
    pub(crate) shown: String,
}

/// The vectors of arguments: lists of numbers, the numbers of one object, texts such as `12,250,33`.
pub(crate) fn vectors(arguments: Option<&Json>) -> Vec<Vector> {
    let mut vectors = Vec::new();
    if let Some(arguments) = arguments {
        collect(arguments, "", 0, &mut vectors);
    }
    vectors
}

fn collect(value: &Json, pointer: &str, depth: usize, out: &mut Vec<Vector>) {
    if depth > MAX_DEPTH || out.len() >= MAX_VECTORS {
        return;
    }
    match value {
        Json::Array(items) => {
            keep(items.iter().map_while(Number::from_json), pointer, out);
            for (index, item) in items.iter().enumerate().filter(|(_, item)| holds_more(item)) {
                collect(item, &pointer_to(pointer, index), depth + 1, out);
            }
        }
        Json::Object(members) => {
            keep(members.iter().filter_map(|(_, item)| Number::from_json(item)), pointer, out);
            for (name, item) in members.iter().filter(|(_, item)| holds_more(item)) {
                collect(item, &pointer_to(pointer, name), depth + 1, out);
            }
        }
        Json::String(text) if text.len() <= MAX_TEXT => {
            keep(numbers(text).map(|(_, number)| number), pointer, out);
        }
        _ => {}
    }
}

fn holds_more(value: &Json) -> bool {
    matches!(value, Json::Array(_) | Json::Object(_) | Json::String(_))
}

fn keep(numbers: impl Iterator<Item = Number>, pointer: &str, out: &mut Vec<Vector>) {
    let mut numbers: Vec<Number> = numbers.take(1000).collect();
    if !is_significant(&numbers) {
        return;
    }
    let shown: Vec<String> = numbers.iter().map(|number| number.text()).collect();
    let shown = m3_support::text::shortened(&shown.join(", "), 80);
    numbers.drain(..numbers.len().saturating_sub(MAX_LENGTH));
    out.push(Vector { numbers, pointer: pointer.to_owned(), shown });
}

/// Whether the numbers hardly occur together by chance: at least two of them differ and have two digits or more. Round
/// numbers and counts (1, 2, 3 ..) do occur by chance.
fn is_significant(numbers: &[Number]) -> bool {
    let digits = |number: &Number| number.significant_digits();
    let mut long: Vec<&Number> = numbers.iter().filter(|number| digits(number) >= 2).collect();
    long.dedup();
    let is_counting = numbers.windows(2).all(|pair| match pair {
        [Number::Whole(a), Number::Whole(b)] => a.checked_add(1) == Some(*b),
        _ => false,
    });
    long.len() >= 2 && !is_counting && numbers.iter().map(digits).sum::<usize>() >= 4
}

/// Vectors that are looked for, by the numbers that may be their last.
#[derive(Debug, Default)]
pub(crate) struct KnownVectors {
    by_last: HashMap<Number, Vec<(usize, Vec<Number>)>>,
    count: usize,
}

/// The most vectors that are looked for, and the most of them with the same last number.
const MAX_KNOWN: (usize, usize) = (10_000, 64);

impl KnownVectors {
    /// Adds a vector; false if there is no room for it.
    pub(crate) fn add(&mut self, sought: usize, numbers: &[Number]) -> bool {
        let last =
            if is_free(numbers) { sorted(numbers) } else { numbers.iter().rev().take(1).copied().collect() };
        if self.count >= MAX_KNOWN.0 {
            return false;
        }
        self.count += 1;
        let mut is_kept = false;
        let kept = if is_free(numbers) { last.clone() } else { numbers.to_vec() };
        for number in last.chunk_by(|a, b| a == b).filter_map(|same| same.first()) {
            let known = self.by_last.entry(*number).or_default();
            if known.len() < MAX_KNOWN.1 {
                known.push((sought, kept.clone()));
                is_kept = true;
            }
        }
        is_kept
    }
}

/// Whether the numbers may be found in any order: true for three or four, because the members of an object have no
/// order.
fn is_free(numbers: &[Number]) -> bool {
    (3..=4).contains(&numbers.len())
}

fn sorted(numbers: &[Number]) -> Vec<Number> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers
}

/// The last numbers of a result while it is being read.
#[derive(Default)]
pub(crate) struct Row {
    last: Vec<Number>,
}

impl Row {
    /// Adds the next number, and calls back for the vectors that it completes.
    pub(crate) fn push(&mut self, number: Number, known: &KnownVectors, on_match: &mut dyn FnMut(usize)) {
        if known.count == 0 {
            return;
        }
        self.last.push(number);
        if self.last.len() >= 8 * MAX_LENGTH {
            self.last.drain(..7 * MAX_LENGTH);
        }
        for (sought, numbers) in known.by_last.get(&number).into_iter().flatten() {
            let start = self.last.len().saturating_sub(numbers.len());
            let is_same = if is_free(numbers) {
                sorted(&self.last[start..]) == *numbers
            } else {
                self.last[start..] == **numbers
            };
            if is_same {
                on_match(*sought);
            }
        }
    }
}
