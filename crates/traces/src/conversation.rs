//! The core that all formats share: it puts the content of a trace, in order, into replies, and joins results to calls.
//!
//! A **reply** is the answer to one request to a model; its calls are one step. An id identifies a reply. Neighbours
//! without an id are one reply, because many programs write each call of a reply as a separate message.

use std::collections::HashMap;

use crate::content::Content;
use crate::outcome::Outcome;
use crate::question::question;
use crate::trace::{Notes, Trace, TraceKind, TracedCall};
use crate::usage::Usage;
use crate::waiting::Waiting;

mod record;
mod results;

pub(crate) use record::Entry;

/// A call, with the time at which it was made.
#[derive(Debug, Clone)]
struct TimedCall {
    call: TracedCall,
    started: Option<f64>,
}

/// The model's answer to one request.
#[derive(Debug, Clone, Default)]
struct Reply {
    id: Option<String>,
    calls: Vec<TimedCall>,
    text: String,
    /// The length of the text before the last call, in bytes.
    said_before: usize,
}

/// The source of the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The last reply is the answer, if it has no calls.
    #[default]
    FromMessages,
    /// The format has the answer apart from the messages; `None` if it says that there is no answer.
    Stated(Option<String>),
}

/// What comes after the message that is being read: what nobody answers is mostly an example of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum NextMessage {
    #[default]
    Other,
    Result,
    Nothing,
}

/// What is known of calls that stand in texts of the model.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallsInTexts {
    /// Whether the last call is one, so that its result is what the user writes next.
    pub(crate) awaits_observation: bool,
    /// Whether there is one.
    pub(crate) is_any: bool,
    pub(crate) next: NextMessage,
    /// The tool whose result the next message begins with: `[read_file for 'a.py'] Result:`.
    pub(crate) answered: Option<String>,
}

/// A trajectory that is being read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    /// The id of the trajectory.
    pub(crate) id: Option<String>,
    /// The model; the last one that the trace names counts.
    pub(crate) model: Option<String>,
    /// Tokens so far.
    pub(crate) usage: Usage,
    /// Notes on guesses, skipped parts and losses.
    pub(crate) notes: Notes,
    /// Further ids.
    pub(crate) origin: Vec<(&'static str, String)>,
    /// The answer, if the format has it apart from the messages.
    pub(crate) answer: Answer,
    /// Whether text after the calls of a reply is an answer: where the provider may have run the calls itself.
    pub(crate) answers_after_calls: bool,
    /// The trajectories of agents that calls have run, by name.
    pub(crate) nested: Vec<(String, Conversation)>,
    /// The duration of the whole trajectory, if the format has it apart from the times of its parts.
    pub(crate) seconds: Option<f64>,
    /// Whether its calls are those that should be made.
    pub(crate) is_reference: bool,
    /// The calls in texts of the model.
    pub(crate) in_texts: CallsInTexts,
    /// Everything that is added, for spans: which messages of a request are new is known only from all requests.
    pub(crate) record: Option<Vec<Entry>>,
    question: Option<Content>,
    replies: Vec<Reply>,
    /// The replies that have ids.
    known: HashMap<String, usize>,
    /// The indexes of nested trajectories that were asked for by name.
    nested_places: HashMap<String, usize>,
    /// The indexes of nested trajectories, by the ids of their calls.
    nested_calls: HashMap<String, usize>,
    /// The latest call with each id: its reply, and its place in it.
    calls_by_id: HashMap<String, (usize, usize)>,
    /// The calls that have no result.
    waiting: Waiting,
    /// The reply that the following calls and texts belong to.
    current: Option<usize>,
    /// Whether the next text begins a message of its own within its reply.
    is_new_message: bool,
    times: Option<(f64, f64)>,
    now: Option<f64>,
}

impl Conversation {
    /// A trajectory with this id.
    pub(crate) fn with_id(id: Option<String>) -> Self {
        Self { id, ..Self::default() }
    }

    /// Adds a message of the user. The first real one is the question.
    pub(crate) fn user(&mut self, content: Content) {
        self.end_reply();
        self.in_texts.awaits_observation = false;
        self.keep(|| Entry::User(content.clone()));
        if self.question.is_none() {
            self.question = question(content);
        }
    }

    /// Adds to the record, if one is kept.
    fn keep(&mut self, entry: impl FnOnce() -> Entry) {
        if let Some(record) = &mut self.record {
            record.push(entry());
        }
    }

    /// Whether it has a call with this id.
    pub(crate) fn has_call(&self, id: &str) -> bool {
        self.calls_by_id.contains_key(id)
    }

    /// The latest call with this id, to complete it.
    pub(crate) fn call_with_id(&mut self, id: &str) -> Option<&mut TracedCall> {
        let &(reply, place) = self.calls_by_id.get(id)?;
        self.replies.get_mut(reply)?.calls.get_mut(place).map(|timed| &mut timed.call)
    }

