//! A layer between the wire and `rmcp`: passes requests for tools around its types, and ends a connection whose
//! server crashed.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, CustomRequest, Extensions, GetMeta as _, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// An extension of a request: the token to cancel if the server is to crash.
#[derive(Debug, Clone)]
pub(super) struct Crash(pub(super) CancellationToken);

/// A transport whose requests for tools arrive as [`CustomRequest`].
///
/// Once `crashed` is cancelled nothing is received and nothing is sent any more.
pub(super) struct ToolTransport<T> {
    inner: T,
    crashed: CancellationToken,
    has_begun: bool,
}

impl<T> ToolTransport<T> {
    pub(super) fn new(inner: T, crashed: CancellationToken) -> Self {
        Self { inner, crashed, has_begun: false }
    }

    fn custom(&self, method: &str, params: &impl Serialize, mut extensions: Extensions) -> ClientRequest {
        extensions.insert(Crash(self.crashed.clone()));
        // A value that was read from JSON can be written as JSON.
        let mut request = CustomRequest::new(method, serde_json::to_value(params).ok());
        request.extensions = extensions;
        ClientRequest::CustomRequest(request)
    }

    fn past_types(&self, request: ClientRequest) -> ClientRequest {
        match request {
            ClientRequest::CallToolRequest(call) => self.custom("tools/call", &call.params, call.extensions),
            ClientRequest::ListToolsRequest(list) => self.custom("tools/list", &list.params, list.extensions),
            // For example, a `tools/call` that does not fit its type: rmcp makes a custom request of it.
            ClientRequest::CustomRequest(mut request) => {
                request.extensions.insert(Crash(self.crashed.clone()));
                ClientRequest::CustomRequest(request)
            }
            other => other,
        }
    }
}

/// Whether rmcp accepts the client from this request on.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        // Without a handshake, the request itself contains the client's data.
        other => other.get_meta().protocol_version().is_some(),
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for ToolTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let sending = (!self.crashed.is_cancelled()).then(|| self.inner.send(message));
        async move {
            match sending {
                Some(sending) => sending.await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = tokio::select! {
                biased;
                () = self.crashed.cancelled() => return None,
                message = self.inner.receive() => message?,
            };
            match message {
                JsonRpcMessage::Request(mut request) => {
                    self.has_begun |= begins(&request.request);
                    request.request = self.past_types(request.request);
                    return Some(JsonRpcMessage::Request(request));
                }
                // Dropped, because rmcp closes the connection if it gets anything but requests before the handshake.
                _ if !self.has_begun => {}
                message => return Some(message),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
