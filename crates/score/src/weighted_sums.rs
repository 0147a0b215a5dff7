//! The sums behind the metrics of a set, and the metrics as their ratios.

use std::ops::{AddAssign, Mul};

use super::metric::{Count, PartOfAverages, Ratio, Source, Sum, Without};
use super::{Metric, Metrics, Profile};

/// The sums behind the metrics, over trajectories. [`ExactSums`](super::ExactSums) keeps them exactly; here they are
/// floating-point numbers, which can be weighted, as is needed to resample trajectories.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WeightedSums {
    /// All trajectories.
    pub trajectories: f64,
    /// Trajectories without a prediction, or with one that failed or was not finished.
    pub failed: f64,
    /// Calls of the references, N_ref.
    pub reference_calls: f64,
    /// Calls of the predictions, N_pred.
    pub predicted_calls: f64,
    /// Matched pairs.
    pub matched: f64,
    /// Matched pairs with a similarity of tau_strong or more.
    pub strong: f64,
    /// The sum behind each metric, by its place in [`Metric::ALL`]; 0 for metrics that need only counts.
    pub of_metrics: [f64; Metric::COUNT],
    /// How many values were added up for each metric that may be unknown, by [`Metric::mean_index`].
    pub counts: [f64; Metric::MEANS],
}

impl WeightedSums {
    /// The metrics of the set. Without any call on either side each is the share of trajectories that did not fail (they have
    /// rightly done nothing), except that the published program gives similarities of 0; otherwise a ratio without
    /// denominator is 0, except that in the paper's profile recall is that share (nothing was missed), and that a metric
    /// for which [`Metric::may_be_unknown`] holds is unknown.
    #[must_use]
    pub fn metrics(&self, profile: Profile) -> Metrics {
        // Trajectories that are left out have failed without being counted among all trajectories.
        let well =
            if self.failed < 0.5 { 1.0 } else { 1.0 - self.failed / self.trajectories.max(self.failed) };
        let mut values = Metrics([0.0; Metric::COUNT]);
        let (mut sum, mut count) = (0.0, 0.0);
        for metric in Metric::ALL {
            if let Source::Alignment(of, ratio) = metric.source() {
                let ratio = ratio(profile);
                let value = self.ratio(metric, self.value(ratio.of.unwrap_or(metric), *of), &ratio, well);
                values.0[metric.index()] = value;
                if metric.averaged() == PartOfAverages::Always {
                    (sum, count) = (sum + value, count + 1.0);
                }
            }
        }
        values.0[Metric::Average.index()] = sum / count;
        values
    }

    fn value(&self, metric: Metric, sum: Sum) -> f64 {
        if matches!(sum, Sum::Matched) { self.matched } else { self.of_metrics[metric.index()] }
    }

    /// The value of a metric; `well` is the share of trajectories that did not fail.
    fn ratio(&self, metric: Metric, sum: f64, ratio: &Ratio, well: f64) -> f64 {
        let count = match ratio.count {
            Count::ReferenceCalls => self.reference_calls,
            Count::PredictedCalls => self.predicted_calls,
            Count::Matched => self.matched,
            Count::Strong => self.strong,
            Count::Added => metric.mean_index().map_or(0.0, |index| self.counts[index]),
        };
        // The counts are whole, or whole with whole weights: less than one half means zero.
        if count >= 0.5 {
            return (sum / count).clamp(0.0, 1.0);
        }
        match ratio.without {
            Without::Calls if self.reference_calls + self.predicted_calls < 0.5 => well,
            Without::ReferenceCalls => well,
            Without::Calls | Without::Zero => 0.0,
            Without::Unknown => f64::NAN,
        }
    }

    fn zip(self, other: Self, combine: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            trajectories: combine(self.trajectories, other.trajectories),
            failed: combine(self.failed, other.failed),
            reference_calls: combine(self.reference_calls, other.reference_calls),
            predicted_calls: combine(self.predicted_calls, other.predicted_calls),
            matched: combine(self.matched, other.matched),
            strong: combine(self.strong, other.strong),
            of_metrics: std::array::from_fn(|index| combine(self.of_metrics[index], other.of_metrics[index])),
            counts: std::array::from_fn(|index| combine(self.counts[index], other.counts[index])),
        }
    }
}

