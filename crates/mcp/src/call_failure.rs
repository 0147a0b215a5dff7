//! Why a connection failed, and why a call on it has no answer. The errors do not name the server; their callers do.

use m3_support::text::{error_with_causes, shortened};
use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Why there is no connection, or no list of tools.
#[derive(Debug)]
pub(super) struct NoConnection {
    /// Whether the server's side is gone: the way it ended explains more than `reason`.
    pub(super) is_closed: bool,
    /// The reason in words.
    pub(super) reason: String,
}

impl From<String> for NoConnection {
    fn from(reason: String) -> Self {
        Self { is_closed: false, reason }
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
}

impl CallFailure {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Protocol { code, message } => format!("error {code}: {}", short(message)),
            Self::TooLarge(_) => "it is too large".to_owned(),
            Self::Malformed(reason) => format!("it cannot be read: {reason}"),
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
        Error::JsonRpcError(error) => {
            format!("`initialize` is answered with error {}: {}", error.code.0, short(&error.message))
        }
        Error::TransportError { error, .. } => whole_reason(error.error.as_ref()),
        other => short(&other.to_string()),
    };
    let is_closed = matches!(error, Error::ConnectionClosed(_) | Error::TransportError { .. });
    NoConnection { is_closed, reason }
}
