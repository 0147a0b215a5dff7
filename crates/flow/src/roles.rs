//! Whether a call looks at the world or changes it, by the tool's annotation and by the verbs of its name.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::LazyLock;

use m3_support::name_cache::NameCache;

use super::names::words;
use super::tools::{changes_by_name, looks_by_name};

/// The effect of a call on the world.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CallRole {
    /// The call reads or computes.
    Looks,
    /// The call writes, sends, books, creates or removes something.
    Changes,
    /// Neither the annotation nor the name shows the effect.
    #[default]
    Unknown,
}

/// The verbs that decide a role, besides those by which files and values are followed.
struct Verbs {
    looks: HashSet<&'static str>,
    changes: HashSet<&'static str>,
    changes_first: HashSet<&'static str>,
}

static VERBS: LazyLock<Verbs> = LazyLock::new(|| {
    let line = |name: &str| {
        let mut lines = include_str!("role_verbs.txt").lines();
        let line = lines.find_map(|line| line.split_once(": ").filter(|(begin, _)| *begin == name));
        line.map_or_else(HashSet::new, |(_, verbs)| verbs.split(' ').collect())
    };
    Verbs { looks: line("looks"), changes: line("changes"), changes_first: line("changes first") }
});

impl CallRole {
    /// The role's name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Looks => "looks",
            Self::Changes => "changes",
            Self::Unknown => "unknown",
        }
    }

    /// The role of a call of this tool: by the annotation `readOnlyHint` of the Model Context Protocol if the tool has
    /// it, else by the tool's name.
    #[must_use]
    pub fn of_tool(tool: &str, read_only: Option<bool>) -> Self {
        thread_local! {
            static TOOLS: RefCell<NameCache<CallRole>> = RefCell::default();
        }
        match read_only {
            Some(true) => Self::Looks,
            Some(false) => Self::Changes,
            None => TOOLS.with_borrow_mut(|tools| tools.of_name(tool, Self::of_name)),
        }
    }

    fn of_name(tool: &str) -> Self {
        // `server/tool`, `email.send`, `mcp__files__read`.
        let tool = tool.rsplit(['/', '.', ':']).next().unwrap_or(tool);
        let tool = tool.rsplit("__").next().unwrap_or(tool);
        let words = words(tool);
        let first = words.first().map_or("", String::as_str);
        if looks_by_name(tool) || VERBS.looks.contains(first) {
            return Self::Looks;
        }
        let changes = words.iter().any(|word| VERBS.changes.contains(word.as_str()));
        if changes || changes_by_name(tool) || VERBS.changes_first.contains(first) {
            return Self::Changes;
        }
        Self::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_and_annotations_tell_roles() {
        let role = |tool: &str| CallRole::of_tool(tool, None);
        for tool in
            ["maps/get_route", "email.search_emails", "mcp__files__read_file", "retrieve_invoice", "think"]
        {
            assert_eq!(role(tool), CallRole::Looks, "{tool}");
        }
        for tool in
            ["email.forward_email", "crm.add_customer", "place_order", "mv", "mcp__mail__send", "lockDoors"]
        {
            assert_eq!(role(tool), CallRole::Changes, "{tool}");
        }
        for tool in ["", "mean", "image/crop", "SAM2", "add"] {
            assert_eq!(role(tool), CallRole::Unknown, "{tool}");
        }
        assert_eq!(CallRole::of_tool("s/send", Some(true)), CallRole::Looks);
        assert_eq!(CallRole::of_tool("s/get", Some(false)), CallRole::Changes);
    }
}
