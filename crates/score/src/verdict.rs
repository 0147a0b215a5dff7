//! Did the trajectory do its job? A probability, from five numbers that a reader can find in a report; `docs/verdict.md` has
//! the equation, an example and how often it is right.

use m3_flow::CallRole;

use super::calls::Calls;
use super::fidelity::constants::{SAME_OTHERWISE, THRESHOLD};
use super::matching::Match;
use super::{CallPlace, ComparedPair, ExactSum};

/// The weight of each number, learned from executed workflows of m3's own and from `WorkBench` and tau-bench (both MIT), rounded.
/// All are at least 0, so that no better number ever lowers the probability.
mod weights {
    pub(super) const LOWEST_CHANGE: f64 = 3.4;
    pub(super) const LOWEST: f64 = 2.0;
    pub(super) const COVERED: f64 = 0.2;
    pub(super) const EXTRA_CHANGES: f64 = 3.5;
    pub(super) const ARTIFACTS: f64 = 2.4;
    pub(super) const BIAS: f64 = -3.0;
}

/// What an extra call counts like of which nothing says whether it changes something, as a share of one that does.
const UNKNOWN: f64 = 0.5;

/// What is known of a task of which no call is known to change anything counts so much: the reference's path is one of many
/// there. Chosen, not learned: every source that may be learned from has calls that change something.
const LOOSE: f64 = 0.5;

/// From this probability on a trajectory did its job.
const DID: f64 = 0.8;

/// Below it a trajectory did not do its job.
const DID_NOT: f64 = 0.2;

/// Whether a trajectory did its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobVerdict {
    /// Its probability is at least 0.8.
    Did,
    /// Its probability is below 0.2.
    DidNot,
    /// Neither.
    CannotTell,
}

impl JobVerdict {
    /// That of a probability.
    #[must_use]
    pub fn new(probability: f64) -> Self {
        match probability {
            DID.. => Self::Did,
            ..DID_NOT => Self::DidNot,
            _ => Self::CannotTell,
        }
    }

    /// Its name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Did => "did",
            Self::DidNot => "did_not",
            Self::CannotTell => "cannot_tell",
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Did => "did the job",
            Self::DidNot => "did not do the job",
            Self::CannotTell => "cannot tell whether it did the job",
        }
    }
}

/// What the probability is made from; all numbers are in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JobEvidence {
    /// The lowest fidelity of the reference's calls that change something, or may: not of those that only look. That of all calls
    /// where every call looks. A call that is compared with none has 0.
    pub lowest_change: f64,
    /// The lowest fidelity of all reference calls.
    pub lowest: f64,
    /// The mean fidelity of all reference calls.
    pub covered: f64,
    /// The share of extra changes: `e / (e + c)`, where `c`, at least 1, are the reference's calls that change something, or may,
    /// and `e` the predicted calls compared with none that change something; one that may counts half.
    pub extra_changes: f64,
    /// How well what both trajectories leave behind agrees; `None` where it is not known.
    pub artifacts: Option<f64>,
    /// Whether the job is bound to the reference's path: one of its calls is known to change something, or what it leaves behind is
    /// known.
    pub is_bound: bool,
}

impl JobEvidence {
    /// The probability that the trajectory did its job, in (0, 1): a logistic function of the weighted sum of its numbers.
    #[must_use]
    pub fn probability(&self) -> f64 {
        1.0 / (1.0 + (-self.sum()).exp())
    }

    /// The weighted sum.
    fn sum(&self) -> f64 {
        use weights::{ARTIFACTS, BIAS, COVERED, EXTRA_CHANGES, LOWEST, LOWEST_CHANGE};
        let artifacts = self.artifacts.map_or(0.0, |agreement| agreement - 0.5);
        let sum = BIAS + LOWEST_CHANGE * self.lowest_change + LOWEST * self.lowest + COVERED * self.covered
            - EXTRA_CHANGES * self.extra_changes
            + ARTIFACTS * artifacts;
        if self.is_bound { sum } else { LOOSE * sum }
    }
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
    /// Every reference call is made as the reference makes it, and nothing else is changed.
    AllMade,
}

