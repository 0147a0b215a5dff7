//! A trajectory in the form that all export targets share: calls with ids, results as texts, parts or values.

use std::borrow::Cow;

use m3_support::text::hash_of_bytes;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, MalformedCall, Trajectory};

use crate::content::{Content, Media, MediaPlace, Part, string};
use crate::fields::{Fields, count, members};
use crate::trace::Notes;
use crate::usage::Usage;

/// A trajectory that is exported.
#[derive(Debug)]
pub(super) struct ExportTrajectory<'t> {
    pub(super) id: &'t str,
    /// 64 lower-case hexadecimal digits, different for each trajectory of a file and the same in every export.
    pub(super) key: String,
    pub(super) question: Option<Content>,
    /// Steps that have calls.
    pub(super) steps: Vec<Vec<ExportCall<'t>>>,
    pub(super) answer: Option<&'t str>,
    pub(super) model: Option<&'t str>,
    /// The model's provider, as m3 calls it.
    pub(super) provider: Option<&'t str>,
    pub(super) usage: Usage,
    pub(super) milliseconds: Option<u64>,
    /// The time of events without a time, in seconds since 1970.
    pub(super) started: u64,
}

/// The key of a trajectory whose id occurs for the `times`th time.
pub(super) fn key(id: &str, times: u64) -> String {
    let hash = hash_of_bytes(format!("{times}\n{id}").as_bytes());
    hash.strip_prefix("sha256:").unwrap_or(&hash).to_owned()
}

/// A call that is exported.
#[derive(Debug)]
pub(super) struct ExportCall<'t> {
    pub(super) id: String,
    pub(super) tool: &'t str,
    pub(super) arguments: Option<&'t Json>,
    pub(super) result: Option<ExportResult<'t>>,
    pub(super) is_error: bool,
    pub(super) error_type: Option<&'t str>,
    pub(super) milliseconds: Option<u64>,
}

/// The result of a call.
#[derive(Debug)]
pub(super) enum ExportResult<'t> {
    /// A text.
    Text(Cow<'t, str>),
    /// Texts and media.
    Parts(Content),
    /// Any other value.
    Value(&'t Json),
}

impl<'t> ExportTrajectory<'t> {
    /// Converts a trajectory whose id occurs for the `times`th time in the file.
    pub(super) fn new(trajectory: &'t Trajectory, times: u64, started: u64, notes: &mut Notes) -> Self {
        let key = key(&trajectory.id, times);
        let model = trajectory.get("model");
        let requested = model.and_then(|model| model.text("requested"));
        let name = requested.map(|name| name.split_once(':').map_or(name, |(_, name)| name));
        let steps = trajectory.steps.iter().zip(1..).map(|(step, number): (_, usize)| {
            let id = |place: usize| format!("call_{}_{number}_{place}", key.get(..8).unwrap_or_default());
            let entries = step.entries().zip(1..);
            let call = |(entry, place): (Result<&'t Call, &'t MalformedCall>, usize)| match entry {
                Ok(call) => ExportCall::new(call, id(place), notes),
                Err(other) => ExportCall::from_item(&other.value, id(place), notes),
            };
            entries.map(call).collect::<Vec<_>>()
        });
        Self {
            id: &trajectory.id,
            steps: steps.filter(|step| !step.is_empty()).collect(),
            key,
            question: question(trajectory),
            answer: trajectory.final_reply.as_deref().filter(|answer| !answer.is_empty()),
            model: model.and_then(|model| model.as_str().or_else(|| model.text("reported"))).or(name),
            provider: requested.and_then(|name| name.split_once([':', '@'])).map(|(provider, _)| provider),
            usage: trajectory.get("usage").map(Usage::of_own).unwrap_or_default(),
            milliseconds: trajectory.milliseconds().filter(|milliseconds| is_plausible(*milliseconds)),
            started,
        }
    }

    /// Adds a note for each fact, of the trajectory and of its calls, that the target cannot carry.
    pub(super) fn cannot(&self, what: &[Lack], notes: &mut Notes) {
        let mut tell = |lack: Lack, count: usize| {
            if what.contains(&lack) {
                (0..count).for_each(|_| notes.add(lack.note()));
            }
        };
        let count =
            |is: fn(&ExportCall<'_>) -> bool| self.steps.iter().flatten().filter(|call| is(call)).count();
        tell(Lack::Failures, count(|call| call.is_error));
        tell(Lack::Kinds, count(|call| call.error_type.is_some()));
        tell(Lack::CallTimes, count(|call| call.milliseconds.is_some()));
        tell(Lack::Time, usize::from(self.milliseconds.is_some()));
        tell(Lack::Usage, usize::from(!self.usage.is_empty()));
        tell(Lack::Thoughts, usize::from(self.usage.reasoning.is_some()));
    }
}

/// A fact that a target may be unable to carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    Failures,
    Kinds,
    CallTimes,
    Time,
    Usage,
    Thoughts,
}

impl Lack {
    fn note(self) -> &'static str {
        match self {
            Self::Failures => "failures of calls have no mark",
            Self::Kinds => "kinds of failures have no place",
            Self::CallTimes => "times of calls have no place",
            Self::Time => "times of whole trajectories have no place",
            Self::Usage => "tokens have no place",
            Self::Thoughts => "tokens of thoughts have no place",
        }
    }
}

