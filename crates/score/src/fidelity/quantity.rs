//! Numbers with units, and durations: compared in one unit.

use std::borrow::Cow;

use super::constants::{NOTHING, RELATIVE_DIFFERENCE, SAME_OTHERWISE, UNIT_SAID_ONCE, on_log_curve};
use super::name::Name;
use super::text::fold;
pub(super) use super::units::unit;
use super::units::{CURRENCIES_FROM, TEMPERATURE, UNITS, named};
use super::{Finding, Kind, iso, number};

/// Longer texts are none.
const LONGEST: usize = 64;

/// Degrees Celsius that a conversion in whole degrees is off at most.
const ROUNDED_DEGREES: f64 = 0.6;

/// What a text measures, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Quantity {
    /// A place in the table of units, [`TEMPERATURE`], or a currency.
    dimension: usize,
    /// In the first unit.
    amount: f64,
    /// How many of the first unit its own is, where it has one only.
    factor: Option<f64>,
}

/// Compares two texts if both are quantities, or one of them is and the other a number.
pub(super) fn compare(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let has_digit = |text: &str| text.len() <= LONGEST && text.bytes().any(|byte| byte.is_ascii_digit());
    if !has_digit(a) || !has_digit(b) {
        return None;
    }
    let (x, y) = (readings(a), readings(b));
    match (x[0], y[0]) {
        (Some(_), Some(_)) => Some(best(&x, &y)),
        (Some(_), None) => beside(name, &x, a, b),
        (None, Some(_)) => beside(name, &y, b, a),
        (None, None) => {
            // `00:02:00` beside the number of its seconds.
            let (clock_of, number) = if a.contains(':') { (a, b) } else { (b, a) };
            let (dimension, factor) = name.unit().filter(|unit| is_time(unit.0))?;
            let amount = number::in_text(number)? * factor;
            let number = Quantity { dimension, amount, factor: Some(factor) };
            Some(best(&[Some(number), None], &clock(dimension, clock_of)?))
        }
    }
}

fn is_time(dimension: usize) -> bool {
    UNITS.get(dimension).is_some_and(|unit| unit.0 == "time")
}

type Readings = [Option<Quantity>; 2];

/// The comparison of the readings that fit best: `m` is metres or minutes.
fn best(a: &Readings, b: &Readings) -> Finding {
    let pairs = a.iter().flatten().flat_map(|x| b.iter().flatten().map(move |y| (x, y)));
    let found = pairs.filter(|(x, y)| x.dimension == y.dimension).map(|(x, y)| values(x, y));
    let found = found.reduce(|best, other| if other.score > best.score { other } else { best });
    found.unwrap_or_else(|| Finding::new(Kind::Quantity, NOTHING, "measures something else"))
}

fn values(a: &Quantity, b: &Quantity) -> Finding {
    let (same, other) = ("the same in another unit or writing", "another quantity");
    if a.dimension == TEMPERATURE {
        let apart = (a.amount - b.amount).abs();
        let is_converted = a.factor != b.factor;
        return match apart {
            _ if apart < 0.01 => Finding::new(Kind::Quantity, SAME_OTHERWISE, same),
            _ if is_converted && apart < ROUNDED_DEGREES => {
                Finding::new(Kind::Quantity, 0.8, "differs by rounding")
            }
            _ => Finding::new(Kind::Quantity, NOTHING, other),
        };
    }
    let larger = a.amount.abs().max(b.amount.abs());
    let relative = if larger > 0.0 { (a.amount - b.amount).abs() / larger } else { 0.0 };
    // A conversion is right to some six digits.
    if relative < 1e-5 {
        return Finding::new(Kind::Quantity, SAME_OTHERWISE, same);
    }
    if a.amount * b.amount < 0.0 {
        return Finding::new(Kind::Quantity, NOTHING, "the sign differs");
    }
    // In one unit they are numbers, of which one may be rounded.
    if let (Some(factor), true) = (a.factor, a.factor == b.factor) {
        let found = number::numbers(a.amount / factor, b.amount / factor, false, false);
        return Finding::new(Kind::Quantity, found.score, found.reason);
    }
    let score = on_log_curve(&RELATIVE_DIFFERENCE, relative);
    Finding::new(Kind::Quantity, score, if relative < 0.01 { "differs by rounding" } else { other })
}

