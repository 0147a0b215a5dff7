//! Asks a language model about pairs of calls whose score is uncertain; shared by all commands that do so.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use m3_judge::same::{AskedPairs, CallsToCompare, PairAnswer, PairReplies, SameAsker};
use m3_llm::{Model, Recorder, Retry, Settings};
use m3_report::{AskedReport, Band};
use m3_score::fidelity::{Answers, CallPair, DoubtfulPair, DoubtfulPairs};
use m3_support::text::{counted, hexadecimal};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::{Json, Keys};
use sha2::{Digest as _, Sha256};

use crate::cli::common::failure::{Failure, Result, code};
use crate::cli::common::hosting::{Signals, interrupted, runtime};
use crate::cli::common::llm::{ReplyArgs, check_record, open_model, played, record, said_of_retry};
use crate::cli::common::output::refuse_equal;
use crate::cli::common::printer::Printer;

/// The most questions at once; the model's own limit may be lower.
const AT_ONCE: usize = 8;

/// The most problems that are reported one by one.
const TOLD: usize = 3;

/// The most pairs that are asked about unless more are allowed.
const AT_MOST: usize = 2000;

/// The number of digits in the fingerprint of the questions and answers.
const DIGITS: usize = 16;

/// Options for asking a language model about uncertain pairs.
#[derive(Debug, Args)]
pub(crate) struct AskSameArgs {
    /// Put pairs whose score is uncertain to a language model, such as openai:gpt-5 or replay:FILE, in both orders;
    /// where both answers agree the pair is sure (docs/asking.md, docs/models.md)
    #[arg(long, value_name = "MODEL")]
    llm: Option<String>,
    /// The scores that are uncertain [default: 0.25..0.75]
    #[arg(long, value_name = "LOW..HIGH", requires = "llm", value_parser = parse_band)]
    llm_band: Option<Band>,
    /// Ask about no more pairs than this: if more are uncertain, nothing is sent
    #[arg(long, value_name = "N", requires = "llm", default_value_t = AT_MOST)]
    llm_at_most: usize,
    /// Variable that holds the model's key [default: the provider's own, such as `OPENAI_API_KEY`]
    #[arg(long, value_name = "VARIABLE", requires = "llm")]
    llm_key_from: Option<String>,
    /// Keep the questions to the model and its replies in a cassette; --llm replay:FILE plays it
    #[arg(long, value_name = "FILE", requires = "llm")]
    record: Option<PathBuf>,
    #[command(flatten)]
    replies: ReplyArgs,
}

fn parse_band(text: &str) -> Result<Band, String> {
    let (low, high) = text.split_once("..").ok_or("it should be LOW..HIGH, such as 0.25..0.75")?;
    let score = |text: &str| text.parse::<f64>().ok().filter(|score| (0.0..=1.0).contains(score));
    match (score(low), score(high)) {
        (Some(low), Some(high)) if low <= high => Ok(Band { low, high }),
        (Some(_), Some(_)) => Err("the first score should not be above the second".to_owned()),
        _ => Err("both scores should be numbers from 0 to 1".to_owned()),
    }
}

/// A language model to ask about uncertain pairs, and how to ask it.
pub(crate) struct AskingSame {
    model: Model,
    recorder: Option<Arc<Recorder>>,
    settings: Settings,
    /// The scores that are uncertain.
    pub(crate) band: Band,
    /// The most pairs that are asked about.
    at_most: usize,
    /// The cassette that is recorded into.
    record: Option<PathBuf>,
    is_replay: bool,
}

/// The result of asking a language model about pairs.
pub(crate) struct AskedSame {
    /// The counts of the answers, for the report.
    pub(crate) report: AskedReport,
    /// The reasons why requests got no reply, or one that cannot be read.
    problems: Vec<String>,
    /// The number of requests that were answered.
    answered: usize,
    is_replay: bool,
}

impl AskSameArgs {
    /// Whether a model is to be asked.
    pub(crate) fn is_wanted(&self) -> bool {
        self.llm.is_some()
    }

    /// Refuses options that do nothing where no model is asked.
    pub(crate) fn check(&self) -> Result {
        if self.is_wanted() || self.replies.settings() == Settings::default() {
            return Ok(());
        }
        Err(Failure::input(
            "`--temperature` and `--max-output-tokens` are for a model that is asked, and none is\n\
                       hint: `--llm MODEL` names one",
        ))
    }

    /// Opens the model, if one is to be asked. Nothing is sent yet; `inputs` are files that are read.
    pub(crate) fn open(&self, inputs: &[&Path], printer: Printer) -> Result<Option<AskingSame>> {
        let Some(llm) = &self.llm else { return Ok(None) };
        let written: Vec<&Path> = self.record.iter().map(PathBuf::as_path).collect();
        refuse_equal(inputs, &written)?;
        let (model, cassette) = open_model(llm, self.llm_key_from.as_deref(), (AT_ONCE, None), printer)?;
        check_record(self.record.as_ref(), cassette.as_deref())?;
        let (model, recorder) = record(model, self.record.as_ref())?;
        let (settings, band) = (self.replies.settings(), self.llm_band.unwrap_or_default());
        let (at_most, record, is_replay) = (self.llm_at_most, self.record.clone(), played(llm).is_some());
        Ok(Some(AskingSame { model, recorder, settings, band, at_most, record, is_replay }))
    }

