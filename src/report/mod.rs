//! Reports other than scores: outcomes of calls, grades, calibrations, tools, differences of catalogs.

mod calibration;
mod catalog;
mod changes;
mod fidelity;
mod grades;
mod outcomes;
mod tools;

pub use calibration::{calibration_picture, calibration_sheets};
pub use catalog::{CatalogDifferences, Change, ServerDifferences, ToolDifference};
pub use changes::{ChangesReport, TaskChange, TaskState, changes_sheets};
pub use fidelity::{fidelity_sheets, sources_sheets, training_sheets};
pub use grades::grade_sheets;
pub use outcomes::{
    ArgumentProblemReport, CallOutcomeReport, NotJudgedCounts, OutcomesGatherer, OutcomesRenderer,
    OutcomesReport, OutcomesSummary, RateReport, RuleReport, SetOutcomesReport, TallyReport,
    ToolOutcomesReport, TrajectoryOutcomesReport, UnavailableServerReport, outcomes_renderer,
};
pub use tools::{
    CatalogFile, FoundTool, HealthReport, RejectedToolReport, SearchReport, ServerHealth, one_line,
    write_tools,
};
