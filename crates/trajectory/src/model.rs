//! The types of trajectories and tasks. Keys of a file without a field here are kept in `extra`, so that reading and
//! writing a file loses nothing.

use super::json::Json;
use super::marks::{self, Role};

/// The record of one task: the question, the tools called step by step, the answer.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trajectory {
    /// The task's id; the same in references and predictions.
    pub id: String,
    /// Path of the task's image.
    pub image: Option<String>,
    /// The kind of task, such as `fishing`; scores are also reported by it.
    #[cfg_attr(feature = "schema", schemars(rename = "type"))]
    pub task_type: Option<String>,
    /// The question about the image.
    pub question: Option<String>,
    /// The steps in order; later ones may depend on results of earlier ones.
    pub steps: Vec<Step>,
    /// The final answer.
    pub final_reply: Option<String>,
    /// All other keys of the file.
    #[cfg_attr(feature = "schema", schemars(flatten, with = "serde_json::Map<String, serde_json::Value>"))]
    pub extra: Vec<(String, Json)>,
}

/// Calls that were made at the same time: an unordered set.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// The number of the step in the file. Only its place in [`Trajectory::steps`] matters.
    #[cfg_attr(feature = "schema", schemars(rename = "step"))]
    pub number: Option<i64>,
    /// The calls in the order of the file, which has no meaning.
    pub calls: Vec<Call>,
    /// Items among the calls that are not calls. Only a file opened with
    /// [`TrajectoryFile::open_all`](super::TrajectoryFile::open_all) keeps them; otherwise they are errors.
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub malformed: Vec<MalformedCall>,
    /// All other keys of the file.
    #[cfg_attr(feature = "schema", schemars(flatten, with = "serde_json::Map<String, serde_json::Value>"))]
    pub extra: Vec<(String, Json)>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Call {
    /// The tool as `server/tool`.
    #[cfg_attr(feature = "schema", schemars(rename = "name"))]
    pub tool: String,
    /// The arguments: an object, unless the model wrote something else. `None` if the file has none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub arguments: Option<Json>,
    /// The tool's result, if it was recorded.
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub result: Option<Json>,
    /// All other keys of the file.
    #[cfg_attr(feature = "schema", schemars(flatten, with = "serde_json::Map<String, serde_json::Value>"))]
    pub extra: Vec<(String, Json)>,
}

/// An item among the calls of a step that names no tool: a model wrote it, but no server could be called.
#[derive(Debug, Clone, PartialEq)]
pub struct MalformedCall {
    /// The place of the item in the file's list of calls, counted from 0 with the well-formed ones.
    pub index: usize,
    /// The item itself.
    pub value: Json,
    /// The reason why the item is not a call.
    pub reason: String,
}

/// A question about an image, to be answered with tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Task {
    /// The task's id.
    pub id: String,
    /// Path of the image.
    pub image: Option<String>,
    /// The kind of task.
    pub task_type: Option<String>,
    /// The explicit form: says which tools to use.
    pub prompt: Option<String>,
    /// The fuzzy form: as a person would ask.
    pub question: Option<String>,
    /// All other keys of the file.
    pub extra: Vec<(String, Json)>,
}

/// Texts that programs write if there is no reply.
const NO_REPLY: [&str; 4] = ["n/a", "none", "null", "-"];

impl Trajectory {
    /// Whether the trajectory is a record of `m3 run`, which says how the run ended.
    #[must_use]
    pub fn is_run_record(&self) -> bool {
        self.get("finish").is_some()
    }

    /// The final reply; `None` if it is missing, empty, or only a word for no reply: `n/a`, `none`, `null`, `-`.
    #[must_use]
    pub fn reply(&self) -> Option<&str> {
        let reply = self.final_reply.as_deref()?;
        let is_none = |text: &str| NO_REPLY.iter().any(|none| text.eq_ignore_ascii_case(none));
        Some(reply).filter(|reply| !reply.trim().is_empty() && !is_none(reply.trim()))
    }

    /// The number of calls in all steps.
    #[must_use]
    pub fn call_count(&self) -> usize {
        self.steps.iter().map(|step| step.calls.len()).sum()
    }

    /// Whether the trajectory declares itself a prediction of `m3 run`, in any version.
    #[must_use]
    pub fn is_prediction(&self) -> bool {
        marks::has_role(&self.extra, Role::Prediction)
    }

    /// Whether the trajectory declares itself a reference of `m3 judge` or `m3 review`.
    #[must_use]
    pub fn is_reference(&self) -> bool {
        marks::has_role(&self.extra, Role::Reference)
    }

