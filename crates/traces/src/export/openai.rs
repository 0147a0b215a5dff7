//! OpenAI's Chat Completions: one line `{id, model, messages}` for each trajectory.

use m3_trajectory::json::{Json, Keys};

use super::Target;
use super::exact::{Exact, read_of_text};
use super::trajectory::{ExportCall, ExportResult, ExportTrajectory, Lack};
use crate::content::{Content, Media, MediaPlace, data_url, object, standard, string};
use crate::fields::Fields;
use crate::trace::Notes;

/// The target for messages, one trajectory on each line.
pub(super) const TARGET: Target = Target {
    name: "openai",
    title: "OpenAI Chat Completions: {id, messages}, a trajectory a line",
    is_lines: true,
    needs_files: false,
    write,
};

/// The facts that Chat Completions messages cannot carry.
const LACKS: &[Lack] = &[Lack::Failures, Lack::Kinds, Lack::CallTimes, Lack::Time, Lack::Usage];

fn write(trajectory: &ExportTrajectory<'_>, notes: &mut Notes) -> Json {
    trajectory.cannot(LACKS, notes);
    let mut exact = Exact::default();
    let mut messages = Vec::new();
    if let Some(question) = &trajectory.question {
        messages.push(object([("role", string("user")), ("content", content(question))]));
    }
    for step in &trajectory.steps {
        divide(&mut messages);
        let calls = step.iter().map(|call| self::call(call, &mut exact)).collect();
        messages.push(object([
            ("role", string("assistant")),
            ("content", Json::Null),
            ("tool_calls", Json::Array(calls)),
        ]));
        for call in step {
            if let Some(result) = &call.result {
                exact.result(call);
                messages.push(object([
                    ("role", string("tool")),
                    ("tool_call_id", string(&call.id)),
                    ("content", result.written(|content| string(&content.text()))),
                ]));
            }
        }
        messages.extend(step.iter().filter_map(|call| media_of(call, notes)));
    }
    if let Some(answer) = trajectory.answer {
        divide(&mut messages);
        messages.push(object([("role", string("assistant")), ("content", string(answer))]));
    }
    record(trajectory, messages, exact)
}

/// A trajectory as its messages, with what they cannot say beside them.
pub(super) fn record(trajectory: &ExportTrajectory<'_>, messages: Vec<Json>, exact: Exact) -> Json {
    let mut record = vec![("id".to_owned(), string(trajectory.id))];
    record.extend(trajectory.model.map(|model| ("model".to_owned(), string(model))));
    record.push(("messages".to_owned(), Json::Array(messages)));
    record.extend(exact.into_member());
    Json::Object(record)
}

/// Divides two replies that would be read as one, because calls of the first have no results: an empty message of the
/// user, which holds no question, stands between them.
pub(super) fn divide(messages: &mut Vec<Json>) {
    if messages.last().is_some_and(|message| message.says("role", "assistant")) {
        messages.push(object([("role", string("user")), ("content", string(""))]));
    }
}

fn call(call: &ExportCall<'_>, exact: &mut Exact) -> Json {
    let text = match call.arguments {
        Some(Json::String(text)) => text.clone(),
        Some(other) => other.to_text(Keys::AsRead),
        None => "{}".to_owned(),
    };
    exact.arguments(call, read_of_text(&text).as_ref());
    let function = object([("name", string(&exact.name(call.tool))), ("arguments", string(&text))]);
    object([("id", string(&call.id)), ("type", string("function")), ("function", function)])
}

/// The media of a result, in a message of the user that names the call.
fn media_of(call: &ExportCall<'_>, notes: &mut Notes) -> Option<Json> {
    let Some(ExportResult::Parts(content)) = &call.result else { return None };
    let media: Vec<Json> = content.media().map(media).collect();
    notes.add("pictures of a result follow in a message of the user, named like the call");
    Some(object([("role", string("user")), ("name", string(&call.id)), ("content", Json::Array(media))]))
}

/// Content as a text, or as parts if it has media.
fn content(content: &Content) -> Json {
    content.written(|media| Some(self::media(media)))
}

fn media(media: &Media) -> Json {
    let part = |kind: &str, inner: Json| object([("type", string(kind)), (kind, inner)]);
    match (media.kind, &media.place) {
        ("image", place) => part("image_url", object([("url", string(&address(media, place)))])),
        ("audio", MediaPlace::Data(data)) => {
            let format =
                media.media_type.as_deref().and_then(|it| it.split_once('/')).map_or("wav", |(_, it)| it);
            let format = if format == "mpeg" { "mp3" } else { format };
            part("input_audio", object([("data", string(&standard(data))), ("format", string(format))]))
        }
        (_, MediaPlace::Data(_)) => part(
            "file",
            object([("filename", string("file")), ("file_data", string(&address(media, &media.place)))]),
        ),
        (_, place) => part("file", object([("file_id", string(&address(media, place)))])),
    }
}

/// A data URL, or the address of media that are elsewhere; empty if there is neither.
fn address(media: &Media, place: &MediaPlace) -> String {
    match place {
        MediaPlace::Data(data) => data_url(media.media_type.as_deref(), data),
        MediaPlace::Reference(at) => at.clone(),
        MediaPlace::Missing => String::new(),
    }
}
