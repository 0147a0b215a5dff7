//! Values of small notations of their own: versions, sizes, sort orders, addresses of mail and machines, formats of
//! files.

use std::net::Ipv6Addr;

use m3_trajectory::json::Json;

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::name::Name;
use super::text::fold;
use super::{Finding, Kind, number};

/// Longer texts are in none of them.
const LONGEST: usize = 256;

type Rule = fn(&Name, &str, &str) -> Option<Finding>;

/// Compares two texts if both are in one of these notations.
pub(super) fn compare(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let (a, b) = (a.trim(), b.trim());
    if a.len() > LONGEST || b.len() > LONGEST {
        return None;
    }
    let rules: [Rule; 6] = [secrets, orders, sizes, mails, machines, formats];
    rules.iter().find_map(|rule| rule(name, a, b))
}

fn verdict(kind: Kind, is_same: bool, same: &'static str, other: &'static str) -> Finding {
    Finding::new(kind, if is_same { SAME_OTHERWISE } else { NOTHING }, if is_same { same } else { other })
}

/// Compares two versions, in which `3.1` and `3.10` are two.
pub(super) fn versions(a: &str, b: &str) -> Option<Finding> {
    let (a, b) = (version(a)?, version(b)?);
    if a == b {
        return Some(Finding::new(Kind::Code, SAME_OTHERWISE, "the same version"));
    }
    let without_zeros = |version: &str| {
        let mut version = version;
        while let Some(shorter) = version.strip_suffix(".0") {
            version = shorter;
        }
        version.to_owned()
    };
    let is_same = without_zeros(&a) == without_zeros(&b);
    let (score, reason) =
        if is_same { (0.6, "the same version, its zeros said once") } else { (NOTHING, "another version") };
    Some(Finding::new(Kind::Code, score, reason))
}

/// A version without what is written before it.
fn version(text: &str) -> Option<String> {
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let folded = fold(text);
    let bare = ["version", "release", "ver.", "ver", "v.", "v", "=="]
        .iter()
        .find_map(|before| folded.strip_prefix(before))
        .unwrap_or(&folded);
    let bare = bare.trim_start_matches([' ', '=']);
    let is_version = bare.starts_with(|c: char| c.is_ascii_digit()) && !bare.contains([' ', '/']);
    is_version.then(|| bare.to_owned())
}

/// Passwords and patterns, in which every sign counts.
fn secrets(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let is_plain = |text: &str| !text.contains(['\\', '[', '^', '$', '*', '+', '?', '(', '|']);
    let is_pattern = !name.is_pattern() || !is_plain(a) || !is_plain(b);
    (name.is_verbatim() && is_pattern)
        .then(|| verdict(Kind::Code, a == b, "the same", "every letter of it counts"))
}

/// `-date`, `date desc`, `date:desc`; `desc`, `descending`.
fn orders(name: &Name, a: &str, b: &str) -> Option<Finding> {
    if !name.is_sorting() {
        return None;
    }
    let parts = |text: &str| text.split(',').map(|part| order(part.trim())).collect::<Vec<_>>();
    let (x, y) = (parts(a), parts(b));
    if x == y {
        return Some(Finding::new(Kind::Choice, SAME_OTHERWISE, "the same order"));
    }
    let fields = |parts: &[(String, Option<bool>)]| -> Vec<String> {
        parts.iter().map(|part| part.0.clone()).collect()
    };
    if fields(&x) != fields(&y) {
        return None;
    }
    // Ascending is what is not said.
    let is_rising = |parts: &[(String, Option<bool>)]| -> Vec<bool> {
        parts.iter().map(|part| part.1.unwrap_or(true)).collect()
    };
    let is_same = is_rising(&x) == is_rising(&y) && !x[0].0.is_empty();
    let (score, reason) =
        if is_same { (0.85, "the same order, said once") } else { (NOTHING, "another order") };
    Some(Finding::new(Kind::Choice, score, reason))
}

/// What is sorted by, and whether it rises.
fn order(text: &str) -> (String, Option<bool>) {
    let folded = fold(text);
    let signed = folded.strip_prefix('-').map(|field| (field, false));
    let signed = signed.or_else(|| folded.strip_prefix('+').map(|field| (field, true)));
    if let Some((field, rises)) = signed {
        return (field.trim().to_owned(), Some(rises));
    }
    let (field, last) = folded.rsplit_once([' ', ':', '_', '-', '.', '|']).unwrap_or(("", &folded));
    match last {
        "asc" | "ascending" => (field.trim().to_owned(), Some(true)),
        "desc" | "descending" => (field.trim().to_owned(), Some(false)),
        _ => (folded, None),
    }
}

