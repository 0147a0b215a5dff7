//! The files that were found, put together: runs with their scores, and references.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::opened::OpenedFile;
use crate::pictures::Pictures;
use crate::run::Run;
use crate::score::Score;

/// The most files that are listed as not shown.
const PASSED_OVER: usize = 200;

/// A file of references: its trajectories are shown as those of a run are.
#[derive(Debug)]
pub(crate) struct References {
    /// The trajectories as a run, whose only file is this one.
    pub run: Run,
    pub digest: String,
    /// The name of the file without its folder, which readers of a bundle should not see.
    pub name: String,
    /// Whether `m3 judge` did not accept the references: no run is scored against them by itself.
    pub is_rejected: bool,
}

impl References {
    fn new(opened: OpenedFile, images: Option<&Path>, pictures: &Pictures) -> Option<Self> {
        let name = opened.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let (digest, name) = (opened.digest.clone(), name.unwrap_or_default());
        let is_rejected = name.contains(".rejected.");
        Some(Self { run: Run::of_files(vec![opened], images, pictures)?, digest, name, is_rejected })
    }

    /// The opened file.
    pub(crate) fn opened(&self) -> Option<&OpenedFile> {
        self.run.files.first()
    }

    /// Whether the file has a reference for this task.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.run.row_of(id).is_some()
    }
}

/// Runs and references.
#[derive(Debug, Default)]
pub(crate) struct Shelves {
    pub runs: Vec<Run>,
    pub references: Vec<References>,
    /// Notes for the reader of the page.
    pub notes: Vec<String>,
    /// Files in the folders that hold nothing to show, or cannot be read, with the reasons; the first 200.
    pub passed_over: Vec<(PathBuf, String)>,
    /// Whether runs without a score get one.
    pub is_scoring: bool,
    /// Grows with every change.
    pub revision: u64,
}

impl Shelves {
    /// The references that a run was scored against, or that share tasks with it.
    pub(crate) fn references_of(&self, run: &Run) -> Option<&References> {
        let scored = run.score.as_ref().map(|score| score.head.inputs.references.sha256.as_str());
        let of_score = self.references.iter().find(|known| Some(known.digest.as_str()) == scored);
        of_score.or_else(|| {
            let shares = |known: &&References| run.rows.iter().any(|row| known.has(&row.id));
            let accepted = self.references.iter().filter(|known| !known.is_rejected);
            accepted.filter(|_| scored.is_none() || run.is_stale).find(shares)
        })
    }

    /// The references of [`Self::references_of`], with their number.
    pub(crate) fn numbered_references_of(&self, run: &Run) -> Option<(usize, &References)> {
        let found = self.references_of(run)?;
        self.references.iter().enumerate().find(|(_, known)| std::ptr::eq(*known, found))
    }

    /// Adds a number to the name of references if others have the same name.
    fn with_own_name(&self, references: References) -> References {
        let is_free = |name: &String| self.references.iter().all(|known| known.name != *name);
        let numbered = (2..).map(|number| format!("{} ({number})", references.name));
        let name = std::iter::once(references.name.clone()).chain(numbered).find(is_free);
        References { name: name.unwrap_or_default(), ..references }
    }

    /// Adds opened files: they become runs or references, and scores go to their runs. Earlier runs and references keep
    /// their numbers.
    pub(crate) fn take(&mut self, new: New, images: Option<&Path>, pictures: &Pictures) {
        let shown: Vec<PathBuf> = new.files.iter().flatten().map(|file| file.path.clone()).collect();
        let (of_references, of_runs): (Vec<_>, Vec<_>) = new
            .files
            .into_iter()
            .partition(|files| files.first().is_some_and(|file| is_reference(file, &new.scores)));
        for opened in new.references.into_iter().chain(of_references.into_iter().flatten()) {
            // The same content twice is one file of references.
            if self.references.iter().all(|known| known.digest != opened.digest) {
                let made = References::new(opened, images, pictures).map(|made| self.with_own_name(made));
                self.references.extend(made);
            }
        }
        let is_graded = |files: &Vec<OpenedFile>| files.first().is_some_and(OpenedFile::is_graded);
        let (graded, plain): (Vec<_>, Vec<_>) = of_runs.into_iter().partition(is_graded);
        let run = |files| Run::of_files(files, images, pictures);
        self.runs.extend(plain.into_iter().filter_map(run));
        for files in graded {
            let left = join_grades(&mut self.runs, files);
            self.runs.extend(left.and_then(run));
        }
        self.runs.extend(new.begun.into_iter().map(|folder| Run::of_folder(&folder, images)));
        join(&mut self.runs, new.scores);
        tell_apart(&mut self.runs);
        self.notes.extend(new.notes);
        // A file that could not be read before may be shown now.
        let again: Vec<&PathBuf> = new.passed_over.iter().map(|(path, _)| path).collect();
        self.passed_over.retain(|(path, _)| !again.contains(&path) && !shown.contains(path));
        let room = PASSED_OVER.saturating_sub(self.passed_over.len());
        self.passed_over.extend(new.passed_over.into_iter().take(room));
        self.revision += 1;
    }
}

/// The new files that were found and opened.
#[derive(Debug, Default)]
pub(crate) struct New {
    /// Files of trajectories, each with its repetitions.
    pub files: Vec<Vec<OpenedFile>>,
    /// Files that the user called references.
    pub references: Vec<OpenedFile>,
    pub scores: Vec<Score>,
    /// Folders of runs that have no predictions yet.
    pub begun: Vec<PathBuf>,
    pub notes: Vec<String>,
    pub passed_over: Vec<(PathBuf, String)>,
}

impl New {
    pub(crate) fn is_empty(&self) -> bool {
        let has_files = !self.files.is_empty() || !self.references.is_empty() || !self.scores.is_empty();
        !has_files && self.begun.is_empty() && self.passed_over.is_empty()
    }
}

/// Whether a file holds references: by a score, by its own first trajectory, or by its name.
fn is_reference(file: &OpenedFile, scores: &[Score]) -> bool {
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

/// Gives each score to its run; scores without a run become runs of their own.
fn join(runs: &mut Vec<Run>, scores: Vec<Score>) {
    let by_digest: HashMap<String, usize> = runs
        .iter()
        .enumerate()
        .filter_map(|(index, run)| Some((run.files.first()?.digest.clone(), index)))
        .collect();
    for score in scores {
        let of = by_digest.get(&score.head.inputs.predictions.sha256);
        match of
            .and_then(|index| runs.get_mut(*index))
            .filter(|run| run.score.is_none() || run.is_stale || run.is_score_our_own)
        {
            Some(run) => run.set_score(score),
            None => runs.push(Run::of_score(score)),
        }
    }
}

/// Gives a graded file to the run whose predictions it grades; returns the file if there is no such run.
fn join_grades(runs: &mut [Run], files: Vec<OpenedFile>) -> Option<Vec<OpenedFile>> {
    if files.len() != 1 {
        return Some(files);
    }
    let mut left = files.into_iter().next()?;
    for run in runs.iter_mut() {
        left = run.join_grades(left)?;
    }
    Some(vec![left])
}

/// Puts the names of their folders before the names of runs with the same name, and adds numbers if needed.
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
