//! Pairs of calls whose score is in doubt, and a judge's answers about them, such as those of a language model.
//!
//! ```text
//! score -> DoubtfulPairs -> somebody is asked -> Answers -> score again, with the answers laid over the comparisons
//! ```
//!
//! Answers are found by the content of the calls, so repetitions and a second scoring of a trajectory use the same
//! ones. They change comparisons that come from the cache, and never enter it. Calls are matched before, without them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use m3_embedding::InputKey;
use m3_support::pointer::segments;
use m3_trajectory::json::Json;

use super::comparison_cache::calls_key;
use super::{CallFidelity, CallPair, Verdict};

/// The least score of pairs that are judged to ask for the same. Never 1, which only equal arguments have.
pub const SAID_SAME: f64 = 0.95;

/// The highest score of pairs that are judged to be different.
pub const SAID_DIFFERENT: f64 = 0.05;

/// A judge's answers about pairs of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    /// Whether the two calls of each key ask for the same.
    are_same: HashMap<InputKey, bool>,
}

impl Answers {
    /// Whether there is no answer about any pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.are_same.is_empty()
    }

    /// Adds the answer whether two calls ask for the same. The pair's own schema does not matter.
    pub fn add(&mut self, pair: CallPair<'_>, is_same: bool) {
        self.are_same.insert(calls_key(pair), is_same);
    }

    /// Applies the answer about two calls to their comparison; leaves it as it is if there is no answer, or if the
    /// calls are equal. If they ask for the same, the pair and all its arguments get at least [`SAID_SAME`]; if not,
    /// the pair and its worst argument get at most [`SAID_DIFFERENT`].
    #[must_use]
    pub fn laid_over(&self, pair: CallPair<'_>, mut fidelity: CallFidelity) -> CallFidelity {
        if self.is_empty() {
            return fidelity;
        }
        // Most calls are equal, and need no key.
        let Some(worst) = fidelity.worst_index() else { return fidelity };
        let Some(&is_same) = self.are_same.get(&calls_key(pair)) else { return fidelity };
        for (index, argument) in fidelity.arguments.iter_mut().enumerate() {
            // An argument that the answer does not move keeps its reason. An answer of "different" moves only the worst
            // one.
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

/// The score of a pair after the answer whether its calls ask for the same: an answer never moves it the other way.
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

/// The verdict that goes with [`said_score`]. A missing or extra argument stays missing or extra.
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
    /// For each pair, the index of its content in `distinct`.
    pairs: Vec<usize>,
}

/// The content of a pair of calls whose score is in doubt.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubtfulPair {
    tool: String,
    arguments: [Option<Json>; 2],
    question: Option<String>,
    /// The name of the top-level argument with the lowest score; `None` where that is all arguments as a whole.
    pub argument: Option<String>,
}

impl DoubtfulPairs {
    /// Creates an empty collection; scores in this band are in doubt.
    #[must_use]
    pub fn new(band: RangeInclusive<f64>) -> Self {
        Self { band, distinct: Vec::new(), known: HashMap::new(), pairs: Vec::new() }
    }

    /// Adds a pair if its score is in doubt.
    pub(crate) fn add(&mut self, pair: CallPair<'_>, fidelity: &CallFidelity) {
        let Some(worst) = fidelity.worst().filter(|_| self.band.contains(&fidelity.score)) else { return };
        let next = self.distinct.len();
        let place = *self.known.entry(calls_key(pair)).or_insert(next);
        if place == next {
            let (tool, arguments) = (pair.tool.to_owned(), [pair.a.cloned(), pair.b.cloned()]);
            let question = pair.question.map(str::to_owned);
            let argument = segments(&worst.path).next().map(Cow::into_owned);
            self.distinct.push(DoubtfulPair { tool, arguments, question, argument });
        }
        self.pairs.push(place);
    }

    /// All pairs in the order in which they were scored, with repetitions.
    pub fn iter(&self) -> impl Iterator<Item = &DoubtfulPair> {
        self.pairs.iter().map(|&place| &self.distinct[place])
    }
}

impl DoubtfulPair {
    /// The pair of calls, without a schema.
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

    /// For each argument: its path, score, verdict, and whether its reason has changed.
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
        // An argument that only one call has stays missing. A score beyond the answer's stays as it is, whatever the
        // band.
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
        // The kept content has the same key as the pair that was scored.
        let mut answers = Answers::default();
        answers.add(doubtful.iter().next().unwrap().calls(), true);
        assert!(answers.laid_over(pair, of(0.5)).score > 0.9);
        assert_eq!(answers.laid_over(other, of(0.5)), of(0.5));
    }
}
