//! One trajectory for people, in the layout of M³-Bench, section 7: the image, the question, each step with its
//! calls, their arguments and results, and the answer; above it, what is known about the run.

mod dialogue;
mod list;
mod markdown;
mod output;
mod run;
mod terminal;
#[cfg(test)]
mod tests;

pub use list::{ListedTrajectory, write_list, write_list_as_markdown};
use m3_support::text::{counted, shortened};
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, MalformedCall, Trajectory};

use crate::audit::text::passage;

/// The most characters that are shown of each text: in 80 columns they take fewer lines than a terminal shows
/// (`terminal.rs`).
const OUTPUT: usize = 1_000;
const ARGUMENTS: usize = 1_800;
const QUESTION: usize = 4_000;
const REPLY: usize = 12_000;

/// The most steps, and calls of a step, that are shown.
const STEPS: usize = 200;
const CALLS: usize = 200;

/// What is shown besides the trajectory itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShowOptions {
    /// Whether to show the images that the model was sent.
    pub images: bool,
    /// Whether to show the whole dialogue.
    pub dialogue: bool,
}

/// A trajectory, ready to be shown. Its texts are limited in length, and contain nothing that acts on a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownTrajectory {
    title: String,
    task_type: Option<String>,
    /// What is known about the run, with labels.
    run: Vec<Row>,
    image: Option<String>,
    sent: Vec<String>,
    question: Option<String>,
    steps: Vec<ShownStep>,
    /// The note on steps that are not shown.
    more_steps: Option<String>,
    reply: Option<String>,
    messages: Vec<ShownMessage>,
}

/// A label and a text, perhaps of several lines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    label: &'static str,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ShownStep {
    calls: Vec<ShownCall>,
    more: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ShownCall {
    tool: String,
    /// How the call ended and how long it took.
    note: String,
    is_failed: bool,
    arguments: String,
    /// The call's result, if it was recorded.
    output: Option<String>,
}

/// A message of the dialogue.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ShownMessage {
    title: String,
    rows: Vec<Row>,
}

impl ShownTrajectory {
    /// Prepares a trajectory; `size_of` returns the width and height of an image, in pixels, if the file exists.
    #[must_use]
    pub fn new(
        trajectory: &Trajectory,
        options: ShowOptions,
        size_of: impl FnOnce(&str) -> Option<(u32, u32)>,
    ) -> Self {
        let image = trajectory.image.as_deref().map(|path| {
            let size = size_of(path).map(|(width, height)| format!(" ({width} x {height})"));
            bounded(path, QUESTION) + &size.unwrap_or_default()
        });
        let steps = trajectory.steps.iter().take(STEPS).map(|step| {
            let entries = step.entries().take(CALLS);
            let calls =
                entries.map(|entry| entry.map_or_else(ShownCall::malformed, ShownCall::new)).collect();
            let all = step.calls.len() + step.malformed.len();
            ShownStep { calls, more: more(all.saturating_sub(CALLS), "call") }
        });
        let sent = if options.images { trajectory.list("images") } else { &[] };
        let messages = if options.dialogue { trajectory.list("dialogue") } else { &[] };
        Self {
            title: shortened(&trajectory.id, 200),
            task_type: trajectory.task_type.as_deref().map(|name| shortened(name, 100)),
            run: run::rows(trajectory),
            image,
            sent: sent.iter().take(CALLS).map(output::image).collect(),
            question: trajectory.instruction().map(|text| bounded(text, QUESTION)),
            steps: steps.collect(),
            more_steps: more(trajectory.steps.len().saturating_sub(STEPS), "step"),
            reply: trajectory.final_reply.as_deref().map(|text| bounded(text, REPLY)),
            messages: dialogue::messages(messages),
        }
    }
}

impl ShownCall {
    fn new(call: &Call) -> Self {
        let outcome = call.recorded_outcome();
        let is_failed = outcome.map_or(call.is_error(), |outcome| outcome != "success");
        let reason = is_failed.then(|| match outcome {
            Some(outcome) => format!("failed: {}", bounded(outcome, 60)),
            None => "failed".to_owned(),
        });
        let time = call.get("milliseconds").and_then(milliseconds);
        let output = match &call.result {
            Some(result) => Some(bounded(&output::text(result), OUTPUT)),
            None => outcome.map(|_| "(no answer)".to_owned()),
        };
        Self {
            tool: shortened(&call.tool, 200),
            note: [reason, time].into_iter().flatten().collect::<Vec<_>>().join(", "),
            is_failed,
            arguments: arguments(call.arguments.as_ref()),
            output,
        }
    }

    fn malformed(malformed: &MalformedCall) -> Self {
        Self {
            tool: "(not a call)".to_owned(),
            note: "failed: illegal_format".to_owned(),
            is_failed: true,
            arguments: bounded(&malformed.value.to_text(Keys::AsRead), ARGUMENTS),
            output: Some(bounded(&malformed.reason, OUTPUT)),
        }
    }
}

/// Arguments as `key=value; key=value`, values as JSON.
fn arguments(arguments: Option<&Json>) -> String {
    match arguments {
        None => "(none recorded)".to_owned(),
        Some(Json::Object(members)) if members.is_empty() => "(none)".to_owned(),
        Some(Json::Object(members)) => {
            let texts: Vec<String> =
                members.iter().map(|(key, value)| format!("{key}={}", value.to_text(Keys::AsRead))).collect();
            bounded(&texts.join("; "), ARGUMENTS)
        }
        Some(Json::String(text)) => bounded(text, ARGUMENTS),
        Some(other) => bounded(&other.to_text(Keys::AsRead), ARGUMENTS),
    }
}

/// A time in milliseconds, in words.
fn milliseconds(value: &Json) -> Option<String> {
    value.as_count().map(|time| m3_support::text::duration(std::time::Duration::from_millis(time)))
}

/// A text by others: lines are kept, tabs become blanks, and at most this many characters stay, with a note on the
/// rest.
fn bounded(text: &str, characters: usize) -> String {
    let spaced;
    let text = if text.contains(['\t', '\r']) {
        spaced = text.replace("\r\n", "\n").replace('\t', "    ");
        spaced.as_str()
    } else {
        text
    };
    passage(text.trim_end(), characters)
}

fn more(count: usize, thing: &str) -> Option<String> {
    let is = if count == 1 { "is" } else { "are" };
    (count > 0).then(|| format!("{} {is} not shown", counted(count, &format!("more {thing}"))))
}
