//! MCPAgentBench (arXiv 2512.24565): was a task finished, and with exactly the steps that it takes?

mod totals;
mod verdict;

use m3_trajectory::Trajectory;

use crate::members::number;
use crate::suite::{Scorer, Suite, SuiteMetric, SuiteResult, Trial, Unit, Variant};
use crate::values::Values;
use totals::{Record, Totals};
use verdict::Verdict;

/// The suite of MCPAgentBench.
pub(crate) static SUITE: Suite = Suite {
    name: "mcpagentbench",
    title: "MCPAgentBench",
    has_published: true,
    metrics: &[
        SuiteMetric {
            name: "tfs",
            meaning: "Task finish score: tasks whose calls are the reference's as a set, weighted by the reference's calls. \
                      Of a trajectory its weight, or 0.",
            unit: Unit::Percent,
        },
        SuiteMetric {
            name: "tefs",
            meaning: "Task efficiency finish score: tasks whose calls are the reference's, step by step.",
            unit: Unit::Percent,
        },
        SuiteMetric { name: "weight", meaning: "The reference's calls.", unit: Unit::Count },
        SuiteMetric { name: "tasks_finished", meaning: "Trials that are finished.", unit: Unit::Count },
        SuiteMetric {
            name: "tasks_efficient",
            meaning: "Trials that are finished step by step.",
            unit: Unit::Count,
        },
        SuiteMetric {
            name: "token_efficiency",
            meaning: "The weights of efficient trials for 1,000 output tokens; the published program has TEFS in percent instead.",
            unit: Unit::Number,
        },
        SuiteMetric {
            name: "time_efficiency",
            meaning: "The weights of efficient trials for a minute; the published program has TEFS in percent instead.",
            unit: Unit::Number,
        },
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
        let verdict =
            prediction.map_or_else(Verdict::default, |it| Verdict::new(reference, it, self.variant));
        let weight = reference.call_count();
        self.totals.add(
            reference,
            Record {
                repeat,
                weight,
                verdict,
                is_missing: prediction.is_none(),
                cost: prediction.map(Cost::from_prediction).unwrap_or_default(),
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

/// The known cost of a prediction, and of the run that it belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Cost {
    tokens: Option<f64>,
    seconds: Option<f64>,
    run_tokens: Option<f64>,
    run_seconds: Option<f64>,
}

impl Cost {
    fn from_prediction(prediction: &Trajectory) -> Self {
        let own = crate::members::Cost::from_prediction(prediction);
        let run = prediction.get("import").and_then(|import| import.get("run"));
        let number = |value| number(value).filter(|number| *number >= 0.0);
        let of_run = |key: &str| run.and_then(|run| run.get(key)).and_then(number);
        Self {
            tokens: own.output_tokens,
            seconds: own.seconds,
            run_tokens: of_run("output_tokens"),
            run_seconds: of_run("seconds"),
        }
    }
}
