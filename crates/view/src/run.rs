//! A run: the trajectories of a model, with their rows, their score and, while it goes on, its journal.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use m3_images::task_image::image_folders;
use m3_support::files::folder_of;
use m3_support::task_files::task_file_name;
use m3_trajectory::Trajectory;

use crate::grades::Measures;
use crate::journal::Progress;
use crate::opened::{OpenedFile, TrajectoryRow};
use crate::pictures::{Pictures, Place};
use crate::row::Row;
use crate::scan::repetitions;
use crate::score::Score;

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
    /// The files, one for each repetition; empty if there is only a score.
    pub files: Vec<OpenedFile>,
    pub rows: Vec<Row>,
    /// The last row of each id.
    by_id: HashMap<String, usize>,
    /// The place of each row's trajectory; `None` for rows that only the score has.
    pub places: Vec<Option<At>>,
    pub model: Option<String>,
    pub score: Option<Arc<Score>>,
    pub progress: Option<Progress>,
    /// The last row of each id and repetition.
    by_repeat: HashMap<(String, u64), usize>,
    /// Graded copies of the run's predictions, as `m3 grade --graded` wrote them.
    graded: Vec<OpenedFile>,
    /// The folder of a run of `m3 run`.
    folder: Option<PathBuf>,
    /// The folders in which pictures of its trajectories are.
    folders: Vec<PathBuf>,
    /// Whether the run or its references have changed since it was scored.
    pub is_stale: bool,
    /// Whether the score was made here, and not found: a score that is found replaces it.
    pub is_score_our_own: bool,
    /// The problem with reading or scoring the run.
    pub problem: Option<String>,
}

