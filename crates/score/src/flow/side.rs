//! The files of one trajectory, with the lookups that the comparison of calls needs.

use std::collections::HashMap;

use m3_flow::{CallView, Content, Lineage, call_keys, contents};

/// The files of a reference or of a prediction.
#[derive(Default)]
pub(super) struct Side {
    pub(super) lineage: Lineage,
    contents: Vec<Content>,
    /// A key for each call that does not depend on names of files; empty where no files are made.
    keys: Vec<u64>,
    /// The versions that each call makes.
    made: Vec<Vec<usize>>,
    /// The versions that hold the same, by their content's key.
    same: HashMap<u64, Vec<usize>>,
    /// The calls that use each version.
    readers: Vec<Vec<usize>>,
}

impl Side {
    pub(super) fn new(calls: &[CallView<'_>], lineage: Lineage) -> Self {
        if lineage.versions.is_empty() {
            return Self { lineage, ..Self::default() };
        }
        let contents = contents(calls, &lineage);
        let keys = call_keys(&lineage, &contents);
        let mut made = vec![Vec::new(); calls.len()];
        let mut same: HashMap<u64, Vec<usize>> = HashMap::new();
        for (version, (file, content)) in lineage.versions.iter().zip(&contents).enumerate() {
            made[file.call].push(version);
            same.entry(content.key).or_default().push(version);
        }
        let mut readers = vec![Vec::new(); lineage.versions.len()];
        for (call, mentions) in lineage.mentions.iter().enumerate() {
            for version in mentions.iter().filter_map(|mention| mention.role.used_version()) {
                readers[version].push(call);
            }
        }
        Self { lineage, contents, keys, made, same, readers }
    }

    /// The key of a call; 0 where no files are made.
    pub(super) fn key(&self, call: usize) -> u64 {
        self.keys.get(call).copied().unwrap_or_default()
    }

    /// The key of a version's content.
    pub(super) fn content_key(&self, version: usize) -> Option<u64> {
        self.contents.get(version).map(|content| content.key)
    }

    /// The versions with the same content as a version, which is one of them, in their order.
    pub(super) fn same_as(&self, version: usize) -> &[usize] {
        self.content_key(version).and_then(|key| self.same.get(&key)).map_or(&[], Vec::as_slice)
    }

    /// The versions that a call makes, in their order.
    pub(super) fn made_by(&self, call: usize) -> &[usize] {
        self.made.get(call).map_or(&[], Vec::as_slice)
    }

    /// The calls that use a version, in their order.
    pub(super) fn readers(&self, version: usize) -> &[usize] {
        self.readers.get(version).map_or(&[], Vec::as_slice)
    }

    /// The place of a version among the files of its call, as a JSON pointer; empty where the call makes only one.
    pub(super) fn slot(&self, version: usize) -> String {
        let Some(file) = self.lineage.versions.get(version) else { return String::new() };
        let is_only = self.made_by(file.call).len() < 2;
        if is_only { String::new() } else { file.pointer.clone().unwrap_or_default() }
    }

    /// The first call that makes the content of a version.
    pub(super) fn first_maker(&self, version: usize) -> usize {
        let first = self.same_as(version).first().copied().unwrap_or(version);
        self.lineage.versions.get(first).map_or(0, |file| file.call)
    }

    /// The first call that makes what this call makes.
    pub(super) fn first_maker_of(&self, call: usize) -> usize {
        self.made_by(call).first().map_or(call, |&version| self.first_maker(version))
    }
}
