//! Results as text: one file per form, behind one trait.
//!
//! A [`ScoreRenderer`] gets each trajectory as it is scored and the summary at the end, and writes to the writer it
//! was made with. No renderer holds more than one trajectory, however many there are. Other results are [`Sheet`]s,
//! tables that are independent of the form they are written in:
//!
//! ```
//! use m3_report::{Cell, Column, Sheet, SheetForm, write_sheets};
//!
//! let sheet = Sheet {
//!     title: "Models".into(),
//!     columns: vec![Column::text("model"), Column::number("recall", "rec.")],
//!     rows: vec![vec![Cell::new("a"), Cell { text: "0.97".into(), is_best: true }]],
//!     ..Sheet::default()
//! };
//! let mut written = Vec::new();
//! write_sheets(SheetForm::Markdown, &[sheet], &mut written)?;
//! assert!(String::from_utf8_lossy(&written).contains("| a | **0.97** |"));
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod agree;
mod arguments;
pub mod audit;
mod by_tool;
mod comparison;
mod csv;
mod estimate;
mod evaluations;
mod faults;
mod floors;
mod graded;
mod json;
mod junit;
pub mod leaderboard;
mod leaderboard_sheets;
mod ledger;
mod markdown;
mod metrics;
mod outcomes;
mod pair;
mod pictures;
mod places;
mod repeats;
mod result_pictures;
mod sarif;
pub mod sheet;
mod show;
mod suites;
mod tables;
pub mod terminal;
mod tool_names;
mod unusable;
mod validation;
mod wire;

use std::io::{self, Write};

pub use comparison::comparison_sheets;
pub use csv::Csv;
pub use estimate::EstimateReport;
pub use evaluations::Evaluations;
pub use floors::Floor;
pub use graded::{GradesByTrajectory, PanelGrades};
pub use json::{Json, JsonLines};
pub use junit::{Junit, write_comparison_as_junit, write_validation_as_junit};
pub use leaderboard_sheets::leaderboard_sheets;
pub use m3_support::text::{json_without_hidden, shortened, visible};
pub use markdown::Markdown;
pub use metrics::MetricsReport;
pub use outcomes::{OUTCOMES_SCHEMA, OutcomeCounts, OutcomesByTrajectory, TaskOutcomes};
pub use pair::{LeftOut, pair_json};
pub use pictures::{Picture, PictureChoice, leaderboard_pictures};
pub use places::{FilePlace, Places, SpanPlace, file_uri};
pub use repeats::RepeatsGatherer;
pub use result_pictures::ResultPictures;
pub use sarif::{Sarif, write_comparison_as_sarif, write_validation_as_sarif};
pub use sheet::{Cell, Column, Sheet, SheetForm, write_page, write_sheets};
pub use show::{ListedTrajectory, ShowOptions, ShownTrajectory, write_list, write_list_as_markdown};
pub use terminal::Terminal;
pub use tool_names::ToolNamesReport;
pub use unusable::{UnusableFile, open as open_decompressed};
pub use validation::{FileReport, ProblemReport, ValidationReport};
pub use wire::{
    AggregateReport, ArgumentReport, ArgumentRuleReport, AskedReport, Band, BestPrediction, BestReference,
    CostReport, CostToolReport, CoverageReport, EncoderReport, FidelityModelReport, FurtherPairReport,
    InputReport, InputsReport, JobReason, JobReport, JobsReport, LedgerReport, MatchOptionsReport,
    MatchReport, MatchedReport, Named, OWN_SUITE, PassRateReport, RegionReport, RegionsReport,
    RejectedMatchesReport, RepeatsReport, RepetitionReport, ReplacementReport, ResultsReport, SCORE_SCHEMA,
    ScoreReport, ScoreSummary, SpreadReport, SuiteGroupReport, SuiteMetricReport, SuiteReport, SuiteTrial,
    SuiteValue, SuiteValues, TaskTrialsReport, ThresholdsReport, ToolReport, TrajectoryReport,
    UnmatchedPredictionReport, UnmatchedReferenceReport, VerdictReport,
};

/// Writes a score in one form.
pub trait ScoreRenderer {
    /// Takes the next trajectory, in the order of the references.
    ///
    /// # Errors
    /// The writer's reason.
    fn trajectory(&mut self, report: &TrajectoryReport) -> io::Result<()>;

    /// Takes the summary, and writes the rest.
    ///
    /// # Errors
    /// The writer's reason.
    fn finish(&mut self, summary: &ScoreSummary) -> io::Result<()>;
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
    /// For people
    Table,
    /// Everything, as one document
    Json,
    /// One trajectory a line, the summary last: for files of any size
    #[cfg_attr(feature = "clap", value(name = "jsonl"))]
    JsonLines,
    /// A row for each trajectory, each type and the whole
    Csv,
    /// For a pull request
    Markdown,
}

impl Format {
    /// A renderer for this form. A table has this many columns, and colours and bold type if `is_styled`. The writer
    /// is boxed so that renderers are compiled, and optimized, in this crate.
    #[must_use]
    pub fn renderer<'a>(
        self,
        writer: Box<dyn Write + 'a>,
        columns: usize,
        is_styled: bool,
    ) -> Box<dyn ScoreRenderer + 'a> {
        match self {
            Format::Table => Box::new(Terminal::new(writer, columns, is_styled)),
            Format::Json => Box::new(Json::new(writer)),
            Format::JsonLines => Box::new(JsonLines::new(writer)),
            Format::Csv => Box::new(Csv::new(writer)),
            Format::Markdown => Box::new(Markdown::new(writer)),
        }
    }
}
