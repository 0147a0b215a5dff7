//! All runs, scores and references that are shown, kept up to date with the files on disk.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::SystemTime;

use m3_trajectory::format::Format;

use crate::opened::{OpenedFile, changed};
use crate::pictures::Pictures;
use crate::run::Run;
use crate::scan::{MOST_FILES, ScannedFiles};
use crate::score::Score;
use crate::shelves::{New, References, Shelves};

/// A function that scores files of predictions, one for each repetition, against a file of references. It returns the
/// path of the score, or the reason why there is none.
pub type Scorer = Box<dyn Fn(&[PathBuf], &Path) -> Result<PathBuf, String> + Send + Sync>;

/// The files and folders to show.
#[derive(Default)]
pub struct ViewSources {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Files of references besides those that are recognized.
    pub references: Vec<PathBuf>,
    /// The only folder in which pictures are looked for [default: the folder of each file and the one above it].
    pub images: Option<PathBuf>,
    /// The formats of trajectories that are read besides m3's own.
    pub formats: &'static [Format],
}

/// The message about why nothing can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewError(pub String);

impl std::fmt::Display for ViewError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ViewError {}

/// The message about a run whose file is gone or damaged.
const BROKEN: &str = "its file cannot be read any more, or is being written: this is what was there before";

/// All runs, scores and references that are shown.
pub struct Library {
    given: ViewSources,
    shelves: RwLock<Shelves>,
    pub(crate) pictures: Pictures,
    /// The files that were looked at. Locked while changed files are read, so that they are read only once.
    seen: Mutex<SeenFiles>,
}

/// The files that were looked at.
#[derive(Debug, Default)]
struct SeenFiles {
    /// Files that are shown, and the future predictions of runs that have none yet.
    shown: HashSet<PathBuf>,
    /// Files that could not be read, with the times of their last change: a file that has changed is read again.
    passed_over: HashMap<PathBuf, Option<SystemTime>>,
}

impl SeenFiles {
    fn is_new(&self, path: &Path) -> bool {
        !self.shown.contains(path) && self.passed_over.get(path).is_none_or(|known| *known != changed(path))
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Library").finish_non_exhaustive()
    }
}

/// A run to be scored: its number, the digest of its first file of predictions, all of these files, and the references.
struct Job {
    run: usize,
    digest: String,
    predictions: Vec<PathBuf>,
    references: PathBuf,
}

impl Library {
    /// Reads the given files and folders.
    ///
    /// # Errors
    /// [`ViewError`] if there is nothing to show, or a file that was named cannot be read.
    pub fn open(given: ViewSources) -> Result<Self, ViewError> {
        if let Some(path) = given.paths.iter().find(|path| !path.exists()) {
            return Err(ViewError(format!("`{}` does not exist", path.display())));
        }
        // A pipe could block for ever, since nobody may write into it.
        let mut named = given.paths.iter().chain(&given.references);
        if let Some(path) = named.find(|path| path.exists() && !path.is_file() && !path.is_dir()) {
            return Err(ViewError(format!("`{}` is neither a file nor a folder", path.display())));
        }
        let shelves = RwLock::default();
        let library = Self { given, shelves, pictures: Pictures::default(), seen: Mutex::default() };
        let mut seen = SeenFiles::default();
        let references = library.given.references.iter();
        let open = |path: &PathBuf| OpenedFile::open(path, library.given.formats).map_err(ViewError);
        let references: Vec<OpenedFile> = references.map(open).collect::<Result<_, _>>()?;
        let mut new = library.look(&mut seen)?;
        // The named references may also lie in a folder that is shown.
        new.files.retain(|files| {
            !files.iter().any(|file| references.iter().any(|known| known.digest == file.digest))
        });
        new.references = references;
        library.write().take(new, library.given.images.as_deref(), &library.pictures);
        let shelves = library.read();
        if shelves.runs.is_empty() && shelves.references.is_empty() {
            let mut message =
                "there are no trajectories, scores or references in what was given\n".to_owned();
            message.extend(shelves.passed_over.iter().take(3).map(|(_, reason)| format!("  {reason}\n")));
            message +=
                "hint: name folders of `m3 run`, files of trajectories or scores of `m3 score --format json`";
            return Err(ViewError(message));
        }
        drop(shelves);
        Ok(Self { seen: Mutex::new(seen), ..library })
    }

