//! The header `Retry-After`, by which a server asks its clients to wait.

use std::time::{Duration, SystemTime};

/// The wait that a `Retry-After` header asks for (RFC 9110, section 10.2.3): seconds or a date. `None` if it is neither.
#[must_use]
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    Some(httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default())
}
