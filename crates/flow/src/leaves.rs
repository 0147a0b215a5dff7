//! The single values of arguments and results, each with its name and place. Text that is JSON is read as such.

use std::borrow::Cow;

use m3_trajectory::json::{Json, parse, pointer_to};

/// A value that holds no others.
#[derive(Debug, Clone)]
pub(crate) struct Leaf<'a> {
    /// The value.
    pub(crate) value: &'a Json,
    /// The key of the nearest object member around the leaf; empty if there is none.
    pub(crate) name: Cow<'a, str>,
    /// The key of the object member around the nearest one, if there is one.
    pub(crate) parent: Option<Cow<'a, str>>,
    /// The JSON pointer of the leaf.
    pub(crate) pointer: String,
    /// The innermost list that contains the leaf, if the list has several items.
    pub(crate) list: Option<&'a Json>,
}

/// The most values in the arguments of one call that are looked at.
const MAX_ARGUMENT_LEAVES: usize = 20_000;

/// Values nested deeper are not looked at; files nest no deeper than 200.
const MAX_DEPTH: usize = 256;

/// The single values of arguments, in their order.
pub(crate) fn argument_leaves(arguments: Option<&Json>) -> Vec<Leaf<'_>> {
    let mut leaves = Vec::new();
    if let Some(arguments) = arguments {
        let top = Leaf {
            value: arguments,
            name: Cow::Borrowed(""),
            parent: None,
            pointer: String::new(),
            list: None,
        };
        collect(top, 0, &mut leaves);
    }
    leaves
}

fn collect<'a>(at: Leaf<'a>, depth: usize, leaves: &mut Vec<Leaf<'a>>) {
    if depth > MAX_DEPTH || leaves.len() >= MAX_ARGUMENT_LEAVES {
        return;
    }
    match at.value {
        Json::Array(items) => {
            let list = (items.len() > 1).then_some(at.value);
            for (index, value) in items.iter().enumerate() {
                let pointer = pointer_to(&at.pointer, index);
                let leaf = Leaf { value, name: at.name.clone(), parent: at.parent.clone(), pointer, list };
                collect(leaf, depth + 1, leaves);
            }
        }
        Json::Object(members) => {
            for (name, value) in members {
                let parent = (!at.name.is_empty()).then(|| at.name.clone());
                let pointer = pointer_to(&at.pointer, name);
                let leaf = Leaf { value, name: Cow::Borrowed(name), parent, pointer, list: at.list };
                collect(leaf, depth + 1, leaves);
            }
        }
        _ => leaves.push(at),
    }
}

/// A part of the path during a walk through a result; the path is put together only when a value is found there.
#[derive(Debug, Clone)]
pub(crate) enum Segment {
    /// A member of an object.
    Member(String),
    /// An item of a list.
    Item(usize),
}

/// The place as a JSON pointer.
pub(crate) fn pointer_of(path: &[Segment]) -> String {
    path.iter().fold(String::new(), |pointer, segment| match segment {
        Segment::Member(name) => pointer_to(&pointer, name),
        Segment::Item(index) => pointer_to(&pointer, index),
    })
}

/// The names of the nearest member and the one around it.
pub(crate) fn names_of(path: &[Segment]) -> (Option<&str>, Option<&str>) {
    let mut names = path.iter().rev().filter_map(|segment| match segment {
        Segment::Member(name) => Some(name.as_str()),
        Segment::Item(_) => None,
    });
    (names.next(), names.next())
}

/// Calls back for every single value of a result, in order. Strings that are JSON objects or lists are walked through,
/// at most `MAX_TEXTS_IN_TEXTS` deep. At most `budget` bytes of text are visited in all.
pub(crate) fn walk_result(result: &Json, budget: &mut usize, visit: &mut dyn FnMut(&Json, &[Segment])) {
    let mut path = Vec::new();
    walk(result, 0, 0, &mut path, budget, visit);
}

/// How deep JSON texts within JSON texts are read.
const MAX_TEXTS_IN_TEXTS: usize = 2;

fn walk(
    value: &Json,
    depth: usize,
    texts: usize,
    path: &mut Vec<Segment>,
    budget: &mut usize,
    visit: &mut dyn FnMut(&Json, &[Segment]),
) {
    if depth > MAX_DEPTH || *budget == 0 {
        return;
    }
    match value {
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Segment::Item(index));
                walk(item, depth + 1, texts, path, budget, visit);
                path.pop();
            }
        }
        Json::Object(members) => {
            for (name, item) in members {
                path.push(Segment::Member(name.clone()));
                walk(item, depth + 1, texts, path, budget, visit);
                path.pop();
            }
        }
        Json::String(text) => {
            if let Some(inner) = (texts < MAX_TEXTS_IN_TEXTS).then(|| json_text(text)).flatten() {
                walk(&inner, depth + 1, texts + 1, path, budget, visit);
            } else {
                let length = text.len().max(8);
                if length <= *budget {
                    visit(value, path);
                }
                *budget = budget.saturating_sub(length);
            }
        }
        _ => {
            *budget = budget.saturating_sub(8);
            visit(value, path);
        }
    }
}

/// The object or list that a text contains as JSON.
fn json_text(text: &str) -> Option<Json> {
    let text = text.trim();
    let is_likely =
        (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'));
    is_likely.then(|| parse(text.as_bytes()).ok()).flatten().map(|(value, _)| value)
}
