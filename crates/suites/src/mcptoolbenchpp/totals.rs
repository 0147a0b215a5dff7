//! The values of all tasks, and of groups of tasks.

use std::collections::{BTreeMap, HashMap};

use m3_stats::{Trials, pass_at};
use m3_support::text::shortened;
use m3_trajectory::Trajectory;

use super::tally::{CountedCall, Tally};
use super::verdict::Verdict;
use crate::suite::{Group, SuiteResult, Variant, by_key};
use crate::values::Values;

/// A task with its trials.
#[derive(Debug)]
struct Task {
    category: Option<String>,
    /// The number of the reference's calls.
    calls: usize,
    /// The verdict on each trial; `None` for a trial without a prediction.
    trials: Vec<Option<Verdict>>,
}

/// All trials so far.
#[derive(Debug, Default)]
pub(super) struct Totals {
    places: HashMap<String, usize>,
    tasks: Vec<Task>,
    all: Tally,
    by_tool: BTreeMap<String, Tally>,
    by_category: BTreeMap<String, Tally>,
    /// Calls at which the published program breaks off.
    pub(super) breaks: usize,
}

/// A part of a verdict.
type Part = fn(&Verdict) -> Option<bool>;

/// The parts of a verdict that have a pass@k: its three families.
const FAMILIES: [(&str, Part); 3] = [
    ("pass", |verdict| verdict.pass),
    ("tool_pass", |verdict| verdict.tool),
    ("parameter_pass", |verdict| verdict.parameter),
];

/// The numbers of trials that the paper's program is asked for.
const KS: [u32; 3] = [1, 3, 5];

/// The number of tasks that the published `calculate_metrics.py` reads.
const SCRIPT_TASKS: usize = 50;

/// The most messages that are groups of their own.
const MAX_REASONS: usize = 100;

impl Totals {
    /// Adds a trial, and returns the index of its task.
    pub(super) fn add(&mut self, reference: &Trajectory, verdict: Option<Verdict>) -> usize {
        let next = self.tasks.len();
        let place = *self.places.entry(reference.id.clone()).or_insert(next);
        if place == next {
            self.tasks.push(Task {
                category: reference.task_type.clone(),
                calls: reference.call_count(),
                trials: Vec::new(),
            });
        }
        if let Some(task) = self.tasks.get_mut(place) {
            task.trials.push(verdict);
        }
        place
    }

    /// Adds a call. A call of a tool that does not exist counts for no tool, since no server had it.
    pub(super) fn add_call(&mut self, call: &CountedCall<'_>, tool: Option<&str>) {
        self.all.add(call);
        if let Some(tool) = tool {
            self.by_tool.entry(tool.to_owned()).or_default().add(call);
        }
        let category = self.tasks.get(call.task).and_then(|task| task.category.as_ref());
        if let Some(category) = category {
            self.by_category.entry(category.clone()).or_default().add(call);
        }
    }

    pub(super) fn result(&self, variant: Variant) -> SuiteResult {
        let all: Vec<&Task> = self.tasks.iter().collect();
        let mut aggregate = self.values(&all, variant);
        let similar: usize = verdicts(&all).map(|verdict| verdict.similar).sum();
        aggregate.push("similar", Some(similar as f64));
        self.all.push_to(&mut aggregate);
        SuiteResult { aggregate, groups: self.groups(&all, variant), notes: self.notes(&all, variant) }
    }

    /// AST accuracy, AST-DAG accuracy, and pass@k for each k of [`ks`].
    fn values(&self, tasks: &[&Task], variant: Variant) -> Values {
        let mut values = Values::from([
            ("ast", mean(tasks, |verdict| verdict.ast, variant)),
            ("ast_dag", mean(tasks, |verdict| verdict.ast_dag, variant)),
        ]);
        // Where no result is recorded at all, nothing is known of success.
        let is_known = self.all.is_empty() || self.all.has_judged();
        let rates = |k: u32| FAMILIES.map(|(name, part)| (name, Rate::new(tasks, part, k, variant)));
        for k in ks(tasks) {
            for (name, rate) in rates(k) {
                values.push(format!("{name}_at_{k}"), rate.value.filter(|_| is_known || name != "pass"));
            }
        }
        for k in ks(tasks) {
            let [(_, decided), _, (_, all)] = rates(k);
            values.push(format!("tasks_at_{k}"), Some(all.tasks as f64));
            values.push(format!("decided_at_{k}"), Some(decided.tasks as f64));
        }
        let trials: usize = tasks.iter().map(|task| task.counted(variant).count()).sum();
        values.push("trials", Some(trials as f64));
        for (name, part) in FAMILIES {
            let count = verdicts(tasks).filter(|verdict| part(verdict) == Some(true)).count();
            values.push(format!("trials_{name}"), Some(count as f64));
        }
        values
    }

