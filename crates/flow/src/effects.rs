//! The effects of a call besides its result: the files that it reads and writes, and whether it changes the state of
//! its server.

use m3_trajectory::json::Json;

use super::leaves::{Leaf, argument_leaves};
use super::named_paths::NamedPath;
use super::names::{self, is_input, words};
use super::paths::FilePath;
use super::tools::{changes_by_name, looks_by_name};
use crate::ChainCall;

/// The effects of a call.
#[derive(Debug, Clone)]
pub struct Effects {
    /// The server.
    pub server: String,
    /// Whether the tool changes the state of its server.
    pub changes_state: bool,
    /// The paths among the call's arguments.
    pub paths: Vec<NamedPath>,
    /// Other texts among the arguments, as sorted hashes.
    texts: Vec<u64>,
    /// Whether the call writes a path, and whether it writes one whose argument's name marks an output.
    writes: (bool, bool),
    /// Whether the tool only reads, as far as is known.
    only_looks: bool,
    /// Whether the call's result has a picture, which a model looks at.
    pub shows_picture: bool,
}

/// Why the order of two calls matters although no value connects them. [`Effects::reason`] puts it in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflict {
    /// The shared file or state.
    pub cause: Cause,
    /// Whether this is certain; otherwise it is only likely.
    pub is_sure: bool,
}

/// The cause of a conflict of two calls. For files, the number is the index of the path in the second call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Both calls write the file.
    BothWrite(usize),
    /// The first call writes a file that the second reads.
    FirstWrites(usize),
    /// The second call writes a file that the first reads.
    SecondWrites(usize),
    /// The first call changes the state of the server.
    FirstChanges,
    /// The second call changes the state of the server.
    SecondChanges,
}

/// The most paths and texts of one call that are compared.
const MAX_NAMED: usize = 64;

