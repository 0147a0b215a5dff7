//! The capabilities and the score of a task (section 5.2, appendix A.11), and of all tasks.

use m3_trajectory::FailureClass;

use super::judge::{Dimensions, mean};
use super::rates::Rates;
use crate::members::Cost;
use crate::suite::{Group, SuiteResult, Variant, by_key, notes_on};
use crate::values::Values;

/// The facts of a trial.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Record {
    pub(super) repeat: usize,
    /// The number of servers of the task.
    pub(super) servers: usize,
    /// The reason why there is nothing to judge, if so.
    pub(super) failure: Option<FailureClass>,
    pub(super) rates: Rates,
    pub(super) dimensions: Option<Dimensions>,
    /// The judges' coefficient of variation.
    pub(super) cv: Option<f64>,
    pub(super) cost: Cost,
    /// m3's own share of calls in order, in [0, 1]; `None` if calls were not aligned.
    pub(super) dependency_order: Option<f64>,
}

/// All trials so far.
#[derive(Debug)]
pub(super) struct Totals {
    variant: Variant,
    pub(super) records: Vec<Record>,
}

/// Values of a set that the published program does not print.
const NOT_PRINTED: [&str; 7] =
    ["overall", "schema", "judge_cv", "input_tokens", "output_tokens", "seconds", "dependency_order"];

/// Rates over calls.
const RATES: [&str; 4] =
    ["name_validity", "schema_compliance", "execution_success", "valid_call_failure_rate"];

/// The mean of the four capabilities, each in [0, 1]: the three rates and the three axes of the judge.
pub(super) fn overall(schema: f64, axes: [f64; 3]) -> f64 {
    (schema + axes.iter().sum::<f64>()) / 4.0
}

impl Record {
    /// The mean of the three rates. A run that never calls has 0, because it shows no understanding of schemas; the
    /// published program leaves its rates out.
    fn schema(&self, variant: Variant) -> Option<f64> {
        let rates = &self.rates;
        match [rates.name_validity(), rates.schema_compliance(), rates.execution_success()] {
            [Some(name), Some(schema), Some(success)] => Some((name + schema + success) / 3.0),
            _ => (variant == Variant::Paper && rates.calls == 0 && rates.is_known).then_some(0.0),
        }
    }

    /// A task without a prediction.
    fn missing() -> Self {
        Self { failure: Some(FailureClass::Missing), ..Self::default() }
    }

    fn is_missing(&self) -> bool {
        self.failure == Some(FailureClass::Missing)
    }

    /// The values of this trial. The published program leaves a failed trial out.
    pub(super) fn values(&self, variant: Variant) -> Values {
        let is_left_out = self.failure.is_some() && variant == Variant::Published;
        if is_left_out { Self::missing() } else { *self }.all_values(variant)
    }

    fn all_values(&self, variant: Variant) -> Values {
        let has_failed = self.failure.is_some();
        let (rates, judged) = (&self.rates, self.dimensions.as_ref());
        let axis = |at: usize| judged.map(|it| it.axis(at) / 10.0);
        let schema = self.schema(variant).filter(|_| !self.is_missing());
        let overall = match (schema, axis(0), axis(1), axis(2)) {
            // A failed task has the score 0.
            _ if has_failed => (variant == Variant::Paper).then_some(0.0),
            (Some(schema), Some(a), Some(b), Some(c)) => Some(overall(schema, [a, b, c])),
            // In the published variant, only a run without calls has no rates.
            (None, Some(a), Some(b), Some(c)) if variant == Variant::Published && rates.calls == 0 => {
                Some((a + b + c) / 3.0)
            }
            _ => None,
        };
        let mut values = Values::from([
            ("overall", overall),
            ("schema", schema),
            ("completion", axis(0)),
            ("usage", axis(1)),
            ("planning", axis(2)),
            ("name_validity", rates.name_validity()),
            ("schema_compliance", rates.schema_compliance()),
            ("execution_success", rates.execution_success()),
            ("valid_call_failure_rate", rates.valid_call_failure_rate()),
            ("planning_json_compliance", rates.planning),
        ]);
        for (at, name) in Dimensions::NAMES.into_iter().enumerate() {
            values.push(name, judged.and_then(|it| it.0.get(at).copied()));
        }
        values.push("judge_cv", self.cv);
        let counted = |count: usize| (!self.is_missing()).then_some(count as f64);
        values.push("rounds", counted(rates.rounds));
        values.push("calls", counted(rates.calls));
        values.push("servers", counted(rates.servers));
        values.push("input_tokens", self.cost.input_tokens);
        values.push("output_tokens", self.cost.output_tokens);
        values.push("seconds", self.cost.seconds);
        values.push("dependency_order", self.dependency_order);
        values
    }
}

