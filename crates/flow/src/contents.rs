//! What a file holds, as far as the calls say that made it: the tool, its arguments without names of files, and what it read.
//!
//! Two versions with the same key hold the same if tools answer the same to the same.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use m3_trajectory::json::{Json, pointer_to};

use super::lineage::{CallView, Lineage, Mention, Role};
use super::names::words;
use super::tools::without_server;

/// Doubles below are whole numbers without a gap: 2^53.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Values nested deeper are not looked at.
const MAX_DEPTH: usize = 64;

/// First words in the names of tools that give a file another name or place.
const MOVING: [&str; 4] = ["move", "rename", "copy", "mv"];

/// What a version holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    /// Of the tool, its arguments without names of files, and which of its files it is.
    pub signature: u64,
    /// The versions that its makers used, in the order of their arguments.
    pub inputs: Vec<usize>,
    /// Whether it is its only input under another name.
    pub is_moved: bool,
    /// Of all that it is made of.
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
    let mut contents: Vec<Content> = Vec::with_capacity(lineage.versions.len());
    for (index, version) in lineage.versions.iter().enumerate() {
        let makers = changes.get(&index).cloned().unwrap_or_else(|| vec![version.call]);
        let mut hasher = DefaultHasher::new();
        let mut inputs = Vec::new();
        for maker in makers {
            let (Some(call), Some(mentions)) = (calls.get(maker), lineage.mentions.get(maker)) else {
                continue;
            };
            call.tool.hash(&mut hasher);
            if let Some(arguments) = call.arguments {
                hash(arguments, "", 0, mentions, &mut hasher);
            }
            let used = mentions.iter().filter_map(|mention| mention.role.used_version());
            inputs.extend(used.filter(|used| *used != index));
        }
        let mut own = lineage.versions.iter().filter(|other| other.call == version.call);
        if own.nth(1).is_some() {
            version.pointer.hash(&mut hasher);
        }
        let tool = calls.get(version.call).map_or("", |call| call.tool);
        let tool = without_server(tool);
        let is_moved =
            inputs.len() == 1 && words(tool).first().is_some_and(|first| MOVING.contains(&first.as_str()));
        contents.push(Content { signature: hasher.finish(), inputs, is_moved, key: 0 });
    }
    // What a version is made of was made before it, but for files that are changed in place.
    for index in 0..contents.len() {
        let Content { signature, inputs, is_moved, .. } = &contents[index];
        let key = |input: &usize| if *input < index { contents[*input].key } else { 0 };
        let key = match inputs.first() {
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
        contents[index].key = key;
    }
    contents
}

/// A key for each call that does not depend on names of files: what it makes or, where it makes nothing, what it uses.
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

/// Takes in a value without the names of files in it.
fn hash(value: &Json, pointer: &str, depth: usize, mentions: &[Mention], hasher: &mut DefaultHasher) {
    match value {
        _ if depth > MAX_DEPTH => {}
        Json::String(text) => {
            let mut spans: Vec<&Mention> =
                mentions.iter().filter(|mention| mention.pointer == pointer).collect();
            spans.sort_by_key(|mention| mention.span.start);
            let mut at = 0;
            for mention in spans {
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
            for (index, item) in items.iter().enumerate() {
                hash(item, &pointer_to(pointer, index), depth + 1, mentions, hasher);
            }
        }
        Json::Object(members) => {
            let mut members: Vec<&(String, Json)> = members.iter().collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            '{'.hash(hasher);
            for (key, item) in members {
                let below = pointer_to(pointer, key);
                // The name of what a call makes may as well be left to its tool.
                let writes =
                    |mention: &Mention| mention.pointer == below && matches!(mention.role, Role::Writes(_));
                if !mentions.iter().any(writes) {
                    key.hash(hasher);
                    hash(item, &below, depth + 1, mentions, hasher);
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
