//! The files of a workspace while a plan is run: which call wrote which, and which were read again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::pictures::alike;
use super::remains::{Graph, LeftFile, LookedUp, Remains};

/// The content of files by their paths in the workspace.
type Contents = BTreeMap<String, Vec<u8>>;

/// The files as they are after a call.
pub(crate) struct Files {
    given: BTreeSet<String>,
    now: Contents,
    /// Of every file that was made: who read it since.
    readers: BTreeMap<String, Readers>,
    /// Whether edits are compared with what they are of.
    watches: bool,
    /// Whether an edit changed nothing that is seen.
    has_idle_edit: bool,
}

/// Who read a version of a file.
#[derive(Debug, Clone, Copy, Default)]
struct Readers {
    /// A call that wrote a file.
    makers: bool,
    /// Any call.
    any: bool,
}

impl Files {
    /// The files before the first call.
    pub(crate) fn new(now: Contents, watches: bool) -> Self {
        let given = now.keys().cloned().collect();
        Self { given, now, readers: BTreeMap::new(), watches, has_idle_edit: false }
    }

    /// Takes the files after a call; whether it wrote any.
    pub(crate) fn after(&mut self, tool: &str, arguments: &Value, now: Contents, workspace: &Path) -> bool {
        let changed: Vec<String> = now
            .iter()
            .filter(|(path, new)| self.now.get(*path) != Some(*new))
            .map(|(path, _)| path.clone())
            .collect();
        let has_written = !changed.is_empty();
        for path in read_paths(tool, arguments, workspace) {
            if self.watches && tool.starts_with("image/") {
                let before = self.now.get(&path).filter(|_| has_written);
                self.has_idle_edit |=
                    before.is_some_and(|before| changed.iter().any(|path| alike(before, &now[path])));
            }
            if let Some(readers) = self.readers.get_mut(&path) {
                // Who asks for the size of a picture has not used it up.
                readers.any |= tool != "image/get_metainfo";
                readers.makers |= has_written;
            }
        }
        for path in changed {
            self.readers.insert(path, Readers::default());
        }
        self.now = now;
        has_written || is_writer(tool)
    }

    /// What is left.
    pub(crate) fn remains(self, graph: Graph, looked_up: Vec<LookedUp>) -> Remains {
        let Self { given, mut now, readers, has_idle_edit, .. } = self;
        let given = given.into_iter().map(|path| (path.clone(), now.remove(&path))).collect();
        let left = |(path, content): (String, Vec<u8>)| {
            let readers = readers.get(&path).copied().unwrap_or_default();
            LeftFile { path, content, is_read: readers.any, is_material: readers.makers }
        };
        Remains { given, files: now.into_iter().map(left).collect(), graph, looked_up, has_idle_edit }
    }
}

/// Whether a tool changes something even where no file tells.
fn is_writer(tool: &str) -> bool {
    let is_memory = tool.starts_with("memory/") && tool != "memory/open_nodes";
    is_memory || tool.starts_with("files/create") || tool.starts_with("files/write")
}

/// The files that a call reads: every path in its arguments but the ones that it writes.
fn read_paths(tool: &str, arguments: &Value, workspace: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for (name, value) in arguments.as_object().into_iter().flatten() {
        let is_written = name == "output_path"
            || name == "destination"
            || name == "content"
            || name == "path" && tool == "files/write_file";
        let listed = value.as_array().into_iter().flatten().chain([value]);
        if !is_written {
            paths.extend(listed.filter_map(Value::as_str).map(|path| path_in_workspace(path, workspace)));
        }
    }
    paths
}

/// A path from the workspace on, without detours.
pub(crate) fn path_in_workspace(path: &str, workspace: &Path) -> String {
    let path = Path::new(path);
    let mut parts: Vec<&str> = Vec::new();
    for part in path.strip_prefix(workspace).unwrap_or(path).components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str().unwrap()),
            Component::ParentDir => drop(parts.pop()),
            _ => {}
        }
    }
    parts.join("/")
}

/// All files of a folder.
pub(crate) fn files_in(folder: &Path) -> Contents {
    let mut contents = Contents::new();
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let content = std::fs::read(&path).unwrap();
                contents.insert(path_in_workspace(path.to_str().unwrap(), folder), content);
            }
        }
    }
    contents
}
