//! Identifiers and codes, which are right or wrong, and names of languages, countries and currencies, which have several.

use std::borrow::Cow;

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::name::Name;
use super::text::{fold, lexicon};
use super::{Finding, Kind, expression};

/// Longer texts are none.
const LONGEST: usize = 160;

/// Longer codes are not printed in groups.
const LONGEST_IN_GROUPS: usize = 24;

/// What is written before codes to say what they are.
const LABELS: &[&str] = &[
    "isbn-13", "isbn-10", "isbn", "issn", "tel", "phone", "arxiv", "pmid", "urn:uuid", "uuid", "orcid",
    "sha256", "cve id", "doi",
];

/// A code without what is written before it, and a telephone number in its usual form.
fn unlabelled(text: &str) -> Cow<'_, str> {
    let text = text.trim().trim_matches(['{', '}']);
    let bare = LABELS.iter().find_map(|label| {
        let rest = text.get(label.len()..).filter(|_| text[..label.len()].eq_ignore_ascii_case(label))?;
        rest.strip_prefix([':', ' ', '#']).map(|rest| rest.trim_start_matches([' ', ':']))
    });
    let text = bare.unwrap_or(text);
    if !is_phone(text) {
        return text.into();
    }
    // The zero that is dialled inside of a country, and the two that are dialled for the plus.
    let text = text.replace("(0)", "");
    match text.strip_prefix("00") {
        // Other numbers begin with zeros as well.
        Some(rest) if rest.len() > 9 && rest.contains([' ', '-', '.']) => format!("+{rest}").into(),
        _ => text.into(),
    }
}

/// A raised or lowered digit as the digit.
pub(super) fn lowered(c: char) -> char {
    let digit = match c {
        '₀'..='₉' => u32::from(c) - u32::from('₀'),
        '⁴'..='⁹' => u32::from(c) - u32::from('⁰'),
        '♭' => return 'b',
        _ => return c,
    };
    char::from_digit(digit, 10).unwrap_or(c)
}

/// The signs of a code that do not only part it: `C#4`, `C++`, `C[C@@H]`.
fn telling(text: &str) -> Vec<char> {
    let text = text.trim_start_matches(['#', '+', '@', '$']);
    let mut signs: Vec<char> = text
        .chars()
        .map(|c| if c == '♯' { '#' } else { c })
        .filter(|c| matches!(c, '#' | '+' | '@' | '<' | '>' | '=' | '!' | '~' | '^' | '*' | '%' | '&'))
        .collect();
    signs.sort_unstable();
    signs
}

/// Whether two texts without their signs are written in other cases.
fn differ_in_case(a: &str, b: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    letters(a) != letters(b)
}

/// Whether a code has digits, capitals and small letters, as encoded numbers have.
fn is_mixed(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    text.len() >= 8 && has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Whether two texts with commas have the same parts, not all of them numbers, in another order.
pub(super) fn are_lists(a: &str, b: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        let mut parts: Vec<String> = text.split(',').map(|part| part.trim().to_lowercase()).collect();
        parts.sort_unstable();
        parts
    };
    let is_word = |part: &String| part.contains(char::is_alphabetic) && !part.contains(char::is_whitespace);
    a.contains(',') && b.contains(',') && parts(a) == parts(b) && parts(a).iter().all(is_word)
}

/// Whether both have points, which make other groups: `1.9.0` and `1.90`.
fn are_pointed_otherwise(a: &str, b: &str) -> bool {
    let groups = |text: &str| text.trim().split('.').map(str::len).collect::<Vec<_>>();
    a.contains('.')
        && b.contains('.')
        && !a.contains(['-', ' ', '('])
        && !b.contains(['-', ' ', '('])
        && groups(a) != groups(b)
}

