//! The configuration of `m3 score`, checked before anything is computed.

use std::path::{Path, PathBuf};

use m3_report::{RepeatsGatherer, ScoreRenderer, ScoreSummary, TrajectoryReport};
use m3_score::Summary;
use m3_stats::Draws;

use super::args::ScoreArgs;
use super::beside::Beside;
use super::floors::{Floor, check_floors};
use super::forms::ScoreFormArg;
use crate::cli::common::failure::{Failure, code};
use crate::cli::common::output::{Output, form};
use crate::cli::common::places::ScoredPlaces;
use crate::cli::common::printer::Printer;
use crate::cli::common::scoring::Scoring;
use crate::cli::common::scoring::suites::{ScoredFiles, Suites};

/// The files that are scored, and the form of the report.
pub(super) struct ScoreConfig<'a> {
    args: &'a ScoreArgs,
    /// The predictions of the second repetition and those after it.
    pub(super) further: Vec<PathBuf>,
    beside: Beside,
    format: ScoreFormArg,
}

impl<'a> ScoreConfig<'a> {
    /// Checks the options, and warns of those without an effect.
    pub(super) fn new(args: &'a ScoreArgs, printer: Printer) -> Result<Self, Failure> {
        args.scoring.ask().check()?;
        args.fail_under.iter().try_for_each(|floor| floor.check(&args.suites))?;
        let further = args.repeats.files(&args.scoring);
        let beside = Beside::read(args, further.len() + 1)?;
        let format = form(args.format, args.out.as_deref())?;
        for (option, files) in [("--outcomes", &args.outcomes), ("--grades", &args.grades)] {
            if !files.is_empty() && !format.is_json() {
                printer
                    .warn(&format!("`{option}` has no effect on this form; only JSON has a place for them"));
            }
        }
        args.repeats.check(&further, &args.scoring, printer)?;
        Ok(Self { args, further, beside, format })
    }

    /// The files that are read.
    pub(super) fn inputs(&self) -> Vec<&Path> {
        let mut inputs = self.args.scoring.inputs();
        let others = self.further.iter().chain(&self.args.outcomes).chain(&self.args.grades);
        inputs.extend(others.map(PathBuf::as_path));
        inputs
    }

    /// Opens the target of the report; refuses to overwrite files that are read.
    pub(super) fn output(&self, printer: Printer) -> Result<Output, Failure> {
        let read = self.inputs().into_iter().chain(self.args.scoring.ask().cassettes());
        let output = Output::open(self.args.out.as_deref(), &read.collect::<Vec<_>>(), printer)?;
        Ok(if self.args.fail_under.is_empty() { output } else { output.outliving_its_reader() })
    }

    /// Creates the renderer that writes the report in its form.
    pub(super) fn renderer<'o>(
        &self,
        output: &'o mut Output,
    ) -> Result<Box<dyn ScoreRenderer + 'o>, Failure> {
        let look = (self.args.width.columns(output), output.is_styled());
        let floors = self.args.fail_under.iter().map(Floor::reported).collect();
        let renderer = self.format.renderer(Box::new(output), look, floors);
        renderer.map_err(|cause| Failure::written(&cause))
    }

    /// Scores all repetitions, each trajectory written as soon as it is scored.
    pub(super) fn score_all(
        &self,
        scoring: &mut Scoring,
        renderer: &mut dyn ScoreRenderer,
    ) -> Result<(Summary, ScoreSummary), Failure> {
        let places = scoring.places(self.format.points_at());
        let criterion = self.args.repeats.criterion();
        let mut gatherer = RepeatsGatherer::new(&criterion, scoring.profile);
        let catalog = scoring.catalog();
        let mut suites = self.args.suites.open(catalog.as_deref(), &self.args.grades)?;
        let mut score = || self.score_repetition(scoring, &places, &mut gatherer, (renderer, &mut suites));
        let mut summary = score()?;
        for repeat in 2..=self.further.len() + 1 {
            summary.add_repetition(score()?, repeat);
        }
        let repeats =
            self.args.repeats.counts_trials(&self.further).then(|| gatherer.finish(&Draws::default()));
        let report = scoring.summarize(&summary, repeats)?;
        let suites = suites.finish(self.args.suites.names_own().then_some(&report));
        let report = ScoreSummary { suites, ..report };
        renderer.finish(&report).map_err(|cause| Failure::written(&cause))?;
        Ok((summary, report))
    }

    /// Scores the next repetition.
    fn score_repetition(
        &self,
        scoring: &mut Scoring,
        places: &ScoredPlaces,
        gatherer: &mut RepeatsGatherer<'_>,
        (renderer, suites): (&mut dyn ScoreRenderer, &mut Suites<'_>),
    ) -> Result<Summary, Failure> {
        let (repeat, profile, is_repeated) =
            (gatherer.repeat(), scoring.profile, !scoring.further.is_empty());
        let summary = scoring.run_repetition(repeat, false, &mut |scored| {
            gatherer.add(&scored.score);
            let of_suites =
                if suites.is_empty() { None } else { Some((scored.reference()?, scored.prediction()?)) };
            let files = ScoredFiles { references: scored.references, predictions: scored.predictions };
            let mut report = TrajectoryReport::new(scored.score, profile);
            report.repeat = is_repeated.then_some(repeat);
            if let Some((reference, prediction)) = of_suites {
                report.suites = suites.task(&reference, prediction.as_deref(), &report.matches, repeat)?;
            }
            report.places = places.find(&report.id, files, repeat)?;
            let added = self.beside.add_to(&mut report, repeat);
            added.map_err(|message| Failure::new(code::INPUT, message))?;
            renderer.trajectory(&report).map_err(|cause| Failure::written(&cause))
        })?;
        suites.end_repetition(scoring.files(repeat), repeat)?;
        gatherer.end_repetition(&summary);
        Ok(summary)
    }

    /// Fails if a value of the score is below its `--fail-under`.
    pub(super) fn check_floors(
        &self,
        scoring: &Scoring,
        summary: &Summary,
        report: &ScoreSummary,
    ) -> Result<(), Failure> {
        check_floors(&self.args.fail_under, &summary.aggregate.metrics(scoring.profile), &report.suites)
    }
}
