//! A file of trajectories in any form: finds all its problems, and reads each trajectory on demand.
//!
//! [`TrajectoryFile::open`] reads everything once, to find the problems and the ids. After that
//! [`TrajectoryFile::read`] parses one trajectory at a time, so that memory only holds the places of the trajectories
//! (some 60 bytes each) and not their content; a small file is kept as a whole.

mod one;
mod open;
mod scan;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

pub use open::OpenError;
use sha2::{Digest as _, Sha256};

use crate::json::{self, Json};
use crate::model::{Task, Trajectory};
use crate::problem::Problems;
use crate::read::{self, CallForms, MalformedCalls, Reading};
use crate::source::Source;
use crate::source_error::SourceError;
use crate::split::{Element, Noun, Shape};
use crate::tool_names::NameMapping;

/// What to do if an id occurs twice in a file, with different content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Duplicates {
    /// Stop and name both places
    Error,
    /// Use the last
    Last,
    /// Read each as a separate trajectory
    #[cfg_attr(feature = "clap", value(skip))]
    Keep,
}

/// An id that occurs more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The id.
    pub id: String,
    /// Whether all trajectories with this id are equal, unknown keys included.
    pub is_equal: bool,
}

/// A file of trajectories, or of tasks.
#[derive(Debug)]
pub struct TrajectoryFile {
    source: Source,
    shape: Shape,
    /// The kept element of every id, in file order.
    elements: Vec<Element>,
    by_id: HashMap<IdHash, u32>,
    duplicates: Vec<Duplicate>,
    /// The index of each id in `duplicates`.
    duplicate_of: HashMap<IdHash, usize>,
    problems: Problems,
    is_single: bool,
    /// Whether a call has a recorded result.
    has_results: bool,
    /// The elements that are tasks.
    tasks: Vec<Element>,
    /// How many elements have steps, even invalid ones.
    with_steps: usize,
    wants: Wants,
    forms: CallForms,
    /// The kind of the whole file, if another program wrote it.
    foreign_file: Option<&'static str>,
    /// The kind of the first element that another program wrote, if there is one.
    foreign_element: Option<&'static str>,
    /// Whether a conflict of ids was reported: the hint is given only once.
    has_conflict: bool,
    /// The trajectories of a small file by their places, so that they need not be parsed again.
    kept: Option<HashMap<u64, Trajectory>>,
    /// Other names to use for tools.
    names: NameMapping,
    /// Tools whose calls do not count.
    left_out: HashSet<String>,
    /// The function that gives a trajectory its type, if the type that the file has for it is not used.
    type_of: Option<fn(&Trajectory) -> Option<String>>,
}

/// The purpose for which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    /// Any content.
    Any,
    /// Every trajectory and every call, even invalid ones.
    All,
    /// Trajectories of models, whose malformed calls count as calls.
    Predictions,
    /// Tasks: elements without steps are tasks.
    Tasks,
}

impl Wants {
    /// The word for an element in messages.
    fn noun(self) -> Noun {
        match self {
            Self::Tasks => Noun::TASK,
            Self::Any | Self::All | Self::Predictions => Noun::TRAJECTORY,
        }
    }
}

/// The first 16 bytes of an id's SHA-256: ids can be long, many and hostile.
type IdHash = [u8; 16];

fn hash_id(id: &str) -> IdHash {
    let mut hash = IdHash::default();
    hash.copy_from_slice(&Sha256::digest(id)[..16]);
    hash
}

/// The largest trajectory that is accepted, in bytes; the largest real one has 70 kB.
const MAX_ELEMENT: u64 = 256 << 20;

/// The longest key that is accepted in a file that is one object with ids as keys: in bytes, including the white space
/// up to its value.
const MAX_KEY: u64 = 64 << 10;

/// The id of a file's only trajectory if it has none.
const SINGLE_ID: &str = "trajectory";

impl TrajectoryFile {
    /// The number of trajectories that can be read: one for each id, unless all are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// True if there are no trajectories.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// How the trajectories are arranged.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// True if the file holds tasks, questions without steps, and nothing else.
    #[must_use]
    pub fn is_tasks(&self) -> bool {
        self.with_steps == 0 && !self.tasks.is_empty()
    }

    /// True if something in the file has steps, as trajectories have and tasks do not.
    #[must_use]
    pub fn has_steps(&self) -> bool {
        self.with_steps > 0
    }

