//! A scored pair as JSON, for programs that score pair by pair. It is written here, where code is optimized for speed.

use m3_support::text::json_without_hidden;
use serde::Serialize;

use crate::TrajectoryReport;

/// The known facts of a pair that the profile leaves out.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LeftOut<'p> {
    /// The reference's id.
    pub id: &'p str,
    /// The reference's type.
    #[serde(rename = "type")]
    pub task_type: Option<&'p str>,
    /// Why the task failed.
    pub failure: Option<&'static str>,
}

#[derive(Serialize)]
struct Row<'p> {
    #[serde(flatten)]
    report: Option<&'p TrajectoryReport>,
    #[serde(flatten)]
    left_out: Option<LeftOut<'p>>,
    sums: Option<&'p str>,
}

/// The report of a pair, or what is known of one that is left out, with its sums as text.
///
/// # Errors
/// No case is known: all keys of a report are texts.
pub fn pair_json(
    report: Result<&TrajectoryReport, LeftOut<'_>>,
    sums: Option<&str>,
) -> serde_json::Result<String> {
    let row = Row { report: report.ok(), left_out: report.err(), sums };
    Ok(json_without_hidden(&serde_json::to_string(&row)?).into_owned())
}
