//! Several models side by side: results in, a leaderboard or a paired comparison out.
//!
//! ```text
//! result files -> ModelResult -> (same ids) -> GradedSums per trajectory -> stats -> Leaderboard, Comparison
//! ```
//!
//! A [`ModelResult`] is what `m3 score` wrote for one model, or one row of a table of finished numbers such as the
//! paper's. [`Leaderboard`] ranks them with intervals, and [`Comparison`] compares two of them. Every number of a set
//! is computed anew from sums over its trajectories, by the same formula that `m3 score` uses, so resampled sets are
//! computed in the same way as the set itself.

mod board;
mod columns;
mod compare;
mod decision;
mod entry;
pub mod failures;
mod graded_sums;
mod kept;
mod origin;
mod plain_error;
mod published;
mod read;
mod repeats;
mod report;
mod result;
mod scored;
mod selection;
mod statistics;
mod suites;
mod table;

pub use columns::{Average, column_named, column_names};
pub use compare::{COMPARISON_SCHEMA, Comparison, PassingComparison};
pub use decision::{ChangedTrajectory, ComparisonError, Decision, DifferenceReport};
pub use failures::FailuresReport;
pub use graded_sums::{GradedSums, values};
pub(crate) use published::MARK as PUBLISHED_MARK;
pub use published::{PUBLISHED, PublishedTable};
pub use read::read_results;
pub(crate) use read::{open_result, read_entries, stem};
pub use repeats::{ModelPassReport, PassingReport};
pub use report::{
    AverageReport, CallsReport, LEADERBOARD_SCHEMA, Leaderboard, ModelReport, OutcomesReport, RankReport,
    TestMethod, TestsReport, TokensReport, TypeReport, TypeRowReport,
};
pub use result::{ModelResult, Numbers, Origin, ReferenceCalls, Repeats, TrajectoryResult, Usage};
pub use scored::SelectionError;
pub use selection::{SelectOptions, Selection, select};
pub use suites::{SuiteBoardReport, SuiteRowReport};
