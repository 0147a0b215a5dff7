//! Instants counted in seconds since 1970, and ranges of moments.

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::moment::{Date, LONGEST, Moment, Time, days, one, read};
use super::{Finding, Kind};

/// Compares a moment in a text with the seconds or milliseconds since 1970 that a number counts.
pub(super) fn with_epoch(number: f64, text: &str) -> Option<Finding> {
    let moment = read(text)?;
    let (date, time) = (moment.dates[0]?, moment.time.unwrap_or(Time { seconds: 0.0, offset: None }));
    date.year?;
    let day = (days(date) - days(EPOCH)) as f64;
    let seconds = day * 86_400.0 + time.seconds - time.offset.unwrap_or(0) as f64 * 60.0;
    let apart = (epoch(number)? - seconds).abs();
    let (score, reason) = match time.offset {
        _ if apart >= 1.0 => (NOTHING, "another instant"),
        Some(_) => (SAME_OTHERWISE, "the same instant"),
        None => (0.8, "the same instant, if it is meant in UTC"),
    };
    Some(Finding::new(Kind::Moment, score, reason))
}

/// Compares two numbers of seconds or milliseconds since 1970.
pub(super) fn epochs(a: f64, b: f64) -> Option<Finding> {
    let is_same = (epoch(a)? - epoch(b)?).abs() < 1e-3;
    let (score, reason) = if is_same { (0.93, "the same instant") } else { (NOTHING, "another instant") };
    Some(Finding::new(Kind::Moment, score, reason))
}

/// Seconds since 1970, of a number that can be no smaller than such numbers are from 1980 on.
fn epoch(number: f64) -> Option<f64> {
    match number {
        3e8..1e10 => Some(number),
        3e11..1e13 => Some(number / 1e3),
        3e14..1e16 => Some(number / 1e6),
        _ => None,
    }
}

const EPOCH: Date = Date { year: Some(1970), month: 1, day: Some(1) };

/// Compares two texts if both are ranges of moments: `2024-01-01/2024-01-31`, `Jan 1 - Jan 31, 2024`.
pub(super) fn ranges(a: &str, b: &str) -> Option<Finding> {
    if a.len().max(b.len()) > 2 * LONGEST {
        return None;
    }
    let ((from_a, to_a), (from_b, to_b)) = (range(a)?, range(b)?);
    let of = |x: Moment, y: Moment| one(x.dates[0], x.time, y.dates[0], y.time);
    let (first, last) = (of(from_a, from_b), of(to_a, to_b));
    let (score, reason) = if first.0 <= last.0 { first } else { last };
    Some(Finding::new(Kind::Moment, score, reason))
}

fn range(text: &str) -> Option<(Moment, Moment)> {
    ["/", " - ", " – ", " to ", "..", "–", " until ", " through ", " and "].iter().find_map(|sign| {
        let (first, last) = text.split_once(sign)?;
        let (mut first, last) = (read(first)?, read(last.trim_start_matches('.'))?);
        // A year is said once.
        if let (Some(from), Some(to)) = (&mut first.dates[0], last.dates[0]) {
            from.year = from.year.or(to.year);
        }
        (first.dates[0].is_some() == last.dates[0].is_some()).then_some((first, last))
    })
}
