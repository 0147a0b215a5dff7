//! Messages to and from a model, independent of the wire that carries them.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Picture, ToolDefinitions, Usage};

/// A request for the model's next turn: the conversation so far, and the tools that may be called.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The instructions above the conversation; left out if empty.
    pub system: String,
    /// The conversation, which the next request continues. The last message is never the model's own.
    pub messages: Vec<Arc<Message>>,
    /// The tools, given by the provider's own tool calling; empty in modes where the model writes its calls as text.
    pub tools: ToolDefinitions,
    /// Settings for the reply.
    pub settings: Settings,
}

/// The limits of a provider for all images of a request together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// The most images.
    pub images: usize,
    /// The most bytes before base64, low enough to leave room for the rest of the request.
    pub image_bytes: usize,
}

/// Settings for the reply to a request. Settings that are not set are left to the provider.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Settings {
    /// The longest answer, in tokens.
    pub max_output_tokens: Option<u32>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The seed of sampling, for providers that have one.
    pub seed: Option<u64>,
    /// Further keys of the body, put into it as they are.
    pub extra: Map<String, Value>,
}

/// One message of a conversation.
#[derive(Debug, Clone)]
pub enum Message {
    /// The user's text and images.
    User(Vec<Part>),
    /// The model's reply.
    Assistant(Assistant),
    /// The results of all calls in the model's previous message, each exactly once, in the order of the calls.
    ToolResults(Vec<ToolAnswer>),
}

/// A part of the user's message.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture.
    Image(Arc<Picture>),
}

/// The model's reply, to be repeated in the next request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Assistant {
    /// The text of the reply.
    pub text: String,
    /// The calls in the reply, with ids made up for those that came without.
    pub calls: Vec<ReplyCall>,
    /// The message in the wire's own form, including thoughts and their signatures, for the next request over the
    /// same wire.
    pub raw: Option<Value>,
}

/// The result of a call, as the model gets it.
#[derive(Debug, Clone)]
pub struct ToolAnswer {
    /// The call's [`ReplyCall::id`].
    pub call_id: String,
    /// The call's [`ReplyCall::name`].
    pub name: String,
    /// The text of the result.
    pub text: String,
    /// The images of the result.
    pub images: Vec<Arc<Picture>>,
    /// Whether the call failed.
    pub is_error: bool,
}

/// A model's reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The text, without thoughts and without the delimiters some models put around it; empty if there is none.
    pub text: String,
    /// The model's thoughts, from the wire or a `<think>` block; kept in the record, never parsed.
    pub thoughts: String,
    /// Calls of the provider's tool calling, in order.
    pub calls: Vec<ReplyCall>,
    /// Why the reply ended.
    pub stop: StopReason,
    /// The provider's reason for holding the reply back, such as `SAFETY`; `None` if the model itself refused.
    pub block: Option<String>,
    /// The tokens used, as reported.
    pub usage: Usage,
    /// The model that answered, according to the provider.
    pub model: Option<String>,
    /// The whole message in the wire's own form.
    pub raw: Option<Value>,
    /// Oddities of a reply that was understood all the same, one sentence each.
    pub oddities: Vec<String>,
}

/// A call that a model asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyCall {
    /// The provider's id; if it gave none or gave one twice, an id made from the call's place.
    pub id: String,
    /// The tool's name as given to the model, or whatever the model wrote; may be empty.
    pub name: String,
    /// The arguments of the call.
    pub arguments: Arguments,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// A JSON object.
    Object(Map<String, Value>),
    /// None: missing, null or an empty text. Whether a call can be made without them depends on its tool.
    Absent,
    /// Anything else, as text: cut off, not JSON, a list. Never treated as `{}`.
    Malformed(String),
}

impl Arguments {
    /// The arguments as JSON: the object, null for absent ones, or malformed ones as a string.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Object(object) => Value::Object(object.clone()),
            Self::Absent => Value::Null,
            Self::Malformed(text) => Value::String(text.clone()),
        }
    }
}

/// Why a reply ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model finished its reply.
    #[default]
    Ended,
    /// The model asks for calls.
    Calls,
    /// The reply reached the limit of tokens.
    Length,
    /// The provider held the reply back.
    Refused,
    /// A reason that no wire documents, unchanged.
    Other(String),
}

/// The task that a request belongs to. Equal requests of different tasks are recorded separately in a cassette.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The id of the task.
    pub task: String,
    /// The number of the task's repetition, from 1.
    pub repeat: u32,
    /// The number of the attempt at the task, from 1; of an interrupted task, the last attempt counts.
    pub attempt: u32,
    /// The task's workspace. Its path differs between runs, so a cassette records `{workspace}` instead, and a replay
    /// puts its own path there.
    pub workspace: Option<PathBuf>,
}

impl Reply {
    /// The reply as a message of the conversation.
    #[must_use]
    pub fn to_assistant(&self) -> Assistant {
        Assistant { text: self.text.clone(), calls: self.calls.clone(), raw: self.raw.clone() }
    }
}
