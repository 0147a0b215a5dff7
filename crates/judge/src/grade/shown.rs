//! A trajectory as graders read it: every step with its calls, arguments and results, bounded in length.

use std::fmt::Write as _;

use m3_support::text::{counted, shortened};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, MalformedCall, Trajectory};

use super::subject::Subject;
use crate::fence::Part;

/// The longest question and the longest answer that are shown, in columns.
const TEXT: usize = 8_000;

/// The longest arguments that are shown, in columns.
const ARGUMENTS: usize = 2_000;

/// The longest result that is shown, in columns, and the shortest to which long trajectories cut one.
const RESULT: (usize, usize) = (4_000, 200);

/// The most columns of all results together.
const ALL_RESULTS: usize = 80_000;

/// The longest description of a tool, in columns.
const DESCRIPTION: usize = 200;

/// All descriptions of tools together, in bytes.
const ALL_TOOLS: usize = 40_000;

/// The most calls that are shown.
const CALLS: usize = 400;

/// The prediction's steps.
pub(super) fn steps_of(subject: &Subject) -> Part {
    Part::new("steps of the program", steps(&subject.prediction))
}

/// The prediction's final answer.
pub(super) fn answer_of(subject: &Subject) -> Part {
    Part::new("final answer of the program", answer(&subject.prediction))
}

/// The question of `known`, which is the reference, if it has one; else that of the prediction.
pub(super) fn question(known: Option<&Trajectory>, prediction: &Trajectory) -> String {
    let asked =
        |trajectory: &Trajectory| Some(format!("  asked: {}", shortened(trajectory.instruction()?, TEXT)));
    known.and_then(asked).or_else(|| asked(prediction)).unwrap_or_else(|| "  (none is recorded)".to_owned())
}

/// The tools of a catalog, one on each line.
#[must_use]
pub fn offered(catalog: &Catalog) -> String {
    let mut text = String::new();
    for server in catalog.servers() {
        for tool in &server.tools {
            let member = |key: &str| tool.get(key).and_then(Json::as_str).unwrap_or_default();
            let separator = if server.name.is_empty() { "" } else { "/" };
            let name = shortened(&format!("{}{separator}{}", server.name, member("name")), 200);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  tool {name}: {}", shortened(member("description"), DESCRIPTION));
            if text.len() > ALL_TOOLS {
                text.push_str("  and more that are not shown\n");
                return text.trim_end().to_owned();
            }
        }
    }
    if text.is_empty() { "  (none)".to_owned() } else { text.trim_end().to_owned() }
}

/// The final answer of a trajectory.
pub(super) fn answer(trajectory: &Trajectory) -> String {
    match trajectory.final_reply.as_deref().map(str::trim) {
        Some(answer) if !answer.is_empty() => format!("  answered: {}", shortened(answer, TEXT)),
        _ => "  (there is none)".to_owned(),
    }
}

/// The steps of a trajectory. Every line begins with our own words: text of others is kept on one line each.
pub(super) fn steps(trajectory: &Trajectory) -> String {
    let total: usize = trajectory.steps.iter().map(|step| step.entries().count()).sum();
    if trajectory.steps.is_empty() {
        return "  (there are none)".to_owned();
    }
    let room = (ALL_RESULTS / total.clamp(1, CALLS)).clamp(RESULT.1, RESULT.0);
    let (mut text, mut shown) = (String::new(), 0);
    for (index, step) in trajectory.steps.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "step {}", index + 1);
        for entry in step.entries() {
            if shown == CALLS {
                break;
            }
            shown += 1;
            match entry {
                Ok(call) => write_call(&mut text, call, room),
                Err(malformed) => write_malformed(&mut text, malformed),
            }
        }
        if step.entries().next().is_none() {
            text.push_str("  no call\n");
        }
    }
    if total > shown {
        let _ = writeln!(text, "and {} that are not shown", counted(total - shown, "more call"));
    }
    text.truncate(text.trim_end().len());
    text
}

fn write_call(text: &mut String, call: &Call, room: usize) {
    let _ = writeln!(text, "  call {}", shortened(&call.tool, 200));
    if let Some(arguments) = &call.arguments {
        let _ = writeln!(text, "    arguments {}", shortened(&arguments.to_text(Keys::AsRead), ARGUMENTS));
    }
    let head = if call.is_error() { "failed with" } else { "result" };
    let _ = match &call.result {
        Some(result) => writeln!(text, "    {head} {}", shortened(&result.to_plain_text(), room)),
        None => writeln!(text, "    no result is recorded"),
    };
}

fn write_malformed(text: &mut String, malformed: &MalformedCall) {
    let shown = shortened(&malformed.value.to_text(Keys::AsRead), ARGUMENTS);
    let _ = writeln!(text, "  malformed call, not executed: {shown}");
}
