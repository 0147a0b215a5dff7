//! Shared options and steps of all commands that score two files.

pub(crate) mod ask_same;
pub(crate) mod conditions;
pub(crate) mod suites;
pub(crate) mod tool_names;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use m3_embedding::Embedder;
use m3_report::{
    AskedReport, InputReport, InputsReport, RepeatsReport, ResultPictures, ScoreSummary, ToolNamesReport,
};
use m3_score::fidelity::DoubtfulPairs;
use m3_score::{Profile, ScoredTrajectory, Sink, Summary};
use m3_support::task_files::task_file_name;
use m3_support::text::shortened;
use m3_trajectory::catalog::Catalog;
use m3_trajectory::tool_names::Vocabulary;
use m3_trajectory::{Duplicates, SourceError, Trajectory, TrajectoryFile};

use crate::cli::Common;
use crate::cli::common::encoder::EncoderArgs;
use crate::cli::common::failure::{Failure, Result, code};
use crate::cli::common::input::{self, Content, PredictionsArg};
use crate::cli::common::places::{PointsAt, ScoredFiles, ScoredPlaces};
use crate::cli::common::printer::Printer;
use crate::cli::common::scoring::ask_same::{AskSameArgs, AskedSame, AskingSame};
use crate::cli::common::scoring::conditions::ByArg;
use crate::cli::common::scoring::conditions::{Conditions, ConditionsArgs};
use crate::cli::common::scoring::tool_names::IgnoredTools;
use crate::cli::common::scoring::tool_names::ToolNamesArg;
use crate::cli::common::scoring::tool_names::{FileFacts, check_order};

/// The files to score, and the options of scoring.
#[derive(Debug, Args)]
pub(crate) struct ScoringArgs {
    /// Predicted trajectories: JSON, JSON Lines, either in gzip or zstd; the folder of a run; a trace of another program
    /// (docs/import.md), or a folder of traces; `-` for standard input
    pub(crate) predictions: PredictionsArg,
    /// Reference trajectories, in the same forms; also a table (CSV) or records of expected calls (docs/import.md)
    pub(crate) references: PathBuf,
    /// Whether both files may be predictions, or references
    #[arg(skip)]
    are_of_one_kind: bool,
    #[command(flatten)]
    conditions: ConditionsArgs,
    /// What to do with tools that predictions and references write differently, such as `image__crop` and
    /// `image/crop`: `off` leaves them, `auto` maps names that differ in writing alone to the references', FILE is a
    /// JSON object that maps one name to another
    #[arg(long, value_name = "off|auto|FILE", default_value = "off")]
    tool_names: ToolNamesArg,
    /// What to do when an id stands twice with different content [default: error; last with open-m3-bench]
    #[arg(long, value_enum)]
    duplicates: Option<Duplicates>,
    /// What tasks are grouped by: their type, or the shape of their reference
    #[arg(long, value_enum, default_value_t = ByArg::Type)]
    by: ByArg,
    #[command(flatten)]
    pub(crate) ask: AskSameArgs,
    #[command(flatten)]
    encoder: EncoderArgs,
}

/// Everything that scoring needs, opened.
pub(crate) struct Scoring {
    pub(crate) predictions: TrajectoryFile,
    /// Further repetitions of the predictions.
    pub(crate) further: Vec<TrajectoryFile>,
    pub(crate) references: TrajectoryFile,
    pub(crate) profile: Profile,
    conditions: Conditions,
    /// The counts of a language model's answers, if one was asked.
    asked: Option<AskedReport>,
    tool_names: ToolNamesReport,
    /// Tools whose calls do not count, in all files.
    ignored: IgnoredTools,
    /// Whether the models of all predictions were shown no images.
    no_images: bool,
    embedder: Embedder,
    printer: Printer,
}

