//! `m3 fidelity`

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Common;
use super::encoder::EncoderArgs;
use super::failure::{Failure, code};
use super::input;
use super::printer::{Printer, Unit};
use super::results::TablesArgs;
use super::scoring::ProfileArg;
use crate::calibrate::{FidelityReport, PairFile, PairFileError, cosine_trial, typed_trial};
use crate::report::fidelity_sheets;
use crate::score::fidelity::{Fidelity, constants};
use crate::score::{Profile, Serializer, Thresholds};
use crate::trajectory::Duplicates;
use crate::trajectory::catalog::Catalog;
use crate::trajectory::json::Json;

/// Options of `m3 fidelity`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct FidelityArgs {
    /// Labelled pairs of arguments, each {"tool", "a", "b", "same": 1 or 0, "edit"}
    #[arg(required = true)]
    pairs: Vec<PathBuf>,
    /// How arguments are compared
    #[arg(long, value_enum, default_value_t = SimilarityArg::Typed)]
    similarity: SimilarityArg,
    /// Pairs are accepted from this score on [default: 0.5 typed, 0.8 cosine]
    #[arg(long, value_name = "SCORE")]
    threshold: Option<f64>,
    /// Catalog of tools: kinds, defaults and what is required are then known from schemas
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// References whose calls say which arguments vary [default: the first calls of the pairs]
    #[arg(long = "ref", value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Definitions: how arguments are serialized for cosines
    #[arg(long, value_enum, default_value_t = ProfileArg::Paper)]
    profile: ProfileArg,
    #[command(flatten)]
    tables: TablesArgs,
    #[command(flatten)]
    encoder: EncoderArgs,
}

/// How arguments are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SimilarityArg {
    /// Argument by argument, as what each is
    Typed,
    /// The paper's: the cosine of the embeddings of the serialized arguments
    Cosine,
}

const EXAMPLES: &str = "\
Examples:
  m3 fidelity pairs.json
  m3 fidelity pairs.json --similarity cosine --threshold 0.6
  m3 fidelity pairs.json --tools catalog.json --out fidelity.json

docs/fidelity.md explains how arguments are compared and what that reaches.";

/// Scores labelled pairs.
pub(super) fn run(args: &FidelityArgs, common: &Common, printer: Printer) -> Result<(), Failure> {
    let mut pairs = Vec::new();
    for path in &args.pairs {
        pairs.extend(PairFile::read(path)?.pairs);
    }
    let catalog = args.tools.as_deref().map(Catalog::open).transpose()?;
    let calls = args.reference.as_deref().map(|path| calls(path, printer)).transpose()?.unwrap_or_default();
    let threshold = args.threshold.unwrap_or(match args.similarity {
        SimilarityArg::Typed => constants::THRESHOLD,
        SimilarityArg::Cosine => Thresholds::default().strong(),
    });
    if !(0.0..=1.0).contains(&threshold) {
        return Err(Failure::new(
            code::INPUT,
            format!("--threshold is {threshold}, and should be from 0 to 1"),
        ));
    }
    let inputs = args.pairs.iter().chain(&args.tools).chain(&args.reference);
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    let mut output = args.tables.open(&inputs, printer)?;
    let mut embedder = args.encoder.open(common.assets()?, printer)?;
    let mut bar = printer.bar(Unit::Progress);
    let mut progress = |done: usize, total: usize| bar.set("embedding", done as u64, total as u64);
    let trial = match args.similarity {
        SimilarityArg::Typed => {
            typed_trial(&pairs, Fidelity::new(catalog.as_ref()), &calls, &mut embedder, &mut progress)?
        }
        SimilarityArg::Cosine => {
            let serializer = Serializer::new(Profile::from(args.profile), catalog.as_ref());
            cosine_trial(&pairs, &serializer, &mut embedder, &mut progress)?
        }
    };
    drop(bar);
    let report = FidelityReport::new(trial, threshold, embedder.identity());
    embedder.take_warnings().iter().for_each(|warning| printer.warn(warning));
    args.tables.write(&report, || fidelity_sheets(&report), &mut output, printer)?;
    output.commit()?;
    Ok(())
}

/// The calls of a file of references.
fn calls(path: &Path, printer: Printer) -> Result<Vec<(String, Json)>, Failure> {
    let [file] = input::open_all([path], Duplicates::Last, printer)?;
    let mut found = Vec::new();
    for index in 0..file.len() {
        let trajectory = file.read(index)?;
        for (_, call) in trajectory.calls() {
            found.extend(call.arguments.clone().map(|arguments| (call.tool.clone(), arguments)));
        }
    }
    Ok(found)
}

impl From<PairFileError> for Failure {
    fn from(error: PairFileError) -> Self {
        match error {
            PairFileError::File(error) => error.into(),
            PairFileError::Content { .. } => Self::new(code::INPUT, error.to_string()),
        }
    }
}
