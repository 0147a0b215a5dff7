//! The connection to a server over streamable HTTP: rmcp's, with our limits.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, Uri};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::lines::MAX_MESSAGE;
use super::lost::NoConnection;

/// Calls at once on one connection; `max_concurrent` is what limits them.
const CALLS: usize = 1024;

/// Connects to a server. The caller limits the time.
///
/// # Errors
/// [`NoConnection`] where a header is none, or the server does not greet as it should.
pub(super) async fn connect(url: &str, headers: &BTreeMap<String, String>) -> Result<Client, NoConnection> {
    // Whoever installed one before us has the say.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut named = HashMap::new();
    for (name, value) in headers {
        let header: HeaderName = name.parse().map_err(|_| format!("`{name}` is no name of a header"))?;
        // The value may be a secret.
        let value: HeaderValue =
            value.parse().map_err(|_| format!("the value of header `{name}` is none"))?;
        named.insert(header, value);
    }
    if !is_endpoint(url) {
        return Err("it is no URL of HTTP".to_owned().into());
    }
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).max_concurrent_requests(CALLS);
    config.custom_headers = named;
    config.max_sse_event_size = MAX_MESSAGE;
    let ended = CancellationToken::new();
    let transport = StreamableHttpClientTransport::from_config(config);
    let connected = Client::connect(Watched { transport, ended: ended.clone() }, ended, Arc::default()).await;
    match connected {
        Err(NoConnection { is_closed: true, reason }) => {
            let reason = why_unreachable(url).await.unwrap_or(reason);
            Err(NoConnection { is_closed: true, reason })
        }
        connected => connected,
    }
}

fn is_endpoint(url: &str) -> bool {
    url.parse::<Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    })
}

/// Why nothing can be sent to the endpoint, if that is so: rmcp keeps the system's reason for itself.
async fn why_unreachable(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let host = uri.host()?.trim_matches(['[', ']']);
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    TcpStream::connect((host, port)).await.err().map(|error| error.to_string())
}

/// A transport whose end is told.
struct Watched<T> {
    transport: T,
    ended: CancellationToken,
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let message = self.transport.receive().await;
        if message.is_none() {
            self.ended.cancel();
        }
        message
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}

impl<T> Drop for Watched<T> {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}
