//! The paths among the arguments of calls, and which of them a call writes.

use std::cell::{LazyCell, RefCell};
use std::collections::HashSet;

use m3_support::name_cache::NameCache;

use super::lineage::CallView;
use super::names::{is_goal, is_input, is_output, names_path, words};
use super::paths::FilePath;
use super::texts::{MOST_OF_CALL, walk_texts};
use super::tools::{changes_by_name, creates_by_name, without_server};

/// A path among the arguments of a call.
#[derive(Debug, Clone)]
pub struct NamedPath {
    /// The place in the arguments: a JSON pointer.
    pub pointer: String,
    /// The path itself.
    pub path: FilePath,
    /// The path as written in the arguments.
    pub text: String,
    /// Whether the argument's name shows that the call makes the file, as `output_path` does.
    pub is_output: bool,
    /// Whether the call writes the file: it is an output, or the tool changes files in place.
    pub is_written: bool,
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
    let changes_files = LazyCell::new(|| changes_by_name(tool_of(call)));
    let mut paths = Vec::new();
    walk_texts(call.arguments, &mut |text, name, pointer| {
        let NameSays { is_path, is_output, is_goal, is_input } = name_says(name);
        let path = FilePath::new(text);
        if let Some(path) = path.or_else(|| is_path.then(|| FilePath::of_word(text)).flatten()) {
            let is_file = || is_path || path.has_folder() || path.has_known_ending();
            let is_output = is_output && (!is_goal || is_file());
            let is_written = is_output || is_path && !is_input && *changes_files;
            paths.push(NamedPath { pointer: pointer(), path, text: text.to_owned(), is_output, is_written });
        }
        paths.len() < MOST_OF_CALL
    });
    paths
}
