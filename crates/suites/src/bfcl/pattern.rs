//! Regular expressions for values in the source of Java and JavaScript.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

static PATTERNS: LazyLock<HashMap<&str, Regex>> = LazyLock::new(|| {
    let rows = rows().filter_map(|line| line.split_once(' '));
    // Python's `\s` matches four more separators than Rust's.
    let compiled = |pattern: &str| Regex::new(&pattern.replace(r"\s", r"[\s\x1c-\x1f]"));
    rows.filter_map(|(name, pattern)| Some((name, compiled(pattern).ok()?))).collect()
});

fn rows() -> impl Iterator<Item = &'static str> {
    include_str!("../../tables/bfcl_patterns.txt").lines().filter(|line| !line.starts_with('#'))
}

/// The first match of an expression of the table in a text.
pub(super) fn find<'t>(name: &str, text: &'t str) -> Option<Captures<'t>> {
    PATTERNS.get(name)?.captures(text)
}

/// The matches of the first group of an expression.
pub(super) fn firsts<'t>(name: &str, text: &'t str) -> Vec<&'t str> {
    all(name, text).iter().filter_map(first).collect()
}

/// All matches of an expression of the table in a text.
pub(super) fn all<'t>(name: &str, text: &'t str) -> Vec<Captures<'t>> {
    PATTERNS.get(name).map(|pattern| pattern.captures_iter(text).collect()).unwrap_or_default()
}

/// The match of the first group.
pub(super) fn first<'t>(found: &Captures<'t>) -> Option<&'t str> {
    found.get(1).map(|group| group.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_an_expression() {
        assert_eq!(rows().count(), PATTERNS.len());
    }
}
