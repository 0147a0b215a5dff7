//! The state of an attempt: the conversation so far, what was used up, what is recorded.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use m3_llm::{
    Assistant, Message, Model, ModelAnswer, ModelBlocker, ModelError, Part, Picture, Reply, ReplyCall,
    Request, Retry, Scope, Settings, ToolAnswer, ToolDefinitions, Usage,
};
use m3_support::redact::Redactor;
use m3_support::text::milliseconds;
use m3_trajectory::{FailureClass, Task, TurnRecord};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::dialogue;
use super::picture_room::{ShownPicture, make_room};
use super::pool::Pool;
use super::prompts::{TaskPrompt, filled, quoted};
use super::stop::Stop;
use super::{
    CallRecord, Event, Events, FinishReason, OfferedTools, Record, RunOptions, StepRecord, TaskEvent, Tools,
};

/// Everything that is needed to run a task once. The caller starts the servers and prepares the image.
pub struct Attempt<'a> {
    /// The task to run.
    pub task: &'a Task,
    /// The task's image: the path for tools, relative to the workspace, and the picture that the model is shown.
    pub image: Option<(String, Arc<Picture>)>,
    /// The task's workspace.
    pub workspace: &'a Path,
    /// The tools that can be called.
    pub tools: &'a Tools,
    /// The tools that the model is offered; calls of any other count as calls of unknown tools.
    pub offered: Arc<OfferedTools>,
    /// The model that runs the task.
    pub model: &'a Model,
    /// The mode, limits and settings.
    pub options: &'a RunOptions,
    /// The task, repetition and attempt on whose behalf the model is asked.
    pub scope: Scope,
    /// Receives the events.
    pub events: Events,
    /// Cancelled when nothing new should be begun; running calls are finished. Dropping the future stops at once.
    pub stop: CancellationToken,
    /// Takes secrets out of everything that is recorded.
    pub redactor: &'a Redactor,
}

/// An attempt under way.
pub(super) struct AttemptState<'a> {
    pub(super) attempt: Attempt<'a>,
    pub(super) pool: Pool,
    /// Whether the last step has left images in the workspace that were not there before.
    pub(super) has_new_images: bool,
    /// Steps so far.
    pub(super) steps: Vec<StepRecord>,
    /// Which limit was used up, if the model was still asked for its answer afterwards.
    pub(super) used_up: Option<String>,
    pub(super) final_reply: String,
    messages: Vec<Arc<Message>>,
    dialogue: Vec<Value>,
    turns: Vec<TurnRecord>,
    images: Vec<Value>,
    /// Pictures of the conversation, with their paths.
    shown: Vec<ShownPicture>,
    /// Instructions that the dialogue contains already.
    instructed: HashSet<String>,
    usage: Usage,
    began: Instant,
}

impl<'a> AttemptState<'a> {
    pub(super) fn new(attempt: Attempt<'a>) -> Self {
        let image = attempt.image.as_ref().map(|(path, _)| path.as_str());
        Self {
            pool: Pool::new(attempt.workspace, image),
            has_new_images: false,
            attempt,
            steps: Vec::new(),
            used_up: None,
            final_reply: String::new(),
            messages: Vec::new(),
            dialogue: Vec::new(),
            turns: Vec::new(),
            images: Vec::new(),
            shown: Vec::new(),
            instructed: HashSet::new(),
            usage: Usage::default(),
            began: Instant::now(),
        }
    }

