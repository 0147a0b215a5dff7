//! Dates and times of day, in any common writing.

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::text::fold;
use super::{Finding, Kind, iso};

/// Longer texts are none.
pub(super) const LONGEST: usize = 64;

pub(super) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

pub(super) const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// A day, or a month of a year, or a day of any year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Date {
    pub(super) year: Option<i64>,
    pub(super) month: i64,
    pub(super) day: Option<i64>,
}

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Time {
    pub(super) seconds: f64,
    /// Minutes ahead of UTC.
    pub(super) offset: Option<i64>,
}

/// The readings of a text: with day before month first, then with month before day. Both are the same unless only the
/// order tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moment {
    pub(super) dates: [Option<Date>; 2],
    pub(super) time: Option<Time>,
}

/// Compares two texts if both are moments.
pub(super) fn compare(a: &str, b: &str) -> Option<Finding> {
    let (a, b) = (read(a)?, read(b)?);
    let is_ambiguous = |moment: &Moment| moment.dates[0] != moment.dates[1];
    let readings: &[(usize, usize)] =
        // Two texts in one writing are read the same way.
        if is_ambiguous(&a) && is_ambiguous(&b) { &[(0, 0), (1, 1)] } else { &[(0, 0), (1, 0), (0, 1), (1, 1)] };
    let found = readings.iter().map(|&(x, y)| one(a.dates[x], a.time, b.dates[y], b.time));
    let (score, reason) = found.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    Some(Finding::new(Kind::Moment, score, reason))
}

pub(super) fn one(a: Option<Date>, s: Option<Time>, b: Option<Date>, t: Option<Time>) -> (f64, &'static str) {
    // Instants of two zones may have two days.
    let is_instant = |date: Option<Date>, time: Option<Time>| {
        date.is_some_and(|date| date.day.is_some()) && time.is_some_and(|time| time.offset.is_some())
    };
    if let (true, true, Some(s), Some(t)) = (is_instant(a, s), is_instant(b, t), s, t)
        && a.is_some_and(|a| b.is_some_and(|b| a.year.is_some() == b.year.is_some()))
    {
        return times(s, t, a, b);
    }
    let (mut score, mut reason) = match (a, b) {
        (Some(a), Some(b)) => dates(a, b),
        (None, None) => (SAME_OTHERWISE, "the same time"),
        _ if s.is_some() && t.is_some() => (0.4, "only one of them has a date"),
        _ => (NOTHING, "a date and a time of day"),
    };
    let (other, why) = match (s, t) {
        (Some(s), Some(t)) => times(s, t, a, b),
        (None, None) => (1.0, ""),
        (Some(time), None) | (None, Some(time)) if time.seconds == 0.0 => (0.93, "the day and its midnight"),
        _ => (0.55, "only one of them has a time of day"),
    };
    if other < score {
        (score, reason) = (other, why);
    }
    (score, reason)
}

fn dates(a: Date, b: Date) -> (f64, &'static str) {
    match (a.year, b.year) {
        (Some(a), Some(b)) if a != b => return (NOTHING, "the year differs"),
        _ => {}
    }
    if a.month != b.month {
        return (NOTHING, "the month differs");
    }
    match (a.day, b.day) {
        (Some(a), Some(b)) if a != b => return (0.05, "the day differs"),
        (None, Some(_)) | (Some(_), None) => return (0.3, "a day and its month"),
        _ => {}
    }
    if a.year == b.year { (SAME_OTHERWISE, "the same date") } else { (0.6, "only one of them has a year") }
}

fn times(s: Time, t: Time, a: Option<Date>, b: Option<Date>) -> (f64, &'static str) {
    let at = |time: Time, date: Option<Date>| {
        let day = date.filter(|_| time.offset.is_some()).map_or(0, days);
        day as f64 * 86_400.0 + time.seconds - time.offset.unwrap_or(0) as f64 * 60.0
    };
    let difference = (at(s, a) - at(t, b)).abs();
    let difference = if a.is_none() || b.is_none() { difference % 86_400.0 } else { difference };
    if s.offset.is_some() != t.offset.is_some() {
        let wall = (s.seconds - t.seconds).abs();
        return if wall >= 60.0 {
            (0.05, "the time differs")
        } else {
            (0.75, "only one of them has a time zone")
        };
    }
    if difference < 1.0 {
        (SAME_OTHERWISE, "the same time")
    } else if difference < 60.0 {
        (0.8, "seconds apart")
    } else {
        (0.05, "the time differs")
    }
}

/// Days since an arbitrary one in the proleptic Gregorian calendar, by the usual shift of the year to March.
pub(super) fn days(date: Date) -> i64 {
    let year = date.year.unwrap_or(2000) - i64::from(date.month <= 2);
    let month = (date.month + 9) % 12;
    let of_year = (153 * month + 2) / 5 + date.day.unwrap_or(1) - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Digits(String),
    Word(String),
    Sign(char),
}