/// The reference call that is made worst.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstCall {
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
    pub(super) compared: &'a [ComparedPair],
    /// Reference calls that are compared with none and not missing.
    pub(super) reached_without: &'a [CallPlace],
    /// What calls of a tool do.
    pub(super) role: &'a dyn Fn(&str) -> CallRole,
    /// The alignment.
    pub(super) matches: &'a [Match],
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
    pub(super) fn new(calls: &JobCalls<'_>, artifacts: Option<f64>) -> Option<Self> {
        let roles = calls.roles(calls.references);
        let (fidelities, partners) = calls.fidelities();
        let lowest = |fidelities: &mut dyn Iterator<Item = f64>| fidelities.reduce(f64::min);
        let lowest_of_all = lowest(&mut fidelities.iter().copied())?;
        let may_change = |call: &usize| roles[*call] != CallRole::Looks;
        let changes: Vec<usize> = (0..roles.len()).filter(may_change).collect();
        let extra = calls.extra();
        let weight: f64 =
            extra.iter().map(|(_, role)| if *role == CallRole::Changes { 1.0 } else { UNKNOWN }).sum();
        let evidence = JobEvidence {
            lowest_change: lowest(&mut changes.iter().map(|&call| fidelities[call])).unwrap_or(lowest_of_all),
            lowest: lowest_of_all,
            // Exactly, so that the order of calls makes no difference in the last digit.
            covered: fidelities.iter().copied().collect::<ExactSum>().value() / roles.len() as f64,
            extra_changes: weight / (weight + changes.len().max(1) as f64),
            artifacts,
            is_bound: artifacts.is_some() || roles.contains(&CallRole::Changes),
        };
        let differing = |change: bool| {
            let mut wrong: Vec<usize> = (0..roles.len())
                .filter(|call| may_change(call) == change && fidelities[*call] < THRESHOLD)
                .collect();
            wrong.sort_by(|a, b| fidelities[*a].total_cmp(&fidelities[*b]));
            let &worst = wrong.first()?;
            Some(JobFact::Differ {
                change,
                worst: calls.worst(worst, partners[worst]),
                others: wrong.len() - 1,
            })
        };
        let facts = evidence.facts([differing(true), differing(false)], calls.first_of(&extra));
        Some(Self { evidence, facts, changes: calls.changes(&roles, &fidelities) })
    }
}

impl JobEvidence {
    /// The reasons, by how much the weighted sum would rise without each.
    fn facts(&self, [changes, looks]: [Option<JobFact>; 2], extra: Option<JobFact>) -> Vec<JobFact> {
        let risen = |better: Self| better.sum() - self.sum();
        let mut facts: Vec<(f64, JobFact)> = Vec::new();
        facts.extend(changes.map(|fact| (risen(Self { lowest_change: 1.0, ..*self }), fact)));
        facts.extend(looks.map(|fact| (risen(Self { lowest: 1.0, ..*self }), fact)));
        facts.extend(extra.map(|fact| (risen(Self { extra_changes: 0.0, ..*self }), fact)));
        if facts.is_empty() {
            facts.push((0.0, JobFact::AllMade));
        }
        if let Some(agreement) = self.artifacts {
            facts.push((risen(Self { artifacts: Some(1.0), ..*self }), JobFact::Artifacts { agreement }));
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
    fn fidelities(&self) -> (Vec<f64>, Vec<Option<&ComparedPair>>) {
        let mut fidelities = vec![0.0; self.references.len()];
        let mut partners = vec![None; self.references.len()];
        for place in self.reached_without {
            fidelities[place.index] = SAME_OTHERWISE;
        }
        for pair in self.compared {
            fidelities[pair.reference.index] = pair.fidelity.score;
            partners[pair.reference.index] = Some(pair);
        }
        (fidelities, partners)
    }

    /// Predicted calls that no reference call is compared with and that do not only look.
    fn extra(&self) -> Vec<(usize, CallRole)> {
        let mut is_extra = vec![true; self.predictions.len()];
        for pair in self.compared {
            is_extra[pair.predicted.index] = false;
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

    fn worst(&self, call: usize, pair: Option<&ComparedPair>) -> WorstCall {
        let compared = pair.map(|pair| {
            let arguments = pair.fidelity.arguments.iter();
            let worst = arguments.min_by(|a, b| a.score.total_cmp(&b.score));
            (pair.predicted, worst.map(|argument| argument.path.clone()).unwrap_or_default())
        });
        let reference = self.references.places[call];
        WorstCall { reference, tool: self.references.tool(call).to_owned(), compared }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: JobEvidence = JobEvidence {
        lowest_change: 1.0,
        lowest: 1.0,
        covered: 1.0,
        extra_changes: 0.0,
        artifacts: None,
        is_bound: true,
    };

    /// The example of docs/verdict.md, computed by hand.
    #[test]
    fn the_probability_is_that_of_the_document() {
        let of = |evidence: JobEvidence| format!("{:.3}", evidence.probability());
        assert_eq!(of(RIGHT), "0.931");
        assert_eq!(of(JobEvidence { lowest_change: 0.1, lowest: 0.1, covered: 0.7, ..RIGHT }), "0.089");
        assert_eq!(of(JobEvidence { extra_changes: 0.5, ..RIGHT }), "0.701");
        assert_eq!(of(JobEvidence { artifacts: Some(1.0), ..RIGHT }), "0.978");
        assert_eq!(of(JobEvidence { is_bound: false, ..RIGHT }), "0.786");
    }

    proptest::proptest! {
        #[test]
        fn nothing_better_lowers_it(from in proptest::array::uniform5(0.0..=1.0), at in 0..5_usize, better in 0.0..=1.0, is_bound: bool) {
            let of = |numbers: [f64; 5]| {
                let [lowest_change, lowest, covered, extra_changes, artifacts] = numbers;
                let evidence =
                    JobEvidence { lowest_change, lowest, covered, extra_changes: 1.0 - extra_changes, artifacts: Some(artifacts), is_bound };
                evidence.probability()
            };
            let mut to = from;
            to[at] = f64::max(from[at], better);
            proptest::prop_assert!(of(to) >= of(from));
            proptest::prop_assert!(of(to) > 0.0 && of(to) < 1.0);
        }
    }
}
