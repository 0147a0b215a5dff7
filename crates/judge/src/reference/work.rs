//! Judges all tasks: several at once, and the runs of one task one after the other.

use std::rc::Rc;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _};
use m3_images::task_image::TaskImage;
use m3_llm::{Picture, PictureError, Pictures};
use m3_outcomes::KnownTools;
use m3_support::text::{hash_of_bytes, on_one_line, shortened};
use m3_trajectory::json::Keys;
use m3_trajectory::{Trajectory, TrajectoryFile};
use tokio_util::sync::CancellationToken;

use super::JudgeError;
use super::ask::{Asker, QuestionCost};
use super::build::{reference, refused};
use super::choose::{disagreements, in_order};
use super::decide::{Case, NAME, by_judge, by_rules_alone, refusal_beforehand};
use super::prompts::prompt_hashes;
use super::provenance::{
    JudgeMode, JudgedRun, Provenance, REFERENCE_SCHEMA, Refusal, RefusalKind, Status, Verification,
    VerificationResult,
};
use super::verify::Verifier;
use crate::{Chain, chain_of_run};

/// A task and all its runs.
#[derive(Debug)]
pub struct JudgeTask {
    /// The id of the task.
    pub id: String,
    /// The runs of the task, in the order of the files.
    pub runs: Vec<RunSource>,
}

/// The place of a run in its file, and its image.
#[derive(Debug)]
pub struct RunSource {
    /// The file that holds the run.
    pub file: Rc<TrajectoryFile>,
    /// The index of the run among the file's trajectories.
    pub index: usize,
    /// The image of the run, if it has one that was found.
    pub image: Option<TaskImage>,
}

/// Everything that judging needs.
pub struct JudgeWork {
    /// The tasks.
    pub tasks: Vec<JudgeTask>,
    /// The judge; `None` for rules alone.
    pub asker: Option<Asker>,
    /// Pictures that runs share.
    pub pictures: Pictures,
    /// The known tools, by which calls without a recorded outcome are classified.
    pub tools: KnownTools,
    /// The verifier that replays references; `None` for no replay.
    pub verifier: Option<Verifier>,
    /// The number of tasks judged at once.
    pub workers: usize,
    /// Cancelled when nothing new should be begun.
    pub stop: CancellationToken,
}

/// A task that was judged.
#[derive(Debug)]
pub struct JudgedTask {
    /// The reference, or the first run as it was; each with its provenance under the key `judge`.
    pub trajectory: Trajectory,
    /// The provenance that is also in `trajectory`.
    pub provenance: Provenance,
}

/// How judging ended.
#[derive(Debug)]
pub struct JudgeEnd {
    /// Tasks that were judged, in the order of [`JudgeWork::tasks`].
    pub tasks: Vec<JudgedTask>,
    /// Whether judging was stopped before all tasks were judged.
    pub is_interrupted: bool,
}

/// A run that was decided on.
struct DecidedRun {
    judged: JudgedRun,
    trajectory: Trajectory,
    /// The reference that the run would give, unless the run was refused.
    reference: Option<Trajectory>,
}

impl JudgeWork {
    /// Judges all tasks. `on_task` gets each task as soon as it is done.
    ///
    /// # Errors
    /// [`JudgeError`] if judging cannot go on; the answers until then are in the journal.
    pub async fn go(&self, on_task: &mut dyn FnMut(&JudgedTask)) -> Result<JudgeEnd, JudgeError> {
        let tasks = self.tasks.iter().enumerate();
        let judged = stream::iter(tasks).map(|(index, task)| async move { (index, self.judge(task).await) });
        let mut judged = std::pin::pin!(judged.buffer_unordered(self.workers.max(1)));
        let mut done = Vec::with_capacity(self.tasks.len());
        let mut is_interrupted = false;
        while let Some((index, task)) = judged.next().await {
            match task {
                Ok(task) => {
                    on_task(&task);
                    done.push((index, task));
                }
                // Other tasks may be done all the same.
                Err(JudgeError::Interrupted) => is_interrupted = true,
                Err(error) => return Err(error),
            }
        }
        done.sort_by_key(|(index, _)| *index);
        Ok(JudgeEnd { tasks: done.into_iter().map(|(_, task)| task).collect(), is_interrupted })
    }

    async fn judge(&self, task: &JudgeTask) -> Result<JudgedTask, JudgeError> {
        let mut decided = Vec::with_capacity(task.runs.len());
        for run in &task.runs {
            // Rules alone never wait, and signals must still be handled.
            tokio::task::yield_now().await;
            if self.stop.is_cancelled() {
                return Err(JudgeError::Interrupted);
            }
            decided.push(self.decide_run(run).await?);
        }
        let chosen = self.choose(&mut decided).await?;
        let mut differences = Vec::new();
        if let Some(best) = chosen.and_then(|chosen| decided[chosen].reference.as_ref()) {
            let others = decided.iter().enumerate();
            let others =
                others.filter(|(run, other)| Some(*run) != chosen && other.judged.status == Status::Accepted);
            for (run, other) in others.filter_map(|(run, other)| Some((run, other.reference.as_ref()?))) {
                differences.extend(disagreements(best, run, other));
            }
        }
        let is_undecided = decided.iter().any(|run| run.judged.status == Status::Undecided);
        let status = match chosen {
            Some(_) => Status::Accepted,
            None if is_undecided => Status::Undecided,
            None => Status::Rejected,
        };
        let mut trajectory = match chosen.and_then(|chosen| decided[chosen].reference.take()) {
            Some(reference) => reference,
            None => decided.first().map(|run| refused(&run.trajectory)).unwrap_or_default(),
        };
        let provenance = self.provenance(status, chosen, decided, differences);
        trajectory.set_member(&provenance);
        Ok(JudgedTask { trajectory, provenance })
    }

