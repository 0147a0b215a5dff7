//! Turns the JSON of one task or trajectory into its type, reporting every oddity on the way.

use super::json::{Json, Keys, pointer_to};
use super::model::{Call, MalformedCall, Step, Task, Trajectory};
use super::problem::Severity;

/// Receives what is wrong or odd: how bad, the JSON pointer below the element, the message.
pub(super) type Report<'a> = dyn FnMut(Severity, String, String) + 'a;

/// Reads a trajectory. `key` is its id in a file that is an object by id; `default_id` stands in where a
/// file of one trajectory gives it none. `None` after an error was reported.
pub(super) fn trajectory(
    value: Json,
    key: Option<&str>,
    default_id: Option<&str>,
    malformed_calls: MalformedCalls,
    report: &mut Report<'_>,
) -> Option<Trajectory> {
    let (is_recorded, is_judged) = (is_recorded(&value), is_judged(&value));
    let mut reader = Reader { report, is_broken: false, malformed_calls, is_recorded, thing: "trajectory" };
    let mut members = reader.members(value, "", "a trajectory should be an object with `id` and `steps`")?;
    let mut trajectory =
        Trajectory { id: reader.id(&mut members, key, default_id)?, ..Trajectory::default() };
    trajectory.image = reader.text(&mut members, "image");
    trajectory.task_type = reader.text(&mut members, "type");
    trajectory.question = reader.text(&mut members, "question");
    trajectory.final_reply = reader.text(&mut members, "final_reply");
    trajectory.steps = reader.steps(&mut members);
    let recorded = if is_recorded { RECORDED_KEYS.as_slice() } else { &[] };
    let provenance = if is_judged { PROVENANCE_KEYS.as_slice() } else { &[] };
    trajectory.extra = reader.extra(members, "", &[&TEXT_KEYS, recorded, provenance]);
    (!reader.is_broken).then_some(trajectory)
}

/// Reads a task, likewise.
pub(super) fn task(value: Json, key: Option<&str>, report: &mut Report<'_>) -> Option<Task> {
    let malformed_calls = MalformedCalls::Error;
    let mut reader = Reader { report, is_broken: false, malformed_calls, is_recorded: false, thing: "task" };
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

/// What is said of a trajectory that may have crashed before its first step.
pub(super) const WITHOUT_STEPS: &str = "no `steps`; read as a trajectory without calls";

/// What a call without a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MalformedCalls {
    /// An error: it cannot be scored.
    Error,
    /// Something that the model did: kept, with a warning.
    Keep,
}

type Members = Vec<(String, Json)>;

struct Reader<'a, 'b> {
    report: &'a mut Report<'b>,
    is_broken: bool,
    malformed_calls: MalformedCalls,
    /// Whether it is a prediction that `m3 run` has written.
    is_recorded: bool,
    /// What is read, in one word.
    thing: &'static str,
}

impl Reader<'_, '_> {
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
            // As the published scorer does.
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

    /// A text member. One that is not text is left among the members, and so in `extra`.
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
                let message =
                    format!("step {number} after step {last}; steps are taken in the order of the file");
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
        let calls = match take(&mut members, "calls") {
            Some(Json::Array(calls)) => calls,
            Some(Json::Null) | None => {
                self.warn(pointer, "no `calls`; read as a step without calls");
                Vec::new()
            }
            Some(other) => {
                let message = format!("`calls` should be a list of calls, and is {}", other.kind());
                self.error(&pointer_to(pointer, "calls"), message);
                Vec::new()
            }
        };
        let pointer_to_calls = pointer_to(pointer, "calls");
        for (index, call) in calls.into_iter().enumerate() {
            let pointer = pointer_to(&pointer_to_calls, index);
            match call_members(call) {
                Ok((tool, members)) => step.calls.push(self.call(tool, members, &pointer)),
                Err((segment, reason, value)) => {
                    let pointer = format!("{pointer}{segment}");
                    match self.malformed_calls {
                        MalformedCalls::Error => self.error(&pointer, reason),
                        MalformedCalls::Keep => {
                            self.warn(&pointer, reason.clone());
                            step.malformed.push(MalformedCall { index, value, reason });
                        }
                    }
                }
            }
        }
        step.extra = self.extra(members, pointer, &[&["step"]]);
        Some(step)
    }

    fn call(&mut self, tool: String, mut members: Members, pointer: &str) -> Call {
        let arguments = take(&mut members, "arguments");
        match &arguments {
            Some(Json::Object(_)) => {}
            None => self.warn(pointer, "no `arguments`; compared as null"),
            Some(other) => {
                let message =
                    format!("`arguments` should be an object, and is {}; compared as it is", other.kind());
                self.warn(&pointer_to(pointer, "arguments"), message);
            }
        }
        let result = take(&mut members, "result");
        let recorded = if self.is_recorded { RECORDED_CALL_KEYS.as_slice() } else { &[] };
        Call { tool, arguments, result, extra: self.extra(members, pointer, &[recorded]) }
    }

    /// What is left: keys without a field. Of those that are `known` nothing is said.
    fn extra(&mut self, members: Members, pointer: &str, known: &[&[&str]]) -> Members {
        for (key, _) in &members {
            if !known.iter().any(|known| known.contains(&key.as_str())) {
                (self.report)(Severity::Note, pointer_to(pointer, key), format!("unknown key `{key}`, kept"));
            }
        }
        members
    }
}

