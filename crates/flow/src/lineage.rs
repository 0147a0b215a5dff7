//! The files of a trajectory: which call makes each, in which version, and where arguments name them.
//!
//! Every write makes a version. A call reads the latest version that an earlier step made; if only calls of its own
//! step make the file, it reads one of their versions. `docs/flow.md` has the rules with examples.

use std::ops::Range;

use m3_trajectory::json::Json;

/// The facts of a call that its lineage needs.
#[derive(Debug, Clone, Copy)]
pub struct CallView<'a> {
    /// The step, from 0; calls are in the order of their steps.
    pub step: usize,
    /// The tool as `server/tool`.
    pub tool: &'a str,
    /// The arguments of the call.
    pub arguments: Option<&'a Json>,
    /// The result of the call, where results are evidence.
    pub result: Option<&'a Json>,
    /// Whether the call is recorded as failed: then it makes nothing.
    pub has_failed: bool,
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
    /// The bytes of the text that name the file: all, those of a folder that a path begins with, or a name within a
    /// longer text.
    pub span: Range<usize>,
    /// What the call does with the file.
    pub role: Role,
}

/// The role of a file that a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Makes this version, an index into [`Lineage::versions`].
    Writes(usize),
    /// Uses this version; `is_of_step` is true if only a call of the same step makes it, which may be too late.
    Reads {
        /// An index into [`Lineage::versions`].
        version: usize,
        /// Whether the version's maker is in the same step.
        is_of_step: bool,
    },
    /// Changes this version in place; the first call that does so also makes the version.
    Changes(usize),
    /// Uses the task's own image.
    ReadsTaskImage,
}

impl Role {
    /// The version that exists before the call: the one that it reads, or changes in place.
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
    /// The call that makes the version.
    pub call: usize,
    /// The argument that names the file; `None` for a default name, which no argument gives.
    pub pointer: Option<String>,
    /// The path, as the arguments of its maker or of its first reader have it.
    pub path: String,
    /// Whether calls change the file in place: then it is one version from its first mention to its last, whichever
    /// calls change it.
    pub is_changed_in_place: bool,
    /// Whether the version takes the place of the task's own image.
    pub replaces_task_image: bool,
    /// Whether a later call reads the version.
    pub is_read: bool,
    /// The version that takes the place of this one, if any does.
    pub replaced_by: Option<usize>,
}

impl Lineage {
    /// Whether no call names a file of interest.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mentions.iter().all(Vec::is_empty)
    }

    /// Whether this version is an end product of the trajectory: nothing reads it and nothing replaces it.
    #[must_use]
    pub fn is_left(&self, version: usize) -> bool {
        self.versions.get(version).is_some_and(|version| !version.is_read && version.replaced_by.is_none())
    }
}
