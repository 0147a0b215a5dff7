//! The options of `m3 score`.

use std::path::PathBuf;

use clap::Args;

use super::floors::Floor;
use super::forms::ScoreFormArg;
use super::repeats::RepeatArgs;
use crate::cli::common::output::WidthArgs;
use crate::cli::common::scoring::ScoringArgs;
use crate::cli::common::scoring::suites::SuiteArgs;

/// Options of `m3 score`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ScoreArgs {
    #[command(flatten)]
    pub(super) scoring: ScoringArgs,
    #[command(flatten)]
    pub(super) repeats: RepeatArgs,
    #[command(flatten)]
    pub(super) suites: SuiteArgs,
    /// Form of the report [default: by the file extension of --out, else table]
    #[arg(long, value_enum)]
    pub(super) format: Option<ScoreFormArg>,
    /// Write the report to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) width: WidthArgs,
    /// Outcomes of the predicted calls, from `m3 outcomes --format json`: copied into the JSON, for leaderboards;
    /// with repetitions one file for each, in their order
    #[arg(long, value_name = "FILE")]
    pub(super) outcomes: Vec<PathBuf>,
    /// Grades of the predictions, from `m3 grade --graded`: copied into the JSON, for leaderboards; with repetitions one
    /// file for each, in their order
    #[arg(long, value_name = "FILE")]
    pub(super) grades: Vec<PathBuf>,
    /// Exit with code 1 if a metric of the whole set is lower, such as recall=0.8, or mcpagentbench.tfs=50 with its
    /// `--suite`; repeatable
    #[arg(long, value_name = "METRIC=VALUE")]
    pub(super) fail_under: Vec<Floor>,
}

const EXAMPLES: &str = "\
Examples:
  m3 score predictions.json references.json
  m3 score predictions.jsonl.gz references.json --format json --out score.json
  m3 score predictions.json references.json --profile open-m3-bench
  m3 score predictions.json references.json --tool-names auto
  m3 score predictions.json references.json --similarity typed --tools catalog.json
  m3 score predictions.json references.json --llm openai:gpt-5 --record asked.tape
  m3 score runs/gpt-5 references.json --out gpt-5.json
  m3 score predictions.json references.json --match unordered --out junit.xml
  m3 score predictions.json references.json --out m3.sarif
  m3 score predictions.json references.json --format otel --out evaluations.jsonl
  m3 score predictions.json references.json --suite mcpagentbench --suite mcpagentbench:published
  m3 score first.json references.json --repeat second.json --repeat third.json \\
      --pass recall=1 --pass precision=1
  m3 score predictions.json references.json \\
      --fail-under recall=0.8 --fail-under argument_fidelity=0.7";