/// A quantity beside a text that is none: a share, a number whose unit is known from the argument's name, or a clock.
fn beside(name: &Name, quantity: &Readings, text: &str, other: &str) -> Option<Finding> {
    let is_of_time = |reading: &&Quantity| is_time(reading.dimension);
    if other.contains(':') {
        let time = quantity.iter().flatten().find(is_of_time)?;
        return clock(time.dimension, other).map(|clock| best(&[Some(*time), None], &clock));
    }
    let other = number::in_text(other)?;
    if text.trim_end().ends_with(['%', '％']) {
        return quantity[0].map(|share| shares(share.amount, other));
    }
    let said = name.unit();
    if let Some((dimension, factor)) = said.or_else(|| name.usual_unit(other)) {
        let other = Quantity { dimension, amount: other * factor, factor: Some(factor) };
        if let Some(reading) = quantity.iter().flatten().find(|reading| reading.dimension == dimension) {
            return Some(values(reading, &other));
        }
        if said.is_some() {
            return Some(Finding::new(Kind::Quantity, NOTHING, "another unit"));
        }
    }
    // The unit may be known from elsewhere.
    let is_same = |reading: &Quantity| {
        let amount = reading.factor.map_or(reading.amount, |factor| reading.amount / factor);
        // Durations are counted in seconds, and files in bytes.
        let is_data = UNITS.get(reading.dimension).is_some_and(|unit| unit.0 == "data");
        let in_first = if is_of_time(&reading) || is_data { reading.amount } else { amount };
        [amount, in_first].iter().any(|amount| (amount - other).abs() <= 1e-9 * other.abs())
    };
    let is_same = quantity.iter().flatten().any(is_same);
    let (score, reason) =
        if is_same { (UNIT_SAID_ONCE, "the unit is said only once") } else { (NOTHING, "another quantity") };
    Some(Finding::new(Kind::Quantity, score, reason))
}

/// A share said in percent beside a number, which is the share itself or the percent without their sign.
fn shares(share: f64, number: f64) -> Finding {
    let is_near = |x: f64, y: f64| (x - y).abs() <= 1e-9 * x.abs().max(y.abs());
    let (score, reason) = if is_near(share, number) {
        (SAME_OTHERWISE, "the same share")
    } else if number > 1.0 && is_near(share * 100.0, number) {
        (0.9, "the same percentage")
    } else {
        (NOTHING, "another share")
    };
    Finding::new(Kind::Quantity, score, reason)
}

/// Hours, minutes and seconds; of two numbers hours and minutes or minutes and seconds.
fn clock(dimension: usize, text: &str) -> Option<Readings> {
    let parts = text.trim().split(':').map(|part| {
        let is_number = !part.is_empty() && part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { part.parse::<f64>().ok() } else { None }
    });
    let of = |amount: f64| Some(Quantity { dimension, amount, factor: None });
    match parts.collect::<Option<Vec<f64>>>()?[..] {
        [hours, minutes, seconds] => Some([of(hours * 3600.0 + minutes * 60.0 + seconds), None]),
        [first, second] => Some([of(first * 3600.0 + second * 60.0), of(first * 60.0 + second)]),
        _ => None,
    }
}

/// What a number in a unit is in the first unit of what it measures, if the unit is known.
pub(super) fn measured(amount: f64, name: &str) -> Option<(usize, f64)> {
    if name.len() > LONGEST {
        return None;
    }
    let (dimension, factor, zero) = named(&fold(name), false)?;
    Some((dimension, amount * factor + zero))
}

/// The unit that the description of an argument tells, `Timeout in seconds` or `Width (cm)`, if it tells one only.
pub(super) fn told(description: &str) -> Option<(usize, f64)> {
    let start = &description[..description.floor_char_boundary(MOST_DESCRIBED)];
    let words: Vec<&str> = start.split_whitespace().collect();
    let mut found = None;
    for (at, word) in words.iter().enumerate() {
        let is_after_in = at > 0 && words[at - 1].eq_ignore_ascii_case("in");
        let is_in_brackets = word.starts_with('(') && word.trim_end_matches(['.', ',']).ends_with(')');
        let plain = word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        // `in second place`.
        let is_unit = (plain.len() > 3 && plain.ends_with('s')) || SHORT_UNITS.contains(&plain.as_str());
        if !(is_after_in || is_in_brackets) || !is_unit {
            continue;
        }
        let Some(unit) = measured(1.0, &plain) else { continue };
        // What has another zero is no factor; `in seconds or minutes` tells nothing.
        let has_zero = measured(0.0, &plain).is_some_and(|zero| zero.1 == 0.0);
        if !has_zero || found.is_some_and(|known| known != unit) || words.get(at + 1) == Some(&"or") {
            return None;
        }
        found = Some(unit);
    }
    found
}

/// How much of a description is read for its unit, in bytes.
const MOST_DESCRIBED: usize = 400;

/// Units that descriptions name and that end like no plural.
const SHORT_UNITS: &[&str] = &["feet", "cm", "mm", "km", "kg", "mg", "ms", "lb", "oz", "ml", "kb", "mb"];

/// Compares two names of units if both are known.
pub(super) fn units(a: &str, b: &str) -> Option<Finding> {
    let (x, y) = (measured(1.0, a)?, measured(1.0, b)?);
    let (score, reason) = if x == y { (SAME_OTHERWISE, "the same unit") } else { (NOTHING, "another unit") };
    Some(Finding::new(Kind::Choice, score, reason))
}

