//! Checks that the wire formats of all providers share: problems and their places, names, schemas, images, results.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::ImageFormat;
use serde_json::{Value, json};

use super::{SeenRequest, hash};

/// The checks of one request.
#[derive(Debug, Default)]
pub(super) struct Checks {
    pub(super) seen: SeenRequest,
    pub(super) problems: Vec<String>,
    ids: HashSet<String>,
    known: Arc<Images>,
}

/// Images that were found intact: their media type and base64, as a hash, and the SHA-256 of their bytes. Many
/// requests have the same images, and decoding them again would slow down the program under test.
#[derive(Debug, Default)]
pub(super) struct Images(Mutex<HashMap<u64, String>>);

impl Images {
    fn key(media_type: &str, data: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        (media_type, data).hash(&mut hasher);
        hasher.finish()
    }

    fn get(&self, media_type: &str, data: &str) -> Option<String> {
        self.0.lock().unwrap().get(&Self::key(media_type, data)).cloned()
    }
}

/// A call that waits for its result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenCall {
    pub(super) id: String,
    pub(super) name: String,
}

impl Checks {
    pub(super) fn new(known: Arc<Images>) -> Self {
        Self { known, ..Self::default() }
    }

    pub(super) fn fail(&mut self, place: &str, what: impl std::fmt::Display) {
        self.problems.push(format!("{place} {what}"));
    }

    /// Adds a problem unless something holds.
    pub(super) fn that(&mut self, holds: bool, place: &str, what: &str) {
        if !holds {
            self.fail(place, what);
        }
    }

    /// Adds a problem for every key that is not documented.
    pub(super) fn keys(&mut self, value: &Value, place: &str, documented: &[&str]) {
        let unknown = value.as_object().into_iter().flatten().map(|(key, _)| key);
        for key in unknown.filter(|key| !documented.contains(&key.as_str())) {
            self.fail(place, format!("has the key `{key}`, which is not documented"));
        }
    }

    /// Checks a text and keeps it among the texts.
    pub(super) fn text(&mut self, value: &Value, place: &str, may_be_empty: bool) -> String {
        let Some(text) = value.as_str() else {
            self.fail(place, "is no string");
            return String::new();
        };
        self.that(may_be_empty || !text.trim().is_empty(), place, "is empty");
        self.seen.texts.push(text.to_owned());
        text.to_owned()
    }

