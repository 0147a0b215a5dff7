//! A file of trajectories: every shape of it, all its problems, and each trajectory on demand.
//!
//! [`TrajectoryFile::open`] reads everything once, to find the problems and the ids. After that
//! [`TrajectoryFile::read`] parses one trajectory at a time, so that memory holds where the trajectories are
//! (some 100 bytes each) and not what is in them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::json::{self, Json, Keys, pointer_to};
use super::model::{Task, Trajectory};
use super::problem::{Place, Problem, Problems, Severity};
use super::read;
use super::source::{Source, SourceError};
use super::split::{Element, LayoutError, Shape, split};

/// What to do when an id stands twice in a file, with different content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// Report an error that names both places.
    Error,
    /// Use the last.
    Last,
}

/// An id that stands more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The id.
    pub id: String,
    /// Whether all its trajectories are equal, unknown keys included.
    pub is_equal: bool,
}

/// A file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It has errors; the problems say which and where.
    #[error("`{file}` has {} error{}", .problems.count(Severity::Error), if .problems.count(Severity::Error) == 1 { "" } else { "s" })]
    Invalid {
        /// The file as the user named it.
        file: String,
        /// Everything found in it.
        problems: Problems,
    },
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
    /// Where in `duplicates` an id is.
    duplicate_of: HashMap<IdHash, usize>,
    problems: Problems,
    is_single: bool,
    /// How many elements are tasks.
    tasks: usize,
    /// How many elements have steps, even broken ones.
    with_steps: usize,
}

/// The first 16 bytes of an id's SHA-256: ids can be long and many, and are hostile.
type IdHash = [u8; 16];

fn hash_id(id: &str) -> IdHash {
    let mut hash = IdHash::default();
    hash.copy_from_slice(&Sha256::digest(id)[..16]);
    hash
}

/// One trajectory larger than this is refused, in bytes; the largest real one has 70 kB.
const MAX_ELEMENT: u64 = 256 << 20;

/// Progress is told after so many trajectories.
const PROGRESS_EVERY: usize = 256;

/// The id of a file's only trajectory where it has none.
const SINGLE_ID: &str = "trajectory";

impl TrajectoryFile {
    /// Opens a file and reads it through once. `path` may be `-` for standard input.
    ///
    /// # Errors
    /// [`OpenError::Source`] if it cannot be read, [`OpenError::Invalid`] with every problem if any of them
    /// is an error.
    pub fn open(path: &Path, duplicates: Duplicates) -> Result<Self, OpenError> {
        Self::open_with(path, duplicates, &mut |_, _| ())
    }

    /// The same, telling `progress` how many trajectories of how many were read.
    ///
    /// # Errors
    /// As [`TrajectoryFile::open`].
    pub fn open_with(
        path: &Path,
        duplicates: Duplicates,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, OpenError> {
        let file = Self::scan(path, duplicates, progress)?;
        if file.problems.count(Severity::Error) > 0 {
            return Err(OpenError::Invalid { file: file.source.name().to_owned(), problems: file.problems });
        }
        Ok(file)
    }

    /// Opens a file whatever is wrong in it, for those who want its problems.
    ///
    /// # Errors
    /// [`SourceError`] if it cannot be read at all.
    pub fn scan(
        path: &Path,
        duplicates: Duplicates,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, SourceError> {
        let source = Source::open(path)?;
        let layout = split(&source)?;
        let (elements, is_single) = match layout.shape {
            Shape::Object if is_one_trajectory(&source, &layout.elements)? => (vec![whole(&source)?], true),
            _ => (layout.elements, false),
        };
        let mut file = Self {
            source,
            shape: layout.shape,
            elements: Vec::with_capacity(elements.len()),
            by_id: HashMap::with_capacity(elements.len()),
            duplicates: Vec::new(),
            duplicate_of: HashMap::new(),
            problems: Problems::default(),
            is_single,
            tasks: 0,
            with_steps: 0,
        };
        if elements.is_empty() && layout.error.is_none() {
            let message = "no trajectories in it; a file of them should have at least one";
            file.push(Severity::Error, Place::default(), message.to_owned());
        }
        let total = elements.len();
        for (done, element) in elements.into_iter().enumerate() {
            if done.is_multiple_of(PROGRESS_EVERY) {
                progress(done, total);
            }
            if let Some(id) = file.check(element)? {
                file.keep(id, element, duplicates)?;
            }
        }
        if !file.is_empty() && file.with_steps == 0 && file.tasks == 0 {
            let message = "no trajectory in it has `steps`; is it a file of trajectories? \
                (a catalog of tools goes to `m3 score --tools`)";
            file.push(Severity::Error, Place::default(), message.to_owned());
        }
        // The parser of a single trajectory has reported it already.
        if let Some(error) = layout.error.filter(|_| !is_single) {
            file.push_layout_error(error);
        }
        Ok(file)
    }

    /// The number of different ids.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// True without any trajectory.
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
        self.tasks > 0 && self.tasks == self.len()
    }

    /// The file as the user named it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// Everything wrong or odd that was found.
    #[must_use]
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// The ids that stand more than once, in the order in which their second place was found.
    #[must_use]
    pub fn duplicates(&self) -> &[Duplicate] {
        &self.duplicates
    }

    /// Which trajectory has this id, for [`TrajectoryFile::read`].
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(&hash_id(id)).map(|&index| index as usize)
    }

