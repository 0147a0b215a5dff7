//! The calls of each tool of a set, and the causes for which calls are lost.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use m3_flow::CallRole;
use m3_trajectory::FailureClass;

use super::fidelity::constants::THRESHOLD;
use super::{ComparedPair, ExactSum, Matching, Reason};

/// The most tools that are counted separately; only a crafted set has more. The calls of further tools count in the
/// causes alone.
const MOST_TOOLS: usize = 10_000;

/// The most pairs of tools, one called in place of the other, that are counted separately.
const MOST_PAIRS: usize = 50_000;

/// Why a call is lost: a reference call was missed, a predicted call was not needed, or a pair asks for something
/// else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A reference call of a task without a prediction, or with one that failed, was not finished or is too large.
    TaskFailed,
    /// An unmatched reference call.
    Missed(Reason),
    /// An unmatched predicted call.
    Extra(Reason),
    /// A matched pair with a fidelity below 0.5.
    WrongArguments,
}

impl Cause {
    /// All causes.
    pub const ALL: [Cause; 9] = [
        Cause::TaskFailed,
        Cause::Missed(Reason::ToolNotInPrediction),
        Cause::Missed(Reason::BelowThreshold),
        Cause::Missed(Reason::AssignedElsewhere),
        Cause::Extra(Reason::ToolNotInReference),
        Cause::Extra(Reason::BelowThreshold),
        Cause::Extra(Reason::AssignedElsewhere),
        Cause::Extra(Reason::TooLarge),
        Cause::WrongArguments,
    ];

    /// The name of these calls in results: `missed`, `extra` or `matched`.
    #[must_use]
    pub fn calls_name(self) -> &'static str {
        match self {
            Cause::TaskFailed | Cause::Missed(_) => "missed",
            Cause::Extra(_) => "extra",
            Cause::WrongArguments => "matched",
        }
    }

    /// The name of the reason in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Cause::TaskFailed => "task_failed",
            Cause::Missed(reason) | Cause::Extra(reason) => reason.name(),
            Cause::WrongArguments => "wrong_arguments",
        }
    }
}

/// The calls of one tool, counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolTally {
    /// Calls of the references.
    pub needed: u64,
    /// Calls of the predictions.
    pub called: u64,
    /// Matched pairs.
    pub matched: u64,
    /// How many calls are lost for each cause.
    pub lost: BTreeMap<Cause, u64>,
    /// The role of the tool's calls.
    pub role: CallRole,
    similarity: ExactSum,
    fidelity: ExactSum,
    overlap: ExactSum,
    /// The number of regions of pictures in the tool's pairs.
    regions: u64,
}

impl ToolTally {
    /// Calls of the references that were not matched.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.needed - self.matched
    }

    /// Calls of the predictions that were not matched.
    #[must_use]
    pub fn extra(&self) -> u64 {
        self.called - self.matched
    }

    /// The mean similarity of its pairs, if it has any.
    #[must_use]
    pub fn similarity(&self) -> Option<f64> {
        (self.matched > 0).then(|| self.similarity.value() / self.matched as f64)
    }

    /// The mean fidelity of its pairs, if it has any.
    #[must_use]
    pub fn fidelity(&self) -> Option<f64> {
        (self.matched > 0).then(|| self.fidelity.value() / self.matched as f64)
    }

    /// The mean overlap of the regions of pictures in its pairs, if it has any.
    #[must_use]
    pub fn region_overlap(&self) -> Option<f64> {
        (self.regions > 0).then(|| self.overlap.value() / self.regions as f64)
    }
}

impl AddAssign for ToolTally {
    fn add_assign(&mut self, other: Self) {
        let ToolTally { needed, called, matched, lost, role, similarity, fidelity, overlap, regions } = other;
        self.role = role;
        self.needed += needed;
        self.called += called;
        self.matched += matched;
        add_counts(&mut self.lost, lost);
        self.similarity += similarity;
        self.fidelity += fidelity;
        self.overlap += overlap;
        self.regions += regions;
    }
}

fn add_counts(mine: &mut BTreeMap<Cause, u64>, others: BTreeMap<Cause, u64>) {
    for (cause, calls) in others {
        *mine.entry(cause).or_default() += calls;
    }
}

/// The calls of a set by tool. Memory is limited, however many tools are named.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByTool {
    tools: BTreeMap<String, ToolTally>,
    replaced: BTreeMap<(String, String), u64>,
    lost: BTreeMap<Cause, u64>,
}

