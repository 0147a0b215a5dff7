//! `m3 score`

use std::path::{Path, PathBuf};

use clap::Args;
use m3_report::{
    GradesByTrajectory, OutcomesByTrajectory, RepeatsGatherer, ScoreRenderer, ScoreSummary, TrajectoryReport,
};
use m3_score::Summary;
use m3_stats::Draws;
use m3_support::text::counted;

use super::Common;
use super::failure::{Failure, code};
use super::floors::{Floor, check_floors};
use super::output::{Output, WidthArgs, form};
use super::places::ScoredPlaces;
use super::printer::Printer;
use super::repeats::RepeatArgs;
use super::score_forms::ScoreFormArg;
use super::scoring::{Scoring, ScoringArgs, check_aligned};
use super::suites::{ScoredFiles, SuiteArgs, Suites};

/// Options of `m3 score`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ScoreArgs {
    #[command(flatten)]
    scoring: ScoringArgs,
    #[command(flatten)]
    repeats: RepeatArgs,
    #[command(flatten)]
    suites: SuiteArgs,
    /// Form of the report [default: by the file extension of --out, else table]
    #[arg(long, value_enum)]
    format: Option<ScoreFormArg>,
    /// Write the report to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    width: WidthArgs,
    /// Outcomes of the predicted calls, from `m3 outcomes --format json`: copied into the JSON, for leaderboards;
    /// with repetitions one file for each, in their order
    #[arg(long, value_name = "FILE")]
    outcomes: Vec<PathBuf>,
    /// Grades of the predictions, from `m3 grade -o`: copied into the JSON, for leaderboards; with repetitions one
    /// file for each, in their order
    #[arg(long, value_name = "FILE")]
    grades: Vec<PathBuf>,
    /// Exit with code 1 if a metric of the whole set is lower, such as recall=0.8, or mcpagentbench.tfs=50 with its
    /// `--suite`; repeatable
    #[arg(long, value_name = "METRIC=VALUE")]
    fail_under: Vec<Floor>,
}

const EXAMPLES: &str = "\
Examples:
  m3 score predictions.json references.json
  m3 score predictions.jsonl.gz references.json --format json --out score.json
  m3 score predictions.json references.json --profile open-m3-bench
  m3 score predictions.json references.json --tool-names auto
  m3 score predictions.json references.json --similarity typed --tools catalog.json
  m3 score predictions.json references.json --ask openai:gpt-5 --ask-record asked.tape
  m3 score runs/gpt-5 references.json --out gpt-5.json
  m3 score predictions.json references.json --match unordered --out junit.xml
  m3 score predictions.json references.json --out m3.sarif
  m3 score predictions.json references.json --format otel --out evaluations.jsonl
  m3 score predictions.json references.json --suite mcpagentbench --suite mcpagentbench:published
  m3 score first.json references.json --repeat second.json --repeat third.json \\
      --pass recall=1 --pass precision=1
  m3 score predictions.json references.json \\
      --fail-under recall=0.8 --fail-under argument_fidelity=0.7";

/// The data that are put beside scores: a file for each repetition, or none.
struct Beside {
    outcomes: Vec<OutcomesByTrajectory>,
    grades: Vec<GradesByTrajectory>,
}

impl Beside {
    fn read(args: &ScoreArgs, repetitions: usize) -> Result<Self, Failure> {
        for (option, files) in [("--outcomes", &args.outcomes), ("--grades", &args.grades)] {
            if !files.is_empty() && files.len() != repetitions {
                let (files, repetitions) = (counted(files.len(), "file"), counted(repetitions, "repetition"));
                let message = format!(
                    "`{option}` has {files} for {repetitions}\n\
                     hint: give it once for each repetition, in their order"
                );
                return Err(Failure::new(code::INPUT, message));
            }
        }
        let invalid = |message: String| Failure::new(code::INPUT, message);
        let outcomes = args.outcomes.iter().map(|path| OutcomesByTrajectory::read(path));
        let grades = args.grades.iter().map(|path| GradesByTrajectory::read(path));
        Ok(Self {
            outcomes: outcomes.collect::<Result<_, _>>().map_err(|error| invalid(error.to_string()))?,
            grades: grades.collect::<Result<_, _>>().map_err(|error| invalid(error.to_string()))?,
        })
    }

