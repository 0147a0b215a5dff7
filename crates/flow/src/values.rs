//! Values other than files that a trajectory makes, and where its calls use them: ids that results return, names that
//! calls give to what they create.

use std::collections::HashMap;

use m3_trajectory::json::{Json, Keys, parse};

use super::asked_names::AskedNames;
use super::leaves::{Leaf, argument_leaves, walk_result};
use super::names::{gives_name, is_amount};
use super::paths::is_file_path;
use super::tools::{creates_by_name, without_server};
use super::uses::find_uses;
use super::{Chain, ChainCall};

/// The most uses that are followed.
const MOST: usize = 500;

/// The most bytes of a result that are searched for a value.
const MAX_SEARCHED: usize = 1 << 20;

/// The longest name that a call can give, in bytes.
const LONGEST_NAME: usize = 64;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The result of a call: a JSON pointer, which leads into texts that are JSON.
    Result(String),
    /// A name that a call gives in its arguments: a JSON pointer.
    Name(String),
}

/// A value that one call makes and another one uses.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueUse {
    /// The call that makes the value, by its index.
    pub from: usize,
    /// The call that uses the value, by its index; for a name also the call that gives it.
    pub to: usize,
    /// Where the value comes from.
    pub origin: Origin,
    /// The value.
    pub value: Json,
    /// The place of the value in the arguments of `to`: a JSON pointer.
    pub pointer: String,
}

/// The uses of values that other calls return or name, files aside.
#[must_use]
pub fn value_uses(chain: &Chain, asked: &AskedNames) -> Vec<ValueUse> {
    let mut uses = Vec::new();
    for used in find_uses(chain).found.into_iter().take(MOST) {
        // A use of a file is not recognized by its value alone.
        if used.in_result.starts_with("arguments") {
            continue;
        }
        let origin = Origin::Result(used.in_result);
        let Some(value) = chain.calls.get(used.from).and_then(|call| value_at(call, &origin)) else {
            continue;
        };
        // If only words of a longer text are used, their counterparts in another call are not known.
        let argument =
            chain.calls.get(used.to).and_then(|call| call.arguments.as_ref()?.pointer(&used.in_arguments));
        let has_whole = || argument.is_some_and(|argument| plain(argument).contains(&*plain(&value)));
        let is_words = value.as_str().is_some_and(|text| text.trim().parse::<f64>().is_err());
        if is_words && !has_whole() {
            continue;
        }
        uses.push(ValueUse { from: used.from, to: used.to, origin, value, pointer: used.in_arguments });
    }
    uses.extend(given_names(chain, asked));
    uses
}

/// The value at an origin in a call; `None` for a list, an object or null.
fn value_at(call: &ChainCall, origin: &Origin) -> Option<Json> {
    let value = match origin {
        Origin::Result(pointer) => at(call.result.as_ref()?, pointer, 0)?,
        Origin::Name(pointer) => call.arguments.as_ref()?.pointer(pointer)?.clone(),
    };
    (!matches!(value, Json::Array(_) | Json::Object(_) | Json::Null)).then_some(value)
}

/// The members beside a name that a call gives to one of several things, as a text; `None` if the call names only one
/// thing, or nothing.
#[must_use]
pub fn thing_named(call: &ChainCall, origin: &Origin) -> Option<String> {
    let Origin::Name(pointer) = origin else { return None };
    thing_around(call.arguments.as_ref()?, pointer)
}

/// The value in another call that corresponds to the value at an origin. For a `thing`, as [`thing_named`] gives it,
/// this is the name of the only thing in that call with the same other members. Else it is the value at the same place,
/// if that call does not have the value itself.
#[must_use]
pub fn counterpart(thing: Option<&str>, origin: &Origin, value: &Json, other: &ChainCall) -> Option<Json> {
    if let Some(thing) = thing {
        let arguments = other.arguments.as_ref()?;
        let leaves = argument_leaves(Some(arguments));
        let same = leaves.iter().filter(|leaf| gives_name(&leaf.name));
        let mut same = same.filter(|leaf| thing_around(arguments, &leaf.pointer).as_deref() == Some(thing));
        if let Some(leaf) = same.next()
            && same.next().is_none()
        {
            return Some(leaf.value.clone());
        }
    }
    (!has_value(other, origin, value)).then(|| value_at(other, origin)).flatten()
}

/// The object that a name stands in, without the name and without names of files; `None` for the arguments as a whole.
fn thing_around(arguments: &Json, pointer: &str) -> Option<String> {
    let (parent, key) = pointer.rsplit_once('/').filter(|(parent, _)| !parent.is_empty())?;
    thing_without(arguments, parent, key)
}

