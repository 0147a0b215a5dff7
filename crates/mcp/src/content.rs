//! The result of a tool call. Unknown kinds of content are kept unchanged.

use m3_support::text::shortened;
use serde_json::{Map, Value, json};

/// The result of a call, the answer to `tools/call`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolResult {
    /// The parts, in order; a list result often comes as one text for each item, and may be empty.
    pub content: Vec<Content>,
    /// The result as JSON, if the tool declares an output schema.
    pub structured_content: Option<Value>,
    /// Whether the server reports a failure. Most failing servers do not.
    pub is_error: bool,
    /// All other keys, mostly `_meta`.
    pub extra: Map<String, Value>,
}

/// A part of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// The file in base64, unchanged.
        data: String,
        /// The MIME type that the server gives, such as `image/png`.
        mime_type: String,
    },
    /// Sound.
    Audio {
        /// The file in base64, unchanged.
        data: String,
        /// The MIME type that the server gives, such as `audio/wav`.
        mime_type: String,
    },
    /// A link to a resource: an object with `uri` and `name`.
    ResourceLink(Map<String, Value>),
    /// An embedded resource: the object under `resource`, with `uri` and `text` or `blob`.
    Resource(Map<String, Value>),
    /// Any other kind, or one of these kinds without a required key.
    Other(Value),
}

impl ToolResult {
    /// A result with a single text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text(text.into())], ..Self::default() }
    }

    /// A failed result with the server's explanation.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// A result with structured content, repeated as text for clients that read only text (MCP, "Structured
    /// Content").
    #[must_use]
    pub fn structured(value: &Value) -> Self {
        Self { structured_content: Some(value.clone()), ..Self::text(value.to_string()) }
    }

    /// Reads the answer to `tools/call`. Nothing is refused: unknown parts become [`Content::Other`].
    #[must_use]
    pub fn from_wire(value: Value) -> Self {
        let Value::Object(mut members) = value else {
            return Self { content: vec![Content::Other(value)], ..Self::default() };
        };
        if let Some(unfinished) = unfinished(&members) {
            return Self { extra: members, ..Self::error(unfinished) };
        }
        let content = match members.remove("content") {
            Some(Value::Array(parts)) => parts.into_iter().map(Content::from_wire).collect(),
            Some(Value::Null) | None => Vec::new(),
            Some(part) => vec![Content::from_wire(part)],
        };
        let structured_content = members.remove("structuredContent").filter(|value| !value.is_null());
        let is_error = members.remove("isError").is_some_and(|value| value == Value::Bool(true));
        Self { content, structured_content, is_error, extra: members }
    }

    /// The result as the answer to `tools/call`.
    #[must_use]
    pub fn to_wire(&self) -> Value {
        let mut members = self.extra.clone();
        members.insert("content".to_owned(), self.content.iter().map(Content::to_wire).collect());
        if let Some(value) = &self.structured_content {
            members.insert("structuredContent".to_owned(), value.clone());
        }
        if self.is_error {
            members.insert("isError".to_owned(), Value::Bool(true));
        }
        Value::Object(members)
    }

    /// All text of the result, each part on a new line; embedded text resources included.
    #[must_use]
    pub fn all_text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }
}

/// What an answer says that is no result yet (MCP 2026-07-28, "Multi Round-Trip Requests", and tasks): the server asks
/// for input of the user, or names a task that it has begun. No capability for either is declared.
fn unfinished(members: &Map<String, Value>) -> Option<String> {
    let kind = members
        .get("resultType")
        .and_then(Value::as_str)
        .filter(|kind| matches!(*kind, "input_required" | "task"));
    let is_task = || members.contains_key("task") && !members.contains_key("content");
    let kind = kind.or_else(|| is_task().then_some("task"))?;
    let answer = shortened(&serde_json::to_string(members).unwrap_or_default(), MOST_SHOWN);
    Some(format!("The tool gave no result, but an answer of type `{kind}`: {answer}"))
}

/// The most columns that are shown of an answer that is no result.
const MOST_SHOWN: usize = 1000;

impl Content {
    /// Reads a part of a result.
    #[must_use]
    pub fn from_wire(value: Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let media = || Some((text("data")?, text("mimeType").unwrap_or_default()));
        let read = match value.get("type").and_then(Value::as_str) {
            Some("text") => text("text").map(Self::Text),
            Some("image") => media().map(|(data, mime_type)| Self::Image { data, mime_type }),
            Some("audio") => media().map(|(data, mime_type)| Self::Audio { data, mime_type }),
            Some("resource_link") => value.as_object().cloned().map(Self::ResourceLink),
            Some("resource") => value.get("resource").and_then(Value::as_object).cloned().map(Self::Resource),
            _ => None,
        };
        read.unwrap_or(Self::Other(value))
    }

    /// The part as it is written in a result.
    #[must_use]
    pub fn to_wire(&self) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Image { data, mime_type } => json!({"type": "image", "data": data, "mimeType": mime_type}),
            Self::Audio { data, mime_type } => json!({"type": "audio", "data": data, "mimeType": mime_type}),
            Self::ResourceLink(link) => {
                let mut link = link.clone();
                link.insert("type".to_owned(), json!("resource_link"));
                Value::Object(link)
            }
            Self::Resource(resource) => json!({"type": "resource", "resource": resource}),
            Self::Other(value) => value.clone(),
        }
    }

    /// The base64 of an image, a sound or an embedded resource, unchanged.
    pub(crate) fn data(&self) -> Option<&str> {
        match self {
            Self::Image { data, .. } | Self::Audio { data, .. } => Some(data),
            Self::Resource(resource) => resource.get("blob").and_then(Value::as_str),
            _ => None,
        }
    }

    /// The text of a text part or of an embedded text resource.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Resource(resource) => resource.get("text").and_then(Value::as_str),
            _ => None,
        }
    }
}