fn split(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut is_apart = true;
    for c in text.chars() {
        match parts.last_mut() {
            Some(Part::Digits(run)) if c.is_ascii_digit() && !is_apart => run.push(c),
            Some(Part::Word(run)) if c.is_alphabetic() && !is_apart => run.push(c),
            _ if c.is_ascii_digit() => parts.push(Part::Digits(c.to_string())),
            _ if c.is_alphabetic() => parts.push(Part::Word(c.to_string())),
            _ if c.is_whitespace() => {}
            _ => parts.push(Part::Sign(c)),
        }
        is_apart = c.is_whitespace();
    }
    parts
}

pub(super) fn read(text: &str) -> Option<Moment> {
    if text.len() > LONGEST {
        return None;
    }
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        let clock = match fold(text).as_str() {
            "noon" | "midday" => "12:00",
            "midnight" => "00:00",
            _ => return None,
        };
        return read(clock);
    }
    let mut folded = fold(text);
    if folded.contains(".m") {
        folded = folded.replace("a.m.", "am").replace("p.m.", "pm").replace("a.m", "am").replace("p.m", "pm");
    }
    if folded.contains(['年', '月']) {
        folded = folded.replace(['年', '月'], "-").replace('日', "");
    }
    // `Dec '24`.
    if let Some((before, year)) = folded.rsplit_once(" '")
        && year.len() == 2
    {
        folded = format!("{before} 20{year}");
    }
    let mut parts = split(&folded);
    open_dense(&mut parts);
    let time = take_time(&mut parts);
    let dates = if parts.is_empty() { [None, None] } else { read_date(&parts)?.map(Some) };
    (dates[0].is_some() || time.is_some()).then_some(Moment { dates, time })
}

/// Writes the time of `20240305T143000` with its signs.
fn open_dense(parts: &mut Vec<Part>) {
    let Some([Part::Digits(day), Part::Word(t), Part::Digits(time)]) = parts.get(..3) else { return };
    if day.len() != 8 || t != "t" || !matches!(time.len(), 4 | 6) {
        return;
    }
    let pairs: Vec<Part> = [0, 2, 4]
        .iter()
        .filter_map(|start| time.get(*start..start + 2))
        .flat_map(|pair| [Part::Sign(':'), Part::Digits(pair.to_owned())])
        .skip(1)
        .collect();
    parts.splice(2..3, pairs);
}

fn number(part: Option<&Part>, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    match part {
        Some(Part::Digits(run)) if digits.contains(&run.len()) => run.parse().ok(),
        _ => None,
    }
}

/// Takes a time of day, and what joins it to a date, out of the parts.
fn take_time(parts: &mut Vec<Part>) -> Option<Time> {
    let sign = |at: usize, c: char, parts: &[Part]| parts.get(at) == Some(&Part::Sign(c));
    let half = |at: usize, parts: &[Part]| match parts.get(at) {
        Some(Part::Word(word)) if word == "am" => Some(0),
        Some(Part::Word(word)) if word == "pm" => Some(12),
        _ => None,
    };
    for start in 0..parts.len() {
        let Some(hour) = number(parts.get(start), 1..=2) else { continue };
        let mut end = start + 1;
        let (mut minutes, mut seconds) = (0, 0.0);
        let is_pointed = sign(end, '.', parts) && half(end + 2, parts).is_some();
        let is_joined =
            is_pointed || sign(end, ':', parts) || parts.get(end) == Some(&Part::Word("h".to_owned()));
        let has_minutes = is_joined && number(parts.get(end + 1), 2..=2).is_some();
        if has_minutes {
            minutes = number(parts.get(end + 1), 2..=2)?;
            end += 2;
            if sign(end, ':', parts) {
                seconds = number(parts.get(end + 1), 2..=2)? as f64;
                end += 2;
                if sign(end, '.', parts) && matches!(parts.get(end + 1), Some(Part::Digits(_))) {
                    end += 2;
                }
            }
        }
        let half_day = half(end, parts);
        if !has_minutes && half_day.is_none() {
            continue;
        }
        let hour = match half_day {
            Some(after) => {
                end += 1;
                if !(1..=12).contains(&hour) {
                    return None;
                }
                hour % 12 + after
            }
            None => hour,
        };
        if hour > 24 || minutes > 59 {
            return None;
        }
        let (offset, end) = read_offset(parts, end);
        let is_joint = |part: &Part| match part {
            Part::Word(word) => word == "t" || word == "at",
            Part::Sign(c) => *c == ',',
            Part::Digits(_) => false,
        };
        let start = if start > 0 && is_joint(&parts[start - 1]) { start - 1 } else { start };
        let end = if start == 0 && parts.get(end).is_some_and(is_joint) { end + 1 } else { end };
        parts.drain(start..end);
        return Some(Time { seconds: (hour * 3600 + minutes * 60) as f64 + seconds, offset });
    }
    None
}

