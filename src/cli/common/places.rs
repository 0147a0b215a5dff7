//! The places of scored trajectories, lines of files or spans of traces, for report forms that refer to them.

use std::path::PathBuf;
use std::sync::Arc;

use m3_report::{FilePlace, Places, SpanPlace, file_uri};
use m3_traces::SpanIds;
use m3_trajectory::{SourceError, TrajectoryFile};

/// The files of a repetition.
#[derive(Clone, Copy)]
pub(crate) struct ScoredFiles<'f> {
    pub(crate) references: &'f TrajectoryFile,
    pub(crate) predictions: &'f TrajectoryFile,
}

/// The kind of place that a report form refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointsAt {
    Nothing,
    /// Lines of files.
    Lines,
    /// Spans of traces.
    Spans,
}

/// The places of all trajectories of some files.
pub(crate) enum ScoredPlaces {
    Nothing,
    Lines {
        references: FileLines,
        /// The file of each repetition.
        predictions: Vec<FileLines>,
    },
    Spans,
}

/// A file, and the lines of its trajectories by their indices.
pub(crate) struct FileLines {
    uri: Option<Arc<str>>,
    lines: Vec<Option<u64>>,
}

/// The folder that the addresses of files are relative to.
pub(crate) fn working_folder() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

impl ScoredPlaces {
    /// The places that a report form refers to, in these files.
    pub(crate) fn of<'a>(
        points_at: PointsAt,
        references: &TrajectoryFile,
        predictions: impl Iterator<Item = &'a TrajectoryFile>,
    ) -> Self {
        match points_at {
            PointsAt::Nothing => Self::Nothing,
            PointsAt::Lines => Self::Lines {
                references: FileLines::of(references),
                predictions: predictions.map(FileLines::of).collect(),
            },
            PointsAt::Spans => Self::Spans,
        }
    }

    /// The places of a trajectory of repetition `repeat`, from 1; `files` are those of this repetition.
    pub(crate) fn find(
        &self,
        id: &str,
        files: ScoredFiles<'_>,
        repeat: usize,
    ) -> Result<Places, SourceError> {
        let prediction = files.predictions.find(id);
        match self {
            Self::Nothing => Ok(Places::default()),
            Self::Lines { references, predictions } => {
                let predictions = repeat.checked_sub(1).and_then(|index| predictions.get(index));
                Ok(Places {
                    prediction: predictions.and_then(|file| file.place(prediction)),
                    reference: references.place(files.references.find(id)),
                    span: None,
                })
            }
            Self::Spans => {
                let Some(index) = prediction else { return Ok(Places::default()) };
                // `m3 export` of a run's folder writes its repetitions one after the other.
                let SpanIds { trace, span } =
                    SpanIds::for_trajectory(&*files.predictions.look_at(index)?, repeat as u64);
                Ok(Places { span: Some(SpanPlace { trace, span }), ..Places::default() })
            }
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
