//! What a server may ask of us: nothing but whether we are there.
//!
//! No capability is declared, so a server that asks for roots, sampling or a user's input is told that there is no
//! such method; a question to the user is declined.

use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ErrorCode, ErrorData, Implementation, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};

use super::client::Listeners;

/// Answers a server.
pub(super) struct Handler {
    listeners: Arc<Listeners>,
}

impl Handler {
    pub(super) fn new(listeners: Arc<Listeners>) -> Self {
        Self { listeners }
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let implementation = Implementation::new("m3", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), implementation)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    #[expect(deprecated, reason = "servers of before the deprecation ask for it")]
    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "roots/list", None))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.listeners.tell(progress);
    }
}
