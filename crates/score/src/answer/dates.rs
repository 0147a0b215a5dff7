//! Days and times of day: `2025-01-03`, `January 3, 2025`, `3 Jan`, `16:20`, `4:20 pm`, `twenty past four`.

use super::tokens::{Break, Kind, Token};
use super::words::{month, place};

/// A date; year and day are `None` if they are not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    year: Option<u16>,
    month: u8,
    day: Option<u8>,
}

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    /// Minutes since midnight or, if the half of the day is unknown, since noon or midnight.
    minutes: u16,
    /// Whether the half of the day is known.
    has_half: bool,
}

impl Date {
    /// Whether all parts that both dates give are equal.
    pub(super) fn is_same(self, other: Self) -> bool {
        let agree = |a: Option<u16>, b: Option<u16>| a.is_none() || b.is_none() || a == b;
        let day = |date: Self| date.day.map(u16::from);
        self.month == other.month && agree(self.year, other.year) && agree(day(self), day(other))
    }
}

impl Time {
    /// Whether both times are equal, or may be, where one of them does not give the half of the day.
    pub(super) fn is_same(self, other: Self) -> bool {
        self.minutes == other.minutes
            || self.minutes % 720 == other.minutes % 720 && !(self.has_half && other.has_half)
    }
}

/// The date that begins at the first token, and how many tokens it has.
pub(super) fn date(tokens: &[Token]) -> Option<(Date, usize)> {
    let first = tokens.first()?;
    if first.kind == Kind::Code {
        return in_digits(&first.text).map(|date| (date, 1));
    }
    let number =
        |at: usize| tokens.get(at).filter(|token| token.kind == Kind::Number && token.gap <= Break::Clause);
    let day = |at: usize| {
        number(at).and_then(|token| token.text.parse::<u8>().ok()).filter(|day| (1..=31).contains(day))
    };
    let year =
        |at: usize| number(at).and_then(|token| token.text.parse::<u16>().ok()).filter(|year| *year >= 1000);
    let named = |at: usize| {
        let token = tokens.get(at).filter(|token| at == 0 || token.gap == Break::None)?;
        month(&token.text).filter(|_| token.shown.starts_with(char::is_uppercase))
    };
    let ordinal = |at: usize| {
        usize::from(tokens.get(at).is_some_and(|t| matches!(&*t.text, "st" | "nd" | "rd" | "th")))
    };
    if let Some(month) = named(0) {
        if let Some(day) = day(1) {
            let after = 2 + ordinal(2);
            let year = year(after);
            return Some((Date { year, month, day: Some(day) }, after + usize::from(year.is_some())));
        }
        return year(1).map(|year| (Date { year: Some(year), month, day: None }, 2));
    }
    let day = first.text.parse::<u8>().ok().filter(|day| (1..=31).contains(day))?;
    let after = 1 + ordinal(1);
    let after = after + usize::from(tokens.get(after).is_some_and(|token| token.text == "of"));
    let month = named(after)?;
    let year = year(after + 1);
    Some((Date { year, month, day: Some(day) }, after + 1 + usize::from(year.is_some())))
}

/// Reads `2025-01-03`, `1/3/2025` (the month first, if possible) and `3.1.2025`.
fn in_digits(text: &str) -> Option<Date> {
    let parts: Vec<u16> = text.split(['-', '/', '.']).map(str::parse).collect::<Result<_, _>>().ok()?;
    let (year, month, day) = match parts[..] {
        [year, month, day] if year >= 1000 => (year, month, day),
        [day, month, year] if year >= 1000 && (day > 12 || text.contains('.')) => (year, month, day),
        [month, day, year] if year >= 1000 => (year, month, day),
        _ => return None,
    };
    let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    let date = Date { year: Some(year), month, day: Some(day) };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(date)
}

/// The time of day that begins at the first token, and how many tokens it has.
pub(super) fn time(tokens: &[Token]) -> Option<(Time, usize)> {
    let first = tokens.first()?;
    let half = |at: usize| {
        let token = tokens.get(at).filter(|token| token.gap == Break::None)?;
        ["am", "pm"].iter().position(|half| token.text == *half)
    };
    if let Some((hours, minutes)) = first.text.split_once(':').filter(|_| first.kind == Kind::Number) {
        let minutes = minutes.split_once(':').map_or(minutes, |(minutes, _)| minutes);
        return at_clock(hours.parse().ok()?, minutes.parse().ok()?, half(1), 1);
    }
    let number = |word: &str| {
        word.parse().ok().or_else(|| place("ones", word).and_then(|number| u16::try_from(number).ok()))
    };
    let hour = |at: usize| number(&tokens.get(at)?.text).filter(|hour| *hour <= 24);
    if let Some(half) = half(1) {
        return at_clock(hour(0)?, 0, Some(half), 1);
    }
    if tokens.get(1).is_some_and(|token| token.text == "oclock") {
        return at_clock(hour(0)?, 0, half(2), 2);
    }
    let (minutes, spoken) = match &*first.text {
        "half" => (30, 1),
        "quarter" => (15, 1),
        "twenty" if hour(1).is_some() => (20 + hour(1)?, 2),
        "twenty" => (20, 1),
        word => (number(word)?, 1),
    };
    let (relation, at) = (&tokens.get(spoken)?.text, spoken + 1);
    let whole = hour(at).filter(|hour| (1..=12).contains(hour))?;
    match &**relation {
        "past" => at_clock(whole, minutes, half(at + 1), at + 1),
        "to" if minutes < 30
            && first.kind == Kind::Word
            && place("ones", &first.text).is_none_or(|m| m % 5 == 0) =>
        {
            at_clock((whole + 11) % 12, 60 - minutes, half(at + 1), at + 1)
        }
        _ => None,
    }
}

/// The time on a clock. `half` is 0 before noon and 1 after it, and takes one more token.
fn at_clock(hours: u16, minutes: u16, half: Option<usize>, tokens: usize) -> Option<(Time, usize)> {
    if hours > 24 || minutes > 60 || half.is_some() && hours > 12 {
        return None;
    }
    let noon = if half == Some(1) { 720 } else { 0 };
    let hours = if half.is_some() { hours % 12 } else { hours % 24 };
    let minutes = hours * 60 + minutes + noon;
    let has_half = half.is_some() || minutes >= 780;
    Some((Time { minutes: minutes % 1440, has_half }, tokens + usize::from(half.is_some())))
}
