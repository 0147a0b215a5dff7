//! Adds up the outcomes of trajectories to a summary.

use std::collections::BTreeMap;

use m3_outcomes::{CallCounts, ClassifiedCall, all_rules};
use m3_report::OUTCOMES_SCHEMA;
use m3_support::text::shortened;
use m3_trajectory::Trajectory;

use super::wire::tool_name;
use super::{
    CallOutcomeReport, OutcomesSummary, RuleReport, SetOutcomesReport, TallyReport, ToolOutcomesReport,
    TrajectoryOutcomesReport, UnavailableServerReport,
};

/// The longest reason of a server that is written, in columns.
const REASON: usize = 300;

/// The outcomes gathered so far.
#[derive(Debug, Default)]
pub(crate) struct OutcomesGatherer {
    all: OutcomeSums,
    by_type: BTreeMap<String, OutcomeSums>,
    by_tool: BTreeMap<String, CallCounts>,
    by_rule: BTreeMap<&'static str, u64>,
    servers: BTreeMap<String, UnavailableServerReport>,
}

#[derive(Debug, Default, Clone, Copy)]
struct OutcomeSums {
    trajectories: u64,
    tally: CallCounts,
}

impl OutcomeSums {
    fn add(&mut self, tally: CallCounts) {
        self.trajectories += 1;
        self.tally += tally;
    }

    fn report(&self) -> SetOutcomesReport {
        SetOutcomesReport { trajectories: self.trajectories, tally: TallyReport::from(&self.tally) }
    }
}

impl OutcomesGatherer {
    /// Adds the calls of a trajectory and returns its report.
    pub(crate) fn add(
        &mut self,
        trajectory: &Trajectory,
        calls: &[ClassifiedCall],
    ) -> TrajectoryOutcomesReport {
        let tally = CallCounts::from_calls(calls);
        self.all.add(tally);
        if let Some(task_type) = &trajectory.task_type {
            self.by_type.entry(task_type.clone()).or_default().add(tally);
        }
        for call in calls {
            if let Some(tool) = &call.tool {
                self.by_tool.entry(tool_name(tool)).or_default().add(call);
            }
            *self.by_rule.entry(call.classification.rule.name).or_default() += 1;
        }
        TrajectoryOutcomesReport {
            id: trajectory.id.clone(),
            task_type: trajectory.task_type.clone(),
            tally: TallyReport::from(&tally),
            details: calls.iter().map(CallOutcomeReport::from).collect(),
        }
    }

    /// Notes a server that could not be started for a trajectory.
    pub(crate) fn add_unavailable(&mut self, server: &str, reason: &str) {
        let entry = self.servers.entry(server.to_owned()).or_insert_with(|| UnavailableServerReport {
            server: server.to_owned(),
            trajectories: 0,
            reason: shortened(reason, REASON),
        });
        entry.trajectories += 1;
    }

    /// The counts of all calls so far.
    pub(crate) fn tally(&self) -> &CallCounts {
        &self.all.tally
    }

    /// The summary. `predictions` is the file's name; `known_tools` is the number of tools that calls were checked
    /// against.
    pub(crate) fn finish(self, predictions: &str, known_tools: usize, is_replayed: bool) -> OutcomesSummary {
        let tally = &self.all.tally;
        let answers = match (is_replayed, tally.answered + tally.unanswered()) {
            (true, _) => "replayed",
            (false, 0) => "none",
            (false, _) => "recorded",
        };
        let rules = all_rules().filter_map(|rule| {
            let calls = *self.by_rule.get(rule.name)?;
            Some(RuleReport::new(rule, calls))
        });
        OutcomesSummary {
            schema: OUTCOMES_SCHEMA.to_owned(),
            predictions: predictions.to_owned(),
            answers: answers.to_owned(),
            known_tools,
            aggregate: self.all.report(),
            by_type: self.by_type.iter().map(|(name, set)| (name.clone(), set.report())).collect(),
            by_tool: self
                .by_tool
                .iter()
                .map(|(name, tally)| (name.clone(), ToolOutcomesReport::from(tally)))
                .collect(),
            rules: rules.collect(),
            notes: notes(tally),
            unavailable_servers: self.servers.into_values().collect(),
        }
    }
}

/// Notes on the numbers for the reader.
fn notes(tally: &CallCounts) -> Vec<String> {
    let mut notes = Vec::new();
    if tally.not_executed > 0 {
        notes.push(format!(
            "{} of {} calls show no mistake and were not executed: they count as neither success nor failure \
             (--servers replays them)",
            tally.not_executed, tally.calls
        ));
    }
    if tally.unsure > 0 {
        notes.push(format!(
            "{} of {} answers were decided by a rule that is not sure (`confidence` in --format json)",
            tally.unsure, tally.answered
        ));
    }
    notes
}
