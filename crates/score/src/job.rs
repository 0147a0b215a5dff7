//! The evidence whether a trajectory did its job: numbers from its calls, which the verdict uses, and the reasons in
//! them.

use std::collections::{HashMap, HashSet};

use m3_flow::CallRole;
use m3_trajectory::json::{Json, Keys};

use super::answer::AnswerAgreement;
use super::calls::Calls;
use super::fidelity::constants::{SAME_OTHERWISE, THRESHOLD};
use super::matching::Match;
use super::results::PairResults;
use super::{CallPlace, ComparedPair, ExactSum, JobEvidence};

/// The weight of an extra call that may or may not change something, as a share of one that does.
const UNKNOWN: f64 = 0.5;

/// The evidence whether a trajectory did its job.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The numbers that the verdict is computed from.
    pub evidence: JobEvidence,
    /// The reasons; the one that moves the probability most is the first.
    pub facts: Vec<JobFact>,
    /// How well the calls that change something are matched.
    pub changes: Changes,
}

/// A reason for a probability.
#[derive(Debug, Clone, PartialEq)]
pub enum JobFact {
    /// Reference calls of one kind are not made as the reference makes them.
    Differ {
        /// Whether these calls change something, or may; otherwise they only look.
        change: bool,
        /// The worst of these calls.
        worst: WorstCall,
        /// The number of other such calls.
        others: usize,
    },
    /// Predicted calls that no reference call is compared with change something, or may.
    Extra {
        /// The first of these calls; those that are known to change something come before others.
        first: CallPlace,
        /// The tool of this call.
        tool: String,
        /// Whether this call is known to change something.
        changes: bool,
        /// The number of other such calls.
        others: usize,
    },
    /// The agreement of what both trajectories leave behind.
    Artifacts {
        /// The agreement, in [0, 1].
        agreement: f64,
    },
    /// The final reply beside the reference's.
    Answer {
        /// The agreement, in [0, 1].
        agreement: f64,
        /// What is missing in it or contradicts the reference, in words.
        reason: Option<String>,
    },
    /// Every reference call is made as the reference makes it, and nothing else is changed.
    AllMade {
        /// The number of reference calls that are not made, although all that they lead to is left behind.
        reached_without: usize,
    },
}

/// The reference call with the lowest fidelity.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstCall {
    /// Whether its predicted call failed, although the reference call did not.
    pub has_failed: bool,
    /// The reference call.
    pub reference: CallPlace,
    /// The tool of the call.
    pub tool: String,
    /// The predicted call that it is compared with, and the JSON pointer to the worst argument; `None` if it is
    /// compared with no call.
    pub compared: Option<(CallPlace, String)>,
}

/// The calls of a reference and of its prediction, which are compared, and the other facts about both trajectories.
pub(super) struct JobCalls<'a> {
    pub(super) references: &'a Calls,
    pub(super) predictions: &'a Calls,
    /// The prediction's arguments, by call.
    pub(super) arguments: &'a [Option<Json>],
    pub(super) compared: &'a [ComparedPair],
    /// Reference calls that are compared with no call, but all that they lead to is left behind.
    pub(super) reached_without: &'a [CallPlace],
    /// The results of both trajectories, where both recorded them.
    pub(super) results: Option<&'a PairResults>,
    /// The role of a tool's calls: whether they change something.
    pub(super) role: &'a dyn Fn(&str) -> CallRole,
    /// The matches of the alignment.
    pub(super) matches: &'a [Match],
    /// The agreement of what both trajectories leave behind.
    pub(super) artifacts: Option<f64>,
    /// Whether the reference's calls returned pictures. Not the prediction's: it could hide them.
    pub(super) has_pictures: bool,
    /// How well the final replies agree.
    pub(super) answer: Option<&'a AnswerAgreement>,
}

/// Calls that failed, and those that were made again for them.
#[derive(Debug, Default)]
struct Failures {
    /// Reference calls whose predicted call failed, though their own did not, and was not made again.
    references: Vec<usize>,
    /// Predicted calls that do not count as extra: a needed call that failed and was also tried again, or the other
    /// try.
    predictions: Vec<usize>,
}

/// How well the calls that are known to change something are matched, in [0, 1]; `None` where there is no such call.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Changes {
    /// The share of these calls of the reference that is matched.
    pub recall: Option<f64>,
    /// The share of these calls of the prediction that is matched.
    pub precision: Option<f64>,
    /// The mean fidelity of these calls of the reference; a missing call counts 0.
    pub fidelity: Option<f64>,
}

