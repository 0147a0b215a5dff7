//! `--suite`: scores of the same trajectories by the rules of other benchmarks.

use std::collections::HashSet;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use m3_report::{
    MatchReport, Named, OWN_SUITE, ScoreSummary, SuiteGroupReport, SuiteMetricReport, SuiteReport,
    SuiteTrial, SuiteValue, SuiteValues,
};
use m3_score::Metric;
use m3_suites::{ChosenSuite, Group, MatchedCall, Scorer, SuiteMetric, Trial, Unit, Values};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::{OpenError, Trajectory, TrajectoryFile};

use crate::cli::common::failure::{Failure, Result};
use crate::cli::common::places::ScoredFiles;

/// The option that chooses suites.
#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    /// Also score as another benchmark does: a name of docs/suites.md, with `:published` as its program does and not its
    /// paper; repeatable. `m3` stands for the metrics that are always there
    #[arg(long = "suite", value_name = "NAME[:published]")]
    suites: Vec<SuiteChoice>,
}

/// A suite that the command line names.
#[derive(Debug, Clone)]
enum SuiteChoice {
    /// M3-Bench, which is always there.
    Own,
    Other(ChosenSuite),
}

impl FromStr for SuiteChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            _ if text == OWN_SUITE => Ok(Self::Own),
            Some((OWN_SUITE, _)) => {
                Err("`m3` follows --profile: `open-m3-bench` is its published program".to_owned())
            }
            _ => text.parse().map(Self::Other),
        }
    }
}

/// The scorers of the chosen suites.
pub(crate) struct Suites<'c> {
    running: Vec<(ChosenSuite, Box<dyn Scorer + 'c>)>,
    /// The predictions with their grades, for each repetition.
    graded: Vec<TrajectoryFile>,
    /// The tasks of this repetition that were scored.
    seen: HashSet<String>,
}

impl SuiteArgs {
    /// Opens the scorers of the chosen suites. `graded` has graded predictions for each repetition, or is empty.
    pub(crate) fn open<'c>(&self, catalog: Option<&'c Catalog>, graded: &[PathBuf]) -> Result<Suites<'c>> {
        let mut running: Vec<(ChosenSuite, Box<dyn Scorer + 'c>)> = Vec::new();
        for choice in &self.suites {
            let SuiteChoice::Other(chosen) = choice else { continue };
            if running.iter().all(|(other, _)| other.name() != chosen.name()) {
                running.push((*chosen, chosen.open(catalog)));
            }
        }
        let graded = if running.is_empty() { &[] } else { graded };
        let unusable = |error: OpenError| Failure::input(error);
        let graded =
            graded.iter().map(|path| TrajectoryFile::open_all(path, &mut |_, _| ()).map_err(unusable));
        Ok(Suites { running, graded: graded.collect::<Result<_, _>>()?, seen: HashSet::new() })
    }

    /// The names of a suite's metrics, which values may extend after an underscore; `None` if it is not computed.
    pub(crate) fn metrics(&self, name: &str) -> Option<Vec<&'static str>> {
        self.suites.iter().find_map(|choice| match choice {
            SuiteChoice::Own if name == OWN_SUITE => Some(Metric::of_scores().map(Metric::name).collect()),
            SuiteChoice::Other(chosen) if chosen.name() == name => {
                Some(chosen.suite.metrics.iter().map(|metric| metric.name).collect())
            }
            _ => None,
        })
    }

    /// Whether the suite `m3` was named.
    pub(crate) fn names_own(&self) -> bool {
        self.suites.iter().any(|choice| matches!(choice, SuiteChoice::Own))
    }
}

