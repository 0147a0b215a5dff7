//! The size of a prepared regular expression: each byte of a text may be compared with each of its states.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The size of an expression that cannot be read, such as one that looks around: the validator limits how often it goes back.
const UNREADABLE: u64 = 4096;

/// The approximate number of states of a regular expression.
pub(super) fn states(pattern: &str) -> u64 {
    // In JSON Schemas, `\w` and the like mean ASCII characters; an expression with other characters needs Unicode.
    let parsed =
        |is_unicode| ParserBuilder::new().utf8(is_unicode).unicode(is_unicode).build().parse(pattern).ok();
    parsed(false).or_else(|| parsed(true)).map_or(UNREADABLE, |parsed| states_of(&parsed))
}

fn states_of(part: &Hir) -> u64 {
    let sum = |parts: &[Hir]| parts.iter().fold(1, |sum: u64, part| sum.saturating_add(states_of(part)));
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => class.ranges().len() as u64,
        HirKind::Capture(capture) => states_of(&capture.sub),
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min).max(1);
            states_of(&repeated.sub).saturating_add(1).saturating_mul(times.into())
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_multiply_and_classes_of_ascii_are_small() {
        assert!((60..200).contains(&states("^[a-z0-9_-]{1,64}$")));
        assert!(states(r"^[\w.+-]+@[\w-]+\.[a-z]{2,}$") < 20);
        assert!(states("1[01]{3000}[\u{100}-\u{fff}]") > 3000);
        assert!(states("(([01]?[0-1a]?){70}){10}") > 1400);
        assert_eq!(states("("), UNREADABLE);
    }
}
