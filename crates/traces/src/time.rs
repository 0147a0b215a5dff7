//! Times as traces write them, in seconds since 1970.

use jiff::Timestamp;
use jiff::civil::DateTime;
use m3_trajectory::json::Json;

use crate::fields::number;

/// The seconds of a text of RFC 3339, in UTC if it has no offset, or of a number of seconds or of milliseconds.
pub(crate) fn time(value: &Json) -> Option<f64> {
    /// Numbers below this are seconds (up to the year 5138), others milliseconds (from 1973).
    const MOST_SECONDS: f64 = 1e11;
    if let Some(time) = value.as_str().and_then(rfc3339) {
        return Some(time);
    }
    let time = number(value)?;
    Some(if time.abs() < MOST_SECONDS { time } else { time / 1000.0 })
}

/// The seconds of a text such as `2026-11-23T03:00:58.906Z`, in UTC if it has no offset.
pub(crate) fn rfc3339(text: &str) -> Option<f64> {
    let text = text.trim();
    let time = text.parse::<Timestamp>().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        Some(local.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    })?;
    #[expect(clippy::cast_precision_loss, reason = "to the microsecond")]
    Some(time.as_nanosecond() as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        let text = |text: &str| time(&Json::String(text.to_owned()));
        assert_eq!(text("1970-01-02T00:00:00Z"), Some(86_400.0));
        assert_eq!(text("1970-01-01T01:00:00.5+01:00"), Some(0.5));
        assert_eq!(text("1970-01-01 00:01:00"), Some(60.0));
        assert_eq!(time(&Json::Integer(1_795_401_308)), Some(1_795_401_308.0));
        assert_eq!(time(&Json::Integer(1_795_401_308_500)), Some(1_795_401_308.5));
        assert_eq!(text("soon"), None);
    }
}
