//! A trajectory as it was found in a trace, and how it becomes one of m3's.

use std::borrow::Cow;
use std::collections::BTreeMap;

use m3_support::text::visible;
use m3_trajectory::json::Json;
use m3_trajectory::{Call, Step, Task, Trajectory};

use crate::content::{Content, Media, object, string};
use crate::label::Label;
use crate::usage::Usage;

/// The schema of the record of a trajectory's origin, its member `import`.
pub const IMPORT_SCHEMA: &str = "m3.import/1";

/// A trajectory of a trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The id in the file, if the trace has one.
    pub id: Option<String>,
    /// Text and pictures of the first message of the user.
    pub question: Option<Content>,
    /// The calls of each reply that has some.
    pub steps: Vec<Vec<TracedCall>>,
    /// The text of the last reply, if it has no calls.
    pub final_reply: Option<String>,
    /// The name of the model.
    pub model: Option<String>,
    /// Tokens of all replies.
    pub usage: Usage,
    /// The duration from the first to the last time in the file, in seconds.
    pub seconds: Option<f64>,
    /// Further ids of the file, such as that of the session.
    pub origin: Vec<(&'static str, String)>,
    /// Notes on guesses, skipped parts and losses.
    pub notes: Notes,
    /// The trajectories of agents that a call has run, by their names.
    pub nested: Vec<(String, Trace)>,
    /// The kind of task, if the file tells it.
    pub task_type: Option<String>,
    /// The explicit form of the question, where the file has both.
    pub prompt: Option<String>,
    /// The cost of the whole run, where the file has only that.
    pub run: Option<RunCost>,
    /// Further members of the trajectory, which suites read.
    pub extra: Vec<(String, Json)>,
    /// Whether the calls are a prediction or a reference.
    pub kind: TraceKind,
    /// The calls that should be made instead, where a file has both.
    pub reference: Option<Box<Trace>>,
    /// What the file says of success.
    pub label: Option<Label>,
}

/// The kind of a trace: a prediction, a reference or a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TraceKind {
    /// Calls that a model made.
    #[default]
    Prediction,
    /// Calls that should be made: they are of no model.
    Reference,
    /// A task without calls.
    Task,
}

/// The cost of a run of many tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunCost {
    /// Output tokens of all its tasks.
    pub output_tokens: Option<u64>,
    /// Seconds, added up over its tasks.
    pub seconds: Option<f64>,
}

/// A call of a trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TracedCall {
    /// The id that results are joined by.
    pub(crate) id: Option<String>,
    /// The name, `server/tool` where the trace names the server.
    pub tool: String,
    /// The arguments: an object, or the text that the model wrote instead; `None` if the trace does not have them.
    pub arguments: Option<Json>,
    /// The result: a text, a list of parts if there are media, or a value.
    pub result: Option<Json>,
    /// Whether the trace says that the call failed.
    pub is_error: bool,
    /// The kind of failure, in the format's words.
    pub error_type: Option<String>,
    /// The duration of the call in seconds.
    pub seconds: Option<f64>,
    /// Further members of the call, which suites read.
    pub extra: Vec<(String, Json)>,
}

/// Notes on guesses, skipped parts and losses, with the number of times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes(BTreeMap<Cow<'static, str>, u64>);

/// The most different notes of a trajectory: a note may name a type, and a file may have any number of types.
const MOST_NOTES: usize = 100;

/// The note that stands for all notes beyond the limit.
const OTHER_NOTES: &str = "something else of many kinds is left out";

/// The most characters of the file's own text in a note.
const MOST_SHOWN: usize = 60;

impl Notes {
    /// Adds a note.
    pub(crate) fn add(&mut self, note: &'static str) {
        self.count(Cow::Borrowed(note), 1);
    }

    /// Adds a note with a name that the file tells, between `before` and `after`.
    pub(crate) fn add_named(&mut self, before: &str, name: &str, after: &str) {
        let mut short: String = name.chars().take(MOST_SHOWN).collect();
        if short.len() < name.len() {
            short.push('…');
        }
        self.count(Cow::Owned(format!("{before} `{}` {after}", visible(&short, false))), 1);
    }

    /// Adds the notes of another trajectory.
    pub fn extend(&mut self, others: &Self) {
        for (note, count) in &others.0 {
            self.count(note.clone(), *count);
        }
    }

    fn count(&mut self, note: Cow<'static, str>, count: u64) {
        let is_free = self.0.len() < MOST_NOTES || self.0.contains_key(&note);
        *self.0.entry(if is_free { note } else { OTHER_NOTES.into() }).or_default() += count;
    }

    /// Each note once, with the number of times it was added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(note, count)| (&**note, *count))
    }

    fn to_json(&self) -> Json {
        let note = |(note, count): (&str, u64)| {
            object([
                ("note", string(note)),
                ("count", Json::Integer(i64::try_from(count).unwrap_or(i64::MAX))),
            ])
        };
        Json::Array(self.iter().map(note).collect())
    }
}

impl Trace {
    /// The number of calls.
    #[must_use]
    pub fn call_count(&self) -> usize {
        self.steps.iter().map(Vec::len).sum()
    }

