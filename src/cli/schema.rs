//! The command `m3 schema`: prints the JSON Schema of a file that m3 writes.

use clap::builder::PossibleValue;
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
use schemars::{JsonSchema, Schema, schema_for};

use crate::calibrate::CalibrationReport;
use crate::calibrate::fidelity::{FidelityReport, SourcesReport, TrainingReport};
use crate::cli::common::{Result, print};
use crate::import::ImportReport;
use crate::report::{CatalogDifferences, ChangesReport, HealthReport, OutcomesReport, SearchReport};

/// Options of `m3 schema`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  m3 schema score > score.schema.json")]
pub(super) struct SchemaArgs {
    /// The file to describe
    #[arg(value_enum)]
    name: DescribedFile,
}

/// A file with a schema: its name on the command line, its help, and the schema.
#[derive(Debug, Clone, Copy)]
struct DescribedFile(&'static str, &'static str, fn() -> Schema);

static FILES: [DescribedFile; 28] = [
    DescribedFile("score", "What `m3 score --format json` writes", of_type::<ScoreReport>),
    DescribedFile("audit", "What `m3 audit --format json` writes", of_type::<AuditReport>),
    DescribedFile("validate", "What `m3 validate --format json` writes", of_type::<ValidationReport>),
    DescribedFile("leaderboard", "What `m3 leaderboard --format json` writes", of_type::<Leaderboard>),
    DescribedFile("comparison", "What `m3 compare --format json` writes", of_type::<Comparison>),
    DescribedFile("agree", "What `m3 agree --format json` writes", of_type::<AgreeReport>),
    DescribedFile(
        "compare-traces",
        "What `m3 compare-traces --format json` writes",
        of_type::<ChangesReport>,
    ),
    DescribedFile("import-report", "What `m3 import --report` writes", of_type::<ImportReport>),
    DescribedFile("outcomes", "What `m3 outcomes --format json` writes", of_type::<OutcomesReport>),
    DescribedFile("grades", "What `m3 grade --format json` writes", of_type::<GradeReport>),
    DescribedFile("graded", "A prediction that `m3 grade --graded` writes", graded),
    DescribedFile("answers", "A line of the answers of judges that `m3 grade` keeps", of_type::<KeptAnswer>),
    DescribedFile("calibration", "What `m3 calibrate --format json` writes", of_type::<CalibrationReport>),
    DescribedFile("fidelity", "What `m3 fidelity --format json` writes", of_type::<FidelityReport>),
    DescribedFile(
        "fidelity-training",
        "What `m3 fidelity --train --format json` writes",
        of_type::<TrainingReport>,
    ),
    DescribedFile(
        "fidelity-sources",
        "What `m3 fidelity --sources --format json` writes",
        of_type::<SourcesReport>,
    ),
    DescribedFile("health", "What `m3 tools --health --format json` writes", of_type::<HealthReport>),
    DescribedFile("search", "What `m3 tools --search TEXT --format json` writes", of_type::<SearchReport>),
    DescribedFile(
        "catalog-differences",
        "What `m3 tools --compare CATALOG --format json` writes",
        of_type::<CatalogDifferences>,
    ),
    DescribedFile("result", "The file that keeps a tool's result", of_type::<ResultRecord>),
    DescribedFile("prediction", "A prediction that `m3 run` writes", of_type::<Prediction>),
    DescribedFile("review", "A line of the decisions that `m3 review` writes", of_type::<Decision>),
    DescribedFile(
        "preference",
        "A line of the preferences that `m3 review --pairs` writes",
        of_type::<Preference>,
    ),
    DescribedFile("reviewed", "A reference that `m3 review --out` writes", reviewed),
    DescribedFile("labels", "The file that `m3 review --label` writes", of_type::<Labels>),
    DescribedFile("journal", "A line of the journal that `m3 run` writes", of_type::<JournalLine>),
    DescribedFile("reference", "A reference that `m3 judge` writes", reference),
    DescribedFile(
        "judge-journal",
        "A line of the journal that `m3 judge` writes",
        of_type::<JudgeJournalLine>,
    ),
];

impl ValueEnum for DescribedFile {
    fn value_variants<'a>() -> &'a [Self] {
        &FILES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0).help(self.1))
    }
}

fn of_type<T: JsonSchema>() -> Schema {
    schema_for!(T)
}

fn graded() -> Schema {
    let written = "A prediction as `m3 grade --graded` writes it.";
    let schema = TrajectorySchema::new("GradedPrediction", written);
    schema.with::<Grades>().with_optional::<OtherGrades>().finish()
}

fn reviewed() -> Schema {
    let written = "A reference as `m3 review --out` writes it, if people decided on it.";
    TrajectorySchema::new("ReviewedReference", written).with::<ReviewRecord>().finish()
}

fn reference() -> Schema {
    let written = "A reference that `m3 judge` has made, or a run that it did not accept.";
    TrajectorySchema::new(REFERENCE_SCHEMA, written).with::<Provenance>().finish()
}

/// Prints a JSON Schema.
pub(super) fn run(args: &SchemaArgs) -> Result {
    let text = serde_json::to_string_pretty(&(args.name.2)()).map_err(std::io::Error::from)?;
    print(text + "\n")
}
