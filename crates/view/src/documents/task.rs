//! `task/N/M.json`: all that is known of one trajectory: what the model saw, said, called and got, and its reference.

use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_images::task_image::locate;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, Step, Trajectory};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::library::Library;
use crate::pictures::Place;
use crate::row::{Row, count, cut, is_failed, member};
use crate::run::Run;
use crate::shelves::{References, Shelves};

/// The most characters of a text.
const TEXT: usize = 20_000;

/// The most characters of a name.
const NAME: usize = 500;

/// The most steps, calls of a step, messages, and arguments of a call.
const MOST: usize = 500;

/// One trajectory.
#[derive(Debug, Serialize)]
pub(crate) struct TaskDocument<'a> {
    row: &'a Row,
    /// What else the run says, with labels: model, reason, mode.
    facts: Vec<(&'static str, String)>,
    question: Option<String>,
    image: Option<PictureDocument>,
    prediction: Option<Side>,
    reference: Option<Side>,
    turns: Vec<Turn>,
    dialogue: Vec<Message>,
    /// What the score says of it, as its file has it.
    score: Option<&'a RawValue>,
    /// The names of other runs that have the task.
    others: Vec<&'a str>,
}

/// The calls and the answer of one side.
#[derive(Debug, Serialize)]
struct Side {
    steps: Vec<Vec<CallDocument>>,
    more_steps: usize,
    /// Calls of the shown steps that are not shown.
    more_calls: usize,
    answer: Option<String>,
}

#[derive(Debug, Serialize)]
struct CallDocument {
    /// Its place in the trajectory, as scores count.
    index: usize,
    tool: String,
    /// Names and values as JSON text; null where the file has none.
    arguments: Option<Vec<(String, String)>>,
    result: Option<ResultDocument>,
    is_failed: bool,
    outcome: Option<String>,
    milliseconds: Option<u64>,
}

#[derive(Debug, Default, Serialize)]
struct ResultDocument {
    text: String,
    pictures: Vec<PictureDocument>,
}

/// A picture: its name in the page, and what the file calls it.
#[derive(Debug, Serialize)]
struct PictureDocument {
    name: String,
    title: String,
    /// Whether there is such a file.
    is_there: bool,
}

/// A turn of the model.
#[derive(Debug, Serialize)]
struct Turn {
    purpose: String,
    milliseconds: Option<u64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    tries: Option<u64>,
    oddities: Vec<String>,
}

/// A message of the dialogue.
#[derive(Debug, Serialize)]
struct Message {
    role: String,
    purpose: Option<String>,
    thoughts: Option<String>,
    text: Option<String>,
    /// Tools that it calls.
    calls: Vec<String>,
    is_failed: bool,
    pictures: Vec<PictureDocument>,
}

/// What is needed to make a document of a trajectory.
struct Maker<'a> {
    library: &'a Library,
    run: &'a Run,
    run_number: usize,
    row_number: usize,
    repeat: u64,
    trajectory: &'a Trajectory,
}

/// Whose trajectory it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of<'a> {
    /// A run with its number.
    Run(usize, &'a Run),
    /// A file of references.
    References(&'a Run),
}

/// The trajectory of a row.
pub(crate) fn task<'a>(
    library: &Library,
    shelves: &'a Shelves,
    of: Of<'a>,
    row_number: usize,
) -> Option<TaskDocument<'a>> {
    let (run_number, run) = match of {
        Of::Run(number, run) => (number, run),
        Of::References(run) => (usize::MAX, run),
    };
    let row = run.rows.get(row_number)?;
    let own = run.trajectory(row_number);
    let (prediction, reference) = match of {
        Of::Run(..) => {
            let of_task = |known: &References| known.run.trajectory(known.run.row_of(&row.id)?);
            (own, shelves.references_of(run).and_then(of_task))
        }
        Of::References(_) => (None, own),
    };
    let nothing = Trajectory::default();
    let told = prediction.as_ref().or(reference.as_ref()).unwrap_or(&nothing);
    let maker = Maker { library, run, run_number, row_number, repeat: row.repeat, trajectory: told };
    let extra = |key: &str| member(&told.extra, key);
    let question = told.question.as_deref().or_else(|| extra("prompt").and_then(Json::as_str));
    let question = question.or_else(|| reference.as_ref()?.question.as_deref());
    let score = run.score.as_deref().filter(|_| !row.is_replaced);
    let scored = score.and_then(|score| score.of(&row.id, row.repeat));
    let others = shelves
        .runs
        .iter()
        .enumerate()
        .filter(|(index, other)| *index != run_number && other.row_of(&row.id).is_some());
    let prediction = prediction.as_ref();
    Some(TaskDocument {
        row,
        facts: prediction.map(facts).unwrap_or_default(),
        question: question.map(|text| cut(text, TEXT)),
        image: maker.task_image().or_else(|| {
            // Where the references' own file is.
            let image = reference.as_ref()?.image.as_deref()?;
            let of = shelves.references_of(run).map_or(run, |known| &known.run);
            Some(maker.picture_in(of.picture_folders(&row.id, row.repeat), image))
        }),
        prediction: prediction.map(|prediction| maker.side(prediction, true)),
        reference: reference.as_ref().map(|reference| maker.side(reference, false)),
        turns: prediction.map(turns).unwrap_or_default(),
        dialogue: prediction.map(|_| maker.dialogue()).unwrap_or_default(),
        score: scored.map(|scored| &*scored.whole),
        others: others.map(|(_, other)| other.name.as_str()).collect(),
    })
}

