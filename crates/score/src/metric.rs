//! The registry of metrics: one row of [`Metric`] has all facts about a metric. All code that adds up, writes, reads,
//! shows or chooses metrics goes through this table, in its order. A new metric is its computation (a file in
//! `metrics`) and a row here.

mod aligned;
mod columns;
mod ratio;
mod values;

pub(crate) use aligned::AlignedTrajectory;
pub use aligned::MatchedPair;
pub(super) use ratio::{Count, Ratio, Without};
use ratio::{covered, mean, of_similarity};
pub use values::Metrics;

use super::metrics::{merge_purity, order_consistency, ordered_pair_coverage, step_coherence};
use super::{Profile, Similarity, SumAndCount};

/// Makes the rows of the table into the variants of [`Metric`].
macro_rules! registry {
    ($($metric:ident { meaning: $meaning:literal, $($field:ident: $value:expr,)* })*) => {
        /// A metric, each in [0, 1] or unknown, in the order of reports.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Metric {
            $(#[doc = $meaning] $metric,)*
        }

        impl Metric {
            /// All metrics, in the order of reports.
            pub const ALL: [Metric; [$($meaning),*].len()] = [$(Metric::$metric,)*];
        }

        static ROWS: [Row; Metric::COUNT] = [$(Row { meaning: $meaning, $($field: $value,)* ..USUAL },)*];
    };
}

/// The facts about a metric.
struct Row {
    /// The name in options, and the key in results.
    name: &'static str,
    /// Its meaning in one sentence.
    meaning: &'static str,
    /// The name in a list.
    label: &'static str,
    /// The name above a column: nine of them and a name fit into 80 characters.
    heading: &'static str,
    /// Whether narrow tables have a column for it.
    is_in_tables: bool,
    /// Its place among the columns of a leaderboard (the order of M³-Bench's table 2); `None` if it has no column
    /// there.
    column: Option<u8>,
    averaged: PartOfAverages,
    source: Source,
    /// The note beside its value in the table of a score; `None` if it has no line there.
    note: fn(&NoteContext<'_>) -> Option<String>,
}

/// What the rows of the table have unless they say otherwise. Each row has a meaning, a name, a label, a heading and a
/// source of its own.
const USUAL: Row = Row {
    name: "",
    meaning: "",
    label: "",
    heading: "",
    is_in_tables: true,
    column: None,
    averaged: PartOfAverages::Never,
    source: Source::Average,
    note: |_| None,
};

/// Which averages a metric is part of. M³-Bench has two conventions (`docs/metrics.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartOfAverages {
    /// It is part of every average.
    Always,
    /// It is part of the average of a whole set and of one type of task, if it is known for every task.
    WhereGraded,
    /// It is part of the average of one type of task only, if it is known for every task.
    WhereGradedByType,
    /// It is part of no average.
    Never,
}

/// Where the value of a metric comes from.
pub(super) enum Source {
    /// The alignment: a sum over trajectories, divided by a count of calls.
    Alignment(Sum, fn(Profile) -> Ratio),
    /// Grades: their mean over the graded trajectories.
    Grades,
    /// The mean of other metrics.
    Average,
}

