//! `m3 fidelity`

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::Args;
use m3_score::fidelity::{Fidelity, Weights, constants};
use m3_score::{Profile, Serializer, Thresholds};
use m3_support::text::{counted, shortened};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::{CallForms, Duplicates};

use super::Common;
use super::encoder::EncoderArgs;
use super::failure::{Failure, code};
use super::input;
use super::printer::{Printer, Unit};
use super::results::FormArgs;
use super::scoring::{ProfileArg, SimilarityArg};
use crate::calibrate::{FidelityReport, PairFile, PairFileError, cosine_trial, typed_trial};
use crate::report::fidelity_sheets;

/// Options of `m3 fidelity`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct FidelityArgs {
    /// Labelled pairs of arguments, each {"tool", "a", "b", "same": 1 or 0, "edit"}, in a list or a line each; or labels
    /// as `m3 review --label` writes them: strong is the same, weak is not, medium is left out
    #[arg(required = true)]
    pairs: Vec<PathBuf>,
    /// How arguments are compared
    #[arg(long, value_enum, default_value_t = SimilarityArg::Typed)]
    similarity: SimilarityArg,
    /// Pairs are accepted from this score on [default: 0.5 typed, 0.8 cosine]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
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
    form: FormArgs,
    #[command(flatten)]
    encoder: EncoderArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 fidelity pairs.json
  m3 fidelity labels.json
  m3 fidelity pairs.json --similarity cosine --threshold 0.6
  m3 fidelity pairs.json --tools catalog.json --out fidelity.json

docs/fidelity.md explains how arguments are compared and what that reaches.";

/// Scores labelled pairs.
pub(super) fn run(args: &FidelityArgs, common: &Common, printer: Printer) -> Result<(), Failure> {
    let mut pairs = Vec::new();
    for path in &args.pairs {
        let file = PairFile::read(path)?;
        if file.left_out > 0 {
            printer.note(&format!(
                "{} of `{}` left out: their labels say neither same nor different",
                counted(file.left_out, "pair"),
                shortened(&path.display().to_string(), 300)
            ));
        }
        pairs.extend(file.pairs);
    }
    let catalog = args.tools.as_deref().map(Catalog::open).transpose()?;
    let weights = if let Some(path) = args.reference.as_deref() {
        weights(path, printer)?
    } else {
        let mut weights = Weights::default();
        for pair in &pairs {
            weights.count(&pair.tool, &pair.a);
        }
        weights
    };
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
    let mut output = args.form.open(&inputs, printer)?;
    let mut embedder = args.encoder.open(common.assets()?, printer)?;
    let mut bar = printer.bar(Unit::Progress);
    let mut progress = |done: usize, total: usize| bar.set("embedding", done as u64, total as u64);
    let trial = match args.similarity {
        SimilarityArg::Typed => {
            let fidelity = Fidelity::new(catalog.as_ref()).weighted_by(&weights);
            typed_trial(&pairs, fidelity, &mut embedder, &mut progress)?
        }
        SimilarityArg::Cosine => {
            let serializer = Serializer::new(Profile::from(args.profile), catalog.as_ref());
            cosine_trial(&pairs, &serializer, &mut embedder, &mut progress)?
        }
    };
    drop(bar);
    let report = FidelityReport::new(trial, threshold, embedder.identity());
    embedder.take_warnings().iter().for_each(|warning| printer.warn(warning));
    args.form.write(&report, || fidelity_sheets(&report), &mut output, printer)?;
    output.commit()?;
    Ok(())
}

/// Which arguments vary in a file of references.
fn weights(path: &Path, printer: Printer) -> Result<Weights, Failure> {
    let weights = Mutex::new(Weights::default());
    let held = || weights.lock().unwrap_or_else(PoisonError::into_inner);
    input::open_visiting([path], (Duplicates::Last, CallForms::default()), printer, &|_, reference| {
        held().learn(reference);
    })?;
    Ok(weights.into_inner().unwrap_or_else(PoisonError::into_inner))
}

impl From<PairFileError> for Failure {
    fn from(error: PairFileError) -> Self {
        match error {
            PairFileError::File(error) => error.into(),
            PairFileError::Content { .. } => Self::new(code::INPUT, error.to_string()),
        }
    }
}
