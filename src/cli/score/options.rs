//! Options of `m3 score`: least values of metrics, further repetitions, and the forms of the report.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use m3_report::{Evaluations, Format, Junit, Named, Sarif, ScoreRenderer, SuiteReport};
use m3_score::{Metric, Metrics, PassCriterion, PassMetric};
use m3_support::text::counted;

use crate::cli::common::{Failure, PointsAt, Printer, Result, ScoringArgs, SuiteArgs, code, place_of};

/// The least value of a metric.
#[derive(Debug, Clone)]
pub(crate) struct Floor {
    metric: FlooredMetric,
    least: f64,
}

/// The metric that a floor is for.
#[derive(Debug, Clone)]
enum FlooredMetric {
    /// A metric that every score has.
    Own(Metric),
    /// A value of a suite's aggregate.
    Suite { suite: String, name: String },
}

impl FromStr for Floor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(((suite, name), least)) =
            text.split_once('=').and_then(|(name, least)| Some((name.split_once('.')?, least)))
        {
            let number = least.parse().ok().filter(|least: &f64| least.is_finite());
            let least = number.ok_or_else(|| format!("`{least}` should be a number"))?;
            return Ok(Self {
                metric: FlooredMetric::Suite { suite: suite.to_owned(), name: name.to_owned() },
                least,
            });
        }
        let metric = |name: &str| Metric::of_scores().find(|metric| metric.name() == name);
        let (metric, least) = parse_least(text, metric, Metric::of_scores().map(Metric::name))?;
        Ok(Self { metric: FlooredMetric::Own(metric), least })
    }
}

impl Floor {
    /// Fails if the floor names a suite that is not computed, or a value that the suite does not have.
    pub(crate) fn check(&self, suites: &SuiteArgs) -> Result {
        let FlooredMetric::Suite { suite, name } = &self.metric else { return Ok(()) };
        let Some(metrics) = suites.metrics(suite) else {
            return Err(Failure::input(format!(
                "`--fail-under` names the suite `{suite}`, which is not computed\nhint: add `--suite {suite}`"
            )));
        };
        let is_of = |metric: &&str| -> bool {
            name.strip_prefix(*metric).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        if metrics.iter().any(is_of) { Ok(()) } else { Err(no_value(suite, name, &metrics)) }
    }

    /// Converts the floor to the type that reports use.
    pub(crate) fn reported(&self) -> m3_report::Floor {
        let name = match &self.metric {
            FlooredMetric::Own(metric) => metric.name().to_owned(),
            FlooredMetric::Suite { suite, name } => format!("{suite}.{name}"),
        };
        m3_report::Floor { name, least: self.least }
    }

    /// The name of the metric and its value; `None` if the value is not defined.
    fn value(&self, metrics: &Metrics, suites: &Named<SuiteReport>) -> Result<(String, Option<f64>)> {
        match &self.metric {
            FlooredMetric::Own(metric) => Ok((metric.name().to_owned(), metrics.get(*metric))),
            FlooredMetric::Suite { suite, name } => {
                let aggregate = suites.get(suite).map(|report| &report.aggregate);
                let value = aggregate.and_then(|values| values.get(name).copied());
                let missing = || {
                    let values = aggregate.map(|values| values.0.as_slice()).unwrap_or_default();
                    let known: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
                    no_value(suite, name, &known)
                };
                Ok((format!("{suite}.{name}"), value.ok_or_else(missing)?))
            }
        }
    }
}

fn no_value(suite: &str, name: &str, known: &[&str]) -> Failure {
    let known = known.join(", ");
    Failure::input(format!("`--fail-under`: `{suite}` has no value `{name}`\nhint: it has {known}"))
}

/// Fails if a value is below its floor, or not known; prints each.
pub(crate) fn check_floors(floors: &[Floor], metrics: &Metrics, suites: &Named<SuiteReport>) -> Result {
    let mut are_met = true;
    for floor in floors {
        let least = floor.least;
        match floor.value(metrics, suites)? {
            (name, Some(value)) if value < least => {
                Printer::error(&format!("{name} is {value:.4}, below --fail-under {least}"));
                are_met = false;
            }
            (name, None) => {
                let why = match &floor.metric {
                    FlooredMetric::Own(metric) => format!("\nhint: {}", metric.meaning()),
                    FlooredMetric::Suite { .. } => String::new(),
                };
                Printer::error(&format!(
                    "{name} is not known for this score, and --fail-under asks for {least}{why}"
                ));
                are_met = false;
            }
            _ => {}
        }
    }
    if are_met { Ok(()) } else { Err(Failure::silent(code::NOT_MET)) }
}

/// Options of further predictions, and of the criterion for passing.
#[derive(Debug, Args)]
pub(crate) struct RepeatArgs {
    /// Further predictions of the same tasks, such as predictions-2.json of `m3 run --repeat`; repeatable. All those in
    /// a run's folder are taken where the folder is given for PREDICTIONS
    #[arg(long, value_name = "FILE")]
    repeat: Vec<PathBuf>,
    // The help is not a doc comment, because backticks around the default would be printed.
    #[arg(
        long,
        value_name = "METRIC=VALUE",
        help = "Least value of a metric with which a trajectory passes, for pass@k and pass^k; repeatable \
            [default: lowest_argument_fidelity=0.5]",
        value_parser = |text: &str| parse_least(text, PassMetric::from_name, PassMetric::names())
    )]
    pass: Vec<(PassMetric, f64)>,
}

