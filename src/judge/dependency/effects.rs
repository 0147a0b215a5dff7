//! What a call does besides returning something: the files that it reads and writes, and whether it changes what its
//! server holds.

use super::leaves::{Leaf, argument_leaves};
use super::names::{is_input, is_output};
use crate::judge::ChainCall;
use crate::trajectory::json::Json;

/// First words of names of tools that only look.
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

/// Words that say that a tool changes something, wherever they stand in its name.
const CHANGING: [&str; 37] = [
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
];

/// Words that say so only where they begin a name of several words: `add_slide` changes a presentation, `add` adds two
/// numbers, `search_hot_posts` posts nothing.
const CHANGING_FIRST: [&str; 14] = [
    "add", "set", "put", "post", "move", "book", "start", "stop", "open", "close", "merge", "push", "drop",
    "import",
];

/// A file's or folder's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePath {
    parts: Vec<String>,
    is_file: bool,
    is_absolute: bool,
}

impl FilePath {
    /// A path, where the text looks like one: it has a folder that says so (`./media`, `/tmp/x`) or ends as files do
    /// (`poster.png`).
    pub(crate) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix("file://").unwrap_or(text);
        if text.is_empty()
            || text.len() > 4096
            || text.contains("://")
            || text.contains(['\n', '\0', '?', '*', '"'])
        {
            return None;
        }
        let is_rooted = ["/", "./", "../", "~/", ".\\"].iter().any(|root| text.starts_with(root));
        let parts: Vec<String> = text
            .split(['/', '\\'])
            .filter(|part| !part.is_empty() && *part != ".")
            .map(str::to_owned)
            .collect();
        let name = parts.last()?;
        let is_file = name.rsplit_once('.').is_some_and(|(stem, end)| {
            (1..=5).contains(&end.len())
                && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && end.bytes().any(|byte| byte.is_ascii_alphabetic())
                && stem.chars().any(char::is_alphanumeric)
        });
        (is_file || is_rooted).then_some(Self { is_file, is_absolute: text.starts_with('/'), parts })
    }

    /// Whether both may be the same file, or one a folder that the other is in. Of a path and a shorter one that it ends
    /// with nobody knows whether they are the same: they may be.
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        let (short, long) = if self.parts.len() <= other.parts.len() { (self, other) } else { (other, self) };
        let is_end = !(short.is_absolute && long.is_absolute && short.parts.len() != long.parts.len())
            && long.parts.ends_with(&short.parts);
        is_end || (!short.is_file && long.parts.starts_with(&short.parts))
    }
}

/// A path among the arguments of a call.
#[derive(Debug, Clone)]
pub(crate) struct PathUse {
    /// The path.
    pub(crate) path: FilePath,
    /// It as the arguments have it.
    pub(crate) text: String,
    /// Where it stands in the arguments: a JSON pointer.
    pub(crate) pointer: String,
    /// The argument is named as one that something is written to.
    pub(crate) is_named_output: bool,
    /// The call writes it.
    pub(crate) is_written: bool,
}

/// What a call does.
#[derive(Debug, Clone)]
pub(crate) struct Effects {
    /// The server.
    pub(crate) server: String,
    /// Whether the tool changes what its server holds.
    pub(crate) changes_state: bool,
    /// The paths among its arguments.
    pub(crate) paths: Vec<PathUse>,
    /// Other texts among its arguments.
    texts: Vec<String>,
    /// Whether the tool only looks, as far as is known.
    only_looks: bool,
    /// Its result has a picture, which a model looks at.
    pub(crate) shows_picture: bool,
}

/// Why two calls keep their order though no value tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// A clause, such as "both write `a.png`".
    pub(crate) reason: String,
    /// What has been found is sure; otherwise it is only likely.
    pub(crate) is_sure: bool,
}

/// More paths and texts than this of one call say nothing new.
const MAX_NAMED: usize = 64;

