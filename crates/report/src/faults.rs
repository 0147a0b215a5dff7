//! What is wrong with a trajectory, fault by fault, by rules that other programs can name.

use m3_score::{CallPlace, Metric};
use m3_support::text::{counted, shortened};
use m3_trajectory::Severity;

use super::audit::structure::structure;
use super::audit::words;
use super::{ArgumentReport, MatchReport, TrajectoryReport};

/// A kind of fault.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// The rule's name for programs.
    pub(crate) id: &'static str,
    /// How bad such a fault usually is; SARIF has the same three levels.
    pub(crate) level: Severity,
    /// What is wrong, in a few words.
    pub(crate) title: &'static str,
    /// What the fault means, in a sentence or two.
    pub(crate) help: &'static str,
    /// The metric that the fault lowers most, if it is a single one.
    pub(crate) lowers: Option<Metric>,
}

const MISSING_CALL: Rule = Rule {
    id: "missing-call",
    level: Severity::Error,
    title: "A needed call was not made",
    help: "A call of the reference has no partner in the prediction. It lowers recall.",
    lowers: Some(Metric::Recall),
};
const EXTRA_CALL: Rule = Rule {
    id: "extra-call",
    level: Severity::Warning,
    title: "A call is not needed",
    help: "A call of the prediction has no partner in the reference. It lowers precision.",
    lowers: Some(Metric::Precision),
};
const WRONG_ARGUMENT: Rule = Rule {
    id: "wrong-argument",
    level: Severity::Error,
    title: "Arguments are wrong",
    help: "A matched call has wrong arguments. It is an error if the call then asks for something else (its fidelity is below \
        0.5), else a warning.",
    lowers: Some(Metric::ArgumentFidelity),
};
const WRONG_ORDER: Rule = Rule {
    id: "wrong-order",
    level: Severity::Warning,
    title: "Calls are in the wrong order",
    help: "Two calls were made in the opposite order of the reference's steps. It lowers order consistency.",
    lowers: Some(Metric::OrderConsistency),
};
const SPLIT_STEP: Rule = Rule {
    id: "split-step",
    level: Severity::Note,
    title: "A step was split",
    help: "Calls that the reference makes at once were made one after the other. It lowers step coherence.",
    lowers: Some(Metric::StepCoherence),
};
const MERGED_STEP: Rule = Rule {
    id: "merged-step",
    level: Severity::Note,
    title: "Steps were merged",
    help: "Calls that the reference makes one after the other were made at once. It lowers merge purity.",
    lowers: Some(Metric::MergePurity),
};
const FAILED_RUN: Rule = Rule {
    id: "failed-run",
    level: Severity::Error,
    title: "The task came to nothing",
    help: "There is no prediction, the run failed, or the trajectory is too large to be aligned.",
    lowers: None,
};
const NO_MATCH: Rule = Rule {
    id: "no-match",
    level: Severity::Error,
    title: "The trajectory does not pass",
    help: "`--match` was asked for, and the trajectory does not pass beside its reference.",
    lowers: None,
};
/// A metric of the whole set is lower than was asked for.
pub(crate) const BELOW_FLOOR: Rule = Rule {
    id: "below-floor",
    level: Severity::Error,
    title: "A metric is too low",
    help: "`--fail-under` was given, and the metric of the whole set is lower.",
    lowers: None,
};

/// The rules for scored trajectories.
pub(crate) const OF_SCORES: &[Rule] = &[
    MISSING_CALL,
    EXTRA_CALL,
    WRONG_ARGUMENT,
    WRONG_ORDER,
    SPLIT_STEP,
    MERGED_STEP,
    FAILED_RUN,
    NO_MATCH,
    BELOW_FLOOR,
];

/// The sides at which faults are shown.
const REFERENCE: &str = "reference";
const PREDICTION: &str = "prediction";

/// A step or a call of one side, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FaultPlace {
    /// `reference` or `prediction`.
    pub(crate) side: &'static str,
    pub(crate) step: usize,
    pub(crate) call: Option<usize>,
}

impl FaultPlace {
    fn call(side: &'static str, place: CallPlace) -> Self {
        Self { side, step: place.step, call: Some(place.call) }
    }
}

/// Something that is wrong with a trajectory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) rule: &'static Rule,
    /// One error makes a trajectory fail where no other criterion applies.
    pub(crate) level: Severity,
    /// What is wrong, in a sentence on one line. It may quote what a model wrote.
    pub(crate) message: String,
    pub(crate) place: Option<FaultPlace>,
}

impl Fault {
    pub(crate) fn new(rule: &'static Rule, message: String, place: Option<FaultPlace>) -> Self {
        Self { rule, level: rule.level, message, place }
    }
}

/// The most faults of a trajectory that are named: a hostile one may have a million calls.
const NAMED: usize = 1_000;

/// The widest name of a tool, and the widest argument with its reason, in columns.
const TOOL: usize = 80;
const ARGUMENT: usize = 120;

