//! Identifiers under other names: the URL of one, a revision by the beginning of its hash, a branch with what stands
//! before it, an airport by its code.

use std::borrow::Cow;

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::iso;
use super::name::Name;
use super::text::fold;
use super::{Finding, Kind};

/// Longer texts are none of them.
const LONGEST: usize = 256;

/// Compares two texts if one is another name of what the other may be.
pub(super) fn compare(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let (a, b) = (a.trim(), b.trim());
    if a.len() > LONGEST || b.len() > LONGEST {
        return None;
    }
    let (a, b) = (&*with_scheme(a), &*with_scheme(b));
    identified(name, a, b)
        .or_else(|| accounts(name, a, b))
        .or_else(|| named(name, a, b))
        .or_else(|| iso::airports(name, a, b))
}

/// A URL whose scheme is left out, with it.
fn with_scheme(text: &str) -> Cow<'_, str> {
    let host = text.split_once('/').map(|(host, _)| host).unwrap_or_default();
    let is_host =
        [".com", ".org", ".net", ".io", ".co"].iter().any(|end| host.len() > 4 && host.ends_with(end));
    if is_host && !host.starts_with('.') { format!("https://{text}").into() } else { text.into() }
}

/// `@name`, `r/name`: other letters are another name.
fn accounts(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let bare = |text: &str| {
        let rest = ["/r/", "r/", "/u/", "u/", "@", "#"].iter().find_map(|sign| text.strip_prefix(sign));
        let bare = rest.unwrap_or(text).to_lowercase();
        bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')).then_some(bare)
    };
    if !name.is_account() {
        return None;
    }
    let is_same = bare(a)? == bare(b)?;
    let (score, reason) = if is_same { (SAME_OTHERWISE, "the same name") } else { (NOTHING, "another name") };
    Some(Finding::new(Kind::Code, score, reason))
}

/// Fewer digits of a hash tell too little.
const LEAST_DIGITS: usize = 7;

fn named(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let same = |reason: &'static str| Some(Finding::new(Kind::Code, SAME_OTHERWISE, reason));
    if name.is_revision() {
        let is_hash =
            |text: &str| text.len() >= LEAST_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (x, y) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
        if is_hash(&x) && is_hash(&y) && x.len() != y.len() && (x.starts_with(&y) || y.starts_with(&x)) {
            return Some(Finding::new(Kind::Code, 0.9, "a hash and its beginning"));
        }
        let bare = |text: &str| {
            let before = ["refs/heads/", "refs/remotes/origin/", "refs/tags/", "heads/", "origin/"];
            before.iter().find_map(|before| text.strip_prefix(before)).unwrap_or(text).to_owned()
        };
        // Names of branches are right or wrong.
        let is_same = bare(&x) == bare(&y);
        let (score, reason) = if is_same { (0.95, "the same branch") } else { (NOTHING, "another branch") };
        return Some(Finding::new(Kind::Code, score, reason))
            .filter(|_| is_same || !is_hash(&x) && !is_hash(&y));
    }
    if name.is_permission() {
        let digits = |text: &str| {
            let digits = text.trim_start_matches("0o").trim_start_matches('0').to_owned();
            digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte)).then_some(digits)
        };
        let is_same = digits(a)? == digits(b)?;
        return if is_same {
            same("the same permissions")
        } else {
            Some(Finding::new(Kind::Code, NOTHING, "other permissions"))
        };
    }
    if name.is_sex() && (a.len() == 1) != (b.len() == 1) {
        let is_same = fold(a).chars().next()? == fold(b).chars().next()?;
        return if is_same { same("a word and its letter") } else { None };
    }
    None
}

/// An identifier, and a URL that ends in it.
fn identified(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let is_url = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    let (url, bare) = match (is_url(a), is_url(b)) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return None,
    };
    let bare = bare.trim_start_matches('@');
    let is_plain = bare.len() > 1
        && !bare.contains([' ', '?', '#', ':'])
        && !bare.starts_with(['/', '.'])
        && !bare.starts_with("www.");
    // What a URL is compared with in an argument for URLs is one.
    if name.is_url() || !is_plain {
        return None;
    }
    let (_, rest) = url.split_once("://")?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (_, path) = rest.split('#').next().unwrap_or_default().split_once('/')?;
    let decoded = super::location::decoded(path.trim_end_matches('/'));
    let path = [".pdf", ".git", ".html"].iter().find_map(|end| decoded.strip_suffix(end)).unwrap_or(&decoded);
    let before = path.strip_suffix(bare).map(|before| before.trim_end_matches('@'));
    let ends_so = before.is_some_and(|before| before.is_empty() || before.ends_with('/'));
    let asks_so = query.split('&').any(|part| {
        part.split_once('=').is_some_and(|(key, value)| value == bare && matches!(key, "v" | "id"))
    });
    let is_first = path.split('/').next() == Some(bare) && !bare.contains('.');
    let (is_same, is_host) = (ends_so || asks_so, bare.contains('.') && url.contains(&format!("://{bare}")));
    if is_same {
        return Some(Finding::new(Kind::Code, 0.92, "an identifier and its URL"));
    }
    // Another one, unless it is the host that is named.
    let is_other = !is_host && !is_first && name.is_code();
    is_other.then(|| Finding::new(Kind::Code, NOTHING, "the URL of another one"))
}