impl ScoringArgs {
    /// Opens the files, `further` repetitions of the predictions included, and the encoder, which is fetched if
    /// needed.
    pub(crate) fn open(&self, further: &[PathBuf], common: &Common, printer: Printer) -> Result<Scoring> {
        let mut conditions = self.conditions.open()?;
        let seen = <[Mutex<FileFacts>; 2]>::default();
        let learn = |file: usize, trajectory: &Trajectory| {
            seen[file].lock().unwrap_or_else(PoisonError::into_inner).learn(trajectory);
        };
        let files = [self.predictions.path(printer), &self.references];
        let contents = [(files[0], Content::Predictions), (files[1], Content::Any)];
        let reading = (self.duplicates(), self.conditions.forms());
        let [mut predictions, mut references] = input::open_visiting(contents, reading, printer, &learn)?;
        self.by.apply_to(&mut references);
        let further_paths = further;
        let open = |path: &PathBuf| {
            let path = (path.as_path(), Content::Predictions);
            let [file] = input::open_visiting([path], reading, printer, &learn)?;
            Ok::<_, Failure>(file)
        };
        let mut further = further.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let [of_predictions, of_references] =
            seen.map(|seen| seen.into_inner().unwrap_or_else(PoisonError::into_inner));
        if !self.are_of_one_kind {
            check_order([&predictions, &references], [&of_predictions, &of_references], printer)?;
        }
        let mut of_catalog = Vocabulary::default();
        conditions.catalog.iter().flat_map(|catalog| catalog.names()).for_each(|name| of_catalog.add(name));
        let (predicted, expected) = (&of_predictions.tools, &of_references.tools);
        let renamed = std::iter::once(&mut predictions).chain(&mut further);
        let tool_names = self.tool_names.apply(renamed, predicted, [expected, &of_catalog], printer)?;
        let mut ignored = IgnoredTools::default();
        if let Some(roles) = conditions.roles.as_deref() {
            ignored = IgnoredTools::new(roles, [predicted, expected], &tool_names, printer);
            let all = std::iter::once(&mut predictions).chain(&mut further).chain([&mut references]);
            all.for_each(|file| file.leave_out(ignored.tools.clone()));
        }
        let paths = std::iter::once(files[0]).chain(further_paths.iter().map(PathBuf::as_path));
        conditions.pictures = ResultPictures::beside(&self.references, paths, |id| task_file_name(id, 1));
        let is_called = |tool: &str| predicted.has(tool) || expected.has(tool);
        conditions.verdicts = self.conditions.matching.options(&is_called, printer);
        let embedder = self.encoder.open(common.assets()?, printer)?;
        Ok(Scoring {
            predictions,
            further,
            references,
            profile: conditions.profile,
            conditions,
            asked: None,
            tool_names,
            ignored,
            no_images: of_predictions.are_blind(),
            embedder,
            printer,
        })
    }

    /// Exchanges predictions and references: the second file is scored against the first.
    pub(crate) fn exchanged(self) -> Self {
        let references = self.predictions.as_path().to_owned();
        Self {
            predictions: self.references.into_os_string().into(),
            references,
            are_of_one_kind: true,
            ..self
        }
    }

    /// The files that are read.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        let others =
            [self.conditions.tools.as_deref(), self.conditions.roles.as_deref(), self.tool_names.file()];
        let files =
            [Some(self.predictions.as_path()), Some(self.references.as_path())].into_iter().chain(others);
        files.flatten().collect()
    }

    fn duplicates(&self) -> Duplicates {
        match (self.duplicates, self.conditions.profile) {
            (Some(duplicates), _) => duplicates,
            (None, Profile::Paper) => Duplicates::Error,
            (None, Profile::OpenM3Bench) => Duplicates::Last,
        }
    }
}

/// Fails if a trajectory could not be aligned; names it.
pub(crate) fn check_aligned(summary: &Summary) -> Result {
    let too_large = &summary.ledger.too_large;
    for id in too_large {
        Printer::error(&format!(
            "`{}` has too many different calls of one tool to be aligned, or repeats them so often that too many \
             pairs are equally good: none of its calls is matched\n\
             hint: remove the calls that are not part of the answer from the prediction",
            shortened(id, 100)
        ));
    }
    if too_large.is_empty() { Ok(()) } else { Err(Failure::silent(code::FAILED)) }
}

/// Receives a score with its similarities, and the opener of pictures of results.
pub(crate) type ChosenSink<'a> = dyn FnMut(ScoredTrajectory<'_>, Option<&ResultPictures>) -> Result + 'a;

impl Scoring {
    /// Asks a language model about the matched pairs of all repetitions whose fidelity is uncertain. Later scores use
    /// its answers.
    pub(crate) fn ask(&mut self, asking: &AskingSame) -> Result<AskedSame> {
        let Self { predictions, further, references, conditions, embedder, printer, .. } = self;
        let mut doubtful = DoubtfulPairs::new(asking.band.scores());
        for predictions in std::iter::once(&*predictions).chain(&*further) {
            let options = conditions.options(false);
            let mut progress = printer.progress("comparing");
            let pairs = &mut doubtful;
            m3_score::find_doubtful(predictions, references, options, embedder, pairs, &mut progress)?;
        }
        let (answers, asked) = asking.answers(&doubtful, conditions.catalog.as_deref(), *printer)?;
        conditions.answers = answers;
        self.asked = Some(asked.report.clone());
        Ok(asked)
    }

