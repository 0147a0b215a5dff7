//! Calls in a member of a record or in a cell of a table: objects, JSON in a text, calls in the syntax of Python, or names.

use crate::call_shapes::{ARGUMENTS, CallShape, call, pick, shape_of_member};
use crate::formats::prelude::*;
use crate::formats::training::calls_in_text;
use crate::literal::literal;

/// What separates names in a text.
const BETWEEN: [char; 6] = [';', ',', '|', '\n', '→', '>'];

/// Texts for no calls.
const NOTHING: [&str; 8] = ["", "-", "[]", "n/a", "na", "nan", "none", "null"];

/// Members of an item that hold the calls that are made together.
const TOGETHER: [&str; 3] = ["actions", "calls", "tools"];

/// The most words and the most bytes of a tool's name; anything longer is prose.
const WORDS: usize = 3;
const LONGEST: usize = 200;

/// The calls of a value.
#[derive(Debug, Default)]
pub(super) struct CallsReading {
    /// The calls of each step.
    pub(super) steps: Vec<Vec<TracedCall>>,
    /// The number of items that could not be read as calls.
    pub(super) unread: u64,
    /// Whether the value says which calls are made together.
    pub(super) has_steps: bool,
    /// Whether a call without arguments has further members, as steps in prose have.
    has_prose: bool,
}

impl CallsReading {
    /// Reads the calls of a member or a cell.
    pub(super) fn new(value: &Json) -> Self {
        let mut reading = Self::default();
        match value {
            Json::Null => {}
            Json::String(text) => reading.text(text.trim()),
            other => reading.value(other),
        }
        reading
    }

    /// Whether there are calls, and nothing else: for members whose names do not say that they hold calls.
    pub(super) fn are_whole(&self) -> bool {
        let is_call =
            |call: &TracedCall| call.arguments.is_some() || !call.tool.contains(char::is_whitespace);
        !self.steps.is_empty()
            && self.unread == 0
            && !self.has_prose
            && self.steps.iter().flatten().all(is_call)
    }

    fn text(&mut self, text: &str) {
        if NOTHING.contains(&&*text.to_ascii_lowercase()) {
            return;
        }
        if text.starts_with(['[', '{']) {
            let json = parse(text.as_bytes()).ok().map(|(value, _)| value);
            if let Some(value) = json.or_else(|| literal(text)) {
                return self.value(&value);
            }
        }
        if text.contains('(') {
            match calls_in_text(text) {
                Some(calls) => self.steps.extend(calls.into_iter().map(|call| vec![call])),
                None => self.unread += 1,
            }
            return;
        }
        let names = text.split(BETWEEN).map(|name| name.trim().trim_end_matches('-').trim());
        for name in names.filter(|name| !name.is_empty()) {
            self.name(name);
        }
    }

    fn value(&mut self, value: &Json) {
        match value {
            Json::Array(items) => items.iter().for_each(|item| self.item(item)),
            one => {
                // An object whose members are objects may hold anything.
                self.has_prose |= call(one).is_none() && together(one).is_none();
                self.item(one);
            }
        }
    }

    /// One item of a list: a call, a name, or the calls that are made together.
    fn item(&mut self, item: &Json) {
        match item {
            Json::String(text) if text.contains('(') || text.trim_start().starts_with(['{', '[']) => {
                self.text(text.trim());
            }
            Json::String(text) => self.name(text.trim()),
            Json::Array(items) => self.together(items),
            Json::Object(_) => match together(item).filter(|_| call(item).is_none()) {
                Some(items) => self.together(items),
                None => self.object(item),
            },
            _ => self.unread += 1,
        }
    }

    /// A call, or arguments by the names of tools: `{"search": {"q": 1}}`.
    fn object(&mut self, item: &Json) {
        if let Some(mut call) = call(item) {
            // Arguments that are broken may be a literal of Python.
            if let Some(Json::String(text)) = &call.arguments {
                call.arguments = literal(text).filter(|it| matches!(it, Json::Object(_))).or(call.arguments);
            }
            self.has_prose |= call.arguments.is_none() && members(item).len() > 2;
            return self.add(call);
        }
        let is_call = |(name, inner): &(String, Json)| is_name(name) && matches!(inner, Json::Object(_));
        let all = members(item);
        if all.is_empty() || !all.iter().all(is_call) || pick(item, ARGUMENTS).is_some() {
            self.unread += 1;
            return;
        }
        for (name, inner) in all {
            let arguments = arguments(Some(inner));
            self.add(TracedCall::new(None, tool(None, name), arguments));
        }
    }

    fn add(&mut self, call: TracedCall) {
        if is_name(&call.tool) {
            self.steps.push(vec![call]);
        } else {
            self.unread += 1;
        }
    }

    fn name(&mut self, name: &str) {
        // Numbers of calls and flags are no names.
        if name.parse::<f64>().is_ok()
            || matches!(&*name.to_ascii_lowercase(), "true" | "false" | "yes" | "no")
        {
            self.unread += 1;
            return;
        }
        self.add(TracedCall::new(None, tool(None, name), None));
    }

    /// Reads the items of a step.
    fn together(&mut self, items: &[Json]) {
        let mut inner = Self::default();
        for item in items {
            match item {
                // Deeper lists have no meaning, and may be nested without end.
                Json::Array(_) => inner.unread += 1,
                item => match item {
                    Json::Object(_) => inner.object(item),
                    item => inner.item(item),
                },
            }
        }
        self.unread += inner.unread;
        self.has_prose |= inner.has_prose;
        self.has_steps = true;
        let calls: Vec<TracedCall> = inner.steps.into_iter().flatten().collect();
        if !calls.is_empty() {
            self.steps.push(calls);
        }
    }
}

/// The list of calls in an item, if it names no tool itself.
fn together(item: &Json) -> Option<&[Json]> {
    let is_held = |key: &str| TOGETHER.contains(&key) || shape_of_member(key) == Some(CallShape::Call);
    members(item).iter().find_map(|(key, inner)| match inner {
        Json::Array(items) if is_held(key) => Some(items.as_slice()),
        _ => None,
    })
}

/// Whether a text is the name of a tool and not prose.
fn is_name(text: &str) -> bool {
    let is_sign = |sign: char| "\"'`{}[]()?!,;=".contains(sign) || sign.is_control();
    !text.is_empty()
        && text.len() <= LONGEST
        && text.split_whitespace().count() <= WORDS
        && !text.contains(is_sign)
        && !text.ends_with(['.', ':'])
}
