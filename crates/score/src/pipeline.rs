//! From two files to scores, in one direction: read -> serialize -> embed -> bucket -> assign -> match -> compare
//! arguments -> measure -> add up.
//!
//! Trajectories are taken in chunks of some thousand calls.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use m3_embedding::{Embedder, EncoderError, InputKey};
use m3_support::text::shortened;
use m3_trajectory::{FailureClass, SourceError, Trajectory, TrajectoryFile};

use super::chunk::{Chunk, Prepared};
use super::fidelity::{CallFidelity, CallPair, DoubtfulPairs, Fidelity};
use super::findings::Findings;
use super::matching::{Matching, align, calls_to_embed, cosine_of_calls};
use super::transport::TooLarge;
use super::typed::align_by_fidelity;
use super::{ByTool, ExactSums, Ledger, Profile, ScoreOptions, Serializer, Similarity, Verdict};

/// One trajectory, scored.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectoryScore {
    /// The task's id.
    pub id: String,
    /// The reference's type.
    pub task_type: Option<String>,
    /// Why the task failed, if it did.
    pub failure: Option<FailureClass>,
    /// Whether it passes, where that was asked for.
    pub verdict: Option<Verdict>,
    /// Its numbers; [`ExactSums::metrics`] gives the metrics.
    pub sums: ExactSums,
    /// Which calls are matched.
    pub matching: Matching,
    /// How far the arguments of each match ask for the same, in the order of the matches.
    pub fidelities: Vec<CallFidelity>,
}

/// A whole set, scored.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What was scored and what was not.
    pub ledger: Ledger,
    /// All trajectories together.
    pub aggregate: ExactSums,
    /// Trajectories of each type; those without a type are not in it.
    pub by_type: BTreeMap<String, ExactSums>,
    /// Which arguments are wrong.
    pub findings: Findings,
    /// The calls of each tool.
    pub by_tool: ByTool,
}

/// Why scoring failed.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// A file could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The encoder failed.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// The files have no id in common.
    #[error(
        "no id of `{predictions}` is in `{references}` (the first are `{}` and `{}`)\n\
         hint: check that the files belong together, predictions first; ids are compared as they are",
        shortened(.prediction, 100), shortened(.reference, 100)
    )]
    NoOverlap {
        /// The file of predictions.
        predictions: String,
        /// The file of references.
        references: String,
        /// The first predicted id.
        prediction: String,
        /// The first reference id.
        reference: String,
    },
    /// The sink of results failed.
    #[error("failed to write the results: {0}")]
    Sink(#[source] std::io::Error),
}

/// Receives each trajectory's score, in the order of the references.
pub type Sink<'a> = dyn FnMut(TrajectoryScore) -> std::io::Result<()> + 'a;

/// Receives the number of trajectories done and the number of all.
pub type Progress<'a> = dyn FnMut(usize, usize) + 'a;

/// Scores predictions against references.
///
/// # Errors
/// [`ScoreError`].
pub fn score(
    predictions: &TrajectoryFile,
    references: &TrajectoryFile,
    options: ScoreOptions<'_>,
    embedder: &mut Embedder,
    sink: &mut Sink<'_>,
    progress: &mut Progress<'_>,
) -> Result<Summary, ScoreError> {
    let mut run = Run::start(predictions, references, options)?;
    run.score_all(0..references.len(), embedder, sink, progress)?;
    run.finish()
}

/// Scores some of the references again, in the order of `chosen`, their indices. For callers that can keep the
/// similarities of a few trajectories but not of all.
///
/// # Errors
/// [`ScoreError`].
pub fn score_chosen(
    predictions: &TrajectoryFile,
    references: &TrajectoryFile,
    chosen: &[usize],
    options: ScoreOptions<'_>,
    embedder: &mut Embedder,
    sink: &mut Sink<'_>,
    progress: &mut Progress<'_>,
) -> Result<(), ScoreError> {
    Run::start(predictions, references, options)?.score_all(chosen.iter().copied(), embedder, sink, progress)
}

/// Scores predictions for the matched pairs that are in doubt alone: `doubtful` takes them, in the order of the references.
/// [`ScoreOptions::answers`] takes what is said of them.
///
/// # Errors
/// [`ScoreError`].
pub fn find_doubtful(
    predictions: &TrajectoryFile,
    references: &TrajectoryFile,
    options: ScoreOptions<'_>,
    embedder: &mut Embedder,
    doubtful: &mut DoubtfulPairs,
    progress: &mut Progress<'_>,
) -> Result<(), ScoreError> {
    let mut run = Run::start(predictions, references, options)?;
    run.doubtful = Some(doubtful);
    run.score_all(0..references.len(), embedder, &mut |_| Ok(()), progress)
}

