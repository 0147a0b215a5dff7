//! Findings over a whole set, from the fidelity of its matched pairs: the arguments that are wrong most often, and the
//! pairs that only the embedding accepts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use m3_trajectory::json::{Json, Keys};
use serde::Serialize;

use super::chunk::PreparedPair;
use super::fidelity::constants::{CLOSE, THRESHOLD};
use super::fidelity::place::{Place, cut};
use super::fidelity::{ArgumentComparison, CallFidelity, CallPair, Verdict};
use super::{CallPlace, ComparedPair, Match};

/// The most arguments that are counted; only a crafted set has more different ones.
const MOST_ARGUMENTS: usize = 10_000;

/// The most pairs that are kept by name; the others are only counted.
const MOST_PAIRS: usize = 1_000;

/// The wrong arguments and the rejected matches of a set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    tools: BTreeMap<String, u64>,
    /// By tool and argument; their [`pairs`](WrongArgument::pairs) are not counted yet.
    arguments: BTreeMap<(String, String), WrongArgument>,
    pairs: BTreeMap<Rank, RejectedMatch>,
    rejected: u64,
}

/// The values of an argument as JSON text, cut after 200 characters; `None` where a call has none. Untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Values {
    /// The reference's value there as JSON text, cut after 200 characters; null if it has none.
    #[serde(rename = "reference_value")]
    pub reference: Option<String>,
    /// The prediction's value there as JSON text, cut after 200 characters; null if it has none.
    #[serde(rename = "predicted_value")]
    pub predicted: Option<String>,
}

/// The most characters of a value.
const VALUE: usize = 200;

impl Values {
    fn new(argument: &ArgumentComparison, pair: CallPair<'_>) -> Self {
        let text = |arguments: Option<&Json>, path: &str, absent: Verdict| {
            let value = Place::of(arguments, path).value.filter(|_| argument.verdict != absent)?;
            Some(cut(&value.to_text(Keys::Sorted), VALUE).into_owned())
        };
        let other = argument.other_path.as_deref().unwrap_or(&argument.path);
        Self {
            reference: text(pair.a, &argument.path, Verdict::Extra),
            predicted: text(pair.b, other, Verdict::Missing),
        }
    }
}

/// An argument that is wrong in matched pairs of calls of its tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrongArgument {
    /// The tool.
    pub tool: String,
    /// The argument, such as `location.lat` or `stops[].name`; empty for the arguments as a whole.
    pub argument: String,
    /// Matched pairs in which it is different, missing or extra.
    pub wrong: u64,
    /// Matched pairs of calls of the tool.
    pub pairs: u64,
    /// The first trajectory in which the argument is wrong.
    pub id: String,
    /// What is wrong there. Hostile where it quotes a value.
    pub reason: String,
    /// Its values there.
    #[serde(flatten)]
    pub values: Values,
}

/// A pair of calls that was matched, although its arguments do not ask for the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RejectedMatch {
    /// The trajectory.
    pub id: String,
    /// Which repetition of its task, from 1; left out where tasks are not repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<usize>,
    /// The tool of both calls.
    pub tool: String,
    /// The reference call.
    pub reference: CallPlace,
    /// The predicted call.
    pub predicted: CallPlace,
    /// S, by which they were matched.
    pub similarity: f64,
    /// The fidelity, below 0.5.
    #[serde(rename = "argument_fidelity")]
    pub fidelity: f64,
    /// The argument with the lowest score, such as `location.lat`; empty for the arguments as a whole.
    pub argument: String,
    /// What is wrong with it. Hostile where it quotes a value.
    pub reason: String,
    /// Its values.
    #[serde(flatten)]
    pub values: Values,
}

/// The place of a rejected match among all. The most misleading one comes first: the most similar.
type Rank = (Reverse<u64>, String, Option<usize>, usize);

impl RejectedMatch {
    fn rank(&self) -> Rank {
        // Similarities are not negative, so their bits sort in the same order.
        let bits = self.similarity.max(0.0).to_bits();
        (Reverse(bits), self.id.clone(), self.repeat, self.reference.index)
    }
}

