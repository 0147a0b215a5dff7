//! Scores trajectories that a program holds, pair by pair: for Python, the reward service and the server of tools.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::Parser;
use m3_embedding::Embedder;
use m3_encoder::AssetOptions;
use m3_report::audit::{AuditTerminal, TrajectoryAudit};
use m3_report::{AggregateReport, LeftOut, TrajectoryReport, pair_json};
use m3_score::fidelity::constants::THRESHOLD;
use m3_score::fidelity::{ArgumentComparison, CallFidelity, CallPair};
use m3_score::{ExactSums, NotSums, Profile, RoleRule, ScoreError, Scorer, TrajectoryScore};
use m3_support::text::visible;
use m3_traces::TRACES;
use m3_trajectory::json::Keys;
use m3_trajectory::{
    Duplicates, FailureClass, OpenError, Problem, Severity, SourceError, Trajectory, TrajectoryFile,
};
use serde::Serialize;

use crate::cli::Common;
use crate::cli::common::{
    Conditions, ConditionsArgs, EncoderArgs, Failure, PredictionsArg, Printer, Result, code,
};

/// Options of all commands that score pairs.
#[derive(Debug, clap::Args)]
pub(crate) struct PairArgs {
    #[command(flatten)]
    conditions: ConditionsArgs,
    #[command(flatten)]
    encoder: EncoderArgs,
}

/// The options of [`PairScorer::new`].
#[derive(Debug, Parser)]
#[command(name = "m3", no_binary_name = true)]
struct Options {
    #[command(flatten)]
    pairs: PairArgs,
    #[command(flatten)]
    common: Common,
}

/// The error of a pair that cannot be scored, or of a scorer that can score no pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairError {
    /// Whether something that is needed is missing, such as the encoder; otherwise the input is wrong.
    pub is_unavailable: bool,
    /// The message: what is wrong, with a hint on what to do.
    pub message: String,
    /// The problems in a trajectory, with their places.
    pub problems: Vec<Problem>,
}

impl fmt::Display for PairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PairError {}

impl From<Failure> for PairError {
    fn from(failure: Failure) -> Self {
        let message = failure.message.unwrap_or_default();
        Self { is_unavailable: failure.code == code::UNAVAILABLE, message, problems: Vec::new() }
    }
}

impl From<OpenError> for PairError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Source(error) => Failure::from(error).into(),
            OpenError::Invalid { problems, .. } => {
                let problems: Vec<Problem> =
                    problems.iter().filter(|problem| problem.severity == Severity::Error).cloned().collect();
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                Self { is_unavailable: false, message: lines.join("\n"), problems }
            }
        }
    }
}

/// A prediction, if there is one, and its reference.
pub type Pair = (Option<Trajectory>, Trajectory);

/// A scored pair.
#[derive(Debug)]
pub struct ScoredPair {
    /// The report of `m3 score` on the trajectory; `None` if the profile leaves it out, as `open-m3-bench` does with
    /// failed predictions.
    pub report: Option<TrajectoryReport>,
    /// The reference's id.
    pub id: String,
    /// The reference's type.
    pub task_type: Option<String>,
    /// The sums of the pair, which add up to those of a set; 0 if the profile leaves the pair out.
    pub sums: ExactSums,
    /// The class of the failure, if the task failed.
    pub failure: Option<FailureClass>,
}

impl ScoredPair {
    /// The report as an object, with `sums` for [`add_sums`]; if the profile leaves the pair out, only `id`, `type` and
    /// `failure`, and `sums` is null.
    ///
    /// # Errors
    /// Never in practice: all keys of a report are texts.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let report = self.report.as_ref();
        let (task_type, failure) = (self.task_type.as_deref(), self.failure.map(FailureClass::name));
        let left_out = LeftOut { id: &self.id, task_type, failure };
        let sums = report.map(|_| self.sums.to_string());
        pair_json(report.ok_or(left_out), sums.as_deref())
    }
}

/// Adds up the sums of pairs, in any order, to the sums of the set.
///
/// # Errors
/// [`NotSums`] if a text is not the `sums` of [`ScoredPair::to_json`].
pub fn add_sums<'s>(sums: impl IntoIterator<Item = &'s str>) -> Result<ExactSums, NotSums> {
    let mut all = ExactSums::default();
    for text in sums {
        all += text.parse()?;
    }
    Ok(all)
}

/// The metrics of a set, as `m3 score --format json` gives them in `aggregate`, from its sums and the number of pairs
/// that the profile left out.
#[must_use]
pub fn aggregate(sums: ExactSums, left_out: u64, profile: Profile) -> AggregateReport {
    AggregateReport::of_set(&sums.with_left_out(left_out), profile)
}

