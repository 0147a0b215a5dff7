//! The part of `m3 fidelity` that puts pairs whose score is uncertain to a language model.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use m3_judge::same::{AskedPairs, CallsToCompare, SameAsker};
use m3_llm::{Model, Recorder, Retry, Settings};
use m3_support::text::counted;
use m3_trajectory::catalog::Catalog;

use super::failure::{Failure, code};
use super::hosting::{Signals, interrupted, runtime};
use super::llm::{ReplyArgs, check_record, open_model, record, said_of_retry};
use super::output::refuse_equal;
use super::printer::{Printer, Unit};
use super::scoring::SimilarityArg;
use crate::calibrate::{AskedReport, Band, DoubtfulPair, TestPair, Trial};

/// The most questions at once; the model's own limit may be lower.
const AT_ONCE: usize = 8;

/// The most problems that are told one by one.
const TOLD: usize = 3;

/// Options of asking.
#[derive(Debug, Args)]
pub(super) struct FidelityAskArgs {
    /// Put pairs whose score is uncertain to a language model, such as openai:gpt-5 or replay:FILE, in both orders;
    /// where both answers agree the pair is sure (docs/fidelity.md, docs/models.md)
    #[arg(long, value_name = "MODEL", conflicts_with = "train")]
    ask: Option<String>,
    /// The scores that are uncertain [default: 0.25..0.75]
    #[arg(long, value_name = "LOW..HIGH", requires = "ask", value_parser = parse_band)]
    ask_band: Option<Band>,
    /// Variable that holds the model's key [default: the provider's own, such as `OPENAI_API_KEY`]
    #[arg(long, value_name = "VARIABLE", requires = "ask")]
    ask_key_from: Option<String>,
    /// Keep what the model was asked and what it said in a cassette; --ask replay:FILE plays it
    #[arg(long, value_name = "FILE", requires = "ask")]
    ask_record: Option<PathBuf>,
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

/// A model that is to be asked.
pub(super) struct FidelityAsking {
    model: Model,
    recorder: Option<Arc<Recorder>>,
    settings: Settings,
    band: Band,
}

/// What asking came to.
pub(super) struct FidelityAsked {
    /// For the report.
    pub(super) report: AskedReport,
    /// Why requests got no reply, or one that cannot be read.
    problems: Vec<String>,
    /// How many requests were answered.
    answered: usize,
}

impl FidelityAskArgs {
    /// Refuses options that do nothing here, and a similarity whose scores are no probabilities.
    pub(super) fn check(&self, similarity: SimilarityArg) -> Result<(), Failure> {
        let message = match (&self.ask, similarity) {
            (None, _) if self.replies.settings() != Settings::default() => {
                "`--temperature` and `--max-output-tokens` are for a model that is asked, and none is\n\
                 hint: `--ask MODEL` names one"
            }
            (Some(_), SimilarityArg::Cosine) => {
                "`--ask` is for pairs that fidelity is not sure of, and cosines are no probabilities\n\
                 hint: leave out `--similarity cosine`"
            }
            _ => return Ok(()),
        };
        Err(Failure::new(code::INPUT, message))
    }

    /// Opens the model, if one is to be asked. Nothing is sent yet; `inputs` are files that are read.
    pub(super) fn open(&self, inputs: &[&Path], printer: Printer) -> Result<Option<FidelityAsking>, Failure> {
        let Some(llm) = &self.ask else { return Ok(None) };
        refuse_equal(inputs, &self.record_to())?;
        let (model, played) = open_model(llm, self.ask_key_from.as_deref(), AT_ONCE, printer)?;
        check_record(self.ask_record.as_ref(), played.as_deref())?;
        let (model, recorder) = record(model, self.ask_record.as_ref())?;
        let settings = self.replies.settings();
        Ok(Some(FidelityAsking { model, recorder, settings, band: self.ask_band.unwrap_or_default() }))
    }