    /// Leaves out the trajectories of agents that calls have run, and notes how many calls these made.
    pub fn leave_out_agents(&mut self) {
        let calls: usize = std::mem::take(&mut self.nested).iter().map(|(_, inner)| inner.call_count()).sum();
        for _ in 0..calls {
            self.notes.add("a call of a sub-agent is left out");
        }
    }

    /// The task of the trace; `None` without a question or a prompt.
    #[must_use]
    pub fn task(&self, id: String) -> Option<Task> {
        let question = self.question.as_ref().map(Content::text).filter(|text| !text.is_empty());
        let is_told = question.is_some() || self.prompt.is_some();
        let (task_type, prompt, extra) = (self.task_type.clone(), self.prompt.clone(), self.extra.clone());
        is_told.then_some(Task { id, image: None, task_type, prompt, question, extra })
    }

    /// The trace as one of m3's trajectories. `format` is the name of the format that it was read from.
    #[must_use]
    pub fn into_trajectory(self, id: String, format: &str) -> Trajectory {
        let mut extra = vec![("import".to_owned(), self.import(format))];
        extra.extend(self.model.map(|model| ("model".to_owned(), Json::String(model))));
        if !self.usage.is_empty() {
            extra.push(("usage".to_owned(), self.usage.to_json()));
        }
        extra.extend(self.seconds.and_then(milliseconds));
        let images: Vec<Json> = self.question.iter().flat_map(Content::media).map(Media::to_json).collect();
        if !images.is_empty() {
            extra.push(("images".to_owned(), Json::Array(images)));
        }
        extra.extend(self.extra);
        let steps = (1..).zip(self.steps).map(|(number, calls)| Step {
            number: Some(number),
            calls: calls.into_iter().map(TracedCall::into_call).collect(),
            ..Step::default()
        });
        Trajectory {
            id,
            task_type: self.task_type,
            question: self.question.map(|question| question.text()).filter(|text| !text.is_empty()),
            steps: steps.collect(),
            final_reply: self.final_reply,
            extra,
            ..Trajectory::default()
        }
    }

    /// The record of the trace's origin.
    fn import(&self, format: &str) -> Json {
        let mut members =
            vec![("schema".to_owned(), string(IMPORT_SCHEMA)), ("format".to_owned(), string(format))];
        members.extend(self.id.as_deref().map(|id| ("id".to_owned(), string(id))));
        members.extend(self.origin.iter().map(|(key, id)| ((*key).to_owned(), string(id))));
        members.extend(self.run.map(|run| ("run".to_owned(), run.to_json())));
        members.extend(self.label.as_ref().map(|label| ("label".to_owned(), label.to_json())));
        members.push(("notes".to_owned(), self.notes.to_json()));
        Json::Object(members)
    }
}

impl RunCost {
    fn to_json(self) -> Json {
        let tokens = self.output_tokens.and_then(|tokens| i64::try_from(tokens).ok()).map(Json::Integer);
        let members = [("output_tokens", tokens), ("seconds", self.seconds.map(Json::Float))];
        object(members.into_iter().filter_map(|(key, value)| Some((key, value?))))
    }
}

impl TracedCall {
    /// A call of a tool whose outcome is not known yet.
    pub(crate) fn new(id: Option<String>, tool: String, arguments: Option<Json>) -> Self {
        Self { id, tool, arguments, ..Self::default() }
    }

    fn into_call(self) -> Call {
        let mut extra = Vec::new();
        if self.is_error {
            extra.push(("is_error".to_owned(), Json::Bool(true)));
        }
        extra.extend(self.error_type.map(|kind| ("error_type".to_owned(), Json::String(kind))));
        extra.extend(self.seconds.and_then(milliseconds));
        extra.extend(self.extra);
        Call { tool: self.tool, arguments: self.arguments, result: self.result, extra }
    }
}

/// The member for a duration, unless it is negative or absurd: clocks of two machines differ.
fn milliseconds(seconds: f64) -> Option<(String, Json)> {
    let milliseconds = (seconds * 1000.0).round();
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
    (0.0..9e15)
        .contains(&milliseconds)
        .then(|| ("milliseconds".to_owned(), Json::Integer(milliseconds as i64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_tells_in_notes_is_short_clean_and_of_a_bounded_number() {
        let mut notes = Notes::default();
        let named = |notes: &mut Notes, name: &str| notes.add_named("a block of type", name, "is left out");
        named(&mut notes, &format!("\u{1b}[2J\n{}", "é".repeat(1000)));
        let (note, _) = notes.iter().next().unwrap();
        assert!(note.starts_with("a block of type `\\u{1b}[2J\\né"), "{note}");
        assert!(note.ends_with("é…` is left out") && note.chars().count() < 120, "{note}");
        for number in 0..1000 {
            named(&mut notes, &number.to_string());
            notes.add("a result without a call is left out");
        }
        let mut twice = notes.clone();
        twice.extend(&notes);
        assert_eq!((notes.iter().count(), twice.iter().count()), (MOST_NOTES + 1, MOST_NOTES + 1));
        assert_eq!(notes.iter().map(|(_, count)| count).sum::<u64>(), 2001);
    }
}
