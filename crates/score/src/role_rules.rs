//! The roles of tools, where the user gives them: `m3 score --roles FILE`.

use std::path::Path;

use m3_flow::CallRole;
use m3_support::text::shortened;
use m3_trajectory::json::Json;
use m3_trajectory::{WholeFile, WholeFileError};

/// The largest file, in MiB.
const LARGEST: u64 = 8;

/// The most names of a file: each is tried for each call.
const MOST_RULES: usize = 1_000;

/// The longest name in a message, in columns.
const NAME: usize = 60;

/// The role that a file gives to the calls of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleRule {
    /// The calls look at something.
    Looks,
    /// The calls change something.
    Changes,
    /// The calls do not count: the tool is the harness's own.
    Ignored,
}

/// Rules by names of tools, in which `*` stands for any characters; the first that fits counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleRules {
    rules: Vec<(String, RoleRule)>,
    name: String,
    digest: String,
}

/// Why a file of roles is refused.
#[derive(Debug, thiserror::Error)]
pub enum RoleRulesError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] WholeFileError),
    /// The file is not an object of names and roles.
    #[error(
        "`{file}`: {problem}\n\
         hint: a file of roles is like {{\"mail/send\": \"changes\", \"*/get_*\": \"looks\", \"harness/*\": \"ignored\"}}"
    )]
    Content {
        /// The name of the file.
        file: String,
        /// What is wrong.
        problem: String,
    },
}

impl RoleRules {
    /// Reads a file: an object of names and `looks`, `changes` or `ignored`.
    ///
    /// # Errors
    /// [`RoleRulesError`]
    pub fn open(path: &Path) -> Result<Self, RoleRulesError> {
        let file = WholeFile::read(path, LARGEST)?;
        let wrong = |problem: String| RoleRulesError::Content { file: file.name.clone(), problem };
        let Json::Object(members) = &file.value else {
            return Err(wrong(format!("it should be an object, and is {}", file.value.kind())));
        };
        let rule = |(pattern, role): &(String, Json)| match role.as_str() {
            Some("looks") => Ok((pattern.clone(), RoleRule::Looks)),
            Some("changes") => Ok((pattern.clone(), RoleRule::Changes)),
            Some("ignored") => Ok((pattern.clone(), RoleRule::Ignored)),
            _ => {
                let pattern = shortened(pattern, NAME);
                Err(wrong(format!("the role of `{pattern}` should be `looks`, `changes` or `ignored`")))
            }
        };
        if members.len() > MOST_RULES {
            return Err(wrong(format!("it has more than {MOST_RULES} names; `*` stands for any characters")));
        }
        let rules = members.iter().map(rule).collect::<Result<_, _>>()?;
        // If the file has a name twice, only one of its roles is left here, so this is refused.
        if let Some(oddity) = file.oddities.first() {
            let problem = oddity.message.split(';').next().unwrap_or_default();
            return Err(wrong(format!("at `{}`: {problem}", shortened(&oddity.pointer, NAME))));
        }
        Ok(Self { rules, name: file.name.clone(), digest: file.digest.clone() })
    }

    /// The file's name and the SHA-256 of its content in hexadecimal.
    #[must_use]
    pub fn file(&self) -> (&str, &str) {
        (&self.name, &self.digest)
    }

    /// The first rule that fits a tool.
    #[must_use]
    pub fn of_tool(&self, tool: &str) -> Option<RoleRule> {
        self.rules.iter().find(|(pattern, _)| fits(pattern, tool)).map(|(_, rule)| *rule)
    }

    /// The role of the calls of a tool.
    pub(super) fn role(&self, tool: &str) -> Option<CallRole> {
        Some(match self.of_tool(tool)? {
            RoleRule::Changes => CallRole::Changes,
            RoleRule::Looks | RoleRule::Ignored => CallRole::Looks,
        })
    }

    /// The patterns that fit none of these tools.
    pub fn unused<'s>(&'s self, tools: &'s [&str]) -> impl Iterator<Item = &'s str> {
        let is_unused = |pattern: &&str| !tools.iter().any(|tool| fits(pattern, tool));
        self.rules.iter().map(|(pattern, _)| pattern.as_str()).filter(is_unused)
    }
}

/// Whether a name fits a pattern, in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return name.ends_with(piece);
        }
        let Some(at) = name.find(piece) else { return false };
        name = &name[at + piece.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, name, does) in [
            ("mail/send", "mail/send", true),
            ("mail/send", "mail/sender", false),
            ("*", "", true),
            ("harness/*", "harness/think", true),
            ("harness/*", "my/harness/think", false),
            ("*/get_*", "maps/get_route", true),
            ("*/get_*", "maps/forget_it", false),
            ("*_file", "files/read_file", true),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
        ] {
            assert_eq!(fits(pattern, name), does, "{pattern} {name}");
        }
    }
}