    fn groups(&self, all: &[&Task], variant: Variant) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut add = |by: &'static str, name_of: &dyn Fn(&Task) -> Option<String>| {
            groups.extend(by_key(all.iter().copied(), name_of).into_iter().map(|(name, tasks)| {
                let mut values = self.values(&tasks, variant);
                if let Some(calls) = self.by_category.get(&name).filter(|_| by == "category") {
                    calls.push_to(&mut values);
                }
                Group { by, name, tasks: tasks.len(), values }
            }));
        };
        add("category", &|task| task.category.clone());
        add("call_type", &|task| match task.calls {
            0 => None,
            1 => Some("single".to_owned()),
            _ => Some("multiple".to_owned()),
        });
        add("reference_calls", &|task| (task.calls > 1).then(|| format!("{:02}", task.calls)));
        if variant == Variant::Published && !all.is_empty() {
            let first: Vec<&Task> = all.iter().take(SCRIPT_TASKS).copied().collect();
            let values = self.values(&first, variant);
            groups.push(Group {
                by: "calculate_metrics",
                name: format!("first {SCRIPT_TASKS} tasks"),
                tasks: first.len(),
                values,
            });
        }
        groups.extend(self.by_tool.iter().map(|(name, calls)| calls.group("tool", name)));
        groups.extend(self.all.causes("root_cause", ""));
        groups.extend(self.all.reasons("message").into_iter().take(MAX_REASONS));
        for (by, tallies) in
            [("root_cause_by_category", &self.by_category), ("root_cause_by_tool", &self.by_tool)]
        {
            let causes = tallies.iter().flat_map(|(name, calls)| calls.causes(by, &format!("{name}: ")));
            groups.extend(causes);
        }
        groups
    }

    fn notes(&self, all: &[&Task], variant: Variant) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |count: usize, text: &str| {
            if count > 0 {
                notes.push(format!("{text}: {count}"));
            }
        };
        let missing = all.iter().flat_map(|task| &task.trials).filter(|verdict| verdict.is_none()).count();
        match variant {
            Variant::Paper => {
                note(missing, "trials without a prediction, which count as failed");
                let empty = all.iter().filter(|task| task.calls == 0).count();
                note(empty, "tasks whose reference has no call, left out");
                note(self.all.unjudged, "calls of which nothing recorded tells what became of them");
                for k in ks(all) {
                    let count = all
                        .iter()
                        .filter(|task| task.calls > 0 && task.counted(variant).count() < k as usize);
                    note(count.count(), &format!("tasks with fewer than {k} trials, left out of pass@{k}"));
                }
            }
            Variant::Published => {
                note(missing, "trials without a prediction, left out");
                let without = verdicts(all).filter(|verdict| verdict.is_without_judge).count();
                note(
                    without,
                    "trials whose arguments no judge has seen: compared by the paper's rules, the last call only",
                );
                note(self.breaks, "calls at which the program breaks off, counted as failed");
                let messages = self.all.reasons("message").len().saturating_sub(MAX_REASONS);
                note(messages, "rarer messages that are not shown");
            }
        }
        notes.extend(self.all.examples().map(|(cause, message)| {
            format!("root cause {cause}, for example: {}", shortened(message.trim(), 160))
        }));
        notes
    }
}

impl Task {
    /// The trials that count. The published program knows no trial without a prediction.
    fn counted(&self, variant: Variant) -> impl Iterator<Item = &Option<Verdict>> {
        self.trials.iter().filter(move |trial| variant == Variant::Paper || trial.is_some())
    }