/// Whether a text is a code; `is_named` where its argument's name says so.
pub(super) fn is_code(text: &str, is_named: bool) -> bool {
    let text = text.trim();
    let has = |is: fn(char) -> bool| text.chars().any(is);
    if text.is_empty() || text.len() > LONGEST {
        return false;
    }
    if is_phone(text) || is_expression(text) {
        return true;
    }
    if has(char::is_whitespace) {
        // As ISBNs and postal codes are printed.
        let text = unlabelled(text);
        return is_named
            && text.chars().any(|c| c.is_ascii_digit())
            && text.len() <= LONGEST_IN_GROUPS
            && !text.chars().any(char::is_lowercase);
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

/// Compares two codes.
pub(super) fn codes(a: &str, b: &str, is_named: bool) -> Finding {
    let plain =
        |text: &str| -> String { fold(text).chars().map(lowered).filter(|c| c.is_alphanumeric()).collect() };
    let (a, b) = (&*unlabelled(a), &*unlabelled(b));
    let (x, y) = (plain(a), plain(b));
    let kind = Kind::Code;
    if is_expression(a) || is_expression(b) {
        if let Some(finding) = expression::compare(a, b) {
            return finding;
        }
        let signs =
            |text: &str| -> String { fold(text).replace("**", "^").replace('×', "*").replace(' ', "") };
        let is_same = signs(a) == signs(b);
        let score = if is_same { SAME_OTHERWISE } else { NOTHING };
        return Finding::new(kind, score, if is_same { "the same expression" } else { "another expression" });
    }
    if x == y {
        return if x.is_empty() {
            Finding::new(kind, NOTHING, "other signs")
        } else if differ_in_case(a, b)
            && (is_cased(a, is_named) || is_cased(b, is_named) || (is_named && is_mixed(a) && is_mixed(b)))
        {
            Finding::new(kind, NOTHING, "the case of letters differs in a code")
        } else if telling(a) != telling(b) {
            Finding::new(kind, NOTHING, "a sign differs in a code")
        } else if are_pointed_otherwise(a, b) {
            Finding::new(kind, NOTHING, "the points are in other places")
        } else {
            Finding::new(kind, SAME_OTHERWISE, "the same code")
        };
    }
    if are_lists(a, b) {
        return Finding::new(kind, 0.95, "the same codes in another order");
    }
    if let (Some(nine_x), Some(nine_y)) = (isbn(&x), isbn(&y)) {
        // Of one length the last digit is compared as well.
        let is_same = nine_x == nine_y && x.len() != y.len();
        let score = if is_same { SAME_OTHERWISE } else { NOTHING };
        return Finding::new(kind, score, if is_same { "the same ISBN" } else { "another ISBN" });
    }
    let bare = |text: &str| plain(text.rsplit(':').next().unwrap_or_default());
    if a.contains(':') != b.contains(':') && bare(a) == bare(b) {
        return Finding::new(kind, 0.9, "the same code, with and without a prefix");
    }
    let is_told = |text: &str| text.contains(['+', ' ', '-', '(']);
    if (is_told(a) || is_told(b))
        && is_phone(a)
        && is_phone(b)
        && (x.ends_with(&y) || y.ends_with(&x))
        && x.len().min(y.len()) >= 9
    {
        return Finding::new(kind, 0.85, "the same number, with and without its country");
    }
    let (short, long) = if x.len() < y.len() { (&x, &y) } else { (&y, &x) };
    let version = long.strip_prefix(short.as_str()).and_then(|rest| rest.strip_prefix('v'));
    if version.is_some_and(|rest| {
        !rest.is_empty() && rest.len() < 3 && rest.bytes().all(|byte| byte.is_ascii_digit())
    }) {
        return Finding::new(kind, 0.6, "the same code, with and without a version");
    }
    Finding::new(kind, NOTHING, "another code")
}

/// Digits with what separates them in numbers of telephones.
fn is_phone(text: &str) -> bool {
    text.chars().filter(char::is_ascii_digit).count() >= 7
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '(' | ')' | '+' | '.' | '/'))
}

/// Arithmetic, where every sign counts and words are short.
fn is_expression(text: &str) -> bool {
    if is_phone(text) && !text.contains(" + ") {
        return false;
    }
    let has_sign =
        text.contains(['+', '*', '^', '=', '×', '÷']) || text.contains(" / ") || text.contains(" - ");
    let has_sign = has_sign || text.contains(['²', '³', 'π', '√', '⋅', '−', '\\']) || text.contains(" mod ");
    let longest =
        text.split(|c: char| !c.is_alphabetic()).map(|word| word.chars().count()).max().unwrap_or(0);
    has_sign
        && longest <= if text.contains('\\') { 6 } else { 4 }
        && text.len() <= LONGEST
        && text.chars().any(|c| c.is_ascii_digit())
}

