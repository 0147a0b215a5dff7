//! The scores of all tasks, and of classes of tasks.

use std::collections::{BTreeMap, HashMap};

use m3_trajectory::Trajectory;

use super::verdict::Verdict;
use crate::members::Cost;
use crate::shape::Shape;
use crate::suite::{Group, SuiteResult, Variant, by_key, notes_on};
use crate::values::Values;

/// The stored facts of a trial.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub(super) repeat: usize,
    /// The number of the reference's calls.
    pub(super) weight: usize,
    pub(super) verdict: Verdict,
    /// Whether there is no prediction.
    pub(super) is_missing: bool,
    pub(super) cost: Cost,
    /// The cost of the whole run, where an import tells it.
    pub(super) run_cost: Cost,
}

/// A task with its trials.
#[derive(Debug)]
struct Task {
    domain: Option<&'static str>,
    shape: Shape,
    /// The class that the published program reads from the id.
    class: Option<&'static str>,
    trials: Vec<Record>,
}

/// All trials so far.
#[derive(Debug, Default)]
pub(super) struct Totals {
    places: HashMap<String, usize>,
    tasks: Vec<Task>,
}

/// A part of a verdict whose weighted share is a score.
type VerdictPredicate = fn(&Verdict) -> bool;

/// Names of classes in ids, which the published program searches for, with their shapes.
const CLASSES: [(&str, &str, Shape); 4] = [
    ("_1_tool_", "1_tool", Shape::Single),
    ("_2_parallel", "2_parallel", Shape::DualParallel),
    ("_2_sequential", "2_sequential", Shape::DualSerial),
    ("_3_tools", "3_tools", Shape::Multi),
];

impl Totals {
    pub(super) fn add(&mut self, reference: &Trajectory, record: Record) {
        let next = self.tasks.len();
        let place = *self.places.entry(reference.id.clone()).or_insert(next);
        if place == next {
            self.tasks.push(Task::from_reference(reference));
        }
        self.tasks[place].trials.push(record);
    }

    pub(super) fn result(&self, variant: Variant) -> SuiteResult {
        let all: Vec<&Task> = self.tasks.iter().collect();
        let mut aggregate = scores(&all, variant);
        let weight: usize = all.iter().map(|task| task.weight()).sum();
        aggregate.push("weight", Some(weight as f64));
        let count =
            |earned: VerdictPredicate| Some(self.records().filter(|it| earned(&it.verdict)).count() as f64);
        aggregate.push("tasks_finished", count(|it| it.is_finished));
        aggregate.push("tasks_efficient", count(|it| it.is_efficient));
        let repeats = by_key(self.records(), |record| Some(record.repeat));
        for (name, cost) in
            [("token_efficiency", thousands as fn(&[&Record]) -> _), ("time_efficiency", minutes)]
        {
            aggregate.push(name, efficiency(&repeats, weight, cost, variant));
        }
        if repeats.len() > 1 {
            for (name, earned) in SCORES {
                aggregate.push(format!("{name}_avg_at_{}", repeats.len()), score(&all, earned, variant));
            }
        }
        SuiteResult { aggregate, groups: groups(&all, &repeats, variant), notes: self.notes(variant) }
    }

    fn records(&self) -> impl Iterator<Item = &Record> {
        self.tasks.iter().flat_map(|task| &task.trials)
    }

    fn notes(&self, variant: Variant) -> Vec<String> {
        let missing = self.records().filter(|record| record.is_missing).count();
        let how = match variant {
            Variant::Paper => "not finished",
            Variant::Published => "left out",
        };
        let classless = self.tasks.iter().filter(|task| task.class(variant).is_none()).count();
        let classless = if classless < self.tasks.len() { classless } else { 0 };
        notes_on([
            (missing, format!("without a prediction, {how}: {missing}")),
            (classless, format!("tasks of no class: {classless}")),
        ])
    }
}

/// The scores of classes, of categories and of repetitions.
fn groups(all: &[&Task], repeats: &BTreeMap<usize, Vec<&Record>>, variant: Variant) -> Vec<Group> {
    let mut groups = Vec::new();
    let whole: f64 = all.iter().map(|task| task.weight() as f64).sum();
    let mut add = |by: &'static str, name_of: &dyn Fn(&Task) -> Option<String>| {
        groups.extend(by_key(all.iter().copied(), name_of).into_iter().map(|(name, tasks)| {
            let mut values = scores(&tasks, variant);
            for (name, earned) in SCORES {
                let earned: f64 = tasks.iter().filter_map(|task| task.earned(earned, variant)).sum();
                values.push(format!("{name}_share"), (whole > 0.0).then(|| 100.0 * earned / whole));
            }
            Group { by, name, tasks: tasks.len(), values }
        }));
    };
    add("class", &|task| task.class(variant));
    add("category", &|task| Some(format!("{}/{}", task.domain?, task.shape_of(variant)?.name())));
    if repeats.len() > 1 {
        groups.extend(repeats.iter().map(|(repeat, records)| {
            let values = SCORES.map(|(name, earned)| (name, share(records, earned))).into();
            Group { by: "repetition", name: repeat.to_string(), tasks: records.len(), values }
        }));
    }
    groups
}

/// The two scores.
const SCORES: [(&str, VerdictPredicate); 2] = [("tfs", |it| it.is_finished), ("tefs", |it| it.is_efficient)];

