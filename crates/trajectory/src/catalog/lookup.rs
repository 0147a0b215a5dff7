//! Which tool of a catalog a call means, where the catalog does not know servers: clients put a server before the name, each
//! in its own way.

use std::collections::HashMap;

/// The longest name that is compared with others, in bytes. Model interfaces allow 64 to 128.
const LONGEST: usize = 512;

/// What separates the parts of names.
const BETWEEN: [&str; 5] = ["__", "/", ".", ":", "-"];

/// One tool, or several that cannot be distinguished.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Candidate {
    One(String),
    Several,
}

/// Tools of which no server is known, by the ways in which calls may write them.
#[derive(Debug, Clone, Default)]
pub struct ToolLookup {
    /// By the whole name, whatever separates its parts.
    whole: HashMap<String, Candidate>,
    /// By the name without a server.
    bare: HashMap<String, Candidate>,
}

impl ToolLookup {
    /// Adds the name of a tool. A name with a slash has a server, which a call has to name as well: it is not added.
    pub fn add(&mut self, name: &str) {
        if name.contains('/') || name.len() > LONGEST {
            return;
        }
        for (known, key) in [(&mut self.whole, flat(name)), (&mut self.bare, flat(bare(name)))] {
            let candidate = known.entry(key).or_insert_with(|| Candidate::One(name.to_owned()));
            if *candidate != Candidate::One(name.to_owned()) {
                *candidate = Candidate::Several;
            }
        }
    }

    /// The only tool that a call with this name can mean: the same name in another writing, the name behind a server, or
    /// the tool that has a server in front where the call has none.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&str> {
        if self.whole.is_empty() || name.len() > LONGEST {
            return None;
        }
        let whole = flat(name);
        let candidate = self.whole.get(&whole).or_else(|| self.whole.get(&flat(bare(name))));
        match candidate.or_else(|| self.bare.get(&whole)) {
            Some(Candidate::One(tool)) => Some(tool),
            Some(Candidate::Several) | None => None,
        }
    }
}

/// A name with `_` between all of its parts, without the prefix of MCP's clients.
fn flat(name: &str) -> String {
    let name = name.strip_prefix("mcp__").unwrap_or(name);
    BETWEEN.iter().fold(name.to_owned(), |name, sign| name.replace(sign, "_"))
}

/// A name without the server in front.
fn bare(name: &str) -> &str {
    let behind = |sign: &&str| name.rsplit_once(*sign).map(|(_, tool)| tool).filter(|tool| !tool.is_empty());
    ["/", "__", ".", ":"].iter().find_map(behind).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool_for(known: &[&str], name: &str) -> Option<String> {
        let mut lookup = ToolLookup::default();
        for name in known {
            lookup.add(name);
        }
        lookup.find(name).map(str::to_owned)
    }

    #[test]
    fn a_server_in_front_is_left_out_on_either_side() {
        for call in ["get_weather", "s/get_weather", "mcp__s__get_weather", "s.get_weather", "s:get-weather"]
        {
            assert_eq!(tool_for(&["get_weather", "t"], call).as_deref(), Some("get_weather"), "{call}");
        }
        for known in ["s__get_weather", "mcp__s__get_weather", "s.get_weather", "s_get_weather"] {
            assert_eq!(tool_for(&[known, "t"], "s/get_weather").as_deref(), Some(known), "{known}");
        }
        assert_eq!(tool_for(&["mcp__s__t"], "t").as_deref(), Some("mcp__s__t"));
    }

    #[test]
    fn what_may_be_another_tool_is_not_found() {
        for (known, call) in [
            (&["user"][..], "delete_user"),
            (&["user_account"], "delete_user_account"),
            (&["a__t", "b__t"], "t"),
            (&["a-t", "a_t"], "a.t"),
            (&["t"], "u"),
            (&["s/t"], "t"),
            (&["t"], ""),
            (&[], "t"),
        ] {
            assert_eq!(tool_for(known, call), None, "{known:?} {call}");
        }
        assert_eq!(tool_for(&["a__t", "b__t"], "b/t").as_deref(), Some("b__t"));
    }
}
