//! Why a connection failed, and why a call on it has no answer. The errors do not name the server; their callers do.

use m3_support::text::{error_with_causes, shortened};
use rmcp::model::{ErrorData, ProtocolVersion};
use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Whether a session failed because of the versions of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Versions {
    /// The failure has another reason.
    Unknown,
    /// `initialize` was answered with an error: the server may be one that needs no handshake.
    Refused,
    /// The server named the versions that it speaks, and m3 speaks none of them.
    Apart,
}

/// Why there is no connection, or no list of tools.
#[derive(Debug)]
pub(super) struct NoConnection {
    /// Whether the server's side is gone: the way it ended explains more than `reason`.
    pub(super) is_closed: bool,
    /// Why the versions of the protocol do not meet, if that is known.
    pub(super) versions: Versions,
    /// The reason in words.
    pub(super) reason: String,
}

impl From<String> for NoConnection {
    fn from(reason: String) -> Self {
        Self { is_closed: false, versions: Versions::Unknown, reason }
    }
}

/// Why a call ended without an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallFailure {
    Protocol {
        code: i32,
        message: String,
    },
    Idle,
    Total,
    Cancelled,
    /// The server died; why, if it is known here.
    Died(Option<String>),
    /// The result is larger than this many bytes.
    TooLarge(usize),
    Malformed(String),
    /// A failure of HTTP: its status, and what the server says.
    Status(u16, String),
}

impl CallFailure {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Protocol { code, message } => format!("error {code}: {}", short(message)),
            Self::TooLarge(_) => "it is too large".to_owned(),
            Self::Malformed(reason) => format!("it cannot be read: {reason}"),
            Self::Status(_, reason) => reason.clone(),
            Self::Died(_) | Self::Idle | Self::Total | Self::Cancelled => "the connection ended".to_owned(),
        }
    }
}

/// An error with all its causes: the outermost error of an HTTP failure says too little.
pub(super) fn whole_reason(error: &(dyn std::error::Error + 'static)) -> String {
    // rmcp does not return the causes of this error as its source.
    let error = match error.downcast_ref() {
        Some(StreamableHttpError::<reqwest::Error>::Client(error)) => error,
        _ => error,
    };
    short(&error_with_causes(error))
}

pub(super) fn short(text: &str) -> String {
    shortened(text, 200)
}

pub(super) fn describe(error: &ClientInitializeError) -> NoConnection {
    use ClientInitializeError as Error;
    let reason = match error {
        Error::ExpectedInitResult(Some(result)) => {
            let result = serde_json::to_string(result).unwrap_or_default();
            format!("the answer to `initialize` is none: {}", short(&result))
        }
        Error::JsonRpcError(error) if !supported_by(error).is_empty() => apart(&supported_by(error)),
        Error::JsonRpcError(error) => {
            format!("`initialize` is answered with error {}: {}", error.code.0, short(&error.message))
        }
        Error::TransportError { error, .. } => whole_reason(error.error.as_ref()),
        Error::NoCompatibleProtocolVersion { server_supported, .. } if !server_supported.is_empty() => {
            apart(server_supported)
        }
        other => short(&other.to_string()),
    };
    let versions = match error {
        Error::JsonRpcError(_) => Versions::Refused,
        Error::NoCompatibleProtocolVersion { .. } => Versions::Apart,
        _ => Versions::Unknown,
    };
    let is_closed = matches!(error, Error::ConnectionClosed(_) | Error::TransportError { .. });
    NoConnection { is_closed, versions, reason }
}

/// The versions that a server names when it refuses ours.
fn supported_by(error: &ErrorData) -> Vec<ProtocolVersion> {
    let named = error.data.as_ref().and_then(|data| data.get("supported")?.as_array());
    named.into_iter().flatten().filter_map(|version| serde_json::from_value(version.clone()).ok()).collect()
}

fn apart(theirs: &[ProtocolVersion]) -> String {
    let list = |versions: &[ProtocolVersion]| {
        versions.iter().map(ProtocolVersion::as_str).collect::<Vec<_>>().join(", ")
    };
    format!("it speaks only {}; m3 speaks {}", short(&list(theirs)), list(ProtocolVersion::KNOWN_VERSIONS))
}
