//! Dates and times of day, in any common writing, spoken ones too, and instants. The parts that both texts give are
//! compared one by one.

mod clock;
mod read;
mod token;

use jiff::civil;
use read::read;

use super::super::constants::{NOTHING, SAME_OTHERWISE};
use super::super::{Finding, Kind};
use super::{ArgumentContext, Values};

/// The most bytes of a text that is a moment.
const LONGEST: usize = 64;

/// The parts of a moment that a text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Moment {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    /// The day of the week; Monday is 0.
    weekday: Option<i64>,
    time: Option<Time>,
}

/// A time of day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Time {
    /// Seconds since midnight; `24:00`, the midnight at the end of a day, is 86,400.
    seconds: i64,
    /// Milliseconds of the second that has begun, if the text gives them.
    milliseconds: Option<i64>,
    /// Whether it may be the other half of the day: `6:30` without `am` or `pm`.
    is_open: bool,
    /// Minutes ahead of UTC.
    offset: Option<i64>,
}

/// The readings of a text: with day before month first, then with month before day. Both are the same unless the text
/// is ambiguous.
type Readings = [Moment; 2];

/// Compares two texts if both are moments.
pub(super) fn compare(_: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.texts.as_ref()?;
    texts(a, b).or_else(|| beside_epoch(a, b)).or_else(|| beside_epoch(b, a))
}

/// Compares a moment with a number of seconds or milliseconds since 1970.
fn beside_epoch(moment: &str, number: &str) -> Option<Finding> {
    // Smaller numbers, of dates before 1980, may count anything.
    let seconds = match super::number::in_text(number)? {
        number @ 3e8..1e10 => number,
        number @ 3e11..1e13 => number / 1e3,
        _ => return None,
    };
    let is_at = |moment: Moment| {
        let time = moment.time.unwrap_or_default();
        let time = Time { offset: Some(time.offset.unwrap_or(0)), ..time };
        Some((instant(Moment { time: Some(time), ..moment })? as f64 - seconds).abs() < 1.0)
    };
    let readings = read(moment)?;
    let is_zoned = readings[0].time.is_some_and(|time| time.offset.is_some());
    let is_same = readings.into_iter().filter_map(is_at).reduce(|one, other| one || other)?;
    let (score, reason) = match is_zoned {
        _ if !is_same => (NOTHING, "another instant"),
        true => (SAME_OTHERWISE, "the same instant"),
        false => (0.8, "the same instant, if it is meant in UTC"),
    };
    Some(Finding::new(Kind::Moment, score, reason))
}

fn texts(a: &str, b: &str) -> Option<Finding> {
    let (a, b) = (read(a)?, read(b)?);
    let is_ambiguous = |readings: &Readings| readings[0] != readings[1];
    let pairs: &[(usize, usize)] =
        // Two texts in one writing are read the same way.
        if is_ambiguous(&a) && is_ambiguous(&b) { &[(0, 0), (1, 1)] } else { &[(0, 0), (1, 0), (0, 1), (1, 1)] };
    let relations = pairs.iter().map(|&(x, y)| relation(a[x], b[y]));
    let (score, reason) = relations.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    Some(Finding::new(Kind::Moment, score, reason))
}

/// The score of two moments, and its reason.
fn relation(a: Moment, b: Moment) -> (f64, &'static str) {
    if let (Some(x), Some(y)) = (instant(a), instant(b)) {
        let is_same = x == y && !is_split(a.time, b.time);
        return if is_same { (SAME_OTHERWISE, "the same instant") } else { (NOTHING, "the time differs") };
    }
    let parts = [
        (a.year, b.year, "the year differs"),
        (a.month, b.month, "the month differs"),
        (a.day, b.day, "the day differs"),
        (weekday(a), weekday(b), "the day of the week differs"),
    ];
    let (mut score, mut reason, mut shared) = (SAME_OTHERWISE, "the same moment", false);
    for (x, y, why) in parts {
        match (x, y) {
            (Some(x), Some(y)) if x != y => return (NOTHING, why),
            (Some(_), Some(_)) => shared = true,
            _ => {}
        }
    }
    let (has_a, has_b) = (has_date(a), has_date(b));
    if has_a && has_b {
        if a.day.is_some() != b.day.is_some() && weekday(a) != weekday(b) {
            (score, reason) = (0.3, "a day and its month");
        } else if a.month.is_some() != b.month.is_some() || a.day.is_some() != b.day.is_some() {
            (score, reason) = (0.6, "one of them says more of the date");
        } else if a.year.is_some() != b.year.is_some() {
            (score, reason) = (0.8, "only one of them has a year");
        }
    }
    let (by_time, why) = match (a.time, b.time) {
        (Some(s), Some(t)) => {
            shared = true;
            // Midnight at the beginning of a day is not that at its end.
            let is_of_days = has_a && has_b && (s.seconds - t.seconds).abs() == DAY;
            if is_of_days { (NOTHING, "the time differs") } else { times(s, t) }
        }
        (None, None) => (SAME_OTHERWISE, ""),
        (Some(time), None) | (None, Some(time)) if time.seconds == 0 => (0.93, "the day and its midnight"),
        _ => (0.55, "only one of them has a time of day"),
    };
    if !shared {
        return (NOTHING, "a date and a time of day");
    }
    if has_a != has_b {
        (score, reason) = (0.4, "only one of them has a date");
    }
    if by_time < score { (by_time, why) } else { (score, reason) }
}

