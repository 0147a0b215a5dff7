//! Opens files of trajectories and reports their problems.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use m3_support::text::counted;
use m3_traces::TRACES;
use m3_trajectory::Trajectory;
use m3_trajectory::{CallForms, Duplicates, OpenError, Problem, Problems, Severity, TrajectoryFile};

use crate::cli::common::failure::{Failure, Result, code};
use crate::cli::common::printer::Printer;

/// A file of predictions. A folder that contains `predictions.json`, as written by `m3 run`, stands for this file; any other
/// folder for the traces in it.
#[derive(Debug, Clone)]
pub(crate) struct PredictionsArg {
    path: PathBuf,
    is_of_folder: bool,
}

impl From<OsString> for PredictionsArg {
    fn from(named: OsString) -> Self {
        let named = PathBuf::from(named);
        let path = named.join("predictions.json");
        if path.is_file() {
            Self { path, is_of_folder: true }
        } else {
            Self { path: named, is_of_folder: false }
        }
    }
}

impl PredictionsArg {
    /// The path of the file of predictions.
    pub(crate) fn as_path(&self) -> &Path {
        &self.path
    }

    /// The files of further repetitions in the named folder, in order: `predictions-2.json` and so on.
    pub(crate) fn further(&self) -> Vec<PathBuf> {
        let folder = self.path.parent().filter(|_| self.is_of_folder);
        let number = |entry: DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let digits = name.strip_prefix("predictions-")?.strip_suffix(".json")?;
            // `m3 run` writes numbers without leading zeros: `predictions-02.json` is another file.
            digits.parse().ok().filter(|number: &u32| *number > 1 && number.to_string() == digits)
        };
        let entries = folder.and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
        let numbers: BTreeSet<u32> = entries.filter_map(number).collect();
        numbers.iter().map(|number| self.path.with_file_name(format!("predictions-{number}.json"))).collect()
    }

    /// The path of the file; a note names it if the user named a folder.
    pub(crate) fn path(&self, printer: Printer) -> &Path {
        if self.is_of_folder {
            printer.note(&format!("the predictions of the folder are read from `{}`", self.path.display()));
        }
        &self.path
    }

    /// The path of the only file that is read.
    pub(crate) fn only_path(&self, printer: Printer) -> &Path {
        self.say_further(printer);
        self.path(printer)
    }

    /// Says that the folder of a run has further repetitions, which are not read.
    pub(crate) fn say_further(&self, printer: Printer) {
        if let Some(next) = self.further().first() {
            let (shown, next) = (self.path.display(), next.display());
            printer.note(&format!(
                "shows `{shown}` alone; of the other repetitions name the file, such as `{next}`"
            ));
        }
    }
}

/// The most errors that are printed one by one; the others are counted.
const SHOWN_ERRORS: usize = 50;

/// The most kinds of warnings that are printed, each once with its first place; the others are counted.
const SHOWN_WARNINGS: usize = 3;

/// Opens all files at once, so that the errors of all are reported.
pub(crate) fn open_all<const N: usize>(
    paths: [&Path; N],
    duplicates: Duplicates,
    printer: Printer,
) -> Result<[TrajectoryFile; N]> {
    let paths = paths.map(|path| (path, Content::Any));
    open_visiting(paths, (duplicates, CallForms::default()), printer, &|_, _| ())
}

/// The content of a file, which decides whether malformed calls are errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Trajectories in which every call must be well formed.
    Any,
    /// Predictions, in which a model may have written anything in place of a call.
    Predictions,
}

/// Opens files and passes each trajectory to `visit`, with the number of its file.
pub(crate) fn open_visiting<const N: usize>(
    paths: [(&Path, Content); N],
    reading: (Duplicates, CallForms),
    printer: Printer,
    visit: &(dyn Fn(usize, &Trajectory) + Sync),
) -> Result<[TrajectoryFile; N]> {
    if paths.iter().filter(|(path, _)| *path == Path::new("-")).count() > 1 {
        return Err(Failure::input("`-` (standard input) can stand for one of the files only"));
    }
    let mut broken = None;
    let files = read_all(paths, reading, printer, visit).map(|file| {
        said(file, printer)
            .map_err(|code| broken = if code == code::INPUT { Some(code) } else { broken.or(Some(code)) })
            .ok()
    });
    let files: Vec<TrajectoryFile> = files.into_iter().flatten().collect();
    match files.try_into() {
        Ok(files) if broken.is_none() => Ok(files),
        _ => Err(Failure::silent(broken.unwrap_or(code::INPUT))),
    }
}