impl Suites<'_> {
    /// Whether no suite was chosen.
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// The values of a task in a repetition, from 1. `matches` are its matched calls.
    pub(crate) fn task(
        &mut self,
        reference: &Trajectory,
        prediction: Option<&Trajectory>,
        matches: &[MatchReport],
        repeat: usize,
    ) -> Result<Named<SuiteTrial>> {
        let id = reference.id.as_str();
        self.seen.insert(id.to_owned());
        let graded = self.graded.get(repeat - 1);
        let graded = graded.and_then(|file| Some(file.look_at(file.find(id)?))).transpose()?;
        let pair = |found: &MatchReport| MatchedCall {
            reference: found.reference.index,
            predicted_step: found.predicted.step,
        };
        let matches: Vec<MatchedCall> = matches.iter().map(pair).collect();
        let trial = Trial {
            graded: graded.as_deref(),
            matches: Some(&matches),
            ..Trial::new(reference, prediction, repeat)
        };
        let values = |(chosen, scorer): &mut (ChosenSuite, Box<dyn Scorer + '_>)| {
            (chosen.name(), of_trial(&scorer.trial(&trial)))
        };
        Ok(Named(self.running.iter_mut().map(values).collect()))
    }

    /// Scores the tasks that were not scored in this repetition, because they have no prediction.
    pub(crate) fn end_repetition(&mut self, files: ScoredFiles<'_>, repeat: usize) -> Result {
        let seen = std::mem::take(&mut self.seen);
        if !self.running.is_empty() {
            for index in 0..files.references.len() {
                let reference = files.references.look_at(index)?;
                if !seen.contains(&reference.id) {
                    let prediction = files.predictions.find(&reference.id);
                    let prediction = prediction.map(|index| files.predictions.look_at(index)).transpose()?;
                    self.task(&reference, prediction.as_deref(), &[], repeat)?;
                }
            }
            self.seen.clear();
        }
        Ok(())
    }

    /// The reports of all suites; with M3-Bench among them, if there is a summary of it.
    pub(crate) fn finish(self, own: Option<&ScoreSummary>) -> Named<SuiteReport> {
        let own = own.map(|own| (OWN_SUITE.to_owned(), own_report(own)));
        let others =
            self.running.into_iter().map(|(chosen, scorer)| (chosen.name(), report(&chosen, scorer)));
        Named(own.into_iter().chain(others).collect())
    }
}

/// The metrics that every score has, as a suite.
fn own_report(summary: &ScoreSummary) -> SuiteReport {
    let metrics = || Metric::of_scores();
    let row = |metric: Metric| SuiteMetricReport {
        name: metric.name().to_owned(),
        unit: "share".to_owned(),
        meaning: metric.meaning().to_owned(),
    };
    let value = |metric: Metric| (metric.name().to_owned(), summary.aggregate.metrics.get(metric));
    SuiteReport {
        title: "M3-Bench".to_owned(),
        variant: if summary.profile == "paper" { "paper" } else { "published" }.to_owned(),
        metrics: metrics().map(row).collect(),
        aggregate: Named(metrics().map(value).collect()),
        groups: Vec::new(),
        notes: Vec::new(),
    }
}

fn report(chosen: &ChosenSuite, scorer: Box<dyn Scorer + '_>) -> SuiteReport {
    let result = scorer.finish();
    let group = |group: Group| SuiteGroupReport {
        by: group.by.to_owned(),
        name: group.name,
        tasks: group.tasks,
        values: named(&group.values),
    };
    SuiteReport {
        title: chosen.suite.title.to_owned(),
        variant: chosen.variant.name().to_owned(),
        metrics: chosen.suite.metrics.iter().map(metric).collect(),
        aggregate: named(&result.aggregate),
        groups: result.groups.into_iter().map(group).collect(),
        notes: result.notes,
    }
}

fn metric(metric: &SuiteMetric) -> SuiteMetricReport {
    let unit = match metric.unit {
        Unit::Share => "share",
        Unit::Percent => "percent",
        Unit::Count => "count",
        Unit::Number => "number",
    };
    SuiteMetricReport {
        name: metric.name.to_owned(),
        unit: unit.to_owned(),
        meaning: metric.meaning.to_owned(),
    }
}

fn of_trial(values: &Values) -> SuiteTrial {
    let numbers = values.iter().map(|(name, value)| (name.to_owned(), SuiteValue::Number(value)));
    let label = |text: Option<&str>| match text {
        Some(text) => SuiteValue::Text(text.to_owned()),
        None => SuiteValue::Number(None),
    };
    let labels = values.labels().map(|(name, text)| (name.to_owned(), label(text)));
    Named(numbers.chain(labels).collect())
}

fn named(values: &Values) -> SuiteValues {
    Named(values.iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
