//! Runs work on images outside of the asynchronous runtime, a limited number at the same time.

use std::sync::Arc;

use m3_mcp::Answer;
use tokio::sync::Semaphore;

/// The largest image that is read or made, in pixels: it takes 100 MB, and seconds of work.
pub(super) const MOST_PIXELS: u64 = 25_000_000;

/// The most calls that work at the same time; others wait. Each may take half a gigabyte.
const CALLS_AT_ONCE: usize = 2;

/// JSON-RPC's code for an error of the server itself.
const INTERNAL_ERROR: i32 = -32_603;

/// Limits how many calls of one server work at the same time.
#[derive(Debug)]
pub(super) struct WorkLimiter(Arc<Semaphore>);

impl Default for WorkLimiter {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(CALLS_AT_ONCE)))
    }
}

impl WorkLimiter {
    /// Does the work once there is a place for it. Work that panics becomes a protocol error.
    pub(super) async fn run(&self, work: impl FnOnce() -> Answer + Send + 'static) -> Answer {
        let Ok(place) = Arc::clone(&self.0).acquire_owned().await else {
            return internal("the server is shutting down");
        };
        // The place is released when the work ends, even if the caller has stopped waiting.
        let work = tokio::task::spawn_blocking(move || {
            let answer = work();
            drop(place);
            answer
        });
        work.await.unwrap_or_else(|_| internal("the tool crashed; this is a bug"))
    }
}

/// The answer if the server itself fails.
pub(super) fn internal(message: &str) -> Answer {
    Answer::ProtocolError { code: INTERNAL_ERROR, message: message.to_owned() }
}