impl Job {
    /// Computes the evidence of a trajectory; `None` if the reference has no call.
    pub(super) fn new(calls: &JobCalls<'_>) -> Option<Self> {
        let roles = calls.roles(calls.references);
        let failures = calls.failures();
        let (fidelities, partners) = calls.fidelities(&failures);
        let lowest = |fidelities: &mut dyn Iterator<Item = f64>| fidelities.reduce(f64::min);
        let lowest_of_all = lowest(&mut fidelities.iter().copied())?;
        let may_change = |call: &usize| roles[*call] != CallRole::Looks;
        let changes: Vec<usize> = (0..roles.len()).filter(may_change).collect();
        let extra = calls.extra(&failures);
        let weight = |(_, role): &(usize, CallRole)| if *role == CallRole::Changes { 1.0 } else { UNKNOWN };
        let weight = extra.iter().map(weight).fold(0.0, |sum, weight| sum + weight);
        let evidence = JobEvidence {
            lowest_change: lowest(&mut changes.iter().map(|&call| fidelities[call])).unwrap_or(lowest_of_all),
            lowest: lowest_of_all,
            extra_changes: weight / (weight + changes.len().max(1) as f64),
            artifacts: calls.artifacts,
            answer: calls.answer.and_then(|answer| answer.score),
            is_bound: calls.has_pictures || roles.contains(&CallRole::Changes),
        };
        let differing = |change: bool| {
            let mut wrong: Vec<usize> = (0..roles.len())
                .filter(|call| may_change(call) == change && fidelities[*call] < THRESHOLD)
                .collect();
            wrong.sort_by(|a, b| fidelities[*a].total_cmp(&fidelities[*b]));
            let &worst = wrong.first()?;
            let of_others =
                (0..roles.len()).filter(|call| may_change(call) != change).map(|call| fidelities[call]);
            let lowest = of_others.reduce(f64::min).unwrap_or(1.0);
            let is_all = changes.is_empty();
            let lowest_change = if change || is_all { 1.0 } else { evidence.lowest_change };
            let mended = JobEvidence { lowest_change, lowest, ..evidence };
            let worst = calls.worst(worst, partners[worst], &failures);
            Some((mended, JobFact::Differ { change, worst, others: wrong.len() - 1 }))
        };
        let differing = [differing(true), differing(false)];
        let reached_without = calls.reached_without.len();
        let facts = evidence.facts(differing, calls.first_of(&extra), reached_without, calls.answer);
        Some(Self { evidence, facts, changes: calls.changes(&roles, &fidelities) })
    }
}

impl JobEvidence {
    /// The reasons, by how much the weighted sum would rise without each.
    fn facts(
        &self,
        differing: [Option<(Self, JobFact)>; 2],
        extra: Option<JobFact>,
        reached_without: usize,
        answer: Option<&AnswerAgreement>,
    ) -> Vec<JobFact> {
        let risen = |better: Self| better.sum() - self.sum();
        let mut facts: Vec<(f64, JobFact)> = Vec::new();
        facts.extend(differing.into_iter().flatten().map(|(mended, fact)| (risen(mended), fact)));
        facts.extend(extra.map(|fact| (risen(Self { extra_changes: 0.0, ..*self }), fact)));
        if facts.is_empty() {
            facts.push((0.0, JobFact::AllMade { reached_without }));
        }
        if let Some(agreement) = self.artifacts {
            facts.push((risen(Self { artifacts: Some(1.0), ..*self }), JobFact::Artifacts { agreement }));
        }
        if let Some((agreement, answer)) = self.answer.zip(answer) {
            let fact = JobFact::Answer { agreement, reason: answer.reasons.first().cloned() };
            facts.push((risen(Self { answer: Some(1.0), ..*self }), fact));
        }
        facts.sort_by(|a, b| b.0.total_cmp(&a.0));
        facts.into_iter().map(|(_, fact)| fact).collect()
    }
}

