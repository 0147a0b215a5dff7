//! Converts the JSON of one task or trajectory to its type, and reports every oddity.

mod calls;

use calls::{call_members, flat_call, unwrapped};

use super::json::{self, Json, Keys, pointer_to};
use super::marks::{self, KnownKeys, Role};
use super::model::{Call, MalformedCall, NO_NAME, Step, Task, Trajectory};
use super::problem::Severity;

/// Receives a problem: its severity, the JSON pointer within the element, the message.
pub(super) type Report<'a> = dyn FnMut(Severity, String, String) + 'a;

/// Reads a trajectory. `key` is its id in a file that is an object by id; `default_id` is used if a file of one
/// trajectory has none. `None` after an error was reported.
pub(super) fn trajectory(
    value: Json,
    key: Option<&str>,
    default_id: Option<&str>,
    reading: Reading,
    report: &mut Report<'_>,
) -> Option<Trajectory> {
    let mut reader = Reader { reading, ..Reader::new(report, "trajectory") };
    let mut members = reader.members(value, "", "a trajectory should be an object with `id` and `steps`")?;
    reader.known = marks::known_keys(&members);
    reader.is_recorded = marks::has_role(&members, Role::Prediction) || marks::is_imported(&members);
    let mut trajectory =
        Trajectory { id: reader.id(&mut members, key, default_id)?, ..Trajectory::default() };
    trajectory.image = reader.text(&mut members, "image");
    trajectory.task_type = reader.text(&mut members, "type");
    trajectory.question = reader.text(&mut members, "question");
    trajectory.final_reply = reader.text(&mut members, "final_reply");
    trajectory.steps = reader.steps(&mut members);
    let known = std::mem::take(&mut reader.known.keys);
    trajectory.extra = reader.extra(members, "", &[&TEXT_KEYS, &known]);
    (!reader.is_broken).then_some(trajectory)
}

/// Reads a task. `key` is its id in a file that is an object by id. `None` after an error was reported.
pub(super) fn task(value: Json, key: Option<&str>, report: &mut Report<'_>) -> Option<Task> {
    let mut reader = Reader::new(report, "task");
    let mut members = reader.members(value, "", "a task should be an object with `id` and `question`")?;
    let mut task = Task { id: reader.id(&mut members, key, None)?, ..Task::default() };
    task.image = reader.text(&mut members, "image");
    task.task_type = reader.text(&mut members, "type");
    task.prompt = reader.text(&mut members, "prompt");
    task.question = reader.text(&mut members, "question");
    let is_empty = |text: &Option<String>| text.as_ref().is_none_or(|text| text.trim().is_empty());
    if is_empty(&task.prompt) && is_empty(&task.question) {
        reader.error(
            "",
            "a task without `question` and `prompt`, or with empty ones, asks nothing; add one of them",
        );
    }
    if task.id.trim().is_empty() {
        reader.error("/id", "the id is empty; name the task, so that its prediction can be found");
    }
    task.extra = reader.extra(members, "", &[&TEXT_KEYS]);
    (!reader.is_broken).then_some(task)
}

/// The message about a trajectory that may have crashed before its first step.
pub(super) const WITHOUT_STEPS: &str = "no `steps`; read as a trajectory without calls";

/// How the calls of a trajectory are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// The treatment of items among the calls that are not calls.
    pub(super) malformed: MalformedCalls,
    pub(super) forms: CallForms,
}

/// The treatment of items that are not calls: without a name, with a number as the name, or not objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum MalformedCalls {
    /// The items are errors: nobody should have written them.
    #[default]
    Refused,
    /// The items are kept apart, with a warning.
    Apart,
    /// The items are calls of no tool, with a warning: a model wrote them, and they count.
    Counted,
}

/// How to read calls in the forms of other programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallForms {
    /// Calls are converted, with a warning: `tool_calls` to `calls`, `function` to the call, arguments in a text that
    /// holds an object to that object.
    #[default]
    Understood,
    /// Calls are read literally, as by the program published with the benchmark.
    Literal,
}

type Members = Vec<(String, Json)>;

struct Reader<'a, 'b> {
    report: &'a mut Report<'b>,
    is_broken: bool,
    reading: Reading,
    /// Keys that are known and need no note.
    known: KnownKeys,
    /// Whether the trajectory declares itself a prediction, or is from a trace: then its calls are what the model
    /// wrote.
    is_recorded: bool,
    /// The kind of element, in one word.
    thing: &'static str,
}

impl<'a, 'b> Reader<'a, 'b> {
    fn new(report: &'a mut Report<'b>, thing: &'static str) -> Self {
        let known = KnownKeys::default();
        Self { report, is_broken: false, reading: Reading::default(), known, is_recorded: false, thing }
    }

    fn error(&mut self, pointer: &str, message: impl Into<String>) {
        self.is_broken = true;
        (self.report)(Severity::Error, pointer.to_owned(), message.into());
    }

