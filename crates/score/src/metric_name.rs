//! The names of the metrics, for everything that lists or selects them.

use super::Metrics;

/// A metric of a set, or their average.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricName {
    /// Matched pairs / reference calls.
    Recall,
    /// Matched pairs / predicted calls.
    Precision,
    /// How similar the arguments of matched calls are.
    ArgumentSimilarity,
    /// The same over confident matches.
    ArgumentSimilarityStrong,
    /// How far the arguments of matched calls ask for the same.
    ArgumentFidelity,
    /// The same, covered.
    ArgumentFidelityCovered,
    /// Were calls that belong together made together?
    StepCoherence,
    /// Were steps that depend on one another kept apart?
    MergePurity,
    /// Was what comes later done later?
    OrderConsistency,
    /// The mean of the six alignment metrics.
    Average,
}

impl MetricName {
    /// All of them, in the order of reports.
    pub const ALL: [MetricName; 10] = [
        MetricName::Recall,
        MetricName::Precision,
        MetricName::ArgumentSimilarity,
        MetricName::ArgumentSimilarityStrong,
        MetricName::ArgumentFidelity,
        MetricName::ArgumentFidelityCovered,
        MetricName::StepCoherence,
        MetricName::MergePurity,
        MetricName::OrderConsistency,
        MetricName::Average,
    ];

    /// The name in options and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MetricName::Recall => "recall",
            MetricName::Precision => "precision",
            MetricName::ArgumentSimilarity => "argument_similarity",
            MetricName::ArgumentSimilarityStrong => "argument_similarity_strong",
            MetricName::ArgumentFidelity => "argument_fidelity",
            MetricName::ArgumentFidelityCovered => "argument_fidelity_covered",
            MetricName::StepCoherence => "step_coherence",
            MetricName::MergePurity => "merge_purity",
            MetricName::OrderConsistency => "order_consistency",
            MetricName::Average => "average",
        }
    }

    /// The metric of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Its value, in [0, 1].
    #[must_use]
    pub fn of(self, metrics: &Metrics) -> f64 {
        match self {
            MetricName::Recall => metrics.recall,
            MetricName::Precision => metrics.precision,
            MetricName::ArgumentSimilarity => metrics.argument_similarity,
            MetricName::ArgumentSimilarityStrong => metrics.argument_similarity_strong,
            MetricName::ArgumentFidelity => metrics.argument_fidelity,
            MetricName::ArgumentFidelityCovered => metrics.argument_fidelity_covered,
            MetricName::StepCoherence => metrics.step_coherence,
            MetricName::MergePurity => metrics.merge_purity,
            MetricName::OrderConsistency => metrics.order_consistency,
            MetricName::Average => metrics.average(),
        }
    }
}
