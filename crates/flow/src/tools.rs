//! The meaning of a tool's name: whether it changes something, or only looks.

use std::cell::RefCell;

use m3_support::name_cache::NameCache;

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

/// First words in the names of tools that change nothing, but may make a file from another one.
const MAKING_OF_OTHERS: [&str; 3] = ["convert", "perform", "translate"];

/// The meaning of a tool's name.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each answers a question of its own")]
struct ToolSays {
    looks: bool,
    may_make: bool,
    changes: bool,
    creates: bool,
}

impl ToolSays {
    fn new(tool: &str) -> Self {
        let words = words(tool);
        let first = words.first().map_or("", String::as_str);
        let has_any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let looks = LOOKING.contains(&first);
        let changes_first = words.len() > 1 && CHANGING_FIRST.contains(&first);
        Self {
            looks,
            may_make: !looks || MAKING_OF_OTHERS.contains(&first),
            changes: !looks && (has_any(&CHANGING) || changes_first),
            creates: has_any(&CREATING),
        }
    }

    /// The meaning of a tool's name, without its server.
    fn from_name(tool: &str) -> Self {
        thread_local! {
            static TOOLS: RefCell<NameCache<ToolSays>> = RefCell::default();
        }
        TOOLS.with_borrow_mut(|tools| tools.of_name(tool, Self::new))
    }
}

/// Whether a tool of this name may make a new file from its input files.
#[must_use]
pub fn may_make_by_name(tool: &str) -> bool {
    ToolSays::from_name(tool).may_make
}

/// Whether a tool of this name only looks.
#[must_use]
pub fn looks_by_name(tool: &str) -> bool {
    ToolSays::from_name(tool).looks
}

/// Whether a tool of this name changes the state of its server.
#[must_use]
pub fn changes_by_name(tool: &str) -> bool {
    ToolSays::from_name(tool).changes
}

/// Words, anywhere in its name, that mark a tool that creates something new.
const CREATING: [&str; 11] =
    ["create", "write", "save", "generate", "new", "make", "init", "export", "build", "record", "compose"];

/// Whether a tool of this name creates something new, rather than changing something that exists.
pub(crate) fn creates_by_name(tool: &str) -> bool {
    ToolSays::from_name(tool).creates
}

/// Whether a tool, as `server/tool`, creates something new, by its name.
#[must_use]
pub fn creates(tool: &str) -> bool {
    creates_by_name(without_server(tool))
}
