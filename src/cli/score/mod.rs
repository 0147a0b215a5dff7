//! `m3 score`: scores predictions, and further repetitions of them.

pub(crate) mod options;

use std::path::{Path, PathBuf};

use clap::Args;
use m3_report::{
    GradesByTrajectory, OutcomesByTrajectory, RepeatsGatherer, ScoreRenderer, ScoreSummary, TrajectoryReport,
};
use m3_score::Summary;
use m3_stats::Draws;
use m3_support::text::counted;

use crate::cli::Common;
use crate::cli::common::{
    Failure, Output, Printer, Result, ScoredFiles, ScoredPlaces, Scoring, ScoringArgs, SuiteArgs, Suites,
    WidthArgs, check_aligned, form,
};
use crate::cli::score::options::{Floor, RepeatArgs, ScoreFormArg, check_floors};

/// Scores, and writes the report. Fails with the first of: a floor that is not met, a trajectory that could not be aligned, a model
/// that could not be asked.
pub(crate) fn run(args: &ScoreArgs, common: &Common, printer: Printer) -> Result {
    let config = ScoreConfig::new(args, printer)?;
    let inputs = config.inputs();
    let read: Vec<&Path> = inputs.iter().copied().chain(args.scoring.ask.cassettes()).collect();
    let mut output = Output::open(args.out.as_deref(), &read, printer)?;
    if !args.fail_under.is_empty() {
        output = output.outliving_its_reader();
    }
    let asking = args.scoring.ask.open(&inputs, printer)?;
    let mut scoring = args.scoring.open(&config.further, common, printer)?;
    let asked = asking.map(|asking| scoring.ask(&asking)).transpose()?;
    let look = (args.width.columns(&output), output.is_styled());
    let floors = args.fail_under.iter().map(Floor::reported).collect();
    let mut renderer = config.format.renderer(Box::new(&mut output), look, floors)?;
    let (summary, report) = config.score_all(&mut scoring, renderer.as_mut())?;
    drop(renderer);
    output.commit()?;
    let are_aligned = check_aligned(&summary);
    let are_asked = asked.map_or(Ok(()), |asked| asked.end(printer));
    let metrics = summary.aggregate.metrics(scoring.profile);
    check_floors(&args.fail_under, &metrics, &report.suites).and(are_aligned).and(are_asked)
}

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
    pub(super) fn new(args: &'a ScoreArgs, printer: Printer) -> Result<Self> {
        args.scoring.ask.check()?;
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

    /// Scores all repetitions, each trajectory written as soon as it is scored.
    pub(super) fn score_all(
        &self,
        scoring: &mut Scoring,
        renderer: &mut dyn ScoreRenderer,
    ) -> Result<(Summary, ScoreSummary)> {
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
        renderer.finish(&report)?;
        Ok((summary, report))
    }

    /// Scores the next repetition.
    fn score_repetition(
        &self,
        scoring: &mut Scoring,
        places: &ScoredPlaces,
        gatherer: &mut RepeatsGatherer<'_>,
        (renderer, suites): (&mut dyn ScoreRenderer, &mut Suites<'_>),
    ) -> Result<Summary> {
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
            self.beside.add_to(&mut report, repeat)?;
            renderer.trajectory(&report).map_err(Failure::from)
        })?;
        suites.end_repetition(scoring.files(repeat), repeat)?;
        gatherer.end_repetition(&summary);
        Ok(summary)
    }
}

/// Outcomes and grades to copy into a score: a file for each repetition, or no file.
pub(super) struct Beside {
    outcomes: Vec<OutcomesByTrajectory>,
    grades: Vec<GradesByTrajectory>,
}

impl Beside {
    /// Reads the files of `--outcomes` and `--grades`: none, or one for each repetition.
    pub(super) fn read(args: &ScoreArgs, repetitions: usize) -> Result<Self> {
        for (option, files) in [("--outcomes", &args.outcomes), ("--grades", &args.grades)] {
            if !files.is_empty() && files.len() != repetitions {
                let (files, repetitions) = (counted(files.len(), "file"), counted(repetitions, "repetition"));
                return Err(Failure::input(format!(
                    "`{option}` has {files} for {repetitions}\n\
                     hint: give it once for each repetition, in their order"
                )));
            }
        }
        let outcomes = args.outcomes.iter().map(|path| OutcomesByTrajectory::read(path));
        let grades = args.grades.iter().map(|path| GradesByTrajectory::read(path));
        Ok(Self {
            outcomes: outcomes.collect::<Result<_, _>>().map_err(Failure::input)?,
            grades: grades.collect::<Result<_, _>>().map_err(Failure::input)?,
        })
    }

    /// Adds the data about a trajectory of repetition `repeat`, from 1, to its report.
    pub(super) fn add_to(&self, report: &mut TrajectoryReport, repeat: usize) -> Result {
        let calls = usize::try_from(report.metrics.predicted_calls).unwrap_or(usize::MAX);
        if let Some(outcomes) = self.outcomes.get(repeat - 1) {
            report.outcomes = outcomes.get(&report.id, calls).map_err(Failure::input)?;
        }
        if let Some(grades) = self.grades.get(repeat - 1) {
            report.grades = grades.get(&report.id, calls).map_err(Failure::input)?;
        }
        Ok(())
    }
}