    /// The file as the user named it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The path of the file; `None` for standard input and for bytes that a program holds.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.source.path()
    }

    /// The line, from 1, on which each trajectory begins, by its index; after decompression. `None` where lines mean
    /// nothing, as in some files of other programs. Reads a file once more if it is not JSON Lines.
    #[must_use]
    pub fn lines(&self) -> Vec<Option<u64>> {
        let marks = || self.elements.iter().map(|element| Some(element.mark.into()).filter(|line| *line > 0));
        if self.shape == Shape::Lines {
            return marks().collect();
        }
        let mut order: Vec<usize> = (0..self.elements.len()).collect();
        order.sort_by_key(|&index| self.elements[index].offset);
        let mut lines = vec![None; order.len()];
        for index in order {
            lines[index] = Some(self.source.position(self.elements[index].offset).0);
        }
        lines
    }

    /// All problems that were found.
    #[must_use]
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// The ids that occur more than once, in the order in which their second place was found.
    #[must_use]
    pub fn duplicates(&self) -> &[Duplicate] {
        &self.duplicates
    }

    /// The index of the trajectory with this id, for [`TrajectoryFile::read`].
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(&hash_id(id)).map(|&index| index as usize)
    }

    /// Whether the result of any call is recorded.
    #[must_use]
    pub fn has_results(&self) -> bool {
        self.has_results
    }

    /// True if some id is in both files.
    #[must_use]
    pub fn shares_ids_with(&self, other: &TrajectoryFile) -> bool {
        self.by_id.keys().any(|id| other.by_id.contains_key(id))
    }

    /// Reads trajectory `index`, below [`TrajectoryFile::len`]: there is one for each id, unless all are kept.
    ///
    /// # Errors
    /// [`SourceError`] when reading fails, or the file has changed since it was opened.
    ///
    /// # Panics
    /// If there is no trajectory `index`.
    pub fn read(&self, index: usize) -> Result<Trajectory, SourceError> {
        self.look_at(index).map(Cow::into_owned)
    }

    /// Borrows trajectory `index` if it is in memory, and reads it if not.
    ///
    /// # Errors
    /// The errors of [`TrajectoryFile::read`].
    ///
    /// # Panics
    /// If there is no trajectory `index`.
    pub fn look_at(&self, index: usize) -> Result<Cow<'_, Trajectory>, SourceError> {
        let element = self.elements[index];
        if let Some(known) = self.kept.as_ref().and_then(|kept| kept.get(&element.offset)) {
            return Ok(Cow::Borrowed(known));
        }
        let (key, value) = (self.key(element)?, self.parse(element)?);
        let mut found =
            read::trajectory(value, key.as_deref(), self.default_id(), self.reading(), &mut |_, _, _| ())
                .ok_or_else(|| self.changed())?;
        found.rename_tools(&self.names);
        if !self.left_out.is_empty() {
            found.leave_out(&self.left_out);
        }
        if let Some(type_of) = self.type_of {
            found.task_type = type_of(&found);
        }
        Ok(Cow::Owned(found))
    }

    /// Reads element `index`, below [`TrajectoryFile::len`], as a task.
    ///
    /// # Errors
    /// The errors of [`TrajectoryFile::read`].
    ///
    /// # Panics
    /// If there is no task `index`.
    pub fn read_task(&self, index: usize) -> Result<Task, SourceError> {
        let element = self.elements[index];
        let (key, value) = (self.key(element)?, self.parse(element)?);
        read::task(value, key.as_deref(), &mut |_, _, _| ()).ok_or_else(|| self.changed())
    }

    fn parse(&self, element: Element) -> Result<Json, SourceError> {
        let text = self.source.bytes(element.offset, element.length.into())?;
        json::parse(&text).map(|(value, _)| value).map_err(|_| self.changed())
    }

    /// The key of an element, in a file that is one object with ids as keys; else `None`.
    fn key(&self, element: Element) -> Result<Option<String>, SourceError> {
        if self.shape != Shape::Object || self.is_single {
            return Ok(None);
        }
        let lead = u64::from(element.mark);
        // Of a key that is too long, only the start is read, for the message about it.
        let text = self.source.bytes(element.offset - lead, lead.min(MAX_KEY))?;
        let end = text.iter().rposition(|&byte| byte == b'"').map_or(0, |quote| quote + 1);
        let key = json::parse(&text[..end]).ok().and_then(|(key, _)| key.as_str().map(str::to_owned));
        // A key that is not a JSON string is used as it is written, so that problems can be reported with it.
        Ok(Some(key.unwrap_or_else(|| String::from_utf8_lossy(&text[..end]).into_owned())))
    }

    fn changed(&self) -> SourceError {
        self.source.error(std::io::Error::other("the file has changed while it was read; start again"))
    }

    /// Sets the function that gives a trajectory its type, for the trajectories that are read from now on.
    pub fn set_types(&mut self, type_of: fn(&Trajectory) -> Option<String>) {
        for found in self.kept.iter_mut().flat_map(HashMap::values_mut) {
            found.task_type = type_of(found);
        }
        self.type_of = Some(type_of);
    }

    /// Sets other names for tools; trajectories that are read from now on have them.
    pub fn rename_tools(&mut self, names: NameMapping) {
        self.kept.iter_mut().flat_map(HashMap::values_mut).for_each(|found| found.rename_tools(&names));
        self.names = names;
    }

    /// Leaves out the calls of tools, by the names that they have after [`Self::rename_tools`]; trajectories that are read from
    /// now on are without them.
    pub fn leave_out(&mut self, tools: HashSet<String>) {
        self.kept.iter_mut().flat_map(HashMap::values_mut).for_each(|found| found.leave_out(&tools));
        self.left_out = tools;
    }

    fn reading(&self) -> Reading {
        let malformed = match self.wants {
            Wants::Any | Wants::Tasks => MalformedCalls::Refused,
            Wants::All => MalformedCalls::Apart,
            Wants::Predictions => MalformedCalls::Counted,
        };
        Reading { malformed, forms: self.forms }
    }

    fn default_id(&self) -> Option<&'static str> {
        self.is_single.then_some(SINGLE_ID)
    }
}
