//! Numbers, degrees, and sides of boxes.

use std::borrow::Cow;

use m3_trajectory::json::Json;

use super::constants::{
    BOX_SHIFT, DEGREES, LEAST_DIGITS, LEAST_MEASURE, NOTHING, OTHER_COUNT, RELATIVE_DIFFERENCE,
    SAME_OTHERWISE, UNROUNDED, on_curve, on_log_curve,
};
use super::{Finding, Kind};

/// The number that a value is, or that its text says.
pub(super) fn of(value: &Json) -> Option<f64> {
    let number = match value {
        #[expect(clippy::cast_precision_loss, reason = "differences this small make no other number")]
        Json::Integer(value) => *value as f64,
        Json::LongInteger(digits) => digits.parse().ok()?,
        Json::Float(value) => *value,
        Json::String(text) => in_text(text)?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// A number that is all of a text, with or without separators of thousands.
pub(super) fn in_text(text: &str) -> Option<f64> {
    let text = text.trim();
    let text =
        &*if text.starts_with('−') { text.replacen('−', "-", 1).into() } else { Cow::Borrowed(text) };
    if text.is_empty()
        || text.len() > 40
        || text.bytes().any(|byte| byte.is_ascii_alphabetic() && byte != b'e' && byte != b'E')
    {
        return None;
    }
    let plain = without_thousands(text);
    plain.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// `1,234,567.8` without its commas; anything else as it is.
pub(super) fn without_thousands(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').map_or((text, ""), |(whole, fraction)| (whole, fraction));
    let mut groups = whole.trim_start_matches(['-', '+']).split(',');
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.peekable();
    let is_grouped = rest.peek().is_some()
        && (1..=3).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_digit())
        && !fraction.contains(',')
        && rest.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()));
    if is_grouped { text.replace(',', "") } else { text.to_owned() }
}

/// A number in a writing of people: `1/2`, `1 1/2`, `½`, `10k`, `1.5M`, `2 million`, `6.022 × 10^23`, `3,14`, `1 000`.
pub(super) fn written(text: &str) -> Option<f64> {
    read_written(text).filter(|number| number.is_finite())
}

fn read_written(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_first =
        |c: char| c.is_ascii_digit() || matches!(c, '-' | '−' | '+' | '.' | '¼'..='¾' | '⅓' | '⅔' | '⅛');
    if text.len() > 40 || !text.starts_with(is_first) {
        return None;
    }
    let text = text.replace(['−', '–'], "-");
    if let Some(fraction) = fraction(&text) {
        return Some(fraction);
    }
    if let Some((amount, power)) = ["×10^", "x10^", "*10^", "·10^", "×10**", "*10**", "×10"]
        .iter()
        .find_map(|sign| split_once_unspaced(&text, sign))
    {
        return Some(in_text(&amount)? * 10f64.powi(power.parse().ok()?));
    }
    let end = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |at| at + 1);
    let (amount, suffix) = text.split_at(end);
    let amount = in_text(amount).or_else(|| separated(amount.trim()))?;
    let factor = match suffix.trim() {
        "" | "st" | "nd" | "rd" | "th" => 1.0,
        "hundred" => 100.0,
        "dozen" => 12.0,
        "k" | "K" | "thousand" => 1e3,
        "lakh" => 1e5,
        "M" | "mn" | "mio" | "mln" | "MM" | "million" | "Million" => 1e6,
        "crore" => 1e7,
        "B" | "bn" | "Bn" | "billion" | "Billion" => 1e9,
        "trillion" | "tn" => 1e12,
        _ => return None,
    };
    Some(amount * factor)
}

fn split_once_unspaced(text: &str, sign: &str) -> Option<(String, String)> {
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    let superscript = |c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|raised| raised == c);
    let (amount, power) = text.split_once(sign)?;
    let power = power.chars().map(|c| match superscript(c) {
        Some(digit) => u32::try_from(digit).ok().and_then(|digit| char::from_digit(digit, 10)).unwrap_or(c),
        None if c == '⁻' => '-',
        None => c,
    });
    Some((amount.to_owned(), power.collect()))
}

/// `1/2`, `1 1/2`, `1½`.
fn fraction(text: &str) -> Option<f64> {
    const SIGNS: &[(char, f64)] =
        &[('½', 0.5), ('¼', 0.25), ('¾', 0.75), ('⅓', 1.0 / 3.0), ('⅔', 2.0 / 3.0), ('⅛', 0.125)];
    let whole_and = |whole: &str, part: f64| {
        let (sign, digits) = whole.strip_prefix('-').map_or((1.0, whole), |digits| (-1.0, digits));
        let digits = digits.trim();
        let whole: f64 = if digits.is_empty() { 0.0 } else { digits.parse::<u32>().ok()?.into() };
        Some(sign * (whole + part))
    };
    if let Some((sign, part)) = SIGNS.iter().find(|(sign, _)| text.ends_with(*sign)) {
        return whole_and(text[..text.len() - sign.len_utf8()].trim(), *part);
    }
    let (above, below) = text.split_once('/')?;
    let (whole, above) = above.trim().rsplit_once([' ', '-']).unwrap_or(("", above.trim()));
    let (above, below): (f64, f64) =
        (above.parse::<u32>().ok()?.into(), below.trim().parse::<u32>().ok()?.into());
    let whole = if whole.is_empty() && text.starts_with('-') { "-" } else { whole };
    if below == 0.0 { None } else { whole_and(whole, above / below) }
}

