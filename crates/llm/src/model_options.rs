//! How a model is asked: times, tries, requests at once, the key.

use std::time::Duration;

use super::Key;

/// How a model is asked.
#[derive(Debug, Clone)]
pub struct ModelOptions {
    /// For one try, from sending the request to the end of the answer. A reply that is not streamed has no sign of
    /// life before its end: this is the longest answer.
    pub try_time: Duration,
    /// For all tries together, with the waits between them and the wait for a free place.
    pub total_time: Duration,
    /// How often it is asked at most, at least once.
    pub tries: u32,
    /// The wait before the second try, without its jitter; each one is twice as long as the one before, up to a
    /// minute. A provider that wants a longer one gets it.
    pub first_wait: Duration,
    /// Requests at once at most; fewer while the provider says that these are too many.
    pub concurrency: usize,
    /// The key. Without, it is looked for in the environment and `.env`, but only for the provider's own address.
    pub key: Option<Key>,
}

impl ModelOptions {
    /// How often a request is made by default.
    pub const TRIES: u32 = 8;
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            try_time: Duration::from_mins(10),
            total_time: Duration::from_mins(30),
            tries: Self::TRIES,
            first_wait: Duration::from_millis(500),
            concurrency: 64,
            key: None,
        }
    }
}
