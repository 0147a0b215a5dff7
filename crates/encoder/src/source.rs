//! The note in an encoder's folder that says where its files were fetched from.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The note's file.
const NAME: &str = "source.json";

/// Where the files of a folder come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Source {
    /// The name of the encoder, such as `fastembed:BGESmallENV15`.
    pub(super) encoder: String,
    /// The address of the repository.
    pub(super) repository: String,
    /// The repository's commit, if the server named one.
    pub(super) commit: Option<String>,
    /// All files but this note.
    pub(super) files: Vec<SourceFile>,
}

/// A file that was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SourceFile {
    /// The path of the file in the repository.
    pub(super) path: String,
    /// The name of the file in the folder.
    pub(super) name: String,
    /// The size of the file in bytes.
    pub(super) size: u64,
    /// The SHA-256 of the file, hexadecimal.
    pub(super) sha256: String,
}

impl Source {
    /// The note in this folder, if there is one that can be read.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join(NAME)).ok()?).ok()
    }
}

#[cfg(feature = "fastembed")]
impl Source {
    /// Writes the note into this folder.
    pub(super) fn write(&self, folder: &Path) -> std::io::Result<()> {
        m3_support::files::write_atomically(&folder.join(NAME), &serde_json::to_vec_pretty(self)?)
    }

    /// Whether every file is in this folder with its size.
    pub(super) fn is_complete(&self, folder: &Path) -> bool {
        let has_size = |file: &SourceFile| {
            folder
                .join(&file.name)
                .metadata()
                .is_ok_and(|metadata| metadata.is_file() && metadata.len() == file.size)
        };
        self.files.iter().all(has_size)
    }
}
