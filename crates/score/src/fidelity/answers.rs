//! Pairs of calls whose score is in doubt, and what somebody who was asked says of them, such as a language model.
//!
//! ```text
//! score -> DoubtfulPairs -> somebody is asked -> Answers -> score again, with the answers laid over the comparisons
//! ```
//!
//! Answers are found by what the calls hold, so repetitions and a second look at a trajectory use the same ones. They are
//! laid over what the cache gives and never enter it. Which calls are matched is decided before.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use m3_embedding::InputKey;
use m3_support::pointer::segments;
use m3_trajectory::json::Json;

use super::comparison_cache::calls_key;
use super::{CallFidelity, CallPair, Verdict};

/// The score of pairs that are said to ask for the same. Never 1, which only equal arguments have.
pub const SAID_SAME: f64 = 0.95;

/// The score of pairs that are said to be different.
pub const SAID_DIFFERENT: f64 = 0.05;

/// What is said of pairs of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    /// Whether the calls with this key ask for the same.
    are_same: HashMap<InputKey, bool>,
}

impl Answers {
    /// Whether nothing is said of any pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.are_same.is_empty()
    }

    /// Takes in whether two calls ask for the same. The pair's own schema does not matter.
    pub fn add(&mut self, pair: CallPair<'_>, is_same: bool) {
        self.are_same.insert(calls_key(pair), is_same);
    }

    /// The comparison of two calls with what is said of them, or unchanged if nothing is or if they are equal. The pair has
    /// [`SAID_SAME`] at least or [`SAID_DIFFERENT`] at most, and so have its worst argument and those below.
    #[must_use]
    pub fn laid_over(&self, pair: CallPair<'_>, mut fidelity: CallFidelity) -> CallFidelity {
        if self.is_empty() {
            return fidelity;
        }
        // Most calls are equal, and need no key.
        let Some(worst) = fidelity.worst_index() else { return fidelity };
        let Some(&is_same) = self.are_same.get(&calls_key(pair)) else { return fidelity };
        for (index, argument) in fidelity.arguments.iter_mut().enumerate() {
            // What is no worse than that, and what is surely different already, keeps its own reason.
            if !is_moved(argument.score, is_same) || !is_same && index != worst {
                continue;
            }
            argument.score = said_score(argument.score, is_same);
            argument.reason = Cow::Borrowed(said_reason(is_same));
            argument.verdict = said_verdict(argument.verdict, is_same);
        }
        fidelity.score = said_score(fidelity.score, is_same);
        fidelity
    }
}

/// The score of a pair after somebody has said whether its calls ask for the same: an answer never moves it the other way.
#[must_use]
pub fn said_score(before: f64, is_same: bool) -> f64 {
    if is_same { before.max(SAID_SAME) } else { before.min(SAID_DIFFERENT) }
}

/// Whether an answer changes a score.
#[must_use]
pub fn is_moved(before: f64, is_same: bool) -> bool {
    if is_same { before < SAID_SAME } else { before > SAID_DIFFERENT }
}

/// The reason that goes with [`said_score`].
#[must_use]
pub fn said_reason(is_same: bool) -> &'static str {
    if is_same {
        "a language model takes the calls for the same"
    } else {
        "a language model takes the calls for different ones"
    }
}

/// The verdict that goes with [`said_score`]. What is missing or extra stays so.
#[must_use]
pub fn said_verdict(before: Verdict, is_same: bool) -> Verdict {
    match (before, is_same) {
        (Verdict::Missing | Verdict::Extra, _) => before,
        (_, true) => Verdict::Equivalent,
        (_, false) => Verdict::Different,
    }
}

/// Matched pairs whose scores are in doubt. Equal calls never are. The content of equal pairs is kept once.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubtfulPairs {
    band: RangeInclusive<f64>,
    distinct: Vec<DoubtfulPair>,
    known: HashMap<InputKey, usize>,
    /// Of each pair, the place of its content.
    pairs: Vec<usize>,
}

/// The content of a pair of calls whose score is in doubt.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubtfulPair {
    tool: String,
    arguments: [Option<Json>; 2],
    question: Option<String>,
    /// The name of the argument that does most harm, at the top of the arguments; `None` where it is all of them.
    pub argument: Option<String>,
}

