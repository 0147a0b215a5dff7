//! Admits requests, queues them and scores them: within limits, and without losing any.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use m3_mcp::serve::HttpServer;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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

/// The statuses that requests are counted by.
const STATUSES: [u16; 8] = [200, 400, 403, 408, 413, 429, 500, 503];

/// The counters since the start of the service.
#[derive(Debug, Default)]
pub(super) struct Counts {
    requests: [AtomicU64; STATUSES.len()],
    scored: AtomicU64,
    refused: AtomicU64,
    microseconds: AtomicU64,
}

impl Counts {
    pub(super) fn request(&self, status: u16) {
        if let Some(at) = STATUSES.iter().position(|known| *known == status) {
            self.requests[at].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts pairs that were scored and pairs that could not be read, and adds the time of their request.
    pub(super) fn pairs(&self, scored: usize, refused: usize, took: Duration) {
        self.scored.fetch_add(scored as u64, Ordering::Relaxed);
        self.refused.fetch_add(refused as u64, Ordering::Relaxed);
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(took, Ordering::Relaxed);
    }

    /// The counts in Prometheus' text format, version 0.0.4.
    pub(super) fn text(&self, waiting: usize) -> String {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut text = String::from(
            "# HELP m3_requests_total Requests to /score by status.\n# TYPE m3_requests_total counter\n",
        );
        for (status, count) in STATUSES.iter().zip(&self.requests) {
            let _ = writeln!(text, "m3_requests_total{{status=\"{status}\"}} {}", of(count));
        }
        text.push_str("# HELP m3_pairs_total Pairs by what became of them.\n# TYPE m3_pairs_total counter\n");
        let _ = writeln!(text, "m3_pairs_total{{outcome=\"scored\"}} {}", of(&self.scored));
        let _ = writeln!(text, "m3_pairs_total{{outcome=\"refused\"}} {}", of(&self.refused));
        text.push_str(
            "# HELP m3_pairs_waiting Pairs that wait or are scored.\n# TYPE m3_pairs_waiting gauge\n",
        );
        let _ = writeln!(text, "m3_pairs_waiting {waiting}");
        text.push_str("# HELP m3_request_seconds Time of requests that were scored.\n# TYPE m3_request_seconds summary\n");
        let seconds = Duration::from_micros(of(&self.microseconds)).as_secs_f64();
        let _ = writeln!(text, "m3_request_seconds_sum {seconds}");
        let _ = writeln!(text, "m3_request_seconds_count {}", of(&self.requests[0]));
        text
    }
}
