//! The share of right trials, of all tasks and of each category, and the frequency of each error.

use std::collections::{BTreeMap, BTreeSet};

use m3_support::text::{counted, shortened};

use super::{Failure, Task};
use crate::suite::{Group, SuiteResult, by_key};
use crate::values::Values;

/// The most wrong trials that are named with the reason.
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
    /// The trials of each task, by its id.
    tasks: BTreeMap<String, Trials>,
    errors: BTreeMap<&'static str, FailedTrials>,
    /// The first wrong trials, each with the reason.
    wrong: Vec<String>,
    /// The number of trials of tasks with a function whose schema is not known.
    without_schema: usize,
    /// Members of references that are not in BFCL's form, such as an unknown language, with the number of trials.
    unreadable: BTreeMap<String, usize>,
    /// Trials of tasks of several turns or of agents, which the AST checker does not compare.
    pub(super) of_turns: usize,
}

/// The trials that an error makes wrong.
#[derive(Debug, Default)]
struct FailedTrials {
    /// The tasks of these trials.
    tasks: BTreeSet<String>,
    trials: usize,
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
    /// Adds a trial; `failure` is the reason if the trial is wrong.
    pub(super) fn add(&mut self, task: &Task<'_>, failure: Option<&Failure>) {
        let new = || Trials { category: task.category.group(task.reference), all: 0, right: 0 };
        let trials = self.tasks.entry(task.reference.id.clone()).or_insert_with(new);
        trials.all += 1;
        trials.right += usize::from(failure.is_none());
        if let Some(failure) = failure {
            let failed = self.errors.entry(failure.kind.label()).or_default();
            failed.tasks.insert(task.reference.id.clone());
            failed.trials += 1;
            if self.wrong.len() < NAMED {
                let id = shortened(&task.reference.id, ID);
                self.wrong.push(format!("wrong: {id}: {}", failure.message));
            }
        }
        self.without_schema += usize::from(task.calls.iter().any(|call| task.schema(&call.tool).is_none()));
        for what in &task.unreadable {
            *self.unreadable.entry(format!("{what}, and is ignored")).or_default() += 1;
        }
        if let Err(language) = &task.language {
            let name = shortened(language, ID);
            let what =
                format!("the language {name} is none of python, java and javascript, and is read as Python");
            *self.unreadable.entry(what).or_default() += 1;
        }
    }

    pub(super) fn result(self) -> SuiteResult {
        let trials: usize = self.tasks.values().map(|task| task.all).sum();
        let all: Vec<&Trials> = self.tasks.values().collect();
        let aggregate = Values::from([("ast", ast(&all)), ("trials", Some(trials as f64))]);
        let categories = by_key(self.tasks.values(), |task| Some(task.category.clone()));
        let categories = categories.into_iter().map(|(name, tasks)| Group {
            by: "category",
            name,
            tasks: tasks.len(),
            values: Values::from([("ast", ast(&tasks))]),
        });
        let errors = self.errors.into_iter().map(|(name, failed)| Group {
            by: "error",
            name: name.to_owned(),
            tasks: failed.tasks.len(),
            values: Values::from([("share", Some(failed.trials as f64 / trials as f64))]),
        });
        let mut notes = self.wrong;
        if self.without_schema > 0 {
            notes.push(format!(
                "functions of which nothing tells what they take, so that types and required arguments are not checked: \
                 in {}; `--tools` or `functions` in references tell it",
                counted(self.without_schema, "trial")
            ));
        }
        if self.of_turns > 0 {
            notes.push(format!(
                "of several turns or of agents, which the AST checker does not compare: {}",
                counted(self.of_turns, "trial")
            ));
        }
        let unreadable = self.unreadable.into_iter();
        notes.extend(unreadable.map(|(what, count)| format!("{what}: {}", counted(count, "trial"))));
        SuiteResult { aggregate, groups: categories.chain(errors).collect(), notes }
    }
}
