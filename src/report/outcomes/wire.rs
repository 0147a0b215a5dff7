//! The JSON of outcomes, `m3.outcomes/1`. `m3 schema outcomes` prints its JSON Schema.

use std::collections::BTreeMap;

use m3_outcomes::{CallCounts, ClassifiedCall, NotJudged, Outcome, Rate, Rule, Verdict};
use m3_report::OutcomeCounts;
use m3_score::CallPlace;
use m3_support::text::shortened;
use schemars::JsonSchema;
use serde::Serialize;

/// The longest name of a tool that is written, in columns.
const TOOL_NAME: usize = 200;

/// The report that `m3 outcomes --format json` writes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.outcomes/1")]
pub(crate) struct OutcomesReport {
    /// Everything but the trajectories.
    #[serde(flatten)]
    pub(crate) summary: OutcomesSummary,
    /// Every trajectory of the file, in its order, one for each id.
    pub(crate) trajectories: Vec<TrajectoryOutcomesReport>,
}

/// The summary of outcomes; with JSON Lines, the last line.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct OutcomesSummary {
    /// Always `m3.outcomes/1`.
    pub(crate) schema: String,
    /// The file of predictions, as it was named.
    pub(crate) predictions: String,
    /// Where answers come from: `none` (nothing was executed and nothing recorded), `recorded` (the predictions have
    /// the results of some calls) or `replayed` (the calls were made again).
    #[schemars(extend("enum" = ["none", "recorded", "replayed"]))]
    pub(crate) answers: String,
    /// The number of tools that calls were judged by.
    pub(crate) known_tools: usize,
    /// The counts of all calls together.
    pub(crate) aggregate: SetOutcomesReport,
    /// Trajectories of each type; those without a type are only in the aggregate.
    pub(crate) by_type: BTreeMap<String, SetOutcomesReport>,
    /// Calls of each tool that was named, known or not; a very long name is shortened.
    pub(crate) by_tool: BTreeMap<String, ToolOutcomesReport>,
    /// The rules that decided any call, in the order in which they are tried.
    pub(crate) rules: Vec<RuleReport>,
    /// Servers that could not be started for some trajectory.
    pub(crate) unavailable_servers: Vec<UnavailableServerReport>,
    /// Notes for the reader of the numbers.
    pub(crate) notes: Vec<String>,
}

/// Counts and rates of a set of trajectories.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct SetOutcomesReport {
    /// The number of trajectories.
    pub(crate) trajectories: u64,
    /// The counts and rates of the calls in these trajectories.
    #[serde(flatten)]
    pub(crate) tally: TallyReport,
}

/// The outcomes of one trajectory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct TrajectoryOutcomesReport {
    /// The task's id.
    pub(crate) id: String,
    /// The task's type; null if it has none.
    #[serde(rename = "type")]
    pub(crate) task_type: Option<String>,
    /// The counts and rates of the trajectory's calls.
    #[serde(flatten)]
    pub(crate) tally: TallyReport,
    /// The calls of the trajectory, in order; a call in the final reply comes last.
    pub(crate) details: Vec<CallOutcomeReport>,
}

/// Counts of calls, and MCP-Bench's rates.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct TallyReport {
    /// The number of calls.
    pub(crate) calls: u64,
    /// Calls that have an outcome: the sum of `outcomes`. With `not_executed` and `not_judged` they add up to `calls`.
    pub(crate) judged: u64,
    /// Calls by outcome.
    pub(crate) outcomes: OutcomeCounts,
    /// Calls without an outcome, by reason.
    pub(crate) not_judged: NotJudgedCounts,
    /// Calls whose answer was used.
    pub(crate) answered: u64,
    /// Calls that fit their schema and have no answer, because nothing was executed: neither success nor failure.
    pub(crate) not_executed: u64,
    /// Calls whose answer was decided by a rule that is not sure.
    pub(crate) unsure: u64,
    /// Calls of known tools among all whose tool could be judged.
    pub(crate) tool_name_validity: RateReport,
    /// Calls whose arguments the schema accepts, among those of known tools.
    pub(crate) schema_compliance: RateReport,
    /// Successes among all calls that were judged; null where some calls were not executed.
    pub(crate) execution_success: Option<RateReport>,
}