/// The fidelity of two calls: how far they ask for the same.
#[derive(Debug, Serialize)]
pub struct FidelityOfCalls {
    /// The fidelity of the calls, in [0, 1]; 1 for equal arguments only.
    pub score: f64,
    /// Whether the calls count as the same: with a score of at least 0.5.
    pub is_same: bool,
    /// Every argument that is equal, and every value that is not.
    pub arguments: Vec<FidelityOfArgument>,
}

/// The fidelity of one argument: how far it means the same in both calls.
#[derive(Debug, Serialize)]
pub struct FidelityOfArgument {
    /// The JSON pointer of the value in the reference's arguments, or in the prediction's where the value is extra.
    pub argument: String,
    /// The JSON pointer of the value in the prediction's arguments, if it differs.
    pub other_argument: Option<String>,
    /// The kind that the value is compared as: `number`, `moment`, `text` ..
    pub kind: &'static str,
    /// The fidelity of the value, in [0, 1]; 1 for equal values only.
    pub score: f64,
    /// The verdict: `equal`, `equivalent`, `close`, `different`, `missing` or `extra`.
    pub verdict: &'static str,
    /// The reason for the verdict, in a few words.
    pub reason: String,
}

impl From<CallFidelity> for FidelityOfCalls {
    fn from(found: CallFidelity) -> Self {
        let argument = |argument: ArgumentComparison| FidelityOfArgument {
            argument: argument.path,
            other_argument: argument.other_path,
            kind: argument.kind.name(),
            score: argument.score,
            verdict: argument.verdict.name(),
            reason: visible(&argument.reason, false).into_owned(),
        };
        let arguments = found.arguments.into_iter().map(argument).collect();
        Self { score: found.score, is_same: found.score >= THRESHOLD, arguments }
    }
}

/// Scores pairs of trajectories, from any number of threads at once.
pub struct PairScorer {
    conditions: Conditions,
    encoder: EncoderArgs,
    assets: AssetOptions,
    /// Prints warnings about problems that do not stop the work, such as a cache that cannot be used.
    printer: Printer,
    /// Encoders with their caches that no thread is using: each thread takes one.
    idle: Mutex<Vec<Embedder>>,
}

impl fmt::Debug for PairScorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairScorer").field("conditions", &self.conditions).finish_non_exhaustive()
    }
}

impl PairScorer {
    /// Creates a scorer from options of `m3 score`: `["--profile", "paper", "--tools", "catalog.json"]`.
    ///
    /// # Errors
    /// [`PairError`] for unknown options, files that cannot be read, and a missing encoder.
    pub fn new(options: impl IntoIterator<Item = OsString>) -> Result<Self, PairError> {
        let Options { pairs, common } =
            Options::try_parse_from(options).map_err(|error| Failure::usage(&error))?;
        Ok(pairs.open(&common, Printer::new(false))?)
    }

