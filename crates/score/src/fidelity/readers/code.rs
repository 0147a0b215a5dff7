//! Identifiers, codes and formulas: the same except for signs without meaning, or different. Some of the different ones
//! may be the same in a writing that is not known here.

use super::super::constants::{
    EQUIVALENT, JOINED_OTHERWISE, NOTHING, ORIGIN_SAID_ONCE, OTHER_CODE, OTHER_FORMULA, SAME_OTHERWISE,
};
use super::super::language::fold;
use super::super::{Finding, Kind};
use super::{ArgumentContext, Values};

/// The most bytes of a code.
const LONGEST: usize = 160;

/// The most bytes of a code that is printed in groups.
const LONGEST_IN_GROUPS: usize = 24;

/// Compares two texts if both are codes.
pub(super) fn compare(context: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.texts.as_ref()?;
    let (a, b) = (a.trim(), b.trim());
    let is_identifier = context.name.is_identifier();
    let is_named = context.name.is_code() || is_identifier;
    if let Some((x, y)) = listed(a).zip(listed(b)).filter(|_| is_named && !context.name.is_of("ordered")) {
        let is_same = |(x, y): (&&str, &&str)| compare_codes(x, y, false).score >= EQUIVALENT;
        let are_same = x.len() == y.len() && x.iter().zip(&y).all(is_same);
        let (score, reason) =
            if are_same { (SAME_OTHERWISE, "the same codes") } else { (OTHER_CODE, "other codes") };
        return Some(Finding::new(Kind::Code, score, reason));
    }
    if !is_code(a, is_named) || !is_code(b, is_named) {
        return None;
    }
    if is_named && is_end_of_other(a, b, &['/', ':', '=']) || is_identifier && is_end_of_other(a, b, &['.']) {
        return Some(Finding::new(Kind::Code, ORIGIN_SAID_ONCE, SAID_ONCE));
    }
    match [a, b].map(|text| is_opaque(text) && is_named) {
        [true, true] if is_number(a) && is_number(b) && digits(a) != digits(b) => {
            return Some(Finding::new(Kind::Code, NOTHING, ANOTHER_ID));
        }
        [true, false] if is_phrase(b) => return Some(Finding::new(Kind::Code, NOTHING, NO_ID)),
        [false, true] if is_phrase(a) => return Some(Finding::new(Kind::Code, NOTHING, NO_ID)),
        _ => {}
    }
    Some(compare_codes(a, b, is_identifier))
}

/// The reason where two numeric ids differ.
pub(in crate::fidelity) const ANOTHER_ID: &str = "another id";

/// The reason where one call has words in the place of an opaque id.
pub(in crate::fidelity) const NO_ID: &str = "words in the place of an id";

/// Whether a text is an id without a meaning: digits, or digits and letters that make no word.
fn is_opaque(text: &str) -> bool {
    let longest =
        text.split(|c: char| !c.is_alphabetic()).map(|word| word.chars().count()).max().unwrap_or_default();
    let is_hexadecimal = text.len() >= 8 && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    text.chars().filter(char::is_ascii_digit).count() >= 3
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        && (longest <= 2 || is_hexadecimal)
}

/// Whether a text is a numeric id: digits only, at least [`LEAST_DIGITS`] of them or with a zero at the start.
fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && (text.starts_with('0') || text.len() >= LEAST_DIGITS)
}

/// A number's digits without zeros at its start.
fn digits(text: &str) -> &str {
    text.trim_start_matches('0')
}

/// The least digits of a numeric id; shorter numbers may be indices, which count from 0 or from 1.
const LEAST_DIGITS: usize = 4;

/// Whether a text is some words without a number, such as `last_email_from_nadia`.
fn is_phrase(text: &str) -> bool {
    let words =
        text.split(['_', '-', ' ']).filter(|word| word.len() > 2 && word.chars().all(char::is_alphabetic));
    words.count() >= 2 && !text.contains(|c: char| c.is_ascii_digit())
}

/// Compares two codes; `is_identifier` where signs join words in them.
fn compare_codes(a: &str, b: &str, is_identifier: bool) -> Finding {
    let found_or = |other_score: f64, is_same: bool, same: &'static str, other: &'static str| {
        let (score, reason) = if is_same { (SAME_OTHERWISE, same) } else { (other_score, other) };
        Finding::new(Kind::Code, score, reason)
    };
    let finding = |is_same, same, other| found_or(NOTHING, is_same, same, other);
    if is_formula(a) || is_formula(b) {
        let signs = |text: &str| fold(&text.replace('×', "*")).replace("**", "^").replace(' ', "");
        return found_or(OTHER_FORMULA, signs(a) == signs(b), "the same formula", "another formula");
    }
    let (x, y) = (plain(unversioned(a)), plain(unversioned(b)));
    if x != y || x.is_empty() {
        return found_or(OTHER_CODE, false, "", "another code");
    }
    if is_encoded(a) && is_encoded(b) {
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        return finding(letters(a) == letters(b), "the same code", "the case of letters differs in a code");
    }
    // Invisible signs count, too.
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}')
    };
    let is_sign = |c: &char| "<>=!+*&|^%~#".contains(*c) || is_hidden(*c);
    let signs = |text: &str| text.chars().filter(is_sign).collect::<String>();
    // A `#` or a `+`, as in `#5` and `+49 ..`, may be left out.
    if signs(a).trim_matches(['#', '+']) != signs(b).trim_matches(['#', '+'])
        || a.starts_with('-') != b.starts_with('-')
    {
        return finding(false, "", "a sign differs in a code");
    }
    if are_pointed_otherwise(unversioned(a), unversioned(b)) {
        return finding(false, "", "the points are in other places");
    }
    if is_identifier && joints(a) != joints(b) {
        return Finding::new(Kind::Code, JOINED_OTHERWISE, "its words are joined by other signs");
    }
    finding(true, "the same code", "")
}