/// The object at a pointer, without one of its members and without names of files.
fn thing_without(arguments: &Json, parent: &str, key: &str) -> Option<String> {
    let Json::Object(members) = arguments.pointer(parent)? else { return None };
    let mut texts = Vec::new();
    for (name, value) in members.iter().filter(|(name, _)| name != key) {
        for leaf in argument_leaves(Some(value)) {
            let text = plain(leaf.value);
            texts.push(format!(
                "{name}{}: {}",
                leaf.pointer,
                if is_file_path(&text) { "(a file)" } else { &text }
            ));
        }
    }
    texts.sort();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Whether a call has a value anywhere: in its result or in its arguments, wherever the origin is.
fn has_value(call: &ChainCall, origin: &Origin, value: &Json) -> bool {
    let wanted = plain(value);
    match origin {
        Origin::Result(_) => {
            let (mut budget, mut is_found) = (MAX_SEARCHED, false);
            if let Some(result) = &call.result {
                walk_result(result, &mut budget, &mut |leaf, _| is_found |= plain(leaf) == wanted);
            }
            is_found
        }
        Origin::Name(_) => {
            argument_leaves(call.arguments.as_ref()).iter().any(|leaf| plain(leaf.value) == wanted)
        }
    }
}

/// A single value as a text.
#[must_use]
pub fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_text(Keys::AsRead), |text| text.trim().to_owned())
}

/// The value that a pointer leads to, through texts that are JSON.
fn at(value: &Json, pointer: &str, texts: usize) -> Option<Json> {
    if pointer.is_empty() {
        return Some(value.clone());
    }
    if let Json::String(text) = value {
        let (inner, _) = (texts < 3).then(|| parse(text.trim().as_bytes()).ok())??;
        return at(&inner, pointer, texts + 1);
    }
    let end = pointer.strip_prefix('/')?.find('/').map_or(pointer.len(), |end| end + 1);
    at(value.pointer(&pointer[..end])?, &pointer[end..], texts)
}

/// Names that calls give to things that they create and that other calls use, except names that the task asks for.
#[must_use]
pub fn given_names(chain: &Chain, asked: &AskedNames) -> Vec<ValueUse> {
    let leaves: Vec<Vec<Leaf<'_>>> =
        chain.calls.iter().map(|call| argument_leaves(call.arguments.as_ref())).collect();
    let mut makers: HashMap<&str, (usize, &str)> = HashMap::new();
    for (call, leaves) in leaves.iter().enumerate() {
        let tool = without_server(&chain.calls[call].tool);
        if !creates_by_name(tool) {
            continue;
        }
        for leaf in leaves.iter().filter(|leaf| gives_name(&leaf.name)) {
            if let Some(name) = leaf.value.as_str().filter(|text| is_identifier(text)) {
                makers.entry(name).or_insert((call, &leaf.pointer));
            }
        }
    }
    let mut all: Vec<ValueUse> = Vec::new();
    let mut made: HashMap<&str, Vec<ValueUse>> = HashMap::new();
    for (to, leaf) in
        leaves.iter().enumerate().flat_map(|(to, leaves)| leaves.iter().map(move |leaf| (to, leaf)))
    {
        let Some(name) = leaf.value.as_str() else { continue };
        let Some((&name, &(from, pointer))) = makers.get_key_value(name) else { continue };
        // A name such as `1` may be a page.
        if name.chars().count() == 1 && is_amount(&leaf.name) {
            continue;
        }
        let uses = made.entry(name).or_default();
        if uses.len() < MOST {
            let origin = Origin::Name(pointer.to_owned());
            uses.push(ValueUse {
                from,
                to,
                origin,
                value: leaf.value.clone(),
                pointer: leaf.pointer.clone(),
            });
        }
    }
    // A name that no other call uses is content.
    let is_used = |uses: &[ValueUse]| uses.iter().any(|used| used.to != used.from);
    let chosen = made.into_iter().filter(|(name, uses)| is_used(uses) && !asked.name(name));
    all.extend(chosen.flat_map(|(_, uses)| uses));
    all.sort_by(|a, b| (a.to, &a.pointer).cmp(&(b.to, &b.pointer)));
    all.truncate(MOST);
    all
}

/// The names that calls give, each with its number: by step, then by the other arguments beside the name, so that the
/// order within a step or a list means nothing.
#[must_use]
pub fn numbered_names(chain: &Chain, asked: &AskedNames) -> HashMap<String, usize> {
    let mut names: Vec<(usize, Option<String>, usize, String, String)> = Vec::new();
    for used in given_names(chain, asked) {
        let maker = &chain.calls[used.from];
        let (Origin::Name(pointer), Some(arguments)) = (used.origin, &maker.arguments) else { continue };
        let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
        let thing = thing_without(arguments, parent, key);
        names.push((maker.place.step, thing, used.from, pointer, plain(&used.value)));
    }
    names.sort();
    names.dedup();
    names.into_iter().enumerate().map(|(number, (.., name))| (name, number)).collect()
}

fn is_identifier(text: &str) -> bool {
    text.len() <= LONGEST_NAME
        && text.contains(char::is_alphanumeric)
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}