    /// All calls in order, each with the index of its step.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &Call)> {
        self.steps
            .iter()
            .enumerate()
            .flat_map(|(index, step)| step.calls.iter().map(move |call| (index, call)))
    }

    /// The trajectory in the form of files, unknown keys included.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.clone().into_json()
    }

    /// The trajectory in the form of files, unknown keys included; nothing is copied.
    #[must_use]
    pub fn into_json(self) -> Json {
        let mut members = vec![("id".to_owned(), Json::String(self.id))];
        push_text(&mut members, "image", self.image);
        push_text(&mut members, "type", self.task_type);
        push_text(&mut members, "question", self.question);
        members
            .push(("steps".to_owned(), Json::Array(self.steps.into_iter().map(Step::into_json).collect())));
        push_text(&mut members, "final_reply", self.final_reply);
        members.extend(self.extra);
        Json::Object(members)
    }
}

impl Task {
    /// The task in the form of files, unknown keys included.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut members = vec![("id".to_owned(), Json::String(self.id.clone()))];
        push_text(&mut members, "image", self.image.clone());
        push_text(&mut members, "type", self.task_type.clone());
        push_text(&mut members, "prompt", self.prompt.clone());
        push_text(&mut members, "question", self.question.clone());
        members.extend(self.extra.iter().cloned());
        Json::Object(members)
    }
}

impl Step {
    /// The items in the file's list of calls, in order.
    pub fn entries(&self) -> impl Iterator<Item = Result<&Call, &MalformedCall>> {
        in_order(&self.calls, &self.malformed, |malformed| malformed.index)
    }

    fn into_json(self) -> Json {
        let mut members = Vec::new();
        members.extend(self.number.map(|number| ("step".to_owned(), Json::Integer(number))));
        let entries = in_order(self.calls, self.malformed, |malformed| malformed.index);
        let entries = entries.map(|entry| entry.map_or_else(|malformed| malformed.value, Call::into_json));
        members.push(("calls".to_owned(), Json::Array(entries.collect())));
        members.extend(self.extra);
        Json::Object(members)
    }
}

/// Calls and malformed calls in the order of their file: `index` is the place of a malformed one in the whole list.
fn in_order<C, M>(
    calls: impl IntoIterator<Item = C>,
    malformed: impl IntoIterator<Item = M>,
    index: impl Fn(&M) -> usize,
) -> impl Iterator<Item = Result<C, M>> {
    let (mut calls, mut malformed) = (calls.into_iter(), malformed.into_iter().peekable());
    (0..).map_while(move |at| match malformed.next_if(|malformed| index(malformed) <= at) {
        Some(malformed) => Some(Err(malformed)),
        None => calls.next().map(Ok).or_else(|| malformed.next().map(Err)),
    })
}

/// Stands for the tool of a call without a name. Scores take it for a tool that does not exist.
pub const NO_NAME: &str = "(no name)";

impl Call {
    /// Whether the call names no tool: a model wrote something else in the place of a call.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        self.tool.is_empty() || self.tool == NO_NAME
    }

    /// Whether the call is recorded as failed: by `is_error`, or by `isError` as in MCP.
    #[must_use]
    pub fn is_error(&self) -> bool {
        ["is_error", "isError"].iter().any(|key| self.get(key) == Some(&Json::Bool(true)))
    }

    /// Whether the call is recorded as failed in any way: by [`Self::is_error`], by `isError` within its result, or by another
    /// outcome than `success`.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let result = self.result.as_ref();
        self.is_error()
            || result.is_some_and(|result| result.get("isError") == Some(&Json::Bool(true)))
            || self.recorded_outcome().is_some_and(|outcome| outcome != "success")
    }

    /// The recorded outcome of the call: any text.
    #[must_use]
    pub fn recorded_outcome(&self) -> Option<&str> {
        self.get("outcome")?.as_str()
    }

    fn into_json(self) -> Json {
        let mut members = vec![("name".to_owned(), Json::String(self.tool))];
        members.extend(self.arguments.map(|arguments| ("arguments".to_owned(), arguments)));
        members.extend(self.result.map(|result| ("result".to_owned(), result)));
        members.extend(self.extra);
        Json::Object(members)
    }
}

fn push_text(members: &mut Vec<(String, Json)>, key: &str, text: Option<String>) {
    members.extend(text.map(|text| (key.to_owned(), Json::String(text))));
}