/// Reads files in parallel, with one progress bar.
fn read_all<const N: usize>(
    paths: [(&Path, Content); N],
    reading: (Duplicates, CallForms),
    printer: Printer,
    visit: &(dyn Fn(usize, &Trajectory) + Sync),
) -> [Result<TrajectoryFile, OpenError>; N] {
    let (bar, parts) = (printer.bar(), Mutex::new([(0, 0); N]));
    let open = |number: usize, (path, content): (&Path, Content)| {
        let mut progress = |done: usize, total: usize| {
            let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
            parts[number] = (done as u64, total as u64);
            let (done, total) = parts.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
            bar.set("reading", done, total);
        };
        let mut visit = |found: &Trajectory| visit(number, found);
        match content {
            Content::Any => TrajectoryFile::open_with(path, TRACES, reading, &mut progress, &mut visit),
            Content::Predictions => {
                TrajectoryFile::open_predictions(path, TRACES, reading, &mut progress, &mut visit)
            }
        }
    };
    thread::scope(|scope| {
        let mut number = 0;
        let threads = paths.map(|path| {
            let (open, this) = (&open, number);
            number += 1;
            scope.spawn(move || open(this, path))
        });
        // A thread fails only by a bug, whose panic is passed on.
        threads.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Opens one file with everything that a model did, including malformed calls and repeated ids.
pub(crate) fn open_predicted(path: &Path, printer: Printer) -> Result<TrajectoryFile> {
    open_with_malformed(path, Duplicates::Keep, printer)
}

/// Opens one file with its malformed calls; `duplicates` decides about repeated ids.
pub(crate) fn open_with_malformed(
    path: &Path,
    duplicates: Duplicates,
    printer: Printer,
) -> Result<TrajectoryFile> {
    let mut progress = printer.progress("reading");
    let file = TrajectoryFile::open_with_malformed(path, TRACES, duplicates, &mut progress, &mut |_| ());
    drop(progress);
    said(file, printer).map_err(Failure::silent)
}

/// Reports the problems of a file; returns the exit code if it cannot be used.
fn said(file: Result<TrajectoryFile, OpenError>, printer: Printer) -> Result<TrajectoryFile, u8> {
    match file {
        Ok(file) if file.is_tasks() => {
            Printer::error(&format!("{}: tasks, not trajectories: no entry has `steps`", file.name()));
            Err(code::INPUT)
        }
        Ok(file) => {
            say(file.name(), file.problems(), printer);
            Ok(file)
        }
        Err(OpenError::Invalid { file, problems }) => {
            say(&file, &problems, printer);
            Err(code::INPUT)
        }
        Err(OpenError::Source(error)) => {
            let failure = Failure::from(error);
            Printer::error(failure.message.as_deref().unwrap_or_default());
            Err(failure.code)
        }
    }
}

/// Prints the errors of a file, and some of its warnings.
fn say(name: &str, problems: &Problems, printer: Printer) {
    let of = |severity| problems.iter().filter(move |problem| problem.severity == severity);
    let shown = if Printer::has_listener() { usize::MAX } else { SHOWN_ERRORS };
    for problem in of(Severity::Error).take(shown) {
        Printer::problem(problem);
    }
    let errors = problems.count(Severity::Error);
    if errors > shown {
        Printer::error(&format!(
            "{name}: {}; `m3 validate {name}` lists them",
            counted(errors - SHOWN_ERRORS, "more error")
        ));
    }
    if errors > 0 {
        return;
    }
    let (mut kinds, mut shown): (Vec<(&Problem, usize)>, usize) = (Vec::new(), 0);
    for problem in of(Severity::Warning) {
        if let Some((_, count)) = kinds.iter_mut().find(|(first, _)| first.message == problem.message) {
            *count += 1;
        } else if kinds.len() < SHOWN_WARNINGS {
            kinds.push((problem, 1));
        }
    }
    for (first, count) in kinds {
        shown += count;
        let more = if count > 1 { format!(" ({} more like it)", count - 1) } else { String::new() };
        printer.warn(&format!("{first}{more}"));
    }
    let warnings = problems.count(Severity::Warning);
    if warnings > shown {
        let more = counted(warnings - shown, "more warning");
        printer.warn(&format!("{name}: {more}; `m3 validate {name}` lists them"));
    }
}

/// The folders that are searched for images: the one that the user named, which must exist, or the usual ones.
pub(crate) fn image_folders(
    named: Option<&PathBuf>,
    usual: impl FnOnce() -> Vec<PathBuf>,
) -> Result<Vec<PathBuf>> {
    let Some(named) = named else { return Ok(usual()) };
    if named.is_dir() {
        return Ok(vec![named.clone()]);
    }
    Err(Failure::input(format!("`{}` is no folder\nhint: name the images' folder", named.display())))
}
