//! Cassettes: all questions to a model and its tools, and their answers, to be replayed without them.
//!
//! A cassette is a file of JSON Lines that only grows. Its first line says what it is:
//!
//! ```json
//! {"schema":"m3.cassette/1","model":"openai:gpt-5","created_by":"m3 0.1.0"}
//! ```
//!
//! Every other line is a try at asking the model (`"kind":"model"`), a call of a tool (`"call"`), the offered tools
//! (`"catalog"`, if they have changed) or the beginning of a further recording into the same file (`"session"`),
//! written at once when it has ended:
//!
//! ```json
//! {"kind":"model","scope":{"task":"t1","repeat":1,"attempt":1},"request":{"sha256":"..","path":"chat/completions",
//!  "body":{..}},"status":200,"reply":{..},"then":"end","milliseconds":812}
//! {"kind":"call","scope":{..},"tool":"image/blur","arguments":{..},"result":{..},"milliseconds":40,
//!  "waited_milliseconds":0}
//! ```
//!
//! A try without an answer has `error` instead of `status` and `reply`; `then` is the action after the try: `end`,
//! `retry`, `{"give_up": why}` or `{"leave_alone": why}`. A call without a result has `error` as well. In requests,
//! `sha256:..` replaces images and `{workspace}` the workspace's path ([`workspace`]), so that the same request is
//! recognized anywhere. Results of tools are complete, images included, so that a replay gives what the tool gave.
//! Secrets are replaced by `***`.

mod difference;
mod play;
mod read;
mod record;
mod tape;
mod workspace;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use m3_support::canonical::canonical;
use m3_support::text::hexadecimal;
pub use play::{Cassette, CassetteSummary};
pub use record::Recorder;
pub(super) use record::{RecordedRequest, normalized};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
pub use tape::Others;

use super::{ModelName, Scope};

/// The value of `schema` in the first line.
pub const SCHEMA: &str = "m3.cassette/1";

/// The deepest nesting of values that are kept as JSON; deeper ones are kept as text. A line is nested deeper than its
/// values, and readers have limits (`serde_json`: 128).
const MAX_DEPTH: usize = 100;

/// One try at a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Try {
    /// The HTTP status; `None` without an answer.
    pub(crate) status: Option<u16>,
    /// The headers that decide the next action.
    pub(crate) headers: BTreeMap<String, String>,
    /// The body; `None` without an answer.
    pub(crate) body: Option<Vec<u8>>,
    /// Why there was no answer.
    pub(crate) error: Option<String>,
    /// The action after the try.
    pub(crate) then: Then,
}

/// The first line of a cassette.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The model, as `--llm` names it.
    pub model: String,
    /// The program that made the cassette.
    pub created_by: String,
}

impl Header {
    /// A first line for a cassette of this model.
    #[must_use]
    pub fn new(model: &ModelName) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            model: model.to_string(),
            created_by: concat!("m3 ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// Why a cassette cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The cassette cannot be read.
    #[error("failed to read the cassette `{}`: {source}\nhint: `--record FILE` makes one", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The cassette cannot be created, or opened for writing.
    #[error("failed to open the cassette `{}`: {source}\nhint: {}", path.display(), m3_support::files::hint(source))]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The cassette cannot be written.
    #[error("failed to write the cassette `{}`: {reason}\nhint: what was recorded until then is kept", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// The file is not a cassette.
    #[error("`{}` is no cassette: {reason}\nhint: `--record FILE` makes one", path.display())]
    NotACassette {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A line of the cassette is broken.
    #[error("line {line} of the cassette `{}` cannot be read: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// The cassette holds another model's answers.
    #[error(
        "the cassette `{}` is of `{recorded}`, not of `{asked}`\nhint: record each model in a file of its own",
        path.display()
    )]
    OtherModel {
        /// The file.
        path: PathBuf,
        /// The model of the cassette.
        recorded: String,
        /// The model that is to be recorded.
        asked: String,
    },
    /// The cassette should be replayed and recorded into at the same time.
    #[error(
        "the cassette `{}` is played, and cannot be recorded into as well: it would grow by what it holds already\n\
         hint: name another file, or leave out one of the two",
        path.display()
    )]
    Played {
        /// The file.
        path: PathBuf,
    },
    /// The name is that of a compressed file, but cassettes are written uncompressed.
    #[error(
        "`{}` cannot be recorded into: a cassette is plain text, so that nothing of it is lost when the run is killed\n\
         hint: name it without `.gz`, and compress it afterwards; compressed ones are played as they are",
        path.display()
    )]
    NamedCompressed {
        /// The file.
        path: PathBuf,
    },
    /// Another process records into the cassette.
    #[error("another process records into the cassette `{}`\nhint: wait for its end, or name another file", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
}

/// How a call of a tool ended, as a cassette keeps it: in the JSON form that the caller uses.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// The tool's result, or why there is none.
    pub result: Result<Value, Value>,
    /// The time from sending the call to its end.
    pub elapsed: Duration,
    /// The time before the call was sent.
    pub waited: Duration,
}

/// [`Scope`] as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct ScopeEntry {
    task: String,
    repeat: u32,
    attempt: u32,
    /// The number of the recording within the file, from 0; `session` lines separate recordings.
    #[serde(skip)]
    session: usize,
}

impl From<&Scope> for ScopeEntry {
    fn from(scope: &Scope) -> Self {
        Self { task: scope.task.clone(), repeat: scope.repeat, attempt: scope.attempt, session: 0 }
    }
}

/// A line after the first one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Entry {
    Model(ModelEntry),
    Call(CallEntry),
    Catalog { servers: Value },
    Session { created_by: String },
}

/// One try at asking the model.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ModelEntry {
    scope: ScopeEntry,
    request: RequestEntry,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    /// The body as JSON if it is an object or a list, else as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply: Option<Value>,
    /// Why there is no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    then: Then,
    milliseconds: u64,
}

/// The action after a try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Then {
    /// No action: the reply was good, or asking again is of no use, or all tries were made.
    End,
    /// The model was asked again.
    Retry,
    /// The model was not asked again, for this reason.
    GiveUp(String),
    /// The model was not asked again, for this reason: the provider wants a longer pause than any request waits.
    LeaveAlone(String),
}

/// A request.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RequestEntry {
    /// The hash of path and body, by which requests are compared.
    sha256: String,
    path: String,
    body: Value,
}

/// A call of a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CallEntry {
    scope: ScopeEntry,
    tool: String,
    arguments: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
    milliseconds: u64,
    waited_milliseconds: u64,
}

/// The hash that decides whether two requests, or two calls, are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct ContentHash([u8; 32]);

impl ContentHash {
    fn new(name: &str, content: &Value) -> Self {
        let mut hash = Sha256::new();
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name);
        hash.update(canonical(content));
        Self(hash.finalize().into())
    }

    fn to_hex(self) -> String {
        hexadecimal(&self.0)
    }

    fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }
}

/// A value in the form that a line can hold: as text if it is nested too deeply. Not for values that are texts.
fn shallow(value: Value) -> Value {
    if is_deeper(&value, MAX_DEPTH) { Value::String(value.to_string()) } else { value }
}

/// The value that [`shallow`] was given.
fn as_given(value: Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        value => value,
    }
}

fn is_deeper(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth == 0 || items.iter().any(|item| is_deeper(item, depth - 1)),
        Value::Object(members) => depth == 0 || members.values().any(|item| is_deeper(item, depth - 1)),
        _ => false,
    }
}
