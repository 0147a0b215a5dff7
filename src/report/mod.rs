//! Reports other than scores: outcomes of calls, grades, calibrations, tools, differences of catalogs.

mod calibration;
mod catalog;
mod changes;
mod fidelity;
mod grades;
mod outcomes;
mod tools;

pub(crate) use calibration::{calibration_picture, calibration_sheets};
pub(crate) use catalog::{CatalogDifferences, Change, ServerDifferences, ToolDifference};
pub(crate) use changes::{ChangesReport, TaskChange, TaskState, changes_sheets};
pub(crate) use fidelity::{fidelity_sheets, sources_sheets, training_sheets};
pub(crate) use grades::grade_sheets;
pub(crate) use outcomes::{
    ArgumentProblemReport, CallOutcomeReport, NotJudgedCounts, OutcomesGatherer, OutcomesRenderer,
    OutcomesReport, OutcomesSummary, RateReport, RuleReport, SetOutcomesReport, TallyReport,
    ToolOutcomesReport, TrajectoryOutcomesReport, UnavailableServerReport, outcomes_renderer,
};
pub(crate) use tools::{
    CatalogFile, FoundTool, HealthReport, RejectedToolReport, SearchReport, ServerHealth, one_line,
    write_tools,
};