    /// True if some id is in both files.
    #[must_use]
    pub fn shares_ids_with(&self, other: &TrajectoryFile) -> bool {
        self.by_id.keys().any(|id| other.by_id.contains_key(id))
    }

    /// Reads trajectory `index`, below [`TrajectoryFile::len`]; duplicates are not counted.
    ///
    /// # Errors
    /// [`SourceError`] when reading fails, or the file has changed since it was opened.
    pub fn read(&self, index: usize) -> Result<Trajectory, SourceError> {
        let element = self.elements[index];
        let (key, value) = (self.key(element)?, self.parse(element)?);
        read::trajectory(value, key.as_deref(), self.default_id(), &mut |_, _, _| ())
            .ok_or_else(|| self.changed())
    }

    /// Reads task `index`, likewise.
    ///
    /// # Errors
    /// As [`TrajectoryFile::read`].
    pub fn read_task(&self, index: usize) -> Result<Task, SourceError> {
        let element = self.elements[index];
        let (key, value) = (self.key(element)?, self.parse(element)?);
        read::task(value, key.as_deref(), &mut |_, _, _| ()).ok_or_else(|| self.changed())
    }

    fn parse(&self, element: Element) -> Result<Json, SourceError> {
        let text = self.source.bytes(element.offset, element.length.into())?;
        json::parse(&text).map(|(value, _)| value).map_err(|_| self.changed())
    }

    /// The name of a member, in an object by id.
    fn key(&self, element: Element) -> Result<Option<String>, SourceError> {
        if self.shape != Shape::Object || self.is_single {
            return Ok(None);
        }
        let lead = u64::from(element.mark);
        let text = self.source.bytes(element.offset - lead, lead)?;
        let end = text.iter().rposition(|&byte| byte == b'"').map_or(0, |quote| quote + 1);
        let key = json::parse(&text[..end]).ok().and_then(|(key, _)| key.as_str().map(str::to_owned));
        // A key that cannot be read is shown as it is, and its trajectory reported with it.
        Ok(Some(key.unwrap_or_else(|| String::from_utf8_lossy(&text[..end]).into_owned())))
    }

    fn changed(&self) -> SourceError {
        self.source.error(std::io::Error::other("the file has changed while it was read; start again"))
    }

