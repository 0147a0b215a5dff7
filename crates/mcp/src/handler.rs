//! Answers requests of servers: only pings are supported.
//!
//! No capability is declared, so a server that asks for roots, sampling or a user's input gets the error that there
//! is no such method; a question to the user is declined.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, ErrorCode, ErrorData, Implementation, ProgressNotificationParam,
    ProgressToken, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::mpsc;

/// The calls that wait for progress.
#[derive(Debug, Default)]
pub(super) struct Listeners(Mutex<HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>>);

impl Listeners {
    pub(super) fn lock(
        &self,
    ) -> MutexGuard<'_, HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers the requests of a server, and passes its reports of progress on to the calls that wait for them.
pub(super) struct Handler(pub(super) Arc<Listeners>);

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
        if let Some(listener) = self.0.lock().get(&progress.progress_token) {
            // Reports that come too fast are dropped: it only matters that there is progress.
            let _ = listener.try_send(progress);
        }
    }
}