    /// The part of each verdict, for trials that count and define it. A trial without a prediction has false.
    fn parts(&self, part: Part, variant: Variant) -> impl Iterator<Item = bool> {
        let is_defined = self.calls > 0 || variant == Variant::Published;
        let counted = self.counted(variant).filter(move |_| is_defined);
        counted.filter_map(move |trial| trial.as_ref().map_or(Some(false), part))
    }
}

fn verdicts<'t>(tasks: &'t [&'t Task]) -> impl Iterator<Item = &'t Verdict> {
    tasks.iter().flat_map(|task| &task.trials).flatten()
}

/// The mean over tasks of the mean over their trials.
fn mean(tasks: &[&Task], part: Part, variant: Variant) -> Option<f64> {
    Rate::new(tasks, part, 1, variant).value
}

/// The k for which pass@k is given: those of [`KS`] below the most trials of a task, and this number.
fn ks(tasks: &[&Task]) -> Vec<u32> {
    let most = tasks.iter().map(|task| task.trials.len()).max().unwrap_or_default();
    let most = u32::try_from(most).unwrap_or(u32::MAX).max(1);
    KS.into_iter().filter(|k| *k < most).chain([most]).collect()
}

/// pass@k, with the number of tasks in its mean.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rate {
    value: Option<f64>,
    tasks: usize,
}

impl Rate {
    fn new(tasks: &[&Task], part: Part, k: u32, variant: Variant) -> Self {
        let trials = tasks.iter().map(|task| {
            let mut trials = Trials::default();
            for is_passed in task.parts(part, variant) {
                trials.count = trials.count.saturating_add(1);
                trials.passed = trials.passed.saturating_add(u32::from(is_passed));
            }
            trials
        });
        let values: Vec<f64> = trials
            .filter(|trials| trials.count > 0)
            .filter_map(|trials| match variant {
                Variant::Paper => pass_at(trials, k),
                Variant::Published => Some(published(trials, k)),
            })
            .collect();
        let nothing = (variant == Variant::Published).then_some(0.0);
        let value =
            if values.is_empty() { nothing } else { Some(values.iter().sum::<f64>() / values.len() as f64) };
        Self { value, tasks: values.len() }
    }
}

/// `estimate_pass_at_k` of the published program: 1 where fewer than k trials failed, even if there are fewer than k
/// trials and none passed.
fn published(trials: Trials, k: u32) -> f64 {
    pass_at(trials, k).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use m3_testkit::shared;
    use m3_trajectory::json::{Json, parse};

    use super::*;

    #[test]
    fn the_estimate_is_the_published_one() {
        let Some(path) = shared("benchmarks/mcptoolbenchpp/oracle/pass_at_k.json") else { return };
        let oracle = parse(&std::fs::read(path).unwrap()).unwrap().0;
        let Some(Json::Array(cases)) = oracle.get("cases") else { panic!("no cases") };
        let number = |case: &Json, key: &str| match case.get(key) {
            Some(Json::Integer(number)) => u32::try_from(*number).unwrap(),
            other => panic!("{key}: {other:?}"),
        };
        for case in cases {
            let trials = Trials { count: number(case, "n"), passed: number(case, "c") };
            let Some(Json::Float(wanted)) = case.get("value") else { panic!("no value: {case:?}") };
            let estimate = published(trials, number(case, "k"));
            assert!((estimate - wanted).abs() < 1e-12, "{case:?}: {estimate}");
        }
        assert!(cases.len() >= 165, "{}", cases.len());
    }

    #[test]
    fn k_goes_up_to_the_trials() {
        let task = |trials: usize| Task { category: None, calls: 1, trials: vec![None; trials] };
        let of = |trials: usize| ks(&[&task(trials)]);
        assert_eq!((of(0), of(1), of(2), of(3)), (vec![1], vec![1], vec![1, 2], vec![1, 3]));
        assert_eq!((of(4), of(5), of(8)), (vec![1, 3, 4], vec![1, 3, 5], vec![1, 3, 5, 8]));
    }
}