impl Maker<'_> {
    fn task_image(&self) -> Option<PictureDocument> {
        Some(self.picture_file(self.trajectory.image.as_deref()?))
    }

    fn picture_file(&self, path: &str) -> PictureDocument {
        self.picture_in(self.run.picture_folders(&self.trajectory.id, self.repeat), path)
    }

    fn picture_in(&self, folders: Arc<[PathBuf]>, path: &str) -> PictureDocument {
        let is_there = locate(path, &folders).is_some();
        let name = self.library.pictures.name(Place::File { folders, path: path.to_owned() });
        PictureDocument { name, title: cut(path, NAME), is_there }
    }

    /// `with_results` only of a prediction: a reference's results may be of another run.
    fn side(&self, trajectory: &Trajectory, with_results: bool) -> Side {
        let mut number = 0;
        let mut step = |step: &Step| {
            let calls = step.calls.iter().take(MOST).enumerate();
            let first = number;
            number += step.calls.len();
            calls.map(|(at, call)| self.call(call, first + at, with_results)).collect()
        };
        Side {
            steps: trajectory.steps.iter().take(MOST).map(&mut step).collect(),
            more_calls: trajectory
                .steps
                .iter()
                .take(MOST)
                .map(|step| step.calls.len().saturating_sub(MOST))
                .sum(),
            more_steps: trajectory.steps.len().saturating_sub(MOST),
            answer: trajectory.final_reply.as_deref().map(|text| cut(text, TEXT)),
        }
    }

    fn call(&self, call: &Call, number: usize, with_results: bool) -> CallDocument {
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
            result: call.result.as_ref().filter(|_| with_results).map(|result| self.result(result, number)),
            is_failed: is_failed(call),
            outcome: call.recorded_outcome().map(|outcome| cut(outcome, NAME)),
            milliseconds: member(&call.extra, "milliseconds").and_then(count),
        }
    }

    /// A recorded result: a text, the parts of a tool's answer in order, or any JSON.
    fn result(&self, result: &Json, call: usize) -> ResultDocument {
        let mut made = ResultDocument::default();
        let mut texts: Vec<String> = Vec::new();
        match parts_of(result) {
            None => texts.push(if let Json::String(text) = result {
                text.clone()
            } else {
                result.to_text(Keys::AsRead)
            }),
            Some(parts) => {
                for (number, part) in parts.iter().enumerate() {
                    let text = |key: &str| part.get(key).and_then(Json::as_str);
                    let resource =
                        |key: &str| part.get("resource").and_then(|it| it.get(key)).and_then(Json::as_str);
                    let file = text("file").or_else(|| text("path"));
                    if let Some(words) = text("text").or_else(|| resource("text")) {
                        texts.push(words.to_owned());
                    } else if let Some(file) = file.filter(|_| made.pictures.len() < MOST) {
                        made.pictures.push(self.picture_file(file));
                    } else if inline(part).is_some() && made.pictures.len() < MOST {
                        let (run, trajectory) = (self.run_number, self.row_number);
                        let place = Place::Result { run, trajectory, call, part: number };
                        let title = text("mimeType").unwrap_or("image");
                        let name = self.library.pictures.name(place);
                        made.pictures.push(PictureDocument { name, title: cut(title, NAME), is_there: true });
                    } else {
                        texts.push(part.to_text(Keys::AsRead));
                    }
                }
                if texts.is_empty()
                    && let Some(structured) = result.get("structuredContent")
                {
                    texts.push(structured.to_text(Keys::AsRead));
                }
            }
        }
        made.text = cut(&texts.join("\n"), TEXT);
        made
    }

    fn dialogue(&self) -> Vec<Message> {
        let messages = list(&self.trajectory.extra, "dialogue").iter().take(MOST);
        messages.map(|message| self.message(message)).collect()
    }

    fn message(&self, message: &Json) -> Message {
        let text = |key: &str| message.get(key).and_then(Json::as_str).filter(|text| !text.is_empty());
        let named = |calls: &Json| calls.get("name").and_then(Json::as_str).map(|name| cut(name, NAME));
        let items = |key: &str| match message.get(key) {
            Some(Json::Array(items)) => items.as_slice(),
            _ => &[],
        };
        let image = |item: &Json| {
            let path =
                ["image", "file", "path"].iter().find_map(|key| item.get(key).and_then(Json::as_str))?;
            Some(self.picture_file(path))
        };
        let content = message.get("content");
        let content_image = content.and_then(image);
        let words =
            content.filter(|_| content_image.is_none()).map(|content| match (content, parts_of(content)) {
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
            thoughts: text("thoughts").map(|text| cut(text, TEXT)),
            text: words.filter(|words| !words.is_empty()).map(|words| cut(&words, TEXT)),
            calls: items("tool_calls").iter().take(MOST).filter_map(named).collect(),
            is_failed: message.get("is_error") == Some(&Json::Bool(true)),
            pictures: content_image
                .into_iter()
                .chain(items("images").iter().take(MOST).filter_map(image))
                .collect(),
        }
    }
}

