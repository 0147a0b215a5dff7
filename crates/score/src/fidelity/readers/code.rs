//! Identifiers and codes, which are right or wrong, and formulas, in which every sign counts.

use std::collections::BTreeSet;

use super::super::constants::{JOINED_OTHERWISE, NOTHING, PLACE_SAID_ONCE, SAME_OTHERWISE};
use super::super::language::fold;
use super::super::{Finding, Kind};
use super::{ArgumentContext, Values};

/// Longer texts are none.
const LONGEST: usize = 160;

/// Longer codes are not printed in groups.
const LONGEST_IN_GROUPS: usize = 24;

/// Compares two texts if both are codes.
pub(super) fn compare(context: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.texts.as_ref()?;
    let (a, b) = (a.trim(), b.trim());
    let is_named = context.name.is_code();
    if let Some((a, b)) = listed(a).zip(listed(b)).filter(|_| is_named) {
        let (score, reason) =
            if a == b { (SAME_OTHERWISE, "the same codes") } else { (NOTHING, "other codes") };
        return Some(Finding::new(Kind::Code, score, reason));
    }
    if !is_code(a, is_named) || !is_code(b, is_named) {
        return None;
    }
    let found = |is_same: bool, same: &'static str, other: &'static str| {
        let (score, reason) = if is_same { (SAME_OTHERWISE, same) } else { (NOTHING, other) };
        Some(Finding::new(Kind::Code, score, reason))
    };
    if is_formula(a) || is_formula(b) {
        let signs = |text: &str| fold(&text.replace('×', "*")).replace("**", "^").replace(' ', "");
        return found(signs(a) == signs(b), "the same formula", "another formula");
    }
    let (x, y) = (plain(unversioned(a)), plain(unversioned(b)));
    if x == y && is_encoded(a) && is_encoded(b) {
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        return found(letters(a) == letters(b), "the same code", "the case of letters differs in a code");
    }
    let signs = |text: &str| text.chars().filter(|c| "<>=!+*&|^%~#".contains(*c)).collect::<String>();
    let (of_a, of_b) = (signs(a), signs(b));
    // `#5` and `+49 ..` are told by one sign.
    if x == y && of_a.trim_matches(['#', '+']) != of_b.trim_matches(['#', '+']) {
        return found(false, "", "a sign differs in a code");
    }
    if x == y && !x.is_empty() && are_pointed_otherwise(unversioned(a), unversioned(b)) {
        return found(false, "", "the points are in other places");
    }
    let is_scoped = |short: &str, long: &str| {
        // `public.users`, but not `1.2.3`.
        let before = long.to_lowercase().strip_suffix(&short.to_lowercase()).map(str::to_owned);
        let is_name = short.len() > 2 && !short.contains(|c: char| c.is_ascii_digit());
        is_name && before.is_some_and(|before| before.ends_with('.'))
    };
    if is_end_of_other(a, b) || is_scoped(a, b) || is_scoped(b, a) {
        return Some(Finding::new(Kind::Code, PLACE_SAID_ONCE, SAID_ONCE));
    }
    let is_of_words = !x.contains(|c: char| c.is_ascii_digit());
    if x == y && is_of_words && joints(a) != joints(b) {
        return Some(Finding::new(Kind::Code, JOINED_OTHERWISE, "its words are joined by other signs"));
    }
    found(x == y && !x.is_empty(), "the same code", "another code")
}

/// The letters and digits of a code.
fn plain(text: &str) -> String {
    fold(text).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The codes that commas part.
fn listed(text: &str) -> Option<BTreeSet<String>> {
    let parts = text.split(',').map(str::trim);
    let is_list =
        text.len() <= LONGEST && text.contains(',') && !parts.clone().any(|part| part.contains(' '));
    is_list.then(|| parts.map(plain).collect())
}

/// The reason of one that says where a code is from, which the other does not.
pub(super) const SAID_ONCE: &str = "the same code, where it is from said once";

/// Whether one of two codes is the other behind what says where it is from: `refs/heads/main` and `main`, an identifier
/// and its URL.
pub(super) fn is_end_of_other(a: &str, b: &str) -> bool {
    let plain = |text: &str| text.trim().trim_end_matches('/').trim_end_matches(".git").to_lowercase();
    let (a, b) = (plain(a), plain(b));
    let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
    let before = long.strip_suffix(short.as_str());
    short.len() > 2 && before.is_some_and(|before| before.ends_with(['/', ':', '=']))
}

/// The signs of a text, with its letters as one each.
fn joints(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() { 'x' } else { c }).collect()
}

/// A version without the letter before it.
fn unversioned(text: &str) -> &str {
    let rest = text.strip_prefix(['v', 'V']).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    rest.filter(|rest| rest.contains('.')).unwrap_or(text)
}

/// Whether a code has digits, capitals and small letters, as encoded numbers have, so that the case of letters tells two.
fn is_encoded(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    text.len() >= 8 && has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Whether both have points, which make other groups: `1.9.0` and `1.90`.
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
        // As ISBNs and postal codes are printed.
        return is_named
            && has(|c| c.is_ascii_digit())
            && text.len() <= LONGEST_IN_GROUPS
            && !has(char::is_lowercase);
    }
    // Zeros at the front are a part of it.
    if text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return true;
    }
    let (has_digit, has_letter) = (has(|c| c.is_ascii_digit()), has(char::is_alphabetic));
    let has_sign = has(|c| matches!(c, '-' | '_' | ':' | '/' | '.'));
    let is_capitals = has_sign && has_letter && !has(char::is_lowercase);
    is_named || is_capitals || (has_digit && (has_letter || has_sign || text.len() > 4))
}

/// Digits with what separates them in numbers of telephones.
fn is_phone(text: &str) -> bool {
    text.chars().filter(char::is_ascii_digit).count() >= 7
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '(' | ')' | '+' | '.' | '/'))
}

/// Arithmetic: digits, signs, and names of a few letters.
fn is_formula(text: &str) -> bool {
    let has_sign =
        text.contains(['+', '*', '^', '=', '×', '÷', '√']) || text.contains(" / ") || text.contains(" - ");
    let longest = text.split(|c: char| !c.is_alphabetic()).map(|word| word.chars().count()).max();
    has_sign && longest.unwrap_or(0) <= 4 && text.chars().any(|c| c.is_ascii_digit()) && !is_phone(text)
}
