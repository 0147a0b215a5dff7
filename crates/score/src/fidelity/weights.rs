//! How much an argument weighs in its tool's calls: less if it has one value in all of them.

use std::collections::{BTreeMap, HashMap};

use m3_support::pointer::segments;
use m3_trajectory::Trajectory;
use m3_trajectory::json::{Json, is_same};

use super::constants::{CALLS_TO_TELL, CONSTANT_WEIGHT};

/// What the calls of a data set's references say of each tool's arguments: which of them vary.
#[derive(Debug, Default)]
pub struct Weights {
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
    One(Json),
    /// Several.
    Many,
}

/// Arguments of a tool that are kept; no tool has more.
const MOST_ARGUMENTS: usize = 1_000;

/// Whether a value is kept to be compared; longer ones are taken for different ones.
fn is_short(value: &Json) -> bool {
    match value {
        Json::String(text) => text.len() <= 256,
        Json::Array(items) => items.len() <= 64 && items.iter().all(is_short),
        Json::Object(members) => members.len() <= 64 && members.iter().all(|(_, value)| is_short(value)),
        _ => true,
    }
}

impl Weights {
    /// Takes in the calls of a reference.
    pub fn learn(&mut self, reference: &Trajectory) {
        for (_, call) in reference.calls() {
            if let Some(arguments) = &call.arguments {
                self.count(&call.tool, arguments);
            }
        }
    }

    /// Takes in one call.
    pub fn count(&mut self, tool: &str, arguments: &Json) {
        let Json::Object(members) = arguments else { return };
        if !self.tools.contains_key(tool) {
            self.tools.insert(tool.to_owned(), Tool::default());
        }
        let Some(known) = self.tools.get_mut(tool) else { return };
        known.calls += 1;
        for (key, value) in members {
            let is_full = known.arguments.len() >= MOST_ARGUMENTS;
            match known.arguments.get_mut(key) {
                None if is_full => {}
                None => {
                    let seen = if is_short(value) { Seen::One(value.clone()) } else { Seen::Many };
                    known.arguments.insert(key.clone(), seen);
                }
                Some(Seen::One(before)) if is_same(before, value) => {}
                Some(seen) => *seen = Seen::Many,
            }
        }
    }

    /// The weight of the argument that a JSON pointer leads into, in (0, 1]. `required` are those that the tool requires,
    /// which weigh in full also where they never vary.
    pub(super) fn weight(&self, tool: &str, path: &str, required: &[&str]) -> f64 {
        let Some(known) = self.tools.get(tool).filter(|known| known.calls >= CALLS_TO_TELL) else {
            return 1.0;
        };
        let key = segments(path).next().unwrap_or_default();
        match known.arguments.get(&*key) {
            Some(Seen::One(_)) if !required.contains(&&*key) => CONSTANT_WEIGHT,
            _ => 1.0,
        }
    }
}
