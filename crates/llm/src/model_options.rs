//! Options for asking a model: time limits, retries, concurrency, the key.

use std::time::Duration;

use super::Key;

/// Options for asking a model.
#[derive(Debug, Clone)]
pub struct ModelOptions {
    /// The time limit for one try, from sending the request to the end of the answer. Replies are not streamed, so
    /// this limits the longest answer.
    pub try_time: Duration,
    /// The time limit for all tries together, including the waits between them and for a free place.
    pub total_time: Duration,
    /// The most tries, at least one. `None`: eight, and three while the provider has never answered anything.
    pub tries: Option<u32>,
    /// The wait before the second try, without its jitter; each wait is twice as long as the one before, up to a
    /// minute. If the provider asks for a longer wait, it gets it.
    pub first_wait: Duration,
    /// The most requests at once; fewer while the provider answers that these are too many.
    pub concurrency: usize,
    /// The key. If it is `None`, the environment and `.env` are searched, but only for the provider's own address.
    pub key: Option<Key>,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            try_time: Duration::from_mins(10),
            total_time: Duration::from_mins(30),
            tries: None,
            first_wait: Duration::from_millis(500),
            concurrency: 64,
            key: None,
        }
    }
}
