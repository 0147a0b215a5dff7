//! All that was found: runs with their scores, and references.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;

use m3_trajectory::format::Format;

use crate::pictures::Pictures;
use crate::run::{Opened, Run};
use crate::scan::{Found, MOST_FILES};
use crate::score::Score;

/// Scores a file of predictions against one of references; the path of the score, or why there is none.
pub type Scorer = Box<dyn Fn(&Path, &Path) -> Result<PathBuf, String> + Send + Sync>;

/// What to show.
#[derive(Default)]
pub struct Given {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Files of references besides those that are recognized.
    pub references: Vec<PathBuf>,
    /// Where pictures are looked for, and nowhere else [default: the folder of each file and the one above it].
    pub images: Option<PathBuf>,
    /// The formats of trajectories that are read besides m3's own.
    pub formats: &'static [Format],
}

/// Nothing can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewError(pub String);

impl std::fmt::Display for ViewError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ViewError {}

/// A file of references.
#[derive(Debug)]
pub(crate) struct References {
    pub opened: Opened,
    pub name: String,
}

/// Runs and references.
#[derive(Debug, Default)]
pub(crate) struct Shelves {
    pub runs: Vec<Run>,
    pub references: Vec<Arc<References>>,
    /// What could not be read, and what else a reader should know.
    pub notes: Vec<String>,
    /// Grows with every change.
    pub revision: u64,
}

/// All that is shown.
pub struct Library {
    shelves: RwLock<Shelves>,
    pub(crate) pictures: Pictures,
    images: Option<PathBuf>,
    formats: &'static [Format],
    /// Held by who reads changed files, so that nobody does it twice.
    reading: Mutex<()>,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Library").finish_non_exhaustive()
    }
}

impl Library {
    /// Reads what was given.
    ///
    /// # Errors
    /// [`ViewError`] if there is nothing to show, or a file that was named cannot be read.
    pub fn open(given: &Given) -> Result<Self, ViewError> {
        let mut found = Found::default();
        for path in &given.paths {
            if !path.exists() {
                return Err(ViewError(format!("`{}` does not exist", path.display())));
            }
            found.add(path);
        }
        let library = Self {
            shelves: RwLock::default(),
            pictures: Pictures::default(),
            images: given.images.clone(),
            formats: given.formats,
            reading: Mutex::default(),
        };
        library.fill(&found, given)?;
        Ok(library)
    }