/// The text members of tasks and trajectories; one that is not text has been reported when it is left over.
const TEXT_KEYS: [&str; 5] = ["image", "type", "question", "prompt", "final_reply"];

/// What `m3 run` writes beside what every trajectory has (`m3 schema prediction`; a test compares).
const RECORDED_KEYS: [&str; 12] = [
    "finish", "reason", "model", "mode", "prompts", "tools", "versions", "usage", "images", "turns",
    "dialogue", "run",
];

/// Where `m3 judge` writes where a reference comes from.
const PROVENANCE_KEYS: [&str; 1] = ["judge"];

/// Whether `m3 run` writes a key of a prediction beside what every trajectory has.
pub(crate) fn is_recorded_key(key: &str) -> bool {
    RECORDED_KEYS.contains(&key)
}

/// The same of a call.
const RECORDED_CALL_KEYS: [&str; 3] = ["is_error", "outcome", "milliseconds"];

/// The schema of the predictions that `m3 run` writes, which are trajectories.
pub const PREDICTION_SCHEMA: &str = "m3.prediction/1";

/// Whether a trajectory says that it is a prediction that `m3 run` has written, in whichever version.
fn is_recorded(value: &Json) -> bool {
    let schema = value.get("versions").and_then(|versions| versions.get("schema")).and_then(Json::as_str);
    schema.is_some_and(|schema| without_version(schema) == without_version(PREDICTION_SCHEMA))
}

/// The name of a schema, its slash included.
fn without_version(schema: &str) -> &str {
    schema.split_inclusive('/').next().unwrap_or_default()
}

/// Whether a trajectory says that `m3 judge` has written it.
fn is_judged(value: &Json) -> bool {
    let schema = value.get("judge").and_then(|judge| judge.get("schema")).and_then(Json::as_str);
    schema.is_some_and(|schema| schema.starts_with("m3.reference/"))
}

/// The tool of a call and its other members; or the pointer below the call to what is wrong, the message and
/// the call itself.
fn call_members(value: Json) -> Result<(String, Members), (&'static str, String, Json)> {
    let Json::Object(mut members) = value else {
        let kind = value.kind();
        let reason = format!("a call should be an object with `name` and `arguments`, and is {kind}");
        return Err(("", reason, value));
    };
    match members.iter().position(|(key, _)| key == "name").map(|at| (at, &members[at].1)) {
        Some((at, Json::String(name))) if !name.is_empty() => {
            let name = name.clone();
            members.remove(at);
            Ok((name, members))
        }
        Some((_, Json::String(_))) | None => {
            let reason = "a call without a name; `name` should be `server/tool`".to_owned();
            Err(("", reason, Json::Object(members)))
        }
        Some((_, other)) => {
            let reason =
                format!("the name of a call should be a string `server/tool`, and is {}", other.kind());
            Err(("/name", reason, Json::Object(members)))
        }
    }
}

fn take(members: &mut Members, key: &str) -> Option<Json> {
    let index = members.iter().position(|(k, _)| k == key)?;
    Some(members.remove(index).1)
}
