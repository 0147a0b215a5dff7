//! Sums over trajectories, including grades, and the columns computed from them.

use std::iter::Sum;
use std::ops::{AddAssign, Mul};

use m3_score::{Metric, Profile, WeightedSums};

use super::{Average, TrajectoryResult};

/// Sums over trajectories, including grades; each trajectory can be weighted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GradedSums {
    /// The sums behind the alignment metrics.
    pub sums: WeightedSums,
    /// The number of trajectories.
    pub trajectories: f64,
    /// The number of predicted steps.
    pub steps: f64,
    /// Sum and number of the grades of each metric that comes from grades.
    grades: [(f64, f64); Metric::GRADED],
}

impl From<&TrajectoryResult> for GradedSums {
    fn from(trajectory: &TrajectoryResult) -> Self {
        let mut grades = [(0.0, 0.0); Metric::GRADED];
        for (sum, metric) in grades.iter_mut().zip(Metric::of_grades()) {
            *sum = trajectory.grades.get(&metric).map_or((0.0, 0.0), |grade| (*grade, 1.0));
        }
        Self {
            sums: trajectory.sums,
            trajectories: f64::from(trajectory.repetitions),
            steps: trajectory.steps,
            grades,
        }
    }
}

/// The trajectories of each model as sums.
pub(super) fn graded_sums(models: &[Vec<&TrajectoryResult>]) -> Vec<Vec<GradedSums>> {
    models
        .iter()
        .map(|trajectories| trajectories.iter().map(|&found| GradedSums::from(found)).collect())
        .collect()
}

/// The metrics of a set, by their place in [`Metric::ALL`], each in [0, 1]. A graded metric is NaN without any grade:
/// it should not be part of `average`. A metric that some trajectory lacks has no meaning.
#[must_use]
pub fn values(sums: &GradedSums, profile: Profile, average: Average) -> [f64; Metric::COUNT] {
    let metrics = sums.sums.metrics(profile);
    let mut values = Metric::ALL.map(|metric| metrics[metric]);
    for (metric, (sum, count)) in Metric::of_grades().zip(sums.grades) {
        values[metric.index()] = if count < 0.5 { f64::NAN } else { sum / count };
    }
    average.fill(&mut values);
    values
}

impl AddAssign for GradedSums {
    fn add_assign(&mut self, other: Self) {
        self.sums += other.sums;
        self.trajectories += other.trajectories;
        self.steps += other.steps;
        for (mine, others) in self.grades.iter_mut().zip(other.grades) {
            mine.0 += others.0;
            mine.1 += others.1;
        }
    }
}

impl Sum for GradedSums {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::default(), |mut sum, other| {
            sum += other;
            sum
        })
    }
}

impl Mul<f64> for GradedSums {
    type Output = Self;

    fn mul(self, weight: f64) -> Self {
        Self {
            sums: self.sums * weight,
            trajectories: self.trajectories * weight,
            steps: self.steps * weight,
            grades: self.grades.map(|(sum, count)| (sum * weight, count * weight)),
        }
    }
}