impl Run {
    /// Makes a run of opened files, one for each repetition; `None` without files.
    pub(crate) fn of_files(
        files: Vec<OpenedFile>,
        images: Option<&Path>,
        pictures: &Pictures,
    ) -> Option<Self> {
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

    /// Makes a run of its folder, which may have no predictions yet.
    pub(crate) fn of_folder(folder: &Path, images: Option<&Path>) -> Self {
        // Pictures are looked for in the same folders as for a file in the run's folder.
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

    /// All files of the run, if one of them has changed, was added or is gone.
    pub(crate) fn changed_files(&self) -> Option<Vec<PathBuf>> {
        let known = || self.files.iter().map(|file| file.path.clone());
        let now: Vec<PathBuf> = match &self.folder {
            Some(folder) => {
                let files = repetitions(&folder.join("predictions.json"));
                files.into_iter().filter(|path| path.is_file()).collect()
            }
            None => known().collect(),
        };
        let is_changed = self.files.iter().any(OpenedFile::is_old) || !known().eq(now.iter().cloned());
        is_changed.then_some(now)
    }

    /// Makes a run of a score alone: its trajectories have no questions and no arguments.
    pub(crate) fn of_score(score: Score) -> Self {
        let rows: Vec<Row> = score.trajectories.iter().map(Row::of_score).collect();
        let path = score.path.clone();
        Self::of_rows(&path, rows, score)
    }

    /// Makes a run of rows whose trajectories are not in files that are shown.
    pub(crate) fn of_rows(path: &Path, rows: Vec<Row>, score: Score) -> Self {
        let places = vec![None; rows.len()];
        let score = Some(Arc::new(score));
        let mut run = Self { name: own_name(path), rows, places, score, ..Self::default() };
        run.index();
        run
    }

    /// Replaces the files of the run.
    pub(crate) fn take(&mut self, files: Vec<OpenedFile>, pictures: &Pictures) {
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

    /// Adds a graded copy of the run's predictions: a file with grades of the very same calls and answers. A file of
    /// other predictions is returned.
    pub(crate) fn join_grades(&mut self, graded: OpenedFile) -> Option<OpenedFile> {
        let is_other = |index| self.graded_row(&graded, index).is_none();
        if !graded.is_graded() || (0..graded.seen.len()).any(is_other) {
            return Some(graded);
        }
        self.graded.push(graded);
        self.take_grades();
        None
    }

    /// The row whose calls and answer were graded in a trajectory of a graded file.
    fn graded_row(&self, graded: &OpenedFile, index: usize) -> Option<usize> {
        let seen = graded.seen.get(index)?;
        let at = *self.by_repeat.get(&(seen.row.id.clone(), seen.repeat.unwrap_or(1)))?;
        let At { file, index: own } = (*self.places.get(at)?)?;
        (self.files.get(file)?.judged(own)? == graded.judged(index)?).then_some(at)
    }

    /// Gives the rows their grades; trajectories that have changed since they were graded get none.
    fn take_grades(&mut self) {
        let mut found: Vec<(usize, Measures)> = Vec::new();
        for graded in &self.graded {
            let row = |(index, seen): (usize, &TrajectoryRow)| {
                Some((self.graded_row(graded, index)?, seen.row.grades.clone()))
            };
            found.extend(graded.seen.iter().enumerate().filter_map(row));
        }
        for (at, grades) in found {
            if let Some(row) = self.rows.get_mut(at) {
                row.grades.extend(grades);
            }
        }
    }

    /// Opens the graded files that have changed anew, and returns whether there were any; a file that cannot be read
    /// stays as it was.
    pub(crate) fn refresh_grades(&mut self, open: impl Fn(&Path) -> Option<OpenedFile>) -> bool {
        let mut is_changed = false;
        for file in self.graded.iter_mut().filter(|file| file.is_old()) {
            if let Some(opened) = open(&file.path) {
                (*file, is_changed) = (opened, true);
            }
        }
        if is_changed {
            for (at, row) in self.rows.iter_mut().enumerate() {
                let own = self.places.get(at).copied().flatten();
                let own = own.and_then(|at| self.files.get(at.file)?.seen.get(at.index));
                row.grades = own.map(|seen| seen.row.grades.clone()).unwrap_or_default();
            }
            self.take_grades();
        }
        is_changed
    }

    /// The trajectories of the graded files that belong to a row, with the grades of panels.
    pub(crate) fn graded(&self, number: usize) -> Vec<Trajectory> {
        let of = |file: &OpenedFile| {
            let index =
                (0..file.seen.len()).rev().find(|index| self.graded_row(file, *index) == Some(number))?;
            file.with(|file| file.read(index)).ok()
        };
        self.graded.iter().filter_map(of).collect()
    }

    /// Sets the score that was made of the run's files.
    pub(crate) fn set_score(&mut self, score: Score) {
        self.score = Some(Arc::new(score));
        (self.problem, self.is_stale, self.is_score_our_own) = (None, false, false);
        self.add_missing();
    }

    /// Adds rows for trajectories that only the score has, such as missing predictions.
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
        let rows = || self.rows.iter().enumerate();
        self.by_repeat = rows().map(|(number, row)| ((row.id.clone(), row.repeat), number)).collect();
        self.by_id = rows().map(|(number, row)| (row.id.clone(), number)).collect();
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

    /// A trajectory of the run or of its references without the calls that its score ignores.
    pub(crate) fn without_ignored(&self, mut trajectory: Trajectory) -> Trajectory {
        if let Some(score) = &self.score {
            trajectory.leave_out(&score.head.ledger.ignored_tools);
        }
        trajectory
    }

    /// The format of another program that the run's trajectories were read from.
    pub(crate) fn format(&self) -> Option<&str> {
        self.files.first()?.seen.first()?.format.as_deref()
    }

    /// The folders in which pictures of a trajectory are: its workspace, then the folders of the run.
    pub(crate) fn picture_folders(&self, id: &str, repeat: u64) -> Arc<[PathBuf]> {
        let repeat = u32::try_from(repeat).unwrap_or(1);
        let workspace =
            self.folder.as_ref().map(|folder| folder.join("workspaces").join(task_file_name(id, repeat)));
        workspace.into_iter().chain(self.folders.iter().cloned()).collect()
    }
}

/// Numbers the rows that have the same id and repetition, and marks all but the last as replaced.
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

/// The name of a file or a folder, without endings.
fn own_name(path: &Path) -> String {
    let name = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = name
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let mut stem = m3_support::unpack::unpacked_name(&name);
    for ending in [".jsonl", ".ndjson", ".json", ".eval", ".log"] {
        stem = stem.strip_suffix(ending).filter(|rest| !rest.is_empty()).unwrap_or(stem);
    }
    stem.to_owned()
}