impl RepeatArgs {
    /// The files of all repetitions after the first.
    pub(crate) fn files(&self, scoring: &ScoringArgs) -> Vec<PathBuf> {
        let of_folder = scoring.predictions.further().into_iter();
        of_folder.chain(self.repeat.iter().cloned()).collect()
    }

    /// Whether trials are counted: there are repetitions, or a criterion for passing is given.
    pub(crate) fn counts_trials(&self, files: &[PathBuf]) -> bool {
        !(files.is_empty() && self.pass.is_empty())
    }

    /// The criterion for passing. If a metric is named twice, the last value counts.
    pub(crate) fn criterion(&self) -> PassCriterion {
        if self.pass.is_empty() {
            return PassCriterion::default();
        }
        PassCriterion { least: self.pass.iter().copied().collect() }
    }

    /// Reports how many repetitions a folder has; refuses files that are given twice.
    pub(crate) fn check(&self, files: &[PathBuf], scoring: &ScoringArgs, printer: Printer) -> Result {
        let of_folder = files.len() - self.repeat.len();
        if of_folder > 0 {
            printer.note(&format!("the folder has {}, all are scored", counted(of_folder + 1, "repetition")));
        }
        refuse_same(files, scoring)
    }
}

/// Refuses repeated files: one file used for two repetitions would look like a model that always does the same.
fn refuse_same(files: &[PathBuf], scoring: &ScoringArgs) -> Result {
    let mut known = vec![place_of(scoring.predictions.as_path())];
    // The references may also be used as predictions, but standard input can be read only once.
    known.extend((scoring.references == Path::new("-")).then(|| place_of(Path::new("-"))));
    for file in files {
        let place = place_of(file);
        if known.contains(&place) {
            return Err(Failure::input(format!(
                "`{}` is given twice\nhint: each `--repeat` should be the predictions of another run",
                file.display()
            )));
        }
        known.push(place);
    }
    Ok(())
}

/// Reads `METRIC=VALUE`: a name that `find` knows, of these `names`, and a value in [0, 1].
pub(crate) fn parse_least<T>(
    text: &str,
    find: impl Fn(&str) -> Option<T>,
    names: impl Iterator<Item = &'static str>,
) -> Result<(T, f64), String> {
    let (name, value) = text.split_once('=').ok_or("it should be METRIC=VALUE, such as recall=0.8")?;
    let metric = find(name).ok_or_else(|| {
        format!("`{name}` is no metric; these are: {}", names.collect::<Vec<_>>().join(", "))
    })?;
    match value.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok((metric, value)),
        _ => Err(format!("`{value}` should be a number between 0 and 1")),
    }
}

/// The form of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoreFormArg {
    /// For people
    Table,
    /// Everything, as one document
    Json,
    /// One trajectory a line, the summary last: for files of any size
    Jsonl,
    /// A row for each trajectory, each type and the whole
    Csv,
    /// For a pull request
    Markdown,
    /// JUnit's XML, for build servers: a test case for each trajectory
    Junit,
    /// SARIF 2.1.0, for code hosts: every fault with its place
    Sarif,
    /// OpenTelemetry's events `gen_ai.evaluation.result`: a document of OTLP/JSON a line, beside the spans of `m3 export`
    Otel,
}

impl ScoreFormArg {
    /// Whether the form has a place for outcomes and grades.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }

    /// The kind of place that the form refers to.
    pub(crate) fn points_at(self) -> PointsAt {
        match self {
            Self::Sarif => PointsAt::Lines,
            Self::Otel => PointsAt::Spans,
            _ => PointsAt::Nothing,
        }
    }

    /// A renderer for this form; `(columns, is_styled)` are the width and style of tables.
    pub(crate) fn renderer<'a>(
        self,
        writer: Box<dyn Write + 'a>,
        (columns, is_styled): (usize, bool),
        floors: Vec<m3_report::Floor>,
    ) -> io::Result<Box<dyn ScoreRenderer + 'a>> {
        let format = match self {
            Self::Junit => return Ok(Box::new(Junit::new(writer, floors)?)),
            Self::Sarif => return Ok(Box::new(Sarif::new(writer, floors)?)),
            Self::Otel => return Ok(Box::new(Evaluations::new(writer, floors))),
            Self::Table => Format::Table,
            Self::Json => Format::Json,
            Self::Jsonl => Format::JsonLines,
            Self::Csv => Format::Csv,
            Self::Markdown => Format::Markdown,
        };
        Ok(format.renderer(writer, columns, is_styled))
    }
}
