//! Asks the judge. Questions that were asked before are answered from the journal.

use std::sync::Arc;

use m3_llm::{
    Assistant, Breaker, FailureScope, Message, Model, Part, Picture, Request, Retry, Scope, Settings, Usage,
};
use m3_support::canonical::hash_of;
use m3_support::journal::JournalError;
use m3_support::redact::Redactor;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::JudgeError;
use super::journal::{JournalRecord, JudgeJournal, KeptAnswer};
use crate::asking::{AskedModel, NoReply};

/// A callback for each failed try of a request.
pub type OnRetry = Arc<dyn Fn(Retry) + Send + Sync>;

/// A client that asks the judge and keeps its replies in the journal.
pub struct Asker {
    model: Model,
    settings: Settings,
    journal: Arc<JudgeJournal>,
    /// Removes secrets that a reply may repeat.
    redactor: Redactor,
    stop: CancellationToken,
    on_retry: OnRetry,
    breaker: Breaker,
}

/// The tokens and models of the questions about a run.
#[derive(Debug, Default)]
pub(super) struct QuestionCost {
    pub(super) usage: Usage,
    /// The models that answered, according to the provider.
    pub(super) models: Vec<String>,
    /// Whether the model itself has replied, rather than the journal: then a later failure concerns that question
    /// alone.
    is_answered: bool,
}

/// Questions that build on one another.
pub(super) struct Conversation<'a> {
    asker: &'a Asker,
    scope: Scope,
    request: Request,
}

impl Asker {
    /// Creates a client that asks `model` with `settings` until `stop` is cancelled. `on_retry` receives each failed try.
    #[must_use]
    pub fn new(
        model: Model,
        settings: Settings,
        journal: Arc<JudgeJournal>,
        redactor: Redactor,
        stop: CancellationToken,
        on_retry: OnRetry,
    ) -> Self {
        let breaker = Breaker::default();
        if journal.has_answers() {
            breaker.replied_before();
        }
        Self { model, settings, journal, redactor, stop, on_retry, breaker }
    }

    /// The model that is asked.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Begins a conversation about a run of a task.
    pub(super) fn begin(
        &self,
        task: &str,
        system: String,
        text: String,
        picture: Option<Arc<Picture>>,
    ) -> Conversation<'_> {
        let parts = picture.map(Part::Image).into_iter().chain([Part::Text(text)]).collect();
        let (messages, settings) = (vec![Arc::new(Message::User(parts))], self.settings.clone());
        let request = Request { system, messages, settings, ..Request::default() };
        let scope = Scope { task: task.to_owned(), repeat: 1, attempt: 1, workspace: None };
        Conversation { asker: self, scope, request }
    }

    /// The reply to a request, or why this request alone gets none. `is_answered` tells whether the model has replied to
    /// another request about the run.
    async fn ask(
        &self,
        request: &Request,
        scope: &Scope,
        is_answered: &mut bool,
    ) -> Result<Result<KeptAnswer, String>, JudgeError> {
        let key = self.key(request, &scope.task);
        if let Some(JournalRecord::Answer(answer)) = self.journal.get(&key) {
            return Ok(Ok(answer));
        }
        let Self { model, breaker, stop, .. } = self;
        let model = AskedModel { model, breaker, on_retry: &*self.on_retry, stop };
        let reply = match model.ask(request, scope, (&scope.task, !*is_answered)).await {
            Ok(reply) => reply,
            Err(NoReply::Stopped) => return Err(JudgeError::Interrupted),
            Err(NoReply::Failed { cause: Ok(blocker), scope: FailureScope::Model }) => {
                return Err(blocker.into());
            }
            Err(NoReply::Failed { cause: Ok(blocker), .. }) => return Ok(Err(blocker.to_string())),
            Err(NoReply::Failed { cause: Err(error), .. }) => return Ok(Err(error.to_string())),
        };
        *is_answered = true;
        let text = self.redactor.text(&reply.text).into_owned();
        let answer = KeptAnswer { text, model: reply.model, usage: reply.usage };
        self.journal.keep(&key, &scope.task, JournalRecord::Answer(answer.clone()))?;
        Ok(Ok(answer))
    }

    /// The hash of everything that an answer depends on: the model and the whole request, which contains the prompts,
    /// the run, its results and the image.
    fn key(&self, request: &Request, task: &str) -> String {
        let messages: Vec<Value> = request.messages.iter().map(|message| in_json(message)).collect();
        hash_of(&json!({
            "kind": "judge answer",
            "task": task,
            "model": self.model.name().to_string(),
            "system": request.system,
            "messages": messages,
            "settings": request.settings,
        }))
    }
}

fn in_json(message: &Message) -> Value {
    match message {
        Message::User(parts) => {
            let part = |part: &Part| match part {
                Part::Text(text) => json!({"text": text}),
                // The hash of the image, not its bytes.
                Part::Image(picture) => json!({"image": **picture}),
            };
            json!({"user": parts.iter().map(part).collect::<Vec<_>>()})
        }
        Message::Assistant(said) => json!({"assistant": said.text}),
        // The judge is offered no tools.
        Message::ToolResults(_) => Value::Null,
    }
}

impl Conversation<'_> {
    /// The next reply, or why this question gets none.
    pub(super) async fn next(
        &mut self,
        asked: &mut QuestionCost,
    ) -> Result<Result<String, String>, JudgeError> {
        let answer = match self.asker.ask(&self.request, &self.scope, &mut asked.is_answered).await? {
            Ok(answer) => answer,
            Err(reason) => return Ok(Err(reason)),
        };
        asked.usage = asked.usage.plus(answer.usage);
        if let Some(model) = answer.model
            && !asked.models.contains(&model)
        {
            asked.models.push(model);
        }
        Ok(Ok(answer.text))
    }

    /// Keeps the last reply from being reused by the next command: it was unusable, and another one may be better.
    pub(super) fn withdraw(&self, reason: &str) -> Result<(), JournalError> {
        let Self { asker, scope, request } = self;
        let key = asker.key(request, &scope.task);
        asker.journal.keep(&key, &scope.task, JournalRecord::Withdrawn(reason.to_owned()))
    }

    /// Adds the judge's `reply` and the next message, `text`, to the conversation.
    pub(super) fn reply_to(&mut self, reply: String, text: String) {
        // The message has no data of the wire, so that a reply from the journal leads to the same request.
        let message = Assistant { text: reply, ..Assistant::default() };
        self.request.messages.push(Arc::new(Message::Assistant(message)));
        self.request.messages.push(Arc::new(Message::User(vec![Part::Text(text)])));
    }
}
