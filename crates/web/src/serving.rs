//! HTTP served in the background until it is stopped.
//!
//! The loop is ours rather than `axum::serve`, which waits for ever for a client that never ends its request's head, and
//! takes any number of connections.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The most connections; further ones wait until one ends.
const CONNECTIONS: usize = 4096;

/// How long the head of a request may take to come, and a connection may be idle between requests: trainers ask once a step.
const HEAD_WAIT: Duration = Duration::from_mins(10);

/// A router that is served until this is stopped or dropped.
#[derive(Debug)]
pub struct Serving {
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl Serving {
    /// Serves until `stop` is cancelled. Must be called within a tokio runtime.
    pub fn start<L: Listener>(listener: L, router: Router, stop: CancellationToken) -> Self {
        Self { task: Some(tokio::spawn(serve(listener, router, stop.clone()))), stop }
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

/// Accepts connections until `stop` is cancelled, then waits until all have answered their requests.
async fn serve<L: Listener>(mut listener: L, router: Router, stop: CancellationToken) {
    let open = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let service = TowerToHyperService::new(router);
    loop {
        let accepting = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, (stream, _)) = tokio::select! {
            accepted = accepting => accepted,
            () = stop.cancelled() => break,
        };
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEAD_WAIT);
        let connection = open.watch(builder.serve_connection(TokioIo::new(stream), service.clone()));
        tokio::spawn(async move {
            // A connection that breaks is the client's affair.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    open.shutdown().await;
}
