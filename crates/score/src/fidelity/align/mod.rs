//! Who is compared with whom: members by their keys, items of lists by their place or as sets, texts that hold JSON or
//! lists as what they hold.

mod absent;
mod boxes;
mod lists;
mod members;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use m3_trajectory::json::{Json, is_same, parse, pointer_to};

pub(super) use absent::{ONLY_ONE, ORDERS_OR_NARROWS};
use absent::{is_empty, is_nothing};
pub(crate) use lists::may_be_split;

use super::constants::{MAX_DEPTH, MAX_TEXT, MAX_VALUES, NOTHING, NULL_OR_ABSENT, SAME_OTHERWISE};
use super::file_words::explain_difference;
use super::name::Name;
use super::place::cut;
use super::readers::{self, ArgumentContext};
use super::regions::{in_list, is_visual, items_in};
use super::words::Words;
use super::{ArgumentComparison, Finding, Kind, Verdict, text};
use crate::schema::Schema;

/// Two calls on their way through their values.
pub(super) struct Alignment<'a> {
    pub(super) words: &'a Words,
    pub(super) tool: &'a str,
    pub(super) found: Vec<ArgumentComparison>,
    /// Values compared so far.
    pub(super) values: usize,
    /// Both calls' arguments.
    arguments: (&'a Json, &'a Json),
    /// Whether a call is about a picture, once that is asked for.
    is_visual: OnceCell<bool>,
}

/// Two values that are compared, and where they are.
#[derive(Clone)]
pub(super) struct ValueLocation<'a> {
    pub(super) path: String,
    pub(super) depth: usize,
    pub(super) context: ArgumentContext<'a>,
}

impl<'a> Alignment<'a> {
    /// Every argument of two calls, and every value within one that differs.
    pub(super) fn compare(
        schema: Option<Schema<'a>>,
        words: &'a Words,
        tool: &'a str,
        a: &'a Json,
        b: &'a Json,
    ) -> Vec<ArgumentComparison> {
        let (found, is_visual) = (Vec::new(), OnceCell::new());
        let mut alignment = Self { words, tool, found, values: 0, arguments: (a, b), is_visual };
        let context = ArgumentContext { schema, ..ArgumentContext::default() };
        alignment.value(&ValueLocation { path: String::new(), depth: 0, context }, a, b);
        alignment.found
    }

    /// Whether a call is about a picture.
    pub(super) fn is_visual(&self) -> bool {
        let (a, b) = self.arguments;
        *self.is_visual.get_or_init(|| is_visual(self.tool, a) || is_visual(self.tool, b))
    }

    pub(super) fn push(&mut self, path: &str, finding: Finding) {
        self.found.push(finding.at(path));
    }

    /// Compares two values.
    pub(super) fn value(&mut self, at: &ValueLocation<'_>, a: &Json, b: &Json) {
        if is_same(a, b) {
            if at.depth == 1 || (at.depth == 0 && !matches!(a, Json::Object(_))) {
                self.push(&at.path, Finding::equal(readers::kind_of(a)));
            } else if at.depth == 0
                && let Json::Object(members) = a
            {
                for (key, value) in members {
                    self.push(&pointer_to("", key), Finding::equal(readers::kind_of(value)));
                }
            }
            return;
        }
        self.values += 1;
        if at.depth > MAX_DEPTH || self.values > MAX_VALUES {
            return self.push(&at.path, Finding::new(readers::kind_of_both(a, b), NOTHING, TOO_MUCH));
        }
        let none = Json::Object(Vec::new());
        match (a, b) {
            (Json::Object(a), Json::Object(b)) => self.object(at, a, b),
            (Json::Array(a), Json::Array(b)) => self.list(at, a, b),
            // No arguments are written in two ways.
            (Json::Null, Json::Object(_)) if at.depth == 0 => self.nothing_or(at, &none, b),
            (Json::Object(_), Json::Null) if at.depth == 0 => self.nothing_or(at, a, &none),
            (Json::Null, value) => self.absent(at, value, Presence::of_null(at), Verdict::Extra),
            (value, Json::Null) => self.absent(at, value, Presence::of_null(at), Verdict::Missing),
            _ => self.unlike(at, a, b),
        }
    }

    fn nothing_or(&mut self, at: &ValueLocation<'_>, a: &Json, b: &Json) {
        let before = self.found.len();
        if let (Json::Object(a), Json::Object(b)) = (a, b) {
            self.object(at, a, b);
        }
        if self.found.len() == before {
            self.push(&at.path, Finding::new(Kind::Null, NULL_OR_ABSENT, "no arguments in two writings"));
        }
    }

