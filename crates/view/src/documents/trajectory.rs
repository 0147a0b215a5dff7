//! What a trajectory holds, for a page: its calls with their results, its dialogue, its turns.

use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{
    Call, ReadResult, ResultPicture, Step, Trajectory, TurnRecord, read_result, result_parts,
};
use serde::Serialize;

use crate::opened::format_of;
use crate::row::is_failed;
use crate::text::cut;

/// The most characters of a text.
pub(crate) const TEXT: usize = 20_000;

/// The most characters of a name.
pub(crate) const NAME: usize = 500;

/// The most steps, calls of a step, messages, and arguments of a call.
const MOST: usize = 500;

/// The most calls of all steps.
const MOST_CALLS: usize = 1_000;

/// The calls and the answer of one side.
#[derive(Debug, Serialize)]
pub(crate) struct Side {
    steps: Vec<Vec<CallDocument>>,
    more_steps: usize,
    /// Calls of the shown steps that are not shown.
    more_calls: usize,
    answer: Option<String>,
}

#[derive(Debug, Serialize)]
struct CallDocument {
    /// The index of the call in the trajectory, as in scores.
    index: usize,
    tool: String,
    /// The names of the arguments, and their values as JSON text; null if the call has no arguments.
    arguments: Option<Vec<(String, String)>>,
    result: Option<ResultDocument>,
    is_failed: bool,
    outcome: Option<String>,
    milliseconds: Option<u64>,
}

#[derive(Debug, Serialize)]
struct ResultDocument {
    text: String,
    pictures: Vec<PictureDocument>,
}

/// A picture, with its name in the page and its title.
#[derive(Debug, Serialize)]
pub(crate) struct PictureDocument {
    pub name: String,
    pub title: String,
    /// The reason why the picture is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<&'static str>,
}

/// Gives the pictures of a trajectory their names.
pub(crate) trait Naming {
    /// The file of this path, which may be anything.
    fn file(&self, path: &str) -> PictureDocument;
    /// The file of this path that a result names.
    fn result_file(&self, path: &str) -> PictureDocument {
        self.file(path)
    }
    /// A part of a call's result that holds a picture in Base64.
    fn sent(&self, call: usize, number: usize, part: &Json) -> PictureDocument;
    /// The most characters of a result, of a message and of thoughts.
    fn room(&self) -> usize {
        TEXT
    }
}

/// A turn of the model.
#[derive(Debug, Serialize)]
pub(crate) struct Turn {
    purpose: String,
    milliseconds: u64,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    tries: u32,
    oddities: Vec<String>,
}

/// A message of the dialogue.
#[derive(Debug, Serialize)]
pub(crate) struct Message {
    role: String,
    purpose: Option<String>,
    thoughts: Option<String>,
    text: Option<String>,
    /// The names of the tools that the message calls.
    calls: Vec<String>,
    is_failed: bool,
    pictures: Vec<PictureDocument>,
}

/// The calls and the answer of a trajectory. Without `naming`, results are not shown: those of a reference may be of
/// another run.
pub(crate) fn side(trajectory: &Trajectory, naming: Option<&dyn Naming>) -> Side {
    let (mut number, mut shown, mut all) = (0, 0, 0);
    let mut step = |step: &Step| {
        let first = number;
        number += step.calls.len();
        all += step.calls.len();
        let room = MOST.min(MOST_CALLS - shown);
        shown += step.calls.len().min(room);
        let calls = step.calls.iter().take(room).enumerate();
        calls.map(|(at, found)| call(found, first + at, naming)).collect()
    };
    Side {
        steps: trajectory.steps.iter().take(MOST).map(&mut step).collect(),
        more_calls: all - shown,
        more_steps: trajectory.steps.len().saturating_sub(MOST),
        answer: trajectory.final_reply.as_deref().map(|text| cut(text, TEXT)),
    }
}

fn call(call: &Call, number: usize, naming: Option<&dyn Naming>) -> CallDocument {
    let arguments = call.arguments.as_ref().map(|arguments| match arguments {
        Json::Object(members) => {
            members.iter().take(MOST).map(|(key, value)| (cut(key, NAME), text_of(value))).collect()
        }
        other => vec![(String::new(), text_of(other))],
    });
    CallDocument {
        index: number,
        tool: cut(&call.tool, NAME),
        arguments,
        result: call.result.as_ref().zip(naming).map(|(found, naming)| result(found, number, naming)),
        is_failed: is_failed(call),
        outcome: call.recorded_outcome().map(|outcome| cut(outcome, NAME)),
        milliseconds: call.get("milliseconds").and_then(Json::as_count),
    }
}