struct Run<'a> {
    predictions: &'a TrajectoryFile,
    references: &'a TrajectoryFile,
    options: ScoreOptions<'a>,
    serializer: Serializer<'a>,
    fidelity: Fidelity<'a>,
    /// Takes the matched pairs that are in doubt, if they are wanted.
    doubtful: Option<&'a mut DoubtfulPairs>,
    summary: Summary,
    /// Which predictions have a reference that was read.
    is_seen: Vec<bool>,
    done: usize,
    total: usize,
}

impl<'a> Run<'a> {
    fn start(
        predictions: &'a TrajectoryFile,
        references: &'a TrajectoryFile,
        options: ScoreOptions<'a>,
    ) -> Result<Self, ScoreError> {
        if !predictions.shares_ids_with(references) {
            return Err(ScoreError::NoOverlap {
                predictions: predictions.name().to_owned(),
                references: references.name().to_owned(),
                prediction: predictions.read(0)?.id,
                reference: references.read(0)?.id,
            });
        }
        let mut known = HashSet::new();
        let duplicates =
            references.duplicates().iter().chain(predictions.duplicates()).map(|found| &found.id);
        let duplicate = duplicates.filter(|id| known.insert(id.as_str())).cloned().collect();
        let ledger = Ledger {
            references: references.len(),
            predictions: predictions.len(),
            duplicate,
            ..Ledger::default()
        };
        let fidelity = Fidelity::new(options.catalog);
        let fidelity = match options.model {
            Some(model) => fidelity.by_model(Arc::clone(model)),
            None => fidelity,
        };
        let summary = Summary {
            ledger,
            aggregate: ExactSums::default(),
            by_type: BTreeMap::new(),
            findings: Findings::default(),
            by_tool: ByTool::default(),
        };
        Ok(Self {
            predictions,
            references,
            options,
            serializer: Serializer::new(options.profile, options.catalog),
            fidelity,
            doubtful: None,
            summary,
            is_seen: vec![false; predictions.len()],
            done: 0,
            total: 0,
        })
    }

