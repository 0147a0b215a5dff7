//! The wires: write requests for a provider and read its answers. They use no network.

mod anthropic;
mod bedrock;
mod blocks;
mod error;
mod gemini;
mod images_refused;
mod openai;
mod overflow;
mod reading;
mod thoughts;
mod writing;

use std::borrow::Cow;
use std::sync::Arc;

pub use error::Refusal;
pub(crate) use error::ReplyError;
pub(crate) use images_refused::says_no_images;
pub use reading::NO_NAME;
use serde_json::{Map, Value};

use super::tools::WrittenTools;
use super::{PictureLimits, Reply, Request, RequestLimits};

/// The form of images in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImageData {
    /// As base64, to be sent.
    Base64,
    /// As `sha256:..`, to be kept and compared: no cassette, log or error contains image data.
    Hash,
}

/// A request as it is posted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WireRequest {
    /// The path below the base address, without a slash in front.
    pub(crate) path: String,
    /// The JSON body without its tools; never empty.
    body: Map<String, Value>,
    /// The tools of the body and their key, if they are serialized once for many requests.
    tools: Option<(&'static str, Arc<WrittenTools>)>,
}

impl WireRequest {
    /// A request with its tools under this key. If `body` has tools of its own, these are sent instead.
    fn new(
        path: String,
        body: Map<String, Value>,
        key: &'static str,
        tools: Option<Arc<WrittenTools>>,
    ) -> Self {
        let tools = tools.filter(|_| !body.is_empty() && !body.contains_key(key)).map(|tools| (key, tools));
        Self { path, body, tools }
    }

    /// The body as it is sent.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // An object of JSON values can always be serialized.
        let mut bytes = serde_json::to_vec(&self.body).unwrap_or_default();
        if let Some((key, tools)) = &self.tools
            && bytes.pop() == Some(b'}')
        {
            bytes.extend_from_slice(format!(",\"{key}\":").as_bytes());
            bytes.extend_from_slice(tools.text.as_bytes());
            bytes.push(b'}');
        }
        bytes
    }

    /// The body as a value.
    pub(crate) fn into_body(mut self) -> Value {
        if let Some((key, tools)) = self.tools {
            self.body.insert(key.to_owned(), tools.value.clone());
        }
        Value::Object(self.body)
    }
}

/// The key of the tools in most wires.
const TOOLS: &str = "tools";

/// The target that a request is written for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The model, as the user has written it.
    pub(crate) model: &'a str,
    /// The base address, if it is not the provider's own.
    pub(crate) base_url: Option<&'a str>,
}

/// One way to speak to models.
pub(crate) trait Wire: Send + Sync {
    /// The provider's address, without a slash at the end. It may depend on a region that the environment names.
    fn base_url(&self) -> Cow<'static, str>;

    /// The environment variables that may hold the key, in order.
    fn key_variables(&self) -> &'static [&'static str];

    /// The name of the provider's service in signatures, if requests can be signed with an access key of Amazon Web Services in
    /// place of a key.
    fn signing_name(&self) -> Option<&'static str> {
        None
    }

    /// The headers of every request besides `content-type`; without a key, those for a server that needs none.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;

    /// Writes a request. Equal requests have equal bodies, byte for byte.
    fn request(&self, target: Target<'_>, request: &Request, images: ImageData) -> WireRequest;

    /// Reads an answer with any HTTP status. A reply with oddities is still a reply.
    fn reply(&self, status: u16, body: &[u8]) -> Result<Reply, ReplyError>;

    /// The limits of one image.
    fn image_limits(&self) -> PictureLimits;

    /// The most tools that the provider accepts with a request, if documented. Other servers of this wire have their
    /// own limits.
    fn most_tools(&self) -> Option<usize> {
        None
    }

    /// The limits of all images of a request together. Base64 makes four bytes of three.
    fn request_limits(&self) -> RequestLimits;
}

/// Makes the rows of the table of wires into the variants of [`WireKind`].
macro_rules! wires {
    ($($kind:ident($meaning:literal, $name:literal, $wire:expr),)*) => {
        /// A protocol for speaking to models.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum WireKind {
            $(#[doc = $meaning] $kind,)*
        }

        impl WireKind {
            /// All wires.
            pub(crate) const ALL: &[WireKind] = &[$(WireKind::$kind,)*];

            /// The wire's name within the name of a model.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(WireKind::$kind => $name,)*
                }
            }
        }

        /// The implementation of a wire.
        pub(crate) fn implementation(kind: WireKind) -> &'static dyn Wire {
            match kind {
                $(WireKind::$kind => &$wire,)*
            }
        }
    };
}

wires! {
    OpenAi("OpenAI chat completions, which most servers of open models speak.", "openai", openai::OpenAi),
    Anthropic("Anthropic messages.", "anthropic", anthropic::Anthropic),
    Gemini("Gemini `generateContent`.", "gemini", gemini::Gemini),
    Bedrock("Amazon Bedrock's Converse.", "bedrock", bedrock::Bedrock),
}

#[cfg(test)]
mod conversation;
#[cfg(test)]
mod tests;
