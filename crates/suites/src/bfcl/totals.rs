//! The share of all tasks, of categories, and how often each error occurs.

use std::collections::BTreeMap;

use m3_support::text::shortened;

use super::{Failure, Task};
use crate::suite::{Group, SuiteResult, by_name};
use crate::values::Values;

/// The most trials that are named with why they are wrong.
const NAMED: usize = 5;

/// The most columns of an id in a note.
const ID: usize = 40;

/// The trials of a task.
#[derive(Debug)]
struct Trials {
    category: String,
    all: usize,
    right: usize,
}

/// All trials so far.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// By the ids of tasks.
    tasks: BTreeMap<String, Trials>,
    errors: BTreeMap<&'static str, usize>,
    /// The first trials that are wrong, with why.
    wrong: Vec<String>,
    /// Trials of tasks with a function of which nothing tells what it takes.
    without_schema: usize,
    /// Trials of tasks whose language is not known.
    without_language: usize,
}

impl Trials {
    fn share(&self) -> f64 {
        self.right as f64 / self.all as f64
    }
}

/// The mean over tasks of the share of their trials that are right; not defined without tasks.
fn ast(tasks: &[&Trials]) -> Option<f64> {
    let sum: f64 = tasks.iter().map(|task| task.share()).sum();
    (!tasks.is_empty()).then(|| sum / tasks.len() as f64)
}

impl Totals {
    /// Adds a trial; `failure` is why it is wrong.
    pub(super) fn add(&mut self, task: &Task<'_>, failure: Option<&Failure>) {
        let new = || Trials { category: task.category.group(task.reference), all: 0, right: 0 };
        let trials = self.tasks.entry(task.reference.id.clone()).or_insert_with(new);
        trials.all += 1;
        trials.right += usize::from(failure.is_none());
        if let Some(failure) = failure {
            *self.errors.entry(failure.kind.label()).or_default() += 1;
            if self.wrong.len() < NAMED {
                let id = shortened(&task.reference.id, ID);
                self.wrong.push(format!("{id}: {}", failure.message));
            }
        }
        self.without_schema += usize::from(task.calls.iter().any(|call| task.schema(&call.tool).is_none()));
        self.without_language += usize::from(task.language.is_none());
    }

    pub(super) fn result(self) -> SuiteResult {
        let trials: usize = self.tasks.values().map(|task| task.all).sum();
        let all: Vec<&Trials> = self.tasks.values().collect();
        let aggregate = Values::from([("ast", ast(&all)), ("trials", Some(trials as f64))]);
        let categories = by_name(self.tasks.values(), |task| Some(task.category.clone()));
        let categories = categories.into_iter().map(|(name, tasks)| Group {
            by: "category",
            name,
            tasks: tasks.len(),
            values: Values::from([("ast", ast(&tasks))]),
        });
        let errors = self.errors.into_iter().map(|(name, count)| Group {
            by: "error",
            name: name.to_owned(),
            tasks: count,
            values: Values::from([("share", Some(count as f64 / trials as f64))]),
        });
        let mut notes = self.wrong;
        if self.without_schema > 0 {
            let count = self.without_schema;
            notes.push(format!(
                "functions of which nothing tells what they take, so that types and required arguments are not checked: \
                 in {count} trials; `--tools` or `functions` in references tell it"
            ));
        }
        if self.without_language > 0 {
            notes.push(format!("of an unknown language, read as Python: {} trials", self.without_language));
        }
        SuiteResult { aggregate, groups: categories.chain(errors).collect(), notes }
    }
}
