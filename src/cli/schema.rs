//! The command `m3 schema`: prints the JSON Schema of a file that m3 writes.

use std::io::Write as _;

use clap::{Args, ValueEnum};
use m3_executor::run::{JournalLine, Prediction};
use m3_judge::grade::{GradeReport, Grades, KeptAnswer, OtherGrades};
use m3_judge::labels::Labels;
use m3_judge::reference::{JudgeJournalLine, Provenance, REFERENCE_SCHEMA};
use m3_judge::review::{Decision, Preference, ReviewRecord};
use m3_mcp::results::ResultRecord;
use m3_report::agree::AgreeReport;
use m3_report::audit::AuditReport;
use m3_report::leaderboard::{Comparison, Leaderboard};
use m3_report::{ScoreReport, ValidationReport};
use m3_trajectory::TrajectorySchema;

use crate::calibrate::CalibrationReport;
use crate::calibrate::fidelity::{FidelityReport, SourcesReport, TrainingReport};
use crate::cli::common::failure::Failure;
use crate::cli::common::printer::Printer;
use crate::import::ImportReport;
use crate::report::{CatalogDifferences, ChangesReport, HealthReport, OutcomesReport, SearchReport};

/// Options of `m3 schema`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  m3 schema score > score.schema.json")]
pub(super) struct SchemaArgs {
    /// The file to describe
    #[arg(value_enum)]
    name: Name,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Name {
    /// What `m3 score --format json` writes
    Score,
    /// What `m3 audit --format json` writes
    Audit,
    /// What `m3 validate --format json` writes
    Validate,
    /// What `m3 leaderboard --format json` writes
    Leaderboard,
    /// What `m3 compare --format json` writes
    Comparison,
    /// What `m3 agree --format json` writes
    Agree,
    /// What `m3 compare-traces --format json` writes
    CompareTraces,
    /// What `m3 import --report` writes
    ImportReport,
    /// What `m3 outcomes --format json` writes
    Outcomes,
    /// What `m3 grade --format json` writes
    Grades,
    /// A prediction that `m3 grade --graded` writes
    Graded,
    /// A line of the answers of judges that `m3 grade` keeps
    Answers,
    /// What `m3 calibrate --format json` writes
    Calibration,
    /// What `m3 fidelity --format json` writes
    Fidelity,
    /// What `m3 fidelity --train --format json` writes
    FidelityTraining,
    /// What `m3 fidelity --sources --format json` writes
    FidelitySources,
    /// What `m3 tools --health --format json` writes
    Health,
    /// What `m3 tools --search TEXT --format json` writes
    Search,
    /// What `m3 tools --compare CATALOG --format json` writes
    CatalogDifferences,
    /// The file that keeps a tool's result
    Result,
    /// A prediction that `m3 run` writes
    Prediction,
    /// A line of the decisions that `m3 review` writes
    Review,
    /// A line of the preferences that `m3 review --pairs` writes
    Preference,
    /// A reference that `m3 review --out` writes
    Reviewed,
    /// The file that `m3 review --label` writes
    Labels,
    /// A line of the journal that `m3 run` writes
    Journal,
    /// A reference that `m3 judge` writes
    Reference,
    /// A line of the journal that `m3 judge` writes
    JudgeJournal,
}

/// Prints a JSON Schema.
pub(super) fn run(args: &SchemaArgs) -> Result<(), Failure> {
    let schema = match args.name {
        Name::Score => schemars::schema_for!(ScoreReport),
        Name::Audit => schemars::schema_for!(AuditReport),
        Name::Validate => schemars::schema_for!(ValidationReport),
        Name::Leaderboard => schemars::schema_for!(Leaderboard),
        Name::Agree => schemars::schema_for!(AgreeReport),
        Name::Comparison => schemars::schema_for!(Comparison),
        Name::CompareTraces => schemars::schema_for!(ChangesReport),
        Name::ImportReport => schemars::schema_for!(ImportReport),
        Name::Outcomes => schemars::schema_for!(OutcomesReport),
        Name::Grades => schemars::schema_for!(GradeReport),
        Name::Graded => {
            let written = "A prediction as `m3 grade --graded` writes it.";
            let schema = TrajectorySchema::new("GradedPrediction", written);
            schema.with::<Grades>().with_optional::<OtherGrades>().finish()
        }
        Name::Answers => schemars::schema_for!(KeptAnswer),
        Name::Calibration => schemars::schema_for!(CalibrationReport),
        Name::Fidelity => schemars::schema_for!(FidelityReport),
        Name::FidelityTraining => schemars::schema_for!(TrainingReport),
        Name::FidelitySources => schemars::schema_for!(SourcesReport),
        Name::Health => schemars::schema_for!(HealthReport),
        Name::Search => schemars::schema_for!(SearchReport),
        Name::CatalogDifferences => schemars::schema_for!(CatalogDifferences),
        Name::Result => schemars::schema_for!(ResultRecord),
        Name::Prediction => schemars::schema_for!(Prediction),
        Name::Review => schemars::schema_for!(Decision),
        Name::Preference => schemars::schema_for!(Preference),
        Name::Reviewed => {
            let written = "A reference as `m3 review --out` writes it, if people decided on it.";
            TrajectorySchema::new("ReviewedReference", written).with::<ReviewRecord>().finish()
        }
        Name::Labels => schemars::schema_for!(Labels),
        Name::Journal => schemars::schema_for!(JournalLine),
        Name::Reference => {
            let written = "A reference that `m3 judge` has made, or a run that it did not accept.";
            TrajectorySchema::new(REFERENCE_SCHEMA, written).with::<Provenance>().finish()
        }
        Name::JudgeJournal => schemars::schema_for!(JudgeJournalLine),
    };
    let mut out = Printer::out();
    let written = serde_json::to_string_pretty(&schema)
        .map_err(std::io::Error::from)
        .and_then(|text| writeln!(out, "{text}"))
        .and_then(|()| out.flush());
    written.map_err(|cause| Failure::output("standard output", &cause))
}