    /// The catalog of `--tools`.
    pub(crate) fn catalog(&self) -> Option<Arc<Catalog>> {
        self.conditions.catalog.clone()
    }

    /// The files of a repetition, from 1.
    pub(crate) fn files(&self, repeat: usize) -> ScoredFiles<'_> {
        let further = repeat.checked_sub(2).and_then(|index| self.further.get(index));
        ScoredFiles { references: &self.references, predictions: further.unwrap_or(&self.predictions) }
    }

    /// The places of all trajectories.
    pub(crate) fn places(&self, points_at: PointsAt) -> ScoredPlaces {
        let predictions = std::iter::once(&self.predictions).chain(&self.further);
        ScoredPlaces::of(points_at, &self.references, predictions)
    }

    /// Scores with a progress bar. `sink` gets each trajectory.
    pub(crate) fn run(
        &mut self,
        keeps_similarities: bool,
        sink: &mut Sink<'_, Failure>,
    ) -> Result<(Summary, ScoreSummary)> {
        let summary = self.run_repetition(1, keeps_similarities, sink)?;
        let report = self.summarize(&summary, None)?;
        Ok((summary, report))
    }

    /// Scores one repetition: 1 means the predictions themselves, higher numbers the further ones.
    pub(crate) fn run_repetition(
        &mut self,
        repeat: usize,
        keeps_similarities: bool,
        sink: &mut Sink<'_, Failure>,
    ) -> Result<Summary> {
        let Self { predictions, further, references, conditions, embedder, .. } = self;
        let predictions = repeat.checked_sub(2).and_then(|index| further.get(index)).unwrap_or(predictions);
        let options = conditions.options(keeps_similarities);
        let mut progress = self.printer.progress("scoring");
        let summary = m3_score::score(predictions, references, options, embedder, sink, &mut progress);
        drop(progress);
        self.embedder.take_warnings().iter().for_each(|warning| self.printer.warn(warning));
        summary
    }

    /// The summary of the report; prints the warnings that a user should see.
    pub(crate) fn summarize(
        &self,
        summary: &Summary,
        repeats: Option<RepeatsReport>,
    ) -> Result<ScoreSummary> {
        if self.conditions.catalog.as_ref().is_some_and(|catalog| !catalog.is_used()) {
            self.printer.warn(
                "the catalog of `--tools` has no schema of any tool that both sides call: it changed nothing",
            );
        }
        for problem in self.conditions.pictures.problems() {
            self.printer.warn(&problem);
        }
        let options = self.conditions.options(false);
        let (inputs, tool_names) = (self.inputs()?, self.tool_names.clone());
        let mut report = ScoreSummary::new(summary, self.embedder.identity(), &options, inputs, tool_names);
        report.ledger.ignored_calls = self.ignored.calls;
        report.ledger.ignored_tools = self.ignored.names.iter().cloned().collect();
        let asked = self.asked.clone();
        Ok(ScoreSummary { no_images: self.no_images, asked, ..report }.with_repeats(repeats))
    }

    /// The scored files by name and hash.
    fn inputs(&self) -> Result<InputsReport, SourceError> {
        let input = |file: &TrajectoryFile| {
            Ok::<_, SourceError>(InputReport { name: file.name().to_owned(), sha256: file.digest()? })
        };
        let tools = self.conditions.catalog.as_ref().map(|tools| (tools.name(), tools.digest()));
        let roles = self.conditions.roles.as_ref().map(|roles| roles.file());
        let named =
            |(name, sha256): (&str, &str)| InputReport { name: name.to_owned(), sha256: sha256.to_owned() };
        Ok(InputsReport {
            predictions: input(&self.predictions)?,
            repeats: self.further.iter().map(input).collect::<Result<_, _>>()?,
            references: input(&self.references)?,
            tools: tools.map(named),
            roles: roles.map(named),
        })
    }

    /// Scores these references again, in this order, with their similarities. [`Scoring::run`] has printed all
    /// warnings. Without a bar (`has_bar`), `sink` may write to the terminal.
    pub(crate) fn run_chosen(
        &mut self,
        chosen: &[usize],
        has_bar: bool,
        sink: &mut ChosenSink<'_>,
    ) -> Result {
        let Self { ref predictions, ref references, ref conditions, .. } = *self;
        let options = conditions.options(true);
        let bar = has_bar.then(|| self.printer.progress("aligning"));
        m3_score::score_chosen(
            predictions,
            references,
            chosen,
            options,
            &mut self.embedder,
            &mut |scored| sink(scored, conditions.result_pictures()),
            &mut |done, total| {
                if let Some(bar) = &bar {
                    bar(done, total);
                }
            },
        )
    }
}
