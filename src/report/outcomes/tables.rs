//! Tables of outcomes that the terminal and Markdown both show.

use m3_outcomes::{NotJudged, Outcome, Verdict};
use m3_report::OutcomeCounts;
use m3_report::sheet::{Cell, Column, Sheet};
use m3_support::text::counted;

use super::{
    CallOutcomeReport, NotJudgedCounts, OutcomesSummary, RateReport, RuleReport, SetOutcomesReport,
    TallyReport, ToolOutcomesReport, TrajectoryOutcomesReport,
};
use crate::report::Table;

/// The most tools that are shown.
const TOOLS: usize = 10;

/// The most failed calls that are shown.
const LISTED: usize = 20;

/// The label for calls that were not executed.
const NOT_EXECUTED: &str = "fits the schema (not executed)";

/// The first failed calls, which are shown, and the number of all.
#[derive(Default)]
pub(super) struct FailedCalls {
    pub(super) calls: Vec<FailedCall>,
    /// The number of all failed calls, shown or not.
    pub(super) count: usize,
}

/// A call without success.
pub(super) struct FailedCall {
    pub(super) id: String,
    pub(super) call: CallOutcomeReport,
}

impl FailedCalls {
    /// Adds the failed calls of a trajectory.
    pub(super) fn add(&mut self, report: &TrajectoryOutcomesReport) {
        // Calls that were not executed have neither an outcome nor a reason why there is none.
        let has_failed = |call: &&CallOutcomeReport| match &call.outcome {
            Some(outcome) => outcome != Outcome::Success.name(),
            None => call.not_judged.is_some(),
        };
        for call in report.details.iter().filter(has_failed) {
            self.count += 1;
            if self.calls.len() < LISTED {
                self.calls.push(FailedCall { id: report.id.clone(), call: call.clone() });
            }
        }
    }

    /// The number of failed calls that are not shown, in words.
    pub(super) fn rest(&self) -> Option<String> {
        let rest = self.count - self.calls.len();
        (rest > 0).then(|| format!("{rest} more; --format json lists all"))
    }

    /// The failed calls as a table.
    pub(super) fn sheet(&self) -> Option<Sheet> {
        let table = Table::new(&self.calls)
            .text("id", |failed| failed.id.clone())
            .text("place", |failed| failed.place())
            .text("tool", |failed| failed.call.tool.clone().unwrap_or_default())
            .text("outcome", |failed| failed.verdict())
            .text("rule", |failed| failed.call.rule.clone())
            .text("evidence", |failed| failed.call.evidence.clone());
        (self.count > 0).then(|| table.sheet("Calls without success", self.rest().into_iter().collect()))
    }
}

impl FailedCall {
    /// The place of the call, counted from 1 as people do.
    pub(super) fn place(&self) -> String {
        self.call.place.map_or_else(
            || "final reply".to_owned(),
            |place| format!("step {}, call {}", place.step + 1, place.call + 1),
        )
    }

    /// The outcome, or why there is none, in words.
    pub(super) fn verdict(&self) -> String {
        let name = self.call.outcome.as_deref().or(self.call.not_judged.as_deref());
        name.unwrap_or_default().replace('_', " ")
    }
}

/// A share in percent; a dash if there is nothing to divide by.
pub(super) fn percent(share: f64, is_of_nothing: bool) -> String {
    if is_of_nothing { "-".to_owned() } else { format!("{:.1} %", 100.0 * share) }
}

/// The numbers of calls, trajectories and known tools, and how the calls were judged.
pub(super) fn headline(summary: &OutcomesSummary) -> String {
    let set = &summary.aggregate;
    let how = match summary.answers.as_str() {
        "replayed" => "replayed against servers",
        "recorded" => "judged by rules and recorded results",
        _ => "judged by rules, nothing was executed",
    };
    format!(
        "{} of {}, {} known, {how}",
        counted(set.tally.calls, "call"),
        counted(set.trajectories, "trajectory"),
        counted(summary.known_tools, "tool"),
    )
}