impl Task {
    fn from_reference(reference: &Trajectory) -> Self {
        let id = reference.id.as_str();
        let is_of = |name: &str, prefix: &str| {
            reference.task_type.as_deref().is_some_and(|kind| kind.starts_with(name))
                || id.starts_with(prefix)
        };
        let domain = [("daily", "daytask"), ("professional", "protask")];
        Self {
            domain: domain.into_iter().find(|(name, prefix)| is_of(name, prefix)).map(|(name, _)| name),
            shape: Shape::from_reference(reference),
            class: CLASSES.iter().find(|(mark, ..)| id.contains(mark)).map(|(_, name, _)| *name),
            trials: Vec::new(),
        }
    }

    fn weight(&self) -> usize {
        self.trials.first().map_or(0, |trial| trial.weight)
    }

    fn shape_of(&self, variant: Variant) -> Option<Shape> {
        match variant {
            Variant::Paper => Some(self.shape).filter(|shape| *shape != Shape::None),
            Variant::Published => {
                CLASSES.iter().find(|(_, name, _)| Some(*name) == self.class).map(|(.., shape)| *shape)
            }
        }
    }

    fn class(&self, variant: Variant) -> Option<String> {
        match variant {
            Variant::Paper => self.shape_of(variant).map(|shape| shape.name().to_owned()),
            Variant::Published => self.class.map(str::to_owned),
        }
    }

    /// The weight times the share of trials that have earned it. The published program leaves missing trials out.
    fn earned(&self, earned: VerdictPredicate, variant: Variant) -> Option<f64> {
        let counted = self.trials.iter().filter(|trial| variant == Variant::Paper || !trial.is_missing);
        let (count, successes) = counted.fold((0_u32, 0_u32), |(count, successes), trial| {
            (count + 1, successes + u32::from(earned(&trial.verdict)))
        });
        (count > 0).then(|| self.weight() as f64 * f64::from(successes) / f64::from(count))
    }
}

fn scores(tasks: &[&Task], variant: Variant) -> Values {
    SCORES.map(|(name, earned)| (name, score(tasks, earned, variant))).into()
}

/// The weighted share of tasks, in percent, where a task counts with the mean over its trials (section 4.1; avg@k for
/// several trials). Not defined without weight; the published program then says 0.
fn score(tasks: &[&Task], earned: VerdictPredicate, variant: Variant) -> Option<f64> {
    let scores = tasks.iter().filter_map(|task| Some((task.earned(earned, variant)?, task.weight() as f64)));
    let (sum, weight) =
        scores.fold((0.0, 0.0), |(sum, weights), (earned, weight)| (sum + earned, weights + weight));
    if weight > 0.0 { Some(100.0 * sum / weight) } else { (variant == Variant::Published).then_some(0.0) }
}

/// The weighted share of trials, in percent.
fn share(records: &[&Record], earned: VerdictPredicate) -> Option<f64> {
    let weight: usize = records.iter().map(|record| record.weight).sum();
    (weight > 0).then(|| 100.0 * weight_of(records, earned) as f64 / weight as f64)
}

fn weight_of(records: &[&Record], earned: VerdictPredicate) -> usize {
    records.iter().filter(|record| earned(&record.verdict)).map(|record| record.weight).sum()
}

/// The weight of efficient trials per unit of cost. The paper adds both up; the program takes the mean over runs of
/// TEFS in percent, rounded to two digits, divided by the cost of the run, and 0 where nothing was spent.
fn efficiency(
    repeats: &BTreeMap<usize, Vec<&Record>>,
    weight: usize,
    cost: fn(&[&Record]) -> Option<f64>,
    variant: Variant,
) -> Option<f64> {
    let is_efficient: VerdictPredicate = |it| it.is_efficient;
    let runs: Vec<(&[&Record], f64)> =
        repeats.values().map(|run| Some((run.as_slice(), cost(run)?))).collect::<Option<_>>()?;
    let (mut sum, mut spent) = (0.0, 0.0);
    for (run, cost) in &runs {
        match variant {
            Variant::Paper => sum += weight_of(run, is_efficient) as f64,
            Variant::Published if *cost > 0.0 && weight > 0 => {
                sum += (share(run, is_efficient)? * 100.0).round_ties_even() / 100.0 / cost;
            }
            Variant::Published => {}
        }
        spent += match variant {
            Variant::Paper => *cost,
            Variant::Published => 1.0,
        };
    }
    // Without calls in any reference nothing can be earned.
    (spent > 0.0 && (weight > 0 || variant == Variant::Published)).then(|| sum / spent)
}

/// Thousands of output tokens of a run; `None` if those of a trial are not known.
fn thousands(run: &[&Record]) -> Option<f64> {
    total(run, |cost| cost.output_tokens).map(|tokens| tokens / 1000.0)
}

/// Minutes of a run, added up over its trials.
fn minutes(run: &[&Record]) -> Option<f64> {
    total(run, |cost| cost.seconds).map(|seconds| seconds / 60.0)
}

/// The sum over the trials of a run, or the total that an import tells for the whole run.
fn total(run: &[&Record], part: fn(&Cost) -> Option<f64>) -> Option<f64> {
    let known = || run.iter().filter(|record| !record.is_missing);
    let sum: Option<f64> = known().map(|record| part(&record.cost)).sum();
    sum.filter(|_| known().count() > 0).or_else(|| known().find_map(|record| part(&record.run_cost)))
}