fn result(result: &Json, call: usize, naming: &dyn Naming) -> ResultDocument {
    let ReadResult { text, pictures } = read_result(result, MOST);
    let picture = |(number, picture): (usize, ResultPicture<'_>)| match picture {
        ResultPicture::File(path) => naming.result_file(path),
        ResultPicture::Sent(part) => naming.sent(call, number, part),
    };
    ResultDocument { text: cut(&text, naming.room()), pictures: pictures.into_iter().map(picture).collect() }
}

/// The messages of the dialogue.
pub(crate) fn dialogue(trajectory: &Trajectory, naming: &dyn Naming) -> Vec<Message> {
    let messages = trajectory.list("dialogue").iter().take(MOST);
    messages.map(|found| message(found, naming)).collect()
}

fn message(message: &Json, naming: &dyn Naming) -> Message {
    let text = |key: &str| message.get(key).and_then(Json::as_str).filter(|text| !text.is_empty());
    let named = |calls: &Json| calls.get("name").and_then(Json::as_str).map(|name| cut(name, NAME));
    let items = |key: &str| message.get(key).map(Json::items).unwrap_or_default();
    let image = |item: &Json| {
        let path = ["image", "file", "path"].iter().find_map(|key| item.get(key).and_then(Json::as_str))?;
        Some(naming.file(path))
    };
    let content = message.get("content");
    let content_image = content.and_then(image);
    let words =
        content.filter(|_| content_image.is_none()).map(|content| match (content, result_parts(content)) {
            (Json::Null, _) => String::new(),
            (Json::String(text), _) => text.clone(),
            (_, Some(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text").and_then(Json::as_str));
                texts.collect::<Vec<_>>().join("\n")
            }
            (other, None) => other.to_text(Keys::AsRead),
        });
    Message {
        role: cut(text("role").unwrap_or("message"), NAME),
        purpose: text("purpose").or_else(|| text("name")).map(|text| cut(text, NAME)),
        thoughts: text("thoughts").map(|text| cut(text, naming.room())),
        text: words.filter(|words| !words.is_empty()).map(|words| cut(&words, naming.room())),
        calls: items("tool_calls").iter().take(MOST).filter_map(named).collect(),
        is_failed: message.get("is_error") == Some(&Json::Bool(true)),
        pictures: content_image
            .into_iter()
            .chain(items("images").iter().take(MOST).filter_map(image))
            .collect(),
    }
}

/// The title of a part with a picture: its media type.
pub(crate) fn kind_of(part: &Json) -> String {
    cut(part.get("mimeType").and_then(Json::as_str).unwrap_or("image"), NAME)
}

fn text_of(value: &Json) -> String {
    cut(&value.to_text(Keys::AsRead), TEXT)
}

/// The facts that a prediction records about its run, with labels.
pub(crate) fn facts(trajectory: &Trajectory) -> Vec<(&'static str, String)> {
    let text = |key: &str| trajectory.get(key).and_then(Json::as_str);
    let reported = trajectory.get("model").and_then(|model| model.get("reported")?.as_str());
    let format = format_of(trajectory);
    let facts = [
        ("Model", trajectory.model()),
        ("Answered by", reported),
        ("Mode", text("mode")),
        ("Finish", text("finish")),
        ("Reason", text("reason")),
        ("Read from", format.as_deref()),
    ];
    facts.into_iter().filter_map(|(label, value)| Some((label, cut(value?, NAME)))).collect()
}

pub(crate) fn turns(trajectory: &Trajectory) -> Vec<Turn> {
    let turn = |turn: TurnRecord| Turn {
        purpose: cut(&turn.purpose, NAME),
        milliseconds: turn.milliseconds,
        input_tokens: turn.usage.and_then(|usage| usage.input_tokens),
        output_tokens: turn.usage.and_then(|usage| usage.output_tokens),
        tries: turn.tries,
        oddities: turn.oddities.iter().take(MOST).map(|text| cut(text, NAME)).collect(),
    };
    trajectory.turns().take(MOST).map(turn).collect()
}
