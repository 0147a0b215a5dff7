//! Tables of outcomes that the terminal and Markdown both show.

use super::{CallOutcomeReport, OutcomesSummary, RateReport, ToolOutcomesReport, TrajectoryOutcomesReport};
use crate::outcomes::{NotJudged, Outcome};
use crate::report::sheet::{Cell, Column, Sheet};
use crate::text::counted;

/// How many tools are shown.
const TOOLS: usize = 10;

/// How many calls that failed are shown.
const LISTED: usize = 20;

/// Calls that have no success, as many of them as are shown.
#[derive(Debug, Default)]
pub(super) struct Failed {
    pub(super) calls: Vec<FailedCall>,
    /// All of them, shown or not.
    pub(super) count: usize,
}

/// A call that has no success.
#[derive(Debug)]
pub(super) struct FailedCall {
    pub(super) id: String,
    pub(super) call: CallOutcomeReport,
}

impl Failed {
    /// Takes those of a trajectory.
    pub(super) fn add(&mut self, report: &TrajectoryOutcomesReport) {
        let is_success = |call: &&CallOutcomeReport| call.outcome.as_deref() == Some(Outcome::Success.name());
        for call in report.details.iter().filter(|call| !is_success(call)) {
            self.count += 1;
            if self.calls.len() < LISTED {
                self.calls.push(FailedCall { id: report.id.clone(), call: call.clone() });
            }
        }
    }

    /// How many are not shown, in words.
    pub(super) fn rest(&self) -> Option<String> {
        let rest = self.count - self.calls.len();
        (rest > 0).then(|| format!("{rest} more; --format json lists all"))
    }

    /// As a table.
    pub(super) fn sheet(&self) -> Option<Sheet> {
        let row = |failed: &FailedCall| {
            let cells = [
                failed.id.clone(),
                failed.place(),
                failed.call.tool.clone().unwrap_or_default(),
                failed.verdict(),
                failed.call.rule.clone(),
                failed.call.evidence.clone(),
            ];
            cells.map(Cell::new).to_vec()
        };
        (self.count > 0).then(|| Sheet {
            title: "Calls without success".to_owned(),
            notes: self.rest().into_iter().collect(),
            columns: ["id", "place", "tool", "outcome", "rule", "evidence"].map(Column::text).to_vec(),
            rows: self.calls.iter().map(row).collect(),
        })
    }
}

impl FailedCall {
    /// Where it stands, counted from 1 as people do.
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

/// A share in percent.
pub(super) fn percent(count: u64, of: u64) -> String {
    if of == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * count as f64 / of as f64) }
}

/// What was judged, and what by.
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

/// A rate, or why there is none.
pub(super) fn rate(rate: Option<RateReport>) -> (String, String) {
    match rate {
        Some(RateReport { count, of, rate: Some(rate) }) => {
            (format!("{rate:.4}"), format!("{count} of {of}"))
        }
        Some(_) => ("-".to_owned(), "no calls to take a share of".to_owned()),
        None => ("-".to_owned(), "not known: some calls have no answer".to_owned()),
    }
}

/// The three rates with what they count.
pub(super) fn rate_rows(summary: &OutcomesSummary) -> [(&'static str, Option<RateReport>, &'static str); 3] {
    let tally = &summary.aggregate.tally;
    [
        ("tool name validity", Some(tally.tool_name_validity), "calls"),
        ("schema compliance", Some(tally.schema_compliance), "calls of known tools"),
        ("execution success", tally.execution_success, "calls"),
    ]
}

/// The five outcomes, and below them calls that have none.
pub(super) fn outcomes(summary: &OutcomesSummary) -> Sheet {
    let tally = &summary.aggregate.tally;
    let row = |name: &str, count: u64, share: String| {
        vec![Cell::new(name.replace('_', " ")), Cell::new(count.to_string()), Cell::new(share)]
    };
    let five = Outcome::ALL.iter().zip(tally.outcomes.all());
    let mut rows: Vec<_> =
        five.map(|(outcome, count)| row(outcome.name(), count, percent(count, tally.judged))).collect();
    for (why, count) in NotJudged::ALL.iter().zip(tally.not_judged.all()) {
        if count > 0 {
            rows.push(row(&format!("not judged: {}", why.name()), count, String::new()));
        }
    }
    let mut notes = vec![headline(summary)];
    notes.extend(summary.notes.iter().cloned());
    Sheet {
        title: "What became of calls".to_owned(),
        notes,
        columns: vec![
            Column::text("outcome"),
            Column::number("calls", "calls"),
            Column::number("share", "share"),
        ],
        rows,
    }
}

