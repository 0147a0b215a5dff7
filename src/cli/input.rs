//! Opens files of trajectories and speaks of their problems.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clap::ValueEnum;

use super::failure::{Failure, code};
use super::printer::{Printer, Unit};
use crate::text::counted;
use crate::trajectory::Trajectory;
use crate::trajectory::{Duplicates, OpenError, Problems, Severity, TrajectoryFile};

/// What to do with an id that stands twice.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum DuplicatesArg {
    /// Stop and name both places
    Error,
    /// Use the last
    Last,
}

impl From<DuplicatesArg> for Duplicates {
    fn from(duplicates: DuplicatesArg) -> Self {
        match duplicates {
            DuplicatesArg::Error => Duplicates::Error,
            DuplicatesArg::Last => Duplicates::Last,
        }
    }
}

/// Errors that are printed one by one; the rest are counted.
const SHOWN_ERRORS: usize = 50;

/// Warnings that are printed one by one.
const SHOWN_WARNINGS: usize = 3;

/// Opens all files at once, so that the errors of all of them are said.
pub(super) fn open_all<const N: usize>(
    paths: [&Path; N],
    duplicates: Duplicates,
    printer: Printer,
) -> Result<[TrajectoryFile; N], Failure> {
    open_visiting(paths, duplicates, printer, &|_, _| ())
}

/// The same, showing each trajectory to `visit` with the number of its file.
pub(super) fn open_visiting<const N: usize>(
    paths: [&Path; N],
    duplicates: Duplicates,
    printer: Printer,
    visit: &(dyn Fn(usize, &Trajectory) + Sync),
) -> Result<[TrajectoryFile; N], Failure> {
    if paths.iter().filter(|path| **path == Path::new("-")).count() > 1 {
        return Err(Failure::new(code::INPUT, "`-` (standard input) can stand for one of the files only"));
    }
    let mut broken = None;
    let files = read_all(paths, duplicates, printer, visit).map(|file| {
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

/// Reads files side by side, behind one bar.
fn read_all<const N: usize>(
    paths: [&Path; N],
    duplicates: Duplicates,
    printer: Printer,
    visit: &(dyn Fn(usize, &Trajectory) + Sync),
) -> [Result<TrajectoryFile, OpenError>; N] {
    let bar = Mutex::new((printer.bar(Unit::Trajectories), [(0, 0); N]));
    let open = |number: usize, path: &Path| {
        let mut progress = |done: usize, total: usize| {
            let mut held = bar.lock().unwrap_or_else(PoisonError::into_inner);
            let (bar, parts) = &mut *held;
            parts[number] = (done as u64, total as u64);
            let (done, total) = parts.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
            bar.set("reading", done, total);
        };
        TrajectoryFile::open_with(path, duplicates, &mut progress, &mut |found| visit(number, found))
    };
    thread::scope(|scope| {
        let mut number = 0;
        let threads = paths.map(|path| {
            let (open, this) = (&open, number);
            number += 1;
            scope.spawn(move || open(this, path))
        });
        // A thread that fails has failed on a bug, which is passed on.
        threads.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Opens one file with everything that a model did in it, malformed calls included.
pub(super) fn open_predicted(path: &Path, printer: Printer) -> Result<TrajectoryFile, Failure> {
    let mut bar = printer.bar(Unit::Trajectories);
    let file =
        TrajectoryFile::open_all(path, &mut |done, total| bar.set("reading", done as u64, total as u64));
    drop(bar);
    said(file, printer).map_err(Failure::silent)
}

/// Says what is wrong or odd in a file; the exit code if it cannot be used.
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

/// Says the errors of a file, and some of its warnings.
fn say(name: &str, problems: &Problems, printer: Printer) {
    let of = |severity| problems.iter().filter(move |problem| problem.severity == severity);
    for problem in of(Severity::Error).take(SHOWN_ERRORS) {
        Printer::error(&problem.to_string());
    }
    let errors = problems.count(Severity::Error);
    if errors > SHOWN_ERRORS {
        Printer::error(&format!(
            "{name}: {}; `m3 validate {name}` lists them",
            counted(errors - SHOWN_ERRORS, "more error")
        ));
    }
    if errors > 0 {
        return;
    }
    for problem in of(Severity::Warning).take(SHOWN_WARNINGS) {
        printer.warn(&problem.to_string());
    }
    let warnings = problems.count(Severity::Warning);
    if warnings > SHOWN_WARNINGS {
        let more = counted(warnings - SHOWN_WARNINGS, "more warning");
        printer.warn(&format!("{name}: {more}; `m3 validate {name}` lists them"));
    }
}

/// The folder that a user has named for images.
pub(super) fn image_folder(named: &Path) -> Result<PathBuf, Failure> {
    if named.is_dir() {
        return Ok(named.to_owned());
    }
    let message = format!("`{}` is no folder\nhint: name the images' folder", named.display());
    Err(Failure::new(code::INPUT, message))
}
