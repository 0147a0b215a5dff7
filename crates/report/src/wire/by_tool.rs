//! The calls of each tool, and what costs the most.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use m3_score::{ByTool, Cause, ExactSums, Reason, ToolTally};
use schemars::JsonSchema;
use serde::Serialize;

/// The most tools that are named for a cause.
const NAMED_TOOLS: usize = 10;

/// A tool that was called in place of another fewer times than this did not replace it.
const REPLACED: u64 = 2;

/// The calls of one tool. A call is lost if it was needed and missed, made and not needed, or matched with arguments
/// that ask for something else.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ToolReport {
    /// The tool.
    pub tool: String,
    /// The role of its calls: `looks` (reads, computes), `changes` (writes, sends, books, makes) or `unknown`.
    #[schemars(extend("enum" = ["looks", "changes", "unknown"]))]
    pub role: &'static str,
    /// Calls of the references.
    pub needed: u64,
    /// Calls of the predictions.
    pub called: u64,
    /// Matched pairs.
    pub matched: u64,
    /// Calls of the references without a partner.
    pub missed: u64,
    /// Missed calls whose prediction does not call the tool, or failed.
    pub not_called: u64,
    /// Calls of the predictions without a partner.
    pub extra: u64,
    /// Extra calls whose reference does not call the tool.
    pub not_needed: u64,
    /// Matched pairs with a fidelity below 0.5.
    pub wrong_arguments: u64,
    /// The tool that was most often called in place of this one; null if none was more than once.
    pub replaced_by: Option<ReplacementReport>,
    /// The mean similarity of the tool's matched pairs, in [0, 1]; null if it has none.
    pub argument_similarity: Option<f64>,
    /// The mean fidelity of the tool's matched pairs, in [0, 1]; null if it has none.
    pub argument_fidelity: Option<f64>,
    /// The mean overlap of the regions of pictures in the matched pairs, in [0, 1]; null without regions.
    pub region_overlap: Option<f64>,
}

/// A tool that was called in place of another: in each trajectory, the needed calls of tools that were not called are
/// paired in their order with the calls of tools that were not needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReplacementReport {
    /// The tool.
    pub tool: String,
    /// The number of calls.
    pub calls: u64,
}

/// Why calls are lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CostReport {
    /// Which calls: those of references that were `missed`, those of predictions that are `extra`, or `matched` pairs.
    #[schemars(extend("enum" = ["missed", "extra", "matched"]))]
    pub calls: String,
    /// Why they are lost: a reason of an unmatched call, `task_failed` (no prediction, or one that failed, was not finished
    /// or is too large to be aligned) or `wrong_arguments` (a fidelity below 0.5).
    #[schemars(extend("enum" = [
        "task_failed", "tool_not_in_prediction", "tool_not_in_reference", "below_threshold", "assigned_elsewhere",
        "too_large", "wrong_arguments"
    ]))]
    pub reason: String,
    /// The number of calls that are lost for this reason.
    pub lost: u64,
    /// The number of all calls that are missed, extra or matched.
    pub of: u64,
    /// The tools that lose the most calls for this reason, at most ten.
    pub tools: Vec<CostToolReport>,
}

/// The calls that a tool loses for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CostToolReport {
    /// The tool.
    pub tool: String,
    /// The number of lost calls.
    pub lost: u64,
    /// The number of the tool's calls that were needed (for missed ones), made (for extra ones) or matched.
    pub of: u64,
}

/// The tools of a set, those that lose the most calls first; equal losses are sorted by name.
pub(crate) fn tools(by_tool: &ByTool) -> Vec<ToolReport> {
    let mut replaced: BTreeMap<&str, ReplacementReport> = BTreeMap::new();
    for (needed, called, calls) in by_tool.replaced().filter(|(_, _, calls)| *calls >= REPLACED) {
        if replaced.get(needed).is_none_or(|best| calls > best.calls) {
            replaced.insert(needed, ReplacementReport { tool: called.to_owned(), calls });
        }
    }
    let mut tools: Vec<(u64, ToolReport)> = by_tool
        .tools()
        .map(|(name, tally)| (tally.lost.values().sum(), ToolReport::new(name, tally, replaced.remove(name))))
        .collect();
    tools.sort_by_key(|(lost, _)| Reverse(*lost));
    tools.into_iter().map(|(_, tool)| tool).collect()
}