/// Whether the case of letters is a part of the code, as in those that are encoded numbers.
pub(super) fn is_cased(text: &str, is_named: bool) -> bool {
    let letters: Vec<bool> = text.chars().filter(|c| c.is_alphabetic()).map(char::is_uppercase).collect();
    let upper = letters.iter().filter(|is_upper| **is_upper).count();
    // Words in capitals and lower case change from one to the other seldom.
    let changes = letters.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    let is_encoded = text.len() >= 8 && upper > 1 && letters.len() - upper > 1 && changes > 1;
    is_encoded && (is_named || text.bytes().any(|byte| byte.is_ascii_digit()))
}

/// The nine digits of an ISBN that both of its forms have.
fn isbn(plain: &str) -> Option<&str> {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = plain.strip_prefix("isbn").unwrap_or(plain);
    match plain.len() {
        13 if is_digits(plain) && (plain.starts_with("978") || plain.starts_with("979")) => plain.get(3..12),
        10 => {
            plain.get(..9).filter(|nine| is_digits(nine) && (is_digits(&plain[9..]) || plain.ends_with('x')))
        }
        _ => None,
    }
}

/// The DOI that a text is, or that it names as a URL or with a prefix.
fn doi(text: &str) -> Option<String> {
    let at = text.find("10.")?;
    let doi = text.get(at..)?;
    let is_prefix = at == 0 || text[..at].ends_with(['/', ':', ' ']);
    let registrant = doi.get(3..)?.split('/').next().unwrap_or_default();
    let is_doi =
        registrant.len() >= 4 && registrant.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_prefix && is_doi && doi.contains('/') && !doi.contains(' ')).then(|| doi.to_lowercase())
}

/// Compares two texts that are DOIs, one of them perhaps as a URL.
pub(super) fn dois(a: &str, b: &str) -> Option<Finding> {
    let is_same = doi(a)? == doi(b)?;
    let (score, reason) = if is_same { (SAME_OTHERWISE, "the same DOI") } else { (NOTHING, "another DOI") };
    Some(Finding::new(Kind::Code, score, reason))
}

/// Compares two of the choices that a schema lists.
pub(super) fn choices(a: &str, b: &str) -> Finding {
    let plain = |text: &str| -> String { fold(text).chars().filter(|c| c.is_alphanumeric()).collect() };
    if plain(a) == plain(b) {
        Finding::new(Kind::Choice, SAME_OTHERWISE, "the same choice")
    } else {
        Finding::new(Kind::Choice, NOTHING, "another choice")
    }
}

/// Compares two names of a language, a country or a currency, if both are known.
pub(super) fn iso_names(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let (a, b) = (fold(a), fold(b));
    let (a, b) = (a.trim(), b.trim());
    let table = if name.is_language() {
        lexicon::LANGUAGES
    } else if name.is_currency() {
        lexicon::CURRENCIES
    } else {
        lexicon::COUNTRIES
    };
    let split = |text: &str| -> (String, Option<String>) {
        match text.split_once(['-', '_']).filter(|_| name.is_language()) {
            Some((language, region)) => (language.to_owned(), Some(region.to_owned())),
            None => (text.to_owned(), None),
        }
    };
    let ((x, of_x), (y, of_y)) = (split(a), split(b));
    let group = |text: &str| table.iter().position(|names| names.split(", ").any(|name| name == text));
    let kind = Kind::Choice;
    match (group(&x), group(&y)) {
        (Some(x), Some(y)) if x != y => Some(Finding::new(kind, NOTHING, "another one")),
        (None, None) if x != y => None,
        (x_group, y_group) if x == y || x_group == y_group => Some(match (of_x, of_y) {
            (Some(x), Some(y)) if x != y => Finding::new(
                kind,
                // Chinese is written in other letters there.
                if x_group == group("zh") { NOTHING } else { 0.6 },
                "the same language of another region",
            ),
            (Some(_), None) | (None, Some(_)) => {
                Finding::new(kind, 0.92, "the same language, the region said once")
            }
            _ => Finding::new(kind, SAME_OTHERWISE, "the same in another writing"),
        }),
        _ => None,
    }
}