    /// Values that are not both objects or both lists, or not written so.
    fn unlike(&mut self, at: &ValueLocation<'_>, a: &Json, b: &Json) {
        let says_nothing =
            |value: &Json| is_nothing(value) || is_empty(value) && !matches!(value, Json::Bool(_));
        if says_nothing(a) && says_nothing(b) {
            let finding = Finding::new(readers::kind_of_both(a, b), SAME_OTHERWISE, "both say nothing");
            return self.push(&at.path, finding);
        }
        // Nothing written out is as good as absent, but among choices it may be one.
        let has_choices = at.context.schema.is_some_and(Schema::has_choices);
        let is_left_out = |value: &Json| {
            is_empty(value) && !matches!(value, Json::Bool(_)) || is_nothing(value) && !has_choices
        };
        if is_left_out(a) != is_left_out(b) {
            let (value, verdict) = if is_left_out(a) { (b, Verdict::Extra) } else { (a, Verdict::Missing) };
            return self.absent(at, value, Presence::of_null(at), verdict);
        }
        if let Some((a, b)) = held(a, b) {
            return self.rewritten(at, &a, &b, "the same as JSON in a text");
        }
        let regions = || {
            let list = |value: &Json| {
                in_list(value, &at.context.name, at.context.schema, &|| self.is_visual())?;
                items_in(value.as_str()?).map(Json::Array)
            };
            list(a).zip(list(b))
        };
        if let Some((a, b)) = regions() {
            return self.rewritten(at, &a, &b, "the same numbers in another writing");
        }
        match (a, b) {
            (Json::Array(items), other) | (other, Json::Array(items)) => {
                let is_first = matches!(a, Json::Array(_));
                let parts = lists::parts(items, other);
                let (list, parts) = (Json::Array(items.clone()), Json::Array(parts));
                let (a, b) = if is_first { (&list, &parts) } else { (&parts, &list) };
                self.rewritten(at, a, b, "a list in another writing");
            }
            _ => {
                let finding = compare(&at.context, self.words, a, b);
                self.push(&at.path, finding);
            }
        }
    }

    /// Compares what two values were made into; what is equal then was the same in another writing.
    fn rewritten(
        &mut self,
        at: &ValueLocation<'_>,
        a: &Json,
        b: &Json,
        reason: impl Into<Cow<'static, str>>,
    ) {
        let before = self.found.len();
        self.value(&ValueLocation { depth: at.depth.max(1) + 1, ..at.clone() }, a, b);
        if self.found.len() == before {
            self.push(&at.path, Finding::new(readers::kind_of_both(a, b), SAME_OTHERWISE, reason));
        }
    }

    fn object(&mut self, at: &ValueLocation<'_>, a: &[(String, Json)], b: &[(String, Json)]) {
        let (is_call, schema) = (at.depth == 0, at.context.schema);
        let in_a: HashMap<&str, &Json> = a.iter().map(|(key, value)| (key.as_str(), value)).collect();
        let mut in_b: HashMap<&str, &Json> = b.iter().map(|(key, value)| (key.as_str(), value)).collect();
        let renamed = members::renamed(&in_a, &in_b, schema, is_call);
        // From here on they have the names of the first call.
        for (theirs, own) in &renamed {
            if let Some(value) = in_b.remove(theirs) {
                in_b.insert(own, value);
            }
        }
        let theirs: HashMap<&str, &str> = renamed.into_iter().map(|(theirs, own)| (own, theirs)).collect();
        let tool = Name::of_text(self.tool.rsplit('/').next().unwrap_or_default());
        let name = if is_call { &tool } else { &at.context.name };
        let spans = boxes::of_objects(name, a, b, &|| self.is_visual(), at.context.span);
        for (key, value) in in_order(a) {
            if self.values > MAX_VALUES {
                return self.give_up(at, Kind::Object);
            }
            let there = theirs.get(key.as_str()).copied();
            let name = there.map_or(key.as_str(), |there| members::telling(key, there, schema));
            let mut below = ValueLocation { path: pointer_to(&at.path, key), ..below(at, name) };
            below.context.span = spans.get(key.as_str()).copied().unwrap_or_default();
            let before = self.found.len();
            match (in_b.get(key.as_str()), there) {
                (Some(other), Some(there)) => {
                    let reason = format!("the same under the name `{}`", cut(there, SHOWN_NAME));
                    self.rewritten(&below, value, other, reason);
                }
                (Some(other), None) => self.value(&below, value, other),
                (None, _) => self.one_sided(at, key, value, Verdict::Missing),
            }
            if let Some(there) = there {
                let to = pointer_to(&at.path, there);
                self.found[before..].iter_mut().for_each(|argument| argument.moved(&below.path, &to));
            }
        }
        for (key, value) in in_order(b) {
            if self.values > MAX_VALUES {
                return self.give_up(at, Kind::Object);
            }
            if in_b.contains_key(key.as_str()) && !in_a.contains_key(key.as_str()) {
                self.one_sided(at, key, value, Verdict::Extra);
            }
        }
    }

