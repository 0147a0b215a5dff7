//! The files that exist after a step, by their paths.

use std::collections::{HashMap, VecDeque};

use super::named_paths::NamedPath;
use super::paths::FilePath;

/// The most names, always the latest, that are searched in texts and compared with paths in other folders.
pub(crate) const LATEST: usize = 64;

/// The place in a path's text, in bytes, where its first `count` parts end; `None` if it has fewer.
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
    /// The latest files of each name, the most recent one last.
    by_name: HashMap<String, VecDeque<(FilePath, usize)>>,
    folders: Vec<(FilePath, usize)>,
    /// The latest names, each once, the most recent one last.
    latest: VecDeque<(String, usize)>,
}

impl KnownFiles {
    pub(crate) fn is_empty(&self) -> bool {
        self.exact.is_empty()
    }

    /// Sets the version at a path, and returns the one before.
    pub(crate) fn put(&mut self, named: &NamedPath, version: usize) -> Option<usize> {
        let path = &named.path;
        let before = self.exact.insert(path.parts().to_vec(), version);
        let entry = (path.clone(), version);
        if let Some(name) = path.parts().last() {
            let same_name = self.by_name.entry(name.clone()).or_default();
            same_name.retain(|(known, _)| known.parts() != path.parts());
            push_latest(same_name, entry.clone());
        }
        if !path.is_file {
            self.folders.push(entry);
        }
        // Shorter names may be ordinary words.
        if named.text.len() >= 3 {
            self.latest.retain(|(known, _)| *known != named.text);
            push_latest(&mut self.latest, (named.text.clone(), version));
        }
        before
    }

    pub(crate) fn exact(&self, path: &FilePath) -> Option<usize> {
        self.exact.get(path.parts()).copied()
    }

    /// The latest version whose path may be the same, or whose folder contains this path. For a folder, also the place
    /// in the text, in bytes, where the folder's name ends.
    pub(crate) fn met(&self, named: &NamedPath) -> Option<(usize, Option<usize>)> {
        let path = &named.path;
        let same_name = path.parts().last().and_then(|name| self.by_name.get(name));
        let mut same = same_name.into_iter().flatten().rev();
        if let Some((_, version)) = same.find(|(known, _)| known.may_meet(path)) {
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
    pub(crate) fn latest(&self) -> impl Iterator<Item = (&str, usize)> {
        self.latest.iter().rev().map(|(name, version)| (&**name, *version))
    }
}

/// Adds an item to the latest ones, in the place of the oldest where there are enough.
fn push_latest<T>(latest: &mut VecDeque<T>, item: T) {
    if latest.len() == LATEST {
        latest.pop_front();
    }
    latest.push_back(item);
}
