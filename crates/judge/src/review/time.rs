//! The current time, as decisions record it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The last second that RFC 3339 has a year for, 9999-12-31T23:59:59Z.
const LAST_SECOND: u64 = 253_402_300_799;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The time as RFC 3339 in UTC, to the second, such as `2025-03-01T09:05:00Z`.
#[must_use]
pub fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    rfc3339(now.as_secs())
}

/// Seconds since 1970. The calendar is that of `httpdate`, whose form is `Sun, 06 Nov 1994 08:49:37 GMT`.
fn rfc3339(seconds: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_secs(seconds.min(LAST_SECOND));
    let text = httpdate::fmt_http_date(time);
    let mut parts = text.split_ascii_whitespace().skip(1);
    let mut part = || parts.next().unwrap_or_default();
    let (day, month, year, clock) = (part(), part(), part(), part());
    let month = MONTHS.iter().position(|name| *name == month).map_or(0, |index| index + 1);
    format!("{year}-{month:02}-{day}T{clock}Z")
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