    /// Says that the rest of a list or an object is not looked at.
    fn give_up(&mut self, at: &ValueLocation<'_>, kind: Kind) {
        self.push(&at.path, Finding::new(kind, NOTHING, TOO_MUCH));
    }

    /// A member that only one of two objects has, whatever its writing.
    fn one_sided(&mut self, at: &ValueLocation<'_>, key: &str, value: &Json, verdict: Verdict) {
        self.absent(&below(at, key), value, Presence::among(at, key), verdict);
    }
}

/// The members of an object. Of so many that not all may be looked at, those that are must not depend on their order.
fn in_order(members: &[(String, Json)]) -> Vec<&(String, Json)> {
    let mut members: Vec<&(String, Json)> = members.iter().collect();
    if members.len() > MAX_VALUES {
        members.sort_by(|x, y| x.0.cmp(&y.0));
    }
    members
}

/// Compares two single values: by the readers, else as free text.
fn compare(context: &ArgumentContext<'_>, words: &Words, a: &Json, b: &Json) -> Finding {
    if let Some(difference) = explain_difference(a.as_str(), b.as_str()) {
        let kind = if difference.starts_with("writes") { Kind::Written } else { Kind::Made };
        return Finding::new(kind, NOTHING, difference);
    }
    let texts = || readers::written(a).zip(readers::written(b));
    readers::read(context, a, b).unwrap_or_else(|| match texts() {
        Some((a, b)) => text::compare(words, &a, &b, context.name.named()),
        None => Finding::new(readers::kind_of_both(a, b), NOTHING, "values of different types"),
    })
}

/// The reason where values are too many, or too deep, to be compared.
pub(super) const TOO_MUCH: &str = "different, and too much to compare";

/// Names in reasons are cut to so many characters.
const SHOWN_NAME: usize = 40;

/// What the schema says of a member's being there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// It must be.
    Required,
    /// It may be.
    Optional,
    /// The schema lists others.
    Unknown,
}

impl Presence {
    /// Of a value that stands as null on the other side.
    fn of_null(at: &ValueLocation<'_>) -> Self {
        if at.context.is_required { Self::Required } else { Self::Optional }
    }

    fn among(at: &ValueLocation<'_>, key: &str) -> Self {
        let Some(schema) = at.context.schema else { return Self::Optional };
        if schema.required().contains(&key) {
            Self::Required
        } else if schema.lists_members() && schema.property(key).is_none() {
            Self::Unknown
        } else {
            Self::Optional
        }
    }
}

fn below<'a>(at: &ValueLocation<'a>, key: &str) -> ValueLocation<'a> {
    let parent = at.context.schema;
    let context = ArgumentContext {
        schema: parent.and_then(|schema| schema.property(key)),
        is_required: parent.is_some_and(|schema| schema.required().contains(&key)),
        name: Name::new(key),
        ..ArgumentContext::default()
    };
    ValueLocation { path: pointer_to(&at.path, key), depth: at.depth + 1, context }
}

/// Two values where one or both are texts that hold JSON, as what they hold.
fn held<'v>(a: &'v Json, b: &'v Json) -> Option<(Cow<'v, Json>, Cow<'v, Json>)> {
    let open = |value: &'v Json| match value {
        Json::String(text) => holding(text).map(Cow::Owned),
        Json::Array(_) | Json::Object(_) => Some(Cow::Borrowed(value)),
        _ => None,
    };
    let (a, b) = (open(a)?, open(b)?);
    matches!((&*a, &*b), (Json::Array(_), Json::Array(_)) | (Json::Object(_), Json::Object(_)))
        .then_some((a, b))
}

fn holding(text: &str) -> Option<Json> {
    let text = text.trim();
    let looks_so =
        (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'));
    if !looks_so || text.len() > MAX_TEXT {
        return None;
    }
    parse(text.as_bytes()).ok().map(|(value, _)| value)
}
