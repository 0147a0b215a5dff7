//! Names and codes that a standard lists: countries, states, currencies, languages, time zones, airports, companies.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::constants::{NOTHING, SAME_OTHERWISE};
use super::super::language::{fold, lexicon};
use super::super::name::Name;
use super::super::{Finding, Kind};
use super::{ArgumentContext, Values};

/// The most bytes of a text that is looked up in the tables.
const LONGEST: usize = 96;

/// A map from each name to the line of the table that it stands in.
type Table = LazyLock<HashMap<&'static str, usize>>;

/// Codes and names of ISO 3166, with other names in use.
static COUNTRIES: Table = LazyLock::new(|| table(include_str!("../tables/countries.txt")));

/// States and provinces of the countries whose states are called by a code.
static STATES: Table = LazyLock::new(|| table(include_str!("../tables/states.txt")));

/// Codes and names of ISO 4217, with signs and other names in use.
static CURRENCIES: Table = LazyLock::new(|| table(include_str!("../tables/currencies.txt")));

/// Codes of ISO 639 and names of languages, also in the languages themselves.
static LANGUAGES: Table = LazyLock::new(|| table(include_str!("../tables/languages.txt")));

/// Time zones with their former names: the links of the tz database (`backward` of 2025b, in the public domain).
static TIME_ZONES: Table = LazyLock::new(|| table(include_str!("../tables/time_zones.txt")));

/// Large airports by their codes of IATA.
static AIRPORTS: Table = LazyLock::new(|| table(include_str!("../tables/airports.txt")));

/// Companies of large indices by their tickers (names and symbols of `pytickersymbols` 1.17, MIT).
static COMPANIES: Table = LazyLock::new(|| table(include_str!("../tables/companies.txt")));

/// Abbreviations of time zones: the zone that is usually meant, and minutes ahead of UTC, `-` where it has two offsets.
static ABBREVIATIONS: LazyLock<HashMap<&str, (&str, Option<i64>)>> = LazyLock::new(|| {
    let lines = include_str!("../tables/zone_abbreviations.txt").lines();
    let parts = lines.filter_map(|line| {
        let (short, rest) = line.split_once('|')?;
        let (zone, minutes) = rest.split_once('|')?;
        Some((short, (zone, minutes.parse().ok())))
    });
    parts.collect()
});

