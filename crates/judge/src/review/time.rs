//! The current time, as decisions record it.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use jiff::civil::date;

/// The time as RFC 3339 in UTC, to the second, such as `2025-03-01T09:05:00Z`.
#[must_use]
pub fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    rfc3339(now.as_secs())
}

/// Seconds since 1970 as RFC 3339; later times become the last second of its last year.
fn rfc3339(seconds: u64) -> String {
    let since = SignedDuration::from_secs(seconds.try_into().unwrap_or(i64::MAX));
    let time = date(1970, 1, 1).at(0, 0, 0, 0).saturating_add(since);
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 9110, section 5.6.7, is 784,111,777 seconds after the epoch; a leap day; both ends.
    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(rfc3339(784_111_777), "1994-11-06T08:49:37Z");
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(u64::MAX), "9999-12-31T23:59:59Z");
    }
}
