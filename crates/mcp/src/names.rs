//! Tool names in the form that models can use.
//!
//! The benchmark writes `server/tool`. The interfaces of models allow `^[A-Za-z0-9_-]{1,64}$`, so a model sees
//! `server__tool`: other characters become `_`, and a longer name is cut and ends in a hash of the whole name. Two
//! tools with the same name for a model are an error; nothing is guessed.

use std::collections::HashMap;

use m3_support::text::{hexadecimal, shortened};
use sha2::{Digest as _, Sha256};

use super::ToolName;

/// The longest name that every model's interface accepts, in characters.
pub const MAX_MODEL_NAME: usize = 64;

/// Bytes of the hash at the end of a name that was cut, two hexadecimal digits each.
const HASH_BYTES: usize = 5;

/// The names of a set of tools, in both directions.
#[derive(Debug, Clone, Default)]
pub struct ModelNames {
    tools: HashMap<String, ToolName>,
}

/// Two tools have the same name for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tools `{}` and `{}` are both `{name}` to a model\nhint: rename a server, or put one of the tools into \
     the list `deny` of its server",
    shortened(&.first.to_string(), 100), shortened(&.second.to_string(), 100)
)]
pub struct NameCollision {
    /// The name for models.
    pub name: String,
    /// A tool with this name.
    pub first: ToolName,
    /// Another tool with this name.
    pub second: ToolName,
}

impl ModelNames {
    /// The names of these tools. A tool may be given more than once.
    ///
    /// # Errors
    /// [`NameCollision`] if two tools would have the same name.
    pub fn new(tools: impl IntoIterator<Item = ToolName>) -> Result<Self, NameCollision> {
        let mut names = Self::default();
        for tool in tools {
            let name = model_name(&tool);
            let first = names.tools.entry(name.clone()).or_insert_with(|| tool.clone());
            if *first != tool {
                return Err(NameCollision { name, first: first.clone(), second: tool });
            }
        }
        Ok(names)
    }

    /// The tool that a model means by this name, if it is in the set.
    #[must_use]
    pub fn tool(&self, model_name: &str) -> Option<&ToolName> {
        self.tools.get(model_name)
    }

    /// The name of a tool for a model, if it is in the set.
    #[must_use]
    pub fn model_name(&self, tool: &ToolName) -> Option<String> {
        let name = model_name(tool);
        (self.tools.get(&name) == Some(tool)).then_some(name)
    }
}

/// The name of a tool for a model: 1 to 64 of `A-Z a-z 0-9 _ -`. Safe in file names too.
#[must_use]
pub fn model_name(tool: &ToolName) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let chars = tool.server.chars().chain("__".chars()).chain(tool.tool.chars());
    // One character more than fits shows whether the name has to be cut; names may have any length.
    let mut name: String = chars.take(MAX_MODEL_NAME + 1).map(allowed).collect();
    if name.len() > MAX_MODEL_NAME {
        let hash = Sha256::digest(tool.to_string());
        name.truncate(MAX_MODEL_NAME - 2 * HASH_BYTES - 1);
        name.push('_');
        name.push_str(&hexadecimal(&hash[..HASH_BYTES]));
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tool(name: &str) -> ToolName {
        ToolName::parse(name).unwrap()
    }

    fn is_allowed(name: &str) -> bool {
        (1..=MAX_MODEL_NAME).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    }

    #[test]
    fn names_are_readable_where_they_fit() {
        assert_eq!(model_name(&tool("wiki/summary")), "wiki__summary");
        assert_eq!(model_name(&tool("dinox-mcp/detect-all-objects")), "dinox-mcp__detect-all-objects");
        assert_eq!(model_name(&tool("a.b/c d/é")), "a_b__c_d__");
        let long = model_name(&tool(&format!("server/{}", "x".repeat(100))));
        // `sha256sum` of `server/` and 100 times `x` begins with a5e3afb55a.
        assert!(
            is_allowed(&long) && long.starts_with("server__xxxxx") && long.ends_with("_a5e3afb55a"),
            "{long}"
        );
        assert_ne!(long, model_name(&tool(&format!("server/{}", "x".repeat(101)))));
    }

    #[test]
    fn tools_that_look_the_same_are_an_error() {
        for (first, second) in [("a/b.c", "a/b_c"), ("a__b/c", "a/b__c"), ("a/é", "a/ü")] {
            let collision = ModelNames::new([tool(first), tool(second)]).unwrap_err();
            assert_eq!((collision.first, collision.second), (tool(first), tool(second)));
        }
        let same = ModelNames::new([tool("a/b"), tool("a/b")]).unwrap();
        assert_eq!(same.tools.len(), 1);
        assert_eq!(same.model_name(&tool("a/c")), None);
        // `a/b.c` is not the tool that the table has under this name.
        assert_eq!(ModelNames::new([tool("a/b_c")]).unwrap().model_name(&tool("a/b.c")), None);
    }

    proptest! {
        #[test]
        fn every_name_is_allowed_and_leads_back(server in "[^/]{1,80}", name in ".{1,80}") {
            let tool = ToolName { server, tool: name };
            let names = ModelNames::new([tool.clone()]).unwrap();
            let model_name = names.model_name(&tool).unwrap();
            prop_assert!(is_allowed(&model_name));
            prop_assert_eq!(names.tool(&model_name), Some(&tool));
        }
    }
}