impl Totals {
    pub(super) fn new(variant: Variant) -> Self {
        Self { variant, records: Vec::new() }
    }

    pub(super) fn result(&self, has_catalog: bool) -> SuiteResult {
        let all: Vec<&Record> = self.records.iter().collect();
        let mut aggregate = self.means(&all);
        let mut pooled = Rates::default();
        let is_left_out = |record: &Record| record.failure.is_some() && self.variant == Variant::Published;
        for record in all.iter().filter(|record| !is_left_out(record)) {
            pooled.add(&record.rates);
        }
        aggregate.push("name_validity_pooled", pooled.name_validity());
        aggregate.push("schema_compliance_pooled", pooled.schema_compliance());
        aggregate.push("execution_success_pooled", pooled.execution_success());
        let by_servers = by_key(&self.records, |record| (record.servers > 0).then_some(record.servers));
        let group = |by: &'static str, name: String, records: &[&Record]| Group {
            by,
            name,
            tasks: records.iter().filter(|record| record.repeat == 1).count(),
            values: self.means(records),
        };
        let settings = by_key(&self.records, |record| {
            Some(if record.servers > 1 { "multi" } else { "single" }).filter(|_| record.servers > 0)
        });
        let settings: Vec<Group> =
            settings.iter().map(|(name, records)| group("setting", (*name).to_owned(), records)).collect();
        for name in ["rounds", "calls"] {
            let of_settings: Vec<f64> = settings.iter().filter_map(|group| group.values.get(name)).collect();
            aggregate.push(
                format!("{name}_mean_of_settings"),
                mean(&of_settings).filter(|_| of_settings.len() == 2),
            );
        }
        let servers = by_servers.iter().map(|(count, records)| group("servers", count.to_string(), records));
        let groups = servers.chain(settings.clone()).collect();
        SuiteResult { aggregate, groups, notes: self.notes(has_catalog) }
    }

    /// The mean of each value over the trials that have it. The published program prints 0 where no task was completed,
    /// and for rates also where no completed task called anything.
    fn means(&self, records: &[&Record]) -> Values {
        let values: Vec<Values> = records.iter().map(|record| record.values(self.variant)).collect();
        let names: Vec<String> =
            Record::missing().values(self.variant).iter().map(|(name, _)| name.to_owned()).collect();
        let mut completed = records.iter().filter(|record| record.failure.is_none());
        let nothing_is_called = completed.clone().all(|record| record.rates.calls == 0);
        let nothing_is_completed = completed.next().is_none();
        let is_zero = |name: &str| match self.variant {
            Variant::Paper => false,
            Variant::Published if NOT_PRINTED.contains(&name) => false,
            Variant::Published if RATES.contains(&name) => nothing_is_called,
            Variant::Published => nothing_is_completed,
        };
        let mut means = Values::default();
        for name in names {
            let known: Vec<f64> = values.iter().filter_map(|values| values.get(&name)).collect();
            let otherwise = is_zero(&name).then_some(0.0);
            means.push(name, mean(&known).or(otherwise));
        }
        means
    }

    fn notes(&self, has_catalog: bool) -> Vec<String> {
        let count = |is: fn(&Record) -> bool| self.records.iter().filter(|record| is(record)).count();
        let unjudged = count(|record| record.failure.is_none() && record.dimensions.is_none());
        let missing = count(Record::is_missing);
        let failed = count(|record| record.failure.is_some()) - missing;
        let silent = count(|record| record.failure.is_none() && record.rates.calls == 0);
        let unrecorded: usize = self.records.iter().map(|record| record.rates.unrecorded()).sum();
        let (score, schema) = match self.variant {
            Variant::Paper => ("overall 0", "schema 0"),
            Variant::Published => ("left out", "schema left out"),
        };
        notes_on([
            (
                usize::from(!has_catalog),
                "no tools are known, so rates of names and schemas are not defined unless predictions list `tools`: --tools names a catalog".to_owned(),
            ),
            (
                unjudged,
                format!("not judged, without an overall score: {unjudged} (--grades of m3 grade --rubric mcp-bench)"),
            ),
            (
                unrecorded,
                format!(
                    "calls of which nothing is recorded that tells whether they succeeded, left out of execution_success: {unrecorded}"
                ),
            ),
            (missing, format!("without a prediction, {score}: {missing}")),
            (failed, format!("runs that ended in an error, {score}: {failed}")),
            (silent, format!("without a call, {schema}: {silent}")),
        ])
    }
}
