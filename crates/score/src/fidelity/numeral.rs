//! Numbers in writings that need to know what they count: words, Roman and hexadecimal digits, ratings, ratios, bounds,
//! ranges of pages, and units that are no measure.

use super::constants::{NOTHING, SAME_OTHERWISE, UNIT_SAID_ONCE};
use super::name::Name;
use super::text::fold;
use super::{Finding, Kind, number};

/// Longer texts are none of them.
const LONGEST: usize = 64;

/// Compares a number with a text that says one.
pub(super) fn beside(name: &Name, number: f64, text: &str) -> Option<Finding> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST || name.is_code() {
        return None;
    }
    let found = of_words(text).or_else(|| hexadecimal(text));
    let found = found.or_else(|| if name.is_ordinal() { roman(text) } else { None });
    if let Some(found) = found {
        let (score, reason) = if is_near(found, number) {
            (SAME_OTHERWISE, "the same number")
        } else {
            (NOTHING, "another number")
        };
        return Some(Finding::new(Kind::Number, score, reason));
    }
    // `120 bpm`, `4.5/5`.
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '-')))?;
    let (amount, unit) = (number::in_text(&text[..end])?, text[end..].trim().to_lowercase());
    let is_word =
        unit.len() <= 12 && unit.chars().all(char::is_alphabetic) && !matches!(unit.as_str(), "bc" | "bce");
    let is_scale = name.is_rating() && (unit.starts_with('/') || unit.starts_with("out of"));
    (is_near(amount, number) && (is_word || is_scale))
        .then(|| Finding::new(Kind::Number, UNIT_SAID_ONCE, "what it counts is said only once"))
}

/// Compares two texts.
pub(super) fn compare(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let (a, b) = (a.trim(), b.trim());
    if a.is_empty() || b.is_empty() || a.len() > LONGEST || b.len() > LONGEST {
        return None;
    }
    if let (Some(x), Some(y)) = (bound(a), bound(b)) {
        return Some(verdict(x.0 == y.0 && is_near(x.1, y.1), "the same bound", "another bound"));
    }
    if let (Some(x), Some(y)) = (span(a), span(b)) {
        return Some(verdict(is_near(x.0, y.0) && is_near(x.1, y.1), "the same range", "another range"));
    }
    if (of_words(a).is_some() || of_words(b).is_some())
        && let (Some(x), Some(y)) = (said(a), said(b))
    {
        return Some(verdict(is_near(x, y), "the same number", "another number"));
    }
    if name.is_ratio()
        && let (Some(x), Some(y)) = (ratio(a), ratio(b))
    {
        return Some(verdict(is_near(x, y), "the same ratio", "another ratio"));
    }
    if name.is_range()
        && let (Some(x), Some(y)) = (range(a), range(b))
    {
        return Some(verdict(x == y, "the same range", "another range"));
    }
    None
}

fn verdict(is_same: bool, same: &'static str, other: &'static str) -> Finding {
    Finding::new(
        Kind::Number,
        if is_same { SAME_OTHERWISE } else { NOTHING },
        if is_same { same } else { other },
    )
}

fn is_near(x: f64, y: f64) -> bool {
    (x - y).abs() <= 1e-9 * x.abs().max(y.abs())
}

/// `>= 4`, `≥4`, `<10`, `more than four`, `5000 or more`.
fn bound(text: &str) -> Option<(&'static str, f64)> {
    const WORDS: &[(&str, &str)] = &[
        ("greater than or equal to ", "≥"),
        ("more than or equal to ", "≥"),
        ("equal to or greater than ", "≥"),
        ("equal to or more than ", "≥"),
        ("less than or equal to ", "≤"),
        ("equal to or less than ", "≤"),
        ("no more than ", "≤"),
        ("not more than ", "≤"),
        ("no less than ", "≥"),
        ("not less than ", "≥"),
        ("at least ", "≥"),
        ("at most ", "≤"),
        ("up to ", "≤"),
        ("greater than ", ">"),
        ("more than ", ">"),
        ("larger than ", ">"),
        ("bigger than ", ">"),
        ("above ", ">"),
        ("over ", ">"),
        ("less than ", "<"),
        ("smaller than ", "<"),
        ("below ", "<"),
        ("under ", "<"),
    ];
    const ENDS: &[(&str, bool)] = &[
        (" or more", true),
        (" and more", true),
        (" or above", true),
        (" or greater", true),
        (" or less", false),
        (" or below", false),
        (" or equal to", true),
        (" or equal", true),
    ];
    if let Some(found) = signed_bound(text) {
        return Some(found);
    }
    let folded = fold(text);
    let end = ENDS.iter().find_map(|(end, is_least)| Some((folded.strip_suffix(end)?, *is_least)));
    let rest = end.map_or(folded.as_str(), |end| end.0);
    let start = WORDS.iter().find_map(|(word, sign)| Some((*sign, rest.strip_prefix(word)?)));
    let (sign, number) = match (start, end) {
        (Some((">", number)), Some(_)) | (None, Some((number, true))) => ("≥", number),
        (Some(("<", number)), Some(_)) | (None, Some((number, false))) => ("≤", number),
        (Some(found), _) => found,
        (None, None) => return None,
    };
    Some((sign, said(number.trim())?))
}

