//! Serves a [`Toolbox`] as an MCP server: over standard input and output ([`stdio`]) or over streamable HTTP
//! ([`http()`]), several at once.
//!
//! ```text
//! message -> ToolTransport -> rmcp -> Handler -> Toolbox::call -> Answer -> result or error of JSON-RPC
//! ```
//!
//! `rmcp` handles the protocol: the handshake, the ids, cancelling, sessions. Its types of tools and results drop
//! unknown keys, so requests for tools bypass them ([`transport`]) and get the toolbox's answer unchanged.
//!
//! Supports the revisions of MCP up to 2025-11-25, all of which begin with an `initialize` handshake.

mod handler;
mod http;
mod incoming;
mod sessions;
mod transport;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

pub use http::{HttpOptions, HttpServer, http, http_beside};
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use self::handler::Handler;
use self::transport::ToolTransport;
use super::Toolbox;

/// The largest message that is accepted, in bytes. A larger one is answered with an error of JSON-RPC over stdio,
/// with 413 over HTTP.
pub const MAX_MESSAGE: usize = 16 << 20;

/// Why serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The client closed the input.
    InputClosed,
    /// A tool answered with [`Answer::Crash`](super::Answer::Crash): the process should end at once, with a code
    /// other than 0. Calls in flight are never answered.
    Crashed,
}

/// Why a server cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is taken, or does not belong to this machine.
    #[error("failed to listen at `{address}`\nhint: port 0 takes any free one")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The address can be reached from other machines, but no allowed host is configured.
    #[error(
        "`{address}` can be reached from other machines\nhint: listen at `127.0.0.1`, or name the host under \
         which others may reach it"
    )]
    Remote {
        /// The address.
        address: SocketAddr,
    },
    /// Two servers have one name.
    #[error("two servers are named `{name}`\nhint: the name is part of the address, so it must be unique")]
    DuplicateName {
        /// The name that both have.
        name: String,
    },
    /// The client's handshake cannot be answered.
    #[error("the handshake failed")]
    Handshake {
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The serving task has died, which is a bug in this program.
    #[error("serving stopped; this is a bug")]
    Stopped {
        /// Why it died.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Serves over this process's standard input and output until the input ends or a tool crashes. Nothing else may
/// write to standard output.
///
/// Calls in flight when the input ends are answered if they take less than five seconds.
///
/// # Errors
/// [`ServeError::Handshake`] and [`ServeError::Stopped`].
pub async fn stdio(toolbox: Arc<dyn Toolbox>) -> Result<EndReason, ServeError> {
    let (reader, writer) = rmcp::transport::io::stdio_pipes();
    stream(toolbox, reader, writer).await
}

/// Serves over any pair of streams, one message a line.
///
/// # Errors
/// The errors of [`stdio`].
pub async fn stream<R, W>(toolbox: Arc<dyn Toolbox>, reader: R, writer: W) -> Result<EndReason, ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let crashed = CancellationToken::new();
    // The extra byte is for the end of the line; larger messages have been refused before.
    let lines = AsyncRwTransport::new_server(incoming::readable(reader), writer)
        .with_max_line_length(MAX_MESSAGE + 1);
    let transport = ToolTransport::new(lines, crashed.clone());
    let serving = async {
        match Handler(toolbox).serve(transport).await {
            Ok(running) => match running.waiting().await {
                Ok(_) => Ok(EndReason::InputClosed),
                Err(error) => Err(ServeError::Stopped { source: error.into() }),
            },
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(EndReason::InputClosed),
            Err(error) => Err(ServeError::Handshake { source: error.into() }),
        }
    };
    let ended = tokio::select! {
        () = crashed.cancelled() => Ok(EndReason::Crashed),
        ended = serving => ended,
    };
    // A crash also ends the connection, and the end may be noticed first.
    if crashed.is_cancelled() { Ok(EndReason::Crashed) } else { ended }
}

#[cfg(test)]
mod tests;
