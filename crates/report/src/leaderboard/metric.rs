//! The columns of a leaderboard, in the order of the paper's table 2 with the fidelity beside the similarity, and what
//! their average is taken over.

use m3_score::MetricName;

/// A column: a metric of the alignment, or what judges say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Matched pairs / reference calls.
    Recall,
    /// Matched pairs / predicted calls.
    Precision,
    /// How similar the arguments of matched calls are.
    ArgumentSimilarity,
    /// How far the arguments of matched calls ask for the same. No part of any average.
    ArgumentFidelity,
    /// The same covered: what is not matched counts as 0. No part of any average.
    ArgumentFidelityCovered,
    /// Were calls that belong together made together?
    StepCoherence,
    /// Was what comes later done later?
    OrderConsistency,
    /// Were steps that depend on one another kept apart?
    MergePurity,
    /// Was the task done? (Judges; M³-Bench, section 4.4.)
    TaskCompletion,
    /// Does the answer rest on what the tools gave? (Judges, likewise.)
    InformationGrounding,
    /// The mean of the others, as [`Average`] says.
    Average,
}

impl Metric {
    /// How many there are.
    pub const COUNT: usize = 11;

    /// All of them, in the order of the columns.
    pub const ALL: [Metric; Self::COUNT] = [
        Metric::Recall,
        Metric::Precision,
        Metric::ArgumentSimilarity,
        Metric::ArgumentFidelity,
        Metric::ArgumentFidelityCovered,
        Metric::StepCoherence,
        Metric::OrderConsistency,
        Metric::MergePurity,
        Metric::TaskCompletion,
        Metric::InformationGrounding,
        Metric::Average,
    ];

    /// Its place in [`Metric::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name in options, results and tables of numbers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Metric::Recall => MetricName::Recall.name(),
            Metric::Precision => MetricName::Precision.name(),
            Metric::ArgumentSimilarity => MetricName::ArgumentSimilarity.name(),
            Metric::ArgumentFidelity => MetricName::ArgumentFidelity.name(),
            Metric::ArgumentFidelityCovered => MetricName::ArgumentFidelityCovered.name(),
            Metric::StepCoherence => MetricName::StepCoherence.name(),
            Metric::OrderConsistency => MetricName::OrderConsistency.name(),
            Metric::MergePurity => MetricName::MergePurity.name(),
            Metric::TaskCompletion => "task_completion",
            Metric::InformationGrounding => "information_grounding",
            Metric::Average => MetricName::Average.name(),
        }
    }

    /// The metric of this name; `Argument Similarity` is as good as `argument_similarity`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase().replace([' ', '-'], "_");
        if name == "average_score" {
            return Some(Metric::Average);
        }
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Whether it comes from judges.
    #[must_use]
    pub fn is_judged(self) -> bool {
        matches!(self, Metric::TaskCompletion | Metric::InformationGrounding)
    }

    /// Whether it stands beside the metrics of the paper, without a part in their average.
    #[must_use]
    pub fn is_fidelity(self) -> bool {
        matches!(self, Metric::ArgumentFidelity | Metric::ArgumentFidelityCovered)
    }
}

/// What the average is taken over. The paper has two conventions (`docs/metrics.md`); each table names its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// The six alignment metrics: where there are no judges.
    Alignment,
    /// Those and information grounding: the paper's table 2.
    WithoutTaskCompletion,
    /// All eight: the paper's tables of single types of task.
    All,
}

impl Average {
    /// The convention of a whole leaderboard: a judged metric takes part only if `is_complete` says that it is
    /// known of every task of every model.
    #[must_use]
    pub fn of(is_complete: impl Fn(Metric) -> bool) -> Self {
        if is_complete(Metric::InformationGrounding) { Self::WithoutTaskCompletion } else { Self::Alignment }
    }

    /// The convention of a table of one type of task, likewise.
    #[must_use]
    pub fn of_type(is_complete: impl Fn(Metric) -> bool) -> Self {
        if is_complete(Metric::InformationGrounding) && is_complete(Metric::TaskCompletion) {
            Self::All
        } else {
            Self::of(is_complete)
        }
    }

    /// The metrics that it is the mean of.
    pub fn metrics(self) -> impl Iterator<Item = Metric> {
        Metric::ALL.into_iter().filter(move |metric| match metric {
            Metric::Average | Metric::ArgumentFidelity | Metric::ArgumentFidelityCovered => false,
            Metric::TaskCompletion => self == Average::All,
            Metric::InformationGrounding => self != Average::Alignment,
            _ => true,
        })
    }

    /// What to say of it.
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

    /// Puts the average into its place among `values`.
    pub(super) fn fill(self, values: &mut [f64; Metric::COUNT]) {
        let (mut sum, mut count) = (0.0, 0.0);
        for metric in self.metrics() {
            sum += values[metric.index()];
            count += 1.0;
        }
        values[Metric::Average.index()] = sum / count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GPT-5 in table 2 of M³-Bench: (0.627 + 0.264 + 0.583 + 0.502 + 0.290 + 0.453 + 0.657) / 7 = 0.482; in
    /// table 5: (0.400 + 0.167 + 0.387 + 0.400 + 0.000 + 0.400 + 0.640 + 0.603) / 8 = 0.375.
    #[test]
    fn averages_are_those_of_the_paper() {
        let average = |numbers: [f64; 9], average: Average| {
            // Whatever the fidelities are, no average takes them in.
            let (before, after) = numbers.split_at(3);
            let mut values: [f64; Metric::COUNT] = [before, &[9.0, 9.0], after].concat().try_into().unwrap();
            average.fill(&mut values);
            values[Metric::Average.index()]
        };
        let table_2 = [0.627, 0.264, 0.583, 0.502, 0.290, 0.453, 0.671, 0.657, 0.0];
        assert!((average(table_2, Average::WithoutTaskCompletion) - 0.482).abs() < 5e-4);
        let table_5 = [0.400, 0.167, 0.387, 0.400, 0.000, 0.400, 0.640, 0.603, 0.0];
        assert!((average(table_5, Average::All) - 0.375).abs() < 5e-4);
        assert_eq!(Average::Alignment.metrics().count(), 6);
    }

    #[test]
    fn names_are_read_as_people_write_them() {
        assert_eq!(Metric::from_name("Argument Similarity"), Some(Metric::ArgumentSimilarity));
        assert_eq!(Metric::from_name("average score"), Some(Metric::Average));
        assert_eq!(Metric::from_name("speed"), None);
        assert!(Metric::ALL.iter().enumerate().all(|(index, metric)| metric.index() == index));
    }
}