fn signed_bound(text: &str) -> Option<(&'static str, f64)> {
    const SIGNS: &[(&str, &str)] = &[
        (">=", "≥"),
        ("=>", "≥"),
        ("≥", "≥"),
        ("<=", "≤"),
        ("=<", "≤"),
        ("≤", "≤"),
        (">", ">"),
        ("<", "<"),
        ("!=", "≠"),
        ("≠", "≠"),
    ];
    let (sign, rest) = SIGNS.iter().find_map(|(written, sign)| Some((*sign, text.strip_prefix(written)?)))?;
    Some((sign, number::in_text(rest)?))
}

/// A number in digits or in words.
fn said(text: &str) -> Option<f64> {
    number::in_text(text).or_else(|| number::written(text)).or_else(|| of_words(text))
}

/// `20 to 30`, `between 20 and 30`, `20~30`.
fn span(text: &str) -> Option<(f64, f64)> {
    let folded = fold(text);
    let bare = ["between ", "from "].iter().find_map(|word| folded.strip_prefix(word)).unwrap_or(&folded);
    let (low, high) =
        [" and ", " to ", "~", " through ", " up to "].iter().find_map(|sign| bare.split_once(sign))?;
    Some((said(low.trim())?, said(high.trim())?))
}

/// `16:9`, `16/9`, `16 x 9`, `1.78:1`.
fn ratio(text: &str) -> Option<f64> {
    let (above, below) = text.split_once([':', '/', 'x', '×'])?;
    let (above, below) = (number::in_text(above)?, number::in_text(below)?);
    (below != 0.0).then(|| above / below)
}

/// `1-3, 5` without what says nothing.
fn range(text: &str) -> Option<String> {
    let plain: String = text.chars().filter(|c| *c != ' ').collect();
    let plain = plain.replace(['–', '—'], "-").replace("to", "-").replace("..", "-");
    let is_range = plain.starts_with(|c: char| c.is_ascii_digit())
        && plain.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b','));
    is_range.then_some(plain)
}

/// `0xFF`.
fn hexadecimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    u32::from_str_radix(digits, 16).ok().map(f64::from)
}

/// The number that words are, up to the thousands: `twenty-five`, `three hundred and five`, `half`.
fn of_words(text: &str) -> Option<f64> {
    const ONES: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let folded = fold(text);
    match folded.as_str() {
        "half" | "a half" | "one half" => return Some(0.5),
        "quarter" | "a quarter" | "one quarter" => return Some(0.25),
        "a dozen" | "one dozen" | "dozen" => return Some(12.0),
        _ => {}
    }
    let (mut sum, mut group) = (0.0, 0.0);
    for word in folded.split([' ', '-']).filter(|word| !word.is_empty() && *word != "and") {
        let place = |words: &[&str]| words.iter().position(|known| *known == word);
        let small =
            place(&ONES).map(|at| at as f64).or_else(|| place(&TENS).map(|at| 10.0 * (at + 2) as f64));
        match (word, small) {
            (_, Some(small)) => group += small,
            ("hundred", None) => group = 100.0 * f64::max(group, 1.0),
            ("thousand", None) => (sum, group) = (sum + 1000.0 * f64::max(group, 1.0), 0.0),
            ("million", None) => (sum, group) = (sum + 1e6 * f64::max(group, 1.0), 0.0),
            ("a", None) => {}
            _ => return None,
        }
    }
    Some(sum + group)
}

/// `XIV`.
fn roman(text: &str) -> Option<f64> {
    let values = text.chars().map(|c| match c.to_ascii_uppercase() {
        'I' => Some(1),
        'V' => Some(5),
        'X' => Some(10),
        'L' => Some(50),
        'C' => Some(100),
        _ => None,
    });
    let values: Vec<i32> = values.collect::<Option<_>>()?;
    let signed = values.iter().enumerate().map(|(at, value)| {
        let is_less = values.get(at + 1).is_some_and(|next| next > value);
        if is_less { -value } else { *value }
    });
    (values.len() <= 15).then(|| f64::from(signed.sum::<i32>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_ranges_and_numbers_in_words() {
        let score = |a: &str, b: &str| compare(&Name::new("value"), a, b).map(|found| found.score);
        for (a, b) in [
            ("more than four", "> 4"),
            ("5000 or more", "at least 5000"),
            ("more than 5000 or equal to", ">= 5000"),
            ("no more than 3", "≤3"),
            ("less than or equal to 30", "30 or less"),
            ("20 to 30", "between twenty and thirty"),
            ("1/2", "half"),
        ] {
            assert!(score(a, b).is_some_and(|score| score > 0.9), "{a} {b} {:?}", score(a, b));
        }
        for (a, b) in
            [("more than 4", "at least 4"), ("20~30", "20 to 40"), ("four", "5"), ("under 3", "over 3")]
        {
            assert!(score(a, b).is_some_and(|score| score < 0.1), "{a} {b} {:?}", score(a, b));
        }
    }
}
