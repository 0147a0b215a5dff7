//! The capabilities and the score of a task (section 5.2, appendix A.11), and of all.

use std::collections::BTreeMap;

use super::judge::{Dimensions, mean};
use super::rates::Rates;
use crate::suite::{Group, SuiteResult, Variant};
use crate::values::Values;

/// What is known of a trial.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub(super) repeat: usize,
    /// Servers of the task.
    pub(super) servers: usize,
    pub(super) is_missing: bool,
    pub(super) rates: Rates,
    pub(super) dimensions: Option<Dimensions>,
    /// The judges' coefficient of variation.
    pub(super) cv: Option<f64>,
}

/// All trials so far.
#[derive(Debug)]
pub(super) struct Totals {
    variant: Variant,
    records: Vec<Record>,
}

/// The mean of the four capabilities, each in [0, 1]: the three rates and the three axes of the judge.
pub(super) fn overall(schema: f64, axes: [f64; 3]) -> f64 {
    (schema + axes.iter().sum::<f64>()) / 4.0
}

impl Record {
    /// The mean of the three rates. A run that never calls shows no understanding of schemas; the published program leaves its
    /// rates out.
    fn schema(&self, variant: Variant) -> Option<f64> {
        let rates = &self.rates;
        match [rates.name_validity(), rates.schema_compliance(), rates.execution_success()] {
            [Some(name), Some(schema), Some(success)] => Some((name + schema + success) / 3.0),
            _ => (variant == Variant::Paper && rates.calls == 0).then_some(0.0),
        }
    }

    /// The values of this trial.
    pub(super) fn values(&self, variant: Variant) -> Values {
        let (rates, judged) = (&self.rates, self.dimensions.as_ref());
        let axis = |at: usize| judged.map(|it| it.axis(at) / 10.0);
        let schema = self.schema(variant).filter(|_| !self.is_missing);
        let overall = match (schema, axis(0), axis(1), axis(2)) {
            // A task that failed weighs 0; the published program leaves it out.
            _ if self.is_missing => (variant == Variant::Paper).then_some(0.0),
            (Some(schema), Some(a), Some(b), Some(c)) => Some(overall(schema, [a, b, c])),
            (None, Some(a), Some(b), Some(c)) => Some((a + b + c) / 3.0),
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
        let counted = |count: usize| (!self.is_missing).then_some(count as f64);
        values.push("rounds", counted(rates.rounds));
        values.push("calls", counted(rates.calls));
        values.push("servers", counted(rates.servers));
        values
    }
}

impl Totals {
    pub(super) fn new(variant: Variant) -> Self {
        Self { variant, records: Vec::new() }
    }

    pub(super) fn add(&mut self, record: Record) {
        self.records.push(record);
    }

    pub(super) fn result(&self, has_catalog: bool) -> SuiteResult {
        let all: Vec<&Record> = self.records.iter().collect();
        let mut aggregate = self.means(&all);
        let mut pooled = Rates::default();
        for record in &all {
            pooled.add(&record.rates);
        }
        aggregate.push("name_validity_pooled", pooled.name_validity());
        aggregate.push("schema_compliance_pooled", pooled.schema_compliance());
        aggregate.push("execution_success_pooled", pooled.execution_success());
        let mut by_servers: BTreeMap<usize, Vec<&Record>> = BTreeMap::new();
        for record in all.iter().filter(|record| record.servers > 0) {
            by_servers.entry(record.servers).or_default().push(record);
        }
        let group = |(servers, records): (usize, Vec<&Record>)| Group {
            by: "servers",
            name: servers.to_string(),
            tasks: records.iter().filter(|record| record.repeat == 1).count(),
            values: self.means(&records),
        };
        let groups = by_servers.into_iter().map(group).collect();
        SuiteResult { aggregate, groups, notes: self.notes(has_catalog) }
    }

    /// The mean of each value over the trials that have it. Without any the published program says 0 of rates and dimensions.
    fn means(&self, records: &[&Record]) -> Values {
        let values: Vec<Values> = records.iter().map(|record| record.values(self.variant)).collect();
        let names: Vec<String> =
            Record::EMPTY.values(self.variant).iter().map(|(name, _)| name.to_owned()).collect();
        let mut means = Values::default();
        for name in names {
            let known: Vec<f64> = values.iter().filter_map(|values| values.get(&name)).collect();
            let is_printed = name != "judge_cv" && name != "overall";
            let otherwise = (self.variant == Variant::Published && is_printed).then_some(0.0);
            means.push(name, mean(&known).or(otherwise));
        }
        means
    }

    fn notes(&self, has_catalog: bool) -> Vec<String> {
        let count = |is: fn(&Record) -> bool| self.records.iter().filter(|record| is(record)).count();
        let mut notes = Vec::new();
        if !has_catalog {
            notes.push("no tools are known, so rates of names and schemas are not defined unless predictions list `tools`: --tools names a catalog".to_owned());
        }
        let unjudged = count(|record| !record.is_missing && record.dimensions.is_none());
        if unjudged > 0 {
            notes.push(format!(
                "not judged, without an overall score: {unjudged} (--grades of m3 grade --rubric mcp-bench)"
            ));
        }
        let (missing, silent) = (
            count(|record| record.is_missing),
            count(|record| !record.is_missing && record.rates.calls == 0),
        );
        let how = |paper: &'static str, published: &'static str| match self.variant {
            Variant::Paper => paper,
            Variant::Published => published,
        };
        if missing > 0 {
            notes.push(format!("without a prediction, {}: {missing}", how("overall 0", "left out")));
        }
        if silent > 0 {
            notes.push(format!("without a call, {}: {silent}", how("schema 0", "schema left out")));
        }
        notes
    }
}

impl Record {
    /// Nothing is known: it has the names of all values.
    const EMPTY: Self =
        Self { repeat: 0, servers: 0, is_missing: true, rates: Rates::EMPTY, dimensions: None, cv: None };
}
