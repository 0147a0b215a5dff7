//! The target of a report: standard output, or a file that appears when the report is complete.

use std::fs::File;
use std::io::{self, Seek as _, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use m3_support::files::{AtomicFile, folder_of, real_path};

use crate::cli::common::failure::{Failure, Result, TEMPORARY};
use crate::cli::common::printer::Printer;

/// Endings of files, and the forms they stand for, by their names in `--format`.
const ENDINGS: [(&str, &str); 10] = [
    ("txt", "table"),
    ("json", "json"),
    ("jsonl", "jsonl"),
    ("csv", "csv"),
    ("md", "markdown"),
    ("html", "html"),
    ("htm", "html"),
    ("tex", "latex"),
    ("xml", "junit"),
    ("sarif", "sarif"),
];

/// The width of tables in columns: the least, the greatest that `--width` takes, and the greatest on a terminal.
const NARROWEST: usize = 80;
const WIDEST: i64 = 400;
const READABLE: usize = 140;

/// The option for the width of a report for people.
#[derive(Debug, Args)]
pub(crate) struct WidthArgs {
    /// Width of tables and text, in columns [default: the terminal's, from 80 to 140]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(NARROWEST as i64..=WIDEST))]
    width: Option<u16>,
}

impl WidthArgs {
    /// The width of text for `output`.
    pub(crate) fn columns(&self, output: &Output) -> usize {
        self.width.map_or_else(|| output.columns(), usize::from)
    }
}

/// The form that was asked for, or that of the file's ending; without either, the first of `F`. An ending of a form
/// that `F` does not have is refused, because a table in a file named like a spreadsheet or a page would be useless.
/// Pipes and devices may have any ending.
pub(crate) fn form<F: ValueEnum>(asked: Option<F>, out: Option<&Path>) -> Result<F> {
    let named = |name: &str| F::from_str(name, false).ok();
    let ending = out.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_lowercase());
    let by_ending = ending.as_deref().and_then(|ending| {
        ENDINGS.iter().filter(|(known, _)| *known == ending).find_map(|(_, form)| named(form))
    });
    let is_file = || out.is_some_and(|out| std::fs::metadata(out).map_or(true, |found| found.is_file()));
    let first = || F::value_variants().first().filter(|_| ending.is_none() || !is_file()).cloned();
    asked.or(by_ending).or_else(first).ok_or_else(|| {
        let known = ENDINGS.iter().filter(|(_, form)| named(form).is_some());
        let known = known.map(|(ending, _)| format!(".{ending}")).collect::<Vec<_>>().join(", ");
        let path = out.unwrap_or(Path::new("-")).display();
        let message = format!(
            "m3 cannot write this report to `{path}`: no form has this file extension\nhint: {known} do, or name the form with `--format`"
        );
        Failure::input(message)
    })
}

/// The target of a report. Errors in writing name the target.
pub(crate) enum Output {
    Standard {
        out: Box<dyn Write>,
        is_styled: bool,
        /// Whether the command goes on after the reader has stopped reading (`m3 score .. | head`).
        outlives_reader: bool,
    },
    /// A file. Its content goes to an unnamed temporary file first, so that an interruption leaves nothing behind.
    File {
        gathered: File,
        path: PathBuf,
        /// The target if it is a pipe or a device, open since it was checked.
        opened: Option<AtomicFile>,
    },
}

impl Output {
    /// Opens standard output (also for `-`), or `path`. Fails at once, before the work is done, if nothing can be
    /// written there or if it is one of the input files.
    pub(crate) fn open(path: Option<&Path>, inputs: &[&Path], printer: Printer) -> Result<Self> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            let (out, is_styled) = (Box::new(Printer::out()), printer.is_styled());
            return Ok(Self::Standard { out, is_styled, outlives_reader: false });
        };
        refuse_equal(inputs, &[path])?;
        let opened = AtomicFile::probe(path).map_err(Failure::at(path))?;
        let gathered = tempfile::tempfile().map_err(|cause| Failure::temporary(&cause))?;
        Ok(Self::File { gathered, path: path.to_owned(), opened })
    }

    /// An output whose command goes on after its reader has stopped reading, because its exit code still matters.
    #[must_use]
    pub(crate) fn outliving_its_reader(self) -> Self {
        match self {
            Self::Standard { out, is_styled, .. } => Self::Standard { out, is_styled, outlives_reader: true },
            file @ Self::File { .. } => file,
        }
    }

    /// Whether the target shows colours.
    pub(crate) fn is_styled(&self) -> bool {
        matches!(self, Self::Standard { is_styled: true, .. })
    }

    /// The width of a terminal, but at least 80 and at most 140 columns; 80 for other targets.
    pub(crate) fn columns(&self) -> usize {
        let terminal = if matches!(self, Self::Standard { .. }) { Printer::columns() } else { None };
        terminal.map_or(NARROWEST, usize::from).clamp(NARROWEST, READABLE)
    }

    /// Writes texts of JSON as a list with one on each line.
    pub(crate) fn write_list(&mut self, texts: impl IntoIterator<Item = Result<String>>) -> Result {
        let mut separator = "[\n";
        for text in texts {
            write!(self, "{separator}{}", text?)?;
            separator = ",\n";
        }
        let end = if separator == "[\n" { "[]\n" } else { "\n]\n" };
        Ok(self.write_all(end.as_bytes())?)
    }

    /// Completes the report: puts the file in its place, or flushes standard output.
    pub(crate) fn commit(self) -> Result {
        commit_all([self])
    }

    /// Writes to the target; an error names it. If the command outlives its reader, a broken pipe gives `ignored`.
    fn attempt<T>(&mut self, ignored: T, act: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        match self {
            Self::Standard { out, outlives_reader, .. } => match act(out) {
                Err(cause) if *outlives_reader && cause.kind() == io::ErrorKind::BrokenPipe => Ok(ignored),
                Err(cause) => Err(to(&cause, "standard output")),
                done => done,
            },
            Self::File { gathered, .. } => act(gathered).map_err(|cause| to(&cause, TEMPORARY)),
        }
    }
}

