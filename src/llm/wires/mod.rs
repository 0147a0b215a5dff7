//! The wires: how a request is written for a provider and its answer read. No network in here.

use serde_json::Value;

use super::{Reply, Request};

/// How images stand in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImageData {
    /// As base64, to be sent.
    Base64,
    /// As `sha256:..`, to be kept and compared: payloads are in no cassette, log or error.
    Hash,
}

/// A request as it is posted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WireRequest {
    /// Below the base address, without a slash in front.
    pub(crate) path: String,
    /// The JSON body.
    pub(crate) body: Value,
}

/// An answer that is no reply of a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReplyError {
    /// The provider says what went wrong, with an HTTP error or in an envelope with status 200.
    #[error("the provider answers with an error{}: {message}", code.as_ref().map(|code| format!(" `{code}`")).unwrap_or_default())]
    Provider {
        /// The provider's own code or type, `insufficient_quota`, `overloaded_error`.
        code: Option<String>,
        /// Its message, without control characters, shortened.
        message: String,
    },
    /// Not JSON, or JSON without an answer: HTML, `choices: []`.
    #[error("the answer is no reply: {reason}")]
    Unreadable {
        /// Why, with the beginning of what came, without control characters.
        reason: String,
    },
}

/// One way to speak to models.
pub(crate) trait Wire: Send + Sync {
    /// Where the provider listens, without a slash at the end.
    fn base_url(&self) -> &'static str;

    /// The environment variables that may hold the key, in order.
    fn key_variables(&self) -> &'static [&'static str];

    /// The headers of every request; without a key those of a server that needs none.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;

    /// Writes a request.
    fn request(&self, model: &str, request: &Request, images: ImageData) -> WireRequest;

    /// Reads an answer with any status: what is a reply with status 200 is one, whatever is odd about it.
    fn reply(&self, status: u16, body: &[u8]) -> Result<Reply, ReplyError>;

    /// What the provider takes of an image: the longest side in pixels, and bytes before base64.
    fn image_limits(&self) -> (u32, usize);
}