/// The readings of a text: `1h30m`, `90 min`, `2.5 km`, `PT1H30M`, `$5`, `25 %`, `20 °C`, `5'11"`.
fn readings(text: &str) -> Readings {
    let folded = fold(text).replace('−', "-");
    let folded = folded.trim();
    if let Some(quantity) = iso_duration(folded) {
        return [Some(quantity), None];
    }
    let plain = number::without_thousands(&without_fraction(folded));
    let first = money(folded).or_else(|| parts(&plain, false));
    let is_ambiguous =
        plain.bytes().any(|byte| byte == b'm') && first.is_none_or(|first| first.dimension == 0);
    let second = if is_ambiguous { parts(&plain, true) } else { None };
    if first.is_some() { [first, second.filter(|_| first != second)] } else { [second, None] }
}

/// `1 1/2 cups` with its number in digits.
fn without_fraction(text: &str) -> Cow<'_, str> {
    let end = text.find(char::is_alphabetic).unwrap_or(text.len());
    if !text[..end].contains('/') {
        return text.into();
    }
    match number::written(&text[..end]) {
        Some(amount) => format!("{amount} {}", &text[end..]).into(),
        None => text.into(),
    }
}

/// `P1DT2H30M`, `PT90M`, `P2W`.
fn iso_duration(text: &str) -> Option<Quantity> {
    let mut rest = text.strip_prefix('p')?;
    if !rest.starts_with(|c: char| c.is_ascii_digit() || c == 't') {
        return None;
    }
    let (mut seconds, mut months, mut is_of_day) = (0.0, 0.0, false);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('t') {
            (rest, is_of_day) = (after, true);
            continue;
        }
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let amount: f64 = rest[..end].parse().ok()?;
        match (rest[end..].chars().next()?, is_of_day) {
            ('y', false) => months += 12.0 * amount,
            ('m', false) => months += amount,
            ('w', false) => seconds += 604_800.0 * amount,
            ('d', false) => seconds += 86_400.0 * amount,
            ('h', true) => seconds += 3600.0 * amount,
            ('m', true) => seconds += 60.0 * amount,
            ('s', true) => seconds += amount,
            _ => return None,
        }
        rest = &rest[end + 1..];
    }
    let (name, amount) = match (months > 0.0, seconds > 0.0) {
        (true, false) => ("months", months),
        (false, _) => ("time", seconds),
        (true, true) => return None,
    };
    let dimension = UNITS.iter().position(|(known, _)| *known == name)?;
    Some(Quantity { dimension, amount, factor: None })
}

/// `$5`, `US$ 1,200.50`, `300 USD`, `₹4,000`, `€1.5M`.
fn money(text: &str) -> Option<Quantity> {
    let is_of_amount = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-');
    let of = |sign: &str, amount: &str| {
        let sign = sign.trim();
        // Longer names are found among the units.
        let is_sign = !sign.is_ascii() || sign.contains('$') || sign.len() == 3;
        let currency = iso::currency(sign).filter(|_| is_sign)?;
        let amount = number::in_text(amount).or_else(|| number::written(amount))?;
        Some(Quantity { dimension: CURRENCIES_FROM + currency, amount, factor: Some(1.0) })
    };
    if !text.starts_with(is_of_amount) {
        let start = text.find(is_of_amount)?;
        return of(&text[..start], &text[start..]);
    }
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    of(&text[end..], &text[..end]).or_else(|| {
        let (amount, sign) = text.rsplit_once(' ')?;
        of(sign, amount)
    })
}

/// One or more numbers, each with its unit, of one dimension.
fn parts(text: &str, m_is_minutes: bool) -> Option<Quantity> {
    let (mut sum, mut dimension, mut factor, mut count, mut rest) = (0.0, None, None, 0, text);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(rest.len());
        let amount: f64 = rest[..end].parse().ok()?;
        let after = rest[end..].trim_start_matches([' ', '-']);
        let is_of_name = |c: char| c.is_alphabetic() || matches!(c, '°' | '/');
        let mut end = after.find(|c: char| !is_of_name(c)).unwrap_or(after.len());
        // `degrees Celsius`, `m2`.
        if after.starts_with("deg") && after[end..].starts_with(' ') {
            let more = &after[end + 1..];
            end += 1 + more.find(|c: char| !c.is_alphabetic()).unwrap_or(more.len());
        } else if after[end..].starts_with('2') && end > 0 {
            end += 1;
        }
        let (name, end) = match after.chars().next()? {
            '%' | '％' => ("percent", after.chars().next()?.len_utf8()),
            '\'' | '"' => (&after[..1], 1),
            _ => (&after[..end], end),
        };
        // After hours and a number, `m` is minutes.
        let is_time = m_is_minutes || count > 0 || text.contains('h') && !text.contains('/');
        let (found, of, zero) = named(name, is_time)?;
        if dimension.is_some_and(|dimension| dimension != found) {
            return None;
        }
        dimension = Some(found);
        factor = Some(of);
        sum += amount * of + zero;
        count += 1;
        rest = after[end..].trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    Some(Quantity { dimension: dimension?, amount: sum, factor: factor.filter(|_| count == 1) })
}
