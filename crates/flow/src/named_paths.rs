//! The paths among the arguments of calls, and which of them a call writes.

use std::cell::RefCell;
use std::collections::HashSet;

use m3_support::name_cache::NameCache;
use m3_trajectory::json::{Json, pointer_to};

use super::lineage::CallView;
use super::names::{is_goal, is_input, is_output, names_path, words};
use super::paths::FilePath;
use super::tools::{changes_by_name, creates_by_name, without_server};

/// The most files named in one call.
pub(crate) const MOST_OF_CALL: usize = 256;

/// Values nested deeper are not looked at.
pub(crate) const MAX_DEPTH: usize = 64;

/// A path among arguments.
pub(crate) struct NamedPath {
    pub(crate) pointer: String,
    pub(crate) path: FilePath,
    pub(crate) text: String,
    /// Whether the argument's name shows that the call makes the file, as `output_path` does.
    pub(crate) is_output: bool,
    /// Whether the call writes the file: it is an output, or the tool changes files in place.
    pub(crate) is_written: bool,
}

/// The paths that calls of creating tools write without naming them as outputs.
pub(crate) fn created(calls: &[CallView<'_>], paths: &[Vec<NamedPath>]) -> HashSet<Vec<String>> {
    let creating = calls.iter().zip(paths).filter(|(call, paths)| {
        paths.iter().any(|path| path.is_written && !path.is_output) && creates_by_name(tool_of(call))
    });
    let written =
        creating.flat_map(|(_, paths)| paths.iter().filter(|path| path.is_written && !path.is_output));
    written.map(|path| path.path.parts().to_vec()).collect()
}

/// The tool's name without its server.
fn tool_of<'a>(call: &CallView<'a>) -> &'a str {
    without_server(call.tool)
}

/// The meaning of an argument's value, by its name.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each answers a question of its own")]
struct NameSays {
    is_path: bool,
    is_output: bool,
    /// Whether the argument is an output only if its value is a file.
    is_goal: bool,
    is_input: bool,
}

thread_local! {
    static NAMES: RefCell<NameCache<NameSays>> = RefCell::default();
}

fn name_says(name: &str) -> NameSays {
    let read = |name: &str| {
        let words = words(name);
        let (is_path, is_input) = (names_path(&words), is_input(&words));
        NameSays { is_path, is_output: is_output(&words), is_goal: is_goal(&words), is_input }
    };
    NAMES.with_borrow_mut(|names| names.of_name(name, read))
}

/// The paths among the arguments of a call.
pub(crate) fn named_paths(call: &CallView<'_>) -> Vec<NamedPath> {
    let mut search = PathSearch { tool: tool_of(call), changes: None, found: Vec::new() };
    if let Some(arguments) = call.arguments {
        search.value(arguments, "", (&|| String::new(), 0));
    }
    search.found
}

/// Looks for paths in the arguments of one call.
struct PathSearch<'a> {
    tool: &'a str,
    /// Whether the tool changes the files that it is given, computed at the first use.
    changes: Option<bool>,
    found: Vec<NamedPath>,
}

impl PathSearch<'_> {
    fn value(&mut self, value: &Json, name: &str, (pointer, depth): (&dyn Fn() -> String, usize)) {
        match value {
            _ if depth > MAX_DEPTH || self.found.len() >= MOST_OF_CALL => {}
            Json::String(text) => self.text(text, name, pointer),
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate().filter(|(_, item)| may_hold_text(item)) {
                    self.value(item, name, (&|| pointer_to(&pointer(), index), depth + 1));
                }
            }
            Json::Object(members) => {
                for (key, item) in members.iter().filter(|(_, item)| may_hold_text(item)) {
                    self.value(item, key, (&|| pointer_to(&pointer(), key), depth + 1));
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, name: &str, pointer: &dyn Fn() -> String) {
        let path = FilePath::new(text);
        let says = name_says(name);
        let Some(path) = path.or_else(|| says.is_path.then(|| FilePath::of_word(text)).flatten()) else {
            return;
        };
        let NameSays { is_path, is_output, is_goal, is_input } = says;
        let is_file = || is_path || path.has_folder() || path.has_known_ending();
        let is_output = is_output && (!is_goal || is_file());
        let changes = || changes_by_name(self.tool);
        let is_written = is_output || is_path && !is_input && *self.changes.get_or_insert_with(changes);
        let (pointer, text) = (pointer(), text.to_owned());
        self.found.push(NamedPath { pointer, path, text, is_output, is_written });
    }
}

pub(crate) fn may_hold_text(value: &Json) -> bool {
    matches!(value, Json::String(_) | Json::Array(_) | Json::Object(_))
}