/// A rate with its counts, or a dash with the reason why there is no rate.
pub(super) fn rate(rate: Option<RateReport>) -> (String, String) {
    match rate {
        Some(RateReport { count, of, rate: Some(rate) }) => {
            (format!("{rate:.4}"), format!("{count} of {of}"))
        }
        Some(_) => ("-".to_owned(), "no calls to take a share of".to_owned()),
        None => ("-".to_owned(), "not known: some calls were not executed".to_owned()),
    }
}

/// The three rates, with their numerators and denominators.
pub(super) fn rate_rows(summary: &OutcomesSummary) -> [(&'static str, Option<RateReport>, &'static str); 3] {
    let tally = &summary.aggregate.tally;
    [
        ("tool name validity", Some(tally.tool_name_validity), "calls"),
        ("schema compliance", Some(tally.schema_compliance), "calls of known tools"),
        ("execution success", tally.execution_success, "calls"),
    ]
}

/// The five outcomes, and calls that fit their schema if some were not executed: name, count, share of all calls.
pub(super) fn shares(tally: &TallyReport) -> Vec<(String, u64, f64)> {
    let of = (tally.judged + tally.not_executed).max(1);
    let five = Outcome::ALL.iter().zip(tally.outcomes.all());
    let mut rows: Vec<_> = five.map(|(outcome, count)| (outcome.name().replace('_', " "), count)).collect();
    rows.extend((tally.not_executed > 0).then(|| (NOT_EXECUTED.to_owned(), tally.not_executed)));
    rows.into_iter().map(|(name, count)| (name, count, count as f64 / of as f64)).collect()
}

/// The five outcomes, and below them calls without one.
pub(super) fn outcomes(summary: &OutcomesSummary) -> Sheet {
    let tally = &summary.aggregate.tally;
    let is_empty = tally.judged + tally.not_executed == 0;
    let shares =
        shares(tally).into_iter().map(|(name, count, share)| (name, count, percent(share, is_empty)));
    let not_judged = NotJudged::ALL.iter().zip(tally.not_judged.all()).filter(|(_, count)| *count > 0);
    let not_judged = not_judged
        .map(|(why, count)| (format!("not judged: {}", why.name().replace('_', " ")), count, String::new()));
    let mut notes = vec![headline(summary)];
    notes.extend(summary.notes.iter().cloned());
    Table::new(shares.chain(not_judged))
        .text("outcome", |(name, ..)| name.clone())
        .number("calls", "calls", |(_, count, _)| count.to_string())
        .number("share", "share", |(.., share)| share.clone())
        .sheet("What became of calls", notes)
}

/// MCP-Bench's rates.
pub(super) fn rates(summary: &OutcomesSummary) -> Sheet {
    let rows = rate_rows(summary).map(|(name, value, of)| (name, rate(value), of));
    Table::new(rows)
        .text("rate", |(name, ..)| (*name).to_owned())
        .number("value", "value", |(_, (text, _), _)| text.clone())
        .text(
            "of",
            |(_, (text, counts), of)| if text == "-" { counts.clone() } else { format!("{counts} {of}") },
        )
        .sheet("Rates", Vec::new())
}

/// The tables of types of task (if wanted), of the tools that fail most, and of the rules, if they are not empty.
pub(super) fn details(summary: &OutcomesSummary, has_types: bool) -> Vec<Sheet> {
    let types = if has_types { types(summary) } else { Sheet::default() };
    let sheets = [types, tools(summary), rules(summary)];
    sheets.into_iter().filter(|sheet| !sheet.rows.is_empty()).collect()
}

/// Counts by name: all calls, the five outcomes, not executed, not judged.
type Counts = (String, [u64; 8]);

