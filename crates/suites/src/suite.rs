//! A suite: its metrics, and how it scores one trial after the other.

use std::collections::BTreeMap;

use m3_trajectory::Trajectory;
use m3_trajectory::catalog::Catalog;

use crate::values::Values;

/// One of the two definitions of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Variant {
    /// The definition of the paper.
    #[default]
    Paper,
    /// The definition of the program that was published with the benchmark.
    Published,
}

/// The unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A share in [0, 1].
    Share,
    /// A share in [0, 100].
    Percent,
    /// A whole number.
    Count,
    /// Any number.
    Number,
}

/// A metric of a suite.
#[derive(Debug, Clone, Copy)]
pub struct SuiteMetric {
    /// The name in results.
    pub name: &'static str,
    /// The meaning in one sentence.
    pub meaning: &'static str,
    /// The unit of a set's value.
    pub unit: Unit,
}

impl SuiteMetric {
    pub(crate) const fn share(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, unit: Unit::Share }
    }

    pub(crate) const fn percent(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, unit: Unit::Percent }
    }

    pub(crate) const fn count(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, unit: Unit::Count }
    }

    pub(crate) const fn number(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, unit: Unit::Number }
    }
}

/// A suite: the metrics of one benchmark.
#[derive(Debug)]
pub struct Suite {
    /// The name in options and results.
    pub name: &'static str,
    /// The name of the benchmark.
    pub title: &'static str,
    /// Whether its published program differs from its paper.
    pub has_published: bool,
    /// The metrics, in the order of reports. A set may have more, such as averages over repetitions.
    pub metrics: &'static [SuiteMetric],
    /// Starts a scorer.
    pub(crate) open: for<'c> fn(&Setting<'c>) -> Box<dyn Scorer + 'c>,
}

/// Inputs of the scoring besides the trajectories.
#[derive(Debug, Clone, Copy, Default)]
pub struct Setting<'c> {
    /// The definition that is used.
    pub variant: Variant,
    /// The tools that were offered, with their schemas.
    pub catalog: Option<&'c Catalog>,
}

/// A trial: a prediction of a task, with the reference.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// The task with its reference calls.
    pub reference: &'a Trajectory,
    /// The prediction; `None` if there is none.
    pub prediction: Option<&'a Trajectory>,
    /// The prediction as `m3 grade --graded` wrote it, where grades are in another file.
    pub graded: Option<&'a Trajectory>,
    /// The number of the repetition of the task, from 1.
    pub repeat: usize,
    /// The calls that m3 matched; `None` if calls were not aligned.
    pub matches: Option<&'a [MatchedCall]>,
}

/// A call of a reference that was matched with a predicted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchedCall {
    /// The place of the reference's call among its calls, from 0.
    pub reference: usize,
    /// The step of the predicted call: later steps have greater numbers.
    pub predicted_step: usize,
}

impl<'a> Trial<'a> {
    /// A trial without grades of another file and without matches.
    #[must_use]
    pub fn new(reference: &'a Trajectory, prediction: Option<&'a Trajectory>, repeat: usize) -> Self {
        Self { reference, prediction, graded: None, repeat, matches: None }
    }
}

/// Scores one trial after the other.
pub trait Scorer {
    /// The values of a trial.
    fn trial(&mut self, trial: &Trial<'_>) -> Values;

    /// The values of all trials.
    fn finish(self: Box<Self>) -> SuiteResult;
}

/// Groups items by a key, such as a name, in the order of the keys; items without a key are left out.
pub(crate) fn by_key<'a, T, K: Ord>(
    items: impl IntoIterator<Item = &'a T>,
    key: impl Fn(&T) -> Option<K>,
) -> BTreeMap<K, Vec<&'a T>> {
    let mut groups: BTreeMap<K, Vec<&T>> = BTreeMap::new();
    for item in items {
        if let Some(key) = key(item) {
            groups.entry(key).or_default().push(item);
        }
    }
    groups
}

/// The notes on what occurs: those whose count is not 0.
pub(crate) fn notes_on<const N: usize>(counted: [(usize, String); N]) -> Vec<String> {
    counted.into_iter().filter(|(count, _)| *count > 0).map(|(_, note)| note).collect()
}

/// The result of a suite over all trials.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SuiteResult {
    /// The values of all tasks.
    pub aggregate: Values,
    /// The values of groups of tasks.
    pub groups: Vec<Group>,
    /// Notes for the reader: tasks that were left out, and why.
    pub notes: Vec<String>,
}

/// The values of a group of tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The property that tasks are grouped by, such as `class`.
    pub by: &'static str,
    /// The name of the group.
    pub name: String,
    /// The number of its tasks.
    pub tasks: usize,
    /// The values of its tasks.
    pub values: Values,
}

impl Variant {
    /// The name in options and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Published => "published",
        }
    }
}
