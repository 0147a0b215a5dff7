//! A run: the trajectories of a model, with their rows, their score and, while it goes on, its journal.

use std::collections::{HashMap, HashSet};
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
use crate::members::{cut, member};
use crate::pictures::{Pictures, Place};
use crate::row::Row;
use crate::scan::repetitions;
use crate::score::Score;

/// An opened file of trajectories.
#[derive(Debug)]
pub(crate) struct Opened {
    pub path: PathBuf,
    pub digest: String,
    /// What was seen of its trajectories, in their order, while it was opened.
    pub seen: Vec<Seen>,
    /// Behind a lock, because reading moves its place.
    file: Mutex<TrajectoryFile>,
    changed: Option<SystemTime>,
}

/// What is kept of a trajectory: its row, and what the run makes of it.
#[derive(Debug)]
pub(crate) struct Seen {
    row: Row,
    image: Option<String>,
    repeat: Option<u64>,
    model: Option<String>,
    format: Option<String>,
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
    /// The last row of each id.
    by_id: HashMap<String, usize>,
    /// Where each row's trajectory is; none for rows that only the score has.
    pub places: Vec<Option<At>>,
    pub model: Option<String>,
    pub score: Option<Arc<Score>>,
    pub progress: Option<Progress>,
    /// Its predictions once more, as `m3 grade -o` wrote them.
    graded: Option<Opened>,
    /// The folder, of a run of `m3 run`.
    folder: Option<PathBuf>,
    /// The folders in which pictures of its trajectories are.
    folders: Vec<PathBuf>,
    /// Whether its score is of what was there before.
    pub is_stale: bool,
    /// Whether its score was made here, and not found: one that is found takes its place.
    pub is_score_our_own: bool,
    /// What went wrong when it was read or scored.
    pub problem: Option<String>,
}

impl Opened {
    pub(crate) fn open(path: &Path, formats: &'static [Format]) -> Result<Self, String> {
        let changed = changed(path);
        let mut seen = Vec::new();
        let mut visit = |trajectory: &Trajectory| seen.push(Seen::of(trajectory));
        let file =
            TrajectoryFile::open_with_malformed(path, formats, Duplicates::Keep, &mut |_, _| (), &mut visit);
        let file = file.map_err(|error| in_words(path, &error))?;
        if file.is_tasks() || file.is_empty() {
            return Err(format!("`{}` has no trajectories", path.display()));
        }
        if seen.len() != file.len() {
            // Tasks among trajectories are read as trajectories without calls, but not seen while opening.
            let read = (0..file.len()).map(|index| file.look_at(index).map(|found| Seen::of(&found)));
            seen = read.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        }
        let digest = file.digest().map_err(|error| error.to_string())?;
        Ok(Self { path: path.to_owned(), digest, seen, file: Mutex::new(file), changed })
    }

    /// Works on the file.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&TrajectoryFile) -> R) -> R {
        work(&self.file.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the file has changed since it was opened.
    pub(crate) fn is_old(&self) -> bool {
        changed(&self.path) != self.changed
    }
}

impl Seen {
    fn of(trajectory: &Trajectory) -> Self {
        Self {
            row: Row::new(trajectory),
            image: trajectory.image.clone(),
            repeat: repeat_of(trajectory),
            model: model_of(trajectory),
            format: format_of(trajectory),
        }
    }
}

/// When a file was changed; nothing if it is not there.
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

impl Run {
    /// Of opened files, one for each repetition; none if there is no file.
    pub(crate) fn of_files(files: Vec<Opened>, images: Option<&Path>, pictures: &Pictures) -> Option<Self> {
        let path = files.first()?.path.clone();
        let folder = folder_of(&path);
        // Other files may lie in the folder of a run, such as references that were made of it.
        let is_of_run = path.file_name().is_some_and(|name| name == "predictions.json");
        let mut run = if is_of_run && folder.join("journal.jsonl").is_file() {
            Self::of_folder(folder, images)
        } else {
            let folders = images.map_or_else(|| image_folders(&path), |images| vec![images.to_owned()]);
            Self { name: own_name(&path), folders, ..Self::default() }
        };
        run.take(files, pictures);
        Some(run)
    }

    /// Of the folder of a run, which may have no predictions yet.
    pub(crate) fn of_folder(folder: &Path, images: Option<&Path>) -> Self {
        // The folder above is where the run's file would look for them too.
        let folders = images
            .map_or_else(|| image_folders(&folder.join("journal.jsonl")), |images| vec![images.to_owned()]);
        let progress = Progress::of(folder);
        let model = progress.as_ref().and_then(Progress::model).map(str::to_owned);
        Self {
            name: own_name(folder),
            progress,
            model,
            folders,
            folder: Some(folder.to_owned()),
            ..Self::default()
        }
    }

    /// All of its files, if one of them has changed, was added or has gone.
    pub(crate) fn changed_files(&self) -> Option<Vec<PathBuf>> {
        let known = || self.files.iter().map(|file| file.path.clone());
        let now: Vec<PathBuf> = match &self.folder {
            Some(folder) => {
                let files = repetitions(&folder.join("predictions.json"));
                files.into_iter().filter(|path| path.is_file()).collect()
            }
            None => known().collect(),
        };
        let is_changed = self.files.iter().any(Opened::is_old) || !known().eq(now.iter().cloned());
        is_changed.then_some(now)
    }

    /// Of a score alone: its trajectories have no questions and no arguments.
    pub(crate) fn of_score(score: Score) -> Self {
        let rows: Vec<Row> = score.trajectories.iter().map(Row::of_score).collect();
        let path = score.path.clone();
        Self::of_rows(&path, rows, score)
    }