/// The seconds of a day.
const DAY: i64 = 86_400;

/// Whether both times give milliseconds, and different ones.
fn is_split(s: Option<Time>, t: Option<Time>) -> bool {
    let part = |time: Option<Time>| time.and_then(|time| time.milliseconds);
    part(s).is_some_and(|part_of_s| part(t).is_some_and(|part_of_t| part_of_s != part_of_t))
}

fn times(s: Time, t: Time) -> (f64, &'static str) {
    const HALF_DAY: i64 = DAY / 2;
    let is_zoned = s.offset.is_some() && t.offset.is_some();
    let at = |time: Time| time.seconds - if is_zoned { time.offset.unwrap_or(0) * 60 } else { 0 };
    let apart = (at(s) - at(t)).rem_euclid(DAY);
    if apart == 0 && is_split(Some(s), Some(t)) {
        return (NOTHING, "the time differs");
    }
    if apart == 0 {
        return match (s.offset.is_some() == t.offset.is_some(), s.is_open == t.is_open) {
            (false, _) => (0.75, "only one of them has a time zone"),
            (true, false) => (0.93, "only one of them says which half of the day"),
            (true, true) => (SAME_OTHERWISE, "the same time"),
        };
    }
    if apart == HALF_DAY && s.is_open != t.is_open {
        return (0.45, "the other half of the day, unless it is left open");
    }
    (NOTHING, "the time differs")
}

fn has_date(moment: Moment) -> bool {
    moment.day.is_some() || moment.month.is_some() || moment.weekday.is_some() || moment.year.is_some()
}

fn civil_date(moment: Moment) -> Option<civil::Date> {
    let small = |value: Option<i64>| i8::try_from(value?).ok();
    let year = i16::try_from(moment.year?).ok()?;
    civil::Date::new(year, small(moment.month)?, small(moment.day)?).ok()
}

/// The weekday that a moment gives, or else that of its date.
fn weekday(moment: Moment) -> Option<i64> {
    let of_date = || civil_date(moment).map(|date| i64::from(date.weekday().to_monday_zero_offset()));
    moment.weekday.or_else(of_date)
}

/// Seconds since 1970; `None` without a date, a time and an offset.
fn instant(moment: Moment) -> Option<i64> {
    let time = moment.time?;
    Some(days(moment)? * DAY + time.seconds - time.offset? * 60)
}

/// Days since 1970.
fn days(moment: Moment) -> Option<i64> {
    let span = civil_date(moment)?.since((jiff::Unit::Day, civil::date(1970, 1, 1))).ok()?;
    Some(i64::from(span.get_days()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_people_say_them() {
        let score = |a: &str, b: &str| texts(a, b).map(|found| found.score);
        for (a, b) in [
            ("half past 3 in the afternoon", "15:30"),
            ("quarter to 5 pm", "16:45"),
            ("evening 6:30", "6:30 pm"),
            ("11 in the night", "23:00"),
            ("twelve oh three", "12:03"),
            ("ten pm", "22:00"),
            ("seven thirty five pm", "19:35"),
            ("12 noon", "midday"),
            ("22/04", "April 22"),
            ("20240305T143000", "March 5, 2024 2:30 pm"),
            ("2026-03-05T10:00:00+01:00", "2026-03-05T09:00:00Z"),
        ] {
            assert!(score(a, b).is_some_and(|score| score >= 0.9), "{a} {b} {:?}", score(a, b));
        }
        // One says more than the other.
        for (a, b) in [("2019-03-09", "the 9th"), ("2019-03-01", "1st of March"), ("Friday", "2019-03-08")] {
            assert!(
                score(a, b).is_some_and(|score| (0.5..0.9).contains(&score)),
                "{a} {b} {:?}",
                score(a, b)
            );
        }
        for (a, b) in [
            ("2019-03-09", "the 10th"),
            ("Thursday", "2019-03-08"),
            ("7:56pm", "7:56:30pm"),
            ("five pm", "6 pm"),
            ("half past 3 pm", "half past 3 am"),
            ("March 5", "15:30"),
        ] {
            assert!(score(a, b).is_some_and(|score| score < 0.1), "{a} {b} {:?}", score(a, b));
        }
        for text in ["", "may", "in the", "night", "25:70", "13 pm", "the day after", "99999999999999999999"]
        {
            assert_eq!(score(text, "2019-03-09"), None, "{text}");
        }
    }
}