    /// The file that is recorded into, which no report may replace.
    pub(super) fn record_to(&self) -> Vec<&Path> {
        self.ask_record.iter().map(PathBuf::as_path).collect()
    }
}

impl FidelityAsking {
    /// Asks about the pairs of a trial that are uncertain, and gives those that are sure now their score.
    pub(super) fn settle(
        &self,
        trial: &mut Trial,
        pairs: &[TestPair],
        catalog: Option<&Catalog>,
        printer: Printer,
    ) -> Result<FidelityAsked, Failure> {
        let doubtful = DoubtfulPair::of(trial, pairs, catalog, self.band);
        let calls: Vec<CallsToCompare<'_>> = doubtful.iter().map(DoubtfulPair::calls).collect();
        let asked = self.ask(&calls, printer)?;
        if let Some(error) = self.recorder.as_deref().and_then(Recorder::failure) {
            return Err(error.into());
        }
        if asked.is_interrupted {
            printer.note("interrupted while a model was asked; there is no report");
            return Err(interrupted());
        }
        let AskedPairs { replies, answered, usage, problems, .. } = asked;
        let report = trial.settle(&doubtful, replies, (self.model.name().to_string(), self.band));
        let tokens = match usage.total() {
            0 => String::new(),
            tokens => format!(", {tokens} tokens{}", usage.partial_mark()),
        };
        printer.note(&format!(
            "{} asked about {}: {} the same, {} different, {} still uncertain ({}{tokens})",
            report.model,
            counted(report.asked, "pair"),
            report.same,
            report.different,
            report.uncertain,
            if answered == 1 { "1 reply".to_owned() } else { format!("{answered} replies") },
        ));
        if report.too_long > 0 {
            printer.warn(&format!("{} too long to be shown to a model", counted(report.too_long, "pair")));
        }
        Ok(FidelityAsked { report, problems, answered })
    }

    fn ask(&self, calls: &[CallsToCompare<'_>], printer: Printer) -> Result<AskedPairs, Failure> {
        let runtime = runtime()?;
        let signals = Signals::listen(&runtime);
        let bar = Mutex::new(printer.bar(Unit::Progress));
        let done = |done: usize, total: usize| {
            if let Ok(mut bar) = bar.lock() {
                bar.set("asking", done as u64, total as u64);
            }
        };
        let told = |retry: Retry| {
            let say = || printer.note(&said_of_retry("the model", &retry));
            match bar.lock() {
                Ok(bar) => bar.aside(say),
                Err(_) => say(),
            }
        };
        let asker = SameAsker {
            model: &self.model,
            settings: &self.settings,
            workers: AT_ONCE,
            stop: &signals.first,
            told: &told,
            done: &done,
        };
        let ended = runtime.block_on(async {
            tokio::select! {
                // A second interruption should end everything at once.
                biased;
                () = signals.second.cancelled() => None,
                ended = asker.ask(calls) => Some(ended),
            }
        });
        // Requests that still wait for a provider are not waited for.
        runtime.shutdown_timeout(Duration::from_secs(1));
        ended.ok_or_else(interrupted)
    }
}

impl FidelityAsked {
    /// Tells what went wrong, when the report is written. Fails if requests got no reply.
    pub(super) fn end(&self, printer: Printer) -> Result<(), Failure> {
        for problem in self.problems.iter().take(TOLD) {
            printer.warn(problem);
        }
        if self.problems.len() > TOLD {
            printer.warn(&format!("and {} of other kinds", counted(self.problems.len() - TOLD, "problem")));
        }
        if self.report.no_reply == 0 {
            return Ok(());
        }
        let message = format!(
            "{} of {} got no reply and kept their score; the report is whole otherwise\nhint: the same command asks again",
            self.report.no_reply,
            counted(self.report.asked, "pair"),
        );
        Err(Failure::new(if self.answered == 0 { code::UNAVAILABLE } else { code::FAILED }, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
