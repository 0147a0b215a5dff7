//! `MCP-AgentBench` (arXiv 2509.09734): does the final answer solve the task, and does the judge agree with people?

mod agreement;
mod category;

use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

use crate::members::{Cost, grade};
use crate::suite::{Group, Scorer, Suite, SuiteMetric, SuiteResult, Trial, by_key, notes_on};
use crate::values::Values;
use agreement::Votes;
use category::category;

/// The suite of `MCP-AgentBench`. No program was published with the paper.
pub(crate) static SUITE: Suite = Suite {
    name: "mcp-agentbench",
    title: "MCP-AgentBench",
    has_published: false,
    metrics: &[
        SuiteMetric::percent(
            "pass_rate",
            "Queries whose answer the judge passes; those that were not judged count as not passed.",
        ),
        SuiteMetric::count("not_judged", "Queries without a verdict."),
        SuiteMetric::count("refusals", "Queries that need a call and have none."),
        SuiteMetric::number("tokens", "Mean tokens of a query."),
        SuiteMetric::number("passes_per_1000_tokens", "Passes by thousands of tokens."),
        SuiteMetric::percent("percent_agreement", "Queries where the judge equals the majority of people."),
        SuiteMetric::number("cohen_kappa", "Judge and majority, without chance."),
        SuiteMetric::number("fleiss_kappa", "People among themselves, without chance."),
        SuiteMetric::percent("three_way_agreement", "Queries on which all people agree."),
    ],
    open: |_| Box::new(McpAgentBench::default()),
};

/// The facts of a trial.
struct Record {
    category: &'static str,
    repeat: usize,
    /// The judge's verdict; an empty answer fails without being judged.
    verdict: Option<bool>,
    /// Whether a judge gave a verdict.
    is_judged: bool,
    /// Whether there is nothing to judge by: no verdict, and no answer in the reference.
    is_unjudgeable: bool,
    is_refusal: bool,
    tokens: Option<f64>,
    votes: Votes,
}

#[derive(Default)]
struct McpAgentBench {
    records: Vec<Record>,
}

impl Scorer for McpAgentBench {
    fn trial(&mut self, trial: &Trial<'_>) -> Values {
        let prediction = trial.prediction;
        let verdict = verdict(trial);
        let record = Record {
            category: category(trial.reference),
            repeat: trial.repeat,
            verdict,
            is_judged: judged(trial).is_some(),
            is_unjudgeable: verdict.is_none() && !has_answer(trial.reference),
            is_refusal: trial.reference.call_count() > 0 && prediction.is_some_and(|it| it.call_count() == 0),
            tokens: prediction.and_then(tokens),
            votes: Votes::from_trial(trial),
        };
        let passes = record.verdict.map(|passes| f64::from(u8::from(passes)));
        let values = Values::from([
            ("pass_rate", passes),
            ("refusals", Some(f64::from(u8::from(record.is_refusal)))),
            ("tokens", record.tokens),
        ]);
        self.records.push(record);
        values
    }

    fn finish(self: Box<Self>) -> SuiteResult {
        let all: Vec<&Record> = self.records.iter().collect();
        let mut aggregate = rates(&all);
        let known: Vec<&Record> = all.iter().copied().filter(|record| record.tokens.is_some()).collect();
        let sum = known.iter().filter_map(|record| record.tokens).sum::<f64>();
        let of_known = |value: f64| (sum > 0.0).then_some(value);
        aggregate.push("tokens", of_known(sum / known.len() as f64));
        aggregate.push("passes_per_1000_tokens", of_known(1000.0 * passes(&known) / sum));
        let judged: Vec<(Option<bool>, &Votes)> = all.iter().map(|it| (it.verdict, &it.votes)).collect();
        agreement::push(&mut aggregate, &judged);
        let categories = by_key(&self.records, |record| Some(record.category));
        let group = |(category, records): (&str, Vec<&Record>)| Group {
            by: "category",
            name: category.to_owned(),
            tasks: records.iter().filter(|record| record.repeat == 1).count(),
            values: rates(&records),
        };
        let groups = categories.into_iter().map(group).collect();
        let count = |is: fn(&Record) -> bool| all.iter().filter(|record| is(record)).count();
        let unjudged = count(Record::is_unjudged);
        let unjudgeable = count(|record| record.is_unjudgeable);
        let without_tokens = if known.is_empty() { 0 } else { all.len() - known.len() };
        let notes = notes_on([
            (
                unjudged,
                format!(
                    "not judged, counted as not passed: {unjudged} (--grades of m3 grade --rubric mcp-eval)"
                ),
            ),
            (
                unjudgeable,
                format!(
                    "cannot be judged, since the reference has no answer (`final_reply`), and left out: {unjudgeable}"
                ),
            ),
            (
                without_tokens,
                format!(
                    "without tokens, left out of `tokens` and `passes_per_1000_tokens`: {without_tokens}"
                ),
            ),
        ]);
        SuiteResult { aggregate, groups, notes }
    }
}

impl Record {
    /// Whether the judge could have been asked, and was not.
    fn is_unjudged(&self) -> bool {
        self.verdict.is_none() && !self.is_unjudgeable
    }
}

/// The rates of the trials that can be judged (section 2.3; table 1 has percent).
fn rates(records: &[&Record]) -> Values {
    let count = |is: fn(&Record) -> bool| records.iter().filter(|record| is(record)).count() as f64;
    let judgeable = count(|record| !record.is_unjudgeable);
    let is_judged = records.iter().any(|record| record.is_judged) || count(Record::is_unjudged) == 0.0;
    Values::from([
        ("pass_rate", (judgeable > 0.0 && is_judged).then(|| 100.0 * passes(records) / judgeable)),
        ("not_judged", Some(count(Record::is_unjudged))),
        ("refusals", Some(count(|record| record.is_refusal))),
    ])
}

fn passes(records: &[&Record]) -> f64 {
    records.iter().filter(|record| record.verdict == Some(true)).count() as f64
}

fn has_answer(trajectory: &Trajectory) -> bool {
    trajectory.final_reply.as_ref().is_some_and(|answer| !answer.trim().is_empty())
}

/// The judge's verdict, if there is one.
fn judged(trial: &Trial<'_>) -> Option<bool> {
    grade(trial, "mcp_eval").map(|grade| grade >= 0.5)
}

/// The judge's verdict on the answer; a trial without an answer or a prediction fails without it. `None` if it was not
/// judged, or cannot be.
fn verdict(trial: &Trial<'_>) -> Option<bool> {
    let verdict = judged(trial);
    let has_failed = !trial.prediction.is_some_and(has_answer);
    if has_failed && (verdict.is_some() || has_answer(trial.reference)) { Some(false) } else { verdict }
}

/// The input and output tokens of a prediction, added up.
fn tokens(prediction: &Trajectory) -> Option<f64> {
    let Cost { input_tokens, output_tokens, .. } = Cost::from_prediction(prediction);
    Some(input_tokens? + output_tokens?)
}

/// The verdict that the word `pass` or `fail` stands for.
fn word(value: &Json) -> Option<bool> {
    match value.as_str()? {
        "pass" => Some(true),
        "fail" => Some(false),
        _ => None,
    }
}

/// The verdicts of people that a trajectory has.
fn people(trajectory: &Trajectory) -> Vec<bool> {
    trajectory.get("votes").map(Json::items).unwrap_or_default().iter().filter_map(word).collect()
}