    fn fill(&self, found: &Found, given: &Given) -> Result<(), ViewError> {
        let mut notes = Vec::new();
        if found.is_cut {
            notes.push(format!("only the first {MOST_FILES} files were looked at"));
        }
        let is_named = |path: &Path| given.paths.iter().any(|named| named == path);
        let (mut opened, mut scores, mut references) = (Vec::new(), Vec::new(), Vec::new());
        for path in &given.references {
            let file = Opened::open(path, self.formats).map_err(ViewError)?;
            references.push(file);
        }
        for file in in_parallel(&found.files, |paths| {
            paths.iter().map(|path| Opened::open(path, self.formats)).collect::<Result<Vec<_>, _>>()
        }) {
            match file {
                (_, Ok(files)) => opened.push(files),
                (paths, Err(reason)) if paths.iter().any(|path| is_named(path)) => {
                    return Err(ViewError(reason));
                }
                // In a folder there may be anything.
                _ => {}
            }
        }
        for (path, score) in in_parallel(&found.scores, |path| Score::read(path)) {
            match score {
                Ok(score) => scores.push(score),
                Err(reason) if is_named(path) => return Err(ViewError(reason)),
                Err(reason) => notes.push(reason),
            }
        }
        let (of_references, of_runs): (Vec<_>, Vec<_>) = opened
            .into_iter()
            .partition(|files| files.first().is_some_and(|file| is_reference(file, &scores)));
        references.extend(of_references.into_iter().flatten());
        let mut runs = Vec::new();
        for files in of_runs {
            let run = Run::of_files(files, self.images.as_deref(), &self.pictures);
            runs.push(run.map_err(ViewError)?);
        }
        join(&mut runs, scores);
        if runs.is_empty() && references.is_empty() {
            let message = "there are no trajectories, scores or references in what was given\n\
                hint: name folders of `m3 run`, files of trajectories or scores of `m3 score --format json`";
            return Err(ViewError(message.to_owned()));
        }
        let mut shelves = self.write();
        for opened in references {
            // The same content twice is one file of references.
            if shelves.references.iter().all(|known| known.opened.digest != opened.digest) {
                let name = opened.path.display().to_string();
                shelves.references.push(Arc::new(References { opened, name }));
            }
        }
        shelves.runs = runs;
        tell_apart(&mut shelves.runs);
        shelves.notes = notes;
        Ok(())
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Shelves> {
        self.shelves.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shelves> {
        self.shelves.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what has changed on disk since: predictions and journals of runs.
    pub(crate) fn refresh(&self) {
        let Ok(_reading) = self.reading.try_lock() else { return };
        let runs = self.read().runs.len();
        for index in 0..runs {
            let paths: Option<Vec<PathBuf>> = self.read().runs.get(index).map(|run| {
                let is_old = run.files.iter().any(Opened::is_old);
                if is_old { run.files.iter().map(|file| file.path.clone()).collect() } else { Vec::new() }
            });
            let files: Result<Vec<_>, _> =
                paths.unwrap_or_default().iter().map(|path| Opened::open(path, self.formats)).collect();
            let mut shelves = self.write();
            let Some(run) = shelves.runs.get_mut(index) else { continue };
            let has_news = run.progress.as_mut().is_some_and(crate::journal::Progress::read_on);
            // A file that is being replaced is read the next time.
            let is_new = matches!(files, Ok(ref files) if !files.is_empty());
            if let Ok(files) = files
                && is_new
            {
                run.is_stale = true;
                run.problem = run.take(files, &self.pictures).err();
            } else if has_news {
                run.revision += 1;
            }
            if has_news || is_new {
                shelves.revision += 1;
            }
        }
    }

    /// Scores the runs that have no score, or one of what was there before, each against the references that share most tasks with it. Blocks until all are
    /// scored.
    pub fn score(&self, scorer: &Scorer) {
        let jobs: Vec<(usize, u64, PathBuf, PathBuf)> = {
            let shelves = self.read();
            let job = |(index, run): (usize, &Run)| {
                let [file] = run.files.as_slice() else { return None };
                let shared = |references: &References| {
                    run.rows.iter().filter(|row| references.opened.has(&row.id)).count()
                };
                let best = shelves.references.iter().max_by_key(|references| shared(references));
                let best = best.filter(|references| {
                    (run.score.is_none() || run.is_stale) && run.problem.is_none() && shared(references) > 0
                })?;
                Some((index, run.revision, file.path.clone(), best.opened.path.clone()))
            };
            shelves.runs.iter().enumerate().filter_map(job).collect()
        };
        for (index, revision, predictions, references) in jobs {
            let score = scorer(&predictions, &references).and_then(|path| Score::read(&path));
            let mut shelves = self.write();
            let Some(run) = shelves.runs.get_mut(index).filter(|run| run.revision == revision) else {
                continue;
            };
            match score {
                Ok(score) => run.set_score(score),
                Err(reason) => run.problem = Some(reason),
            }
            shelves.revision += 1;
        }
    }
}

impl Shelves {
    /// The references that a run was scored against, or that share tasks with it.
    pub(crate) fn references_of(&self, run: &Run) -> Option<&Arc<References>> {
        let scored = run.score.as_ref().map(|score| score.head.inputs.references.sha256.as_str());
        let of_score = self.references.iter().find(|known| Some(known.opened.digest.as_str()) == scored);
        of_score.or_else(|| {
            let shares = |known: &&Arc<References>| run.rows.iter().any(|row| known.opened.has(&row.id));
            self.references.iter().filter(|_| scored.is_none()).find(shares)
        })
    }
}

/// Whether a file holds references: a score says so, it says so itself, or its name does.
fn is_reference(file: &Opened, scores: &[Score]) -> bool {
    let of_score = |score: &Score| score.head.inputs.references.sha256 == file.digest;
    let is_of_predictions = |score: &Score| score.head.inputs.predictions.sha256 == file.digest;
    if scores.iter().any(is_of_predictions) {
        return false;
    }
    let name = file.path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let says_so = || file.with(|file| file.look_at(0).is_ok_and(|first| first.is_reference()));
    scores.iter().any(of_score)
        || says_so()
        || name.is_some_and(|name| name.contains("reference") || name.contains("gold"))
}

/// Gives each score to the run that it is of; what is left becomes runs of their own.
fn join(runs: &mut Vec<Run>, scores: Vec<Score>) {
    let by_digest: HashMap<String, usize> = runs
        .iter()
        .enumerate()
        .filter_map(|(index, run)| Some((run.files.first()?.digest.clone(), index)))
        .collect();
    for score in scores {
        let of = by_digest.get(&score.head.inputs.predictions.sha256);
        match of.and_then(|index| runs.get_mut(*index)).filter(|run| run.score.is_none()) {
            Some(run) => run.set_score(score),
            None => runs.push(Run::of_score(score)),
        }
    }
}

/// Runs of one name get the names of their folders in front, or a number.
fn tell_apart(runs: &mut [Run]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for run in runs.iter() {
        *counts.entry(run.name.clone()).or_default() += 1;
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    for run in runs.iter_mut().filter(|run| counts.get(&run.name).is_some_and(|count| *count > 1)) {
        let path = run
            .files
            .first()
            .map(|file| file.path.clone())
            .or_else(|| Some(run.score.as_ref()?.path.clone()));
        let above = path.as_deref().and_then(Path::parent).and_then(Path::file_name);
        let name = above
            .map_or_else(|| run.name.clone(), |above| format!("{}/{}", above.to_string_lossy(), run.name));
        let number = seen.entry(name.clone()).or_default();
        *number += 1;
        run.name = if *number == 1 { name } else { format!("{name} ({number})") };
    }
}

/// The results of some work on each item, in their order, made on several threads.
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
