//! Asks graders: [`Panel`]. A grader that fails is missing and the rest goes on.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _};
use m3_llm::{Breaker, MAX_FAILED_TASKS, Model, Pictures, Retry, Settings, Usage};
use m3_support::journal::JournalError;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::conversation::{Conversation, Listeners, parts};
use super::question::{Question, question};
use super::rubric::{Aspect, Rubric};
use super::store::{AnswerStore, KeptAnswer};
use super::subject::Subject;
use crate::asking::AskedModel;

/// One grader of the panel.
#[derive(Debug)]
pub struct Grader {
    /// The model's name.
    pub name: String,
    /// The model, or why it cannot be asked.
    pub model: Result<Model, String>,
    /// Whether the grader is shown images.
    pub has_eyes: bool,
}

/// Graders, and how they are asked.
#[derive(Debug)]
pub struct Panel {
    /// The graders.
    pub graders: Vec<Grader>,
    /// The settings of all graders' replies.
    pub settings: Settings,
    /// The rubric they are asked by.
    pub rubric: Rubric,
    /// How often each judge is asked the same, at least 1.
    pub passes: u32,
    /// The seed of the orders, for a rubric that changes the order of its questions: pass p has the order of this
    /// number and p.
    pub seed: u64,
    /// The most requests at once.
    pub workers: usize,
}

/// The outcome of one request.
#[derive(Debug, Clone, PartialEq)]
pub struct GraderAnswer {
    /// The index of the subject.
    pub subject: usize,
    /// The index of the grader.
    pub grader: usize,
    /// The aspect that was asked about.
    pub aspect: Aspect,
    /// The number of the pass, from 1.
    pub pass: u32,
    /// The answer, or why there is none.
    pub answer: Result<Answer, String>,
}

/// The outcome of all requests.
#[derive(Debug, Default)]
pub struct PanelAnswers {
    /// The answers, in the order of subjects, graders, aspects and passes.
    pub answers: Vec<GraderAnswer>,
    /// The number of replies requested now.
    pub requests: usize,
    /// The number of answers that were kept from before.
    pub reused: usize,
    /// The tokens of the replies requested now.
    pub usage: Usage,
    /// Whether asking ended before everything was asked.
    pub is_interrupted: bool,
}

/// A request of a grader.
struct Asking {
    subject: usize,
    id: String,
    grader: usize,
    pass: u32,
    question: Arc<Question>,
}

impl Panel {
    /// The number of requests about this many subjects, counting those that need a missing reference.
    #[must_use]
    pub fn requests(&self, subjects: usize) -> usize {
        subjects * self.graders.len() * self.rubric.aspects().count() * self.passes as usize
    }

    /// Asks all graders about all subjects, except for what the store can answer. Once `cancel` is cancelled, nothing
    /// more is asked; replies that are under way are waited for a moment, and kept.
    ///
    /// # Errors
    /// [`JournalError`] if answers cannot be kept.
    pub async fn ask(
        &self,
        subjects: impl Iterator<Item = Subject>,
        store: &AnswerStore,
        cancel: &CancellationToken,
        listeners: &Listeners<'_>,
    ) -> Result<PanelAnswers, JournalError> {
        let pictures = Arc::new(Pictures::new());
        let breaker = |grader: &Grader| {
            let breaker = Breaker::among_others();
            if store.had_answers_of(&grader.name) {
                breaker.replied_before();
            }
            breaker
        };
        let breakers: Vec<Breaker> = self.graders.iter().map(breaker).collect();
        let askings = subjects
            .enumerate()
            .take_while(|_| !cancel.is_cancelled())
            .flat_map(|(index, subject)| self.askings(index, &subject));
        let (breakers, pictures) = (&breakers, &pictures);
        let replies = stream::iter(askings)
            .map(|asking| async move {
                let work =
                    Work { store, breaker: &breakers[asking.grader], pictures, listeners, stop: cancel };
                let outcome = self.answered(&asking, &work).await;
                (asking, outcome)
            })
            .buffer_unordered(self.workers.max(1));
        let mut replies = std::pin::pin!(replies);
        let mut asked = PanelAnswers::default();
        while let Some((asking, outcome)) = replies.next().await {
            let outcome = outcome?;
            asked.requests += outcome.requests;
            asked.reused += usize::from(outcome.is_reused);
            asked.usage = asked.usage.plus(outcome.usage);
            let Some(answer) = outcome.answer else { continue };
            let Asking { subject, grader, pass, question, .. } = asking;
            asked.answers.push(GraderAnswer { subject, grader, aspect: question.aspect, pass, answer });
            (listeners.done)(asked.answers.len());
        }
        asked.is_interrupted = cancel.is_cancelled();
        asked
            .answers
            .sort_by_key(|answer| (answer.subject, answer.grader, answer.aspect.position(), answer.pass));
        Ok(asked)
    }

