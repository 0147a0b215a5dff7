//! Results as they are written into the texts of training data.

use crate::formats::prelude::*;
use crate::literal::value;

/// The results of one turn: blocks of `<tool_response>`, with or without the outermost tags, a list of {`name`,
/// `results`}, or one text.
pub(super) fn results(conversation: &mut Conversation, text: &str) {
    if text.contains("<tool_response>") || text.contains("</tool_response>") {
        for block in blocks(text) {
            conversation.result(outcome(block));
        }
        return;
    }
    let list = if text.trim_start().starts_with('[') { parse(text.as_bytes()).ok() } else { None };
    let list = list.as_ref().map(|(list, _)| list.items()).unwrap_or_default();
    if !list.is_empty() && list.iter().all(|item| item.has("name") && item.get("results").is_some()) {
        for item in list {
            conversation.result(named(item.clone()));
        }
        return;
    }
    conversation.result(outcome(text));
}

/// The texts between the tags; the first opening tag and the last closing tag may be missing.
fn blocks(text: &str) -> Vec<&str> {
    let mut blocks: Vec<&str> = text.split("</tool_response>").collect();
    let last = blocks.pop().unwrap_or_default();
    // The text after the last end tag is not a result, unless it has a beginning.
    if last.contains("<tool_response>") {
        blocks.push(last);
    }
    blocks
        .into_iter()
        .map(|block| block.split_once("<tool_response>").map_or(block, |(_, inside)| inside))
        .collect()
}

/// The result in a block: {`name`, `content`} stays an object, everything else is text.
fn outcome(text: &str) -> Outcome {
    let text = text.trim_matches(['\n', '\r']);
    if text.trim_start().starts_with('{') {
        let value = value(text);
        if let Some(value) =
            value.filter(|value| value.text("name").is_some() && value.get("content").is_some())
        {
            return named(value);
        }
    }
    Outcome::new(None, Some(string(text)))
}

/// A result that names its tool.
fn named(value: Json) -> Outcome {
    Outcome { tool: value.text("name").map(str::to_owned), ..Outcome::new(None, Some(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_may_be_around_or_between() {
        assert_eq!(
            blocks("<tool_response>\na\n</tool_response>\n<tool_response>\nb\n</tool_response>\n"),
            ["\na\n", "\nb\n"]
        );
        assert_eq!(blocks("a\n</tool_response>\n<tool_response>\nb"), ["a\n", "\nb"]);
        assert_eq!(blocks("\n</tool_response>\n<tool_response>\n"), ["\n", "\n"]);
        assert_eq!(blocks("<tool_response>a"), ["a"]);
    }

    #[test]
    fn named_results_are_objects_and_others_are_texts() {
        let result_of = |text: &str| outcome(text).result.unwrap();
        assert!(matches!(result_of("{\"name\": \"t\", \"content\": null}"), Json::Object(_)));
        assert!(matches!(result_of("{'name': 't', 'content': {'a': None}}"), Json::Object(_)));
        assert_eq!(result_of("\n{\"city\": \"Oslo\"}\n"), string("{\"city\": \"Oslo\"}"));
    }
}
