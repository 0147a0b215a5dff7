//! The metrics that are compared, one of each suite unless others are named.

use m3_score::fidelity::constants::THRESHOLD;
use m3_score::{Metric, Profile};

use super::ScoredModel;
use crate::{OWN_SUITE, SuiteMetricReport, SuiteReport, SuiteValue, TrajectoryReport, shortened};

/// A metric of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The suite; `m3` for the metrics that every score has.
    pub suite: String,
    /// The metric.
    pub metric: String,
}

/// The name under which a suite reports the weight of a task. Values are multiplied by the weight already.
const WEIGHT: &str = "weight";

/// The lowest verdict of a trajectory that is right: it did its job more likely than not.
const LIKELY: f64 = 0.5;

/// The value and the verdict of a view on a trajectory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ViewOfTrial {
    /// The value times the weight.
    pub(super) value: f64,
    /// The weight.
    pub(super) weight: f64,
    /// Whether it is right: at least half of what can be reached; for m3's metrics its own criterion for passing.
    pub(super) is_right: bool,
}

/// The views of some results: `m3.average`, and the first metric of each suite that all of them have. Metrics that are
/// `named`, as `SUITE.METRIC`, replace their suite's first. Where models have labels of success, `m3.verdict` comes
/// before the average if all of them know it.
///
/// # Errors
/// A message if a named metric is missing or is not a share, or if there are fewer than two views and no labels.
pub fn views(models: &[ScoredModel], named: &[String]) -> Result<Vec<View>, String> {
    let mut views: Vec<View> = Vec::new();
    for name in named {
        let (suite, metric) = name
            .rsplit_once('.')
            .ok_or_else(|| format!("`{}` should be SUITE.METRIC, such as m3.recall", shortened(name, 80)))?;
        let view = View { suite: suite.to_owned(), metric: metric.to_owned() };
        if let Some(unit) = models.iter().find_map(|model| view.other_unit(model)) {
            return Err(format!(
                "`{}` is a {unit}, and no share of what can be reached, so there is no right and wrong\nhint: take a \
                 metric whose unit is share or percent",
                shortened(name, 80)
            ));
        }
        if let Some(model) = models.iter().find(|model| !view.is_known(model)) {
            let (name, file) = (shortened(name, 80), shortened(&model.file, 200));
            return Err(format!(
                "`{file}` has no metric `{name}` of its trajectories\nhint: score it with `--suite`"
            ));
        }
        if !views.contains(&view) {
            views.push(view);
        }
    }
    let is_named = |suite: &str, views: &[View]| views.iter().any(|view| view.suite == suite);
    let has_labels = models.iter().any(|model| !model.people.is_empty());
    if !is_named(OWN_SUITE, &views) {
        let verdict = View::own(Metric::Verdict);
        let knows = |model: &ScoredModel| model.trajectories.iter().any(|it| verdict.of(it).is_some());
        let beside = has_labels && models.iter().all(knows);
        views.splice(0..0, beside.then_some(verdict).into_iter().chain([View::own(Metric::Average)]));
    }
    let suites = models.first().map(|model| model.head.suites.0.as_slice()).unwrap_or_default();
    for (suite, report) in suites {
        let has_it = |model: &ScoredModel| model.head.suites.get(suite).is_some();
        if suite == OWN_SUITE || is_named(suite, &views) || !models.iter().all(has_it) {
            continue;
        }
        let view = |metric: &SuiteMetricReport| View { suite: suite.clone(), metric: metric.name.clone() };
        let known = report.metrics.iter().filter(|metric| metric.is_share()).map(view);
        views.extend(known.into_iter().find(|view| models.iter().all(|model| view.is_known(model))));
    }
    if views.len() < 2 && !has_labels {
        return Err("these results share only one suite, so there is nothing to compare\n\
            hint: score them with a second suite (`m3 score .. --suite NAME --suite NAME`), or compare every metric with \
            labels of success (`--labels`)"
            .to_owned());
    }
    Ok(views)
}

