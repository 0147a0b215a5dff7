//! What a tool answers. Unknown kinds of content are kept as they came.

use serde_json::{Map, Value, json};

/// The result of a call, as `tools/call` answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolResult {
    /// The parts, in order; a list result often comes as one text for each item, and may be empty.
    pub content: Vec<Content>,
    /// The result as JSON, where the tool declares an output schema.
    pub structured_content: Option<Value>,
    /// Whether the server says that the call failed. Most failing servers do not.
    pub is_error: bool,
    /// All other keys, `_meta` above all.
    pub extra: Map<String, Value>,
}

/// A part of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// The file, in base64 as it came.
        data: String,
        /// Such as `image/png`; what the server says.
        mime_type: String,
    },
    /// Sound.
    Audio {
        /// The file, in base64 as it came.
        data: String,
        /// Such as `audio/wav`; what the server says.
        mime_type: String,
    },
    /// A link to a resource: an object with `uri` and `name`.
    ResourceLink(Map<String, Value>),
    /// A resource within the result: the object under `resource`, with `uri` and `text` or `blob`.
    Resource(Map<String, Value>),
    /// Anything else, or one of the above without what it needs.
    Other(Value),
}

impl ToolResult {
    /// A result of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text(text.into())], ..Self::default() }
    }

    /// A failure that the server explains.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// A result with structured content, repeated as text for clients that read only that (MCP, "Structured
    /// Content").
    #[must_use]
    pub fn structured(value: &Value) -> Self {
        Self { structured_content: Some(value.clone()), ..Self::text(value.to_string()) }
    }

    /// Reads the result of `tools/call`. Nothing is refused: what is not understood is [`Content::Other`].
    #[must_use]
    pub fn from_wire(value: Value) -> Self {
        let Value::Object(mut members) = value else {
            return Self { content: vec![Content::Other(value)], ..Self::default() };
        };
        let content = match members.remove("content") {
            Some(Value::Array(parts)) => parts.into_iter().map(Content::from_wire).collect(),
            Some(Value::Null) | None => Vec::new(),
            Some(part) => vec![Content::from_wire(part)],
        };
        let structured_content = members.remove("structuredContent").filter(|value| !value.is_null());
        let is_error = members.remove("isError").is_some_and(|value| value == Value::Bool(true));
        Self { content, structured_content, is_error, extra: members }
    }

    /// The result as `tools/call` answers it.
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

    /// All text in it, part by part on lines of their own; embedded text resources too.
    #[must_use]
    pub fn all_text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }
}

impl Content {
    /// Reads a part of a result.
    #[must_use]
    pub fn from_wire(value: Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let read = match value.get("type").and_then(Value::as_str) {
            Some("text") => text("text").map(Self::Text),
            Some("image") => {
                text("data").map(|data| Self::Image { data, mime_type: text("mimeType").unwrap_or_default() })
            }
            Some("audio") => {
                text("data").map(|data| Self::Audio { data, mime_type: text("mimeType").unwrap_or_default() })
            }
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

    /// The base64 of an image, a sound or an embedded resource, as it came.
    #[must_use]
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