impl Effects {
    /// The effects of a call, as far as its tool and its arguments show.
    #[must_use]
    pub fn from_call(call: &ChainCall) -> Self {
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
                texts.push(hash_of(text));
                continue;
            };
            let is_output = names::is_output(&words(&name)) && call.read_only != Some(true);
            let is_written = is_output || (changes_state && !is_input(&words(&name)));
            paths.push(NamedPath { path, text: text.to_owned(), pointer, is_output, is_written });
        }
        let shows_picture = call.result.as_ref().is_some_and(|result| has_picture(result, 0));
        texts.sort_unstable();
        let writes = (
            paths.iter().any(|path: &NamedPath| path.is_written),
            paths.iter().any(|path: &NamedPath| path.is_output),
        );
        Self { server: server.to_owned(), changes_state, paths, texts, writes, only_looks, shows_picture }
    }

    /// The reason why the order of this call and a later one matters; `None` if it does not. `meet` is whether they
    /// name files that may be the same, as [`PathOverlaps`](super::PathOverlaps) finds.
    #[must_use]
    pub fn conflict(&self, later: &Self, meet: bool) -> Option<Conflict> {
        let file = if meet { self.file_conflict(later) } else { None };
        if file.as_ref().is_some_and(|conflict| conflict.is_sure) {
            return file;
        }
        let is_state = !self.server.is_empty()
            && (self.changes_state || later.changes_state)
            && self.server == later.server
            && !self.is_about_other_files(later, meet);
        let state = || {
            let by = if self.changes_state { Cause::FirstChanges } else { Cause::SecondChanges };
            Conflict { cause: by, is_sure: false }
        };
        file.or_else(|| is_state.then(state))
    }

    /// A conflict in words, as a clause such as "both write `a.png`".
    #[must_use]
    pub fn reason(&self, later: &Self, conflict: Conflict) -> String {
        let path = |path: usize| {
            let text = later.paths.get(path).map_or("", |path| path.text.as_str());
            m3_support::text::shortened(text, 80)
        };
        match conflict.cause {
            Cause::BothWrite(second) => format!("both write `{}`", path(second)),
            Cause::FirstWrites(second) => {
                format!("the first writes `{}`, which the second reads", path(second))
            }
            Cause::SecondWrites(second) => {
                format!("the second writes `{}`, which the first reads", path(second))
            }
            Cause::FirstChanges => format!("the first changes what `{}` holds", self.server),
            Cause::SecondChanges => format!("the second changes what `{}` holds", self.server),
        }
    }

    /// Whether this call may change what the other one sees: it writes a file that the other one names, or changes the
    /// state of their common server.
    #[must_use]
    pub fn changes_what_is_seen_by(&self, other: &Self, meet: bool) -> bool {
        let written = || self.paths.iter().filter(|path| path.is_written);
        let is_file = meet
            && self.writes.0
            && written().any(|path| other.paths.iter().any(|found| path.path.may_meet(&found.path)));
        is_file
            || (self.changes_state
                && !self.server.is_empty()
                && self.server == other.server
                && !self.is_about_other_files(other, meet))
    }

    /// Whether this call only looked at a file that a later one uses to make something: the places to cut or draw may
    /// come from its result.
    #[must_use]
    pub fn looked_at_what_is_used_by(&self, later: &Self, meet: bool) -> bool {
        let is_read = |path: &&NamedPath| !path.is_output;
        let is_possible = meet && self.only_looks && !later.only_looks;
        is_possible
            && self
                .paths
                .iter()
                .filter(is_read)
                .any(|path| later.paths.iter().filter(is_read).any(|found| found.path.may_meet(&path.path)))
    }

    fn file_conflict(&self, later: &Self) -> Option<Conflict> {
        if !(self.writes.0 || later.writes.0) {
            return None;
        }
        let may_be_sure = self.writes.1 || later.writes.1;
        let mut likely = None;
        for first in &self.paths {
            for (index, second) in later.paths.iter().enumerate() {
                if !(first.is_written || second.is_written) || !first.path.may_meet(&second.path) {
                    continue;
                }
                // Two calls that save into the same folder write different files.
                if first.is_written && second.is_written && !(first.path.is_file && second.path.is_file) {
                    continue;
                }
                let cause = match (first.is_written, second.is_written) {
                    (true, true) => Cause::BothWrite(index),
                    (true, false) => Cause::FirstWrites(index),
                    (false, _) => Cause::SecondWrites(index),
                };
                let is_sure = first.is_output || second.is_output;
                if is_sure {
                    return Some(Conflict { cause, is_sure });
                }
                likely.get_or_insert(Conflict { cause, is_sure });
                if !may_be_sure {
                    return likely;
                }
            }
        }
        likely
    }

    /// Whether both name files, none of them in common, and share no other text.
    fn is_about_other_files(&self, other: &Self, meet: bool) -> bool {
        let has_files = |effects: &Self| effects.paths.iter().any(|path| path.path.is_file);
        !meet
            && has_files(self)
            && has_files(other)
            && !self.texts.iter().any(|text| other.texts.binary_search(text).is_ok())
    }
}

fn hash_of(text: &str) -> u64 {
    use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
    BuildHasherDefault::<DefaultHasher>::default().hash_one(text)
}

/// Whether an item of a result is a picture, in the form of the Model Context Protocol.
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
    use serde_json::{Value, json};

    use super::*;
    use crate::path_overlaps::PathOverlaps;
    use crate::tests::call;

    fn conflict(first: (&str, Value), second: (&str, Value)) -> Option<Conflict> {
        let effects =
            |(tool, arguments): (&str, Value)| Effects::from_call(&call((0, 0), tool, arguments, None));
        let both = [effects(first), effects(second)];
        both[0].conflict(&both[1], PathOverlaps::new(&both).with(0)[1])
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
        assert!(!Effects::from_call(&looks).changes_state);
        looks.tool = "s/get".to_owned();
        looks.read_only = Some(false);
        assert!(Effects::from_call(&looks).changes_state);
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
