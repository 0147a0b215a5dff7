//! Counters of the reward service, for Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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
