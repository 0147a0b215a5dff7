//! Pairs the values of two calls: members by their keys, items of lists by position or as sets, and texts that hold
//! JSON or lists by their content.

mod absent;
mod boxes;
mod lists;
mod members;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use m3_trajectory::json::{Json, is_same, pointer_to};

pub(super) use absent::{ONLY_ONE, ORDERS_OR_NARROWS};
use absent::{is_empty, is_nothing};
pub(crate) use lists::may_be_split;

use super::constants::{MAX_DEPTH, MAX_VALUES, NOTHING, NULL_OR_ABSENT, SAME_OTHERWISE};
use super::file_words::explain_difference;
use super::name::Name;
use super::place::cut;
use super::readers::{self, ArgumentContext};
use super::regions::{in_list, is_visual, items_in, json_in};
use super::words::Words;
use super::{ArgumentComparison, Finding, Kind, Verdict, text};
use crate::schema::Schema;

/// The state while the values of two calls are compared.
pub(super) struct Alignment<'a> {
    pub(super) words: &'a Words,
    pub(super) tool: &'a str,
    pub(super) found: Vec<ArgumentComparison>,
    /// Values compared so far.
    pub(super) values: usize,
    /// Both calls' arguments.
    arguments: (&'a Json, &'a Json),
    /// Whether either call is about a picture, computed when it is first needed.
    is_visual: OnceCell<bool>,
}

/// The location of two values that are compared, and their context.
#[derive(Clone)]
pub(super) struct ValueLocation<'a> {
    pub(super) path: String,
    pub(super) depth: usize,
    pub(super) context: ArgumentContext<'a>,
}

impl<'a> Alignment<'a> {
    /// Compares every argument of two calls, and every value within one that differs.
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

    /// Whether either call is about a picture.
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
            match (at.depth, a) {
                (0, Json::Object(members)) => {
                    for (key, value) in members {
                        self.push(&pointer_to("", key), Finding::equal(readers::kind_of(value)));
                    }
                }
                (0 | 1, _) => self.push(&at.path, Finding::equal(readers::kind_of(a))),
                _ => {}
            }
            return;
        }
        self.values += 1;
        if at.depth > MAX_DEPTH || self.values > MAX_VALUES {
            return self.push(&at.path, Finding::new(readers::kind_of_both(a, b), NOTHING, TOO_MUCH));
        }
        match (a, b) {
            (Json::Object(a), Json::Object(b)) => self.object(at, a, b),
            (Json::Array(a), Json::Array(b)) => self.list(at, a, b),
            // A call without arguments may have `null` or an empty object.
            (Json::Null, Json::Object(b)) if at.depth == 0 => self.nothing_or(at, &[], b),
            (Json::Object(a), Json::Null) if at.depth == 0 => self.nothing_or(at, a, &[]),
            (Json::Null, value) => self.absent(at, value, Presence::of_null(at), Verdict::Extra),
            (value, Json::Null) => self.absent(at, value, Presence::of_null(at), Verdict::Missing),
            _ => self.unlike(at, a, b),
        }
    }

    /// Compares the arguments of two calls of which one has none.
    fn nothing_or(&mut self, at: &ValueLocation<'_>, a: &[(String, Json)], b: &[(String, Json)]) {
        let before = self.found.len();
        self.object(at, a, b);
        if self.found.len() == before {
            self.push(&at.path, Finding::new(Kind::Null, NULL_OR_ABSENT, "no arguments in two writings"));
        }
    }

    /// Compares values that are not both objects or both lists, or that are written in another form.
    fn unlike(&mut self, at: &ValueLocation<'_>, a: &Json, b: &Json) {
        let is_blank = |value: &Json| is_empty(value) && !matches!(value, Json::Bool(_));
        let says_nothing = |value: &Json| is_nothing(value) || is_blank(value);
        if says_nothing(a) && says_nothing(b) {
            let finding = Finding::new(readers::kind_of_both(a, b), SAME_OTHERWISE, "both say nothing");
            return self.push(&at.path, finding);
        }
        // A text such as `null` is as good as absent, unless the schema lists choices: it may be one of them.
        let has_choices = at.context.schema.is_some_and(Schema::has_choices);
        let is_left_out = |value: &Json| is_blank(value) || is_nothing(value) && !has_choices;
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

    /// Compares two converted values; if these are equal, the originals differ only in their writing.
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
        // From here on, renamed members have their names in the first call.
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

    /// Reports that the rest of a list or an object is not compared.
    fn give_up(&mut self, at: &ValueLocation<'_>, kind: Kind) {
        self.push(&at.path, Finding::new(kind, NOTHING, TOO_MUCH));
    }

    /// Scores a member that only one of two objects has, under any writing of its name.
    fn one_sided(&mut self, at: &ValueLocation<'_>, key: &str, value: &Json, verdict: Verdict) {
        self.absent(&below(at, key), value, Presence::among(at, key), verdict);
    }
}

/// The members of an object. Too many to be all compared are sorted, so that the choice does not depend on their order.
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

/// The most characters of a name in a reason.
const SHOWN_NAME: usize = 40;

/// Whether a schema requires, allows or does not know a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// The schema requires the member.
    Required,
    /// The schema allows the member, or there is no schema.
    Optional,
    /// The schema lists its members, and this one is not among them.
    Unknown,
}

impl Presence {
    /// The presence of a value that is null on the other side.
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

/// Parses two values of which at least one is a text that holds JSON. `None` unless both then are lists or both
/// objects.
fn held<'v>(a: &'v Json, b: &'v Json) -> Option<(Cow<'v, Json>, Cow<'v, Json>)> {
    let open = |value: &'v Json| match value {
        Json::String(text) => json_in(text).map(Cow::Owned),
        Json::Array(_) | Json::Object(_) => Some(Cow::Borrowed(value)),
        _ => None,
    };
    let (a, b) = (open(a)?, open(b)?);
    matches!((&*a, &*b), (Json::Array(_), Json::Array(_)) | (Json::Object(_), Json::Object(_)))
        .then_some((a, b))
}
