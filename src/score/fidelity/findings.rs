//! What the fidelity of a set's matched pairs says over the whole set: which arguments are wrong most often, and which
//! pairs only the embedding accepts.

use std::collections::{BTreeMap, BTreeSet};

use super::constants::{CLOSE, THRESHOLD};
use super::{ArgumentComparison, CallFidelity};
use crate::score::{CallPlace, Match};

/// Arguments that are counted; a set with more different ones than that is made to have them.
const MOST_ARGUMENTS: usize = 10_000;

/// Pairs that are kept by name; the others are counted.
const MOST_PAIRS: usize = 1_000;

/// What is noticed over a set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    tools: BTreeMap<String, u64>,
    arguments: BTreeMap<(String, String), Wrong>,
    pairs: BTreeSet<Rank>,
    rejected: u64,
}

/// How often an argument is wrong, and where for the first time.
#[derive(Debug, Clone, PartialEq)]
struct Wrong {
    pairs: u64,
    id: String,
    reason: String,
}

/// An argument that is wrong in matched pairs of calls of its tool.
#[derive(Debug, Clone, PartialEq)]
pub struct WrongArgument {
    /// The tool.
    pub tool: String,
    /// The argument, such as `location.lat` or `stops[].name`.
    pub argument: String,
    /// Matched pairs in which it is different, missing or extra.
    pub wrong: u64,
    /// Matched pairs of calls of the tool.
    pub pairs: u64,
    /// The first trajectory in which it is wrong.
    pub id: String,
    /// What is wrong there. Hostile where it quotes a value.
    pub reason: String,
}

/// A pair of calls that was matched, although its arguments do not ask for the same.
#[derive(Debug, Clone, PartialEq)]
pub struct RejectedMatch {
    /// The trajectory.
    pub id: String,
    /// The tool of both calls.
    pub tool: String,
    /// The reference call.
    pub reference: CallPlace,
    /// The predicted call.
    pub predicted: CallPlace,
    /// S, by which they were matched.
    pub similarity: f64,
    /// The fidelity, below [`THRESHOLD`].
    pub fidelity: f64,
    /// The argument that does most harm, such as `location.lat`; empty for the arguments as a whole.
    pub argument: String,
    /// What is wrong with it. Hostile where it quotes a value.
    pub reason: String,
}

/// Pairs in the order in which they mislead: the most similar first.
#[derive(Debug, Clone, PartialEq)]
struct Rank(RejectedMatch);

impl Rank {
    fn key(&self) -> (std::cmp::Reverse<u64>, &str, usize) {
        // Similarities are not negative, so their bits are in their order.
        (std::cmp::Reverse(self.0.similarity.max(0.0).to_bits()), &self.0.id, self.0.reference.index)
    }
}

impl Eq for Rank {}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Findings {
    /// Takes in the matched pairs of a trajectory and their fidelities, in one order.
    pub(in crate::score) fn add(&mut self, id: &str, matches: &[Match], fidelities: &[CallFidelity]) {
        for (pair, fidelity) in matches.iter().zip(fidelities) {
            match self.tools.get_mut(&pair.tool) {
                Some(pairs) => *pairs += 1,
                None => drop(self.tools.insert(pair.tool.clone(), 1)),
            }
            self.count(id, pair, fidelity);
            if fidelity.score < THRESHOLD {
                self.reject(id, pair, fidelity);
            }
        }
    }

    fn count(&mut self, id: &str, pair: &Match, fidelity: &CallFidelity) {
        let wrong = fidelity.arguments.iter().filter(|argument| argument.score < CLOSE);
        let named: BTreeMap<String, &ArgumentComparison> =
            wrong.rev().map(|argument| (argument.name(), argument)).collect();
        for (name, argument) in named {
            let key = (pair.tool.clone(), name);
            if let Some(known) = self.arguments.get_mut(&key) {
                known.pairs += 1;
            } else if self.arguments.len() < MOST_ARGUMENTS {
                let (id, reason) = (id.to_owned(), argument.reason.to_string());
                self.arguments.insert(key, Wrong { pairs: 1, id, reason });
            }
        }
    }

    fn reject(&mut self, id: &str, pair: &Match, fidelity: &CallFidelity) {
        self.rejected += 1;
        let worst = fidelity.worst();
        self.pairs.insert(Rank(RejectedMatch {
            id: id.to_owned(),
            tool: pair.tool.clone(),
            reference: pair.reference,
            predicted: pair.predicted,
            similarity: pair.similarity,
            fidelity: fidelity.score,
            argument: worst.map(ArgumentComparison::name).unwrap_or_default(),
            reason: worst.map(|worst| worst.reason.to_string()).unwrap_or_default(),
        }));
        if self.pairs.len() > MOST_PAIRS {
            self.pairs.pop_last();
        }
    }

    /// The arguments that are wrong, those that are wrong most often first.
    #[must_use]
    pub fn wrong_arguments(&self) -> Vec<WrongArgument> {
        let arguments = self.arguments.iter().map(|((tool, argument), wrong)| WrongArgument {
            tool: tool.clone(),
            argument: argument.clone(),
            wrong: wrong.pairs,
            pairs: self.tools.get(tool).copied().unwrap_or_default(),
            id: wrong.id.clone(),
            reason: wrong.reason.clone(),
        });
        let mut arguments: Vec<WrongArgument> = arguments.collect();
        // Stable: by the names of tool and argument where it is as often.
        arguments.sort_by_key(|argument| std::cmp::Reverse(argument.wrong));
        arguments
    }

    /// Matched pairs whose arguments do not ask for the same, the most similar first, and how many there are in all.
    #[must_use]
    pub fn rejected_matches(&self) -> (Vec<RejectedMatch>, u64) {
        (self.pairs.iter().map(|Rank(pair)| pair.clone()).collect(), self.rejected)
    }
}