/// All metrics that can be compared with labels of success: m3's own, and the metrics of suites that are shares and in
/// all results.
pub(super) fn all_views(models: &[ScoredModel]) -> Vec<View> {
    // In the paper's profile only the similarity of strong matches counts, so that both metrics are equal.
    let is_paper = models.iter().all(|model| model.head.profile == Profile::Paper.name());
    let own = Metric::of_scores().filter(|metric| !(is_paper && *metric == Metric::ArgumentSimilarityStrong));
    let mut views: Vec<View> = own.map(View::own).collect();
    let suites = models.first().map(|model| model.head.suites.0.as_slice()).unwrap_or_default();
    for (suite, report) in suites.iter().filter(|(suite, _)| suite != OWN_SUITE) {
        let shares = report.metrics.iter().filter(|metric| metric.is_share());
        let of_suite = shares.map(|metric| View { suite: suite.clone(), metric: metric.name.clone() });
        views.extend(of_suite.filter(|view| models.iter().all(|model| view.is_known(model))));
    }
    views
}

impl View {
    /// A metric of m3.
    fn own(metric: Metric) -> Self {
        Self { suite: OWN_SUITE.to_owned(), metric: metric.name().to_owned() }
    }

    /// Whether the view is m3's probability that a trajectory did its job.
    pub(super) fn is_verdict(&self) -> bool {
        *self == Self::own(Metric::Verdict)
    }

    /// The name in reports: `SUITE.METRIC`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{}", self.suite, self.metric)
    }

    /// The unit of the metric, if it is not one by which a trajectory can be right.
    fn other_unit(&self, model: &ScoredModel) -> Option<String> {
        let SuiteReport { metrics, .. } =
            model.head.suites.get(&self.suite).filter(|_| self.suite != OWN_SUITE)?;
        let own = metrics.iter().find(|metric| metric.name == self.metric);
        own.filter(|metric| !metric.is_share()).map(|metric| metric.unit.clone())
    }

    /// Whether a result has this metric for its trajectories.
    fn is_known(&self, model: &ScoredModel) -> bool {
        if self.suite == OWN_SUITE {
            return Metric::from_name(&self.metric)
                .is_some_and(|metric| Metric::of_scores().any(|it| it == metric));
        }
        let has_it = |trajectory: &TrajectoryReport| {
            let value = trajectory.suites.get(&self.suite).and_then(|values| values.get(&self.metric));
            value.is_some_and(|value| !matches!(value, SuiteValue::Text(_)))
        };
        model.trajectories.first().is_some_and(has_it)
    }

    /// The value and the verdict of the view on a trajectory; `None` without a value or a weight.
    pub(super) fn of(&self, trajectory: &TrajectoryReport) -> Option<ViewOfTrial> {
        if self.suite == OWN_SUITE {
            let value = trajectory.metrics.metrics.get(Metric::from_name(&self.metric)?)?;
            let is_right = if self.is_verdict() { value >= LIKELY } else { passes(trajectory) };
            return Some(ViewOfTrial { value, weight: 1.0, is_right });
        }
        let values = trajectory.suites.get(&self.suite)?;
        let value = values.get(&self.metric)?.number()?;
        let weight = values.get(WEIGHT).and_then(SuiteValue::number).unwrap_or(1.0);
        // A task without weight, such as one without calls for MCPAgentBench, is neither right nor wrong.
        (weight > 0.0).then_some(ViewOfTrial { value, weight, is_right: value >= weight / 2.0 })
    }
}

/// Whether a trajectory passes by the criterion that `m3 score` has without `--pass`.
fn passes(trajectory: &TrajectoryReport) -> bool {
    let TrajectoryReport { metrics, matches, further_pairs, unmatched_references, failure, .. } = trajectory;
    let missing = (unmatched_references.len() > further_pairs.len()).then_some(0.0);
    let further = further_pairs.iter().map(|pair| pair.argument_fidelity);
    let fidelities = matches.iter().map(|pair| pair.argument_fidelity).chain(further).chain(missing);
    let lowest = fidelities.min_by(f64::total_cmp).unwrap_or(metrics.metrics[Metric::ArgumentFidelity]);
    failure.is_none() && lowest >= THRESHOLD
}