/// `640x480`, `640 × 480`, `640*480`.
fn sizes(_: &Name, a: &str, b: &str) -> Option<Finding> {
    let (x, y) = (size(a)?, size(b)?);
    Some(verdict(Kind::Quantity, x == y, "the same size", "another size"))
}

fn size(text: &str) -> Option<Vec<u64>> {
    if text.len() > 24 || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let text = text.trim_end_matches("px").trim_end();
    let parts = text.split(['x', 'X', '×', '*']).map(|part| {
        let digits = part.trim().trim_end_matches("px").trim_end();
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { digits.parse().ok() } else { None }
    });
    let sides: Vec<u64> = parts.collect::<Option<_>>()?;
    // `0x10` is a number.
    (sides.len() > 1 && !text.starts_with('0')).then_some(sides)
}

/// Compares a size in a text with one in a list or an object.
pub(super) fn size_shapes(a: &Json, b: &Json) -> Option<Finding> {
    let whole = |value: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and small")]
        (value.fract() == 0.0 && (0.0..1e9).contains(&value)).then_some(value as u64)
    };
    let of = |value: &Json| -> Option<Vec<u64>> {
        match value {
            Json::String(text) => size(text.trim()),
            Json::Array(items) if items.len() == 2 => {
                items.iter().map(|item| number::of(item).and_then(whole)).collect()
            }
            Json::Object(members) if members.len() == 2 => {
                let side = |names: [&str; 2]| {
                    let found =
                        members.iter().find(|(key, _)| names.contains(&key.to_lowercase().as_str()))?;
                    number::of(&found.1).and_then(whole)
                };
                Some(vec![side(["width", "w"])?, side(["height", "h"])?])
            }
            _ => None,
        }
    };
    Some(verdict(Kind::Quantity, of(a)? == of(b)?, "the same size", "another size"))
}

/// `mailto:a@b.org`, `Ann <a@b.org>`.
fn mails(_: &Name, a: &str, b: &str) -> Option<Finding> {
    let (x, y) = (mail(a)?, mail(b)?);
    let is_same = x == y;
    let (score, reason) = if is_same { (0.95, "the same address") } else { (NOTHING, "another address") };
    Some(Finding::new(Kind::Code, score, reason))
}

fn mail(text: &str) -> Option<String> {
    if !text.contains('@') {
        return None;
    }
    let bare = match text.rsplit_once('<') {
        Some((_, address)) => address.strip_suffix('>')?,
        None => text,
    };
    let bare = bare.trim().to_lowercase();
    let bare = bare.strip_prefix("mailto:").unwrap_or(&bare);
    let (user, host) = bare.split_once('@')?;
    let is_part = |part: &str| !part.is_empty() && !part.contains([' ', '/', ',', ';', '@']);
    (is_part(user) && is_part(host) && host.contains('.')).then(|| bare.to_owned())
}

/// Addresses of machines, in which groups of zeros may be left out.
fn machines(_: &Name, a: &str, b: &str) -> Option<Finding> {
    a.matches(':').nth(1)?;
    let of = |text: &str| text.trim_matches(['[', ']']).parse::<Ipv6Addr>().ok();
    Some(verdict(Kind::Code, of(a)? == of(b)?, "the same address", "another address"))
}

/// `jpg`, `.JPEG`, `image/jpeg`.
fn formats(name: &Name, a: &str, b: &str) -> Option<Finding> {
    if !name.is_format() {
        return None;
    }
    let bare = |text: &str| -> Option<String> {
        let text = text.to_lowercase();
        let text = ["image/", "application/", "text/", "audio/", "video/", "."]
            .iter()
            .find_map(|before| text.strip_prefix(before))
            .unwrap_or(&text);
        let is_word = !text.is_empty() && text.len() < 8 && text.bytes().all(|b| b.is_ascii_alphanumeric());
        let text = match text {
            "jpeg" => "jpg",
            "tif" => "tiff",
            "yml" => "yaml",
            "htm" => "html",
            "markdown" => "md",
            "plain" | "text" => "txt",
            text => text,
        };
        is_word.then(|| text.to_owned())
    };
    (bare(a)? == bare(b)?).then(|| Finding::new(Kind::Choice, SAME_OTHERWISE, "the same format"))
}
