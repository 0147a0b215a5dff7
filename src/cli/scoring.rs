//! Options and steps that all commands which score two files have in common.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::{Args, ValueEnum};

use super::Common;
use super::encoder::EncoderArgs;
use super::failure::Failure;
use super::input::{self, DuplicatesArg};
use super::printer::{Printer, Unit};
use crate::encoder::Embedder;
use crate::report::ScoreSummary;
use crate::score::fidelity::Weights;
use crate::score::{self, Profile, ScoreOptions, Similarity, Sink, Summary, Thresholds, TrajectoryScore};
use crate::trajectory::catalog::Catalog;
use crate::trajectory::{Duplicates, SourceError, Trajectory, TrajectoryFile};

/// Which files to score, and how.
#[derive(Debug, Args)]
pub(super) struct ScoringArgs {
    /// Predicted trajectories: JSON, JSON Lines, either with gzip; `-` for standard input
    predictions: PathBuf,
    /// Reference trajectories
    references: PathBuf,
    /// Definitions: the paper's equations, or those of its published program
    #[arg(long, value_enum, default_value_t = ProfileArg::Paper)]
    profile: ProfileArg,
    /// How calls are compared when they are aligned
    #[arg(long, value_enum, default_value_t = SimilarityArg::Cosine)]
    similarity: SimilarityArg,
    /// Pairs of calls less similar than this are not matched [default: 0.6 cosine, 0.5 typed]
    #[arg(long, value_name = "S")]
    tau_weak: Option<f64>,
    /// Pairs at least this similar are matched with confidence [default: 0.8 cosine, 0.85 typed]
    #[arg(long, value_name = "S")]
    tau_strong: Option<f64>,
    /// Catalog of tools: kinds and defaults of arguments are then known from schemas, and optional arguments that say
    /// nothing are ignored (profile paper)
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// When an id stands twice with different content [default: error; last with open-m3-bench]
    #[arg(long, value_enum)]
    duplicates: Option<DuplicatesArg>,
    #[command(flatten)]
    encoder: EncoderArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ProfileArg {
    /// The equations of M3-Bench
    Paper,
    /// The program published with Open-M3-Bench, to be set beside the paper's tables
    #[value(name = "open-m3-bench")]
    OpenM3Bench,
}

impl From<ProfileArg> for Profile {
    fn from(profile: ProfileArg) -> Self {
        match profile {
            ProfileArg::Paper => Self::Paper,
            ProfileArg::OpenM3Bench => Self::OpenM3Bench,
        }
    }
}

/// How calls are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SimilarityArg {
    /// The paper's: the cosine of the embeddings of the serialized arguments
    Cosine,
    /// Argument by argument, as what each is: the fidelity
    Typed,
}

impl From<SimilarityArg> for Similarity {
    fn from(similarity: SimilarityArg) -> Self {
        match similarity {
            SimilarityArg::Cosine => Self::Cosine,
            SimilarityArg::Typed => Self::Typed,
        }
    }
}

/// Which of the two files is that of the references.
const REFERENCES: usize = 1;

/// Everything that scoring needs, opened.
pub(super) struct Scoring {
    pub(super) predictions: TrajectoryFile,
    pub(super) references: TrajectoryFile,
    pub(super) profile: Profile,
    similarity: Similarity,
    thresholds: Thresholds,
    catalog: Option<Catalog>,
    weights: Weights,
    embedder: Embedder,
    printer: Printer,
}

impl ScoringArgs {
    /// Opens the files and the encoder, fetching it if need be.
    pub(super) fn open(&self, common: &Common, printer: Printer) -> Result<Scoring, Failure> {
        let similarity = Similarity::from(self.similarity);
        let usual = similarity.thresholds();
        let thresholds = Thresholds::new(
            self.tau_weak.unwrap_or(usual.weak()),
            self.tau_strong.unwrap_or(usual.strong()),
        )?;
        let catalog = self.tools.as_deref().map(Catalog::open).transpose()?;
        let weights = Mutex::new(Weights::default());
        let learn = |file: usize, trajectory: &Trajectory| {
            if file == REFERENCES {
                weights.lock().unwrap_or_else(PoisonError::into_inner).learn(trajectory);
            }
        };
        let files = [self.predictions.as_path(), &self.references];
        let [predictions, references] = input::open_visiting(files, self.duplicates(), printer, &learn)?;
        let weights = weights.into_inner().unwrap_or_else(PoisonError::into_inner);
        let embedder = self.encoder.open(common.assets()?, printer)?;
        let profile = self.profile();
        Ok(Scoring {
            predictions,
            references,
            profile,
            similarity,
            thresholds,
            catalog,
            weights,
            embedder,
            printer,
        })
    }

