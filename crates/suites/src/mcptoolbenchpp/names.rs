//! Which tools may stand in for the tool of a reference's call.

use m3_trajectory::Call;
use m3_trajectory::tool_names::{is_same_tool, similar_tools};

/// How the tool of a call fits the tool of a reference's call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// The same tool.
    Same,
    /// One of the `similar_tools` of the reference's call.
    Similar,
}

impl Fit {
    /// How a call's tool fits; `None` if it is another tool.
    pub(super) fn new(call: &Call, gold: &Call) -> Option<Self> {
        if is_same_tool(&call.tool, &gold.tool) {
            return Some(Self::Same);
        }
        let mut similar = similar_tools(gold).into_iter();
        similar.any(|name| is_same_tool(&call.tool, &name)).then_some(Self::Similar)
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    fn call(tool: &str, similar: &str) -> Call {
        let extra = vec![("similar_tools".to_owned(), parse(similar.as_bytes()).unwrap().0)];
        Call { tool: tool.to_owned(), arguments: None, result: None, extra }
    }

    #[test]
    fn similar_tools_are_names_or_objects() {
        let gold =
            call("a/open", r#"["b/open", {"name": "go", "mcp_server": "c"}, {"name": "walk"}, 7, null]"#);
        for (tool, fit) in [
            ("a/open", Some(Fit::Same)),
            ("open", Some(Fit::Same)),
            ("b/open", Some(Fit::Similar)),
            ("c/go", Some(Fit::Similar)),
            ("go", Some(Fit::Similar)),
            ("d/go", None),
            ("d/walk", Some(Fit::Similar)),
            ("c/open", None),
            ("", None),
        ] {
            assert_eq!(Fit::new(&call(tool, "null"), &gold), fit, "{tool}");
        }
    }
}