    fn warn(&mut self, pointer: &str, message: impl Into<String>) {
        (self.report)(Severity::Warning, pointer.to_owned(), message.into());
    }

    fn members(&mut self, value: Json, pointer: &str, expected: &str) -> Option<Members> {
        match value {
            Json::Object(members) => Some(members),
            other => {
                self.error(pointer, format!("{expected}, and is {}", other.kind()));
                None
            }
        }
    }

    fn id(&mut self, members: &mut Members, key: Option<&str>, default: Option<&str>) -> Option<String> {
        let id = match take(members, "id") {
            Some(Json::String(id)) => Some(id),
            Some(Json::Integer(number)) => {
                self.warn("/id", format!("the id is a number; read as \"{number}\""));
                Some(number.to_string())
            }
            Some(Json::Null) | None => None,
            Some(other) => {
                self.error("/id", format!("the id should be a string, and is {}", other.kind()));
                return None;
            }
        };
        match (id, key, default) {
            // The published scorer does the same.
            (Some(id), Some(key), _) if id != key => {
                self.warn("/id", format!("the key is `{key}`, the id `{id}`; the id is used"));
                Some(id)
            }
            (Some(id), ..) => Some(id),
            (None, Some(key), _) => Some(key.to_owned()),
            (None, None, Some(default)) => {
                self.warn("", format!("no `id`; called `{default}`"));
                Some(default.to_owned())
            }
            (None, None, None) => {
                let whose = if self.thing == "task" { "an id of its own" } else { "the id of its task" };
                self.error("", format!("no `id`; give each {} {whose}", self.thing));
                None
            }
        }
    }

    /// Takes a text member. One that is not text stays among the members, and so ends in `extra`.
    fn text(&mut self, members: &mut Members, key: &str) -> Option<String> {
        match members.iter().find(|(k, _)| k == key).map(|(_, value)| value) {
            Some(Json::String(_)) => match take(members, key) {
                Some(Json::String(text)) => Some(text),
                _ => None,
            },
            None | Some(Json::Null) => None,
            Some(other) => {
                let message = format!("`{key}` should be a string, and is {}; left out of use", other.kind());
                self.warn(&pointer_to("", key), message);
                None
            }
        }
    }

    fn steps(&mut self, members: &mut Members) -> Vec<Step> {
        let steps = match take(members, "steps") {
            Some(Json::Array(steps)) => steps,
            Some(Json::Null) | None => {
                self.warn("", WITHOUT_STEPS);
                return Vec::new();
            }
            Some(other) => {
                self.error("/steps", format!("`steps` should be a list of steps, and is {}", other.kind()));
                return Vec::new();
            }
        };
        let mut last_number = None;
        let mut out = Vec::with_capacity(steps.len());
        for (index, step) in steps.into_iter().enumerate() {
            let pointer = pointer_to("/steps", index);
            let Some(step) = self.step(step, &pointer) else { continue };
            if let (Some(last), Some(number)) = (last_number, step.number)
                && number <= last
            {
                let message = format!("step {number} after step {last}; the order of the file is used");
                self.warn(&pointer_to(&pointer, "step"), message);
            }
            last_number = step.number.or(last_number);
            out.push(step);
        }
        out
    }

    fn step(&mut self, value: Json, pointer: &str) -> Option<Step> {
        let mut members = self.members(value, pointer, "a step should be an object with a list `calls`")?;
        let mut step = Step::default();
        match members.iter().find(|(key, _)| key == "step") {
            Some((_, Json::Integer(number))) => {
                step.number = Some(*number);
                take(&mut members, "step");
            }
            None => {}
            Some((_, other)) => {
                let message = format!(
                    "`step` should be a whole number, and is {}; left out of use",
                    other.to_text(Keys::AsRead)
                );
                self.warn(&pointer_to(pointer, "step"), message);
            }
        }
        let (key, calls) = self.calls(&mut members, pointer);
        let pointer_to_calls = pointer_to(pointer, key);
        for (index, call) in calls.into_iter().enumerate() {
            let pointer = pointer_to(&pointer_to_calls, index);
            let call = if self.reading.forms == CallForms::Understood { unwrapped(call) } else { call };
            match call_members(call, self.is_recorded) {
                Ok((tool, members)) => step.calls.push(self.call(tool, members, &pointer)),
                Err((segment, reason, value)) => {
                    let pointer_to_reason = format!("{pointer}{segment}");
                    match self.reading.malformed {
                        MalformedCalls::Refused => self.error(&pointer_to_reason, reason),
                        MalformedCalls::Apart => {
                            self.warn(&pointer_to_reason, reason.clone());
                            step.malformed.push(MalformedCall { index, value, reason });
                        }
                        MalformedCalls::Counted => {
                            self.warn(&pointer_to_reason, format!("{reason}; counted as a call of no tool"));
                            step.calls.push(self.call_of_no_tool(value, &pointer));
                        }
                    }
                }
            }
        }
        step.extra = self.extra(members, pointer, &[&["step"]]);
        Some(step)
    }

