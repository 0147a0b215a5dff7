//! HTTP served in the background until it is stopped.

use std::future::IntoFuture as _;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A router that is served until this is stopped or dropped.
#[derive(Debug)]
pub struct Serving {
    stop: CancellationToken,
    task: Option<JoinHandle<std::io::Result<()>>>,
}

impl Serving {
    /// Serves until `stop` is cancelled. Must be called within a tokio runtime.
    pub fn start<L>(listener: L, router: Router, stop: CancellationToken) -> Self
    where
        L: Listener,
        L::Addr: std::fmt::Debug,
    {
        let serving = axum::serve(listener, router).with_graceful_shutdown(stop.clone().cancelled_owned());
        Self { stop, task: Some(tokio::spawn(serving.into_future())) }
    }

    /// Stops: accepts no more connections, and waits at most this long for open ones.
    pub async fn stop(mut self, patience: Duration) {
        self.stop.cancel();
        if let Some(mut task) = self.task.take()
            && tokio::time::timeout(patience, &mut task).await.is_err()
        {
            task.abort();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
