//! Numbers in any writing, and bounds: `5.0`, `5`, `five`, `10k`, `1 1/2`, `at least 3`.

use std::borrow::Cow;

use m3_trajectory::json::Json;

use super::super::constants::{
    BOX_SHIFT, DEGREES, LEAST_DIGITS, LEAST_MEASURE, NOTHING, OTHER_COUNT, RELATIVE_DIFFERENCE,
    SAME_OTHERWISE, UNROUNDED, on_curve, on_log_curve,
};
use super::super::language::fold;
use super::super::language::numerals::number_in_words;
use super::super::{Finding, Kind};
use super::{ArgumentContext, Values};

/// The reasons for numbers that are the same, and for different ones.
const NUMBER: [&str; 2] = ["the same number", "another number"];

/// The most bytes of a text that says a number, a bound or a range.
const LONGEST: usize = 64;

/// Compares two numbers, also where one of them is written as people do.
pub(super) fn compare(context: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.json;
    let is_endless = |value: &Json| matches!(value, Json::Float(value) if !value.is_finite());
    if is_endless(a) || is_endless(b) {
        return Some(verdict(false, NUMBER));
    }
    let name = &context.name;
    let are_texts = matches!((a, b), (Json::String(_), Json::String(_)));
    if let (Some(x), Some(y)) = (from_json(a), from_json(b)) {
        let is_code = are_texts && (name.is_code() || is_padded(a) || is_padded(b));
        return if is_code { None } else { Some(values_of(context, a, b, x, y)) };
    }
    let [x, y] = values.texts.as_ref()?;
    if let (Some(x), Some(y)) = (bound(x), bound(y)) {
        let is_same = x.0 == y.0 && is_near(x.1, y.1);
        return Some(verdict(is_same, ["the same bound", "another bound"]));
    }
    if let (Some(x), Some(y)) = (range(x), range(y)) {
        let is_same = is_near(x.0, y.0) && is_near(x.1, y.1);
        return Some(verdict(is_same, ["the same range", "another range"]));
    }
    // A fraction may be a day and a month.
    let is_day = name.is_of("moments") && (x.contains('/') || y.contains('/'));
    if name.is_code() || name.is_of("paths") || is_day {
        return None;
    }
    let (x, y) = (from_json(a).or_else(|| parse(x))?, from_json(b).or_else(|| parse(y))?);
    Some(values_of(context, a, b, x, y))
}