    /// Checks a list with at least one member.
    pub(super) fn list<'a>(&mut self, value: &'a Value, place: &str) -> &'a [Value] {
        let list = value.as_array();
        self.that(list.is_some(), place, "is no list");
        self.that(list.is_none_or(|list| !list.is_empty()), place, "is empty");
        list.map_or(&[], Vec::as_slice)
    }

    /// Checks an image: its media type must be right and its data must decode.
    pub(super) fn image(&mut self, media_type: &str, data: &str, place: &str) {
        if let Some(hash) = self.known.get(media_type, data) {
            self.seen.images.push(hash);
            return;
        }
        let format = match media_type {
            "image/png" => ImageFormat::Png,
            "image/jpeg" => ImageFormat::Jpeg,
            "image/webp" => ImageFormat::WebP,
            "image/gif" => ImageFormat::Gif,
            other => return self.fail(place, format!("has the media type `{other}`")),
        };
        let Ok(bytes) = STANDARD.decode(data) else { return self.fail(place, "is not base64") };
        let hash = hash(&bytes);
        self.seen.images.push(hash.clone());
        match image::guess_format(&bytes) {
            Ok(found) if found == format => {}
            Ok(found) => return self.fail(place, format!("is {found:?}, said to be {media_type}")),
            Err(_) => return self.fail(place, "is no image"),
        }
        match image::load_from_memory_with_format(&bytes, format) {
            Ok(_) => {
                let key = Images::key(media_type, data);
                self.known.0.lock().unwrap().insert(key, hash);
            }
            Err(error) => self.fail(place, format!("is a damaged image: {error}")),
        }
    }

    /// Checks a name by `^[a-zA-Z0-9_-]{1,64}$`, for the wires of all four providers.
    pub(super) fn tool_name(&mut self, value: &Value, place: &str) -> String {
        let name = value.as_str().unwrap_or_default();
        let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        self.that((1..=64).contains(&name.len()) && name.chars().all(is_fine), place, "is no name of a tool");
        name.to_owned()
    }

    /// Checks an offered tool.
    pub(super) fn tool(&mut self, name: &Value, description: &Value, schema: &Value, place: &str) {
        let name = self.tool_name(name, place);
        self.that(!self.seen.tools.contains(&name), place, "has the name of another tool");
        self.that(
            description.is_null() || description.is_string(),
            place,
            "has a description that is no string",
        );
        self.that(schema["type"] == "object", place, "has a schema whose type is not object");
        // OpenAI: "object schema missing properties".
        self.that(schema["properties"].is_object(), place, "has a schema without properties");
        // OpenAI: "schema must have type 'object' and not have .. at the top level"; Anthropic refuses the first three.
        for key in ["anyOf", "oneOf", "allOf", "enum", "not"] {
            self.that(schema.get(key).is_none(), place, &format!("has `{key}` at the root of its schema"));
        }
        self.seen.tools.push(name);
    }

    /// Checks the id of a call: it must be new, and have at most so many letters, digits and other allowed characters.
    pub(super) fn plain_call_id(&mut self, id: &Value, place: &str, (most, others): (usize, &str)) -> String {
        let id = self.call_id(id, place);
        let is_fine = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
        let is_plain = id.len() <= most && id.chars().all(is_fine);
        self.that(is_plain, place, "has an id of other characters than are allowed");
        id
    }

    /// Checks the end of the messages: calls have results, the user comes last, and tools are offered if any was called.
    pub(super) fn end(
        &mut self,
        open: &mut Vec<OpenCall>,
        messages: &[Value],
        (tools, place): (&Value, &str),
    ) {
        self.all_answered(open, "the end");
        let is_user = messages.last().is_some_and(|message| message["role"] == "user");
        self.that(is_user, "the last message", "is not the user's");
        let has_calls = !self.seen.results.is_empty();
        self.that(!has_calls || !tools.is_null(), place, "missing, although there are calls");
        self.count_turns(messages, "assistant");
    }

    /// Keeps the number of the requested turn of the model, which has this role.
    pub(super) fn count_turns(&mut self, messages: &[Value], role: &str) {
        self.seen.turn = messages.iter().filter(|message| message["role"] == role).count() + 1;
    }

    /// Checks the id of a call, which must be new.
    pub(super) fn call_id(&mut self, id: &Value, place: &str) -> String {
        let id = id.as_str().unwrap_or_default();
        self.that(!id.is_empty(), place, "has no id");
        let is_new = self.ids.insert(id.to_owned());
        self.that(is_new, place, "has the id of an earlier call");
        id.to_owned()
    }

    /// Checks the result of one of the open calls.
    pub(super) fn answered(&mut self, open: &mut Vec<OpenCall>, id: &str, text: String, place: &str) {
        match open.iter().position(|call| call.id == id) {
            Some(index) => {
                open.remove(index);
            }
            None => self.fail(place, format!("answers `{id}`, which no open call has")),
        }
        self.seen.results.push((id.to_owned(), text));
    }

    /// Checks that all calls have results by now.
    pub(super) fn all_answered(&mut self, open: &mut Vec<OpenCall>, place: &str) {
        for call in open.drain(..) {
            self.fail(place, format!("comes before the call `{}` of `{}` is answered", call.id, call.name));
        }
    }

    /// Checks a number in a range, if one is given.
    pub(super) fn number(&mut self, value: &Value, place: &str, low: f64, high: f64) {
        let is_fine = value.as_f64().is_some_and(|number| (low..=high).contains(&number));
        self.that(value.is_null() || is_fine, place, "is no number in its range");
    }

    /// Checks a whole number, if one is given.
    pub(super) fn whole(&mut self, value: &Value, place: &str) {
        self.that(value.is_null() || value.as_u64().is_some(), place, "is no whole number");
    }

    /// Checks the key in its header; a server without a key of its own accepts any or none.
    pub(super) fn key(&mut self, headers: &HeaderMap, name: &str, prefix: &str, key: Option<&str>) {
        let given = headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let is_fine = match (given.map(|given| given.strip_prefix(prefix)), key) {
            (Some(given), Some(key)) => given == Some(key),
            (Some(given), None) => given.is_some_and(|given| !given.is_empty()),
            (None, key) => key.is_none(),
        };
        self.that(is_fine, name, "does not have the key");
    }
}

/// Replaces the data of intact images by `sha256:..` of their bytes.
pub(super) fn hash_images(value: &mut Value, known: &Images) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| hash_images(value, known)),
        Value::Object(object) => {
            let text = |key: &str| object.get(key).and_then(Value::as_str);
            let media_type = text("media_type").or(text("mimeType"));
            let hash = media_type.zip(text("data")).and_then(|(kind, data)| known.get(kind, data));
            // Bedrock has the format beside the source of the bytes.
            let bytes = object.get("source").and_then(|source| source["bytes"].as_str());
            let in_source = text("format")
                .zip(bytes)
                .and_then(|(format, data)| known.get(&format!("image/{format}"), data));
            if let Some(hash) = hash {
                object.insert("data".to_owned(), format!("sha256:{hash}").into());
            }
            if let Some(hash) = in_source {
                object.insert("source".to_owned(), json!({ "bytes": format!("sha256:{hash}") }));
            }
            object.values_mut().for_each(|value| hash_images(value, known));
        }
        Value::String(text) => {
            let parts = text.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
            if let Some((kind, hash)) = parts.and_then(|(kind, data)| Some((kind, known.get(kind, data)?))) {
                *text = format!("data:{kind};base64,sha256:{hash}");
            }
        }
        _ => {}
    }
}
