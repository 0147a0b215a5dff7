//! How far suites agree: about the order of models, and about every task.
//!
//! ```text
//! results of m3 score --suite -> [ScoredModel] -> views -> matrices of models and tasks -> AgreeReport -> sheets, picture
//! ```

mod read;
mod report;
mod sheets;
mod statistics;
mod view;

pub use read::{ScoredModel, read_scored};
pub use report::{
    AgreeReport, CorrelationReport, RankedModel, TaskVerdicts, VerdictsReport, ViewReport, Yardstick,
    YardstickReport,
};
pub use sheets::{agree_picture, agree_sheets};
pub use statistics::{AgreeError, PASS_MARK};
pub use view::{View, views};
