//! Asks judges: [`Panel`]. A judge that fails is missing and the rest goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use futures_util::stream::{self, StreamExt as _};
use tokio_util::sync::CancellationToken;

use super::answer::{Answer, Read, read};
use super::question::{Question, Subject, again, question};
use super::rubric::{Aspect, Rubric};
use super::store::{AnswerStore, KeptAnswer};
use crate::journal::JournalError;
use crate::llm::{
    Assistant, Message, Model, ModelError, Part, PictureLimits, Pictures, Reply, Request, Retry, Scope,
    Settings, Usage,
};
use crate::text::{error_with_causes, on_one_line, shortened};

/// How often a judge is asked again whose reply cannot be read.
const ASKED_AGAIN: u32 = 2;

/// A judge that failed so often in a row is not asked any more.
const FAILURES: u32 = 3;

/// The longest reply that is kept, in bytes.
const REPLY_KEPT: usize = 20_000;

/// The longest reason that is reported, in columns.
const REASON: usize = 300;

/// One judge.
#[derive(Debug)]
pub struct Judge {
    /// The model's name.
    pub name: String,
    /// The model; none where it cannot be asked, with the reason.
    pub model: Result<Model, String>,
    /// Whether it is shown images.
    pub has_eyes: bool,
}

/// Judges, and how they are asked.
#[derive(Debug)]
pub struct Panel {
    /// The judges.
    pub judges: Vec<Judge>,
    /// What they are asked.
    pub rubric: Rubric,
    /// How often each is asked the same, from 1.
    pub passes: u32,
    /// Which orders of MCP-Bench's respects: those of pass p are numbered by this and p.
    pub seed: u64,
    /// Requests at once.
    pub workers: usize,
}

/// What came of one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// Which subject.
    pub subject: usize,
    /// Which judge.
    pub judge: usize,
    /// What was asked.
    pub aspect: Aspect,
    /// From 1.
    pub pass: u32,
    /// The answer, or why there is none.
    pub answer: Result<Answer, String>,
}

/// What came of all of them.
#[derive(Debug, Default)]
pub struct Asked {
    /// In the order of subjects, judges, aspects and passes.
    pub given: Vec<Given>,
    /// Replies that were asked for now.
    pub requests: usize,
    /// Answers that were there already.
    pub reused: usize,
    /// Tokens of what was asked for now.
    pub usage: Usage,
    /// Whether it was ended before all was asked.
    pub is_interrupted: bool,
}

/// Asking had to end.
#[derive(Debug, thiserror::Error)]
pub enum PanelError {
    /// Answers cannot be kept.
    #[error(transparent)]
    Store(#[from] JournalError),
}

/// Told while judges are asked.
pub struct Told<'a> {
    /// How many requests are answered.
    pub done: &'a (dyn Fn(usize) + Sync),
    /// A try that failed, by the judge's name.
    pub retry: &'a (dyn Fn(&str, Retry) + Send + Sync),
}

/// How a judge fares.
#[derive(Default)]
struct Fate {
    failures: AtomicU32,
    is_given_up: AtomicBool,
}

/// A request of a judge.
struct Asking {
    subject: usize,
    id: String,
    judge: usize,
    pass: u32,
    question: Arc<Question>,
}

impl Panel {
    /// How many requests `subjects` subjects take, those that need a reference which is missing included.
    #[must_use]
    pub fn requests(&self, subjects: usize) -> usize {
        subjects * self.judges.len() * self.rubric.aspects().len() * self.passes as usize
    }