    /// The task text that the model gets.
    pub(super) fn instruction(&self) -> Result<&'a str, Stop> {
        let Attempt { task, options, .. } = &self.attempt;
        let text = options.instruction.text_of(task);
        text.ok_or_else(|| {
            Stop::Error(FailureClass::Other, "the task has neither a `question` nor a `prompt`".to_owned())
        })
    }

    /// The settings of this repetition. Each has its own seed: with the same seed, repetitions would be copies.
    fn settings(&self) -> Settings {
        let mut settings = self.attempt.options.settings.clone();
        let further = u64::from(self.attempt.scope.repeat.saturating_sub(1));
        settings.seed = settings.seed.map(|seed| seed.wrapping_add(further));
        settings
    }

    /// Shows the task: the image first, then the text, which names it.
    pub(super) fn begin(&mut self) -> Result<(), Stop> {
        let instruction = self.instruction()?;
        let image = self.attempt.image.clone();
        let path = image.as_ref().map(|(path, _)| path.as_str());
        let scaled = image.as_ref().and_then(|(_, picture)| picture.scaled_in_words());
        let text = filled(&TaskPrompt { instruction, image: path, scaled });
        if let Some((path, picture)) = image {
            self.show(&path, picture);
        }
        self.say(text);
        Ok(())
    }

    /// Adds text for the model; consecutive texts become one message.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.dialogue.push(dialogue::user_text(&text));
        self.push_part(Part::Text(text));
    }

    /// Shows the model a picture, which is called by its path in the workspace.
    pub(super) fn show(&mut self, path: &str, picture: Arc<Picture>) {
        let shown = dialogue::image(path, &picture);
        self.dialogue.push(dialogue::user_image(&shown));
        self.note_image(path, &picture);
        self.push_part(Part::Image(picture));
    }

    fn push_part(&mut self, part: Part) {
        if let Some(Message::User(parts)) = self.messages.last_mut().map(Arc::make_mut) {
            parts.push(part);
        } else {
            self.messages.push(Arc::new(Message::User(vec![part])));
        }
    }

    /// Answers the calls in the model's previous message.
    pub(super) fn answer_calls(&mut self, answers: Vec<ToolAnswer>, paths: &[Vec<String>]) {
        for (answer, paths) in answers.iter().zip(paths) {
            self.dialogue.push(dialogue::tool_answer(answer, paths));
            for (path, picture) in paths.iter().zip(&answer.images) {
                self.note_image(path, picture);
            }
        }
        self.messages.push(Arc::new(Message::ToolResults(answers)));
    }

    fn note_image(&mut self, path: &str, picture: &Arc<Picture>) {
        self.images.push(dialogue::sent_image(path, picture));
        self.shown.push(ShownPicture { path: path.to_owned(), picture: Arc::clone(picture) });
    }

    /// Asks the model for the next message of the conversation.
    pub(super) async fn ask(
        &mut self,
        purpose: &str,
        system: &str,
        tools: ToolDefinitions,
    ) -> Result<Reply, Stop> {
        if self.instructed.insert(system.to_owned()) {
            let instructions = dialogue::system(purpose, system);
            // The first instructions stand above the conversation, as they do for the model.
            let place = if self.turns.is_empty() { 0 } else { self.dialogue.len() };
            self.dialogue.insert(place, instructions);
        }
        let mut messages = self.messages.clone();
        let task_image = self.attempt.image.as_ref().map(|(_, picture)| picture);
        let limits = self.attempt.model.request_limits();
        let left_out = make_room(&mut messages, limits, task_image, &self.shown);
        let request = Request { system: system.to_owned(), messages, tools, settings: self.settings() };
        let reply = self.turn(purpose, &request).await?;
        if !left_out.is_empty() {
            let paths = quoted(&left_out);
            self.note([format!("the request had no room for all images; these were named instead: {paths}")]);
        }
        self.dialogue.push(dialogue::assistant(purpose, &reply));
        let is_empty = reply.calls.is_empty() && reply.text.trim().is_empty();
        let assistant =
            if request.tools.is_empty() || is_empty { as_text(&reply) } else { reply.to_assistant() };
        self.messages.push(Arc::new(Message::Assistant(assistant)));
        Ok(reply)
    }

    /// Replaces the model's last reply, where the model went on to invent what only tools or the user can say.
    pub(super) fn cut_last_reply(&mut self, text: &str) {
        if let Some(Message::Assistant(assistant)) = self.messages.last_mut().map(Arc::make_mut) {
            *assistant = Assistant { text: text.to_owned(), ..Assistant::default() };
        }
    }

    /// Asks the model outside the conversation, or on its behalf. Sends events, counts usage, keeps the turn's record.
    pub(super) async fn turn(&mut self, purpose: &str, request: &Request) -> Result<Reply, Stop> {
        self.check_time()?;
        let turn = u32::try_from(self.turns.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.tell(Event::Asked { turn, purpose: purpose.to_owned() });
        let failed_before = Mutex::new(None);
        let on_retry = |retry: Retry| {
            let reason = self.attempt.redactor.text(&retry.reason).into_owned();
            *failed_before.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason.clone());
            self.tell(Event::Retried { turn, reason, milliseconds: milliseconds(retry.wait) });
        };
        let asked = tokio::select! {
            biased;
            () = self.attempt.stop.cancelled() => return Err(Stop::Interrupted),
            asked = self.attempt.model.ask(request, &self.attempt.scope, &on_retry) => asked,
            () = sleep_until(self.deadline()) => {
                // A model that gave nothing but errors, or nothing at all, has used up no budget.
                let failed = failed_before.into_inner().unwrap_or_else(PoisonError::into_inner);
                let failed = failed.or_else(|| self.turns.is_empty().then(|| "it did not answer".to_owned()));
                return Err(match failed {
                    Some(reason) => Stop::no_reply(format!("the model gave no reply within the time of the task: {reason}")),
                    None => self.out_of_time(),
                });
            }
        };
        let failed = |error| match ModelBlocker::of_error(error, self.turns.is_empty()) {
            Ok(blocker) => Stop::RunBlocker(blocker.into()),
            Err(error @ ModelError::ContextOverflow { .. }) => Stop::ContextOverflow(error.to_string()),
            Err(error) if error.refuses_images() => {
                Stop::no_reply(format!("{error}\nhint: `--no-images` asks it without images"))
            }
            Err(error) => Stop::no_reply(error.to_string()),
        };
        let ModelAnswer { reply, tries, elapsed } = asked.map_err(failed)?;
        self.usage = self.usage.plus(reply.usage);
        let milliseconds = milliseconds(elapsed);
        self.tell(Event::Answered { turn, usage: reply.usage, milliseconds, tries });
        self.turns.push(TurnRecord {
            purpose: purpose.to_owned(),
            usage: Some(reply.usage),
            milliseconds,
            tries,
            model: reply.model.clone(),
            oddities: reply.oddities.clone(),
        });
        Ok(reply)
    }

    /// Records a turn that was not part of the conversation.
    pub(super) fn record_aside(&mut self, purpose: &str, request: &Request, reply: &Reply) {
        self.dialogue.push(dialogue::system(purpose, &request.system));
        for message in &request.messages {
            if let Message::User(parts) = message.as_ref() {
                let texts = parts.iter().filter_map(|part| match part {
                    Part::Text(text) => Some(dialogue::user_text(text)),
                    Part::Image(_) => None,
                });
                self.dialogue.extend(texts);
            }
        }
        self.dialogue.push(dialogue::assistant(purpose, reply));
    }

    /// Notes oddities of the last reply, each once.
    pub(super) fn note(&mut self, oddities: impl IntoIterator<Item = String>) {
        if let Some(turn) = self.turns.last_mut() {
            for oddity in oddities {
                if !turn.oddities.contains(&oddity) {
                    turn.oddities.push(oddity);
                }
            }
        }
    }

    /// Sends an event that the last reply could not be used.
    pub(super) fn tell_malformed(&mut self, reason: &str) {
        let turn = u32::try_from(self.turns.len()).unwrap_or(u32::MAX);
        let reason = self.attempt.redactor.text(reason).into_owned();
        self.note([reason.clone()]);
        self.tell(Event::Malformed { turn, reason });
    }

    pub(super) fn tell(&self, event: Event) {
        let scope = &self.attempt.scope;
        (self.attempt.events)(TaskEvent {
            task: self.attempt.task.id.clone(),
            repeat: scope.repeat,
            attempt: scope.attempt,
            event,
        });
    }

    /// The number of the step that comes next, from 1.
    pub(super) fn next_step(&self) -> u32 {
        self.steps_done().saturating_add(1)
    }

    pub(super) fn steps_done(&self) -> u32 {
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }

    /// Calls that may still be made.
    pub(super) fn calls_left(&self) -> u32 {
        let made = self.steps.iter().map(|step| step.calls.len()).sum::<usize>();
        let made = u32::try_from(made).unwrap_or(u32::MAX);
        self.attempt.options.limits.calls.map_or(u32::MAX, |calls| calls.saturating_sub(made))
    }

    /// When the task has to end.
    pub(super) fn deadline(&self) -> Instant {
        // A limit beyond the range of the clock counts as no limit.
        let far = || self.began + Duration::from_hours(24 * 365);
        self.began.checked_add(self.attempt.options.limits.task_time).unwrap_or_else(far)
    }

    /// Fails if the task has to end: tokens or time used up, or an interruption.
    pub(super) fn check(&self) -> Result<(), Stop> {
        if self.attempt.stop.is_cancelled() {
            return Err(Stop::Interrupted);
        }
        let used = self.usage.total();
        match self.attempt.options.limits.tokens {
            Some(limit) if used >= limit => {
                let reason = format!("tokens: {used} are used, the limit is {limit}");
                Err(Stop::Budget(FailureClass::Limit, reason))
            }
            _ => self.check_time(),
        }
    }

    fn check_time(&self) -> Result<(), Stop> {
        if Instant::now() >= self.deadline() { Err(self.out_of_time()) } else { Ok(()) }
    }

    fn out_of_time(&self) -> Stop {
        let reason = format!("time: the limit is {:?}", self.attempt.options.limits.task_time);
        Stop::Budget(FailureClass::Time, reason)
    }

    /// The record, with secrets removed.
    pub(super) fn into_record(
        self,
        finish: FinishReason,
        failure: Option<FailureClass>,
        reason: Option<String>,
    ) -> Record {
        let redactor = self.attempt.redactor;
        let text = |text: &mut String| *text = redactor.text(text).into_owned();
        let mut record = Record {
            steps: self.steps,
            final_reply: self.final_reply,
            finish,
            failure,
            reason: reason.or(self.used_up),
            dialogue: self.dialogue,
            turns: self.turns,
            images: self.images,
        };
        text(&mut record.final_reply);
        record.reason.iter_mut().for_each(text);
        record.dialogue.iter_mut().chain(&mut record.images).for_each(|value| redactor.value(value));
        for turn in &mut record.turns {
            turn.model.iter_mut().chain(&mut turn.oddities).for_each(text);
        }
        for call in record.steps.iter_mut().flat_map(|step| &mut step.calls) {
            let CallRecord { name, arguments, result, .. } = call;
            text(name);
            redactor.value(arguments);
            if let Some(result) = result {
                redactor.value(result);
            }
        }
        record
    }
}

/// A reply as text, for a conversation without the provider's tool calling. Calls that the model made all the same
/// are written out, because some providers refuse empty messages.
fn as_text(reply: &Reply) -> Assistant {
    if reply.calls.is_empty() && !reply.text.trim().is_empty() {
        return reply.to_assistant();
    }
    let call =
        |call: &ReplyCall| serde_json::json!({"name": call.name, "arguments": call.arguments.to_value()});
    let mut text = reply.text.clone();
    if !reply.calls.is_empty() {
        let calls: Vec<Value> = reply.calls.iter().map(call).collect();
        text.push_str(&serde_json::json!({ "tool_calls": calls }).to_string());
    }
    if text.trim().is_empty() {
        "(no text)".clone_into(&mut text);
    }
    Assistant { text, ..Assistant::default() }
}