    /// The definitions by which metrics are computed.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.conditions.profile
    }

    /// Reads a trajectory in any form that `m3 score` reads: m3's own, message lists, traces of one task. Messages use
    /// `name` as the name of the file.
    ///
    /// # Errors
    /// [`PairError`] with every problem.
    pub fn read(&self, name: &str, bytes: &[u8]) -> Result<Trajectory, PairError> {
        Ok(Trajectory::of_bytes(name, bytes, self.conditions.forms, TRACES)?)
    }

    /// Reads the trajectories of a file, or of a folder of a run, as JSON that [`PairScorer::read`] reads.
    ///
    /// # Errors
    /// [`PairError`] with every problem.
    pub fn read_file(&self, path: &Path) -> Result<Vec<String>, PairError> {
        let reading = (Duplicates::Error, self.conditions.forms);
        let path = PredictionsArg::from(path.as_os_str().to_owned());
        let file = TrajectoryFile::open_with(path.as_path(), TRACES, reading, &mut |_, _| (), &mut |_| ())?;
        let text = |index| Ok(file.look_at(index)?.to_json().to_text(Keys::AsRead));
        let texts: Result<_, SourceError> = (0..file.len()).map(text).collect();
        Ok(texts.map_err(Failure::from)?)
    }

    /// Scores predictions, `None` where one is missing, against their references.
    ///
    /// # Errors
    /// [`PairError`] if the encoder cannot be used.
    pub fn score(&self, pairs: &[Pair]) -> Result<Vec<ScoredPair>, PairError> {
        let profile = self.profile();
        let all = self.scores(pairs, false)?;
        let scored = all.into_iter().zip(pairs).map(|(score, (_, reference))| {
            let (id, task_type) = (reference.id.clone(), reference.task_type.clone());
            let (sums, failure) = score
                .as_ref()
                .map_or_else(|&failed| (ExactSums::default(), Some(failed)), |it| (it.sums, it.failure));
            let report = score.ok().map(|score| TrajectoryReport::new(score, profile));
            ScoredPair { report, id, task_type, sums, failure }
        });
        Ok(scored.collect())
    }

    /// Scores the pairs that could be read; each other pair keeps its error, which does not stop the scoring.
    ///
    /// # Errors
    /// [`PairError`] if the encoder cannot be used.
    pub fn score_read(
        &self,
        pairs: impl IntoIterator<Item = Result<Pair, PairError>>,
    ) -> Result<Vec<Result<ScoredPair, PairError>>, PairError> {
        let mut good = Vec::new();
        let outcomes: Vec<Result<(), PairError>> =
            pairs.into_iter().map(|pair| pair.map(|pair| good.push(pair))).collect();
        let mut scored = self.score(&good)?.into_iter();
        // There is a score for each good pair.
        Ok(outcomes
            .into_iter()
            .filter_map(|outcome| outcome.map_or_else(|error| Some(Err(error)), |()| scored.next().map(Ok)))
            .collect())
    }

    /// Explains the numbers of a pair, call by call: as text for people, and as in `m3 audit --format json`.
    ///
    /// # Errors
    /// [`PairError`] if the encoder cannot be used, or the profile leaves the pair out.
    pub fn audit(
        &self,
        prediction: Option<Trajectory>,
        reference: Trajectory,
    ) -> Result<(String, TrajectoryAudit), PairError> {
        let pair = [self.without_ignored(&(prediction, reference)).into_owned()];
        let [(prediction, reference)] = &pair;
        let left_out = "the prediction is missing or has failed, and this profile leaves it out";
        let score = self.scores(&pair, true)?.into_iter().flatten().next();
        let score = score.ok_or_else(|| Failure::input(left_out))?;
        let nothing = Trajectory::default();
        let prediction = prediction.as_ref().unwrap_or(&nothing);
        let pictures = self.conditions.result_pictures();
        let audit = TrajectoryAudit::new(score, reference, prediction, (self.profile(), 0.0), pictures);
        let mut text = Vec::new();
        let mut terminal = AuditTerminal::new(&mut text, 80, false);
        terminal.write(&audit).map_err(Failure::from)?;
        Ok((String::from_utf8_lossy(&text).into_owned(), audit))
    }

    /// The fidelity of two calls of one tool, argument by argument.
    ///
    /// # Errors
    /// [`PairError`] if the encoder cannot be used.
    pub fn fidelity(&self, pair: CallPair<'_>) -> Result<CallFidelity, PairError> {
        let options = self.conditions.options(false);
        self.with_embedder(|embedder| Scorer::new(options, embedder).fidelity(pair))
    }

    fn scores(
        &self,
        pairs: &[Pair],
        keeps_similarities: bool,
    ) -> Result<Vec<Result<TrajectoryScore, FailureClass>>, PairError> {
        let options = self.conditions.options(keeps_similarities);
        let counted: Vec<Cow<'_, Pair>> = pairs.iter().map(|pair| self.without_ignored(pair)).collect();
        let pairs = counted.iter().map(|pair| (pair.0.as_ref(), &pair.1));
        self.with_embedder(|embedder| Scorer::new(options, embedder).score_pairs(pairs))
    }

    /// A pair without the calls of tools that do not count.
    fn without_ignored<'p>(&self, pair: &'p Pair) -> Cow<'p, Pair> {
        let Some(roles) = &self.conditions.roles else { return Cow::Borrowed(pair) };
        let mut pair = pair.clone();
        for trajectory in pair.0.iter_mut().chain([&mut pair.1]) {
            let tools = trajectory.calls().map(|(_, call)| &call.tool);
            let ignored =
                tools.filter(|tool| roles.of_tool(tool) == Some(RoleRule::Ignored)).cloned().collect();
            trajectory.leave_out(&ignored);
        }
        Cow::Owned(pair)
    }

    /// Lends an idle embedder, or a new one.
    fn with_embedder<T>(
        &self,
        work: impl FnOnce(&mut Embedder) -> Result<T, ScoreError>,
    ) -> Result<T, PairError> {
        let idle = self.idle().pop();
        let mut embedder = match idle {
            Some(embedder) => embedder,
            None => self.encoder.open(self.assets.clone(), self.printer)?,
        };
        let done = work(&mut embedder);
        embedder.take_warnings().iter().for_each(|warning| self.printer.warn(warning));
        self.idle().push(embedder);
        done.map_err(|error| Failure::from(error).into())
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Embedder>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PairArgs {
    /// Reads the files that the options name, and finds the encoder.
    pub(crate) fn open(self, common: &Common, printer: Printer) -> Result<PairScorer> {
        let mut conditions = self.conditions.open()?;
        conditions.verdicts = self.conditions.verdicts(printer);
        let assets = common.assets()?;
        let first = self.encoder.open(assets.clone(), printer)?;
        Ok(PairScorer { conditions, encoder: self.encoder, assets, printer, idle: Mutex::new(vec![first]) })
    }
}