impl DoubtfulPairs {
    /// None yet; scores in this band are in doubt.
    #[must_use]
    pub fn new(band: RangeInclusive<f64>) -> Self {
        Self { band, distinct: Vec::new(), known: HashMap::new(), pairs: Vec::new() }
    }

    /// Takes in a pair if it is in doubt.
    pub(crate) fn add(&mut self, pair: CallPair<'_>, fidelity: &CallFidelity) {
        let Some(worst) = fidelity.worst().filter(|_| self.band.contains(&fidelity.score)) else { return };
        let next = self.distinct.len();
        let place = *self.known.entry(calls_key(pair)).or_insert(next);
        if place == next {
            self.distinct.push(DoubtfulPair {
                tool: pair.tool.to_owned(),
                arguments: [pair.a.cloned(), pair.b.cloned()],
                question: pair.question.map(str::to_owned),
                argument: segments(&worst.path).next().map(Cow::into_owned),
            });
        }
        self.pairs.push(place);
    }

    /// All pairs in the order in which they were scored, equal ones as often as there are.
    pub fn iter(&self) -> impl Iterator<Item = &DoubtfulPair> {
        self.pairs.iter().map(|&place| &self.distinct[place])
    }
}

impl DoubtfulPair {
    /// The calls.
    #[must_use]
    pub fn calls(&self) -> CallPair<'_> {
        let Self { tool, arguments: [a, b], question, .. } = self;
        CallPair { tool, a: a.as_ref(), b: b.as_ref(), question: question.as_deref(), schema: None }
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::super::{ArgumentComparison, Kind};
    use super::*;

    fn argument(path: &str, score: f64, verdict: Verdict) -> ArgumentComparison {
        let reason = Cow::Borrowed("as before");
        ArgumentComparison {
            path: path.to_owned(),
            other_path: None,
            kind: Kind::Text,
            score,
            verdict,
            reason,
        }
    }

    fn fidelity(arguments: &[(&str, f64, Verdict)]) -> CallFidelity {
        let arguments: Vec<_> =
            arguments.iter().map(|(path, score, verdict)| argument(path, *score, *verdict)).collect();
        let score = arguments.iter().map(|argument| argument.score).fold(1.0, f64::min);
        CallFidelity { score, arguments, ..CallFidelity::default() }
    }

    fn json(text: &str) -> Json {
        parse(text.as_bytes()).unwrap().0
    }

    /// Path, score, verdict and whether the reason is another one, of each argument.
    fn shown(fidelity: &CallFidelity) -> Vec<(&str, f64, Verdict, bool)> {
        let shown = |argument: &ArgumentComparison| argument.reason != "as before";
        fidelity
            .arguments
            .iter()
            .map(|found| (&*found.path, found.score, found.verdict, shown(found)))
            .collect()
    }