    /// The calls of a step, and the key they are under.
    fn calls(&mut self, members: &mut Members, pointer: &str) -> (&'static str, Vec<Json>) {
        const OPENAI: &str = "tool_calls";
        let is_empty = match take(members, "calls") {
            Some(Json::Array(calls)) if !calls.is_empty() => return ("calls", calls),
            Some(Json::Array(_)) => true,
            Some(Json::Null) | None => false,
            Some(other) => {
                let message = format!("`calls` should be a list of calls, and is {}", other.kind());
                self.error(&pointer_to(pointer, "calls"), message);
                return ("calls", Vec::new());
            }
        };
        if !is_empty
            && self.reading.forms == CallForms::Understood
            && let Some(call) = flat_call(members)
        {
            self.warn(pointer, "no `calls`, but a tool and its arguments; read as a step of this one call");
            return ("calls", vec![call]);
        }
        let is_other = |calls: &Json| matches!(calls, Json::Array(calls) if !(is_empty && calls.is_empty()));
        if !members.iter().any(|(key, value)| key == OPENAI && is_other(value)) {
            if !is_empty {
                self.warn(pointer, "no `calls`; read as a step without calls");
            }
        } else if self.reading.forms == CallForms::Literal {
            self.warn(
                pointer,
                "`tool_calls` and no `calls`; a step without calls in the profile open-m3-bench",
            );
        } else if let Some(Json::Array(calls)) = take(members, OPENAI) {
            self.warn(pointer, "`tool_calls` is read as `calls`");
            return (OPENAI, calls);
        }
        ("calls", Vec::new())
    }

    /// Makes a call of no tool from what a model wrote in the place of a call.
    fn call_of_no_tool(&mut self, value: Json, pointer: &str) -> Call {
        match value {
            Json::Object(members) => self.call(NO_NAME.to_owned(), members, pointer),
            other => {
                let extra = vec![("malformed".to_owned(), other)];
                Call { tool: NO_NAME.to_owned(), arguments: None, result: None, extra }
            }
        }
    }

    fn call(&mut self, tool: String, mut members: Members, pointer: &str) -> Call {
        let arguments = self.arguments(take(&mut members, "arguments"), pointer);
        let result = take(&mut members, "result");
        // Taken out for the moment, because `extra` borrows the whole reader.
        let known = std::mem::take(&mut self.known.call_keys);
        let extra = self.extra(members, pointer, &[&marks::FAILURE_KEYS, &known]);
        self.known.call_keys = known;
        Call { tool, arguments, result, extra }
    }

    /// Arguments in the form in which they are compared. Those of a recorded prediction are what the model wrote, so
    /// there are no warnings about them.
    fn arguments(&mut self, arguments: Option<Json>, pointer: &str) -> Option<Json> {
        if self.is_recorded || matches!(arguments, Some(Json::Object(_))) {
            return arguments;
        }
        let Some(other) = arguments else {
            self.warn(pointer, "no `arguments`; compared as null");
            return None;
        };
        let pointer = pointer_to(pointer, "arguments");
        let held = other.as_str().and_then(|text| json::parse(text.as_bytes()).ok());
        match (held, self.reading.forms) {
            (Some((object @ Json::Object(_), oddities)), CallForms::Understood) => {
                self.warn(&pointer, "`arguments` is a text that holds an object; read as that object");
                for oddity in oddities {
                    self.warn(&format!("{pointer}{}", oddity.pointer), oddity.message);
                }
                Some(object)
            }
            (Some((Json::Object(_), _)), CallForms::Literal) => {
                let message =
                    "`arguments` is a text that holds an object; the profile open-m3-bench compares the text";
                self.warn(&pointer, message);
                Some(other)
            }
            _ => {
                let message =
                    format!("`arguments` should be an object, and is {}; compared as it is", other.kind());
                self.warn(&pointer, message);
                Some(other)
            }
        }
    }

    /// The remaining members, which have no field. Nothing is reported about `known` keys.
    fn extra(&mut self, members: Members, pointer: &str, known: &[&[&str]]) -> Members {
        for (key, _) in &members {
            if !known.iter().any(|known| known.contains(&key.as_str())) {
                (self.report)(Severity::Note, pointer_to(pointer, key), format!("unknown key `{key}`, kept"));
            }
        }
        members
    }
}

/// The text members of tasks and trajectories. One that is not text is kept with the remaining members, and is not
/// reported there as an unknown key.
const TEXT_KEYS: [&str; 5] = ["image", "type", "question", "prompt", "final_reply"];

fn take(members: &mut Members, key: &str) -> Option<Json> {
    let index = members.iter().position(|(k, _)| k == key)?;
    Some(members.remove(index).1)
}
