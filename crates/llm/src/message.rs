//! What is said to a model and what it says, whichever wire carries it.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Picture, ToolDefinitions};

/// One turn that is asked of a model: all that was said before, and what it may call.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The instructions that stand above the conversation; nothing if empty.
    pub system: String,
    /// The conversation, which the next request goes on with. The last message is never the model's own.
    pub messages: Vec<Arc<Message>>,
    /// The tools of the provider's own tool calling; none for modes that call tools in text.
    pub tools: ToolDefinitions,
    /// How it should be answered.
    pub settings: Settings,
}

/// What a provider takes of all images of a request together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// How many.
    pub images: usize,
    /// Bytes before base64; what else stands in a request has room beside them.
    pub image_bytes: usize,
}

/// How a request should be answered. What is not set is left to the provider.
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
    /// What the user says and shows.
    User(Vec<Part>),
    /// What the model said.
    Assistant(Assistant),
    /// The answers to all calls of the model's message before, each exactly once, in the order of the calls.
    ToolResults(Vec<ToolAnswer>),
}

/// A part of what the user says.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture.
    Image(Arc<Picture>),
}

/// What the model said, to be said again in the next request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Assistant {
    /// Its text.
    pub text: String,
    /// Its calls, with the ids that were given to those that came without.
    pub calls: Vec<ReplyCall>,
    /// Its message as the wire had it (thoughts and their signatures are in it), if the same wire may have it
    /// again.
    pub raw: Option<Value>,
}

/// The result of a call, as the model gets it.
#[derive(Debug, Clone)]
pub struct ToolAnswer {
    /// [`ReplyCall::id`].
    pub call_id: String,
    /// [`ReplyCall::name`].
    pub name: String,
    /// What the tool said.
    pub text: String,
    /// What the tool showed.
    pub images: Vec<Arc<Picture>>,
    /// Whether the call failed.
    pub is_error: bool,
}

/// What a model answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The text, without thoughts and without the delimiters some models put around it; empty if there is none.
    pub text: String,
    /// What it thought, where the wire or a `<think>` block tells; kept in the record, never parsed.
    pub thoughts: String,
    /// Calls of the provider's tool calling, in order.
    pub calls: Vec<ReplyCall>,
    /// Why it ended.
    pub stop: StopReason,
    /// The provider's word for why it held the reply back, `SAFETY` for example, where it is not the model that
    /// refused.
    pub block: Option<String>,
    /// Tokens, as reported.
    pub usage: Usage,
    /// The model that the provider says has answered.
    pub model: Option<String>,
    /// The whole message as the wire had it.
    pub raw: Option<Value>,
    /// What was wrong with the reply and how it was understood all the same, a sentence each.
    pub oddities: Vec<String>,
}

/// A call that a model asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyCall {
    /// The provider's id; where it gave none or gave one twice, one made by its place.
    pub id: String,
    /// The tool, by the name that the model was given, or whatever the model wrote; may be empty.
    pub name: String,
    /// Its arguments.
    pub arguments: Arguments,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// A JSON object.
    Object(Map<String, Value>),
    /// Anything else, as the text it was: cut off, not JSON, a list. Never taken for `{}`.
    Malformed(String),
}

/// Why a reply ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model had said what it had to say.
    #[default]
    Ended,
    /// It asks for calls.
    Calls,
    /// It reached the limit of tokens.
    Length,
    /// The provider held it back.
    Refused,
    /// A reason that no wire documents, as it came.
    Other(String),
}

/// Tokens of a turn, as the provider names them. What is not reported is `None`, not 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens read, cached ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Of those, read from the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Tokens written, thoughts included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Of those, thoughts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Whether tokens are missing: the provider did not report what it read or wrote, of one reply at least.
    #[serde(rename = "partial", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
}

/// On whose behalf a model is asked: what keeps equal requests of different tasks apart in a cassette.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The task.
    pub task: String,
    /// Which repetition of it, from 1.
    pub repeat: u32,
    /// Which try at it, from 1: of a task that was interrupted, the last one counts.
    pub attempt: u32,
    /// The task's workspace. Its path differs between runs: a cassette has `{workspace}` in its place, in what is
    /// recorded, and the path of the replaying run in what is played back.
    pub workspace: Option<PathBuf>,
}

impl Usage {
    /// The sum, where both report; what only one reports stays.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Self {
            input_tokens: sum(self.input_tokens, other.input_tokens),
            cached_input_tokens: sum(self.cached_input_tokens, other.cached_input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            reasoning_tokens: sum(self.reasoning_tokens, other.reasoning_tokens),
            is_partial: self.is_partial || other.is_partial,
        }
    }

    /// The usage of one reply, as it was reported.
    #[must_use]
    pub(super) fn of_reply(self) -> Self {
        Self { is_partial: self.input_tokens.is_none() || self.output_tokens.is_none(), ..self }
    }

    /// In words: `1200 in, 80 out`.
    #[must_use]
    pub fn in_words(self) -> String {
        let said = |count: Option<u64>| count.map_or("?".to_owned(), |count| count.to_string());
        let sum = format!("{} in, {} out", said(self.input_tokens), said(self.output_tokens));
        format!("{sum}{}", self.partial_mark())
    }

    /// What stands behind a sum of tokens in which some replies are missing.
    #[must_use]
    pub fn partial_mark(self) -> &'static str {
        if self.is_partial { " (partial: some replies came without)" } else { "" }
    }

    /// Input and output together, for budgets; what is not reported counts as 0 there.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input_tokens.unwrap_or(0).saturating_add(self.output_tokens.unwrap_or(0))
    }
}

impl Reply {
    /// The reply as a message of the conversation.
    #[must_use]
    pub fn to_assistant(&self) -> Assistant {
        Assistant { text: self.text.clone(), calls: self.calls.clone(), raw: self.raw.clone() }
    }
}