    /// Asks all judges about all subjects. What is in the store is not asked. When `cancel` is cancelled, what was
    /// answered is kept and the rest is left.
    ///
    /// # Errors
    /// [`PanelError`] if answers cannot be kept.
    pub async fn ask(
        &self,
        subjects: impl Iterator<Item = Subject>,
        store: &AnswerStore,
        cancel: &CancellationToken,
        told: &Told<'_>,
    ) -> Result<Asked, PanelError> {
        let pictures = Arc::new(Pictures::new());
        let fates: Vec<Fate> = self.judges.iter().map(|_| Fate::default()).collect();
        let askings = subjects.enumerate().flat_map(|(index, subject)| self.askings(index, &subject));
        let (fates, pictures) = (&fates, &pictures);
        let replies = stream::iter(askings)
            .map(|asking| async move {
                let outcome = self.answered(&asking, store, &fates[asking.judge], pictures, told).await;
                (asking, outcome)
            })
            .buffer_unordered(self.workers.max(1));
        let mut replies = std::pin::pin!(replies);
        let mut asked = Asked::default();
        loop {
            let next = tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    asked.is_interrupted = true;
                    None
                }
                next = replies.next() => next,
            };
            let Some((asking, outcome)) = next else { break };
            let outcome = outcome?;
            asked.requests += outcome.requests;
            asked.reused += usize::from(outcome.is_reused);
            asked.usage = asked.usage.plus(outcome.usage);
            let Asking { subject, judge, pass, question, .. } = asking;
            asked.given.push(Given { subject, judge, aspect: question.aspect, pass, answer: outcome.answer });
            (told.done)(asked.given.len());
        }
        asked.given.sort_by_key(|given| (given.subject, given.judge, given.aspect, given.pass));
        Ok(asked)
    }

    /// What is asked about a subject. Questions that judges share are made once.
    fn askings(&self, subject: usize, content: &Subject) -> Vec<Asking> {
        let mut askings = Vec::new();
        for &aspect in self.rubric.aspects() {
            for pass in 1..=self.passes {
                let order = self.seed.wrapping_add(u64::from(pass)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let mut made: [Option<Option<Arc<Question>>>; 2] = [None, None];
                for (judge, Judge { has_eyes, .. }) in self.judges.iter().enumerate() {
                    let made = made[usize::from(*has_eyes)]
                        .get_or_insert_with(|| question(content, aspect, *has_eyes, order));
                    let Some(question) = made.clone() else { continue };
                    askings.push(Asking {
                        subject,
                        id: content.prediction.id.clone(),
                        judge,
                        pass,
                        question,
                    });
                }
            }
        }
        askings
    }

    async fn answered(
        &self,
        asking: &Asking,
        store: &AnswerStore,
        fate: &Fate,
        pictures: &Arc<Pictures>,
        told: &Told<'_>,
    ) -> Result<Outcome, PanelError> {
        let judge = &self.judges[asking.judge];
        let key = asking.question.key(&judge.name, &asking.id, asking.pass);
        if let Some(answer) = store.get(&key) {
            return Ok(Outcome { answer: Ok(answer), is_reused: true, ..Outcome::default() });
        }
        let model = match &judge.model {
            Ok(_) if fate.is_given_up.load(Ordering::Relaxed) => {
                return Ok(Outcome::missing(format!(
                    "not asked any more after {FAILURES} failures in a row"
                )));
            }
            Ok(model) => model,
            Err(reason) => return Ok(Outcome::missing(reason.clone())),
        };
        let mut outcome = Outcome::default();
        let parts = match parts(&asking.question, model, pictures).await {
            Ok(parts) => parts,
            Err(reason) => return Ok(Outcome::missing(reason)),
        };
        let conversation = Conversation { asking, model, parts, told, name: &judge.name };
        match conversation.hold(&mut outcome).await {
            Ok(Ok((answer, reply))) => {
                fate.failures.store(0, Ordering::Relaxed);
                store.put(&KeptAnswer {
                    key,
                    judge: judge.name.clone(),
                    id: asking.id.clone(),
                    aspect: asking.question.aspect,
                    pass: asking.pass,
                    answer: answer.clone(),
                    reply,
                    usage: outcome.usage,
                })?;
                outcome.answer = Ok(answer);
            }
            Ok(Err(problem)) => {
                // It can be reached.
                fate.failures.store(0, Ordering::Relaxed);
                outcome.answer = Err(problem);
            }
            Err(error) => {
                let failures = fate.failures.fetch_add(1, Ordering::Relaxed) + 1;
                if failures >= FAILURES || error.is_of_used_account() {
                    fate.is_given_up.store(true, Ordering::Relaxed);
                }
                outcome.answer = Err(shortened(&on_one_line(&error_with_causes(&error)), REASON));
            }
        }
        Ok(outcome)
    }
}