impl Findings {
    /// Adds the matches of a trajectory and, in the same order, the pairs whose arguments were compared.
    pub(crate) fn add(&mut self, prepared: &PreparedPair, matches: &[Match], compared: &[ComparedPair]) {
        for (pair, ComparedPair { predicted, fidelity, .. }) in matches.iter().zip(compared) {
            match self.tools.get_mut(&pair.tool) {
                Some(pairs) => *pairs += 1,
                None => drop(self.tools.insert(pair.tool.clone(), 1)),
            }
            let calls = prepared.pair(&pair.tool, pair.reference.index, predicted.index);
            self.count(&prepared.id, pair, fidelity, calls);
            if fidelity.score < THRESHOLD {
                self.reject(&prepared.id, (pair, *predicted), fidelity, calls);
            }
        }
    }

    fn count(&mut self, id: &str, pair: &Match, fidelity: &CallFidelity, calls: CallPair<'_>) {
        let wrong = fidelity.arguments.iter().filter(|argument| argument.score < CLOSE);
        let named: BTreeMap<String, &ArgumentComparison> =
            wrong.rev().map(|argument| (argument.name(), argument)).collect();
        for (name, argument) in named {
            let key = (pair.tool.clone(), name);
            if let Some(known) = self.arguments.get_mut(&key) {
                known.wrong += 1;
            } else if self.arguments.len() < MOST_ARGUMENTS {
                let (id, reason) = (id.to_owned(), argument.reason.to_string());
                let values = Values::new(argument, calls);
                let (tool, argument) = key.clone();
                let wrong = WrongArgument { tool, argument, wrong: 1, pairs: 0, id, reason, values };
                self.arguments.insert(key, wrong);
            }
        }
    }

    fn reject(
        &mut self,
        id: &str,
        (pair, predicted): (&Match, CallPlace),
        fidelity: &CallFidelity,
        calls: CallPair<'_>,
    ) {
        self.rejected += 1;
        let worst = fidelity.worst();
        let rejected = RejectedMatch {
            id: id.to_owned(),
            repeat: None,
            tool: pair.tool.clone(),
            reference: pair.reference,
            predicted,
            similarity: pair.similarity,
            fidelity: fidelity.score,
            argument: worst.map(ArgumentComparison::name).unwrap_or_default(),
            reason: worst.map(|worst| worst.reason.to_string()).unwrap_or_default(),
            values: worst.map(|worst| Values::new(worst, calls)).unwrap_or_default(),
        };
        self.pairs.entry(rejected.rank()).or_insert(rejected);
        if self.pairs.len() > MOST_PAIRS {
            self.pairs.pop_last();
        }
    }

    /// Adds the findings of a further repetition. Rejected matches that are not numbered yet are given repetition 1.
    pub(crate) fn add_repetition(&mut self, other: Findings, repeat: usize) {
        let Findings { tools, arguments, pairs, rejected } = other;
        for (tool, pairs) in tools {
            *self.tools.entry(tool).or_default() += pairs;
        }
        for (key, argument) in arguments {
            if let Some(known) = self.arguments.get_mut(&key) {
                known.wrong += argument.wrong;
            } else if self.arguments.len() < MOST_ARGUMENTS {
                self.arguments.insert(key, argument);
            }
        }
        self.rejected += rejected;
        let mine = std::mem::take(&mut self.pairs).into_values().map(|pair| (pair, 1));
        for (pair, number) in mine.chain(pairs.into_values().map(|pair| (pair, repeat))) {
            let pair = RejectedMatch { repeat: pair.repeat.or(Some(number)), ..pair };
            self.pairs.entry(pair.rank()).or_insert(pair);
        }
        self.pairs = std::mem::take(&mut self.pairs).into_iter().take(MOST_PAIRS).collect();
    }

    /// The arguments that are wrong, those that are wrong most often first.
    #[must_use]
    pub fn wrong_arguments(&self) -> Vec<WrongArgument> {
        let pairs = |tool: &str| self.tools.get(tool).copied().unwrap_or_default();
        let counted =
            |argument: &WrongArgument| WrongArgument { pairs: pairs(&argument.tool), ..argument.clone() };
        let mut arguments: Vec<WrongArgument> = self.arguments.values().map(counted).collect();
        // The sort is stable: arguments that are wrong equally often stay in the order of tool and argument.
        arguments.sort_by_key(|argument| Reverse(argument.wrong));
        arguments
    }

    /// Matched pairs whose arguments do not ask for the same, the most similar first, and how many there are in all.
    #[must_use]
    pub fn rejected_matches(&self) -> (Vec<RejectedMatch>, u64) {
        (self.pairs.values().cloned().collect(), self.rejected)
    }
}