impl ByTool {
    /// Adds a trajectory; `compared` begins with the pairs of its matches, in their order.
    pub fn add(
        &mut self,
        failure: Option<FailureClass>,
        matching: &Matching,
        compared: &[ComparedPair],
        role: &dyn Fn(&str) -> CallRole,
    ) {
        for (pair, ComparedPair { fidelity, .. }) in matching.matches.iter().zip(compared) {
            let is_wrong = fidelity.score < THRESHOLD;
            self.count((&pair.tool, role), is_wrong.then_some(Cause::WrongArguments), |tool| {
                tool.needed += 1;
                tool.called += 1;
                tool.matched += 1;
                tool.similarity += pair.similarity;
                tool.fidelity += fidelity.score;
                tool.overlap += fidelity.regions.overlaps.sum;
                tool.regions += fidelity.regions.overlaps.count;
            });
        }
        for alone in &matching.unmatched_references {
            let cause = failure.map_or(Cause::Missed(alone.reason), |_| Cause::TaskFailed);
            self.count((&alone.tool, role), Some(cause), |tool| tool.needed += 1);
        }
        for alone in &matching.unmatched_predictions {
            self.count((&alone.tool, role), Some(Cause::Extra(alone.reason)), |tool| tool.called += 1);
        }
        let not_called =
            matching.unmatched_references.iter().filter(|alone| alone.reason == Reason::ToolNotInPrediction);
        let not_needed =
            matching.unmatched_predictions.iter().filter(|alone| alone.reason == Reason::ToolNotInReference);
        for (needed, called) in not_called.zip(not_needed) {
            let pair = (needed.tool.clone(), called.tool.clone());
            if self.replaced.len() < MOST_PAIRS || self.replaced.contains_key(&pair) {
                *self.replaced.entry(pair).or_default() += 1;
            }
        }
    }

    /// Adds the calls of a further repetition.
    pub(super) fn add_repetition(&mut self, other: ByTool) {
        let ByTool { tools, replaced, lost } = other;
        for (tool, tally) in tools {
            if self.tools.len() < MOST_TOOLS || self.tools.contains_key(&tool) {
                *self.tools.entry(tool).or_default() += tally;
            }
        }
        for (pair, calls) in replaced {
            if self.replaced.len() < MOST_PAIRS || self.replaced.contains_key(&pair) {
                *self.replaced.entry(pair).or_default() += calls;
            }
        }
        add_counts(&mut self.lost, lost);
    }

    fn count(
        &mut self,
        (tool, role): (&str, &dyn Fn(&str) -> CallRole),
        lost: Option<Cause>,
        count: impl FnOnce(&mut ToolTally),
    ) {
        if let Some(cause) = lost {
            *self.lost.entry(cause).or_default() += 1;
        }
        if !self.tools.contains_key(tool) {
            if self.tools.len() == MOST_TOOLS {
                return;
            }
            self.tools.insert(tool.to_owned(), ToolTally { role: role(tool), ..ToolTally::default() });
        }
        if let Some(tally) = self.tools.get_mut(tool) {
            count(tally);
            if let Some(cause) = lost {
                *tally.lost.entry(cause).or_default() += 1;
            }
        }
    }