    fn default_id(&self) -> Option<&'static str> {
        self.is_single.then_some(SINGLE_ID)
    }

    /// Reads one element, reports what is wrong with it and returns its id if it can be used.
    fn check(&mut self, element: Element) -> Result<Option<String>, SourceError> {
        let key = self.key(element)?;
        let mut place = self.place(element, key.as_deref());
        if u64::from(element.length) > MAX_ELEMENT {
            self.push(
                Severity::Error,
                place,
                "one trajectory of more than 256 MiB; leave out what it returned".into(),
            );
            return Ok(None);
        }
        let text = self.source.bytes(element.offset, element.length.into())?;
        let (value, oddities) = match json::parse(&text) {
            Ok(parsed) => parsed,
            Err(error) => {
                let (line, column) = self.source.position(element.offset + error.offset as u64);
                (place.line, place.column) = (Some(line), Some(column));
                self.push(Severity::Error, place, format!("not JSON: {}", error.message));
                return Ok(None);
            }
        };
        place.id = key.clone().or_else(|| value.get("id").and_then(id_text));
        let mut found: Vec<(Severity, String, String)> =
            oddities.into_iter().map(|o| (Severity::Warning, o.pointer, o.message)).collect();
        let mut report = |severity, pointer, message| found.push((severity, pointer, message));
        self.with_steps += usize::from(value.get("steps").is_some());
        let id = if is_task(&value) {
            self.tasks += 1;
            read::task(value, key.as_deref(), &mut report).map(|task| task.id)
        } else {
            read::trajectory(value, key.as_deref(), self.default_id(), &mut report).map(|found| found.id)
        };
        for (severity, pointer, message) in found {
            let pointer = format!("{}{pointer}", place.pointer);
            self.push(severity, Place { pointer, ..place.clone() }, message);
        }
        Ok(id)
    }

    /// Adds an element under its id, or decides between it and the one that has the id already.
    fn keep(&mut self, id: String, element: Element, duplicates: Duplicates) -> Result<(), SourceError> {
        let slot = match self.by_id.entry(hash_id(&id)) {
            Entry::Vacant(entry) => {
                entry.insert(u32::try_from(self.elements.len()).unwrap_or(u32::MAX));
                self.elements.push(element);
                return Ok(());
            }
            Entry::Occupied(entry) => *entry.get() as usize,
        };
        let first = self.elements[slot];
        let is_equal = self.canonical_text(first)? == self.canonical_text(element)?;
        let (severity, message) = match (is_equal, duplicates) {
            (true, _) => (Severity::Warning, "the id a second time, with the same content".to_owned()),
            (false, Duplicates::Last) => {
                (Severity::Warning, "the id a second time, with other content; the last is used".to_owned())
            }
            (false, Duplicates::Error) => {
                let first = self.place(first, Some(&id));
                let first = first.line.map_or(first.pointer, |line| format!("line {line}"));
                let hint = "remove one of them, or use the last of each id with `--duplicates last`";
                (Severity::Error, format!("the id a second time, with other content than {first}; {hint}"))
            }
        };
        let place = Place { id: Some(id.clone()), ..self.place(element, Some(&id)) };
        self.push(severity, place, message);
        let known = *self.duplicate_of.entry(hash_id(&id)).or_insert(self.duplicates.len());
        match self.duplicates.get_mut(known) {
            Some(duplicate) => duplicate.is_equal &= is_equal,
            None => self.duplicates.push(Duplicate { id, is_equal }),
        }
        self.elements[slot] = element;
        Ok(())
    }

    fn canonical_text(&self, element: Element) -> Result<String, SourceError> {
        Ok(self.parse(element)?.to_text(Keys::Sorted))
    }

    /// Where an element stands; `key` is its name in an object by id.
    fn place(&self, element: Element, key: Option<&str>) -> Place {
        let mark = u64::from(element.mark);
        match self.shape {
            Shape::List => Place { pointer: pointer_to("", mark), ..Place::default() },
            Shape::Lines => Place { line: Some(mark), ..Place::default() },
            Shape::Object if self.is_single => Place::default(),
            Shape::Object => {
                Place { pointer: key.map_or_else(String::new, |key| pointer_to("", key)), ..Place::default() }
            }
        }
    }

    fn push(&mut self, severity: Severity, place: Place, message: String) {
        let place = Place { file: self.source.name().to_owned(), ..place };
        self.problems.push(Problem { severity, place, message });
    }

    fn push_layout_error(&mut self, error: LayoutError) {
        let (line, column) = self.source.position(error.offset);
        let place = Place { line: Some(line), column: Some(column), ..Place::default() };
        self.push(Severity::Error, place, error.message);
    }
}

/// Tells one trajectory from an object of them by id: members `steps` and `id` that are not objects.
fn is_one_trajectory(source: &Source, members: &[Element]) -> Result<bool, SourceError> {
    for member in members {
        // Longer keys than these two, and the white space around them, need not be read.
        if member.mark > 64 {
            continue;
        }
        let lead = u64::from(member.mark);
        let text = source.bytes(member.offset - lead, lead + 1)?;
        let is_named = |name: &[u8]| text.starts_with(name);
        if (is_named(b"\"steps\"") || is_named(b"\"id\"")) && text.last() != Some(&b'{') {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The whole file as one element.
fn whole(source: &Source) -> Result<Element, SourceError> {
    let length =
        std::io::copy(&mut source.reader()?, &mut std::io::sink()).map_err(|cause| source.error(cause))?;
    let head = source.bytes(0, length.min(3))?;
    let offset = if head == b"\xef\xbb\xbf" { 3 } else { 0 };
    Ok(Element { offset, length: u32::try_from(length - offset).unwrap_or(u32::MAX), mark: 0 })
}

/// An id as it will be read, for messages about what comes before that.
fn id_text(id: &Json) -> Option<String> {
    match id {
        Json::String(id) => Some(id.clone()),
        Json::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

fn is_task(value: &Json) -> bool {
    value.get("steps").is_none() && value.get("prompt").is_some_and(|prompt| prompt.as_str().is_some())
}
