//! Language models that see images: requests, the wires that carry them, and replies.
//!
//! A [`Request`] is written by a wire (`wires/`), sent by a [`Model`], which retries, and read back as a [`Reply`]. A
//! [`Recorder`] keeps every exchange in a cassette, and a model opened from a [`Cassette`] answers from it without a
//! network. Cassettes also keep results of tools, and for which task ([`Scope`]) a request was made. The rest of this
//! crate does not depend on tasks and servers, and none of it on scores.
//!
//! ```
//! use m3_llm::{Model, ModelName, ModelOptions};
//!
//! // A server of one's own that speaks OpenAI's interface. Nothing is sent before something is asked.
//! let name = ModelName::parse("openai@http://127.0.0.1:8000/v1:Qwen/Qwen3-VL-8B")?;
//! assert!(!name.is_at_provider());
//! let model = Model::open(name, ModelOptions::default())?;
//! assert_eq!(model.name().to_string(), "openai@http://127.0.0.1:8000/v1:Qwen/Qwen3-VL-8B");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod aws;
mod breaker;
pub mod cassette;
mod concurrency_limiter;
mod error;
mod http;
pub mod keys;
mod message;
mod model;
mod model_options;
mod name;
mod network;
mod picture;
mod tools;
mod wires;

pub use breaker::{Breaker, FailureScope, MAX_FAILED_TASKS, ModelBlocker};
pub use cassette::{Cassette, CassetteError, CassetteSummary, Header, Others, RecordedCall, Recorder};
pub use error::ModelError;
pub use keys::{Key, KeyError, Keys, key_from};
pub use m3_trajectory::Usage;
pub use message::{
    Arguments, Assistant, Message, Part, Reply, ReplyCall, Request, RequestLimits, Scope, Settings,
    StopReason, ToolAnswer,
};
pub use model::{Model, ModelAnswer, Retry};
pub use model_options::ModelOptions;
pub use name::{ModelName, ModelNameError};
pub use picture::{Picture, PictureError, PictureLimits, Pictures};
pub use tools::{ToolDefinition, ToolDefinitions};
pub use wires::NO_NAME;
pub use wires::{Refusal, WireKind};