/// The sum over trajectories behind a metric.
#[derive(Clone, Copy)]
pub enum Sum {
    /// The number of matched pairs.
    Matched,
    /// The sum of a contribution of each matched pair.
    OfPairs(fn(&MatchedPair) -> f64),
    /// The sum of a contribution of each trajectory as a whole: the metric's value for this trajectory alone, times
    /// the calls of its reference (N_ref r F in M³-Bench, section 4.3).
    OfTrajectories(fn(&AlignedTrajectory<'_>, Profile) -> f64),
    /// A mean over things in matched pairs, such as regions: the sum and the number of their values in a pair, which
    /// may be 0.
    MeanInPairs(fn(&MatchedPair) -> SumAndCount),
    /// A mean over trajectories: the value of a trajectory, in [0, 1]; `None` if the metric does not apply to it.
    MeanOfTrajectories(fn(&AlignedTrajectory<'_>) -> Option<f64>),
}

impl Sum {
    /// Whether the sum is divided by the number of values that were added. The metric is then unknown if no value was
    /// added.
    #[must_use]
    pub const fn is_of_mean(self) -> bool {
        matches!(self, Self::MeanInPairs(_) | Self::MeanOfTrajectories(_))
    }
}

/// The numbers of a set that notes are made from.
#[derive(Debug, Clone, Copy)]
pub struct NoteContext<'a> {
    /// The metrics of the set.
    pub metrics: &'a Metrics,
    /// Calls of the references.
    pub reference_calls: u64,
    /// Calls of the predictions.
    pub predicted_calls: u64,
    /// Matched pairs.
    pub matched: u64,
    /// How many trajectories did their job and did not, in words, where that is known.
    pub jobs: Option<&'a str>,
    /// The profile: how the metrics are defined.
    pub profile: Profile,
    /// The similarity that calls were aligned by.
    pub similarity: Similarity,
}

registry! {
    Verdict {
        meaning: "Did the trajectory do its job? The probability, from its calls that change something, extra ones, and what is left behind; for a set the share to be expected. Not part of the average.",
        name: "verdict",
        label: "did the job",
        heading: "done",
        column: Some(0),
        source: Source::Alignment(Sum::MeanOfTrajectories(|aligned| aligned.verdict), mean),
        note: |set| Some(set.jobs.unwrap_or("the share that did, to be expected").to_owned()),
    }
    Recall {
        meaning: "Matched pairs / reference calls.",
        name: "recall",
        label: "recall",
        heading: "rec.",
        column: Some(1),
        averaged: PartOfAverages::Always,
        source: Source::Alignment(Sum::Matched, |profile| match profile {
            Profile::Paper => Ratio::new(Count::ReferenceCalls, Without::ReferenceCalls),
            Profile::OpenM3Bench => Ratio::new(Count::ReferenceCalls, Without::Calls),
        }),
        note: |set| Some(format!("{} of {} reference calls matched", set.matched, set.reference_calls)),
    }
    Precision {
        meaning: "Matched pairs / predicted calls.",
        name: "precision",
        label: "precision",
        heading: "prec.",
        column: Some(2),
        averaged: PartOfAverages::Always,
        source: Source::Alignment(Sum::Matched, |_| Ratio::new(Count::PredictedCalls, Without::Calls)),
        note: |set| Some(format!("{} of {} predicted calls matched", set.matched, set.predicted_calls)),
    }
    ArgumentSimilarity {
        meaning: "How similar the arguments of matched calls are.",
        name: "argument_similarity",
        label: "argument similarity",
        heading: "args",
        column: Some(3),
        averaged: PartOfAverages::Always,
        source: Source::Alignment(Sum::OfPairs(|pair| pair.similarity), of_similarity),
        note: |set| {
            let compared = set.similarity.measure();
            Some(match set.profile {
                Profile::Paper => format!("mean {compared} of strong matches"),
                Profile::OpenM3Bench => format!("mean {compared} of the matches, x recall"),
            })
        },
    }
    ArgumentSimilarityStrong {
        meaning: "How similar the arguments of strong matches are; equal to `argument_similarity` in the profile `paper`.",
        name: "argument_similarity_strong",
        label: "  of strong matches",
        heading: "strong",
        is_in_tables: false,
        source: Source::Alignment(Sum::OfPairs(|pair| if pair.is_strong { pair.similarity } else { 0.0 }), of_similarity),
        note: |set| (set.profile == Profile::OpenM3Bench).then(|| "of strong matches only".to_owned()),
    }
    ArgumentFidelity {
        meaning: "How far the arguments of matched calls ask for the same: the mean of their fidelity. Not part of the average.",
        name: "argument_fidelity",
        label: "argument fidelity",
        heading: "fid.",
        column: Some(4),
        source: Source::Alignment(
            Sum::OfPairs(|pair| pair.fidelity),
            |_| Ratio::new(Count::Matched, Without::Calls),
        ),
        note: |set| {
            Some(format!("of matched calls; {:.4} incl. missed", set.metrics[Metric::ArgumentFidelityCovered]))
        },
    }
    ArgumentFidelityCovered {
        meaning: "The fidelity of reference calls: what is compared with no call counts as 0. Not part of the average.",
        name: "argument_fidelity_covered",
        label: "fidelity, covered",
        heading: "fid. covered",
        is_in_tables: false,
        column: Some(5),
        source: Source::Alignment(Sum::OfTrajectories(|aligned, _| aligned.fidelity), covered),
    }
    RegionOverlap {
        meaning: "How far boxes, circles and points in the arguments of matched calls overlap with the reference's: the mean intersection over union; unknown where the reference has none. Not part of the average.",
        name: "region_overlap",
        label: "region overlap",
        heading: "IoU",
        column: Some(6),
        source: Source::Alignment(Sum::MeanInPairs(|pair| pair.regions), mean),
        note: |_| Some("mean IoU of boxes, circles, points".to_owned()),
    }
    ArtifactAgreement {
        meaning: "How well what both trajectories leave behind agrees: pictures by their pixels, else the last results. Null where nothing is recorded. Not part of the average.",
        name: "artifact_agreement",
        label: "artifact agreement",
        heading: "artif.",
        is_in_tables: false,
        column: Some(7),
        source: Source::Alignment(Sum::MeanOfTrajectories(|aligned| aligned.artifact_agreement), mean),
        note: |_| Some("what is left behind, by its content".to_owned()),
    }
    AnswerAgreement {
        meaning: "How well the final reply agrees with the reference's: its numbers, days, codes and names, yes and no. Null where the reference has no reply, or prose without values. Not part of the average.",
        name: "answer_agreement",
        label: "answer agreement",
        heading: "answer",
        is_in_tables: false,
        column: Some(16),
        source: Source::Alignment(Sum::MeanOfTrajectories(|aligned| aligned.answer_agreement), mean),
        note: |_| Some("final replies, by their values".to_owned()),
    }
    ChangeRecall {
        meaning: "Of a trajectory's reference calls that change something, the share that is matched; unknown where there is none. Not part of the average.",
        name: "change_recall",
        label: "recall of changes",
        heading: "ch. rec.",
        is_in_tables: false,
        column: Some(13),
        source: Source::Alignment(Sum::MeanOfTrajectories(|aligned| aligned.changes.recall), mean),
    }
    ChangePrecision {
        meaning: "Of a trajectory's predicted calls that change something, the share that is matched; unknown where there is none. Not part of the average.",
        name: "change_precision",
        label: "precision of changes",
        heading: "ch. prec.",
        is_in_tables: false,
        column: Some(14),
        source: Source::Alignment(Sum::MeanOfTrajectories(|aligned| aligned.changes.precision), mean),
    }
    ChangeFidelity {
        meaning: "The mean fidelity of a trajectory's reference calls that change something: what is compared with no call counts as 0; unknown where there is none. Not part of the average.",
        name: "change_fidelity",
        label: "fidelity of changes",
        heading: "ch. fid.",
        is_in_tables: false,
        column: Some(15),
        source: Source::Alignment(Sum::MeanOfTrajectories(|aligned| aligned.changes.fidelity), mean),
        note: |set| {
            let [recall, precision] = [Metric::ChangeRecall, Metric::ChangePrecision]
                .map(|metric| set.metrics.get(metric).map_or_else(|| "-".to_owned(), |value| format!("{value:.3}")));
            Some(format!("recall {recall}, precision {precision}"))
        },
    }
    StepCoherence {
        meaning: "Were calls that belong together made together?",
        name: "step_coherence",
        label: "step coherence",
        heading: "steps",
        column: Some(8),
        averaged: PartOfAverages::Always,
        source: Source::Alignment(
            Sum::OfTrajectories(|aligned, _| aligned.matched() * step_coherence(aligned.pairs)),
            covered,
        ),
        note: |_| Some("parallel calls made in parallel".to_owned()),
    }
    MergePurity {
        meaning: "Were steps that depend on one another kept apart?",
        name: "merge_purity",
        label: "merge purity",
        heading: "merge",
        column: Some(10),
        averaged: PartOfAverages::Always,
        source: Source::Alignment(
            Sum::OfTrajectories(|aligned, _| aligned.matched() * merge_purity(aligned.pairs)),
            covered,
        ),
        note: |_| Some("successive calls not merged in one step".to_owned()),
    }
    OrderConsistency {
        meaning: "Were later calls made later?",
        name: "order_consistency",
        label: "order consistency",
        heading: "order",
        column: Some(9),
        averaged: PartOfAverages::Always,
        source: Source::Alignment(
            Sum::OfTrajectories(|aligned, profile| match profile {
                Profile::Paper => aligned.matched() * order_consistency(aligned.pairs),
                Profile::OpenM3Bench => {
                    let coverage = ordered_pair_coverage(aligned.pairs, &aligned.references.calls_of_steps());
                    aligned.references.len() as f64 * order_consistency(aligned.pairs) * coverage
                }
            }),
            covered,
        ),
        note: |_| Some("steps taken in order".to_owned()),
    }
    Average {
        meaning: "The mean of recall, precision, argument_similarity, step_coherence, merge_purity and order_consistency.",
        name: "average",
        label: "average",
        heading: "avg.",
        column: Some(u8::MAX),
        source: Source::Average,
        note: |_| Some("mean of the six, without fidelity".to_owned()),
    }
    TaskCompletion {
        meaning: "Was the task done? Graders say it (M³-Bench, section 4.4).",
        name: "task_completion",
        label: "task completion",
        heading: "task",
        column: Some(11),
        averaged: PartOfAverages::WhereGradedByType,
        source: Source::Grades,
    }
    InformationGrounding {
        meaning: "Does the answer rest on what the tools gave? Graders say it (M³-Bench, section 4.4).",
        name: "information_grounding",
        label: "information grounding",
        heading: "info",
        column: Some(12),
        averaged: PartOfAverages::WhereGraded,
        source: Source::Grades,
    }
}