impl Effects {
    /// What a call does, as far as its tool and its arguments tell.
    pub(crate) fn of(call: &ChainCall) -> Self {
        let (server, tool) = call.tool.split_once('/').unwrap_or(("", &call.tool));
        let changes_state = match call.read_only {
            Some(read_only) => !read_only,
            None => changes_by_name(tool),
        };
        let only_looks = !changes_state && (call.read_only == Some(true) || looks_by_name(tool));
        let (mut paths, mut texts) = (Vec::new(), Vec::new());
        for Leaf { value, name, pointer, .. } in argument_leaves(call.arguments.as_ref()) {
            let Some(text) = value.as_str() else { continue };
            if paths.len() + texts.len() >= MAX_NAMED {
                break;
            }
            let Some(path) = FilePath::new(text) else {
                texts.push(text.to_owned());
                continue;
            };
            let is_named_output = is_output(&name) && call.read_only != Some(true);
            let is_written = is_named_output || (changes_state && !is_input(&name));
            paths.push(PathUse { path, text: text.to_owned(), pointer, is_named_output, is_written });
        }
        let shows_picture = call.result.as_ref().is_some_and(|result| has_picture(result, 0));
        Self { server: server.to_owned(), changes_state, paths, texts, only_looks, shows_picture }
    }

    /// Why this call, which came first, and a later one keep their order; `None` where they need not.
    pub(crate) fn conflict(&self, later: &Self) -> Option<Conflict> {
        let file = self.file_conflict(later);
        if file.as_ref().is_some_and(|conflict| conflict.is_sure) {
            return file;
        }
        let is_state = !self.server.is_empty()
            && self.server == later.server
            && (self.changes_state || later.changes_state)
            && !self.is_about_other_files(later);
        let state = || {
            let first = if self.changes_state { "the first" } else { "the second" };
            Conflict { reason: format!("{first} changes what `{}` holds", self.server), is_sure: false }
        };
        file.or_else(|| is_state.then(state))
    }

    /// Whether this call may change what another one sees: it writes a file that the other names, or changes what the
    /// server of both holds.
    pub(crate) fn changes_what_is_seen_by(&self, other: &Self) -> bool {
        let writes = self.paths.iter().filter(|path| path.is_written);
        let mut meets =
            writes.flat_map(|path| other.paths.iter().map(move |found| path.path.may_meet(&found.path)));
        meets.any(|meets| meets)
            || (self.changes_state
                && !self.server.is_empty()
                && self.server == other.server
                && !self.is_about_other_files(other))
    }

    /// Whether this call only looked at a file of which a later one makes something: where to cut or draw may come from
    /// what it saw.
    pub(crate) fn looked_at_what_is_used_by(&self, later: &Self) -> bool {
        let read = |effects: &'_ Self| -> Vec<FilePath> {
            effects.paths.iter().filter(|path| !path.is_named_output).map(|path| path.path.clone()).collect()
        };
        let is_possible =
            self.only_looks && !later.only_looks && !self.paths.is_empty() && !later.paths.is_empty();
        is_possible && read(self).iter().any(|path| read(later).iter().any(|found| found.may_meet(path)))
    }

    fn file_conflict(&self, later: &Self) -> Option<Conflict> {
        let mut likely = None;
        for first in &self.paths {
            for second in &later.paths {
                if !(first.is_written || second.is_written) || !first.path.may_meet(&second.path) {
                    continue;
                }
                // Two calls that save into one folder write different files.
                if first.is_written && second.is_written && !(first.path.is_file && second.path.is_file) {
                    continue;
                }
                let path = crate::text::shortened(&second.text, 80);
                let reason = match (first.is_written, second.is_written) {
                    (true, true) => format!("both write `{path}`"),
                    (true, false) => format!("the first writes `{path}`, which the second reads"),
                    (false, _) => format!("the second writes `{path}`, which the first reads"),
                };
                let is_sure = first.is_named_output || second.is_named_output;
                if is_sure {
                    return Some(Conflict { reason, is_sure });
                }
                likely.get_or_insert(Conflict { reason, is_sure });
            }
        }
        likely
    }

    /// Both name files, none of them in common, and say nothing else that is the same.
    fn is_about_other_files(&self, other: &Self) -> bool {
        let has_files = |effects: &Self| effects.paths.iter().any(|path| path.path.is_file);
        has_files(self)
            && has_files(other)
            && !self.paths.iter().any(|path| other.paths.iter().any(|found| path.path.may_meet(&found.path)))
            && !self.texts.iter().any(|text| other.texts.contains(text))
    }
}

fn looks_by_name(tool: &str) -> bool {
    super::names::words(tool).first().is_some_and(|first| LOOKING.contains(&first.as_str()))
}

fn changes_by_name(tool: &str) -> bool {
    let words = super::names::words(tool);
    let Some(first) = words.first().map(String::as_str) else { return false };
    if looks_by_name(tool) {
        return false;
    }
    words.iter().any(|word| CHANGING.contains(&word.as_str()))
        || (words.len() > 1 && CHANGING_FIRST.contains(&first))
}

