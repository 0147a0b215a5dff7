//! Reads a time of day: `14:30`, `2.30 pm`, `half past three`, `seven thirty five`, `noon`.

use super::super::standard;
use super::Time;
use super::token::Token::{self, Number, Sign, Word};

/// The word that a token is; empty for other tokens.
fn word(token: Option<&Token>) -> &str {
    match token {
        Some(Word(word)) => word,
        _ => "",
    }
}

/// The half of the day that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Morning,
    Afternoon,
    Night,
}

pub(super) fn take_part_of_day(tokens: &mut Vec<Token>) -> Option<Half> {
    let half = |token: &Token| match word(Some(token)) {
        "morning" => Some(Half::Morning),
        "afternoon" | "evening" => Some(Half::Afternoon),
        "night" | "tonight" => Some(Half::Night),
        _ => None,
    };
    let at = tokens.iter().position(|token| half(token).is_some())?;
    half(&tokens.remove(at))
}

/// Takes a time of day out of the tokens. `Err` for tokens that look like a time but are not a valid one.
pub(super) fn take_time(
    tokens: &mut Vec<Token>,
    half: Option<Half>,
    has_clock: bool,
) -> Result<Option<Time>, ()> {
    let named = |token: &Token| match word(Some(token)) {
        "noon" | "midday" => Some(43_200),
        "midnight" => Some(0),
        _ => None,
    };
    if let Some(at) = tokens.iter().position(|token| named(token).is_some()) {
        let seconds = named(&tokens.remove(at)).unwrap_or_default();
        // `12 noon`.
        if at > 0 && matches!(tokens.get(at - 1), Some(Number(12, ..))) {
            tokens.remove(at - 1);
        }
        return Ok(Some(Time { seconds, ..Time::default() }));
    }
    for start in 0..tokens.len() {
        let Some((mut clock, mut end)) = clock(&tokens[start..], half.is_some() || has_clock) else {
            continue;
        };
        end += start;
        let suffix = match word(tokens.get(end)) {
            "am" | "a" => Some(Half::Morning),
            "pm" | "p" => Some(Half::Afternoon),
            _ => None,
        };
        end += usize::from(suffix.is_some());
        let half = suffix.or(half);
        if !clock.is_certain && half.is_none() && !has_clock {
            continue;
        }
        let is_written_out = clock.hour > 12 || clock.hour == 0 || clock.is_padded;
        let is_open = half.is_none() && !is_written_out;
        match half {
            Some(_) if suffix.is_some() && !(1..=12).contains(&clock.hour) => return Err(()),
            Some(Half::Morning) => clock.hour %= 12,
            Some(Half::Afternoon) if clock.hour < 12 => clock.hour += 12,
            Some(Half::Night) if (5..12).contains(&clock.hour) => clock.hour += 12,
            Some(Half::Night) if clock.hour == 12 => clock.hour = 0,
            _ => {}
        }
        let is_last_midnight = clock.hour == 24 && clock.minute == 0 && clock.second == 0;
        if clock.hour > 23 && !is_last_midnight || clock.minute > 59 || clock.second > 59 {
            return Err(());
        }
        let (offset, end) = offset(tokens, end);
        if offset.is_some_and(|minutes| minutes.abs() > 14 * 60) {
            return Err(());
        }
        tokens.drain(start..end);
        let seconds = clock.hour * 3600 + clock.minute * 60 + clock.second;
        return Ok(Some(Time { seconds, milliseconds: clock.milliseconds, is_open, offset }));
    }
    Ok(None)
}

/// A time of day as it is written.
struct Clock {
    hour: i64,
    minute: i64,
    second: i64,
    milliseconds: Option<i64>,
    /// Whether the hour has a zero before it.
    is_padded: bool,
    /// Whether the tokens can be nothing but a time of day.
    is_certain: bool,
}

/// Milliseconds from the fraction of a second: its digits as a number, and how many digits there are.
fn thousandths(part: i64, digits: usize) -> i64 {
    let shift = |by: usize| 10_i64.saturating_pow(u32::try_from(by).unwrap_or(u32::MAX));
    if digits < 3 { part.saturating_mul(shift(3 - digits)) } else { part / shift(digits - 3) }
}

