//! Which tools of a server are offered.

use super::config::ToolFilter;

/// Whether the filter lets a tool through: it is on the list of allowed tools, if there is one, and not on that of
/// denied ones.
pub(super) fn is_offered(filter: &ToolFilter, tool: &str) -> bool {
    let any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, tool));
    filter.allow.as_deref().is_none_or(any) && !any(&filter.deny)
}

/// Whether the name fits the pattern, in which `*` stands for any text, even an empty one.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    // A pattern always has a first part.
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        // Taking the first match leaves the most text for the following parts.
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "a"),
            ("a*", "abc"),
            ("*c", "abc"),
            ("a*c", "abbc"),
            ("a*b*c", "axbxbc"),
            ("a", "a"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("", "a"), ("a", "ab"), ("a*b", "a"), ("ab*ba", "aba"), ("*a*", "bcd"), ("a*", "ba")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn denied_is_denied_even_if_allowed() {
        let filter = ToolFilter { allow: Some(vec!["read_*".into()]), deny: vec!["*_all".into()] };
        assert!(is_offered(&filter, "read_file"));
        assert!(!is_offered(&filter, "write_file"));
        assert!(!is_offered(&filter, "read_all"));
        assert!(is_offered(&ToolFilter::default(), "anything"));
    }
}