    /// Opens the new files among the given files and in the given folders.
    ///
    /// # Errors
    /// [`ViewError`] if a file that was named cannot be read; in a folder there may be anything.
    fn look(&self, seen: &mut SeenFiles) -> Result<New, ViewError> {
        let mut found = ScannedFiles::default();
        self.given.paths.iter().for_each(|path| found.add(path, &|path| seen.is_new(path)));
        let is_named = |path: &Path| self.given.paths.iter().any(|named| named == path);
        let mut new = New::default();
        if found.is_cut {
            let note = format!(
                "There are more than {MOST_FILES} files: only those were looked at; name fewer folders."
            );
            new.notes.push(note);
        }
        let open = |path: &PathBuf| OpenedFile::open(path, self.given.formats);
        let open_all = |paths: &Vec<PathBuf>| paths.iter().map(open).collect::<Result<Vec<_>, _>>();
        for (paths, opened) in in_parallel(&found.files, open_all) {
            match opened {
                Ok(files) => {
                    seen.shown.extend(paths.iter().cloned());
                    new.files.push(files);
                }
                Err(reason) if paths.iter().any(|path| is_named(path)) => return Err(ViewError(reason)),
                Err(reason) => {
                    seen.passed_over.extend(paths.iter().map(|path| (path.clone(), changed(path))));
                    new.passed_over.extend(paths.first().map(|path| (path.clone(), reason)));
                }
            }
        }
        for (path, score) in in_parallel(&found.scores, |path| Score::read(path)) {
            // A file of trajectories may begin like a score.
            let opened = if score.is_err() { open(path).ok() } else { None };
            match score {
                Err(_) if opened.is_some() => {
                    seen.shown.insert(path.clone());
                    new.files.extend(opened.map(|file| vec![file]));
                }
                Ok(score) => {
                    seen.shown.insert(path.clone());
                    new.scores.push(score);
                }
                Err(reason) if is_named(path) => return Err(ViewError(reason)),
                Err(reason) => {
                    seen.passed_over.insert(path.clone(), changed(path));
                    new.passed_over.push((path.clone(), reason));
                }
            }
        }
        seen.shown.extend(found.begun.iter().map(|folder| folder.join("predictions.json")));
        new.begun = found.begun;
        Ok(new)
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Shelves> {
        self.shelves.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shelves> {
        self.shelves.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the changes on disk: predictions, grades and journals of runs, references, and new files.
    pub(crate) fn refresh(&self) {
        let Ok(mut seen) = self.seen.try_lock() else { return };
        let runs = self.read().runs.len();
        (0..runs).for_each(|run| self.refresh_run(run));
        let references = self.read().references.len();
        (0..references).for_each(|number| self.refresh_references(number));
        // What cannot be read now may be readable later.
        if let Ok(new) = self.look(&mut seen)
            && !new.is_empty()
        {
            self.write().take(new, self.given.images.as_deref(), &self.pictures);
        }
    }

    fn refresh_run(&self, index: usize) {
        let changed = self.read().runs.get(index).and_then(Run::changed_files);
        let files = changed.map(|paths| self.open_again(&paths));
        let open = |path: &Path| OpenedFile::open(path, self.given.formats).ok();
        let mut shelves = self.write();
        let Some(run) = shelves.runs.get_mut(index) else { return };
        if let Some(progress) = &mut run.progress {
            progress.read_on();
        }
        let are_grades_new = run.refresh_grades(open);
        let is_told = run.problem.as_deref() == Some(BROKEN);
        match files {
            Some(Some(files)) => {
                (run.is_stale, run.problem) = (true, None);
                run.take(files, &self.pictures);
            }
            // A file that is being replaced is read the next time.
            Some(None) if run.problem.is_none() && !run.files.is_empty() => {
                run.problem = Some(BROKEN.to_owned());
            }
            None if is_told => run.problem = None,
            _ if are_grades_new => {}
            _ => return,
        }
        shelves.revision += 1;
    }

    /// Reads references that have changed, and marks the scores of their runs as stale.
    fn refresh_references(&self, index: usize) {
        let changed = self.read().references.get(index).and_then(|found| found.run.changed_files());
        let Some(mut files) = changed.and_then(|paths| self.open_again(&paths)) else { return };
        let Some(opened) = files.pop() else { return };
        let mut shelves = self.write();
        let shelves = &mut *shelves;
        let Some(references) = shelves.references.get_mut(index) else { return };
        let before = std::mem::replace(&mut references.digest, opened.digest.clone());
        references.run.take(vec![opened], &self.pictures);
        for run in &mut shelves.runs {
            let scored = run.score.as_ref().map(|score| &score.head.inputs.references.sha256);
            if scored.is_none_or(|digest| *digest == before) {
                run.is_stale = true;
                // A run that could not be scored against the old references may be scored against the new ones.
                run.problem.take_if(|problem| problem != BROKEN);
            }
        }
        shelves.revision += 1;
    }

    /// Opens all of these files; `None` if one of them cannot be read, or without files.
    fn open_again(&self, paths: &[PathBuf]) -> Option<Vec<OpenedFile>> {
        let files: Result<Vec<_>, _> =
            paths.iter().map(|path| OpenedFile::open(path, self.given.formats)).collect();
        files.ok().filter(|files| !files.is_empty())
    }

    /// Scores the runs that have no score, or a stale one, each against the references that share most tasks with it.
    /// Blocks until all are scored.
    pub fn score(&self, scorer: &Scorer) {
        self.write().is_scoring = true;
        for job in self.jobs() {
            let score = scorer(&job.predictions, &job.references).and_then(|path| Score::read(&path));
            let mut shelves = self.write();
            let Some(run) = shelves.runs.get_mut(job.run) else { continue };
            match score {
                Ok(score) => {
                    run.set_score(score);
                    run.is_score_our_own = true;
                }
                Err(reason) => run.problem = Some(reason),
            }
            // The run's file may have grown while it was scored.
            run.is_stale = run.files.first().is_some_and(|file| file.digest != job.digest);
            shelves.revision += 1;
        }
    }

    fn jobs(&self) -> Vec<Job> {
        let shelves = self.read();
        let job = |(number, run): (usize, &Run)| {
            let file = run.files.first()?;
            let is_due = (run.score.is_none() || run.is_stale) && run.problem.is_none();
            let shared =
                |references: &References| run.rows.iter().filter(|row| references.has(&row.id)).count();
            let best = shelves
                .references
                .iter()
                .filter(|known| is_due && !known.is_rejected)
                .max_by_key(|known| shared(known))?;
            if shared(best) == 0 {
                return None;
            }
            Some(Job {
                run: number,
                digest: file.digest.clone(),
                predictions: run.files.iter().map(|file| file.path.clone()).collect(),
                references: best.opened()?.path.clone(),
            })
        };
        shelves.runs.iter().enumerate().filter_map(job).collect()
    }
}

/// Does `work` on each item, on several threads; the results are in the order of the items.
fn in_parallel<'a, T: Sync, R: Send>(items: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<(&'a T, R)> {
    let threads = thread::available_parallelism().map_or(2, std::num::NonZero::get).min(8);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = work(item);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().filter_map(|(index, result)| Some((items.get(index)?, result))).collect()
}