/// The offset from UTC at `at`, and where it ends.
fn read_offset(parts: &[Part], at: usize) -> (Option<i64>, usize) {
    match parts.get(at) {
        Some(Part::Word(word)) if matches!(word.as_str(), "z" | "utc" | "gmt") => match parts.get(at + 1) {
            // `UTC+2`.
            Some(Part::Sign('+' | '-')) => read_offset(parts, at + 1),
            _ => (Some(0), at + 1),
        },
        Some(Part::Word(word)) => match iso::zone_offset(word) {
            Some(offset) => (Some(offset), at + 1),
            None => (None, at),
        },
        Some(Part::Sign(c @ ('+' | '-'))) => {
            let sign = if *c == '-' { -1 } else { 1 };
            let minutes = parts.get(at + 2) == Some(&Part::Sign(':'));
            match (number(parts.get(at + 1), 1..=2), number(parts.get(at + 3), 2..=2)) {
                (Some(hours), Some(rest)) if minutes => (Some(sign * (hours * 60 + rest)), at + 4),
                (Some(hours), _) => (Some(sign * hours * 60), at + 2),
                _ => match number(parts.get(at + 1), 4..=4) {
                    Some(both) => (Some(sign * (both / 100 * 60 + both % 100)), at + 2),
                    None => (None, at),
                },
            }
        }
        _ => (None, at),
    }
}

fn read_date(parts: &[Part]) -> Option<[Date; 2]> {
    if let [Part::Digits(run)] = parts {
        let is_dense = run.len() == 8 && (run.starts_with("19") || run.starts_with("20"));
        let of = |range: std::ops::Range<usize>| run.get(range)?.parse().ok();
        return if is_dense { same(date(of(0..4), of(4..6)?, of(6..8))?) } else { None };
    }
    if parts.iter().any(|part| matches!(part, Part::Word(_))) {
        return same(with_month_name(parts)?);
    }
    let (first, separator, second) = (parts.first(), parts.get(1), parts.get(2));
    let Some(Part::Sign(c @ ('-' | '/' | '.'))) = separator else { return None };
    if let Some(year) = number(first, 4..=4) {
        let month = number(second, 1..=2)?;
        return match parts.len() {
            3 if *c == '-' => same(date(Some(year), month, None)?),
            5 if parts[3] == Part::Sign(*c) => {
                same(date(Some(year), month, Some(number(parts.get(4), 1..=2)?))?)
            }
            _ => None,
        };
    }
    if parts.len() != 5 || parts[3] != Part::Sign(*c) {
        return None;
    }
    let year = match number(parts.get(4), 4..=4) {
        Some(year) => year,
        None => 2000 + number(parts.get(4), 2..=2)?,
    };
    let (first, second) = (number(first, 1..=2)?, number(second, 1..=2)?);
    let (day_first, month_first) =
        (date(Some(year), second, Some(first)), date(Some(year), first, Some(second)));
    // Points are written between day, month and year only.
    let month_first = if *c == '.' { day_first } else { month_first };
    Some([day_first.or(month_first)?, month_first.or(day_first)?])
}

#[expect(clippy::unnecessary_wraps, reason = "it ends the readings, which may fail")]
fn same(date: Date) -> Option<[Date; 2]> {
    Some([date, date])
}

fn date(year: Option<i64>, month: i64, day: Option<i64>) -> Option<Date> {
    let is_date = (1..=12).contains(&month) && day.is_none_or(|day| (1..=31).contains(&day));
    is_date.then_some(Date { year, month, day })
}

/// `March 5, 2024`, `5th of March`, `Tue, 5 Mar 2024`, `March 2024`.
fn with_month_name(parts: &[Part]) -> Option<Date> {
    let is_short_of = |word: &str, name: &str| {
        word.len() >= 3 && (name == word || (word.len() <= 4 && name.starts_with(word)))
    };
    let (mut month, mut day, mut year) = (None, None, None);
    let mut is_foreign = false;
    for part in parts {
        match part {
            Part::Sign(',' | '.' | '-' | '/') => {}
            Part::Sign(_) => return None,
            Part::Digits(run) => {
                let value: i64 = run.parse().ok()?;
                let place = if run.len() == 4 { &mut year } else { &mut day };
                if run.len() > 4 || run.len() == 3 || place.replace(value).is_some() {
                    return None;
                }
            }
            Part::Word(word) => {
                let found = MONTHS.iter().position(|name| is_short_of(word, name));
                let found = found.or_else(|| {
                    is_foreign = true;
                    iso::foreign_month(word)
                });
                match found {
                    Some(found) if month.is_none() => month = i64::try_from(found + 1).ok(),
                    None if WEEKDAYS.iter().any(|name| is_short_of(word, name))
                        || matches!(
                            word.as_str(),
                            "st" | "nd" | "rd" | "th" | "of" | "the" | "de" | "er"
                        ) => {}
                    _ => return None,
                }
            }
        }
    }
    // `Mars 2020` is no month of another language unless a day is said.
    if day.is_none() && (year.is_none() || is_foreign) { None } else { date(year, month?, day) }
}
