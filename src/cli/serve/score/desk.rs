//! Admits requests, queues them and scores them: within limits, and without losing any.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use m3_mcp::serve::HttpServer;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::counts::Counts;
use crate::cli::library::pairs::PairScorer;

/// The limits of the service.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most requests that are scored at the same time.
    pub(super) workers: usize,
    /// The most pairs that wait or are scored.
    pub(super) queue: u32,
    /// The most pairs in one request.
    pub(super) pairs: usize,
    /// The largest request, in bytes.
    pub(super) body: usize,
}

/// The most memory for requests that are being read or held, in KiB.
const HELD_KIB: usize = 512 << 10;

/// The scorer of the service, with its limits, queues and counters.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(super) scorer: PairScorer,
    pub(super) limits: Limits,
    pub(super) counts: Counts,
    queue: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    held: Arc<Semaphore>,
    is_ending: AtomicBool,
}

/// The time during which answers announce the end of their connection, before it is closed: a client that is about to
/// send its next request would lose it.
const FAREWELL: Duration = Duration::from_secs(1);

/// The longest time after that for the answers to requests that were accepted.
const PATIENCE: Duration = Duration::from_mins(1);

/// The error of work that was not done because it crashed, which is a bug.
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
    pub(crate) async fn end(&self, server: HttpServer) {
        self.is_ending.store(true, Ordering::Relaxed);
        tokio::time::sleep(FAREWELL).await;
        server.stop_within(PATIENCE).await;
    }

    /// Whether the service has been told to end.
    pub(super) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Reserves memory for a request of this many bytes; `None` while too much is held.
    pub(super) fn hold(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from(bytes.div_ceil(1024).max(1)).unwrap_or(u32::MAX);
        Arc::clone(&self.held).try_acquire_many_owned(kib).ok()
    }

    /// Reserves places in the queue for pairs; `None` if it is full.
    pub(super) fn enqueue(&self, pairs: usize) -> Option<OwnedSemaphorePermit> {
        let pairs = u32::try_from(pairs.max(1)).unwrap_or(u32::MAX);
        Arc::clone(&self.queue).try_acquire_many_owned(pairs).ok()
    }

    /// The number of pairs that wait or are scored.
    pub(super) fn waiting(&self) -> usize {
        self.limits.queue as usize - self.queue.available_permits()
    }

    /// Does the work on another thread once a worker is free. Work that has begun is done even if the caller is gone.
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
