//! What a trajectory leaves behind: files that no later call reads and nothing takes the place of, and what its last step
//! returned.

use std::collections::{BTreeSet, HashSet};

use m3_flow::{Role, may_make_by_name, names_input_file, without_server};
use m3_support::pointer::segments;

use super::{PairResults, Side};

/// Files that are made of files that are made of files are followed so far; beyond, by what their calls say.
pub(super) const DEEPEST: usize = 256;

/// Something that is left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Artifact {
    /// A file, by its version.
    File(usize),
    /// What a call returned: a picture under a name that nothing tells, or an answer.
    Result(usize),
}

impl Side {
    /// The call whose result shows the picture that a version of a file is: that of its maker or, for a file that was moved, of
    /// what it was moved from.
    pub(super) fn picture_of(&self, version: usize, depth: usize) -> Option<usize> {
        let made = self.lineage.versions.get(version)?;
        let content = self.contents.get(version)?;
        if content.is_moved && depth < DEEPEST {
            return self.picture_of(*content.inputs.first()?, depth + 1);
        }
        let result = self.calls.get(made.call)?.result.as_ref()?;
        (!result.pictures.is_empty() && !made.is_changed_in_place).then_some(made.call)
    }

    /// Whether the task's own image is gone where this is left behind.
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

/// The files that are left behind, pictures under names that nothing tells, and answers of the last step. A look that the
/// other trajectory has no counterpart of uses up nothing, and its answer is none.
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
                // What is moved, or copied, is left behind where it comes to.
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
        // Who gave the image finds it changed, whoever read it afterwards.
        (!is_used[version] || replaces(version))
            && !is_gone[version]
            && side.lineage.versions[version].replaced_by.is_none()
    };
    // What is made twice is used, or left behind, once; who moves a file wants it there, whatever used it before.
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
