//! What a trajectory leaves behind: files that no later call reads and nothing replaces, and the results of its last
//! step.

use std::collections::{BTreeSet, HashSet};

use m3_flow::{Role, may_make_by_name, names_input_file, without_server};
use m3_support::pointer::segments;

use super::{PairResults, Side};

/// The most steps back from a file to the files that it was made from; beyond them, only keys of content are compared.
pub(super) const DEEPEST: usize = 256;

/// Something that a trajectory leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Artifact {
    /// A file, by its version.
    File(usize),
    /// The result of a call: a picture whose name is not known, or an answer.
    Result(usize),
}

impl Side {
    /// The call whose result shows the picture in a version of a file: its maker or, for a file that was moved, the
    /// maker of the original.
    pub(super) fn picture_of(&self, version: usize, depth: usize) -> Option<usize> {
        let made = self.lineage.versions.get(version)?;
        let content = self.contents.get(version)?;
        if content.is_moved && depth < DEEPEST {
            return self.picture_of(*content.inputs.first()?, depth + 1);
        }
        (self.has_pictures(made.call) && !made.is_changed_in_place).then_some(made.call)
    }

    /// Whether an artifact replaces the task's own image.
    pub(super) fn replaces_task_image(&self, artifact: Artifact) -> bool {
        matches!(artifact, Artifact::File(version) if self.lineage.versions[version].replaces_task_image)
    }

    /// Whether a call only looks, by its name.
    fn only_looks(&self, call: usize) -> bool {
        let tool = self.calls.get(call).map_or("", |call| call.tool.as_str());
        !may_make_by_name(without_server(tool))
    }
}

/// What the reference and what the prediction leaves behind.
pub(super) fn all_left_behind(
    results: &PairResults,
    is_paired: &dyn Fn(usize) -> bool,
) -> [Vec<Artifact>; 2] {
    [left_behind(&results.references, &|_| true), left_behind(&results.predictions, is_paired)]
}

/// The files that are left behind, pictures whose names are not known, and answers of the last step. A call that only
/// looks, without a counterpart in the other trajectory, does not use files up and gives no answer.
fn left_behind(side: &Side, is_paired: &dyn Fn(usize) -> bool) -> Vec<Artifact> {
    let counts = |call: usize| is_paired(call) || !side.only_looks(call);
    let is_moved = |version: usize| side.contents.get(version).is_some_and(|content| content.is_moved);
    let moves: HashSet<usize> = (0..side.lineage.versions.len())
        .filter(|&version| is_moved(version))
        .map(|it| side.lineage.versions[it].call)
        .collect();
    let mut is_used = vec![false; side.lineage.versions.len()];
    let mut is_gone = vec![false; side.lineage.versions.len()];
    let mut makes = vec![false; side.calls.len()];
    for (call, mentions) in side.lineage.mentions.iter().enumerate() {
        for mention in mentions {
            match mention.role {
                // A file that is moved or copied is left behind at its new place.
                Role::Reads { version, .. } if moves.contains(&call) => is_gone[version] = true,
                Role::Reads { version, .. } if counts(call) && takes_files(&mention.pointer) => {
                    is_used[version] = true;
                }
                Role::Writes(_) | Role::Changes(_) => makes[call] = true,
                _ => {}
            }
        }
    }
    for version in &side.lineage.versions {
        makes[version.call] = true;
    }
    let replaces = |version: usize| side.lineage.versions[version].replaces_task_image;
    let is_left = |&version: &usize| {
        // An image that replaces the task's is left behind, even if a later call reads it.
        (!is_used[version] || replaces(version))
            && !is_gone[version]
            && side.lineage.versions[version].replaced_by.is_none()
    };
    // Content that is made twice is used, or left behind, once. A file that was moved is left behind, whatever used it
    // before.
    let key = |version: usize| side.contents.get(version).map(|content| content.key);
    let used: HashSet<Option<u64>> =
        (0..is_used.len()).filter(|&version| is_used[version]).map(key).collect();
    let mut known: HashSet<Option<u64>> = HashSet::new();
    let is_first = |&version: &usize| {
        (is_moved(version) || replaces(version) || !used.contains(&key(version)))
            && known.insert(key(version))
    };
    let mut left: Vec<Artifact> =
        (0..is_used.len()).filter(is_left).filter(is_first).map(Artifact::File).collect();
    let last =
        side.calls.iter().enumerate().filter(|(call, _)| counts(*call)).map(|(_, call)| call.step).max();
    for (index, call) in side.calls.iter().enumerate().filter(|(index, _)| !makes[*index]) {
        let Some(result) = &call.result else { continue };
        let is_picture = !result.pictures.is_empty() && !side.only_looks(index);
        let is_answer =
            Some(call.step) == last && counts(index) && result.pictures.is_empty() && !result.is_plain;
        if is_picture || is_answer {
            left.push(Artifact::Result(index));
        }
    }
    left
}

/// Whether the argument that a pointer leads into is one that takes files, by its name: others only name them.
fn takes_files(pointer: &str) -> bool {
    let name = segments(pointer).filter(|key| !key.bytes().all(|byte| byte.is_ascii_digit())).last();
    name.is_some_and(|name| names_input_file(&name))
}

/// The calls that make an artifact, and all calls whose files they need.
pub(super) fn calls_leading_to(side: &Side, artifact: Artifact) -> BTreeSet<usize> {
    let call = match artifact {
        Artifact::File(version) => side.lineage.versions[version].call,
        Artifact::Result(call) => call,
    };
    let (mut found, mut open) = (BTreeSet::from([call]), vec![call]);
    while let Some(call) = open.pop() {
        for mention in side.lineage.mentions.get(call).into_iter().flatten() {
            if let Some(version) = mention.role.used_version()
                && let Some(made) = side.lineage.versions.get(version)
                && found.insert(made.call)
            {
                open.push(made.call);
            }
        }
    }
    found
}
