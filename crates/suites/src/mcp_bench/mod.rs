//! `MCP-Bench` (arXiv 2508.20453): three rates by rules, six dimensions of a judge, four capabilities and one score.

mod judge;
mod order;
mod rates;
mod schema;
#[cfg(test)]
mod tests;
mod totals;

use std::collections::{HashMap, HashSet};

use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::Json;
use m3_trajectory::{FailureClass, Trajectory};

use crate::members::Cost;
use crate::suite::{Scorer, Suite, SuiteMetric, SuiteResult, Trial, Variant};
use crate::values::Values;
use judge::Dimensions;
use rates::Rates;
use schema::ArgumentCheck;
use totals::{Record, Totals};

/// The suite of `MCP-Bench`.
pub(crate) static SUITE: Suite = Suite {
    name: "mcp-bench",
    title: "MCP-Bench",
    has_published: true,
    metrics: &[
        SuiteMetric::share("overall", "The mean of the four capabilities."),
        SuiteMetric::share("schema", "The mean of the three rates by rules."),
        SuiteMetric::share("completion", "Task fulfillment and grounding."),
        SuiteMetric::share("usage", "Tool appropriateness and parameter accuracy."),
        SuiteMetric::share("planning", "Dependency awareness and parallelism."),
        SuiteMetric::share("name_validity", "Calls of tools that were offered."),
        SuiteMetric::share(
            "schema_compliance",
            "Calls of offered tools whose arguments their schema accepts.",
        ),
        SuiteMetric::share("execution_success", "Calls that succeeded."),
        SuiteMetric::share("valid_call_failure_rate", "Calls of offered tools that failed."),
        SuiteMetric::share(
            "planning_json_compliance",
            "Planned entries that name a tool, where a prediction tells it.",
        ),
        SuiteMetric::number("task_fulfillment", "The judge's, from 0 to 10."),
        SuiteMetric::number("grounding", "The judge's, from 0 to 10."),
        SuiteMetric::number("tool_appropriateness", "The judge's, from 0 to 10."),
        SuiteMetric::number("parameter_accuracy", "The judge's, from 0 to 10."),
        SuiteMetric::number("dependency_awareness", "The judge's, from 0 to 10."),
        SuiteMetric::number("parallelism_and_efficiency", "The judge's, from 0 to 10."),
        SuiteMetric::percent(
            "judge_cv",
            "How far judges differ about completion: their standard deviation by their mean, over tasks.",
        ),
        SuiteMetric::number("rounds", "Steps of a task."),
        SuiteMetric::number("calls", "Calls of a task."),
        SuiteMetric::number("servers", "Servers that a task's calls are of."),
        SuiteMetric::number("input_tokens", "Tokens read for a task."),
        SuiteMetric::number("output_tokens", "Tokens written for a task."),
        SuiteMetric::number("seconds", "Seconds of a task."),
        SuiteMetric::share(
            "dependency_order",
            "Pairs of reference calls, one in the step after the other's, that were matched and made in this order; \
                      m3's own, no part of the score.",
        ),
    ],
    open: |setting| {
        let totals = Totals::new(setting.variant);
        Box::new(McpBench {
            catalog: setting.catalog,
            schemas: HashMap::new(),
            variant: setting.variant,
            totals,
        })
    },
};

struct McpBench<'c> {
    catalog: Option<&'c Catalog>,
    /// Prepared schemas of the catalog's tools.
    schemas: HashMap<String, ArgumentCheck>,
    variant: Variant,
    totals: Totals,
}

impl Scorer for McpBench<'_> {
    fn trial(&mut self, trial: &Trial<'_>) -> Values {
        let rates = trial.prediction.map(|prediction| self.rates(prediction));
        let dimensions = Dimensions::from_trial(trial);
        let record = Record {
            repeat: trial.repeat,
            servers: servers(trial.reference),
            failure: failure(trial.prediction),
            dependency_order: trial
                .matches
                .filter(|_| trial.prediction.is_some())
                .map(|matches| order::share(trial.reference, matches)),
            cost: trial.prediction.map(Cost::from_prediction).unwrap_or_default(),
            rates: rates.unwrap_or_default(),
            dimensions,
            cv: judge::variation(trial),
        };
        let values = record.values(self.variant);
        self.totals.records.push(record);
        values
    }

    fn finish(self: Box<Self>) -> SuiteResult {
        self.totals.result(self.catalog.is_some())
    }
}

impl McpBench<'_> {
    fn rates(&mut self, prediction: &Trajectory) -> Rates {
        // In a prediction of `m3 run`, `tools` is a hash without names.
        let listed = prediction.get("tools").filter(|names| matches!(names, Json::Array(_)));
        let offered: Option<HashSet<&str>> =
            listed.map(|names| names.items().iter().filter_map(Json::as_str).collect());
        let Self { catalog, schemas, variant, .. } = self;
        let is_known = offered.is_some() || catalog.is_some();
        Rates::count(prediction, is_known, *variant, |tool, arguments| {
            let is_offered = match &offered {
                Some(names) => names.contains(tool),
                None => catalog.is_some_and(|catalog| catalog.tool(tool).is_some()),
            };
            if !is_offered {
                return None;
            }
            let schema = || catalog.and_then(|catalog| catalog.input_schema(tool));
            let check = schemas.entry(tool.to_owned()).or_insert_with(|| ArgumentCheck::new(schema()));
            Some(check.accepts(arguments))
        })
    }
}

/// The reason why there is nothing to judge: no prediction, or a run that ended in an error. Using up the rounds is not
/// a reason: the program judges the work until then.
fn failure(prediction: Option<&Trajectory>) -> Option<FailureClass> {
    let Some(prediction) = prediction else { return Some(FailureClass::Missing) };
    FailureClass::of(prediction).filter(|class| *class != FailureClass::Limit)
}

/// The number of servers of a task: those that it names, else those of its reference's calls.
fn servers(reference: &Trajectory) -> usize {
    match reference.get("servers").map(Json::items) {
        Some(servers) if !servers.is_empty() => servers.len(),
        _ => rates::servers(reference).len(),
    }
}