    /// Scores the references of these indices, chunk by chunk.
    fn score_all(
        &mut self,
        indices: impl ExactSizeIterator<Item = usize>,
        embedder: &mut Embedder,
        sink: &mut Sink<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<(), ScoreError> {
        self.total = indices.len();
        let mut chunk = Chunk::default();
        for index in indices {
            self.read(index, &mut chunk)?;
            if chunk.is_full() {
                self.score(std::mem::take(&mut chunk), embedder, sink, progress)?;
            }
        }
        self.score(chunk, embedder, sink, progress)
    }

    /// Adds reference `index` and its prediction to the chunk, unless it is left out.
    fn read(&mut self, index: usize, chunk: &mut Chunk) -> Result<(), ScoreError> {
        let reference = self.references.look_at(index)?;
        let ledger = &mut self.summary.ledger;
        let (prediction, failure) = if let Some(found) = self.predictions.find(&reference.id) {
            self.is_seen[found] = true;
            let prediction = self.predictions.look_at(found)?;
            if prediction.call_count() == 0 {
                ledger.empty.push(reference.id.clone());
            }
            let failure = FailureClass::of(&prediction);
            (prediction, failure)
        } else {
            let nothing = Trajectory { id: reference.id.clone(), ..Trajectory::default() };
            (Cow::Owned(nothing), Some(FailureClass::Missing))
        };
        if let Some(failure) = failure {
            ledger.fail(&reference.id, failure);
            if self.options.profile == Profile::OpenM3Bench {
                return Ok(());
            }
        }
        ledger.scored += 1;
        chunk.prepare(&reference, &prediction, failure, &self.serializer, &self.options);
        Ok(())
    }

    fn score(
        &mut self,
        mut chunk: Chunk,
        embedder: &mut Embedder,
        sink: &mut Sink<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<(), ScoreError> {
        let (done, total, size) = (self.done, self.total, chunk.items.len());
        // Words of arguments are few compared to calls: most of the time has passed when the calls are embedded.
        let mut half = |part: usize, of: usize| progress(done + size * part / of.max(1), total);
        let aligned = match self.options.similarity {
            Similarity::Cosine => {
                self.embed(&mut chunk, embedder, &mut half)?;
                self.align_by_cosine(&chunk, embedder)
            }
            Similarity::Typed => {
                align_by_fidelity(&mut chunk, &mut self.fidelity, &self.options, embedder, &mut half)?
            }
        };
        let ledger = &mut self.summary.ledger;
        let matchings = aligned.into_iter().zip(&mut chunk.items).map(|(aligned, prepared)| {
            aligned.unwrap_or_else(|TooLarge| {
                match prepared.failure {
                    // The task is counted as failed already.
                    Some(_) => ledger.too_large.push(prepared.id.clone()),
                    None => ledger.fail(&prepared.id, FailureClass::TooLarge),
                }
                prepared.failure.get_or_insert(FailureClass::TooLarge);
                Matching::too_large(&prepared.references.calls, &prepared.predictions.calls)
            })
        });
        let matchings: Vec<Matching> = matchings.collect();
        let fidelities = self.compare(&chunk, &matchings, embedder)?;
        let scored = chunk.items.into_iter().zip(matchings).zip(fidelities);
        for ((prepared, matching), fidelities) in scored {
            let mut sums = ExactSums::of(
                prepared.failure.is_some(),
                &matching,
                &fidelities,
                &prepared.references.calls,
                &prepared.predictions.calls,
                self.options.profile,
            );
            sums.passed = u64::from(prepared.verdict == Some(Ok(())));
            self.summary.aggregate += sums;
            self.summary.findings.add(&prepared, &matching.matches, &fidelities);
            self.summary.by_tool.add(prepared.failure, &matching, &fidelities);
            let Prepared { id, task_type, failure, verdict, .. } = prepared;
            if let Some(task_type) = &task_type {
                *self.summary.by_type.entry(task_type.clone()).or_default() += sums;
            }
            sink(TrajectoryScore { id, task_type, failure, verdict, sums, matching, fidelities })
                .map_err(ScoreError::Sink)?;
            self.done += 1;
        }
        progress(self.done, total);
        Ok(())
    }

    /// Embeds the calls whose alignment needs it.
    fn embed(
        &self,
        chunk: &mut Chunk,
        embedder: &mut Embedder,
        progress: &mut Progress<'_>,
    ) -> Result<(), ScoreError> {
        let texts: Vec<&str> = chunk.texts.iter().map(String::as_str).collect();
        let inputs = embedder.inputs(&texts)?;
        let mut wanted: BTreeMap<InputKey, &str> = BTreeMap::new();
        for Prepared { references, predictions, .. } in &mut chunk.items {
            references.know(&inputs);
            predictions.know(&inputs);
            let (of_references, of_predictions) =
                calls_to_embed(&references.calls, &predictions.calls, self.options.keeps_similarities);
            let of_references = of_references.into_iter().filter_map(|index| references.texts[index]);
            let of_predictions = of_predictions.into_iter().filter_map(|index| predictions.texts[index]);
            wanted.extend(of_references.chain(of_predictions).map(|text| (inputs[text], texts[text])));
        }
        let wanted: Vec<(InputKey, &str)> = wanted.into_iter().collect();
        Ok(embedder.embed(&wanted, progress)?)
    }

    fn align_by_cosine(&self, chunk: &Chunk, embedder: &Embedder) -> Vec<Result<Matching, TooLarge>> {
        let ScoreOptions { thresholds, keeps_similarities, .. } = self.options;
        let aligned = chunk.items.iter().map(|prepared| {
            let (references, predictions) = (&prepared.references.calls, &prepared.predictions.calls);
            align(references, predictions, thresholds, keeps_similarities, &|reference, predicted| {
                cosine_of_calls(references, predictions, embedder, (reference, predicted))
            })
        });
        aligned.collect()
    }

    /// How far the arguments of each match ask for the same, trajectory by trajectory.
    fn compare(
        &mut self,
        chunk: &Chunk,
        matchings: &[Matching],
        embedder: &mut Embedder,
    ) -> Result<Vec<Vec<CallFidelity>>, ScoreError> {
        let pairs: Vec<CallPair<'_>> = chunk
            .items
            .iter()
            .zip(matchings)
            .flat_map(|(prepared, matching)| {
                matching
                    .matches
                    .iter()
                    .map(|pair| prepared.pair(&pair.tool, pair.reference.index, pair.predicted.index))
            })
            .collect();
        let mut found: Vec<Option<CallFidelity>> = vec![None; pairs.len()];
        self.fidelity.compare_all(
            pairs.len(),
            &|index| pairs[index],
            embedder,
            &mut |_, _| (),
            &mut |index, fidelity| {
                found[index] = Some(fidelity);
            },
        )?;
        let (answers, mut doubtful) = (self.options.answers, self.doubtful.as_deref_mut());
        let mut found = pairs.iter().zip(found.into_iter().flatten()).map(|(&pair, fidelity)| {
            if let Some(doubtful) = &mut doubtful {
                doubtful.add(pair, &fidelity);
            }
            match answers {
                Some(answers) => answers.laid_over(pair, fidelity),
                None => fidelity,
            }
        });
        Ok(matchings.iter().map(|matching| found.by_ref().take(matching.matches.len()).collect()).collect())
    }

    fn finish(mut self) -> Result<Summary, ScoreError> {
        for (index, _) in self.is_seen.iter().enumerate().filter(|(_, is_seen)| !**is_seen) {
            self.summary.ledger.extra.push(self.predictions.look_at(index)?.id.clone());
        }
        // If all trajectories are left out, no task was solved.
        if self.summary.aggregate.trajectories == 0 {
            self.summary.aggregate.failed = self.summary.ledger.failed() as u64;
        }
        Ok(self.summary)
    }
}