/// The most wrong arguments of a call that are named.
const ARGUMENTS: usize = 8;

/// The faults of a trajectory, and how many more there are.
pub(crate) fn faults(report: &TrajectoryReport) -> (Vec<Fault>, usize) {
    let failed = words::failure(report.failure.as_deref());
    let verdict = report.verdict.as_ref().filter(|verdict| !verdict.passed).map(words::verdict);
    let mut found: Vec<Fault> =
        failed.map(|message| Fault::new(&FAILED_RUN, message, None)).into_iter().collect();
    found.extend(verdict.map(|message| Fault::new(&NO_MATCH, message, None)));
    // Without a prediction, and without an alignment, every call is unmatched: one fault says so.
    if !matches!(report.failure.as_deref(), Some("missing" | "too_large")) {
        found.extend(missing(report));
        found.extend(report.matches.iter().filter_map(wrong_arguments));
        found.extend(extra(report));
        found.extend(misplaced(report));
    }
    let more = found.len().saturating_sub(NAMED);
    found.truncate(NAMED);
    (found, more)
}

/// Calls of the reference that were not made.
fn missing(report: &TrajectoryReport) -> impl Iterator<Item = Fault> {
    report.unmatched_references.iter().map(|call| {
        let best = call.best.map(|best| format!("; the most similar has {:.4}", best.similarity));
        let message = format!(
            "the reference's call {} of {} was not made: {}{}",
            call.place,
            shortened(&call.tool, TOOL),
            words::reason(&call.reason),
            best.unwrap_or_default()
        );
        Fault::new(&MISSING_CALL, message, Some(FaultPlace::call(REFERENCE, call.place)))
    })
}

/// Calls that the reference does not have.
fn extra(report: &TrajectoryReport) -> impl Iterator<Item = Fault> {
    report.unmatched_predictions.iter().map(|call| {
        let message = format!(
            "call {} of {} is not needed: {}",
            call.place,
            shortened(&call.tool, TOOL),
            words::reason(&call.reason)
        );
        Fault::new(&EXTRA_CALL, message, Some(FaultPlace::call(PREDICTION, call.place)))
    })
}

/// A match with wrong arguments.
fn wrong_arguments(pair: &MatchReport) -> Option<Fault> {
    let is_rejected = words::is_rejected(pair);
    if !is_rejected && pair.wrong_arguments.is_empty() {
        return None;
    }
    let level = if is_rejected { Severity::Error } else { Severity::Warning };
    let what = if is_rejected { "asks for something else than" } else { "has wrong arguments beside" };
    let (tool, fidelity) = (shortened(&pair.tool, TOOL), pair.argument_fidelity);
    let head = format!(
        "call {} of {tool} {what} the reference's {} (fidelity {fidelity:.4})",
        pair.predicted, pair.reference
    );
    let named = pair.wrong_arguments.iter().take(ARGUMENTS).map(argument);
    let more = pair.wrong_arguments.len().saturating_sub(ARGUMENTS);
    let more = (more > 0).then(|| counted(more, "more argument"));
    let list = named.chain(more).collect::<Vec<_>>().join("; ");
    let message = if list.is_empty() { head } else { format!("{head}: {list}") };
    let place = Some(FaultPlace::call(PREDICTION, pair.predicted));
    Some(Fault { level, ..Fault::new(&WRONG_ARGUMENT, message, place) })
}

/// An argument and why it is wrong.
fn argument(found: &ArgumentReport) -> String {
    let name = if found.argument.is_empty() { "the arguments as a whole" } else { &found.argument };
    shortened(&format!("{name} {}: {}", found.verdict, found.reason), ARGUMENT)
}

/// Calls in the wrong order, split steps and merged steps.
fn misplaced(report: &TrajectoryReport) -> Vec<Fault> {
    let structure = structure(&report.matches);
    let inverted = structure.inverted.iter().filter_map(|pair| {
        let (first, second) = (report.matches.get(pair.first)?, report.matches.get(pair.second)?);
        let message = format!(
            "call {} of {} should be made before call {} of {}, as the reference has it ({} before {})",
            first.predicted,
            shortened(&first.tool, TOOL),
            second.predicted,
            shortened(&second.tool, TOOL),
            first.reference,
            second.reference
        );
        Some(Fault::new(&WRONG_ORDER, message, Some(FaultPlace::call(PREDICTION, first.predicted))))
    });
    let split = structure.split.iter().map(|step| {
        let place = FaultPlace { side: REFERENCE, step: step.reference, call: None };
        Fault::new(&SPLIT_STEP, step.sentence(), Some(place))
    });
    let merged = structure.merged.iter().map(|step| {
        let place = FaultPlace { side: PREDICTION, step: step.predicted, call: None };
        Fault::new(&MERGED_STEP, step.sentence(), Some(place))
    });
    inverted.chain(split).chain(merged).collect()
}
