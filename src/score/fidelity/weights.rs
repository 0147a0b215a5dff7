//! How much an argument weighs in its tool's calls: less if it has one value in all of them.

use std::collections::{BTreeMap, HashMap};

use super::constants::{CALLS_TO_TELL, CONSTANT_WEIGHT};
use crate::trajectory::json::{Json, Keys};

/// Values longer than this are taken for different ones.
const LONGEST: usize = 256;

/// What the calls of a data set say of each tool's arguments.
#[derive(Debug, Default)]
pub(super) struct Weights {
    tools: HashMap<String, Tool>,
}

#[derive(Debug, Default)]
struct Tool {
    calls: usize,
    arguments: BTreeMap<String, Seen>,
}

#[derive(Debug)]
enum Seen {
    /// This value so far.
    One(String),
    /// Several.
    Many,
}

impl Weights {
    /// Takes in a call of a data set.
    pub(super) fn count(&mut self, tool: &str, arguments: &Json) {
        let Json::Object(members) = arguments else { return };
        let known = self.tools.entry(tool.to_owned()).or_default();
        known.calls += 1;
        for (key, value) in members {
            let text = match value {
                Json::Array(items) if items.len() > LONGEST => None,
                Json::String(text) if text.len() > LONGEST => None,
                value => Some(value.to_text(Keys::Sorted)),
            };
            match (known.arguments.get_mut(key), text) {
                (None, Some(text)) => {
                    known.arguments.insert(key.clone(), Seen::One(text));
                }
                (None, None) => {
                    known.arguments.insert(key.clone(), Seen::Many);
                }
                (Some(Seen::One(before)), Some(text)) if *before == text => {}
                (Some(seen), _) => *seen = Seen::Many,
            }
        }
    }

    /// The weight of the argument that a JSON pointer leads into, in (0, 1].
    pub(super) fn weight(&self, tool: &str, path: &str) -> f64 {
        let Some(known) = self.tools.get(tool).filter(|known| known.calls >= CALLS_TO_TELL) else {
            return 1.0;
        };
        let key = path.strip_prefix('/').unwrap_or(path).split('/').next().unwrap_or_default();
        let key = key.replace("~1", "/").replace("~0", "~");
        match known.arguments.get(&key) {
            Some(Seen::One(_)) => CONSTANT_WEIGHT,
            _ => 1.0,
        }
    }
}
