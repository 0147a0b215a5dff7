//! Opens a file: recognizes its format, finds its trajectories, and reads all of it once.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use m3_support::text::counted;

use super::{Duplicates, TrajectoryFile, Wants};
use crate::format::{self, FORMATS, Format, Output, ReadFormat};
use crate::model::Trajectory;
use crate::problem::{Problems, Severity};
use crate::read::CallForms;
use crate::source::Source;
use crate::source_error::SourceError;
use crate::tool_names::NameMapping;

/// The parsed trajectories of files up to this size are kept, in bytes.
const KEPT_BYTES: u64 = 4 << 20;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The file has errors; the problems say which and where.
    #[error("`{file}` has {}", counted(.problems.count(Severity::Error), "error"))]
    Invalid {
        /// The file as the user named it.
        file: String,
        /// All problems of the file.
        problems: Problems,
    },
}

impl TrajectoryFile {
    /// Opens a file and reads it through once. `path` may be `-` for standard input.
    ///
    /// # Errors
    /// [`OpenError::Source`] if it cannot be read, [`OpenError::Invalid`] with every problem if any of them
    /// is an error.
    pub fn open(path: &Path, duplicates: Duplicates) -> Result<Self, OpenError> {
        Self::open_with(path, &[], (duplicates, CallForms::default()), &mut |_, _| (), &mut |_| ())
    }

    /// Opens a file of one of `formats`, which are tried before [`FORMATS`]. `progress` gets the number of trajectories
    /// read and of all; `visit` gets each trajectory, also those with a repeated id, and before it is known whether the file
    /// can be used.
    ///
    /// # Errors
    /// The errors of [`TrajectoryFile::open`].
    pub fn open_with(
        path: &Path,
        formats: &[Format],
        (duplicates, forms): (Duplicates, CallForms),
        progress: &mut dyn FnMut(usize, usize),
        visit: &mut dyn FnMut(&Trajectory),
    ) -> Result<Self, OpenError> {
        Self::scan_as(path, duplicates, (Wants::Any, forms), formats, progress, visit)?.without_errors()
    }

    /// Opens a file of predictions like [`open_with`](Self::open_with); anything that a model wrote in the place of a
    /// call is read as a call of no tool, with [`NO_NAME`](crate::NO_NAME) as its name.
    ///
    /// # Errors
    /// The errors of [`TrajectoryFile::open`].
    pub fn open_predictions(
        path: &Path,
        formats: &[Format],
        (duplicates, forms): (Duplicates, CallForms),
        progress: &mut dyn FnMut(usize, usize),
        visit: &mut dyn FnMut(&Trajectory),
    ) -> Result<Self, OpenError> {
        Self::scan_as(path, duplicates, (Wants::Predictions, forms), formats, progress, visit)?
            .without_errors()
    }

    /// Opens a file to see everything that a model did: trajectories with the same id are kept separately, and items
    /// among the calls that are not calls are kept as [`MalformedCall`](crate::MalformedCall).
    ///
    /// # Errors
    /// The errors of [`TrajectoryFile::open`].
    pub fn open_all(path: &Path, progress: &mut dyn FnMut(usize, usize)) -> Result<Self, OpenError> {
        Self::open_with_malformed(path, &[], Duplicates::Keep, progress, &mut |_| ())
    }

    /// Opens a file of one of `formats` to see everything that a model did; `duplicates` decides about repeated ids, `visit`
    /// gets each trajectory as in [`open_with`](Self::open_with).
    ///
    /// # Errors
    /// The errors of [`TrajectoryFile::open`].
    pub fn open_with_malformed(
        path: &Path,
        formats: &[Format],
        duplicates: Duplicates,
        progress: &mut dyn FnMut(usize, usize),
        visit: &mut dyn FnMut(&Trajectory),
    ) -> Result<Self, OpenError> {
        let reading = (Wants::All, CallForms::default());
        Self::scan_as(path, duplicates, reading, formats, progress, visit)?.without_errors()
    }