    /// The requests about a subject. Questions that graders share are made once.
    fn askings(&self, subject: usize, content: &Subject) -> Vec<Asking> {
        let mut askings = Vec::new();
        for aspect in self.rubric.aspects() {
            for pass in 1..=self.passes {
                let order = self.seed.wrapping_add(u64::from(pass)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let mut made: [Option<Option<Arc<Question>>>; 2] = [None, None];
                for (grader, Grader { has_eyes, .. }) in self.graders.iter().enumerate() {
                    let made = made[usize::from(*has_eyes)]
                        .get_or_insert_with(|| question(content, aspect, *has_eyes, order));
                    let Some(question) = made.clone() else { continue };
                    askings.push(Asking {
                        subject,
                        id: content.prediction.id.clone(),
                        grader,
                        pass,
                        question,
                    });
                }
            }
        }
        askings
    }

    async fn answered(&self, asking: &Asking, work: &Work<'_>) -> Result<Outcome, JournalError> {
        // Known answers take no time, so without this no other task would get its turn.
        tokio::task::yield_now().await;
        let grader = &self.graders[asking.grader];
        let key = asking.question.key(&grader.name, &asking.id, asking.pass, &self.settings);
        if let Some(answer) = work.store.get(&key) {
            return Ok(Outcome { answer: Some(Ok(answer)), is_reused: true, ..Outcome::default() });
        }
        let model = match &grader.model {
            Ok(_) if work.breaker.is_given_up() => {
                let reason = format!(
                    "not asked any more: it cannot be asked, or failed at {MAX_FAILED_TASKS} tasks in a row"
                );
                return Ok(Outcome::missing(reason));
            }
            Ok(model) => model,
            Err(reason) => return Ok(Outcome::missing(reason.clone())),
        };
        let parts = match parts(&asking.question, model, work.pictures).await {
            Ok(parts) => parts,
            Err(reason) => return Ok(Outcome::missing(reason)),
        };
        let on_retry = |retry: Retry| (work.listeners.retry)(&grader.name, retry);
        let conversation = Conversation {
            question: &asking.question,
            id: &asking.id,
            pass: asking.pass,
            model: AskedModel { model, breaker: work.breaker, on_retry: &on_retry, stop: work.stop },
            settings: &self.settings,
        };
        let mut outcome = Outcome::default();
        let held = conversation.hold(parts, &mut outcome.requests, &mut outcome.usage).await;
        outcome.answer = match held {
            Some(Ok((answer, reply))) => {
                work.store.put(&KeptAnswer {
                    key,
                    judge: grader.name.clone(),
                    id: asking.id.clone(),
                    aspect: asking.question.aspect,
                    pass: asking.pass,
                    answer: answer.clone(),
                    reply,
                    usage: outcome.usage,
                })?;
                Some(Ok(answer))
            }
            Some(Err(reason)) => Some(Err(reason)),
            None => None,
        };
        Ok(outcome)
    }
}

/// The state that requests of one grader share.
struct Work<'a> {
    store: &'a AnswerStore,
    breaker: &'a Breaker,
    pictures: &'a Arc<Pictures>,
    listeners: &'a Listeners<'a>,
    stop: &'a CancellationToken,
}

/// The outcome of a request.
#[derive(Default)]
struct Outcome {
    /// `None` if the work was stopped before there was an answer.
    answer: Option<Result<Answer, String>>,
    requests: usize,
    is_reused: bool,
    usage: Usage,
}

impl Outcome {
    fn missing(reason: String) -> Self {
        Self { answer: Some(Err(reason)), ..Self::default() }
    }
}
