//! Counts of the outcomes of calls: of all, of a tool, of a category.

use std::collections::{BTreeMap, BTreeSet};

use m3_support::text::shortened;

use super::outcome::Outcome;
use crate::suite::Group;
use crate::values::Values;

/// The longest name of a group, in columns: a name may be a message.
const MAX_NAME: usize = 200;

/// A call that is counted.
#[derive(Debug)]
pub(super) struct CountedCall<'a> {
    /// The index of the call's task.
    pub(super) task: usize,
    pub(super) outcome: Outcome,
    /// The cause of the failure; `None` if the call succeeded or was not judged.
    pub(super) cause: Option<&'static str>,
    /// The message that the published program keeps; empty in the paper's variant.
    pub(super) reason: &'a str,
    /// The answer of the tool.
    pub(super) message: &'a str,
}

/// Calls with their outcomes and causes.
#[derive(Debug, Default)]
pub(super) struct Tally {
    tasks: BTreeSet<usize>,
    calls: usize,
    successes: usize,
    empty: usize,
    pub(super) unjudged: usize,
    causes: BTreeMap<String, Kind>,
    reasons: BTreeMap<String, Kind>,
}

/// Calls that failed in one way.
#[derive(Debug, Default)]
struct Kind {
    tasks: BTreeSet<usize>,
    calls: usize,
    /// The first message that is not empty.
    example: String,
}

impl Tally {
    pub(super) fn add(&mut self, call: &CountedCall<'_>) {
        self.tasks.insert(call.task);
        self.calls += 1;
        self.successes += usize::from(call.outcome == Outcome::Success);
        self.empty += usize::from(call.outcome == Outcome::Empty);
        self.unjudged += usize::from(call.outcome == Outcome::Unjudged);
        let kinds = [(&mut self.causes, call.cause.unwrap_or_default()), (&mut self.reasons, call.reason)];
        for (kinds, name) in kinds.into_iter().filter(|(_, name)| !name.is_empty()) {
            let kind = kinds.entry(name.to_owned()).or_default();
            kind.tasks.insert(call.task);
            kind.calls += 1;
            if kind.example.is_empty() {
                call.message.clone_into(&mut kind.example);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls == 0
    }

    pub(super) fn has_judged(&self) -> bool {
        self.calls > self.unjudged
    }

    /// The rate of success, over the calls that were judged, with the counts that it rests on.
    pub(super) fn push_to(&self, values: &mut Values) {
        let judged = self.calls - self.unjudged;
        values.push("success_rate", (judged > 0).then(|| self.successes as f64 / judged as f64));
        for (name, count) in [
            ("calls", self.calls),
            ("calls_failed", judged - self.successes - self.empty),
            ("calls_empty", self.empty),
            ("calls_unjudged", self.unjudged),
        ] {
            values.push(name, Some(count as f64));
        }
    }

    /// All counted calls as a group.
    pub(super) fn group(&self, by: &'static str, name: &str) -> Group {
        let mut values = Values::default();
        self.push_to(&mut values);
        Group { by, name: name.to_owned(), tasks: self.tasks.len(), values }
    }

    /// A group for each cause, most frequent first, then by name; `of` is put before the name.
    pub(super) fn causes(&self, by: &'static str, of: &str) -> Vec<Group> {
        groups(&self.causes, by, of)
    }

    /// A group for each message that the published program keeps, most frequent first, then by name.
    pub(super) fn reasons(&self, by: &'static str) -> Vec<Group> {
        groups(&self.reasons, by, "")
    }

    /// A message of each cause, so that a reader can group them otherwise.
    pub(super) fn examples(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.causes.iter().map(|(cause, kind)| (cause.as_str(), kind.example.as_str()));
        all.filter(|(_, example)| !example.trim().is_empty())
    }
}

fn groups(kinds: &BTreeMap<String, Kind>, by: &'static str, of: &str) -> Vec<Group> {
    let all: usize = kinds.values().map(|kind| kind.calls).sum();
    let mut kinds: Vec<_> = kinds.iter().collect();
    // The sort is stable: equal counts stay in the order of names.
    kinds.sort_by_key(|(_, kind)| std::cmp::Reverse(kind.calls));
    let group = |(name, kind): (&String, &Kind)| Group {
        by,
        name: shortened(&format!("{of}{name}"), MAX_NAME),
        tasks: kind.tasks.len(),
        values: Values::from([
            ("calls", Some(kind.calls as f64)),
            ("share", Some(kind.calls as f64 / all as f64)),
        ]),
    };
    kinds.into_iter().map(group).collect()
}
