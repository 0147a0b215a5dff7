//! When a trajectory passes: [`PassCriterion`].

use std::collections::BTreeMap;

use super::fidelity::constants::THRESHOLD;
use super::{Metric, Profile, TrajectoryScore};

/// A value that decides whether a trajectory passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PassMetric {
    /// A metric, computed for this trajectory alone.
    Metric(Metric),
    /// The lowest fidelity of the reference's calls, 0 for one that is compared with no call: a mean over many calls would hide
    /// a wrong one. Without reference calls, the fidelity of the trajectory: 1 if no call was made, else 0.
    LowestArgumentFidelity,
}

impl PassMetric {
    const LOWEST: &'static str = "lowest_argument_fidelity";

    /// All names, in the order of reports.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Metric::of_scores().map(Metric::name).chain([Self::LOWEST])
    }

    /// The name in options and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PassMetric::Metric(metric) => metric.name(),
            PassMetric::LowestArgumentFidelity => Self::LOWEST,
        }
    }

    /// The metric with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let lowest = (name == Self::LOWEST).then_some(Self::LowestArgumentFidelity);
        lowest.or_else(|| Metric::of_scores().find(|metric| metric.name() == name).map(Self::Metric))
    }

    /// The value for a trajectory, in [0, 1]; `None` if it is unknown.
    #[must_use]
    pub fn of(self, scored: &TrajectoryScore, profile: Profile) -> Option<f64> {
        let metrics = scored.sums.metrics(profile);
        match self {
            PassMetric::Metric(metric) => metrics.get(metric),
            PassMetric::LowestArgumentFidelity => {
                let needed = usize::try_from(scored.sums.reference_calls).unwrap_or(usize::MAX);
                let missing = (scored.compared.len() + scored.reached_without.len() < needed).then_some(0.0);
                let fidelities = scored.compared.iter().map(|pair| pair.fidelity.score).chain(missing);
                Some(fidelities.min_by(f64::total_cmp).unwrap_or(metrics[Metric::ArgumentFidelity]))
            }
        }
    }
}

/// The values that a trajectory must reach to pass.
#[derive(Debug, Clone, PartialEq)]
pub struct PassCriterion {
    /// The least values, each in [0, 1].
    pub least: BTreeMap<PassMetric, f64>,
}

impl Default for PassCriterion {
    /// Every needed call was made and asks for the same: no reference call is rejected by its fidelity. Extra calls are
    /// allowed, because one look too many does no harm.
    fn default() -> Self {
        Self { least: [(PassMetric::LowestArgumentFidelity, THRESHOLD)].into() }
    }
}

impl PassCriterion {
    /// Whether a trajectory reaches all least values of metrics that are known for it, and there is one; a trajectory
    /// that is missing, failed or was not finished never does.
    #[must_use]
    pub fn is_met(&self, scored: &TrajectoryScore, profile: Profile) -> bool {
        let known =
            || self.least.iter().filter_map(|(metric, least)| Some((metric.of(scored, profile)?, *least)));
        scored.failure.is_none() && known().next().is_some() && known().all(|(value, least)| value >= least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::{CallFidelity, Regions};
    use crate::{CallPlace, Calls, ComparedPair, ExactSums, Match, Matching, SumAndCount};

    /// A trajectory with one matched call, whose regions have these overlaps, if any.
    fn scored(regions: SumAndCount) -> TrajectoryScore {
        let place = CallPlace { step: 0, call: 0, index: 0 };
        let tool = "image/crop".to_owned();
        let pair = Match { tool, similarity: 1.0, is_strong: true, reference: place, predicted: place };
        let matching = Matching { matches: vec![pair], ..Matching::default() };
        let regions = Regions { overlaps: regions, ..Regions::default() };
        let fidelity = CallFidelity { regions, ..CallFidelity::default() };
        let compared =
            vec![ComparedPair { reference: place, predicted: place, joined: Vec::new(), fidelity }];
        let calls = Calls::new(1);
        let sums = ExactSums::of(
            false,
            &matching,
            (&compared, 0),
            ([None, None], None),
            &calls,
            &calls,
            Profile::Paper,
        );
        TrajectoryScore {
            id: "a".to_owned(),
            task_type: None,
            failure: None,
            verdict: None,
            sums,
            matching,
            compared,
            reached_without: Vec::new(),
            artifact_agreement: None,
            answer: None,
            job: None,
        }
    }

    /// An unknown metric neither passes nor fails a trajectory; without any known metric, no trajectory passes.
    #[test]
    fn a_metric_that_is_unknown_is_left_out() {
        let overlap = (PassMetric::Metric(Metric::RegionOverlap), 0.5);
        let fidelity = (PassMetric::LowestArgumentFidelity, 0.5);
        let is_met = |least: &[(PassMetric, f64)], regions: SumAndCount| {
            PassCriterion { least: least.iter().copied().collect() }.is_met(&scored(regions), Profile::Paper)
        };
        let [none, half, less] =
            [(0.0, 0), (1.0, 2), (0.9, 2)].map(|(sum, count)| SumAndCount { sum, count });
        assert_eq!(
            [none, half, less].map(|regions| is_met(&[overlap, fidelity], regions)),
            [true, true, false]
        );
        assert_eq!([none, half, less].map(|regions| is_met(&[overlap], regions)), [false, true, false]);
    }
}
