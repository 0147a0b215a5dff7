//! The content of a file, as the calls that made it show it: the tool, its arguments without names of files, and the
//! files that it read.
//!
//! Two versions with the same key have the same content if a tool gives the same answer to the same call.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use m3_trajectory::json::Json;

use super::leaves::argument_leaves;
use super::lineage::{CallView, Lineage, Mention, Role};
use super::names::words;
use super::tools::without_server;

/// 2^53: every whole number below it is exact as a double.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Values nested deeper are not looked at.
const MAX_DEPTH: usize = 64;

/// The most inputs that are recorded for the versions of one trajectory, all versions together.
const MOST_INPUTS: usize = 1 << 20;

/// First words in the names of tools that give a file another name or place.
const MOVING: [&str; 4] = ["move", "rename", "copy", "mv"];

/// The content of a version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    /// A hash of the tool, its arguments without names of files and, if the call makes several files, which of them
    /// this is.
    pub signature: u64,
    /// The versions that the makers of this version used, in the order of their arguments.
    pub inputs: Vec<usize>,
    /// Whether the version is its only input under another name.
    pub is_moved: bool,
    /// A hash of everything that the version is made of.
    pub key: u64,
}

/// The content of each version of a lineage.
#[must_use]
pub fn contents(calls: &[CallView<'_>], lineage: &Lineage) -> Vec<Content> {
    let mut changes: HashMap<usize, Vec<usize>> = HashMap::new();
    for (call, mentions) in lineage.mentions.iter().enumerate() {
        for mention in mentions {
            if let Role::Changes(version) = mention.role {
                changes.entry(version).or_default().push(call);
            }
        }
    }
    let mut made = vec![0_usize; calls.len()];
    for version in &lineage.versions {
        made[version.call] += 1;
    }
    let mut asked: Vec<Option<u64>> = vec![None; calls.len()];
    let mut room = MOST_INPUTS;
    let mut contents: Vec<Content> = Vec::with_capacity(lineage.versions.len());
    for (index, version) in lineage.versions.iter().enumerate() {
        let makers = changes.get(&index).cloned().unwrap_or_else(|| vec![version.call]);
        let mut hasher = DefaultHasher::new();
        let mut inputs = Vec::new();
        for maker in makers {
            let (call, mentions) = (&calls[maker], &lineage.mentions[maker]);
            asked[maker].get_or_insert_with(|| call_signature(call, mentions)).hash(&mut hasher);
            let used = mentions.iter().filter_map(|mention| mention.role.used_version());
            inputs.extend(used.filter(|used| *used != index).take(room.saturating_sub(inputs.len())));
        }
        room -= inputs.len();
        if made[version.call] > 1 {
            version.pointer.hash(&mut hasher);
        }
        let is_moved = inputs.len() == 1
            && calls.get(version.call).is_some_and(|call| only_moves(call, &lineage.mentions[version.call]));
        contents.push(Content { signature: hasher.finish(), inputs, is_moved, key: 0 });
    }
    // The sources of a version were made by earlier calls, except for files that are changed in place. A file whose
    // name the tool chose is known only once it is read: its number may be higher than that of the versions made from
    // it.
    let mut order: Vec<usize> = (0..contents.len()).collect();
    order.sort_by_key(|&index| (lineage.versions[index].call, index));
    let mut keys: Vec<Option<u64>> = vec![None; contents.len()];
    for index in order {
        let Content { signature, inputs, is_moved, .. } = &contents[index];
        let key = |input: &usize| keys[*input].unwrap_or(0);
        let own = match inputs.first() {
            Some(input) if *is_moved => key(input),
            _ => {
                let mut hasher = DefaultHasher::new();
                signature.hash(&mut hasher);
                for input in inputs {
                    key(input).hash(&mut hasher);
                }
                hasher.finish()
            }
        };
        keys[index] = Some(own);
        contents[index].key = own;
    }
    contents
}

/// A key for each call that does not depend on names of files: the key of the file that it makes or, if it makes none,
/// a hash of the keys of the files that it uses.
#[must_use]
pub fn call_keys(lineage: &Lineage, contents: &[Content]) -> Vec<u64> {
    let key = |mentions: &Vec<Mention>| {
        let content = |version: usize| contents.get(version).map_or(0, |content| content.key);
        let made = mentions.iter().find_map(|mention| match mention.role {
            Role::Writes(version) => Some(content(version)),
            _ => None,
        });
        made.unwrap_or_else(|| {
            let mut hasher = DefaultHasher::new();
            for version in mentions.iter().filter_map(|mention| mention.role.used_version()) {
                content(version).hash(&mut hasher);
            }
            hasher.finish()
        })
    };
    lineage.mentions.iter().map(key).collect()
}

/// Whether a call gives a file another name or place and does nothing else: its only arguments are names of files and
/// switches.
fn only_moves(call: &CallView<'_>, mentions: &[Mention]) -> bool {
    let first = words(without_server(call.tool)).into_iter().next();
    first.is_some_and(|first| MOVING.contains(&first.as_str()))
        && argument_leaves(call.arguments).iter().all(|leaf| {
            matches!(leaf.value, Json::Bool(_))
                || mentions.iter().any(|mention| mention.pointer == leaf.pointer)
        })
}

/// A key of a call's tool and of its arguments without names of files.
fn call_signature(call: &CallView<'_>, mentions: &[Mention]) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.tool.hash(&mut hasher);
    if let Some(arguments) = call.arguments {
        let mut named = MentionsByText::new();
        for mention in mentions {
            if let Some(text) = arguments.pointer(&mention.pointer) {
                named.entry(std::ptr::from_ref(text)).or_default().push(mention);
            }
        }
        for mentions in named.values_mut() {
            mentions.sort_by_key(|mention| mention.span.start);
        }
        hash(arguments, 0, &named, &mut hasher);
    }
    hasher.finish()
}

/// The names of files that the texts of a call's arguments contain. The key is the address in memory of the text; the
/// names are in the order in which they stand in it.
type MentionsByText<'m> = HashMap<*const Json, Vec<&'m Mention>>;

/// Adds a value to a hash, without the names of files in it.
fn hash(value: &Json, depth: usize, named: &MentionsByText<'_>, hasher: &mut DefaultHasher) {
    match value {
        _ if depth > MAX_DEPTH => {}
        Json::String(text) => {
            let mut at = 0;
            for mention in named.get(&std::ptr::from_ref(value)).into_iter().flatten() {
                text.get(at..mention.span.start).unwrap_or_default().hash(hasher);
                let role = match mention.role {
                    Role::Writes(_) => 1,
                    Role::Reads { .. } | Role::Changes(_) => 2,
                    Role::ReadsTaskImage => 3_u8,
                };
                role.hash(hasher);
                at = mention.span.end;
            }
            text.get(at..).unwrap_or_default().hash(hasher);
        }
        Json::Array(items) => {
            ('[', items.len()).hash(hasher);
            for item in items {
                hash(item, depth + 1, named, hasher);
            }
        }
        Json::Object(members) => {
            let mut members: Vec<&(String, Json)> = members.iter().collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            '{'.hash(hasher);
            for (key, item) in members {
                // The name of an output is left out: a call that leaves the name to the tool makes the same content.
                let mut mentions = named.get(&std::ptr::from_ref(item)).into_iter().flatten();
                if !mentions.any(|mention| matches!(mention.role, Role::Writes(_))) {
                    key.hash(hasher);
                    hash(item, depth + 1, named, hasher);
                }
            }
            '}'.hash(hasher);
        }
        Json::Integer(number) => number.hash(hasher),
        // 5 and 5.0 are one number.
        Json::Float(number) if number.fract() == 0.0 && number.abs() < WHOLE => {
            #[expect(clippy::cast_possible_truncation, reason = "it is smaller than 2^53")]
            (*number as i64).hash(hasher);
        }
        Json::Float(number) => number.to_bits().hash(hasher),
        Json::LongInteger(digits) => digits.hash(hasher),
        Json::Bool(value) => value.hash(hasher),
        Json::Null => '0'.hash(hasher),
    }
}
