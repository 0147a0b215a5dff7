//! The files that exist after a step, by their paths.

use std::collections::HashMap;

use super::named_paths::NamedPath;
use super::paths::FilePath;

/// So many of the latest names are looked for in texts, and compared where names differ in their folders.
pub(crate) const LATEST: usize = 64;

/// Where so many parts of a path end in its text, in bytes.
fn end_of_parts(text: &str, count: usize) -> Option<usize> {
    let (mut seen, mut at) = (0, 0);
    for part in text.split(['/', '\\']) {
        at += part.len();
        seen += usize::from(!part.is_empty() && part != ".");
        if seen == count {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Files that exist, by their paths: the latest version of each.
#[derive(Debug, Default)]
pub(crate) struct KnownFiles {
    exact: HashMap<Vec<String>, usize>,
    by_name: HashMap<String, Vec<(FilePath, usize)>>,
    folders: Vec<(FilePath, usize)>,
    order: Vec<(String, usize)>,
}

impl KnownFiles {
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Puts a version in the place of what is there; says what was.
    pub(crate) fn put(&mut self, named: &NamedPath, version: usize) -> Option<usize> {
        let path = &named.path;
        let before = self.exact.insert(path.parts().to_vec(), version);
        let entry = (path.clone(), version);
        if let Some(name) = path.parts().last() {
            let same_name = self.by_name.entry(name.clone()).or_default();
            same_name.retain(|(known, _)| known.parts() != path.parts());
            same_name.push(entry.clone());
        }
        if !path.is_file {
            self.folders.push(entry);
        }
        self.order.push((named.text.clone(), version));
        before
    }

    pub(crate) fn exact(&self, path: &FilePath) -> Option<usize> {
        self.exact.get(path.parts()).copied()
    }

    /// The latest version whose path may be the same, or whose folder contains this path; then where the name of the
    /// folder ends in the text.
    pub(crate) fn met(&self, named: &NamedPath) -> Option<(usize, Option<usize>)> {
        let path = &named.path;
        let same_name = path.parts().last().and_then(|name| self.by_name.get(name));
        let same = same_name.into_iter().flatten().rev().take(LATEST);
        if let Some((_, version)) = same.clone().find(|(known, _)| known.may_meet(path)) {
            return Some((*version, None));
        }
        // A tool adds the ending that a name lacks.
        if let Some(version) = path.without_ending().and_then(|parts| self.exact.get(&parts)) {
            return Some((*version, None));
        }
        let mut folders = self.folders.iter().rev().take(LATEST);
        let (folder, version) = folders.find(|(known, _)| path.is_within(known))?;
        Some((*version, end_of_parts(&named.text, folder.parts().len())))
    }

    /// The latest names, each once, with their versions.
    pub(crate) fn latest(&self) -> Vec<(String, usize)> {
        let mut latest: Vec<(String, usize)> = Vec::new();
        for (name, version) in self.order.iter().rev() {
            if latest.len() >= LATEST {
                break;
            }
            if name.len() >= 3 && !latest.iter().any(|(known, _)| known == name) {
                latest.push((name.clone(), *version));
            }
        }
        latest
    }
}