    /// Opens a file of one of `formats` with any problems, for callers that need the problems themselves.
    ///
    /// # Errors
    /// [`SourceError`] if it cannot be read at all.
    pub fn scan(
        path: &Path,
        formats: &[Format],
        duplicates: Duplicates,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, SourceError> {
        Self::scan_as(path, duplicates, (Wants::Any, CallForms::default()), formats, progress, &mut |_| ())
    }

    /// Opens a file that should hold tasks, with any problems: elements without steps are read as tasks, and called
    /// so in messages.
    ///
    /// # Errors
    /// [`SourceError`] if it cannot be read at all.
    pub fn scan_tasks(path: &Path, duplicates: Duplicates) -> Result<Self, SourceError> {
        let reading = (Wants::Tasks, CallForms::default());
        Self::scan_as(path, duplicates, reading, &[], &mut |_, _| (), &mut |_| ())
    }

    /// Opens bytes that a program holds, of one of `formats`; messages use `name` as the name of the file, `forms` says
    /// how calls are read.
    ///
    /// # Errors
    /// The errors of [`TrajectoryFile::open`].
    pub fn of_bytes(
        name: &str,
        bytes: &[u8],
        forms: CallForms,
        formats: &[Format],
    ) -> Result<Self, OpenError> {
        let reading = (Wants::Any, forms);
        let source = Source::of_bytes(name, bytes)?;
        Self::scan_source(source, Duplicates::Error, reading, formats, &mut |_, _| (), &mut |_| ())?
            .without_errors()
    }

    fn without_errors(self) -> Result<Self, OpenError> {
        if self.problems.count(Severity::Error) > 0 {
            return Err(OpenError::Invalid { file: self.source.name().to_owned(), problems: self.problems });
        }
        Ok(self)
    }

    fn scan_as(
        path: &Path,
        duplicates: Duplicates,
        (wants, forms): (Wants, CallForms),
        formats: &[Format],
        progress: &mut dyn FnMut(usize, usize),
        visit: &mut dyn FnMut(&Trajectory),
    ) -> Result<Self, SourceError> {
        Self::scan_source(
            Source::open_with_folders(path)?,
            duplicates,
            (wants, forms),
            formats,
            progress,
            visit,
        )
    }

    fn scan_source(
        source: Source,
        duplicates: Duplicates,
        (wants, forms): (Wants, CallForms),
        formats: &[Format],
        progress: &mut dyn FnMut(usize, usize),
        visit: &mut dyn FnMut(&Trajectory),
    ) -> Result<Self, SourceError> {
        let (source, layout, problems) = match format::recognize(&source, &[formats, FORMATS].concat())?.read
        {
            ReadFormat::InPlace(find) => {
                let layout = find(&source, wants.noun())?;
                (source, layout, Problems::default())
            }
            ReadFormat::Converted(convert) => {
                let mut output = Output::new(&source)?;
                convert(&source, &mut output)?;
                output.finish()?
            }
        };
        let is_small =
            layout.elements.iter().map(|element| u64::from(element.length)).sum::<u64>() <= KEPT_BYTES;
        let mut file = Self {
            source,
            shape: layout.shape,
            elements: Vec::with_capacity(layout.elements.len()),
            by_id: HashMap::with_capacity(layout.elements.len()),
            duplicates: Vec::new(),
            duplicate_of: HashMap::new(),
            problems,
            is_single: layout.is_single,
            has_results: false,
            tasks: Vec::new(),
            with_steps: 0,
            wants,
            forms,
            foreign_file: None,
            foreign_element: None,
            has_conflict: false,
            kept: is_small.then(HashMap::new),
            names: NameMapping::new(),
            left_out: HashSet::new(),
            type_of: None,
        };
        file.check_all(layout.elements, duplicates, progress, visit)?;
        file.conclude(layout.error)?;
        Ok(file)
    }
}
