//! Compares suites: how far they agree about the order of models and about every task, and which metric predicts
//! success, if there are labels.
//!
//! ```text
//! results of m3 score -> [ScoredModel] -> views -> table of models and tasks -> AgreeReport -> sheets, picture
//!                           labels of success -> all metrics -> SuccessReport -^
//! ```

mod error;
mod read;
mod report;
mod sheets;
mod statistics;
mod success;
mod success_report;
mod success_sheets;
mod table;
mod view;

pub use error::AgreeError;
pub use read::{ScoredModel, read_scored};
pub use report::{
    AgreeReport, CorrelationReport, RankedModel, TaskVerdicts, VerdictsReport, ViewReport, Yardstick,
    YardstickReport,
};
pub use sheets::{agree_picture, agree_sheets};
pub use success_report::{LabelsReport, MetricSuccess, ReliabilityBin, ReliabilityReport, SuccessReport};
pub use table::PASS_MARK;
pub use view::{View, views};