fn table(text: &'static str) -> HashMap<&'static str, usize> {
    let lines = text.lines().enumerate();
    lines.flat_map(|(line, names)| names.split('|').map(move |name| (name, line))).collect()
}

/// The line of the table with this code, sign or name of a currency; all names of one currency are in one line.
pub(super) fn currency(text: &str) -> Option<usize> {
    CURRENCIES.get(text).copied()
}

/// Minutes ahead of UTC of an abbreviation that names an offset.
pub(super) fn zone_offset(word: &str) -> Option<i64> {
    ABBREVIATIONS.get(word)?.1
}

/// Compares two names that a standard may list. Where the argument's name says which standard it is, different entries
/// of its table are different values. Elsewhere names are recognized by their form alone, as a code beside its name is.
pub(super) fn compare(context: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.texts.as_ref()?;
    if a.len().max(b.len()) > LONGEST {
        return None;
    }
    let name = &context.name;
    let (x, y) = (without_points(&fold(a)), without_points(&fold(b)));
    let (x, y) = (x.trim(), y.trim());
    // Both signs separate a language from its region.
    if x.replace('_', "-") == y.replace('_', "-") && name.is_of("languages") {
        return Some(Finding::new(Kind::Standard, SAME_OTHERWISE, "the same in another writing"));
    }
    if (name.is_time_zone() || (x.contains('/') && y.contains('/')))
        && let Some(finding) = time_zones(x, y, name.is_time_zone())
    {
        return Some(finding);
    }
    let is_language = name.is_of("languages");
    let tables: [(bool, &Table); 4] = [
        (name.is_of("currencies"), &CURRENCIES),
        (name.is_of("states"), &STATES),
        (name.is_of("regions") && !is_language, &COUNTRIES),
        (is_language, &LANGUAGES),
    ];
    // Two codes of one country: `KE` and `KEN`.
    let is_capital = |text: &str| text.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_country = |text: &str| COUNTRIES.get(text).filter(|_| name.is_of("codes"));
    let are_codes = is_capital(a) && is_capital(b) && x.len().abs_diff(y.len()) == 1;
    if are_codes && is_country(x).is_some_and(|country| is_country(y) == Some(country)) {
        return Some(Finding::new(Kind::Standard, SAME_OTHERWISE, "two codes of one country"));
    }
    let finding = tables.iter().find_map(|(is_named, table)| entries(table, [x, y], *is_named, is_language));
    finding
        .or_else(|| airports(name, a, b))
        .or_else(|| airports_in_words(a, b))
        .or_else(|| companies(name, a, b))
}

/// Compares two entries of a table; `is_named` where the argument's name says that they are in it.
fn entries(table: &Table, [x, y]: [&str; 2], is_named: bool, is_language: bool) -> Option<Finding> {
    // `en-US` is English, as it is spoken in the United States.
    let language = |text: &str| table.get(text.split(['-', '_']).next()?);
    let base = |text: &str| table.get(text).or_else(|| language(text).filter(|_| is_language)).copied();
    let finding = |score: f64, reason: &'static str| Some(Finding::new(Kind::Standard, score, reason));
    if is_named {
        let (of_x, of_y) = (base(x), base(y));
        let has_region = |text: &str| !table.contains_key(text);
        return match (of_x, of_y) {
            (Some(of_x), Some(of_y)) if of_x != of_y => finding(NOTHING, "another one"),
            (Some(_), Some(_)) if has_region(x) && has_region(y) && x != y => {
                finding(0.4, "the same, of another region")
            }
            (Some(_), Some(_)) if has_region(x) != has_region(y) => {
                finding(0.92, "the same, the region said once")
            }
            (Some(_), Some(_)) => finding(SAME_OTHERWISE, "the same in another writing"),
            _ if x != y && x.len() <= 3 && y.len() <= 3 => finding(NOTHING, "another code"),
            _ => None,
        };
    }
    let is_code = |text: &str| text.len() <= 3 || !text.is_ascii();
    let is_pair = x != y && is_code(x) != is_code(y) && table.get(x)? == table.get(y)?;
    if is_pair { finding(SAME_OTHERWISE, "a name and its code") } else { None }
}

/// Removes the points of initials: `U.S.A.`
fn without_points(text: &str) -> String {
    let is_of_initials = text.contains('.') && text.split('.').all(|part| part.trim().len() <= 1);
    if is_of_initials { text.replace(['.', ' '], "") } else { text.to_owned() }
}

/// Compares a company's ticker with its name.
fn companies(name: &Name, a: &str, b: &str) -> Option<Finding> {
    // A ticker is in capitals: in small letters it may be a word.
    let is_ticker =
        |text: &str| text.len() <= 5 && text.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9'));
    if is_ticker(a) == is_ticker(b) {
        return None;
    }
    let of = |text: &str| {
        let folded = fold(text);
        let mut words: Vec<&str> = folded.split(' ').map(|word| word.trim_matches(['.', ','])).collect();
        while words.len() > 1 && words.last().is_some_and(|word| lexicon::LEGAL_FORMS.contains_key(*word)) {
            words.pop();
        }
        COMPANIES.get(words.join(" ").as_str()).copied()
    };
    let (score, reason) = match of(a)? == of(b)? {
        true => (SAME_OTHERWISE, "a company and its ticker"),
        false if name.is_of("companies") => (NOTHING, "another company"),
        false => return None,
    };
    Some(Finding::new(Kind::Standard, score, reason))
}

/// Compares an airport's code with its name.
fn airports(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let is_code = |text: &str| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    // A code of three letters may be a word elsewhere.
    if !(name.is_of("places") || name.is_of("airports")) || is_code(a) == is_code(b) {
        return None;
    }
    let of = |text: &str| {
        let folded = fold(text);
        let is_said = |word: &&str| !["international", "intl", "airport"].contains(word);
        let first = folded.split(['(', ',']).next().unwrap_or_default();
        AIRPORTS.get(first.split_whitespace().filter(is_said).collect::<Vec<_>>().join(" ").as_str()).copied()
    };
    let (code, other) = if is_code(a) { (a, b) } else { (b, a) };
    // The name may have the code beside it: `Heathrow (LHR)`.
    let is_said = other.split(|c: char| !c.is_alphanumeric()).any(|word| word == code.to_uppercase());
    let is_same = is_said || of(a)? == of(b)?;
    let (score, reason) =
        if is_same { (0.93, "an airport and its code") } else { (NOTHING, "another airport") };
    Some(Finding::new(Kind::Standard, score, reason))
}

/// Compares two names of airports that contain `airport`, each with or without its code: `Heathrow Airport (LHR)`.
fn airports_in_words(a: &str, b: &str) -> Option<Finding> {
    let ((words, code), (other_words, other_code)) = (airport_parts(a)?, airport_parts(b)?);
    let (score, reason) = match (code, other_code) {
        (Some(code), Some(other)) if code != other => (NOTHING, "another airport"),
        _ if words == other_words => (SAME_OTHERWISE, "the same airport in another writing"),
        _ => return None,
    };
    Some(Finding::new(Kind::Standard, score, reason))
}

/// The words of an airport in small letters, and its code at their end; `None` where they do not name an airport.
fn airport_parts(text: &str) -> Option<(Vec<String>, Option<&str>)> {
    let is_code = |word: &str| word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let code = words.pop_if(|word| is_code(word));
    let words: Vec<String> = words.into_iter().map(fold).collect();
    // `airport` alone names no airport.
    let is_named = words.iter().any(|word| !["airport", "international", "intl", "the"].contains(&&**word));
    (is_named && words.iter().any(|word| word == "airport")).then_some((words, code))
}

/// Compares two time zones by their names, former names, abbreviations or offsets; `is_named` where the argument's name
/// says that they are time zones.
fn time_zones(a: &str, b: &str, is_named: bool) -> Option<Finding> {
    let tidy = |text: &str| {
        let tidy = text.replace(' ', "_");
        ABBREVIATIONS.get(text).map_or(tidy, |found| found.0.to_owned())
    };
    let known = |text: &str| TIME_ZONES.get(text).copied();
    let minutes = |text: &str| match known(text) {
        // The zone UTC is the offset 0.
        Some(zone) if Some(zone) == known("utc") => Some(0),
        _ => offset(text).or_else(|| zone_offset(text)),
    };
    let (x, y) = (tidy(a), tidy(b));
    let is_zone = |text: &str, tidy: &str| {
        known(tidy).is_some() || minutes(text).is_some() || is_named && tidy.contains('/')
    };
    if !is_zone(a, &x) || !is_zone(b, &y) {
        return None;
    }
    let finding = |score: f64, reason: &'static str| Some(Finding::new(Kind::Standard, score, reason));
    if let (Some(x), Some(y)) = (minutes(a), minutes(b)) {
        let reasons = ["the same time zone", "another time zone"];
        return Some(Finding::same_or_not(Kind::Standard, x == y, reasons));
    }
    if x == y || known(&x).is_some() && known(&x) == known(&y) {
        let is_short = [a, b].iter().any(|text| ABBREVIATIONS.contains_key(text));
        return if is_short {
            finding(0.7, "a time zone and its abbreviation")
        } else {
            finding(SAME_OTHERWISE, "the same time zone")
        };
    }
    if is_named { finding(NOTHING, "another time zone") } else { None }
}

/// Minutes ahead of UTC of `UTC+2`, `GMT-05:30`, `UTC4:30`, `+0200`.
fn offset(text: &str) -> Option<i64> {
    let after_utc = text.strip_prefix("utc").or_else(|| text.strip_prefix("gmt"));
    let bare = after_utc.unwrap_or(text).trim();
    let (sign, rest) = match (bare.strip_prefix(['+', '±']), bare.strip_prefix('-')) {
        (Some(rest), _) => (1, rest.trim()),
        (_, Some(rest)) => (-1, rest.trim()),
        _ if after_utc.is_some() => (1, bare),
        _ => return None,
    };
    let rest = rest.trim_end_matches('h');
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None if rest.len() == 4 => rest.split_at_checked(2)?,
        None => (rest, "0"),
    };
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    ((0..=14).contains(&hours) && (0..60).contains(&minutes)).then_some(sign * (hours * 60 + minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_beside_its_airport_says_nothing_more() {
        let score = |a: &str, b: &str| airports_in_words(a, b).map(|finding| finding.score);
        assert_eq!(score("Flesland Airport", "Flesland airport (BGO)"), Some(SAME_OTHERWISE));
        assert_eq!(score("Bergen Airport BGO", "Bergen Airport, OSL"), Some(NOTHING));
        assert_eq!(score("Bergen Airport", "Oslo Airport OSL"), None);
        assert_eq!(score("Bergen BGO", "Bergen"), None);
        assert_eq!(score("airport", "airport OSL"), None);
    }

    #[test]
    fn tables_are_folded_and_name_nothing_twice() {
        for text in [
            include_str!("../tables/countries.txt"),
            include_str!("../tables/states.txt"),
            include_str!("../tables/currencies.txt"),
            include_str!("../tables/languages.txt"),
            include_str!("../tables/time_zones.txt"),
            include_str!("../tables/airports.txt"),
            include_str!("../tables/companies.txt"),
        ] {
            let names: Vec<&str> = text.lines().flat_map(|line| line.split('|')).collect();
            assert_eq!(table(text).len(), names.len());
            for name in names {
                assert_eq!(fold(name), name);
            }
        }
    }
}
