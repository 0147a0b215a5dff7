//! Which pairs are put to a language model, and what its replies change.
//!
//! ```text
//! scores -> pairs in the band -> a model, in both orders -> sure where both agree, else as before
//! ```

use std::borrow::Cow;

use m3_judge::same::{CallsToCompare, PairAnswer, PairReplies};
use m3_report::Band;
use m3_score::fidelity::{Verdict, is_moved, said_reason, said_score, said_verdict};
use m3_support::pointer::segments;
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::Json;

use super::pairs::TestPair;
use super::report::AskedPair;
use super::report::{PairReport, Trial};

/// A pair of a trial that is to be put to a model.
pub(crate) struct DoubtfulPair<'p> {
    /// The index of the pair in the trial.
    index: usize,
    pair: &'p TestPair,
    /// The name of the argument that differs most, at the top of the arguments.
    argument: Option<String>,
    /// The schema of the tool's arguments.
    schema: Option<&'p Json>,
}

impl<'p> DoubtfulPair<'p> {
    /// The pairs of a trial whose scores are in the band. Schemas are the pairs' own, or those of the catalog.
    pub(crate) fn of(
        trial: &Trial,
        pairs: &'p [TestPair],
        catalog: Option<&'p Catalog>,
        band: Band,
    ) -> Vec<Self> {
        let scored = trial.pairs.iter().zip(pairs).enumerate();
        // Equal calls are sure, whatever the band.
        let doubtful =
            scored.filter(|(_, (report, _))| report.score < 1.0 && band.scores().contains(&report.score));
        let of = |(index, (report, pair)): (usize, (&PairReport, &'p TestPair))| {
            let argument =
                report.argument.as_deref().and_then(|path| segments(path).next().map(Cow::into_owned));
            let schema = pair.schema.as_ref().or_else(|| catalog?.input_schema(&pair.tool));
            Self { index, pair, argument, schema }
        };
        doubtful.map(of).collect()
    }

    /// The calls in the form in which the model is asked.
    pub(crate) fn calls(&self) -> CallsToCompare<'_> {
        let TestPair { tool, a, b, question, .. } = self.pair;
        let (question, argument) = (question.as_deref(), self.argument.as_deref());
        CallsToCompare { tool, arguments: [a, b], question, argument, schema: self.schema }
    }
}

impl Trial {
    /// Sets the scores of the pairs whose replies agree to those of the answer.
    pub(crate) fn settle(&mut self, doubtful: &[DoubtfulPair<'_>], replies: Vec<PairReplies>) {
        for (doubtful, PairReplies { answer, opinions }) in doubtful.iter().zip(replies) {
            let Some(report) = self.pairs.get_mut(doubtful.index) else { continue };
            let before = report.score;
            let is_same = match answer {
                PairAnswer::Same => Some(true),
                PairAnswer::Different => Some(false),
                _ => None,
            };
            if let Some(is_same) = is_same.filter(|is_same| is_moved(before, *is_same)) {
                report.score = said_score(before, is_same);
                report.reason = Some(said_reason(is_same).into());
                let is_one_sided = [Verdict::Missing, Verdict::Extra]
                    .iter()
                    .any(|it| report.verdict.as_deref() == Some(it.name()));
                if !is_one_sided {
                    report.verdict = Some(said_verdict(Verdict::Different, is_same).name().to_owned());
                }
            }
            report.asked = Some(AskedPair { before, answer, opinions });
        }
    }
}

#[cfg(test)]
mod tests {
    use m3_score::fidelity::{SAID_DIFFERENT, SAID_SAME};
    use m3_trajectory::json::parse;

    use super::*;

    fn json(text: &str) -> Json {
        parse(text.as_bytes()).unwrap().0
    }

    fn trial(scores: &[f64]) -> Trial {
        let report = |(index, score): (usize, &f64)| PairReport {
            index,
            tool: "s/t".to_owned(),
            edit: String::new(),
            same: true,
            score: *score,
            argument: Some("/place/lat".to_owned()),
            kind: None,
            verdict: None,
            reason: None,
            asked: None,
        };
        Trial { similarity: "typed", pairs: scores.iter().enumerate().map(report).collect() }
    }

    #[test]
    fn pairs_in_the_band_are_asked_and_only_agreement_changes_scores() {
        let pair = TestPair {
            tool: "s/t".to_owned(),
            a: json("{}"),
            b: json("{}"),
            is_same: true,
            edit: String::new(),
            question: None,
            schema: Some(json(r#"{"properties": {"place": {"type": "object"}}}"#)),
            is_doubtful: false,
        };
        let scores = [0.2, 0.25, 0.5, 0.75, 0.6, 0.4, 0.8];
        let (mut trial, pairs) = (trial(&scores), vec![pair; scores.len()]);
        let doubtful = DoubtfulPair::of(&trial, &pairs, None, Band::default());
        assert_eq!(doubtful.iter().map(|pair| pair.index).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        let calls = doubtful[0].calls();
        assert_eq!((calls.argument, calls.schema), (Some("place"), pairs[1].schema.as_ref()));
        let answers = [
            PairAnswer::Same,
            PairAnswer::Different,
            PairAnswer::Disagreement,
            PairAnswer::NoReply,
            PairAnswer::TooLong,
        ];
        let replies = answers.map(|answer| PairReplies { answer, opinions: [None, None] }).into();
        trial.settle(&doubtful, replies);
        let found: Vec<f64> = trial.pairs.iter().map(|pair| pair.score).collect();
        assert_eq!(found, [0.2, SAID_SAME, SAID_DIFFERENT, 0.75, 0.6, 0.4, 0.8]);
        assert!(trial.pairs[0].asked.is_none());
        assert_eq!(trial.pairs[2].asked.as_ref().map(|asked| asked.before), Some(0.5));
    }
}
