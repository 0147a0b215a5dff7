//! What says whether a trajectory did its job: the numbers behind the verdict, taken from its calls, and the reasons in them.

use std::collections::{HashMap, HashSet};

use m3_flow::CallRole;
use m3_trajectory::json::{Json, Keys};

use super::JobEvidence;
use super::answer::AnswerAgreement;
use super::calls::Calls;
use super::fidelity::constants::{SAME_OTHERWISE, THRESHOLD};
use super::matching::Match;
use super::results::PairResults;
use super::{CallPlace, ComparedPair, ExactSum};

/// What an extra call counts like of which nothing says whether it changes something, as a share of one that does.
const UNKNOWN: f64 = 0.5;

/// What is known of a trajectory besides its calls.
pub(super) struct KnownResults<'a> {
    /// How well what both leave behind agrees.
    pub(super) artifacts: Option<f64>,
    /// Whether the reference's calls returned pictures: what the prediction records does not matter, so that nothing can be hidden.
    pub(super) has_pictures: bool,
    /// How well the final replies agree.
    pub(super) answer: Option<&'a AnswerAgreement>,
}

/// What says whether a trajectory did its job.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The numbers.
    pub evidence: JobEvidence,
    /// What moves the probability most, that first.
    pub facts: Vec<JobFact>,
    /// What became of the calls that change something.
    pub changes: Changes,
}

/// A reason for a probability.
#[derive(Debug, Clone, PartialEq)]
pub enum JobFact {
    /// Reference calls of one kind are not made as the reference makes them.
    Differ {
        /// Whether they change something, or may; else they only look.
        change: bool,
        /// The worst of them.
        worst: WorstCall,
        /// How many there are besides.
        others: usize,
    },
    /// Predicted calls that no reference call is compared with change something, or may.
    Extra {
        /// The first of them, one that is known to change something before others.
        first: CallPlace,
        /// Its tool.
        tool: String,
        /// Whether that one is known to change something.
        changes: bool,
        /// How many there are besides.
        others: usize,
    },
    /// What both leave behind.
    Artifacts {
        /// How well it agrees, in [0, 1].
        agreement: f64,
    },
    /// The final reply beside the reference's.
    Answer {
        /// How well it agrees, in [0, 1].
        agreement: f64,
        /// What is missing in it or contradicts the reference, in words.
        reason: Option<String>,
    },
    /// Every reference call is made as the reference makes it, and nothing else is changed.
    AllMade {
        /// How many of them are not made, but all that they lead to is left behind.
        reached_without: usize,
    },
}

/// The reference call that is made worst.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstCall {
    /// Whether its predicted call failed, though it did not itself.
    pub has_failed: bool,
    /// The call.
    pub reference: CallPlace,
    /// Its tool.
    pub tool: String,
    /// The predicted call that it is compared with, and the JSON pointer to the argument that is worst; `None` if it is compared with
    /// none.
    pub compared: Option<(CallPlace, String)>,
}

/// The calls of a reference and of its prediction, and which are compared.
pub(super) struct JobCalls<'a> {
    pub(super) references: &'a Calls,
    pub(super) predictions: &'a Calls,
    /// The prediction's arguments, by call.
    pub(super) arguments: &'a [Option<Json>],
    pub(super) compared: &'a [ComparedPair],
    /// Reference calls that are compared with none and not missing.
    pub(super) reached_without: &'a [CallPlace],
    /// What both returned, where both have recorded it.
    pub(super) results: Option<&'a PairResults>,
    /// What calls of a tool do.
    pub(super) role: &'a dyn Fn(&str) -> CallRole,
    /// The alignment.
    pub(super) matches: &'a [Match],
}

/// Calls that failed, and those that were made again for them.
#[derive(Debug, Default)]
struct Failures {
    /// Reference calls whose predicted call failed, though their own did not, and was not made again.
    references: Vec<usize>,
    /// Predicted calls that are no extra ones: needed calls that failed beside another try, or that other try.
    predictions: Vec<usize>,
}

/// What became of the calls that are known to change something, each in [0, 1]; `None` where there is no such call.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Changes {
    /// The share of the reference's that is matched.
    pub recall: Option<f64>,
    /// The share of the prediction's that is matched.
    pub precision: Option<f64>,
    /// The mean fidelity of the reference's; of one that is compared with no call it is 0.
    pub fidelity: Option<f64>,
}

impl Job {
    /// That of a trajectory; `None` if the reference has no call.
    pub(super) fn new(calls: &JobCalls<'_>, known: &KnownResults<'_>) -> Option<Self> {
        let artifacts = known.artifacts;
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
            artifacts,
            answer: known.answer.and_then(|answer| answer.score),
            is_bound: known.has_pictures || roles.contains(&CallRole::Changes),
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
        let facts = evidence.facts(differing, calls.first_of(&extra), reached_without, known.answer);
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

    /// What became of the calls that change something, by the roles and the fidelities of the reference's.
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

    /// Which predicted calls no reference call is compared with.
    fn are_alone(&self) -> Vec<bool> {
        let mut are_alone = vec![true; self.predictions.len()];
        for call in self.compared.iter().flat_map(ComparedPair::predictions) {
            are_alone[call.index] = false;
        }
        are_alone
    }

    /// What failed: who makes a failed call again, with equal arguments, has made it. Other calls that failed stay extra ones, so that
    /// a prediction cannot have them left out by saying so.
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
