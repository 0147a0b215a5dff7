//! Where requests are let in, wait for a place, and are scored: within limits, and never lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use m3_mcp::serve::HttpServer;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::counts::Counts;
use crate::cli::library::pairs::PairScorer;

/// How much is taken on.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli::serve) struct Limits {
    /// Requests that are scored at the same time.
    pub(super) workers: usize,
    /// Pairs that wait or are scored.
    pub(super) queue: u32,
    /// Pairs in one request.
    pub(super) pairs: usize,
    /// Bytes of one request.
    pub(super) body: usize,
}

/// Bytes of all requests that are being read or held, in KiB.
const HELD_KIB: usize = 512 << 10;

/// Scores within limits.
#[derive(Debug)]
pub(in crate::cli::serve) struct Desk {
    pub(super) scorer: PairScorer,
    pub(super) limits: Limits,
    pub(super) counts: Counts,
    queue: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    held: Arc<Semaphore>,
    is_ending: AtomicBool,
}

/// How long clients are told that their connection ends, before it does: one that is about to send its next request on it
/// would lose that.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long requests that were taken get to be answered after that.
const PATIENCE: Duration = Duration::from_mins(1);

/// The work was not done: it crashed, which is a bug.
#[derive(Debug)]
pub(super) struct Crashed;

impl Desk {
    pub(super) fn new(scorer: PairScorer, limits: Limits) -> Self {
        Self {
            scorer,
            limits,
            counts: Counts::default(),
            queue: Arc::new(Semaphore::new(limits.queue as usize)),
            workers: Arc::new(Semaphore::new(limits.workers)),
            held: Arc::new(Semaphore::new(HELD_KIB)),
            is_ending: AtomicBool::new(false),
        }
    }

    /// Ends the service without losing a request: answers tell clients to connect elsewhere, then connections are closed.
    pub(in crate::cli::serve) async fn end(&self, server: HttpServer) {
        self.is_ending.store(true, Ordering::Relaxed);
        tokio::time::sleep(FAREWELL).await;
        server.stop_within(PATIENCE).await;
    }

    /// Whether the service has been told to end.
    pub(super) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Lets a request of so many bytes in; `None` while too much is held.
    pub(super) fn hold(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from(bytes.div_ceil(1024).max(1)).unwrap_or(u32::MAX);
        Arc::clone(&self.held).try_acquire_many_owned(kib).ok()
    }

    /// Gives so many pairs a place in the queue; `None` if it is full.
    pub(super) fn enqueue(&self, pairs: usize) -> Option<OwnedSemaphorePermit> {
        let pairs = u32::try_from(pairs.max(1)).unwrap_or(u32::MAX);
        Arc::clone(&self.queue).try_acquire_many_owned(pairs).ok()
    }

    /// How many pairs wait or are scored.
    pub(super) fn waiting(&self) -> usize {
        self.limits.queue as usize - self.queue.available_permits()
    }

    /// Does the work on another thread once a worker is free. It is done even if nobody waits for it any more.
    pub(super) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&PairScorer) -> T + Send + 'static,
    ) -> Result<T, Crashed> {
        let place = Arc::clone(&self.workers).acquire_owned().await.map_err(|_| Crashed)?;
        let desk = Arc::clone(self);
        let working = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&desk.scorer)
        });
        working.await.map_err(|_| Crashed)
    }
}