/// MCP-Bench's rates.
pub(super) fn rates(summary: &OutcomesSummary) -> Sheet {
    let row = |(name, value, of): (&str, Option<RateReport>, &str)| {
        let (text, counts) = rate(value);
        let counts = if text == "-" { counts } else { format!("{counts} {of}") };
        vec![Cell::new(name), Cell::new(text), Cell::new(counts)]
    };
    Sheet {
        title: "Rates".to_owned(),
        notes: Vec::new(),
        columns: vec![Column::text("rate"), Column::number("value", "value"), Column::text("of")],
        rows: rate_rows(summary).map(row).to_vec(),
    }
}

/// Types of task if asked for, tools that fail most, rules; only those that have something to show.
pub(super) fn details(summary: &OutcomesSummary, has_types: bool) -> Vec<Sheet> {
    let types = if has_types { types(summary) } else { Sheet::default() };
    let sheets = [types, tools(summary), rules(summary)];
    sheets.into_iter().filter(|sheet| !sheet.rows.is_empty()).collect()
}

fn count_columns(first: &str) -> Vec<Column> {
    let short = ["illegal", "unknown", "invalid", "not found", "success"];
    let names = Outcome::ALL.iter().zip(short);
    let columns = names.map(|(outcome, short)| Column::number(&outcome.name().replace('_', " "), short));
    [Column::text(first), Column::number("calls", "calls")]
        .into_iter()
        .chain(columns)
        .chain([Column::number("not judged", "no answer")])
        .collect()
}

fn count_row(name: &str, calls: u64, outcomes: [u64; 5], not_judged: [u64; 5]) -> Vec<Cell> {
    let numbers = [calls].into_iter().chain(outcomes).chain([not_judged.iter().sum()]);
    [Cell::new(name)].into_iter().chain(numbers.map(|number| Cell::new(number.to_string()))).collect()
}

fn types(summary: &OutcomesSummary) -> Sheet {
    let row = |(name, set): (&String, &super::SetOutcomesReport)| {
        count_row(name, set.tally.calls, set.tally.outcomes.all(), set.tally.not_judged.all())
    };
    Sheet {
        title: "Types of task".to_owned(),
        notes: Vec::new(),
        columns: count_columns("type"),
        rows: summary.by_type.iter().map(row).collect(),
    }
}

/// The tools with most calls that did not succeed.
fn tools(summary: &OutcomesSummary) -> Sheet {
    let failures = |tool: &ToolOutcomesReport| tool.calls - tool.outcomes.success;
    let mut failing: Vec<_> = summary.by_tool.iter().filter(|(_, tool)| failures(tool) > 0).collect();
    // Stable: tools that fail equally often stay in the order of their names.
    failing.sort_by_key(|(_, tool)| std::cmp::Reverse(failures(tool)));
    let count = failing.len();
    let rows = failing
        .into_iter()
        .take(TOOLS)
        .map(|(name, tool)| count_row(name, tool.calls, tool.outcomes.all(), tool.not_judged.all()));
    let title = if count > TOOLS {
        format!("Tools that fail most ({TOOLS} of {count})")
    } else {
        "Tools that fail".to_owned()
    };
    Sheet { title, notes: Vec::new(), columns: count_columns("tool"), rows: rows.collect() }
}

fn rules(summary: &OutcomesSummary) -> Sheet {
    let rows = summary.rules.iter().map(|rule| {
        let verdict = rule.outcome.as_deref().or(rule.not_judged.as_deref()).unwrap_or_default();
        let cells =
            [rule.rule.clone(), verdict.replace('_', " "), rule.confidence.clone(), rule.calls.to_string()];
        cells.map(Cell::new).to_vec()
    });
    Sheet {
        title: "Rules that decided".to_owned(),
        notes: Vec::new(),
        columns: vec![
            Column::text("rule"),
            Column::text("outcome"),
            Column::text("confidence"),
            Column::number("calls", "calls"),
        ],
        rows: rows.collect(),
    }
}

/// Servers that were not there, with their reasons.
pub(super) fn servers(summary: &OutcomesSummary) -> Sheet {
    let rows = summary.unavailable_servers.iter().map(|server| {
        [server.server.clone(), server.trajectories.to_string(), server.reason.clone()]
            .map(Cell::new)
            .to_vec()
    });
    Sheet {
        title: "Servers that were not available".to_owned(),
        notes: Vec::new(),
        columns: vec![
            Column::text("server"),
            Column::number("trajectories", "tasks"),
            Column::text("reason"),
        ],
        rows: rows.collect(),
    }
}