/// The causes of lost calls in a set, the largest first; causes without a loss are left out. `set` has all of its
/// calls, also those of tools that are not counted separately.
pub(crate) fn costs(by_tool: &ByTool, set: &ExactSums) -> Vec<CostReport> {
    let report = |cause: Cause| {
        let (of_all, of): (u64, fn(&ToolTally) -> u64) = match cause {
            Cause::TaskFailed | Cause::Missed(_) => (set.reference_calls - set.matched, |tool| tool.needed),
            Cause::Extra(_) => (set.predicted_calls - set.matched, |tool| tool.called),
            Cause::WrongArguments => (set.matched, |tool| tool.matched),
        };
        let lost = |tally: &ToolTally| tally.lost.get(&cause).copied().unwrap_or_default();
        let losing = by_tool.tools().filter(|(_, tally)| lost(tally) > 0);
        let mut tools: Vec<CostToolReport> = losing
            .map(|(name, tally)| CostToolReport { tool: name.to_owned(), lost: lost(tally), of: of(tally) })
            .collect();
        tools.sort_by_key(|tool| Reverse(tool.lost));
        tools.truncate(NAMED_TOOLS);
        CostReport {
            calls: cause.calls_name().to_owned(),
            reason: cause.name().to_owned(),
            lost: by_tool.lost(cause),
            of: of_all,
            tools,
        }
    };
    let mut costs: Vec<CostReport> =
        Cause::ALL.into_iter().map(report).filter(|cost| cost.lost > 0).collect();
    // The sort is stable: equal losses stay in the order of the causes.
    costs.sort_by_key(|cost| Reverse(cost.lost));
    costs
}

impl ToolReport {
    fn new(name: &str, tally: &ToolTally, replaced_by: Option<ReplacementReport>) -> Self {
        let lost = |cause| tally.lost.get(&cause).copied().unwrap_or_default();
        Self {
            tool: name.to_owned(),
            role: tally.role.name(),
            needed: tally.needed,
            called: tally.called,
            matched: tally.matched,
            missed: tally.missed(),
            not_called: lost(Cause::Missed(Reason::ToolNotInPrediction)) + lost(Cause::TaskFailed),
            extra: tally.extra(),
            not_needed: lost(Cause::Extra(Reason::ToolNotInReference)),
            wrong_arguments: lost(Cause::WrongArguments),
            replaced_by,
            argument_similarity: tally.similarity(),
            argument_fidelity: tally.fidelity(),
            region_overlap: tally.region_overlap(),
        }
    }

    /// The number of calls that are lost for any cause.
    pub(crate) fn lost(&self) -> u64 {
        self.missed + self.extra + self.wrong_arguments
    }
}

#[cfg(test)]
mod tests {
    use m3_score::CallRole;
    use m3_score::{CallPlace, Matching, UnmatchedCall};
    use m3_trajectory::FailureClass;

    use super::*;

    fn alone(tool: &str, reason: Reason) -> UnmatchedCall {
        let place = CallPlace { step: 0, call: 0, index: 0 };
        UnmatchedCall { tool: tool.to_owned(), place, reason, best: None }
    }

    fn set(reference_calls: u64, predicted_calls: u64, matched: u64) -> ExactSums {
        let mut set = ExactSums::default();
        (set.reference_calls, set.predicted_calls, set.matched) = (reference_calls, predicted_calls, matched);
        set
    }

    /// Tools that are not counted separately still count among all calls.
    #[test]
    fn no_cause_has_more_calls_than_there_are() {
        let calls = 10_001;
        let unmatched_predictions =
            (0..calls).map(|tool| alone(&format!("t{tool}"), Reason::ToolNotInReference)).collect();
        let mut by_tool = ByTool::default();
        by_tool.add(None, &Matching { unmatched_predictions, ..Matching::default() }, &[], &|_| {
            CallRole::Unknown
        });
        let found = costs(&by_tool, &set(0, calls, 0));
        assert_eq!((found.len(), found[0].lost, found[0].of, found[0].tools.len()), (1, calls, calls, 10));
        assert!(tools(&by_tool).len() < 10_001);
    }

    #[test]
    fn calls_of_a_trajectory_that_is_too_large_have_their_cause() {
        let large = |tool: &str, calls: usize| vec![alone(tool, Reason::TooLarge); calls];
        let matching = Matching {
            unmatched_references: large("crop", 2),
            unmatched_predictions: large("scan", 3),
            ..Matching::default()
        };
        let mut by_tool = ByTool::default();
        by_tool.add(Some(FailureClass::TooLarge), &matching, &[], &|_| CallRole::Unknown);
        let found: Vec<(String, String, u64, u64)> = costs(&by_tool, &set(5, 7, 3))
            .into_iter()
            .map(|cost| (cost.calls, cost.reason, cost.lost, cost.of))
            .collect();
        let expected = [("extra", "too_large", 3, 4), ("missed", "task_failed", 2, 2)];
        assert_eq!(found, expected.map(|(calls, reason, lost, of)| (calls.into(), reason.into(), lost, of)));
    }
}
