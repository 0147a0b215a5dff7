//! The files of a trajectory: which call makes each, in which version, and where arguments name them.
//!
//! Every writing makes a version. A call reads the latest version that an earlier step made; where only calls of its own
//! step make the file, one of those. `docs/flow.md` has the rules with examples.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use m3_trajectory::json::{Json, pointer_to};

use super::names::{is_input, is_output, names_path, words};
use super::paths::FilePath;
use super::tools::{changes_by_name, creates_by_name};
use super::tracker::Tracker;

/// A call as its lineage needs it.
#[derive(Debug, Clone, Copy)]
pub struct CallView<'a> {
    /// Its step, from 0; calls are in the order of their steps.
    pub step: usize,
    /// The tool as `server/tool`.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: Option<&'a Json>,
    /// Its result, where results are evidence.
    pub result: Option<&'a Json>,
    /// Whether it is recorded as failed: then it makes nothing.
    pub has_failed: bool,
}

/// What the task itself gives.
#[derive(Debug, Clone, Copy, Default)]
pub struct GivenFiles<'a> {
    /// The path of its image.
    pub image: Option<&'a str>,
}

/// Which calls make and read which files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lineage {
    /// Where the arguments of each call name files of interest, in the order of the arguments.
    pub mentions: Vec<Vec<Mention>>,
    /// All files that calls make, in the order of their making.
    pub versions: Vec<Version>,
}

/// A file named in arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// The argument: a JSON pointer to a text.
    pub pointer: String,
    /// The bytes of the text that name it: all, those of a folder that a path begins with, or a name within a longer text.
    pub span: Range<usize>,
    /// What the call does with it.
    pub role: Role,
}

/// What a call does with a file that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Makes this version, an index into [`Lineage::versions`].
    Writes(usize),
    /// Uses this version; `is_of_step` where only a call of the same step makes it, which may be too late.
    Reads {
        /// An index into [`Lineage::versions`].
        version: usize,
        /// Whether its maker is of the same step.
        is_of_step: bool,
    },
    /// Changes this version in place, or is the first to make it so.
    Changes(usize),
    /// Uses the task's own image.
    ReadsTaskImage,
}

impl Role {
    /// The version that the call finds, if it finds one: what it reads, or changes in place.
    #[must_use]
    pub fn used_version(self) -> Option<usize> {
        match self {
            Self::Reads { version, .. } | Self::Changes(version) => Some(version),
            Self::Writes(_) | Self::ReadsTaskImage => None,
        }
    }
}

/// A file, or a folder, as one call makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// The call that makes it.
    pub call: usize,
    /// The argument that names it; `None` where no argument does: a default name.
    pub pointer: Option<String>,
    /// The path, as the arguments of its maker or of its first reader have it.
    pub path: String,
    /// Whether calls change it in place: then it is one file from its first mention to its last, whoever changed it when.
    pub is_changed_in_place: bool,
    /// Whether it takes the place of the task's own image.
    pub replaces_task_image: bool,
    /// Whether a later call reads it.
    pub is_read: bool,
    /// The version that takes its place, if any does.
    pub replaced_by: Option<usize>,
}

/// The most files named in one call.
pub(crate) const MOST_OF_CALL: usize = 256;

/// Values nested deeper are not looked at.
pub(crate) const MAX_DEPTH: usize = 64;

/// A path among arguments.
pub(crate) struct NamedPath {
    pub(crate) pointer: String,
    pub(crate) path: FilePath,
    pub(crate) text: String,
    /// Whether its name says that the call makes it, as `output_path` does.
    pub(crate) is_output: bool,
    /// Whether the call writes it, of itself or because its tool changes what it is given.
    pub(crate) is_written: bool,
}

impl Lineage {
    /// The lineage of calls that are sorted by step.
    #[must_use]
    pub fn new(calls: &[CallView<'_>], given: GivenFiles<'_>) -> Self {
        let paths: Vec<Vec<NamedPath>> = calls.iter().map(named_paths).collect();
        let image = given.image.and_then(FilePath::new);
        if image.is_none() && paths.iter().all(Vec::is_empty) {
            return Self::default();
        }
        let mut tracker = Tracker::new(calls, image, created(calls, &paths));
        let mut start = 0;
        for of_step in calls.chunk_by(|a, b| a.step == b.step) {
            let step = start..start + of_step.len();
            tracker.step(step.clone(), &paths);
            start = step.end;
        }
        tracker.lineage
    }

    /// Whether no call names a file of interest.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mentions.iter().all(Vec::is_empty)
    }

    /// Whether this version is what is left of the trajectory: nothing reads it and nothing takes its place.
    #[must_use]
    pub fn is_left(&self, version: usize) -> bool {
        self.versions.get(version).is_some_and(|version| !version.is_read && version.replaced_by.is_none())
    }
}

/// The paths that calls of creating tools write without naming them as outputs.
fn created(calls: &[CallView<'_>], paths: &[Vec<NamedPath>]) -> HashSet<Vec<String>> {
    let creating = calls.iter().zip(paths).filter(|(call, paths)| {
        paths.iter().any(|path| path.is_written && !path.is_output) && creates_by_name(tool_of(call))
    });
    let written =
        creating.flat_map(|(_, paths)| paths.iter().filter(|path| path.is_written && !path.is_output));
    written.map(|path| path.path.parts().to_vec()).collect()
}

/// The tool's name without its server.
fn tool_of<'a>(call: &CallView<'a>) -> &'a str {
    call.tool.split_once('/').map_or(call.tool, |(_, tool)| tool)
}

/// What the name of an argument says of its value.
#[derive(Debug, Clone, Copy)]
struct NameSays {
    is_path: bool,
    is_output: bool,
    is_input: bool,
}

/// So many names of arguments are remembered, none that is longer than [`LONGEST_NAME`].
const MOST_NAMES: usize = 4096;

/// Longer names are read each time, in bytes.
const LONGEST_NAME: usize = 64;

thread_local! {
    /// What names of arguments say: most calls have the same few.
    static NAMES: RefCell<HashMap<String, NameSays>> = RefCell::default();
}

fn name_says(name: &str) -> NameSays {
    let read = || {
        let words = words(name);
        NameSays { is_path: names_path(&words), is_output: is_output(&words), is_input: is_input(&words) }
    };
    NAMES.with_borrow_mut(|names| {
        if let Some(known) = names.get(name) {
            return *known;
        }
        let says = read();
        if name.len() <= LONGEST_NAME {
            if names.len() >= MOST_NAMES {
                names.clear();
            }
            names.insert(name.to_owned(), says);
        }
        says
    })
}

/// The paths among the arguments of a call.
fn named_paths(call: &CallView<'_>) -> Vec<NamedPath> {
    let mut search = PathSearch { tool: tool_of(call), changes: None, found: Vec::new() };
    if let Some(arguments) = call.arguments {
        search.value(arguments, "", (&|| String::new(), 0));
    }
    search.found
}

/// Looks for paths in the arguments of one call.
struct PathSearch<'a> {
    tool: &'a str,
    /// Whether the tool changes the files that it is given, once it is asked.
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
        let NameSays { is_path, is_output, is_input } = says;
        let changes = || changes_by_name(self.tool);
        let is_written = is_output || is_path && !is_input && *self.changes.get_or_insert_with(changes);
        let (pointer, text) = (pointer(), text.to_owned());
        self.found.push(NamedPath { pointer, path, text, is_output, is_written });
    }
}

pub(crate) fn may_hold_text(value: &Json) -> bool {
    matches!(value, Json::String(_) | Json::Array(_) | Json::Object(_))
}