/// An item of a result that is a picture, as the Model Context Protocol has them.
fn has_picture(result: &Json, depth: usize) -> bool {
    let is_picture = |value: &Json| {
        value.get("type").and_then(Json::as_str) == Some("image")
            && (value.get("mimeType").is_some() || value.get("data").is_some() || value.get("file").is_some())
    };
    match result {
        Json::Array(items) => items.iter().take(1000).any(|item| has_picture(item, depth + 1)),
        Json::Object(_) if is_picture(result) => true,
        Json::Object(_) if depth < 2 => {
            result.get("content").is_some_and(|content| has_picture(content, depth + 1))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::call;
    use super::*;
    use serde_json::{Value, json};

    fn conflict(first: (&str, Value), second: (&str, Value)) -> Option<Conflict> {
        let effects = |(tool, arguments): (&str, Value)| Effects::of(&call((0, 0), tool, arguments, None));
        effects(first).conflict(&effects(second))
    }

    #[test]
    fn paths_meet_where_they_may_be_the_same() {
        let meet = |a: &str, b: &str| FilePath::new(a).unwrap().may_meet(&FilePath::new(b).unwrap());
        assert!(meet("a.png", "./a.png") && meet("a.png", "media/a.png") && meet("./out", "out/a.png"));
        assert!(!meet("a.png", "b.png") && !meet("x/a.png", "y/a.png") && !meet("/a.png", "/x/a.png"));
        for text in ["Porto", "https://a.org/b.png", "en-US", "2510.08638v1", "", "1.5", "/"] {
            assert_eq!(FilePath::new(text), None, "{text}");
        }
    }

    #[test]
    fn tools_change_what_their_names_say() {
        let changing = ["create_presentation", "add_slide", "write_data_to_excel", "manageText", "send"];
        assert!(changing.iter().all(|tool| changes_by_name(tool)));
        let looking =
            ["add", "sum", "search_hot_posts", "get_price", "crop", "draw_texts", "compute_route", ""];
        assert!(!looking.iter().any(|tool| changes_by_name(tool)));
    }

    #[test]
    fn what_a_server_says_of_a_tool_goes_before_its_name() {
        let mut looks = call((0, 0), "s/create_view", json!({}), None);
        looks.read_only = Some(true);
        assert!(!Effects::of(&looks).changes_state);
        looks.tool = "s/get".to_owned();
        looks.read_only = Some(false);
        assert!(Effects::of(&looks).changes_state);
    }

    #[test]
    fn calls_that_touch_one_file_keep_their_order() {
        let crop = |from: &str, to: &str| ("image/crop", json!({"input_path": from, "output_path": to}));
        let sure = |found: Option<Conflict>| found.map(|conflict| conflict.is_sure);
        assert_eq!(sure(conflict(crop("a.png", "b.png"), crop("b.png", "c.png"))), Some(true));
        assert_eq!(sure(conflict(crop("a.png", "c.png"), crop("b.png", "c.png"))), Some(true));
        assert_eq!(sure(conflict(crop("a.png", "b.png"), crop("c.png", "a.png"))), Some(true));
        assert_eq!(conflict(crop("a.png", "b.png"), crop("a.png", "c.png")), None);
        let save = |paper: &str| ("papers/download", json!({"id": paper, "save_path": "./downloads"}));
        assert_eq!(conflict(save("1"), save("2")), None);
        let open = ("files/text", json!({"path": "./downloads/1.pdf"}));
        assert_eq!(sure(conflict(save("1"), open)), Some(true));
    }

    #[test]
    fn calls_of_a_server_that_changes_keep_their_order() {
        let add = |title: &str| ("ppt/add_slide", json!({"title": title}));
        assert!(!conflict(add("a"), add("b")).unwrap().is_sure);
        assert!(conflict(("ppt/get_info", json!({})), add("a")).is_some());
        assert!(conflict(add("a"), ("ppt/get_info", json!({}))).is_some());
        assert_eq!(conflict(add("a"), ("wiki/search", json!({}))), None);
        let book =
            |path: &str, name: &str| ("excel/create_workbook", json!({"filepath": path, "name": name}));
        assert_eq!(conflict(book("a.xlsx", "x"), book("b.xlsx", "y")), None);
        assert!(conflict(book("a.xlsx", "x"), book("b.xlsx", "x")).is_some());
        assert!(conflict(book("a.xlsx", "x"), book("a.xlsx", "y")).is_some());
    }
}