    /// The cassettes that are recorded into or played, which no report may replace.
    pub(crate) fn cassettes(&self) -> impl Iterator<Item = &Path> {
        self.record.as_deref().into_iter().chain(self.llm.as_deref().and_then(played))
    }
}

impl AskingSame {
    /// Asks about pairs, and prints the counts of the answers. The replies are in the order of the pairs.
    pub(crate) fn ask(
        &self,
        calls: &[CallsToCompare<'_>],
        printer: Printer,
    ) -> Result<(Vec<PairReplies>, AskedSame)> {
        if calls.len() > self.at_most {
            return Err(Failure::input(format!(
                "{} are uncertain, and `--llm-at-most` is {}; nothing was sent\nhint: allow more, or make `--llm-band` narrower: each pair is two requests",
                counted(calls.len(), "pair"),
                self.at_most
            )));
        }
        if !self.is_replay {
            let model = self.model.name();
            printer.note(&format!("{model} is asked about {}, in both orders", counted(calls.len(), "pair")));
        }
        let asked = self.ask_all(calls, printer)?;
        if let Some(error) = self.recorder.as_deref().and_then(Recorder::failure) {
            return Err(error.into());
        }
        if asked.is_interrupted {
            let kept = self.record.as_ref().map(|path| path.display());
            printer.note(&match kept {
                Some(path) => format!(
                    "interrupted; there is no report, but {} stand in `{path}`, which `--llm replay:` plays",
                    counted(asked.answered, "reply")
                ),
                None => format!(
                    "interrupted; there is no report, and {} are lost; `--record FILE` keeps them",
                    counted(asked.answered, "reply")
                ),
            });
            return Err(interrupted());
        }
        let AskedPairs { replies, answered, usage, problems, .. } = asked;
        let report = report(calls, &replies, (self.model.name().to_string(), &self.settings), self.band);
        let tokens = match usage.total() {
            0 => String::new(),
            tokens => format!(", {tokens} tokens{}", usage.partial_mark()),
        };
        printer.note(&format!(
            "{report} ({}{tokens})",
            if answered == 1 { "1 reply".to_owned() } else { format!("{answered} replies") },
        ));
        if report.too_long > 0 {
            printer.warn(&format!("{} too long to be shown to a model", counted(report.too_long, "pair")));
        }
        Ok((replies, AskedSame { report, problems, answered, is_replay: self.is_replay }))
    }

    /// Asks about uncertain pairs of a score. Two replies that agree become an answer.
    pub(crate) fn answers(
        &self,
        doubtful: &DoubtfulPairs,
        catalog: Option<&Catalog>,
        printer: Printer,
    ) -> Result<(Answers, AskedSame)> {
        let none = Json::Object(Vec::new());
        let calls: Vec<_> = doubtful.iter().map(|pair| calls_to_compare(pair, catalog, &none)).collect();
        let (replies, asked) = self.ask(&calls, printer)?;
        let mut answers = Answers::default();
        for (pair, replies) in doubtful.iter().zip(replies) {
            match replies.answer {
                PairAnswer::Same => answers.add(pair.calls(), true),
                PairAnswer::Different => answers.add(pair.calls(), false),
                _ => {}
            }
        }
        Ok((answers, asked))
    }

    fn ask_all(&self, calls: &[CallsToCompare<'_>], printer: Printer) -> Result<AskedPairs> {
        let runtime = runtime()?;
        let signals = Signals::listen(&runtime);
        let bar = printer.bar();
        let done = |done: usize, total: usize| bar.set("asking", done as u64, total as u64);
        // Requests that fail at once fail for the same reason, which is reported once.
        let reasons = Mutex::new(HashSet::new());
        let on_retry = |retry: Retry| {
            if reasons.lock().is_ok_and(|mut reasons| reasons.insert(retry.reason.clone())) {
                bar.aside(|| printer.note(&said_of_retry("the model", &retry)));
            }
        };
        let (model, settings, stop) = (&self.model, &self.settings, &signals.first);
        let asker = SameAsker { model, settings, workers: AT_ONCE, stop, told: &on_retry, done: &done };
        let ended = runtime.block_on(signals.until_second(async { Ok(asker.ask(calls).await) }));
        // The command does not wait for requests that a provider has not answered yet.
        runtime.shutdown_timeout(Duration::from_secs(1));
        let is_interrupted = signals.release();
        let ended = ended?;
        Ok(AskedPairs { is_interrupted: ended.is_interrupted || is_interrupted, ..ended })
    }
}

/// The question about a pair; `none` stands for the arguments of a call without any.
fn calls_to_compare<'p>(
    pair: &'p DoubtfulPair,
    catalog: Option<&'p Catalog>,
    none: &'p Json,
) -> CallsToCompare<'p> {
    let CallPair { tool, a, b, question, .. } = pair.calls();
    let schema = catalog.and_then(|catalog| catalog.input_schema(tool));
    let arguments = [a, b].map(|arguments| arguments.unwrap_or(none));
    CallsToCompare { tool, arguments, question, argument: pair.argument.as_deref(), schema }
}

