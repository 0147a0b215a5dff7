//! MCPAgentBench (arXiv 2512.24565): was a task finished, and with exactly the steps that it takes?

mod totals;
mod verdict;

use crate::members::Cost;
use crate::suite::{Scorer, Suite, SuiteMetric, SuiteResult, Trial, Variant};
use crate::values::Values;
use totals::{Record, Totals};
use verdict::Verdict;

/// The suite of MCPAgentBench.
pub(crate) static SUITE: Suite = Suite {
    name: "mcpagentbench",
    title: "MCPAgentBench",
    has_published: true,
    metrics: &[
        SuiteMetric::percent(
            "tfs",
            "Task finish score: tasks whose calls are the reference's as a set, weighted by the reference's calls. \
                      Of a trajectory its weight, or 0.",
        ),
        SuiteMetric::percent(
            "tefs",
            "Task efficiency finish score: tasks whose calls are the reference's, step by step.",
        ),
        SuiteMetric::count("weight", "The reference's calls."),
        SuiteMetric::count("tasks_finished", "Trials that are finished."),
        SuiteMetric::count("tasks_efficient", "Trials that are finished step by step."),
        SuiteMetric::number(
            "token_efficiency",
            "The weights of efficient trials for 1,000 output tokens; the published program has TEFS in percent instead.",
        ),
        SuiteMetric::number(
            "time_efficiency",
            "The weights of efficient trials for a minute; the published program has TEFS in percent instead.",
        ),
    ],
    open: |setting| Box::new(McpAgentBench { variant: setting.variant, totals: Totals::default() }),
};

struct McpAgentBench {
    variant: Variant,
    totals: Totals,
}

impl Scorer for McpAgentBench {
    fn trial(&mut self, trial: &Trial<'_>) -> Values {
        let Trial { reference, prediction, repeat, .. } = *trial;
        let verdict = prediction.and_then(|it| Verdict::new(reference, it, self.variant)).unwrap_or_default();
        let weight = reference.call_count();
        self.totals.add(
            reference,
            Record {
                repeat,
                weight,
                verdict,
                is_missing: prediction.is_none(),
                cost: prediction.map(Cost::from_prediction).unwrap_or_default(),
                run_cost: prediction.map(Cost::from_import).unwrap_or_default(),
            },
        );
        let earned = |is_earned: bool| Some(if is_earned { weight as f64 } else { 0.0 });
        Values::from([
            ("tfs", earned(verdict.is_finished)),
            ("tefs", earned(verdict.is_efficient)),
            ("weight", Some(weight as f64)),
        ])
    }

    fn finish(self: Box<Self>) -> SuiteResult {
        self.totals.result(self.variant)
    }
}
