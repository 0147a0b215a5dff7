//! `--fail-under` of `m3 score`: the least values that metrics of the whole set may have.

use std::str::FromStr;

use m3_report::{Named, SuiteReport};
use m3_score::{Metric, Metrics};

use crate::cli::common::failure::{Failure, code};
use crate::cli::common::printer::Printer;
use crate::cli::common::scoring::suites::SuiteArgs;
use crate::cli::score::repeats::parse_least;

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
    pub(crate) fn check(&self, suites: &SuiteArgs) -> Result<(), Failure> {
        let FlooredMetric::Suite { suite, name } = &self.metric else { return Ok(()) };
        let Some(metrics) = suites.metrics(suite) else {
            let message = format!(
                "`--fail-under` names the suite `{suite}`, which is not computed\nhint: add `--suite {suite}`"
            );
            return Err(Failure::new(code::INPUT, message));
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
    fn value(
        &self,
        metrics: &Metrics,
        suites: &Named<SuiteReport>,
    ) -> Result<(String, Option<f64>), Failure> {
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
    Failure::new(
        code::INPUT,
        format!("`--fail-under`: `{suite}` has no value `{name}`\nhint: it has {known}"),
    )
}

/// Fails if a value is below its floor, or not known; prints each.
pub(crate) fn check_floors(
    floors: &[Floor],
    metrics: &Metrics,
    suites: &Named<SuiteReport>,
) -> Result<(), Failure> {
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