/// Counts the answers about pairs, for the report.
fn report(
    calls: &[CallsToCompare<'_>],
    replies: &[PairReplies],
    (model, settings): (String, &Settings),
    band: Band,
) -> AskedReport {
    let count = |answer: PairAnswer| replies.iter().filter(|replies| replies.answer == answer).count();
    let [disagreement, unreadable, no_reply] =
        [PairAnswer::Disagreement, PairAnswer::Unreadable, PairAnswer::NoReply].map(count);
    let (same, different) = (count(PairAnswer::Same), count(PairAnswer::Different));
    let uncertain = disagreement + unreadable + no_reply;
    let settings = (settings.temperature, settings.max_output_tokens);
    let mut digest =
        Sha256::new().chain_update(format!("{model}\0{settings:?}\0{}\0{}", band.low, band.high));
    for (calls, replies) in calls.iter().zip(replies) {
        let [a, b] = calls.arguments.map(|arguments| arguments.to_text(Keys::Sorted));
        let answer = replies.answer.name();
        digest.update(format!("\0{}\0{a}\0{b}\0{:?}\0{answer}", calls.tool, calls.question));
    }
    let mut fingerprint = hexadecimal(&digest.finalize());
    fingerprint.truncate(DIGITS);
    AskedReport {
        model,
        band,
        fingerprint,
        asked: same + different + uncertain,
        same,
        different,
        uncertain,
        disagreement,
        unreadable,
        no_reply,
        too_long: count(PairAnswer::TooLong),
    }
}

impl AskedSame {
    /// Reports the problems, after the report is written. Fails if requests got no reply.
    pub(crate) fn end(&self, printer: Printer) -> Result {
        for problem in self.problems.iter().take(TOLD) {
            printer.warn(problem);
        }
        if self.problems.len() > TOLD {
            printer.warn(&format!("and {}", counted(self.problems.len() - TOLD, "more problem")));
        }
        if self.report.no_reply == 0 {
            return Ok(());
        }
        let message = format!(
            "{} of {} got no reply and kept their score; the report is whole otherwise\nhint: {}",
            self.report.no_reply,
            counted(self.report.asked, "pair"),
            if self.is_replay {
                "the recording does not have them; `--llm MODEL --record FILE` makes another"
            } else {
                "the same command asks again"
            },
        );
        // The message is printed here, because the command may fail for another reason too.
        Printer::error(&message);
        Err(Failure::silent(if self.answered == 0 { code::UNAVAILABLE } else { code::FAILED }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_pairs_is_counted_and_told_apart() {
        let replies = |answers: &[PairAnswer]| -> Vec<PairReplies> {
            answers.iter().map(|&answer| PairReplies { answer, opinions: [None, None] }).collect()
        };
        let all = [
            PairAnswer::Same,
            PairAnswer::Different,
            PairAnswer::Disagreement,
            PairAnswer::NoReply,
            PairAnswer::TooLong,
        ];
        let none = Json::Object(Vec::new());
        let calls = CallsToCompare {
            tool: "s/t",
            arguments: [&none, &none],
            question: None,
            argument: None,
            schema: None,
        };
        let of = |answers: &[PairAnswer], model: &str, band| {
            let calls = vec![calls; answers.len()];
            report(&calls, &replies(answers), (model.to_owned(), &Settings::default()), band)
        };
        let found = of(&all, "m", Band::default());
        assert_eq!((found.asked, found.same, found.different, found.uncertain), (4, 1, 1, 2));
        assert_eq!((found.disagreement, found.unreadable, found.no_reply, found.too_long), (1, 0, 1, 1));
        assert_eq!(
            found.to_string(),
            "m was asked about 4 pairs: 1 the same, 1 different, 2 still uncertain"
        );
        let mut fingerprints = vec![found.fingerprint];
        let (turned, wide) = (all.into_iter().rev().collect::<Vec<_>>(), Band { low: 0.0, high: 1.0 });
        for other in [of(&turned, "m", Band::default()), of(&all, "n", Band::default()), of(&all, "m", wide)]
        {
            assert!(other.fingerprint.len() == 16 && !fingerprints.contains(&other.fingerprint));
            fingerprints.push(other.fingerprint);
        }
        assert_eq!(fingerprints[0], of(&all, "m", Band::default()).fingerprint);
    }

    #[test]
    fn a_band_is_two_scores_in_order() {
        assert_eq!(parse_band("0.2..0.9"), Ok(Band { low: 0.2, high: 0.9 }));
        assert_eq!(parse_band("0..1"), Ok(Band { low: 0.0, high: 1.0 }));
        for text in
            ["", "0.5", "0.9..0.2", "0.2..", "..0.2", "-1..0.5", "0.2..1.5", "NaN..1", "0.1..0.2..0.3"]
        {
            assert!(parse_band(text).is_err(), "{text}");
        }
    }
}