/// The letters and digits of a code.
fn plain(text: &str) -> String {
    fold(text).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The codes of a list with commas, sorted by their letters and digits.
fn listed(text: &str) -> Option<Vec<&str>> {
    let mut codes: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_item = |code: &&str| !plain(code).is_empty() && !code.contains([' ', '(', ')']);
    codes.sort_by_cached_key(|code| plain(code));
    (text.len() <= LONGEST && codes.len() > 1 && codes.iter().all(is_item)).then_some(codes)
}

/// The reason where only one call gives a code with its origin.
pub(super) const SAID_ONCE: &str = "the same code, where it is from said once";

/// Whether one of two codes is the other one after an origin that ends with one of these signs: `refs/heads/main` and
/// `main`, an identifier and its URL. In encoded codes the case of letters counts.
pub(super) fn is_end_of_other(a: &str, b: &str, signs: &[char]) -> bool {
    let bare = |text: &str| {
        let text = text.trim().trim_end_matches('/').trim_end_matches(".git");
        if is_encoded(a) || is_encoded(b) { text.to_owned() } else { text.to_lowercase() }
    };
    let (a, b) = (bare(a), bare(b));
    let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
    // Numbers and short parts are not origins: they belong to ranges, versions and addresses of machines.
    let is_origin = |before: &str| {
        let parts = before.trim_end_matches(signs).split([':', '/', '.']);
        let is_name = |part: &str| part.len() > 2 && !part.contains(|c: char| !c.is_alphabetic() && c != '-');
        before.contains("://") || !before.starts_with('-') && parts.into_iter().all(is_name)
    };
    let is_first = short.starts_with(char::is_alphanumeric) && short.len() > 2;
    is_first
        && long
            .strip_suffix(short.as_str())
            .is_some_and(|before| before.ends_with(signs) && is_origin(before))
}

/// The signs of an identifier, with an `x` for each letter or digit.
fn joints(text: &str) -> String {
    text.trim_start_matches(['@', '#']).chars().map(|c| if c.is_alphanumeric() { 'x' } else { c }).collect()
}

/// A version without the letter before it.
fn unversioned(text: &str) -> &str {
    let rest = text.strip_prefix(['v', 'V']).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    rest.filter(|rest| rest.contains('.')).unwrap_or(text)
}

/// Whether a code has digits, capitals and small letters, as encoded numbers have, so that the case of letters matters.
fn is_encoded(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    text.len() >= 8 && has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Whether both codes have points that divide them into different groups: `1.9.0` and `1.90`.
fn are_pointed_otherwise(a: &str, b: &str) -> bool {
    let groups = |text: &str| text.trim_matches('.').split('.').map(str::len).collect::<Vec<_>>();
    a.contains('.') && b.contains('.') && groups(a) != groups(b)
}

/// Whether a text is a code; `is_named` where its argument's name says so.
fn is_code(text: &str, is_named: bool) -> bool {
    let has = |is: fn(char) -> bool| text.chars().any(is);
    if text.is_empty() || text.len() > LONGEST {
        return false;
    }
    if is_phone(text) || is_formula(text) {
        return true;
    }
    if has(char::is_whitespace) {
        // ISBNs and postal codes are printed in groups.
        return is_named
            && has(|c| c.is_ascii_digit())
            && text.len() <= LONGEST_IN_GROUPS
            && !has(char::is_lowercase);
    }
    // A number with zeros at the front is a code.
    if text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return true;
    }
    let (has_digit, has_letter) = (has(|c| c.is_ascii_digit()), has(char::is_alphabetic));
    let has_sign = has(|c| matches!(c, '-' | '_' | ':' | '/' | '.'));
    let is_capitals = has_sign && has_letter && !has(char::is_lowercase);
    is_named || is_capitals || (has_digit && (has_letter || has_sign || text.len() > 4))
}

/// Whether a text is a telephone number: at least seven digits, and signs that separate them.
fn is_phone(text: &str) -> bool {
    text.chars().filter(char::is_ascii_digit).count() >= 7
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '(' | ')' | '+' | '.' | '/'))
}

/// Whether a text is arithmetic: digits, signs, and names of at most four letters.
fn is_formula(text: &str) -> bool {
    let has_sign =
        text.contains(['+', '*', '^', '=', '×', '÷', '√']) || text.contains(" / ") || text.contains(" - ");
    let longest = text.split(|c: char| !c.is_alphabetic()).map(|word| word.chars().count()).max();
    has_sign && longest.unwrap_or(0) <= 4 && text.chars().any(|c| c.is_ascii_digit()) && !is_phone(text)
}
