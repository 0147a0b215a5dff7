//! The wires: how a request is written for a provider and its answer read. No network in here.

mod anthropic;
mod error;
mod gemini;
mod openai;
mod reading;
mod thoughts;
mod writing;

use serde_json::Value;

use super::{ModelName, Reply, Request, RequestLimits, WireKind};

pub(crate) use error::ReplyError;
pub(in crate::llm) use error::is_of_empty_account;

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

/// One way to speak to models.
pub(crate) trait Wire: Send + Sync {
    /// Where the provider listens, without a slash at the end.
    fn base_url(&self) -> &'static str;

    /// The environment variables that may hold the key, in order.
    fn key_variables(&self) -> &'static [&'static str];

    /// The headers of every request besides `content-type`; without a key those of a server that needs none.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;

    /// Writes a request. Equal requests have equal bodies, byte for byte.
    fn request(&self, name: &ModelName, request: &Request, images: ImageData) -> WireRequest;

    /// Reads an answer with any status: what is a reply with status 200 is one, whatever is odd about it.
    fn reply(&self, status: u16, body: &[u8]) -> Result<Reply, ReplyError>;

    /// What the provider takes of an image: the longest side in pixels, and bytes before base64.
    fn image_limits(&self) -> (u32, usize);

    /// What the provider takes of all images of a request together. Base64 makes four bytes of three.
    fn request_limits(&self) -> RequestLimits;
}

/// The wire of a kind.
pub(crate) fn of(kind: WireKind) -> &'static dyn Wire {
    match kind {
        WireKind::OpenAi => &openai::OpenAi,
        WireKind::Anthropic => &anthropic::Anthropic,
        WireKind::Gemini => &gemini::Gemini,
    }
}

#[cfg(test)]
mod conversation;
#[cfg(test)]
#[expect(dead_code, reason = "the integration tests use what is not used here")]
#[path = "../../../tests/integration/model_server/mod.rs"]
mod model_server;
#[cfg(test)]
mod tests;