    /// Of rows whose trajectories are not in files that are shown.
    pub(crate) fn of_rows(path: &Path, rows: Vec<Row>, score: Score) -> Self {
        let places = vec![None; rows.len()];
        let score = Some(Arc::new(score));
        let mut run = Self { name: own_name(path), rows, places, score, ..Self::default() };
        run.index();
        run
    }

    /// Takes files in place of those it has.
    pub(crate) fn take(&mut self, files: Vec<Opened>, pictures: &Pictures) {
        let (mut rows, mut places) = (Vec::new(), Vec::new());
        let mut model = self.progress.as_ref().and_then(Progress::model).map(str::to_owned);
        for (file, opened) in files.iter().enumerate() {
            for (index, seen) in opened.seen.iter().enumerate() {
                let mut row = seen.row.clone();
                row.repeat = seen.repeat.unwrap_or(file as u64 + 1);
                row.picture = seen.image.as_ref().map(|path| {
                    let folders = self.picture_folders(&row.id, row.repeat);
                    pictures.name(Place::File { folders, path: path.clone() })
                });
                model = model.or_else(|| seen.model.clone());
                rows.push(row);
                places.push(Some(At { file, index }));
            }
        }
        number_copies(&mut rows);
        (self.files, self.rows, self.places, self.model) = (files, rows, places, model);
        self.index();
        self.take_grades();
        self.add_missing();
    }

    /// Whether this run is another one with grades: its file becomes a part of that one.
    pub(crate) fn is_graded_form_of(&self, other: &Self) -> bool {
        let is_same = |row: &Row| {
            let known = other.row_of(&row.id).and_then(|index| other.rows.get(index));
            known.is_some_and(|known| {
                known.repeat == row.repeat
                    && known.calls == row.calls
                    && known.tools == row.tools
                    && known.grades.is_empty()
            })
        };
        let has_grades = self.rows.iter().any(|row| !row.grades.is_empty());
        self.score.is_none() && self.files.len() == 1 && has_grades && self.rows.iter().all(is_same)
    }

    /// Takes the graded form of its predictions.
    pub(crate) fn join_grades(&mut self, graded: Self) {
        self.graded = graded.files.into_iter().next();
        self.take_grades();
    }

    fn take_grades(&mut self) {
        let Some(graded) = &self.graded else { return };
        for seen in &graded.seen {
            let row = self.by_id.get(&seen.row.id).and_then(|index| self.rows.get_mut(*index));
            // Grades of other calls say nothing of these.
            if let Some(row) = row.filter(|row| row.calls == seen.row.calls) {
                row.grades.clone_from(&seen.row.grades);
            }
        }
    }

    /// The trajectory of a row with what panels say of it.
    pub(crate) fn graded(&self, row: &Row) -> Option<Trajectory> {
        let of = |file: &TrajectoryFile| file.read(file.find(&row.id)?).ok();
        self.graded.as_ref().filter(|_| !row.grades.is_empty())?.with(of)
    }

    /// Gives it the score that was made of its files.
    pub(crate) fn set_score(&mut self, score: Score) {
        self.score = Some(Arc::new(score));
        (self.problem, self.is_stale, self.is_score_our_own) = (None, false, false);
        self.add_missing();
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
        self.index();
    }

    fn index(&mut self) {
        self.by_id = self.rows.iter().enumerate().map(|(number, row)| (row.id.clone(), number)).collect();
    }

    /// The last row of a task: of several with its id, that one counts.
    pub(crate) fn row_of(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The trajectory of a row.
    pub(crate) fn trajectory(&self, row: usize) -> Option<Trajectory> {
        let At { file, index } = (*self.places.get(row)?)?;
        self.files.get(file)?.with(|file| file.read(index)).ok()
    }

    /// The format of another program that its trajectories were read from.
    pub(crate) fn format(&self) -> Option<&str> {
        self.files.first()?.seen.first()?.format.as_deref()
    }

    /// The folders in which pictures of a trajectory are: where it worked, then those of the run.
    pub(crate) fn picture_folders(&self, id: &str, repeat: u64) -> Arc<[PathBuf]> {
        let repeat = u32::try_from(repeat).unwrap_or(1);
        let workspace =
            self.folder.as_ref().map(|folder| folder.join("workspaces").join(file_name(id, repeat)));
        workspace.into_iter().chain(self.folders.iter().cloned()).collect()
    }
}

/// Numbers those that have the same id and repetition.
fn number_copies(rows: &mut [Row]) {
    let mut seen: HashMap<(String, u64), (u64, usize)> = HashMap::new();
    for index in 0..rows.len() {
        let Some(row) = rows.get_mut(index) else { break };
        let (copies, last) = seen.entry((row.id.clone(), row.repeat)).or_default();
        *copies += 1;
        row.copy = *copies;
        let before = std::mem::replace(last, index);
        if *copies > 1
            && let Some(before) = rows.get_mut(before)
        {
            before.is_replaced = true;
        }
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
    member(&trajectory.extra, "run")?.get("repeat").and_then(crate::members::count)
}

/// The format that a trajectory was read from, if another program wrote it.
pub(crate) fn format_of(trajectory: &Trajectory) -> Option<String> {
    let format = member(&trajectory.extra, "import")?.get("format")?.as_str()?;
    Some(cut(format, 200))
}

fn model_of(trajectory: &Trajectory) -> Option<String> {
    let model = member(&trajectory.extra, "model")?;
    let name = model.as_str().or_else(|| model.get("requested").and_then(Json::as_str))?;
    Some(cut(name, 200))
}
