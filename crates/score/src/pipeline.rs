//! Scores two files, or pairs of trajectories: trajectories are prepared in chunks of some thousand calls, and each
//! chunk is scored by a [`Run`].

use std::borrow::Cow;
use std::collections::HashSet;

use m3_embedding::Embedder;
use m3_trajectory::{FailureClass, SourceError, Trajectory, TrajectoryFile};

use super::chunk::Chunk;
use super::fidelity::DoubtfulPairs;
use super::run::Run;
use super::scored::{Progress, ScoreError, Summary, TrajectoryScore};
use super::{Ledger, Results, ScoreOptions};

/// A score, and the files of its trajectories.
#[derive(Debug)]
pub struct ScoredTrajectory<'f> {
    /// The score.
    pub score: TrajectoryScore,
    /// The file of its prediction.
    pub predictions: &'f TrajectoryFile,
    /// The file of its reference.
    pub references: &'f TrajectoryFile,
}

impl<'f> ScoredTrajectory<'f> {
    /// The reference. A large file does not keep its trajectories, and reads it again.
    ///
    /// # Errors
    /// [`SourceError`] if the file cannot be read again.
    pub fn reference(&self) -> Result<Cow<'f, Trajectory>, SourceError> {
        Ok(look_at(self.references, &self.score.id)?.unwrap_or_default())
    }

    /// The prediction; `None` if there is none. A large file does not keep its trajectories, and reads it again.
    ///
    /// # Errors
    /// [`SourceError`] if the file cannot be read again.
    pub fn prediction(&self) -> Result<Option<Cow<'f, Trajectory>>, SourceError> {
        look_at(self.predictions, &self.score.id)
    }
}

fn look_at<'f>(file: &'f TrajectoryFile, id: &str) -> Result<Option<Cow<'f, Trajectory>>, SourceError> {
    file.find(id).map(|index| file.look_at(index)).transpose()
}

/// Receives each trajectory's score, in the order of the references. Its error ends the scoring.
pub type Sink<'a, E> = dyn FnMut(ScoredTrajectory<'_>) -> Result<(), E> + 'a;

/// Scores predictions against references.
///
/// # Errors
/// [`ScoreError`], and errors of the sink.
pub fn score<E: From<ScoreError>>(
    predictions: &TrajectoryFile,
    references: &TrajectoryFile,
    options: ScoreOptions<'_>,
    embedder: &mut Embedder,
    sink: &mut Sink<'_, E>,
    progress: &mut Progress<'_>,
) -> Result<Summary, E> {
    let (mut files, mut run) = Files::start(predictions, references, options)?;
    files.score_all(&mut run, 0..references.len(), embedder, sink, progress)?;
    Ok(files.finish(run)?)
}

/// Scores some of the references again, in the order of `chosen`, their indices. For callers that can keep the
/// similarities of a few trajectories but not of all.
///
/// # Errors
/// [`ScoreError`], and errors of the sink.
pub fn score_chosen<E: From<ScoreError>>(
    predictions: &TrajectoryFile,
    references: &TrajectoryFile,
    chosen: &[usize],
    options: ScoreOptions<'_>,
    embedder: &mut Embedder,
    sink: &mut Sink<'_, E>,
    progress: &mut Progress<'_>,
) -> Result<(), E> {
    let (mut files, mut run) = Files::start(predictions, references, options)?;
    files.score_all(&mut run, chosen.iter().copied(), embedder, sink, progress)
}

/// Scores predictions only to find the matched pairs that are in doubt: they are added to `doubtful`, in the order of
/// the references. [`ScoreOptions::answers`] takes the answers about them.
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
    let (mut files, mut run) = Files::start(predictions, references, options)?;
    run.doubtful = Some(doubtful);
    files.score_all::<ScoreError>(&mut run, 0..references.len(), embedder, &mut |_| Ok(()), progress)
}

/// The files that are scored.
struct Files<'a> {
    predictions: &'a TrajectoryFile,
    references: &'a TrajectoryFile,
    /// Which predictions have a reference that was read.
    is_seen: Vec<bool>,
}

impl<'a> Files<'a> {
    /// Starts a run; fails if the files have nothing in common.
    fn start(
        predictions: &'a TrajectoryFile,
        references: &'a TrajectoryFile,
        options: ScoreOptions<'a>,
    ) -> Result<(Self, Run<'a>), ScoreError> {
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
        let mut run = Run::new(options);
        run.summary.ledger = Ledger {
            references: references.len(),
            predictions: predictions.len(),
            duplicate,
            ..Ledger::default()
        };
        let files = Self { predictions, references, is_seen: vec![false; predictions.len()] };
        if options.results == Results::Auto && predictions.has_results() && references.has_results() {
            files.survey(&mut run, options)?;
        }
        Ok((files, run))
    }

    /// Reads what the results of all tasks show about their tools.
    fn survey(&self, run: &mut Run<'_>, options: ScoreOptions<'_>) -> Result<(), ScoreError> {
        for index in 0..self.references.len() {
            let reference = self.references.look_at(index)?;
            if let Some(found) = self.predictions.find(&reference.id) {
                run.survey.add(&reference, &*self.predictions.look_at(found)?, options.pictures);
            }
        }
        Ok(())
    }

    /// Scores the references of these indices, chunk by chunk.
    fn score_all<E: From<ScoreError>>(
        &mut self,
        run: &mut Run<'_>,
        indices: impl ExactSizeIterator<Item = usize>,
        embedder: &mut Embedder,
        sink: &mut Sink<'_, E>,
        progress: &mut Progress<'_>,
    ) -> Result<(), E> {
        run.total = indices.len();
        let (predictions, references) = (self.predictions, self.references);
        let mut score = |chunk: Chunk, run: &mut Run<'_>| -> Result<(), E> {
            let mut scores = run.score(chunk, embedder, progress)?.into_iter();
            scores.try_for_each(|score| sink(ScoredTrajectory { score, predictions, references }))
        };
        let mut chunk = Chunk::default();
        for index in indices {
            self.read(run, index, &mut chunk)?;
            if chunk.is_full() {
                score(std::mem::take(&mut chunk), run)?;
            }
        }
        score(chunk, run)
    }

    /// Adds reference `index` and its prediction to the chunk, unless it is left out.
    fn read(&mut self, run: &mut Run<'_>, index: usize, chunk: &mut Chunk) -> Result<(), ScoreError> {
        let reference = self.references.look_at(index)?;
        let (prediction, failure) = if let Some(found) = self.predictions.find(&reference.id) {
            self.is_seen[found] = true;
            let prediction = self.predictions.look_at(found)?;
            if prediction.call_count() == 0 {
                run.summary.ledger.empty.push(reference.id.clone());
            }
            let failure = FailureClass::of(&prediction);
            (prediction, failure)
        } else {
            let nothing = Trajectory { id: reference.id.clone(), ..Trajectory::default() };
            (Cow::Owned(nothing), Some(FailureClass::Missing))
        };
        run.prepare(&reference, &prediction, failure, chunk);
        Ok(())
    }

    fn finish(self, run: Run<'_>) -> Result<Summary, ScoreError> {
        let mut summary = run.summary;
        summary.survey = run.survey;
        for (index, _) in self.is_seen.iter().enumerate().filter(|(_, is_seen)| !**is_seen) {
            summary.ledger.extra.push(self.predictions.look_at(index)?.id.clone());
        }
        summary.aggregate = summary.aggregate.with_left_out(summary.ledger.failed() as u64);
        Ok(summary)
    }
}
