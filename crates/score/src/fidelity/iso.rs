//! Names and codes that a standard lists: countries, states, currencies, languages, time zones, months.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::moment::{MONTHS, WEEKDAYS};
use super::name::Name;
use super::text::{fold, lexicon};
use super::{Finding, Kind};

/// Longer texts are no name in a table.
const LONGEST: usize = 48;

/// Names to the line of the table that they stand in.
type Table = LazyLock<HashMap<&'static str, usize>>;

/// Codes and names of ISO 3166, with other names in use.
static COUNTRIES: Table = LazyLock::new(|| table(include_str!("tables/countries.txt")));

/// States and provinces of the countries whose states are called by a code.
static STATES: Table = LazyLock::new(|| table(include_str!("tables/states.txt")));

/// Codes and names of ISO 4217, with signs and other names in use.
static CURRENCIES: Table = LazyLock::new(|| table(include_str!("tables/currencies.txt")));

/// Time zones with their former names: the links of the tz database (`backward` of 2025b, in the public domain).
static TIME_ZONES: Table = LazyLock::new(|| table(include_str!("tables/time_zones.txt")));

/// Large airports by their codes of IATA.
static AIRPORTS: Table = LazyLock::new(|| table(include_str!("tables/airports.txt")));

fn table(text: &'static str) -> HashMap<&'static str, usize> {
    let lines = text.lines().enumerate();
    lines.flat_map(|(line, names)| names.split('|').map(move |name| (name, line))).collect()
}

/// The currency that a code, a sign or a name is, as a number.
pub(super) fn currency(text: &str) -> Option<usize> {
    CURRENCIES.get(text).copied()
}

/// Compares two names that a standard may list. Where the argument's name says which standard, two entries are another
/// one; elsewhere only a code and its name are taken for the same.
pub(super) fn compare(name: &Name, a: &str, b: &str) -> Option<Finding> {
    if a.len() > LONGEST || b.len() > LONGEST {
        return None;
    }
    let (x, y) = (fold(a), fold(b));
    let (x, y) = (x.trim(), y.trim());
    if (name.is_time_zone() || (x.contains('/') && y.contains('/')))
        && let Some(finding) = time_zones(x, y, name.is_time_zone())
    {
        return Some(finding);
    }
    let tables: [(bool, &Table, bool); 3] = [
        (name.is_currency(), &CURRENCIES, true),
        (name.is_state(), &STATES, false),
        (name.is_region(), &COUNTRIES, false),
    ];
    for (is_named, table, has_signs) in tables {
        if let (Some(of_x), Some(of_y)) = (table.get(x), table.get(y)) {
            let is_code = |text: &str| text.len() <= 3 || (has_signs && !text.is_ascii());
            let is_sign = |text: &str| !text.contains(char::is_alphabetic);
            let is_pair = x != y && (is_code(x) != is_code(y) || is_sign(x) != is_sign(y));
            if of_x == of_y && (is_named || is_pair) {
                return Some(Finding::new(Kind::Choice, SAME_OTHERWISE, "the same in another writing"));
            }
            if is_named {
                return Some(Finding::new(Kind::Choice, NOTHING, "another one"));
            }
        } else if is_named && x != y && x.len() <= 3 && y.len() <= 3 {
            return Some(Finding::new(Kind::Choice, NOTHING, "another code"));
        }
    }
    let language =
        |text: &str| lexicon::LANGUAGES.iter().position(|names| names.split(", ").any(|name| name == text));
    let is_code = |text: &str| text.len() <= 3;
    if x != y && is_code(x) != is_code(y) && language(x).is_some_and(|found| language(y) == Some(found)) {
        return Some(Finding::new(Kind::Choice, SAME_OTHERWISE, "a language and its code"));
    }
    None
}

/// Compares an airport's code with its name.
pub(super) fn airports(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let is_code = |text: &str| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    // A code of three letters may be a word elsewhere.
    let is_airport = name.is_place() || name.is_airport();
    if !is_airport || is_code(a) == is_code(b) || a.len().max(b.len()) > 2 * LONGEST {
        return None;
    }
    let of = |text: &str| {
        let folded = fold(text);
        let plain =
            ["international", "intl", "airport"].iter().fold(folded, |text, word| text.replace(word, ""));
        let plain = plain
            .split(['(', ','])
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        AIRPORTS.get(plain.as_str()).copied()
    };
    let code = if is_code(a) { a } else { b };
    let other = if is_code(a) { b } else { a };
    // `Heathrow (LHR)`.
    let is_said = other.split(|c: char| !c.is_alphanumeric()).any(|word| word == code.to_uppercase());
    let is_same = is_said || of(a)? == of(b)?;
    let (score, reason) =
        if is_same { (0.93, "an airport and its code") } else { (NOTHING, "another airport") };
    Some(Finding::new(Kind::Place, score, reason))
}

/// Abbreviations of time zones: the zone that is usually meant, and minutes ahead of UTC.
const ABBREVIATIONS: &[(&str, &str, i64)] = &[
    ("est", "america/new_york", -300),
    ("edt", "america/new_york", -240),
    ("et", "america/new_york", 0),
    ("eastern time", "america/new_york", 0),
    ("cst", "america/chicago", -360),
    ("cdt", "america/chicago", -300),
    ("central time", "america/chicago", 0),
    ("mst", "america/denver", -420),
    ("mdt", "america/denver", -360),
    ("mountain time", "america/denver", 0),
    ("pst", "america/los_angeles", -480),
    ("pdt", "america/los_angeles", -420),
    ("pt", "america/los_angeles", 0),
    ("pacific time", "america/los_angeles", 0),
    ("akst", "america/anchorage", -540),
    ("hst", "pacific/honolulu", -600),
    ("bst", "europe/london", 60),
    ("wet", "europe/lisbon", 0),
    ("cet", "europe/berlin", 60),
    ("cest", "europe/berlin", 120),
    ("eet", "europe/helsinki", 120),
    ("eest", "europe/helsinki", 180),
    ("msk", "europe/moscow", 180),
    ("ist", "asia/kolkata", 330),
    ("sgt", "asia/singapore", 480),
    ("hkt", "asia/hong_kong", 480),
    ("kst", "asia/seoul", 540),
    ("jst", "asia/tokyo", 540),
    ("aest", "australia/sydney", 600),
    ("aedt", "australia/sydney", 660),
    ("nzst", "pacific/auckland", 720),
];

/// Minutes ahead of UTC of an abbreviation that names an offset.
pub(super) fn zone_offset(word: &str) -> Option<i64> {
    let found = ABBREVIATIONS.iter().find(|(short, ..)| *short == word)?;
    (found.2 != 0).then_some(found.2)
}

fn time_zones(a: &str, b: &str, is_named: bool) -> Option<Finding> {
    let tidy = |text: &str| text.replace(' ', "_");
    let known = |text: &str| TIME_ZONES.get(text).or_else(|| TIME_ZONES.get(tidy(text).as_str())).copied();
    let short = |text: &str| ABBREVIATIONS.iter().find(|(short, ..)| *short == text);
    let is_zone = |text: &str| {
        known(text).is_some() || short(text).is_some() || offset(text).is_some() || is_area(text)
    };
    if !is_zone(a) || !is_zone(b) {
        return None;
    }
    let (same, close, other) = (
        Finding::new(Kind::Choice, SAME_OTHERWISE, "the same time zone"),
        Finding::new(Kind::Choice, 0.7, "a time zone and its abbreviation"),
        Finding::new(Kind::Choice, NOTHING, "another time zone"),
    );
    // The zone of UTC is the offset of nothing.
    let utc = known("utc");
    let minutes = |text: &str| {
        let of_utc = known(text).filter(|zone| Some(*zone) == utc).map(|_| 0);
        of_utc.or_else(|| offset(text)).or_else(|| zone_offset(text))
    };
    if tidy(a) == tidy(b) {
        return Some(same);
    }
    if let (Some(x), Some(y)) = (minutes(a), minutes(b)) {
        return Some(if x == y { same } else { other });
    }
    if known(a).is_some() && known(a) == known(b) {
        return Some(same);
    }
    let zone = |text: &str| short(text).map_or_else(|| tidy(text), |found| found.1.to_owned());
    let (x, y) = (zone(a), zone(b));
    if x == y || (known(&x).is_some() && known(&x) == known(&y)) {
        return Some(close);
    }
    // Part of the name of another zone.
    let city = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
    is_named.then_some(if city(&x) == city(&y) { close } else { other })
}

/// A zone as the tz database names it.
fn is_area(text: &str) -> bool {
    const AREAS: &[&str] = &[
        "africa",
        "america",
        "antarctica",
        "arctic",
        "asia",
        "atlantic",
        "australia",
        "europe",
        "indian",
        "pacific",
        "us",
        "canada",
        "etc",
        "brazil",
        "chile",
        "mexico",
    ];
    text.split_once('/').is_some_and(|(area, _)| AREAS.contains(&area))
}

/// Minutes ahead of UTC of `UTC+2`, `GMT-05:30`, `+0200`, and of `Etc/GMT-2`, whose sign is turned round.
fn offset(text: &str) -> Option<i64> {
    let (rest, turn) = match text.strip_prefix("etc/gmt") {
        Some(rest) => (rest, -1),
        None => (text.strip_prefix("utc").or_else(|| text.strip_prefix("gmt")).unwrap_or(text).trim(), 1),
    };
    let (sign, rest) = match rest.split_at_checked(1)? {
        ("+", rest) => (1, rest.trim()),
        ("-", rest) => (-1, rest.trim()),
        _ => return None,
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None if rest.len() == 4 => rest.split_at_checked(2)?,
        None => (rest, "0"),
    };
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    ((0..=14).contains(&hours) && (0..60).contains(&minutes)).then_some(turn * sign * (hours * 60 + minutes))
}

/// Months in German, French, Spanish, Italian, Portuguese and Dutch.
const FOREIGN_MONTHS: [&str; 12] = [
    "januar janner janvier enero gennaio janeiro januari",
    "februar fevrier febrero febbraio fevereiro februari",
    "marz mars marzo marco maart",
    "avril abril aprile",
    "mai mayo maggio maio mei",
    "juni juin junio giugno junho",
    "juli juillet julio luglio julho",
    "aout agosto augustus",
    "septembre septiembre settembre setembro",
    "oktober octobre octubre ottobre outubro",
    "novembre noviembre novembro",
    "dezember decembre diciembre dicembre dezembro",
];

/// The place of a month in the year, by its name in another language, folded.
pub(super) fn foreign_month(word: &str) -> Option<usize> {
    FOREIGN_MONTHS.iter().position(|names| names.split(' ').any(|name| name == word))
}

/// The month that a name, its beginning or a number is.
pub(super) fn month(text: &str) -> Option<usize> {
    if text.len() > 12 {
        return None;
    }
    let text = fold(text);
    let text = text.trim_end_matches('.');
    if let Ok(number) = text.parse::<usize>() {
        return (1..=12).contains(&number).then_some(number);
    }
    if let Some(found) = foreign_month(text) {
        return Some(found + 1);
    }
    let found = MONTHS.iter().position(|name| text.len() >= 3 && name.starts_with(text))?;
    (text.len() <= 4 || text == MONTHS[found]).then_some(found + 1)
}

/// The day of the week that a name or its beginning is.
pub(super) fn weekday(text: &str) -> Option<usize> {
    if text.len() > 12 {
        return None;
    }
    let text = fold(text);
    let text = text.trim_end_matches('.');
    (text.len() >= 3).then(|| WEEKDAYS.iter().position(|name| name.starts_with(text)))?
}
