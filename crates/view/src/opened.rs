//! An opened file of trajectories: a row for each trajectory, and the file itself, to read a trajectory again.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use m3_trajectory::format::Format;
use m3_trajectory::json::Keys;
use m3_trajectory::{Duplicates, Trajectory, TrajectoryFile};
use sha2::{Digest as _, Sha256};

use crate::row::Row;
use crate::text::cut;

/// An opened file of trajectories.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    pub path: PathBuf,
    pub digest: String,
    /// The facts of the trajectories, in their order, from opening the file.
    pub seen: Vec<TrajectoryRow>,
    /// The file, behind a lock, because reading moves its position.
    file: Mutex<TrajectoryFile>,
    changed: Option<SystemTime>,
    /// For each trajectory, the digest of the parts that panels judge; made when it is first needed.
    judged: OnceLock<Vec<Option<JudgedDigest>>>,
}

/// A digest of the parts of a trajectory that panels judge: its calls and its answer.
type JudgedDigest = [u8; 32];

/// The facts of a trajectory that are kept: its row, and members that its run uses.
#[derive(Debug)]
pub(crate) struct TrajectoryRow {
    pub row: Row,
    pub image: Option<String>,
    pub repeat: Option<u64>,
    pub model: Option<String>,
    pub format: Option<String>,
}

impl OpenedFile {
    pub(crate) fn open(path: &Path, formats: &'static [Format]) -> Result<Self, String> {
        let changed = changed(path);
        let mut seen = Vec::new();
        let mut visit = |trajectory: &Trajectory| seen.push(TrajectoryRow::of(trajectory));
        let file =
            TrajectoryFile::open_with_malformed(path, formats, Duplicates::Keep, &mut |_, _| (), &mut visit);
        let file = file.map_err(|error| in_words(path, &error))?;
        if file.is_tasks() || file.is_empty() {
            return Err(format!("`{}` has no trajectories", path.display()));
        }
        if seen.len() != file.len() {
            // Tasks among trajectories are read as trajectories without calls, but not seen while opening.
            let read =
                (0..file.len()).map(|index| file.look_at(index).map(|found| TrajectoryRow::of(&found)));
            seen = read.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        }
        let digest = file.digest().map_err(|error| error.to_string())?;
        Ok(Self {
            path: path.to_owned(),
            digest,
            seen,
            file: Mutex::new(file),
            changed,
            judged: OnceLock::new(),
        })
    }

    /// Does `work` on the locked file.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&TrajectoryFile) -> R) -> R {
        work(&self.file.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The digest of the parts of a trajectory that panels judge. Few files need it, so it is not made when a file is
    /// opened.
    pub(crate) fn judged(&self, index: usize) -> Option<JudgedDigest> {
        let of = |file: &TrajectoryFile| {
            (0..file.len()).map(|index| file.look_at(index).ok().map(|found| judged(&found))).collect()
        };
        *self.judged.get_or_init(|| self.with(of)).get(index)?
    }

    /// Whether the file holds grades.
    pub(crate) fn is_graded(&self) -> bool {
        self.seen.iter().any(|seen| !seen.row.grades.is_empty())
    }

    /// Whether the file has changed since it was opened.
    pub(crate) fn is_old(&self) -> bool {
        changed(&self.path) != self.changed
    }
}

impl TrajectoryRow {
    fn of(trajectory: &Trajectory) -> Self {
        Self {
            row: Row::new(trajectory),
            image: trajectory.image.clone(),
            repeat: trajectory.repeat(),
            model: model_of(trajectory),
            format: format_of(trajectory),
        }
    }
}

/// The time of a file's last change; `None` if there is no such file.
pub(crate) fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|found| found.modified()).ok()
}

fn in_words(path: &Path, error: &m3_trajectory::OpenError) -> String {
    match error {
        m3_trajectory::OpenError::Source(error) => error.to_string(),
        m3_trajectory::OpenError::Invalid { problems, .. } => {
            let first = problems.iter().find(|problem| problem.severity == m3_trajectory::Severity::Error);
            first.map_or_else(|| format!("`{}` cannot be read", path.display()), ToString::to_string)
        }
    }
}

fn judged(trajectory: &Trajectory) -> JudgedDigest {
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        // The length of each text comes first, so that no two lists of texts give the same bytes.
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    };
    for (step, call) in trajectory.calls() {
        add(&step.to_string());
        add(&call.tool);
        add(&call.arguments.as_ref().map_or_else(String::new, |arguments| arguments.to_text(Keys::AsRead)));
    }
    add(trajectory.final_reply.as_deref().unwrap_or_default());
    digest.finalize().into()
}

/// The format that a trajectory was read from, if another program wrote it.
pub(crate) fn format_of(trajectory: &Trajectory) -> Option<String> {
    let format = trajectory.get("import")?.get("format")?.as_str()?;
    Some(cut(format, 200))
}

fn model_of(trajectory: &Trajectory) -> Option<String> {
    trajectory.model().map(|name| cut(name, 200))
}