/// The number of calls without an outcome, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NotJudgedCounts {
    /// The server could not be started, or is not in the configuration.
    pub(crate) server_not_available: u64,
    /// No answer came in time.
    pub(crate) timed_out: u64,
    /// The server ended, or the connection broke, during the call.
    pub(crate) server_lost: u64,
    /// The answer breaks the protocol or is too large.
    pub(crate) unreadable: u64,
    /// The call failed, and the image that it or an earlier call needed was not found for the replay.
    pub(crate) image_missing: u64,
}

/// A share of calls.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub(crate) struct RateReport {
    /// The numerator.
    pub(crate) count: u64,
    /// The denominator.
    pub(crate) of: u64,
    /// The rate, in [0, 1]; null where the denominator is 0.
    pub(crate) rate: Option<f64>,
}

/// Calls of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ToolOutcomesReport {
    /// The number of calls of the tool.
    pub(crate) calls: u64,
    /// Calls by outcome.
    pub(crate) outcomes: OutcomeCounts,
    /// Calls that fit their schema and were not executed.
    pub(crate) not_executed: u64,
    /// Calls without an outcome, by reason.
    pub(crate) not_judged: NotJudgedCounts,
}

/// A rule and how many calls it decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RuleReport {
    /// The name of the rule.
    pub(crate) rule: String,
    /// The outcome that the rule decides; null for a rule that says why there is none, and for `fits_schema`.
    pub(crate) outcome: Option<String>,
    /// The reason why there is no outcome; null for a rule that decides one, and for `fits_schema`.
    pub(crate) not_judged: Option<String>,
    /// The confidence of the rule: `sure`, `unsure`, or `asked`: a language model decided.
    #[schemars(extend("enum" = ["sure", "unsure", "asked"]))]
    pub(crate) confidence: String,
    /// When the rule applies.
    pub(crate) applies: String,
    /// The number of calls that the rule decided.
    pub(crate) calls: u64,
}

/// A server that could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct UnavailableServerReport {
    /// The name of the server.
    pub(crate) server: String,
    /// The number of trajectories for which the server could not be started.
    pub(crate) trajectories: u64,
    /// The reason of its first failure.
    pub(crate) reason: String,
}

/// The outcome of one call.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct CallOutcomeReport {
    /// The place of the call, counted with entries that are not calls; null for a call in the final reply.
    pub(crate) place: Option<CallPlace>,
    /// The tool as the model named it; null if the model named none.
    pub(crate) tool: Option<String>,
    /// The outcome; null where there is none, and for a call that fits its schema and was not executed.
    #[schemars(extend("enum" = ["illegal_format", "unknown_tool", "invalid_arguments", "resource_not_found", "success", null]))]
    pub(crate) outcome: Option<String>,
    /// The reason why there is no outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_judged: Option<String>,
    /// The rule that decided.
    pub(crate) rule: String,
    /// The confidence of the decision: `sure`, `unsure`, or `asked`: a language model decided.
    #[schemars(extend("enum" = ["sure", "unsure", "asked"]))]
    pub(crate) confidence: String,
    /// The text that the rule decided by, shortened; untrusted, with control characters made visible.
    pub(crate) evidence: String,
    /// The problems of the arguments by the schema, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<ArgumentProblemReport>,
}

/// A problem of the arguments by the schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ArgumentProblemReport {
    /// JSON pointer (RFC 6901) into the arguments.
    pub(crate) pointer: String,
    /// The keyword of JSON Schema that is not satisfied.
    pub(crate) keyword: String,
    /// The problem in words.
    pub(crate) message: String,
}