    /// Adds the data about a trajectory of repetition `repeat`, from 1, to its report.
    fn add_to(&self, report: &mut TrajectoryReport, repeat: usize) -> Result<(), String> {
        let calls = usize::try_from(report.metrics.predicted_calls).unwrap_or(usize::MAX);
        if let Some(outcomes) = self.outcomes.get(repeat - 1) {
            report.outcomes = outcomes.get(&report.id, calls).map_err(|error| error.to_string())?;
        }
        if let Some(grades) = self.grades.get(repeat - 1) {
            report.grades = grades.get(&report.id, calls).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// Scores predictions, and further repetitions of them.
pub(super) fn run(args: &ScoreArgs, common: &Common, printer: Printer) -> Result<(), Failure> {
    args.scoring.ask().check()?;
    args.fail_under.iter().try_for_each(|floor| floor.check(&args.suites))?;
    let files = args.repeats.files(&args.scoring);
    let beside = Beside::read(args, files.len() + 1)?;
    let format = form(args.format, args.out.as_deref())?;
    for (option, is_given) in
        [("--outcomes", !args.outcomes.is_empty()), ("--grades", !args.grades.is_empty())]
    {
        if is_given && !format.is_json() {
            printer.warn(&format!("`{option}` has no effect on this form; only JSON has a place for them"));
        }
    }
    args.repeats.check(&files, &args.scoring, printer)?;
    let mut inputs = args.scoring.inputs();
    inputs.extend(files.iter().chain(&args.outcomes).chain(&args.grades).map(PathBuf::as_path));
    let kept: Vec<&Path> = inputs.iter().copied().chain(args.scoring.ask().cassettes()).collect();
    let mut output = Output::open(args.out.as_deref(), &kept, printer)?;
    let asking = args.scoring.ask().open(&inputs, printer)?;
    let mut scoring = args.scoring.open(&files, common, printer)?;
    let asked = asking.map(|asking| scoring.ask(&asking)).transpose()?;
    if !args.fail_under.is_empty() {
        output = output.outliving_its_reader();
    }
    let look = (args.width.columns(&output), output.is_styled());
    let floors = args.fail_under.iter().map(Floor::reported).collect();
    let renderer = format.renderer(Box::new(&mut output), look, floors);
    let mut renderer = renderer.map_err(|cause| Failure::written(&cause))?;
    let places = scoring.places(format.points_at());
    let criterion = args.repeats.criterion();
    let mut gatherer = RepeatsGatherer::new(&criterion, scoring.profile);
    let catalog = scoring.catalog();
    let mut suites = args.suites.open(catalog.as_deref(), &args.grades)?;
    let mut score = || {
        score_repetition(&mut scoring, (&beside, &places), &mut gatherer, (renderer.as_mut(), &mut suites))
    };
    let mut summary = score()?;
    for repeat in 2..=files.len() + 1 {
        summary.add_repetition(score()?, repeat);
    }
    let repeats = args.repeats.counts_trials(&files).then(|| gatherer.finish(&Draws::default()));
    let report = scoring.summarize(&summary, repeats)?;
    let suites = suites.finish(args.suites.names_own().then_some(&report));
    let report = ScoreSummary { suites, ..report };
    renderer.finish(&report).map_err(|cause| Failure::written(&cause))?;
    drop(renderer);
    output.commit()?;
    let are_aligned = check_aligned(&summary);
    let are_asked = asked.map_or(Ok(()), |asked| asked.end(printer));
    let are_met = check_floors(&args.fail_under, &summary.aggregate.metrics(scoring.profile), &report.suites);
    are_met.and(are_aligned).and(are_asked)
}

/// Scores the next repetition.
fn score_repetition(
    scoring: &mut Scoring,
    (beside, places): (&Beside, &ScoredPlaces),
    gatherer: &mut RepeatsGatherer<'_>,
    (renderer, suites): (&mut dyn ScoreRenderer, &mut Suites<'_>),
) -> Result<Summary, Failure> {
    let (repeat, profile, is_repeated) = (gatherer.repeat(), scoring.profile, !scoring.further.is_empty());
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
        beside.add_to(&mut report, repeat).map_err(|message| Failure::new(code::INPUT, message))?;
        renderer.trajectory(&report).map_err(|cause| Failure::written(&cause))
    })?;
    suites.end_repetition(scoring.files(repeat), repeat)?;
    gatherer.end_repetition(&summary);
    Ok(summary)
}
