//! Reads a date, a time of day or both from a text.
//!
//! ```text
//! text -> tokens -> part of the day -> time of day -> date -> readings, with day or month first
//! ```

use super::super::super::language::fold;
use super::clock::{take_part_of_day, take_time};
use super::token::Token::{self, Number, Sign, Word};
use super::token::tokens;
use super::{LONGEST, Moment, Readings};

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The index of a month, from 0, by its English name or the start of it, or by its name in another language; and
/// whether it was in another language. The table has a line for each month: English, German, French, Spanish, Italian,
/// Portuguese and Dutch, folded.
fn named_month(word: &str) -> Option<(usize, bool)> {
    let mut lines = include_str!("../../tables/months.txt").lines();
    let english = |line: &str| is_short_of(word, line.split('|').next().unwrap_or_default());
    let place = lines.clone().position(english).map(|place| (place, false));
    place.or_else(|| {
        lines.position(|line| line.split('|').any(|name| name == word)).map(|place| (place, true))
    })
}

fn is_short_of(word: &str, name: &str) -> bool {
    word.len() >= 3 && name.starts_with(word)
}

/// Words beside a date or a time that add nothing to it.
const FILLERS: [&str; 18] = [
    "on", "at", "by", "the", "of", "for", "in", "from", "de", "er", "t", "o", "clock", "oclock", "and",
    "day", "this", "around",
];

/// The readings of a text that is a moment and nothing else.
pub(super) fn read(text: &str) -> Option<Readings> {
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let mut tokens = tokens(&tidy(text));
    let has_clock = tokens.iter().any(|token| matches!(token, Word(word) if word.ends_with("clock")));
    let half = take_part_of_day(&mut tokens);
    let time = take_time(&mut tokens, half, has_clock).ok()?;
    if half.is_some() && time.is_none() {
        return None;
    }
    let had_words = tokens.len();
    tokens.retain(|token| {
        !matches!(token, Word(word) if FILLERS.contains(&word.as_str())) && *token != Sign(',')
    });
    let readings = if tokens.is_empty() {
        // A time with three or more other words is not a moment.
        time.filter(|_| had_words < 3)?;
        [Moment::default(); 2]
    } else {
        date(&tokens)?
    };
    Some(readings.map(|moment| Moment { time, ..moment }))
}

/// Gives parts that have several writings a single one.
fn tidy(text: &str) -> String {
    let mut folded = fold(text);
    for (from, to) in [
        ("a.m", "am"),
        ("p.m", "pm"),
        ("mid-day", "noon"),
        ("mid day", "noon"),
        ("mid night", "midnight"),
        ("mid-night", "midnight"),
        ("o\"clock", "oclock"),
        ("o'clock", "oclock"),
        ("年", "-"),
        ("月", "-"),
        ("日", ""),
    ] {
        if folded.contains(from) {
            folded = folded.replace(from, to);
        }
    }
    // `Dec '24`.
    if let Some((before, year)) = folded.rsplit_once(" '")
        && year.len() == 2
    {
        folded = format!("{before} 20{year}");
    }
    // `20240305T143000`.
    let dense = folded.as_bytes();
    if folded.is_ascii()
        && dense.len() >= 13
        && dense[8] == b't'
        && dense[9..13].iter().all(u8::is_ascii_digit)
    {
        let seconds = folded.get(13..15).filter(|two| two.bytes().all(|byte| byte.is_ascii_digit()));
        let rest = &folded[if seconds.is_some() { 15 } else { 13 }..];
        folded = format!(
            "{} {}:{}:{}{rest}",
            &folded[..8],
            &folded[9..11],
            &folded[11..13],
            seconds.unwrap_or("00")
        );
    }
    folded.trim_matches(['.', '"', '\'', ' ']).to_owned()
}

fn checked(year: Option<i64>, month: Option<i64>, day: Option<i64>) -> Option<Moment> {
    let is_month = month.is_none_or(|month| (1..=12).contains(&month));
    let is_day = day.is_none_or(|day| (1..=31).contains(&day));
    (is_month && is_day).then_some(Moment { year, month, day, ..Moment::default() })
}

/// The readings of tokens that are a date and nothing else.
fn date(tokens: &[Token]) -> Option<Readings> {
    let both = |moment: Moment| Some([moment, moment]);
    // Years of two digits are those from 1970 to 2069.
    let century = |year: i64, digits: usize| match (digits, year) {
        (2, 70..) => 1900 + year,
        (2, _) => 2000 + year,
        _ => year,
    };
    match *tokens {
        [Number(run, 8, false)] if (19_000_000..21_000_000).contains(&run) => {
            both(checked(Some(run / 10_000), Some(run / 100 % 100), Some(run % 100))?)
        }
        // A number alone may count anything.
        [Number(_, 1.., false)] => None,
        [Number(day, _, true)] => both(checked(None, None, Some(day))?),
        [Number(year, 4, false), Sign('-' | '/'), Number(month, 1..=2, false)] => {
            both(checked(Some(year), Some(month), None)?)
        }
        [
            Number(year, 4, false),
            Sign(x),
            Number(month, 1..=2, false),
            Sign(y),
            Number(day, 1..=2, false),
        ] if x == y && matches!(x, '-' | '/' | '.') => both(checked(Some(year), Some(month), Some(day))?),
        [
            Number(first, 1..=2, false),
            Sign(x @ ('-' | '/' | '.')),
            Number(second, 1..=2, false),
            ref rest @ ..,
        ] => {
            let year = match *rest {
                [] if x != '.' => None,
                [Sign(y), Number(year, digits @ (2 | 4), false)] if x == y => Some(century(year, digits)),
                [Number(year, digits @ (2 | 4), false)] => Some(century(year, digits)),
                _ => return None,
            };
            let day_first = checked(year, Some(second), Some(first));
            // Points are written between day, month and year only.
            let month_first = if x == '.' { day_first } else { checked(year, Some(first), Some(second)) };
            Some([day_first.or(month_first)?, month_first.or(day_first)?])
        }
        _ => both(with_names(tokens)?),
    }
}

/// `March 5, 2024`, `5th of March`, `Tue, 5 Mar 2024`, `March 2024`, `Friday`.
fn with_names(tokens: &[Token]) -> Option<Moment> {
    let (mut month, mut day, mut year, mut weekday) = (None, None, None, None);
    let mut is_foreign = false;
    for token in tokens {
        match token {
            Sign(',' | '.' | '-' | '/') => {}
            Sign(_) => return None,
            &Number(value, digits, is_ordinal) => {
                let part = if digits == 4 || value > 1000 { &mut year } else { &mut day };
                let is_part = digits <= 2 || digits == 4;
                if !is_part || (is_ordinal && digits == 4) || part.replace(value).is_some() {
                    return None;
                }
            }
            Word(word) => {
                let day_of_week = WEEKDAYS.iter().position(|name| is_short_of(word, name));
                match (named_month(word), day_of_week) {
                    (Some((found, of_another)), _) if month.is_none() => {
                        (month, is_foreign) = (i64::try_from(found + 1).ok(), of_another);
                    }
                    (None, Some(found)) if weekday.is_none() => weekday = i64::try_from(found).ok(),
                    _ => return None,
                }
            }
        }
    }
    // A foreign month needs a day, because `Mars 2020` may be something else. A month alone may be a name.
    if month.is_some() && day.is_none() && (year.is_none() || is_foreign) || month.is_none() && year.is_some()
    {
        return None;
    }
    Some(Moment { weekday, ..checked(year, month, day)? })
}
