//! Sums over trajectories, with what judges say, and the columns that they make.

use std::iter::Sum;
use std::ops::{AddAssign, Mul};

use m3_score::{Profile, Sums};

use super::{Average, Metric, TrajectoryResult};

/// What trajectories add up to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// The sums behind the alignment metrics.
    pub sums: Sums,
    /// The number of trajectories.
    pub trajectories: f64,
    /// Predicted steps.
    pub steps: f64,
    /// Task completion: sum and number of grades.
    task_completion: (f64, f64),
    /// Information grounding, likewise.
    information_grounding: (f64, f64),
}

impl From<&TrajectoryResult> for Totals {
    fn from(trajectory: &TrajectoryResult) -> Self {
        let grade = |grade: Option<f64>| grade.map_or((0.0, 0.0), |grade| (grade, 1.0));
        Self {
            sums: trajectory.sums,
            trajectories: f64::from(trajectory.repetitions),
            steps: trajectory.steps,
            task_completion: grade(trajectory.grades.task_completion),
            information_grounding: grade(trajectory.grades.information_grounding),
        }
    }
}

/// The columns of a set, by their place in [`Metric::ALL`], each in [0, 1]. A judged column without any grade
/// is NaN: it should not be part of `average`. Those of the fidelity mean something where it is known of every trajectory.
#[must_use]
pub fn values(totals: &Totals, profile: Profile, average: Average) -> [f64; Metric::COUNT] {
    let metrics = totals.sums.metrics(profile);
    let mean = |(sum, count): (f64, f64)| if count < 0.5 { f64::NAN } else { sum / count };
    let mut values = [0.0; Metric::COUNT];
    for (metric, value) in [
        (Metric::Recall, metrics.recall),
        (Metric::Precision, metrics.precision),
        (Metric::ArgumentSimilarity, metrics.argument_similarity),
        (Metric::ArgumentFidelity, metrics.argument_fidelity),
        (Metric::ArgumentFidelityCovered, metrics.argument_fidelity_covered),
        (Metric::StepCoherence, metrics.step_coherence),
        (Metric::OrderConsistency, metrics.order_consistency),
        (Metric::MergePurity, metrics.merge_purity),
        (Metric::TaskCompletion, mean(totals.task_completion)),
        (Metric::InformationGrounding, mean(totals.information_grounding)),
    ] {
        values[metric.index()] = value;
    }
    average.fill(&mut values);
    values
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.sums += other.sums;
        self.trajectories += other.trajectories;
        self.steps += other.steps;
        for (mine, others) in [
            (&mut self.task_completion, other.task_completion),
            (&mut self.information_grounding, other.information_grounding),
        ] {
            mine.0 += others.0;
            mine.1 += others.1;
        }
    }
}

impl Sum for Totals {
    fn sum<I: Iterator<Item = Self>>(totals: I) -> Self {
        totals.fold(Self::default(), |mut sum, total| {
            sum += total;
            sum
        })
    }
}

impl Mul<f64> for Totals {
    type Output = Self;

    fn mul(self, weight: f64) -> Self {
        let scale = |(sum, count): (f64, f64)| (sum * weight, count * weight);
        Self {
            sums: self.sums * weight,
            trajectories: self.trajectories * weight,
            steps: self.steps * weight,
            task_completion: scale(self.task_completion),
            information_grounding: scale(self.information_grounding),
        }
    }
}