/// What came of a request.
struct Outcome {
    answer: Result<Answer, String>,
    requests: usize,
    is_reused: bool,
    usage: Usage,
}

impl Default for Outcome {
    fn default() -> Self {
        Self { answer: Ok(Answer::default()), requests: 0, is_reused: false, usage: Usage::default() }
    }
}

impl Outcome {
    fn missing(reason: String) -> Self {
        Self { answer: Err(reason), ..Self::default() }
    }
}

/// The evidence and the image, as this judge takes them.
async fn parts(question: &Question, model: &Model, pictures: &Arc<Pictures>) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    if let Some(picture) = &question.picture {
        let (max_side, max_bytes) = model.image_limits();
        let (path, pictures) = (picture.path.clone(), Arc::clone(pictures));
        let limits = PictureLimits { max_side, max_bytes };
        let read = tokio::task::spawn_blocking(move || pictures.get(&path, &limits)).await;
        let reason = |error: &(dyn std::error::Error + 'static)| {
            shortened(&on_one_line(&error_with_causes(error)), REASON)
        };
        let picture = read.map_err(|error| reason(&error))?.map_err(|error| reason(&error))?;
        parts.push(Part::Image(picture));
    }
    parts.push(Part::Text(question.evidence.clone()));
    Ok(parts)
}

/// A question and its answer, and what is said where that cannot be read.
struct Conversation<'a> {
    asking: &'a Asking,
    model: &'a Model,
    parts: Vec<Part>,
    told: &'a Told<'a>,
    name: &'a str,
}

impl Conversation<'_> {
    /// The answer with the reply that has it, or what is wrong with the last reply.
    async fn hold(self, outcome: &mut Outcome) -> Result<Result<(Answer, String), String>, ModelError> {
        let Self { asking, model, parts, told, name } = self;
        let question = &asking.question;
        let mut request = Request {
            system: question.system.clone(),
            messages: vec![Arc::new(Message::User(parts))],
            settings: Settings::default(),
            ..Request::default()
        };
        let scope = Scope {
            task: format!("{}/{}", asking.id, question.aspect.main()),
            repeat: asking.pass,
            attempt: 1,
            workspace: None,
        };
        let mut last = None;
        for _ in 0..=ASKED_AGAIN {
            let answered = model.ask(&request, &scope, &|retry| (told.retry)(name, retry)).await?;
            outcome.requests += 1;
            outcome.usage = outcome.usage.plus(answered.reply.usage);
            let text = &answered.reply.text;
            let problem = match read(question.aspect, question.matrix, text) {
                Ok(Read::Whole(answer)) => return Ok(Ok((answer, kept(text)))),
                Ok(Read::WithoutMatrix(answer, problem)) => {
                    last = Some(Ok((answer, kept(text))));
                    problem
                }
                Err(problem) => {
                    // A score that could be read once stays.
                    if !matches!(last, Some(Ok(_))) {
                        last = Some(Err(problem.clone()));
                    }
                    problem
                }
            };
            request.messages.push(Arc::new(Message::Assistant(said(&answered.reply))));
            request.messages.push(Arc::new(Message::User(vec![Part::Text(again(&problem))])));
        }
        let nothing = || Err("it said nothing".to_owned());
        Ok(last.unwrap_or_else(nothing).map_err(|problem| format!("its reply cannot be read: {problem}")))
    }
}

/// The reply as it is said again. Providers take no empty message.
fn said(reply: &Reply) -> Assistant {
    let said = reply.to_assistant();
    if said.text.trim().is_empty() {
        return Assistant { text: "(nothing)".to_owned(), ..Assistant::default() };
    }
    // No tool was offered; a call without its result would be refused.
    Assistant { calls: Vec::new(), raw: said.raw.filter(|_| said.calls.is_empty()), ..said }
}

fn kept(reply: &str) -> String {
    reply[..reply.floor_char_boundary(REPLY_KEPT)].to_owned()
}
