//! A run: the trajectories of a model, with their rows, their score and, while it goes on, its journal.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use m3_executor::run::file_name;
use m3_images::task_image::image_folders;
use m3_support::files::folder_of;
use m3_trajectory::format::Format;
use m3_trajectory::json::Json;
use m3_trajectory::{Duplicates, Trajectory, TrajectoryFile};

use crate::journal::Progress;
use crate::pictures::{Pictures, Place};
use crate::row::{Row, cut, member};
use crate::score::Score;

/// An opened file of trajectories.
#[derive(Debug)]
pub(crate) struct Opened {
    pub path: PathBuf,
    pub digest: String,
    /// How many trajectories it has.
    pub len: usize,
    /// Behind a lock, because reading moves its place.
    file: Mutex<TrajectoryFile>,
    changed: Option<SystemTime>,
}

/// Where a trajectory is: the file and the place in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    file: usize,
    index: usize,
}

/// The trajectories of a model, a score, or both.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub name: String,
    /// The files, one for each repetition; none where only the score is there.
    pub files: Vec<Opened>,
    pub rows: Vec<Row>,
    /// Where each row's trajectory is; none for rows that only the score has.
    pub places: Vec<Option<At>>,
    pub model: Option<String>,
    pub score: Option<Arc<Score>>,
    pub progress: Option<Progress>,
    /// The folders in which pictures of its trajectories are.
    folders: Vec<PathBuf>,
    /// Whether its score is of what was there before.
    pub is_stale: bool,
    /// What went wrong when it was read or scored.
    pub problem: Option<String>,
    /// Grows with every change.
    pub revision: u64,
}

impl Opened {
    pub(crate) fn open(path: &Path, formats: &'static [Format]) -> Result<Self, String> {
        let changed = changed(path);
        let file = TrajectoryFile::open_with_malformed(path, formats, Duplicates::Keep, &mut |_, _| ());
        let file = file.map_err(|error| in_words(path, &error))?;
        if file.is_tasks() || file.is_empty() {
            return Err(format!("`{}` has no trajectories", path.display()));
        }
        let digest = file.digest().map_err(|error| error.to_string())?;
        Ok(Self { path: path.to_owned(), digest, len: file.len(), file: Mutex::new(file), changed })
    }

    /// Works on the file.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&TrajectoryFile) -> R) -> R {
        work(&self.file.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether it has a trajectory of this id.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.with(|file| file.find(id).is_some())
    }

    /// The trajectory of this id.
    pub(crate) fn of_id(&self, id: &str) -> Option<Trajectory> {
        self.with(|file| file.read(file.find(id)?).ok())
    }

    /// Whether the file has changed since it was opened.
    pub(crate) fn is_old(&self) -> bool {
        changed(&self.path) != self.changed
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
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

impl Run {
    /// Of opened files, one for each repetition.
    pub(crate) fn of_files(
        files: Vec<Opened>,
        images: Option<&Path>,
        pictures: &Pictures,
    ) -> Result<Self, String> {
        let Some(first) = files.first() else { return Err("there is no file".to_owned()) };
        let folder = folder_of(&first.path);
        let progress = Progress::of(folder);
        let folders = images.map_or_else(|| image_folders(&first.path), |images| vec![images.to_owned()]);
        let name = if progress.is_some() { own_name(folder) } else { own_name(&first.path) };
        let mut run = Self { name, progress, folders, ..Self::default() };
        run.take(files, pictures)?;
        Ok(run)
    }

    /// Of a score alone: its trajectories have no questions and no arguments.
    pub(crate) fn of_score(score: Score) -> Self {
        let rows: Vec<Row> = score.trajectories.iter().map(Row::of_score).collect();
        let places = vec![None; rows.len()];
        Self { name: own_name(&score.path), rows, places, score: Some(Arc::new(score)), ..Self::default() }
    }

    /// Takes files in place of those it has.
    pub(crate) fn take(&mut self, files: Vec<Opened>, pictures: &Pictures) -> Result<(), String> {
        let (mut rows, mut places) = (Vec::new(), Vec::new());
        let mut model = self.progress.as_ref().and_then(Progress::model).map(str::to_owned);
        for (file, opened) in files.iter().enumerate() {
            for index in 0..opened.len {
                let trajectory = opened.with(|file| file.read(index)).map_err(|error| error.to_string())?;
                let repeat = repeat_of(&trajectory).unwrap_or(file as u64 + 1);
                let mut row = Row::new(&trajectory, repeat);
                row.picture = trajectory.image.as_deref().map(|path| {
                    pictures.name(Place::File {
                        folders: self.folders_of(&files, &trajectory, repeat),
                        path: path.to_owned(),
                    })
                });
                model = model.or_else(|| model_of(&trajectory));
                rows.push(row);
                places.push(Some(At { file, index }));
            }
        }
        (self.files, self.rows, self.places, self.model) = (files, rows, places, model);
        self.add_missing();
        self.revision += 1;
        Ok(())
    }

    /// Gives it the score that was made of its files.
    pub(crate) fn set_score(&mut self, score: Score) {
        self.score = Some(Arc::new(score));
        (self.problem, self.is_stale) = (None, false);
        self.add_missing();
        self.revision += 1;
    }

    /// Adds rows for what only the score has, such as missing predictions.
    fn add_missing(&mut self) {
        let Some(score) = &self.score else { return };
        let known: HashSet<(&str, u64)> = self.rows.iter().map(|row| (row.id.as_str(), row.repeat)).collect();
        let missing =
            score.trajectories.iter().filter(|scored| !known.contains(&(scored.id.as_str(), scored.repeat)));
        let missing: Vec<Row> = missing.map(Row::of_score).collect();
        self.places.extend(missing.iter().map(|_| None));
        self.rows.extend(missing);
    }

    /// The trajectory of a row.
    pub(crate) fn trajectory(&self, row: usize) -> Option<Trajectory> {
        let At { file, index } = (*self.places.get(row)?)?;
        self.files.get(file)?.with(|file| file.read(index)).ok()
    }

    /// The folders in which pictures of a trajectory are: where it worked, then those of the run.
    pub(crate) fn picture_folders(&self, trajectory: &Trajectory, repeat: u64) -> Arc<[PathBuf]> {
        self.folders_of(&self.files, trajectory, repeat)
    }

    fn folders_of(&self, files: &[Opened], trajectory: &Trajectory, repeat: u64) -> Arc<[PathBuf]> {
        let of_run = files.first().filter(|_| self.progress.is_some()).map(|first| folder_of(&first.path));
        let repeat = u32::try_from(repeat).unwrap_or(1);
        let workspace =
            of_run.map(|folder| folder.join("workspaces").join(file_name(&trajectory.id, repeat)));
        workspace.into_iter().chain(self.folders.iter().cloned()).collect()
    }
}

/// What a file or a folder is called, without endings.
fn own_name(path: &Path) -> String {
    let name = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = name
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let mut stem = name.as_str();
    for ending in [".gz", ".jsonl", ".ndjson", ".json", ".eval", ".log"] {
        stem = stem.strip_suffix(ending).filter(|rest| !rest.is_empty()).unwrap_or(stem);
    }
    stem.to_owned()
}

fn repeat_of(trajectory: &Trajectory) -> Option<u64> {
    member(&trajectory.extra, "run")?.get("repeat").and_then(crate::row::count)
}

fn model_of(trajectory: &Trajectory) -> Option<String> {
    let model = member(&trajectory.extra, "model")?;
    let name = model.as_str().or_else(|| model.get("requested").and_then(Json::as_str))?;
    Some(cut(name, 200))
}
