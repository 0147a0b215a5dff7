//! ATIF 1.8, the trajectories of Harbor: one document for each trajectory. Pictures and sounds are files, or addresses.

use m3_trajectory::json::Json;

use super::Target;
use super::exact::Exact;
use super::trajectory::{ExportCall, ExportTrajectory, Lack};
use crate::arguments::tool;
use crate::content::{Content, Media, MediaPlace, counts, object, string};
use crate::trace::Notes;
use crate::usage::Usage;

/// The target for ATIF documents.
pub(super) const TARGET: Target = Target {
    name: "atif",
    title: "ATIF 1.8, trajectories of Harbor: a document, an array of them, or files in a folder",
    is_lines: false,
    needs_files: true,
    write,
};

/// The facts that ATIF documents cannot carry.
const LACKS: &[Lack] = &[Lack::Kinds, Lack::CallTimes, Lack::Time, Lack::Thoughts];

fn write(trajectory: &ExportTrajectory<'_>, notes: &mut Notes) -> Json {
    trajectory.cannot(LACKS, notes);
    let mut exact = Exact::default();
    let mut steps = Vec::new();
    let mut add = |source: &str, members: Vec<(&str, Json)>| {
        let number = i64::try_from(steps.len()).unwrap_or(i64::MAX).saturating_add(1);
        let mut step = vec![("step_id", Json::Integer(number)), ("source", string(source))];
        step.extend(members);
        steps.push(object(step));
    };
    if let Some(question) = &trajectory.question {
        add("user", vec![("message", content(question, notes))]);
    }
    for step in &trajectory.steps {
        let calls = step.iter().map(|call| self::call(call, &mut exact, notes)).collect();
        let results: Vec<Json> = step.iter().filter_map(|call| result(call, &mut exact, notes)).collect();
        let mut members = vec![("message", string("")), ("tool_calls", Json::Array(calls))];
        if !results.is_empty() {
            members.push(("observation", object([("results", Json::Array(results))])));
        }
        add("agent", members);
    }
    if let Some(answer) = trajectory.answer {
        add("agent", vec![("message", string(answer))]);
    }
    document(trajectory, steps, exact)
}

fn document(trajectory: &ExportTrajectory<'_>, steps: Vec<Json>, exact: Exact) -> Json {
    let mut agent = vec![("name", string("m3")), ("version", string(env!("CARGO_PKG_VERSION")))];
    agent.extend(trajectory.model.map(|model| ("model_name", string(model))));
    let agent = object(agent);
    let mut members = vec![
        ("schema_version", string("ATIF-v1.8")),
        ("session_id", string(trajectory.id)),
        ("trajectory_id", string(trajectory.id)),
        ("agent", agent),
    ];
    let count = steps.len();
    members.push(("steps", Json::Array(steps)));
    members.push(("final_metrics", metrics(trajectory.usage, count)));
    members.extend(exact.into_member().map(|(key, kept)| ("extra", object([(key.as_str(), kept)]))));
    object(members)
}

fn metrics(usage: Usage, steps: usize) -> Json {
    object(counts([
        ("total_prompt_tokens", usage.input),
        ("total_completion_tokens", usage.output),
        ("total_cached_tokens", usage.cached),
        ("total_steps", u64::try_from(steps).ok()),
    ]))
}

fn call(call: &ExportCall<'_>, exact: &mut Exact, notes: &mut Notes) -> Json {
    if tool(None, call.tool) != call.tool {
        notes.add("a tool's name is read as that of a server's tool");
    }
    // Harbor's own converters keep arguments that are not an object in this way.
    let raw = match call.arguments {
        Some(Json::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let arguments = call.arguments.filter(|arguments| matches!(arguments, Json::Object(_)));
    let arguments = arguments.cloned().unwrap_or_else(|| Json::Object(Vec::new()));
    let read = raw.filter(|raw| crate::arguments::is_broken(raw)).map(string);
    exact.arguments(call, Some(read.as_ref().unwrap_or(&arguments)));
    let mut members = vec![
        ("tool_call_id".to_owned(), string(&call.id)),
        ("function_name".to_owned(), string(call.tool)),
        ("arguments".to_owned(), arguments),
    ];
    members.extend(raw.map(|raw| ("extra".to_owned(), object([("raw_arguments", string(raw))]))));
    Json::Object(members)
}

fn result(call: &ExportCall<'_>, exact: &mut Exact, notes: &mut Notes) -> Option<Json> {
    if call.result.is_none() && !call.is_error {
        return None;
    }
    let mut members = vec![("source_call_id".to_owned(), string(&call.id))];
    if let Some(result) = &call.result {
        exact.result(call);
        members.push(("content".to_owned(), result.written(|parts| content(parts, notes))));
    }
    if call.is_error {
        let failed = object([("tool_result_is_error", Json::Bool(true))]);
        members.push(("extra".to_owned(), failed));
    }
    Some(Json::Object(members))
}

/// Content as a text, or as parts if it has media.
fn content(content: &Content, notes: &mut Notes) -> Json {
    content.written(|media| {
        if media.kind == "file" {
            notes.add("a file that is neither picture nor sound is left out");
            return None;
        }
        Some(self::media(media, notes))
    })
}

fn media(media: &Media, notes: &mut Notes) -> Json {
    let path = match &media.place {
        MediaPlace::Reference(at) => at.as_str(),
        MediaPlace::Data(_) => {
            notes.add("a picture can only be a file beside the document, and there is no folder for it");
            ""
        }
        MediaPlace::Missing => "",
    };
    let usual = if media.kind == "audio" { "audio/wav" } else { "image/png" };
    let media_type = media.media_type.as_deref().unwrap_or_else(|| by_ending(path).unwrap_or(usual));
    let source = object([("media_type", string(media_type)), ("path", string(path))]);
    object([("type", string(media.kind)), ("source", source)])
}

/// The type of a picture by the name of its file.
fn by_ending(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit_once('.')?;
    match ending.to_ascii_lowercase().as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        _ => None,
    }
}
