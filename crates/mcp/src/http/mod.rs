//! The connection to a server over streamable HTTP: rmcp's worker, with requests of our own.

mod answers;
mod events;
mod request;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use answers::Answers;
use axum::http::{HeaderName, HeaderValue, Uri};
use request::Requests;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::ClientLifecycleMode;
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use tokio_util::sync::CancellationToken;

use super::call_failure::{NoConnection, whole_reason};
use super::client::Client;

/// The most calls at once on one connection; `max_concurrent` usually limits them further.
const CALLS: usize = 1024;

/// Headers that the transport sets by itself.
const RESERVED: [&str; 3] = ["accept", "last-event-id", "mcp-session-id"];

/// Connects to a server. The caller limits the time.
///
/// # Errors
/// [`NoConnection`] if a header is invalid, or the server's part of the handshake is wrong.
pub(super) async fn connect(
    url: &str,
    headers: &BTreeMap<String, String>,
    lifecycle: ClientLifecycleMode,
) -> Result<Client, NoConnection> {
    // The call fails if another provider of cryptography was installed before, which is then used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut named = HashMap::new();
    for (name, value) in headers {
        let header: HeaderName = name.parse().map_err(|_| format!("`{name}` is no name of a header"))?;
        if RESERVED.contains(&header.as_str()) {
            return Err(format!("header `{name}` is set by the protocol").into());
        }
        // The error does not show the value, which may be a secret.
        let value: HeaderValue =
            value.parse().map_err(|_| format!("the value of header `{name}` is none"))?;
        named.insert(header, value);
    }
    if !is_endpoint(url) {
        return Err("it is no URL of HTTP".to_owned().into());
    }
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).max_concurrent_requests(CALLS);
    config.custom_headers = named;
    let (ended, refused) = (CancellationToken::new(), Arc::default());
    let answers = Arc::new(Answers::new(Arc::clone(&refused)));
    let requests = Requests::new(Arc::clone(&answers)).map_err(|error| whole_reason(&error))?;
    let transport = StreamableHttpClientTransport::with_client(requests, config);
    let transport = WatchedTransport { transport, answers, ended: ended.clone() };
    Client::connect(transport, lifecycle, ended, refused).await
}

fn is_endpoint(url: &str) -> bool {
    url.parse::<Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    })
}

/// A transport with complete answers that reports its end.
struct WatchedTransport<T> {
    transport: T,
    answers: Arc<Answers>,
    ended: CancellationToken,
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for WatchedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let mut message = self.transport.receive().await;
        match &mut message {
            Some(message) => self.answers.restore(message),
            None => self.ended.cancel(),
        }
        message
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}

impl<T> Drop for WatchedTransport<T> {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}
