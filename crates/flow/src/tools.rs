//! What the name of a tool says: whether it changes something, or only looks.

use super::names::words;

/// First words in the names of tools that only read.
const LOOKING: [&str; 26] = [
    "get",
    "list",
    "search",
    "find",
    "fetch",
    "read",
    "lookup",
    "query",
    "show",
    "describe",
    "detect",
    "calculate",
    "compute",
    "count",
    "check",
    "view",
    "scan",
    "perform",
    "recognize",
    "convert",
    "compare",
    "analyze",
    "validate",
    "summarize",
    "translate",
    "estimate",
];

/// Words that mark a tool that changes something, anywhere in its name.
const CHANGING: [&str; 42] = [
    "create",
    "update",
    "delete",
    "remove",
    "write",
    "send",
    "insert",
    "append",
    "save",
    "rename",
    "upload",
    "publish",
    "edit",
    "modify",
    "manage",
    "clear",
    "reset",
    "replace",
    "patch",
    "commit",
    "buy",
    "purchase",
    "pay",
    "transfer",
    "cancel",
    "submit",
    "register",
    "subscribe",
    "execute",
    "navigate",
    "click",
    "fill",
    "press",
    "login",
    "logout",
    "upsert",
    "install",
    "unmerge",
    "generate",
    "checkout",
    "reserve",
    "confirm",
];

/// Words that mark a change only at the beginning of a name of several words: `add_slide` changes a presentation,
/// `add` adds two numbers, `search_hot_posts` posts nothing.
const CHANGING_FIRST: [&str; 26] = [
    "add", "set", "put", "post", "move", "book", "start", "stop", "open", "close", "merge", "push", "drop",
    "import", "apply", "format", "copy", "populate", "optimize", "switch", "select", "choose", "enable",
    "disable", "toggle", "assign",
];

/// A tool's name without its server.
#[must_use]
pub fn without_server(tool: &str) -> &str {
    tool.split_once('/').map_or(tool, |(_, tool)| tool)
}

/// Words at the beginning of names of tools that change nothing, but may make a file of another one.
const MAKING_OF_OTHERS: [&str; 3] = ["convert", "perform", "translate"];

/// Whether a tool of this name may make a file of those that it is given.
#[must_use]
pub fn may_make_by_name(tool: &str) -> bool {
    !looks_by_name(tool)
        || words(tool).first().is_some_and(|first| MAKING_OF_OTHERS.contains(&first.as_str()))
}

/// Whether a tool of this name only looks.
#[must_use]
pub fn looks_by_name(tool: &str) -> bool {
    words(tool).first().is_some_and(|first| LOOKING.contains(&first.as_str()))
}

/// Whether a tool of this name changes what its server holds.
pub fn changes_by_name(tool: &str) -> bool {
    let words = words(tool);
    let Some(first) = words.first().map(String::as_str) else { return false };
    if looks_by_name(tool) {
        return false;
    }
    words.iter().any(|word| CHANGING.contains(&word.as_str()))
        || (words.len() > 1 && CHANGING_FIRST.contains(&first))
}

/// Words that mark a tool that makes what was not there, anywhere in its name.
const CREATING: [&str; 11] =
    ["create", "write", "save", "generate", "new", "make", "init", "export", "build", "record", "compose"];

/// Whether a tool of this name makes what was not there, rather than changing what was.
pub(crate) fn creates_by_name(tool: &str) -> bool {
    words(tool).iter().any(|word| CREATING.contains(&word.as_str()))
}

/// Whether a tool, as `server/tool`, makes what was not there by its name.
#[must_use]
pub fn creates(tool: &str) -> bool {
    let tool = without_server(tool);
    let letters = tool.to_ascii_lowercase();
    // Most names hold no such word, and need not be taken apart.
    CREATING.iter().any(|word| letters.contains(word)) && creates_by_name(tool)
}