    /// Whether the same call, with the same id, waits for its result.
    pub(crate) fn is_waiting_call(&self, call: &TracedCall) -> bool {
        let place = call.id.as_ref().and_then(|id| self.waiting.with_id(id));
        let known = place.and_then(|(reply, place)| self.replies.get(reply)?.calls.get(place));
        known.is_some_and(|known| known.call.tool == call.tool && known.call.arguments == call.arguments)
    }

    /// Whether the trajectory so far ends with a reply of the model.
    pub(crate) fn ends_with_reply(&self) -> bool {
        self.current.is_some()
    }

    /// Whether the trajectory has a question.
    pub(crate) fn has_question(&self) -> bool {
        self.question.is_some()
    }

    /// Replaces the question by a later one, for formats in which the first texts of a user are not a question.
    pub(crate) fn ask_again(&mut self, content: Content) {
        self.end_reply();
        if let Some(content) = question(content) {
            self.question = Some(content);
        }
    }

    /// Starts or continues the reply with this id; without an id, the one before, if nothing stands between.
    pub(crate) fn reply(&mut self, id: Option<&str>) {
        self.is_new_message = true;
        if let Some(id) = id {
            let known = self.known.get(id).copied();
            self.current = Some(known.unwrap_or_else(|| self.begin(Some(id))));
        } else if self.current.is_none_or(|current| self.replies[current].id.is_some()) {
            self.current = Some(self.begin(None));
        }
    }

    /// Continues the reply before, if nothing stands between, because streams split a message into pieces.
    pub(crate) fn reply_goes_on(&mut self) {
        self.reply(None);
        self.is_new_message = false;
    }

    fn begin(&mut self, id: Option<&str>) -> usize {
        let place = self.replies.len();
        self.replies.push(Reply { id: id.map(str::to_owned), ..Reply::default() });
        self.known.extend(id.map(|id| (id.to_owned(), place)));
        place
    }

    /// Ends the current reply: the following calls and texts belong to another one.
    pub(crate) fn end_reply(&mut self) {
        self.current = None;
    }

    /// Begins a reply that belongs to none before it.
    pub(crate) fn new_reply(&mut self) {
        self.end_reply();
        self.reply(None);
    }

    /// Takes over the name of a model, if there is one.
    pub(crate) fn set_model(&mut self, name: Option<&str>) {
        self.model = name.map(str::to_owned).or(self.model.take());
    }

    /// Calls of the current reply, in their order.
    pub(crate) fn calls(&mut self, calls: impl IntoIterator<Item = TracedCall>) {
        calls.into_iter().for_each(|call| self.call(call));
    }

    /// Results, each joined to its call.
    pub(crate) fn results(&mut self, outcomes: impl IntoIterator<Item = Outcome>) {
        outcomes.into_iter().for_each(|outcome| self.result(outcome));
    }

    /// Drops all replies so far, because the agent gave up and begins again with the same question.
    pub(crate) fn start_again(&mut self) {
        self.end_reply();
        // Results that come later must not be joined to dropped calls.
        (self.known, self.calls_by_id, self.waiting) = Default::default();
        for _ in self.replies.drain(..).flat_map(|reply| reply.calls) {
            self.notes.add("a call of an attempt that was given up is left out");
        }
    }

    /// Adds a text to the current reply. Pieces of one message are joined as they are, messages by a line feed.
    pub(crate) fn say(&mut self, text: &str) {
        let is_new = std::mem::take(&mut self.is_new_message);
        if text.is_empty() {
            return;
        }
        self.keep(|| Entry::Text(text.to_owned()));
        let reply = self.open();
        if is_new && !reply.text.is_empty() {
            reply.text.push('\n');
        }
        reply.text.push_str(text);
    }

    /// Adds a call to the current reply.
    pub(crate) fn call(&mut self, call: TracedCall) {
        self.keep(|| Entry::Call(call.clone()));
        self.in_texts.awaits_observation = false;
        let started = self.now;
        let (id, is_waiting) = (call.id.clone(), call.result.is_none());
        let reply = self.open();
        reply.said_before = reply.text.len();
        reply.calls.push(TimedCall { call, started });
        let place = reply.calls.len() - 1;
        let current = self.current.unwrap_or_default();
        // A call that comes with its result does not wait for another.
        if is_waiting {
            self.waiting.add(id.as_deref(), current, place);
        }
        self.calls_by_id.extend(id.map(|id| (id, (current, place))));
    }

    /// Adds calls, with their results, as a separate step, because no reply is known that made them.
    pub(crate) fn step(&mut self, calls: Vec<TracedCall>) {
        self.end_reply();
        for call in &calls {
            self.keep(|| Entry::Call(call.clone()));
        }
        let timed = calls.into_iter().map(|call| TimedCall { call, started: None });
        self.open().calls.extend(timed);
        self.end_reply();
    }