impl<'t> ExportCall<'t> {
    fn new(call: &'t Call, id: String, notes: &mut Notes) -> Self {
        let base = Self::with(&call.extra, id);
        Self {
            tool: &call.tool,
            arguments: call.arguments.as_ref(),
            result: call.result.as_ref().map(|result| ExportResult::from_json(result, notes)),
            ..base
        }
    }

    /// A call from an item without a tool's name, which a model wrote in place of a call.
    fn from_item(item: &'t Json, id: String, notes: &mut Notes) -> Self {
        notes.add("an item that names no tool becomes a call without a name");
        let base = Self::with(members(item), id);
        Self {
            tool: item.text("name").unwrap_or_default(),
            arguments: if matches!(item, Json::Object(_)) { item.get("arguments") } else { Some(item) },
            result: item.get("result").map(|result| ExportResult::from_json(result, notes)),
            ..base
        }
    }

    /// A call with the members that stand beside its tool, arguments and result.
    fn with(extra: &'t [(String, Json)], id: String) -> Self {
        let is_error =
            ["is_error", "isError"].iter().any(|key| member(extra, key) == Some(&Json::Bool(true)));
        let outcome = member(extra, "outcome").filter(|_| is_error);
        Self {
            id,
            tool: "",
            arguments: None,
            result: None,
            is_error,
            error_type: member(extra, "error_type").and_then(Json::as_str).or_else(|| outcome?.as_str()),
            milliseconds: member(extra, "milliseconds").and_then(milliseconds),
        }
    }
}

impl<'t> ExportResult<'t> {
    /// A text for everything but a content in parts, which `parts` writes.
    pub(super) fn written(&self, parts: impl FnOnce(&Content) -> Json) -> Json {
        match self {
            Self::Text(text) => string(text),
            Self::Value(value) => string(&value.to_text(Keys::AsRead)),
            Self::Parts(content) => parts(content),
        }
    }

    /// A result as a text, a list of parts, or any other value; MCP results become their parts.
    fn from_json(result: &'t Json, notes: &mut Notes) -> Self {
        if let Json::String(text) = result {
            return Self::Text(Cow::Borrowed(text));
        }
        let parts = match result {
            Json::Array(list) if !list.is_empty() && list.iter().all(is_own_part) => list,
            Json::Object(_) if is_of_mcp(result) => {
                let structured = result.get("structuredContent").filter(|it| **it != Json::Null);
                match (result.list("content"), structured) {
                    ([], Some(structured)) => return Self::Value(structured),
                    (parts, structured) => {
                        if structured.is_some() {
                            notes.add("structured content beside the parts of a result is left out");
                        }
                        parts
                    }
                }
            }
            other => return Self::Value(other),
        };
        let mut content = Content::default();
        for part in parts {
            let known = content.parts.len();
            content.add(part);
            if content.parts.len() == known {
                notes.add("a part of a result that is neither text nor media is left out");
            }
        }
        if content.media().next().is_none() {
            Self::Text(Cow::Owned(content.text()))
        } else {
            Self::Parts(content)
        }
    }
}

/// Whether an item of a list is a part as m3 writes it: a list of files that a tool returns looks similar.
fn is_own_part(part: &Json) -> bool {
    const KEYS: [&str; 8] = ["type", "text", "data", "uri", "file", "missing", "mimeType", "bytes"];
    let is_known = members(part).iter().all(|(key, _)| KEYS.contains(&key.as_str()));
    is_known
        && match part.text("type") {
            Some("text") => part.text("text").is_some(),
            Some("image" | "audio" | "file") => {
                part.has("data") || part.has("uri") || part.has("missing") || part.has("file")
            }
            _ => false,
        }
}

/// Whether a value is an MCP result: a list of parts, and only members that belong to it.
fn is_of_mcp(result: &Json) -> bool {
    const KEYS: [&str; 5] = ["content", "structuredContent", "isError", "is_error", "_meta"];
    matches!(result.get("content"), Some(Json::Array(_)))
        && members(result).iter().all(|(key, _)| KEYS.contains(&key.as_str()))
        && result
            .get("content")
            .map(Json::items)
            .unwrap_or_default()
            .iter()
            .all(|part| part.text("type").is_some())
}

/// The question, with the pictures beside it.
fn question(trajectory: &Trajectory) -> Option<Content> {
    let mut content = Content::default();
    let text = trajectory.question.as_ref().filter(|text| !text.is_empty());
    content.parts.extend(text.map(|text| Part::Text(text.clone())));
    // `images` of m3's own runs describe how pictures were changed; they are not parts.
    let images = trajectory.list("images");
    let images: Vec<&Json> = images.iter().filter(|image| is_own_part(image)).collect();
    for image in &images {
        content.add(image);
    }
    if let Some(image) = trajectory.image.as_ref().filter(|_| images.is_empty()) {
        let place = MediaPlace::Reference(image.clone());
        content.parts.push(Part::Media(Media { kind: "image", media_type: None, place }));
    }
    (!content.is_empty()).then_some(content)
}

fn member<'j>(members: &'j [(String, Json)], key: &str) -> Option<&'j Json> {
    members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// Whether a duration in milliseconds fits into nanoseconds.
fn is_plausible(milliseconds: u64) -> bool {
    milliseconds < 1_000_000_000_000
}

/// A duration, unless it is absurd: it has to fit into nanoseconds.
fn milliseconds(value: &Json) -> Option<u64> {
    count(value).filter(|milliseconds| is_plausible(*milliseconds))
}