/// Counts as a table. The columns for calls that were not executed or not judged appear only if there are such calls.
fn counts_sheet(title: String, first: &str, rows: &[Counts]) -> Sheet {
    let short = ["illegal", "unknown", "invalid", "not found", "success"];
    let five = Outcome::ALL.iter().zip(short);
    let five = five.map(|(outcome, short)| Column::number(&outcome.name().replace('_', " "), short));
    let others = [Column::number("not executed", "not run"), Column::number("not judged", "no answer")];
    let numbers = [Column::number("calls", "calls")].into_iter().chain(five).chain(others);
    let is_shown = |index: usize| index < 6 || rows.iter().any(|(_, counts)| counts[index] > 0);
    let shown = numbers.enumerate().filter(|(index, _)| is_shown(*index)).map(|(_, column)| column);
    let row = |(name, counts): &Counts| {
        let shown = counts.iter().enumerate().filter(|(index, _)| is_shown(*index));
        [Cell::new(name)].into_iter().chain(shown.map(|(_, count)| Cell::new(count.to_string()))).collect()
    };
    Sheet {
        title,
        notes: Vec::new(),
        columns: [Column::text(first)].into_iter().chain(shown).collect(),
        rows: rows.iter().map(row).collect(),
    }
}

fn counts(name: &str, calls: u64, five: &OutcomeCounts, rest: (u64, &NotJudgedCounts)) -> Counts {
    let [illegal, unknown, invalid, not_found, success] = five.all();
    let unanswered = rest.1.all().iter().sum();
    (name.to_owned(), [calls, illegal, unknown, invalid, not_found, success, rest.0, unanswered])
}

fn types(summary: &OutcomesSummary) -> Sheet {
    let rows = summary.by_type.iter().map(|(name, SetOutcomesReport { tally, .. })| {
        counts(name, tally.calls, &tally.outcomes, (tally.not_executed, &tally.not_judged))
    });
    counts_sheet("Types of task".to_owned(), "type", &rows.collect::<Vec<_>>())
}

/// The tools with the most calls that did not succeed.
fn tools(summary: &OutcomesSummary) -> Sheet {
    let failures = |tool: &ToolOutcomesReport| tool.calls - tool.outcomes.success - tool.not_executed;
    let mut failing: Vec<_> = summary.by_tool.iter().filter(|(_, tool)| failures(tool) > 0).collect();
    // The sort is stable: tools that fail equally often stay in the order of their names.
    failing.sort_by_key(|(_, tool)| std::cmp::Reverse(failures(tool)));
    let title = match failing.len() {
        count if count > TOOLS => format!("Tools that fail most ({TOOLS} of {count})"),
        _ => "Tools that fail".to_owned(),
    };
    let rows = failing
        .into_iter()
        .take(TOOLS)
        .map(|(name, tool)| counts(name, tool.calls, &tool.outcomes, (tool.not_executed, &tool.not_judged)));
    counts_sheet(title, "tool", &rows.collect::<Vec<_>>())
}

fn rules(summary: &OutcomesSummary) -> Sheet {
    let verdict = |rule: &RuleReport| {
        let verdict = rule.outcome.as_deref().or(rule.not_judged.as_deref());
        verdict.unwrap_or(Verdict::NotExecuted.name()).replace('_', " ")
    };
    Table::new(&summary.rules)
        .text("rule", |rule| rule.rule.clone())
        .text("outcome", |rule| verdict(rule))
        .text("confidence", |rule| rule.confidence.clone())
        .number("calls", "calls", |rule| rule.calls.to_string())
        .sheet("Rules that decided", Vec::new())
}

/// Servers that were not available, with the reasons.
pub(super) fn servers(summary: &OutcomesSummary) -> Sheet {
    Table::new(&summary.unavailable_servers)
        .text("server", |server| server.server.clone())
        .number("trajectories", "tasks", |server| server.trajectories.to_string())
        .text("reason", |server| server.reason.clone())
        .sheet("Servers that were not available", Vec::new())
}