/// The time of day at the start of the tokens, and the number of tokens that it takes.
fn clock(tokens: &[Token], may_be_bare: bool) -> Option<(Clock, usize)> {
    let exact =
        Clock { hour: 0, minute: 0, second: 0, milliseconds: None, is_padded: false, is_certain: true };
    let of = |hour, minute| Clock { hour, minute, ..exact };
    let number = |at: usize| match tokens.get(at) {
        Some(&Number(number, digits, false)) if digits <= 2 => Some((number, digits)),
        _ => None,
    };
    // `half past three`, `twenty to four`.
    let minutes = match word(tokens.first()) {
        "half" => Some(30),
        "quarter" => Some(15),
        _ => number(0).map(|found| found.0),
    };
    let next_word = word(tokens.get(1));
    let after = 1 + usize::from(matches!(next_word, "minutes" | "min"));
    if let (Some(minutes @ 1..60), Some((hour, _))) = (minutes, number(after + 1)) {
        match word(tokens.get(after)) {
            "past" | "after" => return Some((of(hour, minutes), after + 2)),
            "to" | "till" | "before" if hour > 0 => return Some((of(hour - 1, 60 - minutes), after + 2)),
            _ => {}
        }
    }
    let (hour, digits) = number(0)?;
    let is_joint = matches!(tokens.get(1), Some(Sign(':'))) || next_word == "h";
    let is_dotted = matches!(tokens.get(1), Some(Sign('.'))) && matches!(word(tokens.get(3)), "am" | "pm");
    if let (true, Some((minute, 2))) = (is_joint || is_dotted, number(2)) {
        let (mut second, mut milliseconds, mut end) = (0, None, 3);
        if let (Some(Sign(':')), Some((found, 2))) = (tokens.get(3), number(4)) {
            (second, end) = (found, 5);
            if let (Some(Sign('.')), Some(&Number(part, digits, _))) = (tokens.get(5), tokens.get(6)) {
                milliseconds = Some(thousandths(part, digits));
                end = 7;
            }
        }
        let is_padded = digits == 2 && hour < 10;
        return Some((Clock { hour, minute, second, milliseconds, is_padded, is_certain: true }, end));
    }
    // `seven thirty`, `twelve oh three`.
    let skips = usize::from(next_word == "oh");
    if let (0, Some((minute @ 1..60, 0))) = (digits, number(1 + skips)) {
        return Some((Clock { is_certain: minute > 9 || skips > 0, ..of(hour, minute) }, 2 + skips));
    }
    let has_suffix = matches!(next_word, "am" | "pm");
    (has_suffix || may_be_bare).then(|| (Clock { is_certain: has_suffix, ..of(hour, 0) }, 1))
}

/// The offset from UTC at `at`, in minutes, and where it ends.
fn offset(tokens: &[Token], at: usize) -> (Option<i64>, usize) {
    match tokens.get(at) {
        Some(Word(word)) if matches!(word.as_str(), "z" | "utc" | "gmt") => match tokens.get(at + 1) {
            Some(Sign('+' | '-')) => offset(tokens, at + 1),
            _ => (Some(0), at + 1),
        },
        Some(Word(word)) => match standard::zone_offset(word) {
            Some(offset) => (Some(offset), at + 1),
            None => (None, at),
        },
        Some(Sign(c @ ('+' | '-'))) => {
            let sign = if *c == '-' { -1 } else { 1 };
            match (tokens.get(at + 1), tokens.get(at + 2), tokens.get(at + 3)) {
                (Some(&Number(hours, 1..=2, _)), Some(Sign(':')), Some(&Number(minutes, 2, _))) => {
                    (Some(sign * (hours * 60 + minutes)), at + 4)
                }
                (Some(&Number(hours, 1..=2, _)), ..) => (Some(sign * hours * 60), at + 2),
                (Some(&Number(both, 4, _)), ..) => (Some(sign * (both / 100 * 60 + both % 100)), at + 2),
                _ => (None, at),
            }
        }
        _ => (None, at),
    }
}