fn outcome_counts(tally: &CallCounts) -> OutcomeCounts {
    let [illegal_format, unknown_tool, invalid_arguments, resource_not_found, success] =
        Outcome::ALL.map(|outcome| tally.outcome(outcome));
    OutcomeCounts { illegal_format, unknown_tool, invalid_arguments, resource_not_found, success }
}

impl From<&CallCounts> for NotJudgedCounts {
    fn from(tally: &CallCounts) -> Self {
        let [server_not_available, timed_out, server_lost, unreadable, image_missing] =
            NotJudged::ALL.map(|reason| tally.without_outcome(reason));
        Self { server_not_available, timed_out, server_lost, unreadable, image_missing }
    }
}

impl NotJudgedCounts {
    /// The counts in the order of [`NotJudged::ALL`].
    pub(crate) fn all(&self) -> [u64; NotJudged::ALL.len()] {
        [self.server_not_available, self.timed_out, self.server_lost, self.unreadable, self.image_missing]
    }
}

impl From<Rate> for RateReport {
    fn from(rate: Rate) -> Self {
        Self { count: rate.count, of: rate.of, rate: rate.value() }
    }
}

impl From<&CallCounts> for TallyReport {
    fn from(tally: &CallCounts) -> Self {
        Self {
            calls: tally.calls,
            judged: tally.with_outcome(),
            outcomes: outcome_counts(tally),
            not_judged: tally.into(),
            answered: tally.answered,
            not_executed: tally.not_executed,
            unsure: tally.unsure,
            tool_name_validity: tally.tool_name_validity().into(),
            schema_compliance: tally.schema_compliance().into(),
            execution_success: tally.execution_success().map(RateReport::from),
        }
    }
}

impl From<&CallCounts> for ToolOutcomesReport {
    fn from(tally: &CallCounts) -> Self {
        Self {
            calls: tally.calls,
            outcomes: outcome_counts(tally),
            not_executed: tally.not_executed,
            not_judged: tally.into(),
        }
    }
}

impl RuleReport {
    /// A rule that decided this many calls.
    pub(crate) fn new(rule: &Rule, calls: u64) -> Self {
        let (outcome, not_judged) = names(rule);
        Self {
            rule: rule.name.to_owned(),
            outcome,
            not_judged,
            confidence: rule.confidence.name().to_owned(),
            applies: rule.applies.to_owned(),
            calls,
        }
    }
}

/// The names of a rule's outcome, or of the reason why there is none.
fn names(rule: &Rule) -> (Option<String>, Option<String>) {
    let name = Some(rule.verdict.name().to_owned());
    match rule.verdict {
        Verdict::Outcome(_) => (name, None),
        Verdict::NotExecuted => (None, None),
        Verdict::NotJudged(_) => (None, name),
    }
}

/// A tool's name as it is written: a very long one is shortened.
pub(crate) fn tool_name(tool: &str) -> String {
    if tool.len() <= TOOL_NAME { tool.to_owned() } else { shortened(tool, TOOL_NAME) }
}

impl From<&ClassifiedCall> for CallOutcomeReport {
    fn from(call: &ClassifiedCall) -> Self {
        let classification = &call.classification;
        let (outcome, not_judged) = names(classification.rule);
        let problems = classification.problems.iter().map(|problem| ArgumentProblemReport {
            pointer: shortened(&problem.pointer, TOOL_NAME),
            keyword: problem.keyword.clone(),
            message: problem.message.clone(),
        });
        Self {
            place: call.place.map(|place| CallPlace {
                step: place.step,
                call: place.call,
                index: place.index,
            }),
            tool: call.tool.as_deref().map(tool_name),
            outcome,
            not_judged,
            rule: classification.rule.name.to_owned(),
            confidence: classification.rule.confidence.name().to_owned(),
            evidence: classification.evidence.clone(),
            problems: problems.collect(),
        }
    }
}