impl JobCalls<'_> {
    fn roles(&self, calls: &Calls) -> Vec<CallRole> {
        calls.tools().map(|tool| (self.role)(tool)).collect()
    }

    /// How well the calls that change something are matched, by the roles and the fidelities of the reference's calls.
    fn changes(&self, roles: &[CallRole], fidelities: &[f64]) -> Changes {
        let predicted = self.roles(self.predictions);
        let is_change = |role: &CallRole| *role == CallRole::Changes;
        let share = |part: f64, roles: &[CallRole]| {
            let all = roles.iter().filter(|role| is_change(role)).count();
            (all > 0).then(|| part / all as f64)
        };
        let matched =
            |is_one: &dyn Fn(&Match) -> bool| self.matches.iter().filter(|pair| is_one(pair)).count() as f64;
        let of_changes = roles.iter().zip(fidelities).filter(|(role, _)| is_change(role));
        let fidelity: ExactSum = of_changes.map(|(_, fidelity)| *fidelity).collect();
        Changes {
            recall: share(matched(&|pair| is_change(&roles[pair.reference.index])), roles),
            precision: share(matched(&|pair| is_change(&predicted[pair.predicted.index])), &predicted),
            fidelity: share(fidelity.value(), roles),
        }
    }

    /// The fidelity of each reference call, and the pair that it comes from.
    fn fidelities(&self, failures: &Failures) -> (Vec<f64>, Vec<Option<&ComparedPair>>) {
        let mut fidelities = vec![0.0; self.references.len()];
        let mut partners = vec![None; self.references.len()];
        for place in self.reached_without {
            fidelities[place.index] = SAME_OTHERWISE;
        }
        for pair in self.compared {
            fidelities[pair.reference.index] = pair.fidelity.score;
            partners[pair.reference.index] = Some(pair);
        }
        for &call in &failures.references {
            fidelities[call] = 0.0;
        }
        (fidelities, partners)
    }

    /// Whether each predicted call is compared with no reference call.
    fn are_alone(&self) -> Vec<bool> {
        let mut are_alone = vec![true; self.predictions.len()];
        for call in self.compared.iter().flat_map(ComparedPair::predictions) {
            are_alone[call.index] = false;
        }
        are_alone
    }

    /// Finds the calls that failed. A failed call that is made again with equal arguments counts as made. Other failed
    /// calls stay extra ones, so that a prediction cannot hide them by reporting a failure.
    fn failures(&self) -> Failures {
        let mut failures = Failures::default();
        let Some(results) = self.results else { return failures };
        let calls = 0..self.predictions.len();
        if !calls.clone().any(|call| results.has_prediction_failed(call)) {
            return failures;
        }
        // The encoder's keys would not do: it does not tell capital letters from small ones, and reads nothing beyond its limit.
        let words = |call: usize| {
            let arguments = self.arguments[call].as_ref();
            (self.predictions.tool(call), arguments.map(|arguments| arguments.to_text(Keys::Sorted)))
        };
        let needed: HashSet<(&str, Option<String>)> =
            self.compared.iter().flat_map(ComparedPair::predictions).map(|call| words(call.index)).collect();
        let mut again: HashMap<(&str, Option<String>), Vec<usize>> = HashMap::new();
        let are_alone = self.are_alone();
        for call in calls.filter(|call| are_alone[*call]) {
            let words = words(call);
            if !needed.contains(&words) {
                continue;
            }
            if results.has_prediction_failed(call) {
                failures.predictions.push(call);
            } else {
                again.entry(words).or_default().push(call);
            }
        }
        for pair in self.compared {
            let (reference, predicted) = (pair.reference.index, pair.predicted.index);
            if results.has_only_prediction_failed((reference, predicted)) {
                match again.get_mut(&words(predicted)).and_then(Vec::pop) {
                    Some(call) => failures.predictions.push(call),
                    None => failures.references.push(reference),
                }
            }
        }
        failures
    }

    /// Predicted calls that no reference call is compared with and that do not only look.
    fn extra(&self, failures: &Failures) -> Vec<(usize, CallRole)> {
        let mut is_extra = self.are_alone();
        for &call in &failures.predictions {
            is_extra[call] = false;
        }
        let roles = self.roles(self.predictions).into_iter().enumerate();
        roles.filter(|(call, role)| is_extra[*call] && *role != CallRole::Looks).collect()
    }

    fn first_of(&self, extra: &[(usize, CallRole)]) -> Option<JobFact> {
        let known = extra.iter().find(|(_, role)| *role == CallRole::Changes);
        let &(call, role) = known.or(extra.first())?;
        let tool = self.predictions.tool(call).to_owned();
        let changes = role == CallRole::Changes;
        Some(JobFact::Extra { first: self.predictions.places[call], tool, changes, others: extra.len() - 1 })
    }

    fn worst(&self, call: usize, pair: Option<&ComparedPair>, failures: &Failures) -> WorstCall {
        let compared = pair.map(|pair| {
            let arguments = pair.fidelity.arguments.iter();
            let worst = arguments.min_by(|a, b| a.score.total_cmp(&b.score));
            (pair.predicted, worst.map(|argument| argument.path.clone()).unwrap_or_default())
        });
        let reference = self.references.places[call];
        let has_failed = failures.references.contains(&call);
        WorstCall { has_failed, reference, tool: self.references.tool(call).to_owned(), compared }
    }
}