/// The picture that a tool sent in a result.
pub(crate) fn sent_picture(shelves: &Shelves, place: &Place) -> Option<Vec<u8>> {
    let Place::Result { run, trajectory, call, part } = place else { return None };
    let trajectory = shelves.runs.get(*run)?.trajectory(*trajectory)?;
    let (_, call) = trajectory.calls().nth(*call)?;
    let data = inline(parts_of(call.result.as_ref()?)?.get(*part)?)?;
    STANDARD.decode(data.trim()).ok()
}

/// The parts of a tool's answer, if it has any.
fn parts_of(result: &Json) -> Option<&[Json]> {
    let parts = match result {
        Json::Array(parts) => parts,
        result => match result.get("content") {
            Some(Json::Array(parts)) => parts,
            _ => return None,
        },
    };
    let is_part = |part: &Json| part.get("type").and_then(Json::as_str).is_some();
    (!parts.is_empty() && parts.iter().all(is_part)).then_some(parts)
}

/// The Base64 of a picture within a part.
fn inline(part: &Json) -> Option<&str> {
    let is_image = part.get("type").and_then(Json::as_str) == Some("image");
    // As MCP has it, or as Anthropic's messages do.
    let data = part.get("data").or_else(|| part.get("source")?.get("data"));
    data.and_then(Json::as_str).filter(|_| is_image)
}

fn text_of(value: &Json) -> String {
    cut(&value.to_text(Keys::AsRead), TEXT)
}

fn list<'a>(members: &'a [(String, Json)], key: &str) -> &'a [Json] {
    match member(members, key) {
        Some(Json::Array(items)) => items,
        _ => &[],
    }
}

/// What a prediction records about its run.
fn facts(trajectory: &Trajectory) -> Vec<(&'static str, String)> {
    let extra = |key: &str| member(&trajectory.extra, key);
    let text = |key: &str| extra(key).and_then(Json::as_str).map(str::to_owned);
    let of = |key: &str, part: &str| {
        extra(key).and_then(|it| it.get(part)).and_then(Json::as_str).map(str::to_owned)
    };
    let facts = [
        ("Model", text("model").or_else(|| of("model", "requested"))),
        ("Answered by", of("model", "reported")),
        ("Mode", text("mode")),
        ("Finish", text("finish")),
        ("Reason", text("reason")),
    ];
    facts.into_iter().filter_map(|(label, value)| Some((label, cut(&value?, NAME)))).collect()
}

fn turns(trajectory: &Trajectory) -> Vec<Turn> {
    let turn = |turn: &Json| {
        let number = |key: &str| turn.get(key).and_then(count);
        let usage = |key: &str| turn.get("usage").and_then(|usage| usage.get(key)).and_then(count);
        let oddities = match turn.get("oddities") {
            Some(Json::Array(items)) => {
                items.iter().take(MOST).filter_map(Json::as_str).map(|text| cut(text, NAME)).collect()
            }
            _ => Vec::new(),
        };
        Turn {
            purpose: cut(turn.get("purpose").and_then(Json::as_str).unwrap_or("turn"), NAME),
            milliseconds: number("milliseconds"),
            input_tokens: usage("input_tokens"),
            output_tokens: usage("output_tokens"),
            tries: number("tries"),
            oddities,
        }
    };
    list(&trajectory.extra, "turns").iter().take(MOST).map(turn).collect()
}