/// Completes reports that belong together: none of their files appears before all are on the disk.
pub(crate) fn commit_all(outputs: impl IntoIterator<Item = Output>) -> Result {
    let mut ready = Vec::new();
    for output in outputs {
        let Output::File { mut gathered, path, opened } = output else {
            let mut standard = output;
            standard.flush()?;
            continue;
        };
        gathered.rewind().map_err(|cause| Failure::temporary(&cause))?;
        let write = || {
            let mut file = opened.map_or_else(|| AtomicFile::create(&path), Ok)?;
            io::copy(&mut gathered, &mut file)?;
            file.finish()?;
            Ok(file)
        };
        ready.push((write().map_err(Failure::at(&path))?, path));
    }
    for (file, path) in ready {
        file.commit().map_err(Failure::at(&path))?;
    }
    Ok(())
}

/// Refuses to write to files that are read, or that are kept beside them, under any name and whether they exist yet
/// or not. `-` stands for no file.
pub(crate) fn refuse_equal(kept: &[&Path], written: &[&Path]) -> Result {
    let standard = Path::new("-");
    let kept: Vec<PathBuf> =
        kept.iter().filter(|path| **path != standard).map(|path| place_of(path)).collect();
    match written.iter().find(|path| **path != standard && kept.contains(&place_of(path))) {
        None => Ok(()),
        Some(path) => {
            let path = path.display();
            Err(Failure::input(format!(
                "`{path}` is one of the files that are read or kept\nhint: name another one"
            )))
        }
    }
}

/// The path of a file that exists or will exist, equal for all its names. `-` stands for itself.
pub(crate) fn place_of(path: &Path) -> PathBuf {
    if path == Path::new("-") {
        return path.to_owned();
    }
    let path = real_path(path).unwrap_or_else(|_| path.to_owned());
    match (std::fs::canonicalize(folder_of(&path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Writes bytes to standard output.
pub(crate) fn print(bytes: impl AsRef<[u8]>) -> Result {
    let mut out = Printer::out();
    let written = out.write_all(bytes.as_ref()).and_then(|()| out.flush());
    written.map_err(|cause| Failure::output("standard output", &cause))
}

/// Prints values behind their labels. The column of labels is as wide as the longest label plus `spaces`. A reader that
/// has stopped reading is not a failure.
pub(crate) fn print_rows(rows: &[(&str, String)], spaces: usize) -> Result {
    let width = rows.iter().map(|(label, _)| label.len() + spaces).max().unwrap_or_default();
    let lines = rows.iter().map(|(label, value)| format!("{label:<width$} {value}\n"));
    match print(lines.collect::<String>()) {
        Err(failure) if failure.code == 0 => Ok(()),
        printed => printed,
    }
}

fn to(cause: &io::Error, target: &str) -> io::Error {
    io::Error::new(cause.kind(), format!("{target}: {cause}"))
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(bytes.len(), |target| target.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), |target| target.flush())
    }
}

/// Makes writes beyond the limit of a file's size fail with `EFBIG`, which [`m3_support::files::is_full`] recognizes,
/// instead of ending the process by `SIGXFSZ`. Programs started later still get the signal, because a handler, unlike
/// an ignored signal, is not inherited.
pub(crate) fn outlive_limit() {
    use tokio::signal::unix::{SignalKind, signal};
    let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // The handler outlives the runtime, which is needed only to install it. If it cannot be installed, the signal ends
    // the process as usual.
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() {
        let _guard = runtime.enter();
        drop(signal(kind));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_all_its_names_and_before_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "").unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        let refused = |written: &Path| refuse_equal(&[&at("a"), &at("not-yet")], &[written]).is_err();
        for name in ["a", "sub/../a", "not-yet", "./sub/../not-yet"] {
            assert!(refused(&at(name)), "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("not-yet", at("link")).unwrap();
            assert!(refused(&at("link")));
        }
        for name in ["b", "sub/a", "none/a"] {
            assert!(!refused(&at(name)), "{name}");
        }
        let standard = Path::new("-");
        assert!(refuse_equal(&[standard], &[standard]).is_ok());
    }
}