    fn provenance(
        &self,
        status: Status,
        chosen: Option<usize>,
        decided: Vec<DecidedRun>,
        disagreements: Vec<super::Disagreement>,
    ) -> Provenance {
        let model = self.asker.as_ref().map(|asker| asker.model().name().to_string());
        Provenance {
            schema: REFERENCE_SCHEMA.to_owned(),
            m3: env!("CARGO_PKG_VERSION").to_owned(),
            status,
            mode: if model.is_some() { JudgeMode::Model } else { JudgeMode::Rules },
            prompts: model.is_some().then(prompt_hashes),
            model,
            chosen,
            runs: decided.into_iter().map(|run| run.judged).collect(),
            disagreements,
            written: None,
        }
    }

    /// Decides on one run and builds the reference that it would give.
    async fn decide_run(&self, source: &RunSource) -> Result<DecidedRun, JudgeError> {
        let trajectory = source.file.read(source.index)?;
        let chain = Arc::new(chain_of_run(&trajectory, &self.tools));
        let mut judged = unjudged(source, &trajectory);
        if let Some(image) = &source.image {
            judged.image = blocking(image, |image| image.hash().map(str::to_owned)).await.flatten();
        }
        match refusal_beforehand(&trajectory, &chain, self.asker.is_some()) {
            Some(refusal) => judged.refusal = Some(refusal),
            None => self.decide(source, &trajectory, &chain, &mut judged).await?,
        }
        judged.status = judged.refusal.as_ref().map_or(Status::Accepted, |refusal| refusal.kind.status());
        let reference = judged.reconstruction.as_ref();
        let reference = reference.map(|steps| self::reference(&trajectory, &chain, steps));
        Ok(DecidedRun { judged, trajectory, reference })
    }

    async fn decide(
        &self,
        source: &RunSource,
        run: &Trajectory,
        chain: &Arc<Chain>,
        judged: &mut JudgedRun,
    ) -> Result<(), JudgeError> {
        let Some(asker) = &self.asker else { return by_rules_alone(chain, judged).await };
        let picture = match &source.image {
            None => None,
            Some(image) => match self.picture(asker, image).await {
                Ok(picture) => Some(picture),
                Err(reason) => {
                    judged.refuse(RefusalKind::ImageUnusable, shortened(&on_one_line(&reason), NAME));
                    return Ok(());
                }
            },
        };
        by_judge(asker, Case { run, chain, picture, asked: QuestionCost::default() }, judged).await
    }

    async fn picture(&self, asker: &Asker, image: &TaskImage) -> Result<Arc<Picture>, String> {
        let (pictures, limits) = (self.pictures.clone(), asker.model().image_limits());
        let made = blocking(image, move |image| pictures.get(image.source(), &limits)).await;
        made.ok_or_else(|| "it could not be read".to_owned())?
            .map_err(|error: PictureError| error.to_string())
    }

    /// Chooses the run that gives the reference: the shortest, or with a replay the shortest that passes it.
    async fn choose(&self, decided: &mut [DecidedRun]) -> Result<Option<usize>, JudgeError> {
        let candidates = decided.iter().enumerate();
        let candidates = candidates.filter_map(|(run, decided)| Some((run, decided.reference.as_ref()?)));
        for run in in_order(candidates.collect()) {
            let Some(verifier) = &self.verifier else { return Ok(Some(run)) };
            let DecidedRun { judged, reference, .. } = &mut decided[run];
            let Some(reference) = reference else { continue };
            let verification = verifier.verify(reference, judged.image.as_deref()).await?;
            judged.refusal = refusal_by(&verification);
            judged.status = judged.refusal.as_ref().map_or(Status::Accepted, |refusal| refusal.kind.status());
            judged.verification = Some(verification);
            if judged.status == Status::Accepted {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}

/// What is known about a run before the judge is asked.
fn unjudged(source: &RunSource, trajectory: &Trajectory) -> JudgedRun {
    JudgedRun {
        file: shortened(source.file.name(), NAME),
        index: source.index,
        model: trajectory.model().map(|model| shortened(model, NAME)),
        repeat: trajectory.repeat(),
        content: hash_of_bytes(trajectory.to_json().to_text(Keys::Sorted).as_bytes()),
        steps: trajectory.steps.len(),
        calls: trajectory.call_count(),
        ..JudgedRun::default()
    }
}

fn refusal_by(verification: &Verification) -> Option<Refusal> {
    let kind = match verification.result {
        VerificationResult::Passed => return None,
        VerificationResult::Failed => RefusalKind::VerificationFailed,
        VerificationResult::NotPossible => RefusalKind::NotVerified,
    };
    let reasons = verification.failures.iter().take(3).map(|failure| {
        let (step, tool) = (failure.place.step + 1, shortened(&failure.tool, NAME));
        let evidence =
            if failure.evidence.is_empty() { String::new() } else { format!(" ({})", failure.evidence) };
        format!("`{tool}` in step {step}: {}{evidence}", failure.outcome)
    });
    Some(Refusal { kind, reason: reasons.collect::<Vec<_>>().join("; ") })
}

/// Runs work on an image's file on another thread; `None` if it failed to finish.
async fn blocking<T: Send + 'static>(
    image: &TaskImage,
    act: impl FnOnce(&TaskImage) -> T + Send + 'static,
) -> Option<T> {
    let image = image.clone();
    tokio::task::spawn_blocking(move || act(&image)).await.ok()
}
