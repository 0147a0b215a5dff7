//! Scores trajectories that are in memory: [`Scorer`].

use m3_embedding::Embedder;
use m3_trajectory::{FailureClass, Trajectory};

use super::chunk::Chunk;
use super::fidelity::{CallFidelity, CallPair, Fidelity};
use super::run::Run;
use super::{Results, ScoreError, ScoreOptions, TrajectoryScore};

/// A prediction, `None` if it is missing, and its reference.
pub type TrajectoryPair<'t> = (Option<&'t Trajectory>, &'t Trajectory);

/// Scores trajectories that are in memory as [`score`](super::score) does those of files; they need no ids.
#[derive(Debug)]
pub struct Scorer<'a> {
    options: ScoreOptions<'a>,
    embedder: &'a mut Embedder,
}

impl<'a> Scorer<'a> {
    /// A scorer with these options.
    #[must_use]
    pub fn new(options: ScoreOptions<'a>, embedder: &'a mut Embedder) -> Self {
        Self { options, embedder }
    }

    /// Scores a prediction.
    ///
    /// # Errors
    /// [`ScoreError::Encoder`] if the encoder fails. The inner error is the failure of a prediction that the profile
    /// leaves out.
    pub fn score(
        &mut self,
        prediction: &Trajectory,
        reference: &Trajectory,
    ) -> Result<Result<TrajectoryScore, FailureClass>, ScoreError> {
        let score = self.score_pairs([(Some(prediction), reference)])?.pop();
        // There is a score for each pair.
        Ok(score.unwrap_or(Err(FailureClass::Missing)))
    }

    /// Scores pairs together; the results are in their order. With [`Results::Auto`], the recorded results of all pairs
    /// are first surveyed to learn which tools give equal answers to equal calls.
    ///
    /// # Errors
    /// As for [`Scorer::score`].
    pub fn score_pairs<'t>(
        &mut self,
        pairs: impl IntoIterator<Item = TrajectoryPair<'t>>,
    ) -> Result<Vec<Result<TrajectoryScore, FailureClass>>, ScoreError> {
        let Self { options, embedder } = self;
        let mut run = Run::new(*options);
        let pairs: Vec<TrajectoryPair<'_>> = pairs.into_iter().collect();
        if options.results == Results::Auto {
            for (prediction, reference) in &pairs {
                if let Some(prediction) = prediction {
                    run.survey.add(reference, prediction, options.pictures);
                }
            }
        }
        let mut chunk = Chunk::default();
        let mut left_out = Vec::new();
        let mut scores = Vec::new();
        let nothing = Trajectory::default();
        for (prediction, reference) in pairs {
            let failure = prediction.map_or(Some(FailureClass::Missing), FailureClass::of);
            let is_in = run.prepare(reference, prediction.unwrap_or(&nothing), failure, &mut chunk);
            left_out.push(failure.filter(|_| !is_in));
            if chunk.is_full() {
                scores.extend(run.score(std::mem::take(&mut chunk), embedder, &mut |_, _| ())?);
            }
        }
        scores.extend(run.score(chunk, embedder, &mut |_, _| ())?);
        let mut scores = scores.into_iter();
        // There is a score for each pair that is not left out.
        Ok(left_out
            .into_iter()
            .filter_map(|failure| failure.map_or_else(|| scores.next().map(Ok), |it| Some(Err(it))))
            .collect())
    }

    /// Compares two calls of one tool, argument by argument: how far they ask for the same.
    ///
    /// # Errors
    /// [`ScoreError::Encoder`].
    pub fn fidelity(&mut self, pair: CallPair<'_>) -> Result<CallFidelity, ScoreError> {
        let mut fidelity = Fidelity::new(self.options.catalog).by_model(self.options.model.cloned());
        let mut compared = CallFidelity::default();
        fidelity.compare_all(1, &|_| pair, self.embedder, &mut |_, _| (), &mut |_, call| compared = call)?;
        Ok(compared)
    }
}