    /// The tools, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &ToolTally)> {
        self.tools.iter().map(|(name, tally)| (name.as_str(), tally))
    }

    /// Which tool was called in place of which, and how often: in each trajectory, needed calls of tools that were
    /// not called are paired in order with calls of tools that were not needed. Returns the needed tool, the called
    /// tool and the number of calls, sorted by name.
    pub fn replaced(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.replaced.iter().map(|((needed, called), calls)| (needed.as_str(), called.as_str(), *calls))
    }

    /// How many calls of the set are lost for a cause.
    #[must_use]
    pub fn lost(&self, cause: Cause) -> u64 {
        self.lost.get(&cause).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::{CallFidelity, Regions};
    use crate::{CallPlace, ComparedPair, Match, SumAndCount, UnmatchedCall};

    const PLACE: CallPlace = CallPlace { step: 0, call: 0, index: 0 };

    const REASONS: [Reason; 5] = [
        Reason::ToolNotInReference,
        Reason::ToolNotInPrediction,
        Reason::BelowThreshold,
        Reason::AssignedElsewhere,
        Reason::TooLarge,
    ];

    fn alone(tool: &str, reason: Reason) -> UnmatchedCall {
        UnmatchedCall { tool: tool.to_owned(), place: PLACE, reason, best: None }
    }

    fn pair(tool: &str, similarity: f64) -> Match {
        Match { tool: tool.to_owned(), similarity, is_strong: true, reference: PLACE, predicted: PLACE }
    }

    fn compared(score: f64, regions: Regions) -> ComparedPair {
        let fidelity = CallFidelity { score, regions, ..CallFidelity::default() };
        ComparedPair { reference: PLACE, predicted: PLACE, joined: Vec::new(), fidelity }
    }

    /// Two pairs, one of them wrong; one missed call, two extra ones.
    fn matching() -> Matching {
        Matching {
            matches: vec![pair("crop", 0.9), pair("crop", 0.7)],
            unmatched_references: vec![alone("scan", Reason::ToolNotInPrediction)],
            unmatched_predictions: vec![
                alone("read", Reason::ToolNotInReference),
                alone("crop", Reason::AssignedElsewhere),
            ],
            ..Matching::default()
        }
    }

    /// The expected counts are those of the matching, by hand.
    #[test]
    fn calls_are_counted_by_tool_and_cause() {
        let mut by_tool = ByTool::default();
        let regions =
            |sum: f64, count: u64| Regions { overlaps: SumAndCount { sum, count }, ..Regions::default() };
        let pairs = [compared(1.0, regions(0.75, 2)), compared(0.25, regions(1.0, 1))];
        by_tool.add(None, &matching(), &pairs, &|_| CallRole::Changes);
        let crop = &by_tool.tools["crop"];
        assert_eq!((crop.needed, crop.called, crop.matched, crop.missed(), crop.extra()), (2, 3, 2, 0, 1));
        assert!((crop.similarity().unwrap() - 0.8).abs() < 1e-12);
        assert!((crop.fidelity().unwrap() - 0.625).abs() < 1e-12);
        // (0.5 + 0.25 + 1) / 3 regions; a tool without regions has no overlap.
        assert!((crop.region_overlap().unwrap() - 1.75 / 3.0).abs() < 1e-12);
        assert_eq!(by_tool.tools["scan"].region_overlap(), None);
        let lost: Vec<(Cause, u64)> = by_tool.lost.clone().into_iter().collect();
        let expected = [
            Cause::Missed(Reason::ToolNotInPrediction),
            Cause::Extra(Reason::ToolNotInReference),
            Cause::Extra(Reason::AssignedElsewhere),
            Cause::WrongArguments,
        ];
        assert_eq!(lost, expected.map(|cause| (cause, 1)));
        assert_eq!(by_tool.replaced().collect::<Vec<_>>(), [("scan", "read", 1)]);
        // A further repetition is added.
        let mut other = ByTool::default();
        other.add(
            Some(FailureClass::Time),
            &matching(),
            &[1.0, 1.0].map(|score| compared(score, Regions::default())),
            &|_| CallRole::Changes,
        );
        by_tool.add_repetition(other);
        assert_eq!((by_tool.tools["crop"].needed, by_tool.tools["scan"].missed()), (4, 2));
        assert_eq!((by_tool.lost(Cause::TaskFailed), by_tool.lost(Cause::WrongArguments)), (1, 1));
    }

    /// Every reason for an unmatched call has a cause that is in reports.
    #[test]
    fn every_loss_has_a_cause_that_is_listed() {
        for (reason, side) in REASONS.into_iter().flat_map(|reason| [(reason, 0), (reason, 1)]) {
            let calls = |of: u8| if of == side { vec![alone("crop", reason)] } else { Vec::new() };
            // A trajectory that is too large counts as failed.
            let failure = (reason == Reason::TooLarge).then_some(FailureClass::TooLarge);
            let (unmatched_references, unmatched_predictions) = (calls(0), calls(1));
            let matching = Matching { unmatched_references, unmatched_predictions, ..Matching::default() };
            let mut by_tool = ByTool::default();
            by_tool.add(failure, &matching, &[], &|_| CallRole::Unknown);
            let is_of_side = |cause: &&Cause| by_tool.lost.contains_key(cause);
            let cause = by_tool.lost.keys().next().unwrap();
            let is_possible = match cause {
                Cause::Missed(reason) => *reason != Reason::ToolNotInReference,
                Cause::Extra(reason) => *reason != Reason::ToolNotInPrediction,
                _ => true,
            };
            assert_eq!(Cause::ALL.iter().filter(is_of_side).count(), usize::from(is_possible), "{cause:?}");
        }
    }
}