impl AddAssign for WeightedSums {
    fn add_assign(&mut self, other: Self) {
        *self = self.zip(other, |a, b| a + b);
    }
}

impl Mul<f64> for WeightedSums {
    type Output = Self;

    fn mul(self, weight: f64) -> Self {
        self.zip(self, |a, _| a * weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILES: [Profile; 2] = [Profile::Paper, Profile::OpenM3Bench];

    /// Tasks that need no call: without a call a task is right, a failed one is not, and a set is as right as the
    /// share of tasks that did not fail, also when it is resampled.
    #[test]
    fn a_failed_task_earns_nothing_where_no_call_is_needed() {
        for profile in PROFILES {
            let done = WeightedSums { trajectories: 1.0, ..WeightedSums::default() };
            let failed = WeightedSums { failed: 1.0, ..done };
            // A set from which failed trajectories were left out.
            let only_failed = WeightedSums { failed: 3.0, ..WeightedSums::default() };
            let mut of_fifteen = done * 14.0;
            of_fifteen += failed;
            for (sums, share) in [
                (WeightedSums::default(), 1.0),
                (done, 1.0),
                (failed, 0.0),
                (only_failed, 0.0),
                (of_fifteen, 14.0 / 15.0),
            ] {
                let metrics = sums.metrics(profile);
                for metric in
                    [Metric::Recall, Metric::Precision, Metric::ArgumentFidelity, Metric::OrderConsistency]
                {
                    let value = metrics[metric];
                    assert!((value - share).abs() < f64::EPSILON, "{value} {share}");
                }
            }
            // Calls that nobody needed are not right because others were rightly not made.
            let metrics = WeightedSums { predicted_calls: 2.0, ..of_fifteen }.metrics(profile);
            assert!(
                metrics[Metric::Precision] < f64::EPSILON && metrics[Metric::StepCoherence] < f64::EPSILON
            );
            let recall = if profile == Profile::Paper { 14.0 / 15.0 } else { 0.0 };
            assert!((metrics[Metric::Recall] - recall).abs() < f64::EPSILON);
        }
    }

    /// A mean of its own count is unknown if that count is 0, and is not part of the average.
    #[test]
    fn what_there_is_nothing_of_is_unknown() {
        let mut sums =
            WeightedSums { trajectories: 1.0, reference_calls: 2.0, matched: 2.0, ..WeightedSums::default() };
        let before = sums.metrics(Profile::Paper);
        assert_eq!(before.get(Metric::RegionOverlap), None);
        assert!(Metric::of_means().all(|metric| metric.averaged() == PartOfAverages::Never));
        sums.of_metrics[Metric::RegionOverlap.index()] = 1.5;
        let index = Metric::RegionOverlap.mean_index().unwrap();
        sums.counts[index] = 3.0;
        let after = sums.metrics(Profile::Paper);
        assert_eq!(after.get(Metric::RegionOverlap), Some(0.5));
        assert_eq!(after.get(Metric::Average), before.get(Metric::Average));
        assert_eq!((sums * 2.0).metrics(Profile::Paper), after);
    }

    /// If calls are needed, a failure changes nothing more: its calls count as missed already.
    #[test]
    fn a_failed_task_with_calls_is_measured_by_them() {
        let counts = [1.0, 4.0, 2.0, 2.0, 1.0];
        let [trajectories, reference_calls, predicted_calls, matched, strong] = counts;
        let done = WeightedSums {
            trajectories,
            reference_calls,
            predicted_calls,
            matched,
            strong,
            ..WeightedSums::default()
        };
        for profile in PROFILES {
            assert_eq!(WeightedSums { failed: 1.0, ..done }.metrics(profile), done.metrics(profile));
        }
    }
}