    /// The file of references, as the user named it.
    pub(super) fn references(&self) -> &Path {
        &self.references
    }

    /// The files that are read.
    pub(super) fn inputs(&self) -> Vec<&Path> {
        let files = [Some(&self.predictions), Some(&self.references), self.tools.as_ref()];
        files.into_iter().flatten().map(PathBuf::as_path).collect()
    }

    fn profile(&self) -> Profile {
        self.profile.into()
    }

    fn duplicates(&self) -> Duplicates {
        match (self.duplicates, self.profile) {
            (Some(duplicates), _) => duplicates.into(),
            (None, ProfileArg::Paper) => Duplicates::Error,
            (None, ProfileArg::OpenM3Bench) => Duplicates::Last,
        }
    }
}

/// Receives a score with its similarities, the reference and the prediction.
pub(super) type ChosenSink<'a> =
    dyn FnMut(TrajectoryScore, &Trajectory, &Trajectory) -> Result<(), Failure> + 'a;

impl Scoring {
    /// Scores, showing a progress bar. `sink` gets each trajectory.
    pub(super) fn run(
        &mut self,
        keeps_similarities: bool,
        sink: &mut Sink<'_>,
    ) -> Result<(Summary, ScoreSummary), Failure> {
        let Self { profile, similarity, thresholds, .. } = *self;
        let options = ScoreOptions {
            profile,
            thresholds,
            similarity,
            catalog: self.catalog.as_ref(),
            weights: Some(&self.weights),
            keeps_similarities,
        };
        let mut bar = self.printer.bar(Unit::Trajectories);
        let summary = score::score(
            &self.predictions,
            &self.references,
            options,
            &mut self.embedder,
            sink,
            &mut |done, total| bar.set("scoring", done as u64, total as u64),
        );
        drop(bar);
        self.embedder.take_warnings().iter().for_each(|warning| self.printer.warn(warning));
        let summary = summary?;
        if self.catalog.as_ref().is_some_and(|catalog| !catalog.is_used()) {
            self.printer.warn(
                "the catalog of `--tools` has no schema of any tool that both sides call: it changed nothing",
            );
        }
        let report = ScoreSummary::new(&summary, self.embedder.identity(), &options);
        Ok((summary, report))
    }

    /// Scores these references again, in this order, with their similarities. What was there to be warned of
    /// was said by [`Scoring::run`]. Without a bar, `sink` may write to the terminal.
    pub(super) fn run_chosen(
        &mut self,
        chosen: &[usize],
        has_bar: bool,
        sink: &mut ChosenSink<'_>,
    ) -> Result<(), Failure> {
        let Self { profile, similarity, thresholds, ref predictions, ref references, .. } = *self;
        let (catalog, weights) = (self.catalog.as_ref(), Some(&self.weights));
        let options =
            ScoreOptions { profile, thresholds, similarity, catalog, weights, keeps_similarities: true };
        let mut bar = has_bar.then(|| self.printer.bar(Unit::Trajectories));
        // Scoring keeps nothing of the trajectories: they are read once more.
        let mut show = |scored: TrajectoryScore| {
            let (reference, prediction) = (found(references, &scored.id)?, found(predictions, &scored.id)?);
            sink(scored, &reference, &prediction)
        };
        let mut failure = None;
        let done = score::score_chosen(
            predictions,
            references,
            chosen,
            options,
            &mut self.embedder,
            &mut |scored| {
                show(scored).map_err(|reason| {
                    failure = Some(reason);
                    std::io::Error::other("the trajectory cannot be shown")
                })
            },
            &mut |done, total| {
                if let Some(bar) = &mut bar {
                    bar.set("aligning", done as u64, total as u64);
                }
            },
        );
        drop(bar);
        failure.map_or_else(|| done.map_err(Failure::from), Err)
    }
}

/// The trajectory of this id, or one without steps: what was not predicted is shown as nothing.
fn found<'a>(file: &'a TrajectoryFile, id: &str) -> Result<Cow<'a, Trajectory>, SourceError> {
    match file.find(id) {
        Some(index) => file.look_at(index),
        None => Ok(Cow::Owned(Trajectory { id: id.to_owned(), ..Trajectory::default() })),
    }
}
