//! Reports other than scores: outcomes of calls, grades, calibrations, tools, differences of catalogs.

mod calibration;
mod catalog;
mod changes;
mod fidelity;
mod grades;
mod outcomes;
mod table;
mod tools;

pub(crate) use calibration::{calibration_picture, calibration_sheets};
pub(crate) use catalog::CatalogDifferences;
pub(crate) use changes::{ChangesReport, TaskState, changes_sheets};
pub(crate) use fidelity::{fidelity_sheets, sources_sheets, training_sheets};
pub(crate) use grades::grade_sheets;
pub(crate) use outcomes::{OutcomesGatherer, OutcomesRenderer, OutcomesReport, outcomes_renderer};
pub(crate) use table::Table;
pub(crate) use tools::{CatalogFile, FoundTool, HealthReport, SearchReport, one_line, write_tools};