    #[test]
    fn an_answer_moves_what_is_in_doubt_and_leaves_what_is_sure() {
        let (a, b) = (json(r#"{"q": "eel"}"#), json(r#"{"q": "eels"}"#));
        let pair = CallPair { tool: "s/t", a: Some(&a), b: Some(&b), question: Some("which?"), schema: None };
        let before = fidelity(&[
            ("/id", 1.0, Verdict::Equal),
            ("/near", 0.97, Verdict::Equivalent),
            ("/q", 0.4, Verdict::Different),
            ("/page", 0.6, Verdict::Extra),
        ]);
        let after = |is_same: bool, before: &CallFidelity| {
            let mut answers = Answers::default();
            answers.add(pair, is_same);
            answers.laid_over(pair, before.clone())
        };
        let same = after(true, &before);
        assert_eq!(same.score.to_bits(), 0.95_f64.to_bits());
        assert_eq!(
            shown(&same),
            [
                ("/id", 1.0, Verdict::Equal, false),
                ("/near", 0.97, Verdict::Equivalent, false),
                ("/q", 0.95, Verdict::Equivalent, true),
                ("/page", 0.95, Verdict::Extra, true),
            ]
        );
        assert_eq!(same.arguments[2].reason, "a language model takes the calls for the same");
        let different = after(false, &before);
        assert_eq!(different.score.to_bits(), 0.05_f64.to_bits());
        assert_eq!(
            shown(&different)[2..],
            [("/q", 0.05, Verdict::Different, true), ("/page", 0.6, Verdict::Extra, false),]
        );
        assert_eq!(different.arguments[2].reason, "a language model takes the calls for different ones");
        // An argument that only one call has stays missing. What is surer than an answer stays as it is, whatever the band.
        let lacks = fidelity(&[("/a", 0.3, Verdict::Missing), ("/b", 0.4, Verdict::Close)]);
        assert_eq!(
            shown(&after(false, &lacks)),
            [("/a", 0.05, Verdict::Missing, true), ("/b", 0.4, Verdict::Close, false)]
        );
        let wrong = fidelity(&[("/a", 0.02, Verdict::Missing), ("/b", 0.03, Verdict::Close)]);
        assert_eq!(after(false, &wrong), wrong);
        let good = fidelity(&[("/a", 0.99, Verdict::Equivalent), ("/b", 0.98, Verdict::Close)]);
        assert_eq!(after(true, &good), good);
        // Nobody can say that equal calls differ.
        let equal = fidelity(&[("/a", 1.0, Verdict::Equal)]);
        assert_eq!(after(false, &equal), equal);
    }

    #[test]
    fn answers_are_found_by_tool_question_and_both_arguments_in_their_order() {
        let (a, b) = (json(r#"{"q": "eel"}"#), json(r#"{"q": "eels"}"#));
        let pair = CallPair { tool: "s/t", a: Some(&a), b: Some(&b), question: Some("which?"), schema: None };
        let before = fidelity(&[("/q", 0.5, Verdict::Close)]);
        let mut answers = Answers::default();
        answers.add(pair, true);
        let copy = (a.clone(), b.clone());
        let again = CallPair { a: Some(&copy.0), b: Some(&copy.1), schema: Some(&copy.0), ..pair };
        assert!(answers.laid_over(again, before.clone()).score > 0.9);
        for other in [
            CallPair { tool: "s/u", ..pair },
            CallPair { question: None, ..pair },
            CallPair { a: Some(&b), b: Some(&a), ..pair },
            CallPair { b: None, ..pair },
        ] {
            assert_eq!(answers.laid_over(other, before.clone()), before, "{other:?}");
        }
        assert_eq!(Answers::default().laid_over(pair, before.clone()), before);
    }

    #[test]
    fn pairs_in_the_band_are_kept_once_and_counted_each() {
        let (a, b) = (json(r#"{"a/b": {"c": "eel"}}"#), json("{}"));
        let pair = CallPair { tool: "s/t", a: Some(&a), b: None, question: None, schema: None };
        let other = CallPair { b: Some(&b), question: Some("which?"), ..pair };
        let mut doubtful = DoubtfulPairs::new(0.25..=0.75);
        let of = |score| fidelity(&[("/a~1b/c", score, Verdict::Close)]);
        for score in [0.25, 0.249, 0.751, 0.75] {
            doubtful.add(pair, &of(score));
        }
        doubtful.add(other, &of(0.5));
        let mut whole = DoubtfulPairs::new(0.0..=1.0);
        whole.add(pair, &fidelity(&[("/a", 1.0, Verdict::Equal)]));
        assert_eq!(whole.iter().count(), 0, "equal calls are never in doubt");
        let arguments: Vec<_> =
            doubtful.iter().map(|found| (found.calls().question, &found.argument)).collect();
        let name = Some("a/b".to_owned());
        assert_eq!(arguments, [(None, &name), (None, &name), (Some("which?"), &name)]);
        assert_eq!(doubtful.distinct.len(), 2);
        // What was kept has the key of what was scored.
        let mut answers = Answers::default();
        answers.add(doubtful.iter().next().unwrap().calls(), true);
        assert!(answers.laid_over(pair, of(0.5)).score > 0.9);
        assert_eq!(answers.laid_over(other, of(0.5)), of(0.5));
    }
}
