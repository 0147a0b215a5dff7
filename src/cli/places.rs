//! Where scored trajectories stand in their files, for forms that point there.

use std::path::PathBuf;
use std::sync::Arc;

use m3_report::{FilePlace, Places, file_uri};
use m3_trajectory::TrajectoryFile;

use super::suites::ScoredFiles;

/// The places of all trajectories of some files.
pub(super) struct ScoredPlaces {
    references: FileLines,
    /// Those of each repetition.
    predictions: Vec<FileLines>,
}

/// A file, and the lines of its trajectories by their indices.
struct FileLines {
    uri: Option<Arc<str>>,
    lines: Vec<Option<u64>>,
}

/// The folder that addresses are relative to.
pub(super) fn working_folder() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

impl ScoredPlaces {
    /// Of these files.
    pub(super) fn of<'a>(
        references: &TrajectoryFile,
        predictions: impl Iterator<Item = &'a TrajectoryFile>,
    ) -> Self {
        Self { references: FileLines::of(references), predictions: predictions.map(FileLines::of).collect() }
    }

    /// Where both sides of a trajectory of repetition `repeat`, from 1, stand; `files` are those of this repetition.
    pub(super) fn find(&self, id: &str, files: ScoredFiles<'_>, repeat: usize) -> Places {
        let predictions = repeat.checked_sub(1).and_then(|index| self.predictions.get(index));
        Places {
            prediction: predictions.and_then(|file| file.place(files.predictions.find(id))),
            reference: self.references.place(files.references.find(id)),
        }
    }
}

impl FileLines {
    fn of(file: &TrajectoryFile) -> Self {
        let uri = file.path().map(|path| file_uri(path, &working_folder()).into());
        Self { uri, lines: file.lines() }
    }

    fn place(&self, index: Option<usize>) -> Option<FilePlace> {
        let line = self.lines.get(index?).copied().flatten();
        Some(FilePlace { uri: Arc::clone(self.uri.as_ref()?), line })
    }
}