/// A finding with one of two reasons.
fn verdict(is_same: bool, reasons: [&'static str; 2]) -> Finding {
    Finding::same_or_not(Kind::Number, is_same, reasons)
}

fn values_of(context: &ArgumentContext<'_>, a: &Json, b: &Json, x: f64, y: f64) -> Finding {
    if !x.is_finite() || !y.is_finite() || is_long(a) || is_long(b) {
        // These numbers are larger, or have more digits, than a double can distinguish.
        verdict(super::text_of(a) == super::text_of(b), NUMBER)
    } else if context.name.is_degrees() {
        degrees(x, y)
    } else if context.name.is_of("angles") && (x - y).abs() >= 360.0 && (x - y) % 360.0 == 0.0 {
        verdict(true, ["the same direction, full turns apart", ""])
    } else if let Some(span) = context.span[0] {
        box_sides(x, y, span)
    } else {
        // Numbers in groups, such as phone numbers, are different if any digit differs.
        let is_grouped = [a, b].iter().any(|value| {
            value.as_str().is_some_and(|text| text.trim().bytes().any(|byte| matches!(byte, b' ' | b'-')))
        });
        let is_exact = context.name.is_of("exact") || is_grouped && super::text_of(a) != super::text_of(b);
        numbers(x, y, is_exact)
    }
}

fn is_near(x: f64, y: f64) -> bool {
    (x - y).abs() <= 1e-9 * x.abs().max(y.abs())
}

/// Whether a whole number has more digits than a double can distinguish.
fn is_long(value: &Json) -> bool {
    match value {
        Json::LongInteger(_) => true,
        Json::String(text) => {
            text.bytes().filter(u8::is_ascii_digit).count() > 15 && !text.contains(['.', 'e', 'E'])
        }
        Json::Integer(value) => value.unsigned_abs() > 1 << 53,
        _ => false,
    }
}

/// Whether a text is digits with zeros at the front that are part of it, as in a postal code.
fn is_padded(value: &Json) -> bool {
    let digits = value.as_str().unwrap_or_default().trim();
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads a bound, by the words of `tables/bounds.txt`: `>= 4`, `<10`, `more than four`, `5000 or more`.
fn bound(text: &str) -> Option<(&'static str, f64)> {
    if text.len() > LONGEST {
        return None;
    }
    let folded = fold(text);
    let written = |place: &str, is: &dyn Fn(&'static str) -> Option<usize>| {
        let lines = include_str!("../tables/bounds.txt").lines();
        let lines = lines.filter_map(|line| line.strip_prefix(place)?.split_once(": "));
        let phrases = lines.flat_map(|(sign, words)| words.split('|').map(move |word| (sign, word)));
        // The longest phrase is taken: `less than` is also the start of `less than or equal to`.
        let longest = phrases.filter_map(|(sign, word)| Some((is(word)?, sign))).max_by_key(|found| found.0);
        longest.map_or(("", 0), |(length, sign)| (sign, length))
    };
    let (before, start) = written("before ", &|word| folded.starts_with(word).then_some(word.len()));
    let rest = folded[start..].trim();
    let (after, end) = written("after ", &|word| rest.ends_with(word).then_some(word.len()));
    let sign = match (before, after) {
        (">", "≥" | "=") | ("", "≥") => "≥",
        ("<", "≤" | "=") | ("", "≤") => "≤",
        (sign, "") if !sign.is_empty() => sign,
        // Neither says anything, or they contradict one another.
        _ => return None,
    };
    Some((sign, parse(rest[..rest.len() - end].trim())?))
}

/// Reads a range: `20 to 30`, `between 20 and 30`, `20~30`.
fn range(text: &str) -> Option<(f64, f64)> {
    if text.len() > LONGEST {
        return None;
    }
    let folded = fold(text);
    let bare = ["between ", "from "].iter().find_map(|word| folded.strip_prefix(word)).unwrap_or(&folded);
    let signs = [" and ", " to ", "~", " through ", " up to ", " - "];
    let (low, high) = signs.iter().find_map(|sign| bare.split_once(sign))?;
    Some((parse(low.trim())?, parse(high.trim())?))
}

/// The number that a text says, in digits or in words.
pub(super) fn parse(text: &str) -> Option<f64> {
    if text.eq_ignore_ascii_case("half") {
        return Some(0.5);
    }
    in_text(text).or_else(|| written(text)).or_else(|| {
        (text.len() <= LONGEST && text.starts_with(|c: char| c.is_ascii_alphabetic()))
            .then(|| number_in_words(text))?
    })
}

/// The number that a value is, or that its text says.
pub(in crate::fidelity) fn from_json(value: &Json) -> Option<f64> {
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
pub(in crate::fidelity) fn in_text(text: &str) -> Option<f64> {
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
pub(in crate::fidelity) fn without_thousands(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').map_or((text, ""), |(whole, fraction)| (whole, fraction));
    let mut groups = whole.trim_start_matches(['-', '+']).split(',');
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.peekable();
    let is_grouped = rest.peek().is_some()
        && (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && first.bytes().all(|byte| byte.is_ascii_digit())
        && !fraction.contains(',')
        && rest.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()));
    if is_grouped { text.replace(',', "") } else { text.to_owned() }
}

/// Reads a number as people write it: `1/2`, `1 1/2`, `½`, `10k`, `1.5M`, `2 million`, `3,14`, `1 000`.
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

/// Reads a fraction: `1/2`, `1 1/2`, `1½`.
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

/// Reads digits in groups, or with a comma before the fraction: `1 000`, `1'000`, `1,00,000`, `1.234,56`.
fn separated(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_of_number =
        |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ' ' | '\'' | '_' | '\u{a0}' | '\u{202f}');
    if !digits.chars().all(is_of_number) || !digits.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (whole, fraction) = match (digits.rfind(','), digits.rfind('.')) {
        (Some(comma), Some(point)) => (&digits[..comma.max(point)], Some(&digits[comma.max(point) + 1..])),
        // Groups have three digits; a part of another length is a fraction.
        (Some(comma), None)
            if digits.matches(',').count() == 1 && (digits.len() - comma != 4 || digits.starts_with('0')) =>
        {
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
    // The parts of an IP address are not thousands, and no group of thousands begins a number with a zero.
    let is_address =
        middle.len() == 2 && fraction.is_none() && groups.iter().all(|group| group.parse::<u8>().is_ok());
    if last.is_some() && (is_address || first.starts_with('0')) {
        return None;
    }
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

/// Compares two numbers. Exact whole numbers are different if any digit differs; of other numbers, one may be the other
/// one rounded.
pub(super) fn numbers(x: f64, y: f64, is_exact: bool) -> Finding {
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
    if is_rounded(x, y) {
        return Finding::new(kind, score, "differs by rounding");
    }
    if !are_whole && relative < UNROUNDED {
        return Finding::new(kind, score, "nearly the same");
    }
    let reason = if relative > 0.89 { "another order of magnitude" } else { "another number" };
    Finding::new(kind, score.min(OTHER_COUNT), reason)
}

/// Whether one of two numbers is the other one rounded or cut off, with enough digits left.
fn is_rounded(x: f64, y: f64) -> bool {
    let ((digits_x, last_x), (digits_y, last_y)) = (digits(x), digits(y));
    if digits_x == digits_y {
        return false;
    }
    let (count, last, more) =
        if digits_x < digits_y { (digits_x, last_x, digits_y) } else { (digits_y, last_y, digits_x) };
    // Two digits are enough for a fraction, if the other number has more than `LEAST_DIGITS`.
    let is_short = count + 1 == LEAST_DIGITS && last < 0 && more > LEAST_DIGITS;
    // Digits that are cut off are as usual as those that are rounded.
    (count >= LEAST_DIGITS || is_short) && (x - y).abs() < 10f64.powi(last)
}

/// The number of significant digits of a number, and the power of ten of the last one.
fn digits(number: f64) -> (usize, i32) {
    let written = format!("{number:e}");
    let (digits, power) = written.split_once('e').unwrap_or((&written, "0"));
    let count = digits.bytes().filter(u8::is_ascii_digit).count();
    let power: i32 = power.parse().unwrap_or_default();
    (count, power + 1 - i32::try_from(count).unwrap_or_default())
}

/// Compares two latitudes or two longitudes, in degrees.
fn degrees(x: f64, y: f64) -> Finding {
    let difference = (x - y).abs();
    // One meridian has two numbers: 180 and -180 degrees.
    let is_round = difference > 180.0 && x.abs() <= 360.0 && y.abs() <= 360.0;
    let difference = if is_round { (360.0 - difference).abs() } else { difference };
    let reason = if difference < 1e-3 {
        "less than a hundred metres away"
    } else if x * y < 0.0 && (x + y).abs() < 0.01 * x.abs().max(y.abs()) {
        "the sign differs"
    } else if difference < 1e-2 {
        "about a kilometre away"
    } else {
        "another place"
    };
    Finding::new(Kind::Coordinate, on_log_curve(&DEGREES, difference), reason)
}

/// Compares the sides of two boxes, or other numbers of two regions, as a share of the length `span`.
fn box_sides(x: f64, y: f64, span: f64) -> Finding {
    if x * y < 0.0 {
        return Finding::new(Kind::BoxSide, NOTHING, "the sign differs");
    }
    let shift = (x - y).abs() / span;
    let reason = if shift < 0.06 { "nearly the same region" } else { "another region" };
    Finding::new(Kind::BoxSide, on_curve(&BOX_SHIFT, shift), reason)
}

#[cfg(test)]
mod tests {
    use super::super::super::name::Name;
    use super::*;

    #[test]
    fn bounds_ranges_and_numbers_in_words() {
        let text = |text: &str| Json::String(text.to_owned());
        let score = |a: &str, b: &str| {
            let context = ArgumentContext { name: Name::new("value"), ..ArgumentContext::default() };
            compare(&context, &Values::new(&text(a), &text(b))).map(|found| found.score)
        };
        for (a, b) in [
            ("more than four", "> 4"),
            ("5000 or more", "at least 5000"),
            ("more than 5000 or equal to", ">= 5000"),
            ("no more than 3", "≤3"),
            ("less than or equal to 30", "30 or less"),
            ("1/2", "half"),
            ("20 to 30", "between twenty and thirty"),
            ("twenty-five", "25"),
            ("10k", "ten thousand"),
        ] {
            assert!(score(a, b).is_some_and(|score| score > 0.9), "{a} {b} {:?}", score(a, b));
        }
        for (a, b) in
            [("more than 4", "at least 4"), ("four", "5"), ("under 3", "over 3"), ("20~30", "20 to 40")]
        {
            assert!(score(a, b).is_some_and(|score| score < 0.1), "{a} {b} {:?}", score(a, b));
        }
    }
}