    fn open(&mut self) -> &mut Reply {
        let current = match self.current {
            Some(current) => current,
            None => self.begin(None),
        };
        self.current = Some(current);
        &mut self.replies[current]
    }

    /// The calls so far, to complete them.
    pub(crate) fn calls_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut TracedCall> {
        self.replies.iter_mut().flat_map(|reply| reply.calls.iter_mut().map(|timed| &mut timed.call))
    }

    /// Whether a call with this id has its result.
    pub(crate) fn has_result(&self, id: &str) -> bool {
        let place = self.calls_by_id.get(id);
        place.is_some_and(|&(reply, place)| self.replies[reply].calls[place].call.result.is_some())
    }

    /// The trajectory of an agent or a program that a call has run, by its name.
    pub(crate) fn nested(&mut self, name: &str) -> &mut Conversation {
        let known = self.nested_places.get(name).copied();
        let at = known.filter(|at| self.nested.get(*at).is_some_and(|(known, _)| known == name));
        let at = at.unwrap_or_else(|| {
            self.nested.push((name.to_owned(), Conversation::default()));
            self.nested_places.insert(name.to_owned(), self.nested.len() - 1);
            self.nested.len() - 1
        });
        &mut self.nested[at].1
    }

    /// Adds a call of an agent or a program that another call has run; its result is added like other results.
    pub(crate) fn nested_call(&mut self, name: &str, call: TracedCall) {
        let id = call.id.clone();
        self.nested(name).call(call);
        let place = self.nested_places.get(name).copied();
        self.nested_calls.extend(id.zip(place));
    }

    /// The calls of the last reply.
    pub(crate) fn last_calls_mut(&mut self) -> impl Iterator<Item = &mut TracedCall> {
        self.replies
            .last_mut()
            .into_iter()
            .flat_map(|reply| reply.calls.iter_mut().map(|timed| &mut timed.call))
    }

    /// Whether nothing was read that a trajectory is made of.
    pub(crate) fn is_empty(&self) -> bool {
        self.question.is_none() && self.replies.is_empty() && self.answer == Answer::FromMessages
    }

    /// Sets the time of the following calls and results, in seconds.
    pub(crate) fn at(&mut self, time: Option<f64>) {
        self.now = time.or(self.now);
        self.within(time);
    }

    /// Adds a time of the whole trajectory, in seconds, that is not the time of the calls and results that follow.
    pub(crate) fn within(&mut self, time: Option<f64>) {
        let Some(time) = time else { return };
        let (first, last) = self.times.unwrap_or((time, time));
        self.times = Some((first.min(time), last.max(time)));
    }

    /// Adds a note.
    pub(crate) fn note(&mut self, note: &'static str) {
        self.notes.add(note);
    }

    /// Adds a note with a name from the file, between `before` and `after`.
    pub(crate) fn note_named(&mut self, before: &str, name: &str, after: &str) {
        self.notes.add_named(before, name, after);
    }

    /// The whole trajectory.
    pub(crate) fn finish(mut self) -> Trace {
        if self.is_reference {
            self.notes.add("calls that should be made, not those of a model");
        }
        let is_nameless = |timed: &&TimedCall| timed.call.tool.is_empty() || timed.call.tool.ends_with('/');
        let nameless = self.replies.iter().flat_map(|reply| &reply.calls).filter(is_nameless);
        nameless.for_each(|_| self.notes.add("a call names no tool"));
        let last = self.replies.last().filter(|reply| reply.calls.is_empty() || self.answers_after_calls);
        // A line feed divides the text after the last call from the text before it.
        let last_text = last.map(|reply| match reply.said_before {
            0 => reply.text.clone(),
            before => reply.text[before..].trim_start_matches('\n').to_owned(),
        });
        let final_reply = match self.answer {
            Answer::Stated(answer) => answer,
            Answer::FromMessages => last_text.filter(|last_text| !last_text.is_empty()),
        };
        let steps = self.replies.into_iter().filter(|reply| !reply.calls.is_empty());
        Trace {
            id: self.id,
            question: self.question,
            steps: steps.map(|reply| reply.calls.into_iter().map(|timed| timed.call).collect()).collect(),
            final_reply,
            model: self.model,
            usage: self.usage,
            seconds: self
                .seconds
                .or_else(|| self.times.map(|(first, last)| last - first))
                .filter(|seconds| *seconds > 0.0),
            origin: self.origin,
            notes: self.notes,
            nested: self.nested.into_iter().map(|(name, inner)| (name, inner.finish())).collect(),
            kind: if self.is_reference { TraceKind::Reference } else { TraceKind::Prediction },
            ..Trace::default()
        }
    }
}

#[cfg(test)]
mod tests;
