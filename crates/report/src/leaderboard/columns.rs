//! The columns of a leaderboard, by their names for people, and which of them the average is taken over.

use m3_score::{Metric, PartOfAverages};

/// The column with this name; `Argument Similarity` and `argument_similarity` are the same.
#[must_use]
pub fn column_named(name: &str) -> Option<Metric> {
    let name = name.trim().to_lowercase().replace([' ', '-'], "_");
    if name == "average_score" {
        return Some(Metric::Average);
    }
    Metric::from_name(&name).filter(|metric| metric.is_in_leaderboards())
}

/// The names of all columns, in their order.
#[must_use]
pub fn column_names() -> String {
    Metric::of_leaderboards().into_iter().map(Metric::name).collect::<Vec<_>>().join(", ")
}

/// Which metrics the average is taken over. The paper has two conventions (`docs/metrics.md`); each table names its
/// own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// The six alignment metrics, if there are no grades.
    Alignment,
    /// The alignment metrics and information grounding: the paper's table 2.
    WithoutTaskCompletion,
    /// All eight metrics: the paper's tables of single types of task.
    All,
}

impl Average {
    /// The convention of a whole leaderboard: a graded metric takes part only if `is_complete` returns true, because
    /// it is known for every task of every model.
    #[must_use]
    pub fn of(is_complete: impl Fn(Metric) -> bool) -> Self {
        let all = |averaged| graded(averaged).all(&is_complete);
        if all(PartOfAverages::WhereGraded) { Self::WithoutTaskCompletion } else { Self::Alignment }
    }

    /// The convention of a table for one type of task; a graded metric takes part only if `is_complete` returns true.
    #[must_use]
    pub fn of_type(is_complete: impl Fn(Metric) -> bool) -> Self {
        match Self::of(&is_complete) {
            Self::WithoutTaskCompletion if graded(PartOfAverages::WhereGradedByType).all(is_complete) => {
                Self::All
            }
            average => average,
        }
    }

    /// The metrics that the average is the mean of.
    pub fn metrics(self) -> impl Iterator<Item = Metric> {
        Metric::of_leaderboards().into_iter().filter(move |metric| match metric.averaged() {
            PartOfAverages::Always => true,
            PartOfAverages::WhereGraded => self != Average::Alignment,
            PartOfAverages::WhereGradedByType => self == Average::All,
            PartOfAverages::Never => false,
        })
    }

    /// The convention in words.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Average::Alignment => "mean of the six alignment metrics",
            Average::WithoutTaskCompletion => {
                "mean of seven metrics, task completion left out (the paper's table 2)"
            }
            Average::All => "mean of all eight metrics (the paper's per-task tables)",
        }
    }

    /// Puts the average into its place in `values`.
    pub(super) fn fill(self, values: &mut [f64; Metric::COUNT]) {
        let (mut sum, mut count) = (0.0, 0.0);
        for metric in self.metrics() {
            sum += values[metric.index()];
            count += 1.0;
        }
        values[Metric::Average.index()] = sum / count;
    }
}

/// The graded metrics that take part in averages of this kind.
fn graded(averaged: PartOfAverages) -> impl Iterator<Item = Metric> {
    Metric::ALL.into_iter().filter(move |metric| metric.averaged() == averaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GPT-5 in table 2 of M³-Bench: (0.627 + 0.264 + 0.583 + 0.502 + 0.290 + 0.453 + 0.657) / 7 = 0.482; in
    /// table 5: (0.400 + 0.167 + 0.387 + 0.400 + 0.000 + 0.400 + 0.640 + 0.603) / 8 = 0.375.
    #[test]
    fn averages_are_those_of_the_paper() {
        let average = |numbers: [f64; 8], average: Average| {
            // No average includes the fidelities, whatever they are.
            let mut values = [9.0; Metric::COUNT];
            let columns = Metric::of_leaderboards().into_iter();
            let filled = columns.filter(|metric| *metric != Metric::Average && !metric.is_beside());
            for (metric, number) in filled.zip(numbers) {
                values[metric.index()] = number;
            }
            average.fill(&mut values);
            values[Metric::Average.index()]
        };
        let table_2 = [0.627, 0.264, 0.583, 0.502, 0.290, 0.453, 0.671, 0.657];
        assert!((average(table_2, Average::WithoutTaskCompletion) - 0.482).abs() < 5e-4);
        let table_5 = [0.400, 0.167, 0.387, 0.400, 0.000, 0.400, 0.640, 0.603];
        assert!((average(table_5, Average::All) - 0.375).abs() < 5e-4);
        assert_eq!(Average::Alignment.metrics().count(), 6);
    }

    #[test]
    fn names_are_read_as_people_write_them() {
        assert_eq!(column_named("Argument Similarity"), Some(Metric::ArgumentSimilarity));
        assert_eq!(column_named("average score"), Some(Metric::Average));
        assert_eq!(column_named("speed"), None);
    }
}
