//! The command `m3 fidelity`: measures how arguments are compared on labelled pairs, and trains models for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use m3_report::FidelityModelReport;
use m3_score::fidelity::model::Model;
use m3_score::fidelity::{Fidelity, constants};
use m3_score::{Profile, Serializer, Similarity, Thresholds};
use m3_support::files::write_atomically;
use m3_support::text::{counted, shortened};
use m3_trajectory::catalog::Catalog;

use super::Common;
use crate::calibrate::fidelity::{
    DoubtfulPair, FidelityReport, GroupReport, LabelledSource, PairFileError, SourcesReport, TestPair,
    TrainingReport, adapt, adapted_to, cosine_trial, examples, file_labels, pair_files, train_anew,
    typed_trial,
};
use crate::cli::common::{
    AskSameArgs, EncoderArgs, Failure, FormArgs, MODEL_FILE, ModelArg, Printer, Result,
};
use crate::report::{fidelity_sheets, sources_sheets, training_sheets};

/// Options of `m3 fidelity`. `-o` is still the old name of `--model-out` (`cli/old_options.rs`).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("out", |arg| arg.short(None)))]
pub(super) struct FidelityArgs {
    /// Labelled pairs of arguments, each {"tool", "a", "b", "same": 1 or 0, "edit", "question", "schema"}, in a list or a
    /// line each; or labels as `m3 review --label` writes them: strong is the same, weak is not, medium is left out; or
    /// a folder of such files. `NAME.tools.json` beside `NAME.json` is its catalog
    #[arg(required_unless_present = "sources")]
    pairs: Vec<PathBuf>,
    /// How arguments are compared
    #[arg(long, value_enum, default_value_t = Similarity::Typed)]
    similarity: Similarity,
    /// Least score with which a pair is accepted [default: 0.5 typed, 0.8 cosine]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// Catalog of tools: kinds, defaults and what is required are then known from schemas
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Definitions: how arguments are serialized for cosines
    #[arg(long, value_enum, default_value_t = Profile::Paper)]
    profile: Profile,
    /// Adapt the model to the pairs, and say on pairs that it has not seen whether that is better
    #[arg(long, requires = "model", conflicts_with_all = ["similarity", "threshold", "profile", "llm"])]
    train: bool,
    /// Train on these pairs alone instead, each file a source; also report what the model of all other files reaches on each
    #[arg(long, requires = "train")]
    anew: bool,
    /// The folder for the model
    #[arg(long = "model-out", value_name = "DIR", requires = "train")]
    model: Option<PathBuf>,
    /// Say what the model was made from, and what the model of all other sources reaches on each; compares no pairs
    #[arg(long, conflicts_with_all = ["pairs", "similarity", "threshold", "tools", "profile", "train", "model", "llm", "encoder", "threads", "batch_size", "no_cache"])]
    sources: bool,
    #[command(flatten)]
    by: ModelArg,
    #[command(flatten)]
    ask: AskSameArgs,
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
  m3 fidelity pairs.json --llm openai:gpt-5 --record asked.tape
  m3 fidelity pairs.json --llm replay:asked.tape
  m3 fidelity --train labels.json --model-out our-model
  m3 fidelity --sources
  m3 score predictions.json references.json --fidelity-model our-model

docs/fidelity.md explains how arguments are compared and what that reaches.";

/// Scores labelled pairs.
pub(super) fn run(args: &FidelityArgs, common: &Common, printer: Printer) -> Result {
    check_ask(args)?;
    if args.sources {
        let report = SourcesReport::new(&*args.by.open()?);
        let mut output = args.form.open(&[], printer)?;
        args.form.write(&report, || sources_sheets(&report), &mut output, printer)?;
        return output.commit();
    }
    let (sources, labels) = read_sources(args, printer)?;
    if args.train {
        return train(args, &sources, &labels, common, printer);
    }
    let of_sources: Vec<(String, usize)> =
        labels.iter().cloned().zip(sources.iter().map(|source| source.pairs.len())).collect();
    let model = args.by.open()?;
    let is_typed = args.similarity == Similarity::Typed;
    if is_typed {
        note_learned(&model, &sources, &labels, printer);
    }
    let pairs: Vec<TestPair> = sources.into_iter().flat_map(|source| source.pairs).collect();
    let catalog = args.tools.as_deref().map(Catalog::open).transpose()?;
    let threshold = args.threshold.unwrap_or(match args.similarity {
        Similarity::Typed => constants::THRESHOLD,
        Similarity::Cosine => Thresholds::default().strong(),
    });
    if !(0.0..=1.0).contains(&threshold) {
        return Err(Failure::input(format!("--threshold is {threshold}, and should be from 0 to 1")));
    }
    let inputs = args.pairs.iter().chain(&args.tools);
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    let kept: Vec<&Path> = inputs.iter().copied().chain(args.ask.cassettes()).collect();
    let mut output = args.form.open(&kept, printer)?;
    let asking = args.ask.open(&inputs, printer)?;
    let mut embedder = args.encoder.open(common.assets()?, printer)?;
    let mut progress = printer.progress("embedding");
    let mut trial = match args.similarity {
        Similarity::Typed => {
            let fidelity = Fidelity::new(catalog.as_ref()).by_model(Some(Arc::clone(&model)));
            typed_trial(&pairs, fidelity, &mut embedder, &mut progress)?
        }
        Similarity::Cosine => {
            let serializer = Serializer::new(args.profile, catalog.as_ref());
            cosine_trial(&pairs, &serializer, &mut embedder, &mut progress)?
        }
    };
    drop(progress);
    let mut asked = None;
    if let Some(asking) = asking {
        let doubtful = DoubtfulPair::of(&trial, &pairs, catalog.as_ref(), asking.band);
        let calls: Vec<_> = doubtful.iter().map(DoubtfulPair::calls).collect();
        let (replies, found) = asking.ask(&calls, printer)?;
        trial.settle(&doubtful, replies);
        asked = Some(found);
    }
    let report = FidelityReport {
        fidelity_model: is_typed.then(|| FidelityModelReport::new(model.digest())),
        asked: asked.as_ref().map(|asked| asked.report.clone()),
        ..FidelityReport::new(trial, threshold, embedder.identity()).with_sources(&of_sources)
    };
    embedder.take_warnings().iter().for_each(|warning| printer.warn(warning));
    args.form.write(&report, || fidelity_sheets(&report), &mut output, printer)?;
    output.commit()?;
    asked.map_or(Ok(()), |asked| asked.end(printer))
}

/// Refuses to ask a language model about cosines, which are not probabilities, and options of `--llm` without it.
fn check_ask(args: &FidelityArgs) -> Result {
    if args.ask.is_wanted() && args.similarity == Similarity::Cosine {
        return Err(Failure::input(
            "`--llm` is for pairs that fidelity is not sure of, and cosines are no probabilities\n\
                       hint: leave out `--similarity cosine`",
        ));
    }
    args.ask.check()
}

/// Reads the files of pairs, each with its name in tables.
fn read_sources(args: &FidelityArgs, printer: Printer) -> Result<(Vec<LabelledSource>, Vec<String>)> {
    let mut files = Vec::new();
    for path in &args.pairs {
        let found = pair_files(path).map_err(|error| {
            let name = shortened(&path.display().to_string(), 300);
            Failure::input(format!("the folder `{name}` has no pairs to read: {error}"))
        })?;
        files.extend(found);
    }
    let mut sources = Vec::new();
    for path in &files {
        let source = LabelledSource::read(path)?;
        if source.left_out > 0 {
            printer.note(&format!(
                "{} of `{}` left out: their labels say neither same nor different",
                counted(source.left_out, "pair"),
                shortened(&path.display().to_string(), 300)
            ));
        }
        sources.push(source);
    }
    Ok((sources, file_labels(&files)))
}

/// Notes which files the model has learned from, if any: its figures on them say nothing of new data.
fn note_learned(model: &Model, sources: &[LabelledSource], labels: &[String], printer: Printer) {
    let learned = sources.iter().zip(labels).filter(|(source, _)| source.is_learned_by(model));
    let names: Vec<String> = learned.map(|(_, label)| format!("`{}`", shortened(label, 100))).collect();
    if !names.is_empty() {
        printer.note(&format!(
            "the model has learned from {}: the figures say nothing of new data",
            names.join(", ")
        ));
    }
}

/// Makes a model from labelled pairs, and reports its figures on pairs that it has not seen.
fn train(
    args: &FidelityArgs,
    sources: &[LabelledSource],
    labels: &[String],
    common: &Common,
    printer: Printer,
) -> Result {
    let base = args.by.open()?;
    let catalog = args.tools.as_deref().map(Catalog::open).transpose()?;
    check_labels(args, sources)?;
    if !args.anew {
        note_learned(&base, sources, labels, printer);
    }
    if let Some(folder) = &args.model {
        // The folder is made before anything is computed, so that a failure costs no work.
        std::fs::create_dir_all(folder).map_err(|cause| unwritable(folder, &cause))?;
        if folder.join(MODEL_FILE).exists() {
            printer.note(&format!("the model in `{}` will be replaced", folder.display()));
        }
    }
    let files: Vec<&Path> = args.pairs.iter().map(PathBuf::as_path).collect();
    let mut output = args.form.open(&files, printer)?;
    let mut embedder = args.encoder.open(common.assets()?, printer)?;
    let mut all = Vec::new();
    let mut progress = printer.progress("comparing");
    for source in sources {
        all.push(examples(&source.pairs, Fidelity::new(catalog.as_ref()), &mut embedder, &mut progress)?);
    }
    drop(progress);
    let (model, figures) = if args.anew {
        train_anew(sources, all, &mut printer.progress("training"))
    } else {
        let pairs: Vec<TestPair> = sources.iter().flat_map(|source| source.pairs.iter().cloned()).collect();
        let (model, figures) = adapt(&pairs, &all.concat(), &base);
        (adapted_to(model, sources), figures.to_vec())
    };
    embedder.take_warnings().iter().for_each(|warning| printer.warn(warning));
    if !args.anew && is_no_better(&figures) {
        printer.warn(
            "on pairs that it has not seen, `adapted` is no better than `before`: do not use this model",
        );
    }
    let report = TrainingReport::new(!args.anew, figures);
    args.form.write(&report, || training_sheets(&report), &mut output, printer)?;
    output.commit()?;
    args.model.as_deref().map_or(Ok(()), |folder| write_model(&model, folder, printer))
}

/// Whether an adapted model is no better than the model before; `figures` has the figures before, then adapted.
fn is_no_better(figures: &[GroupReport]) -> bool {
    matches!(figures, [before, adapted]
        if adapted.area_under_curve <= before.area_under_curve || adapted.accuracy < before.accuracy)
}

fn unwritable(folder: &Path, cause: &std::io::Error) -> Failure {
    let name = shortened(&folder.display().to_string(), 300);
    let message = format!(
        "no model can be written into `{name}`: {cause}\nhint: `--model-out` names a folder, which is made if needed"
    );
    Failure::input(message)
}

/// Writes a model into its folder.
fn write_model(model: &Model, folder: &Path, printer: Printer) -> Result {
    let path = folder.join(MODEL_FILE);
    let name = shortened(&path.display().to_string(), 300);
    write_atomically(&path, model.to_json().as_bytes()).map_err(|cause| unwritable(folder, &cause))?;
    printer.note(&format!("wrote `{name}`: use it with --fidelity-model"));
    Ok(())
}

/// The fewest pairs of each label that a model is made from.
const FEWEST: usize = 10;

/// Fails if there are too few labelled pairs, if a file is given twice, or if `--anew` has only one source.
fn check_labels(args: &FidelityArgs, sources: &[LabelledSource]) -> Result {
    let pairs = || sources.iter().flat_map(|source| &source.pairs);
    let same = pairs().filter(|pair| pair.is_same).count();
    let different = pairs().count() - same;
    let hint =
        "hint: `m3 review --label` collects labels; some two hundred pairs are enough to see a difference";
    if same.min(different) < FEWEST {
        return Err(Failure::input(format!(
            "there are {same} pairs of the same and {different} of different, and at least {FEWEST} of each are needed\n{hint}"
        )));
    }
    for (at, source) in sources.iter().enumerate() {
        if sources[..at].iter().any(|other| other.sha256 == source.sha256) {
            let name = shortened(&source.name, 200);
            return Err(Failure::input(format!(
                "the pairs of `{name}` are given twice, and would be learned and measured at once"
            )));
        }
    }
    if args.anew && sources.iter().all(|source| source.group() == sources[0].group()) {
        return Err(Failure::input(
            "`--anew` needs two files of pairs or more: what it reaches on each is told by the model of the others",
        ));
    }
    Ok(())
}

impl From<PairFileError> for Failure {
    fn from(error: PairFileError) -> Self {
        match error {
            PairFileError::File(error) => error.into(),
            PairFileError::Catalog(error) => error.into(),
            PairFileError::Content { .. } => Self::input(error),
        }
    }
}
