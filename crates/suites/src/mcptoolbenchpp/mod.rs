//! MCPToolBench++ (arXiv 2508.07575): are the calls right, and did they succeed?

mod causes;
mod compare;
mod graph;
mod judge;
mod names;
mod outcome;
mod reply;
mod schema;
mod tally;
#[cfg(test)]
mod tests;
mod totals;
mod verdict;

use m3_trajectory::{Call, Trajectory};

use crate::suite::{Scorer, Suite, SuiteMetric, SuiteResult, Trial, Variant};
use crate::values::Values;
use causes::Failure;
use compare::Comparer;
use graph::{Entry, entries};
use outcome::{CallOutcome, Outcome};
use reply::Label;
use tally::{CountedCall, Tally};
use totals::Totals;
use verdict::{Pair, Verdict};

/// The suite of MCPToolBench++.
pub(crate) static SUITE: Suite = Suite {
    name: "mcptoolbenchpp",
    title: "MCPToolBench++",
    has_published: true,
    metrics: &[
        SuiteMetric::share(
            "ast",
            "AST accuracy: the calls are the reference's, by BFCL's rules. The published program asks a judge instead.",
        ),
        SuiteMetric::share(
            "ast_dag",
            "AST-DAG accuracy: the last calls are the reference's. The published program compares the name of the last one.",
        ),
        SuiteMetric::share(
            "pass_at_1",
            "Pass@1: arguments are right, and the calls succeeded with content. Of a trajectory whether it passes.",
        ),
        SuiteMetric::share("tool_pass_at_1", "Pass@1 of the tools alone."),
        SuiteMetric::share("parameter_pass_at_1", "Pass@1 of tools and arguments."),
        SuiteMetric::count("tasks", "With `_at_K`: tasks with K trials."),
        SuiteMetric::count(
            "decided",
            "With `_at_K`: those of them with K trials of which is known whether they pass.",
        ),
        SuiteMetric::count("trials", "Trials that count; with a name those that pass it."),
        SuiteMetric::count("similar", "Calls that were accepted for a similar tool of the reference."),
        SuiteMetric::share(
            "success_rate",
            "Tool call success rate: calls that succeeded of those that were judged.",
        ),
        SuiteMetric::count("calls", "Calls of the predictions."),
        SuiteMetric::count("calls_failed", "Calls that failed."),
        SuiteMetric::count("calls_empty", "Calls that succeeded without content, which are no successes."),
        SuiteMetric::count("calls_unjudged", "Calls of which nothing recorded tells what became of them."),
    ],
    open: |setting| {
        Box::new(McpToolBench {
            variant: setting.variant,
            comparer: Comparer::new(setting.catalog),
            totals: Totals::default(),
        })
    },
};

struct McpToolBench<'c> {
    variant: Variant,
    comparer: Comparer<'c>,
    totals: Totals,
}

impl Scorer for McpToolBench<'_> {
    fn trial(&mut self, trial: &Trial<'_>) -> Values {
        let Trial { reference, prediction, graded, .. } = *trial;
        let verdict = prediction.map(|prediction| {
            let graded = graded.unwrap_or(prediction);
            Pair::new(reference, prediction).verdict(&self.comparer, graded, self.variant)
        });
        let task = self.totals.add(reference, verdict);
        let mut calls = Tally::default();
        for entry in prediction.into_iter().flat_map(entries) {
            self.count(task, entry, &mut calls);
        }
        self.values(reference, verdict, &calls)
    }

    fn finish(self: Box<Self>) -> SuiteResult {
        self.totals.result(self.variant)
    }
}

impl McpToolBench<'_> {
    /// Counts a call, for its task and its trial. An entry that names no tool has failed: no server could be asked.
    fn count(&mut self, task: usize, entry: Entry<'_>, calls: &mut Tally) {
        let nameless = Call { tool: String::new(), arguments: None, result: None, extra: Vec::new() };
        let call = entry.unwrap_or(&nameless);
        let label = (self.variant == Variant::Published).then(|| Label::from_call(call));
        let mut ended = CallOutcome::from_call(call);
        ended.outcome = match &label {
            Some(Label::Success) => Outcome::Success,
            Some(Label::EmptyResult) => Outcome::Empty,
            Some(_) => Outcome::Failed,
            None if entry.is_none() => Outcome::Failed,
            None => ended.outcome,
        };
        let is_unknown = entry.is_some()
            && (self.comparer.is_unknown(&call.tool) || call.recorded_outcome() == Some("unknown_tool"));
        let is_failure = matches!(ended.outcome, Outcome::Failed | Outcome::Empty);
        let cause = is_failure.then(|| {
            let is_refused = self.comparer.is_refused(call);
            Failure { ended: &ended, is_unknown, is_refused }.cause()
        });
        let counted = CountedCall {
            task,
            outcome: ended.outcome,
            cause,
            reason: label.as_ref().filter(|label| **label != Label::Success).map_or("", Label::name),
            message: &ended.message,
        };
        calls.add(&counted);
        self.totals.add_call(&counted, entry.filter(|_| !is_unknown).map(|call| call.tool.as_str()));
        self.totals.breaks += usize::from(label == Some(Label::BreaksOff));
    }

    /// The values of a trial. Without a prediction it has failed in the paper's variant.
    fn values(&self, reference: &Trajectory, verdict: Option<Verdict>, calls: &Tally) -> Values {
        let is_failed = self.variant == Variant::Paper && reference.call_count() > 0;
        let value = |part: fn(&Verdict) -> Option<bool>| {
            let known = verdict.as_ref().map_or(is_failed.then_some(false), part);
            known.map(|is_right| if is_right { 1.0 } else { 0.0 })
        };
        let mut values = Values::from([
            ("ast", value(|it| it.ast)),
            ("ast_dag", value(|it| it.ast_dag)),
            ("pass_at_1", value(|it| it.pass)),
            ("tool_pass_at_1", value(|it| it.tool)),
            ("parameter_pass_at_1", value(|it| it.parameter)),
        ]);
        calls.push_to(&mut values);
        values.push("similar", Some(verdict.map_or(0, |it| it.similar) as f64));
        values
    }
}