/// Digits in groups with other signs, and with a comma before the fraction: `1 000`, `1'000`, `1,00,000`, `1.234,56`.
fn separated(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_of_number =
        |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ' ' | '\'' | '_' | '\u{a0}' | '\u{202f}');
    if !digits.chars().all(is_of_number) || !digits.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (whole, fraction) = match (digits.rfind(','), digits.rfind('.')) {
        (Some(comma), Some(point)) => (&digits[..comma.max(point)], Some(&digits[comma.max(point) + 1..])),
        // Groups have three digits, so what has not is a fraction.
        (Some(comma), None) if digits.matches(',').count() == 1 && digits.len() - comma != 4 => {
            (&digits[..comma], Some(&digits[comma + 1..]))
        }
        _ => (digits, None),
    };
    let groups: Vec<&str> = whole.split(|c: char| !c.is_ascii_digit()).collect();
    let (first, rest) = groups.split_first()?;
    let (last, middle) = match rest.split_last() {
        Some((last, middle)) => (Some(*last), middle),
        None => (None, rest),
    };
    let is_grouped = (1..=3).contains(&first.len())
        && last.is_none_or(|last| last.len() == 3)
        && (middle.iter().all(|group| group.len() == 3) || middle.iter().all(|group| group.len() == 2));
    if !is_grouped && last.is_some() {
        return None;
    }
    let plain = format!("{}.{}", groups.concat(), fraction.unwrap_or("0"));
    let value: f64 = plain.parse().ok()?;
    Some(if text.starts_with('-') { -value } else { value })
}

/// Compares two numbers. Exact ones are another number with another digit; of others that are no measures, one is the
/// other only if it is the other rounded.
pub(super) fn numbers(x: f64, y: f64, is_exact: bool, is_measure: bool) -> Finding {
    let kind = Kind::Number;
    let larger = x.abs().max(y.abs());
    if (x - y).abs() <= larger * f64::EPSILON {
        return Finding::new(kind, SAME_OTHERWISE, "the same number");
    }
    if x * y < 0.0 {
        return Finding::new(kind, NOTHING, "the sign differs");
    }
    let relative = (x - y).abs() / larger;
    let are_whole = x.fract() == 0.0 && y.fract() == 0.0;
    let are_years = (1800.0..=2100.0).contains(&x) && (1800.0..=2100.0).contains(&y);
    if are_whole && (is_exact || are_years || larger < LEAST_MEASURE) {
        return Finding::new(kind, OTHER_COUNT, "another number");
    }
    let score = on_log_curve(&RELATIVE_DIFFERENCE, relative);
    let digits = if is_measure && !are_whole { 1 } else { LEAST_DIGITS };
    if is_rounded(x, y, digits) {
        return Finding::new(kind, score, "differs by rounding");
    }
    let is_noise = relative < if are_whole { 0.0 } else { UNROUNDED };
    if is_measure || is_noise {
        return Finding::new(kind, score, if relative < 0.01 { "nearly the same" } else { "another number" });
    }
    let reason = if relative > 0.89 { "another order of magnitude" } else { "another number" };
    Finding::new(kind, score.min(OTHER_COUNT), reason)
}

/// Whether one of two numbers is the other with fewer digits, but so many at least.
fn is_rounded(x: f64, y: f64, least_digits: usize) -> bool {
    let ((digits_x, last_x), (digits_y, last_y)) = (digits(x), digits(y));
    if digits_x == digits_y {
        return false;
    }
    let (count, last, more) =
        if digits_x < digits_y { (digits_x, last_x, digits_y) } else { (digits_y, last_y, digits_x) };
    // Two digits of a fraction are enough where many were left out.
    let is_short = count + 1 == least_digits && last < 0 && more > least_digits;
    // Digits that are cut off are as usual as those that are rounded.
    (count >= least_digits || is_short) && (x - y).abs() < 10f64.powi(last)
}

/// How many digits tell a number, and the power of ten of the last of them.
fn digits(number: f64) -> (usize, i32) {
    let written = format!("{number:e}");
    let (digits, power) = written.split_once('e').unwrap_or((&written, "0"));
    let count = digits.bytes().filter(u8::is_ascii_digit).count();
    let power: i32 = power.parse().unwrap_or_default();
    (count, power + 1 - i32::try_from(count).unwrap_or_default())
}

/// Compares two latitudes or two longitudes.
pub(super) fn degrees(x: f64, y: f64) -> Finding {
    let difference = (x - y).abs();
    // The same meridian has two numbers.
    let is_round = difference > 180.0 && x.abs() <= 360.0 && y.abs() <= 360.0;
    let difference = if is_round { (360.0 - difference).abs() } else { difference };
    let reason = if difference < 1e-3 {
        "less than a hundred metres away"
    } else if x * y < 0.0 && (x + y).abs() < 0.01 * x.abs() {
        "the sign differs"
    } else if difference < 1e-2 {
        "about a kilometre away"
    } else {
        "another place"
    };
    Finding::new(Kind::Coordinate, on_log_curve(&DEGREES, difference), reason)
}

/// Compares sides of two boxes of this length.
pub(super) fn box_sides(x: f64, y: f64, span: f64) -> Finding {
    if x * y < 0.0 {
        return Finding::new(Kind::BoxSide, NOTHING, "the sign differs");
    }
    let shift = (x - y).abs() / span;
    let reason = if shift < 0.06 { "nearly the same box" } else { "another box" };
    Finding::new(Kind::BoxSide, on_curve(&BOX_SHIFT, shift), reason)
}

/// Latitude and longitude in one text, `52.08,4.31`.
pub(super) fn pair_of_degrees(text: &str) -> Option<(f64, f64)> {
    let (latitude, longitude) = text.trim().trim_matches(['(', ')', '[', ']']).split_once(',')?;
    let has_point = latitude.contains('.') && longitude.contains('.');
    let (latitude, longitude) = (in_text(latitude)?, in_text(longitude)?);
    (has_point && latitude.abs() <= 180.0 && longitude.abs() <= 180.0).then_some((latitude, longitude))
}
