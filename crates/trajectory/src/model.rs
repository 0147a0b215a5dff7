//! What a trajectory is. Keys of a file that have no field here are kept in `extra`, so that reading and
//! writing a file loses nothing.

use super::json::Json;
use super::marks::{self, Role};

/// The record of one task: what was asked, which tools were called step by step, what was answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trajectory {
    /// Names the task; the same in references and predictions.
    pub id: String,
    /// Path of the task's image.
    pub image: Option<String>,
    /// The kind of task, such as `fishing`; scores are also reported by it.
    pub task_type: Option<String>,
    /// What was asked about the image.
    pub question: Option<String>,
    /// The steps in order; later ones may depend on results of earlier ones.
    pub steps: Vec<Step>,
    /// The answer given in the end.
    pub final_reply: Option<String>,
    /// All other keys of the file.
    pub extra: Vec<(String, Json)>,
}

/// Calls that were made at the same time: an unordered set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// The number the file gives the step. Its place in [`Trajectory::steps`] is what counts.
    pub number: Option<i64>,
    /// The calls, in the order of the file, which means nothing.
    pub calls: Vec<Call>,
    /// What stands among the calls and is none. Only a file that was opened with
    /// [`TrajectoryFile::open_all`](super::TrajectoryFile::open_all) keeps them; elsewhere they are errors.
    pub malformed: Vec<MalformedCall>,
    /// All other keys of the file.
    pub extra: Vec<(String, Json)>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool as `server/tool`.
    pub tool: String,
    /// The arguments: an object, unless the model called with something else. `None` where the file has none.
    pub arguments: Option<Json>,
    /// What the tool returned, where it was recorded.
    pub result: Option<Json>,
    /// All other keys of the file.
    pub extra: Vec<(String, Json)>,
}

/// Something among the calls of a step that names no tool: a model wrote it and no server could be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct MalformedCall {
    /// Its place in the file's list of calls, counted from 0 with the well-formed ones.
    pub index: usize,
    /// What stands there.
    pub value: Json,
    /// Why it is no call.
    pub reason: String,
}

/// A question about an image, to be answered with tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Task {
    /// Names the task.
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

impl Trajectory {
    /// The number of calls in all steps.
    #[must_use]
    pub fn call_count(&self) -> usize {
        self.steps.iter().map(|step| step.calls.len()).sum()
    }

    /// Whether it says that `m3 run` has written it, in whichever version.
    #[must_use]
    pub fn is_prediction(&self) -> bool {
        marks::has_role(&self.extra, Role::Prediction)
    }

    /// Whether it says that `m3 judge` or `m3 review` has written it.
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

    /// The trajectory as the file format has it, unknown keys included.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut members = vec![("id".to_owned(), Json::String(self.id.clone()))];
        push_text(&mut members, "image", self.image.as_ref());
        push_text(&mut members, "type", self.task_type.as_ref());
        push_text(&mut members, "question", self.question.as_ref());
        members.push(("steps".to_owned(), Json::Array(self.steps.iter().map(Step::to_json).collect())));
        push_text(&mut members, "final_reply", self.final_reply.as_ref());
        members.extend(self.extra.iter().cloned());
        Json::Object(members)
    }
}

impl Task {
    /// The task as the file format has it, unknown keys included.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut members = vec![("id".to_owned(), Json::String(self.id.clone()))];
        push_text(&mut members, "image", self.image.as_ref());
        push_text(&mut members, "type", self.task_type.as_ref());
        push_text(&mut members, "prompt", self.prompt.as_ref());
        push_text(&mut members, "question", self.question.as_ref());
        members.extend(self.extra.iter().cloned());
        Json::Object(members)
    }
}

impl Step {
    /// What stands in the file's list of calls, in its order.
    pub fn entries(&self) -> impl Iterator<Item = Result<&Call, &MalformedCall>> {
        let (mut calls, mut malformed) = (self.calls.iter(), self.malformed.iter().peekable());
        (0..self.calls.len() + self.malformed.len()).filter_map(move |index| {
            match malformed.next_if(|malformed| malformed.index <= index) {
                Some(malformed) => Some(Err(malformed)),
                None => calls.next().map(Ok).or_else(|| malformed.next().map(Err)),
            }
        })
    }

    fn to_json(&self) -> Json {
        let mut members = Vec::new();
        members.extend(self.number.map(|number| ("step".to_owned(), Json::Integer(number))));
        let entry =
            |entry: Result<&Call, &MalformedCall>| entry.map_or_else(|m| m.value.clone(), Call::to_json);
        members.push(("calls".to_owned(), Json::Array(self.entries().map(entry).collect())));
        members.extend(self.extra.iter().cloned());
        Json::Object(members)
    }
}

impl Call {
    /// Whether a failure is recorded of it: `is_error`, or `isError` as MCP has it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        let mut extra = self.extra.iter();
        extra.any(|(key, value)| (key == "is_error" || key == "isError") && *value == Json::Bool(true))
    }

    /// What became of it, as whoever made it has recorded: any text.
    #[must_use]
    pub fn recorded_outcome(&self) -> Option<&str> {
        let (_, outcome) = self.extra.iter().find(|(key, _)| key == "outcome")?;
        outcome.as_str()
    }

    fn to_json(&self) -> Json {
        let mut members = vec![("name".to_owned(), Json::String(self.tool.clone()))];
        members.extend(self.arguments.clone().map(|arguments| ("arguments".to_owned(), arguments)));
        members.extend(self.result.clone().map(|result| ("result".to_owned(), result)));
        members.extend(self.extra.iter().cloned());
        Json::Object(members)
    }
}

fn push_text(members: &mut Vec<(String, Json)>, key: &str, text: Option<&String>) {
    members.extend(text.map(|text| (key.to_owned(), Json::String(text.clone()))));
}
