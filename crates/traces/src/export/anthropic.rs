//! Anthropic's Messages: one line `{id, model, messages}` for each trajectory.

use m3_trajectory::json::Json;

use super::Target;
use super::exact::{Exact, as_object};
use super::openai::{divide, record};
use super::trajectory::{ExportCall, ExportTrajectory, Lack};
use crate::arguments::unwrapped;
use crate::content::{Content, Media, MediaPlace, object, standard, string};
use crate::trace::Notes;

/// The target for messages, one trajectory on each line.
pub(super) const TARGET: Target = Target {
    name: "anthropic",
    title: "Anthropic Messages: {id, messages}, a trajectory a line",
    is_lines: true,
    needs_files: false,
    write,
};

/// The facts that Anthropic's messages cannot carry.
const LACKS: &[Lack] = &[Lack::Kinds, Lack::CallTimes, Lack::Time, Lack::Usage];

fn write(trajectory: &ExportTrajectory<'_>, notes: &mut Notes) -> Json {
    trajectory.cannot(LACKS, notes);
    let mut exact = Exact::default();
    let mut messages = Vec::new();
    if let Some(question) = &trajectory.question {
        messages.push(message("user", blocks(question)));
    }
    for step in &trajectory.steps {
        divide(&mut messages);
        let calls = step.iter().map(|call| self::call(call, &mut exact)).collect();
        messages.push(message("assistant", Json::Array(calls)));
        let is_told = |call: &&ExportCall<'_>| call.result.is_some() || call.is_error;
        let results: Vec<Json> = step.iter().filter(is_told).map(|call| result(call, &mut exact)).collect();
        if !results.is_empty() {
            messages.push(message("user", Json::Array(results)));
        }
    }
    if let Some(answer) = trajectory.answer {
        divide(&mut messages);
        messages.push(message("assistant", string(answer)));
    }
    record(trajectory, messages, exact)
}

fn message(role: &str, content: Json) -> Json {
    object([("role", string(role)), ("content", content)])
}

fn call(call: &ExportCall<'_>, exact: &mut Exact) -> Json {
    let input = as_object(call.arguments);
    exact.arguments(call, Some(&unwrapped(input.clone())));
    object([
        ("type", string("tool_use")),
        ("id", string(&call.id)),
        ("name", string(&exact.name(call.tool))),
        ("input", input),
    ])
}

fn result(call: &ExportCall<'_>, exact: &mut Exact) -> Json {
    exact.result(call);
    let content = call.result.as_ref().map(|result| result.written(blocks));
    let mut members =
        vec![("type".to_owned(), string("tool_result")), ("tool_use_id".to_owned(), string(&call.id))];
    members.extend(content.map(|content| ("content".to_owned(), content)));
    if call.is_error {
        members.push(("is_error".to_owned(), Json::Bool(true)));
    }
    Json::Object(members)
}

/// Content as a text, or as blocks if it has media.
fn blocks(content: &Content) -> Json {
    content.written(|media| Some(self::media(media)))
}

/// Media as a block of a picture or of a document: there are no blocks for sounds.
fn media(media: &Media) -> Json {
    let source = match &media.place {
        MediaPlace::Data(data) => {
            let mut members = vec![("type".to_owned(), string("base64"))];
            members.extend(media.media_type.as_deref().map(|it| ("media_type".to_owned(), string(it))));
            members.push(("data".to_owned(), string(&standard(data))));
            Json::Object(members)
        }
        MediaPlace::Reference(at) => object([("type", string("url")), ("url", string(at))]),
        MediaPlace::Missing => object([("type", string("url")), ("url", string(""))]),
    };
    let kind = if media.kind == "image" { "image" } else { "document" };
    object([("type", string(kind)), ("source", source)])
}
