//! The first pass over a file: finds the problems of each element, and decides which of several elements with the
//! same id is kept.

use std::collections::hash_map::Entry;

use super::{Duplicate, Duplicates, MAX_ELEMENT, MAX_KEY, TrajectoryFile, Wants, hash_id};
use crate::Trajectory;
use crate::foreign;
use crate::json::{self, Json, Keys, pointer_to};
use crate::problem::{Place, Problems, Severity};
use crate::read;
use crate::source_error::SourceError;
use crate::split::{Element, LayoutError, Shape};

/// Progress is reported after this many trajectories.
const PROGRESS_EVERY: usize = 256;

/// How many members of an object are looked at to recognize it.
const LOOKED_AT: usize = 64;

/// How many bytes of a file's start are looked at to recognize it.
const START: u64 = 4096;

impl TrajectoryFile {
    /// The SHA-256 of the file in hexadecimal, after decompression. It is known from opening the file.
    ///
    /// # Errors
    /// [`SourceError`] when reading fails.
    pub fn digest(&self) -> Result<String, SourceError> {
        self.source.digest()
    }

    /// Reads all elements and keeps the usable ones.
    pub(super) fn check_all(
        &mut self,
        elements: Vec<Element>,
        duplicates: Duplicates,
        progress: &mut dyn FnMut(usize, usize),
        visit: &mut dyn FnMut(&Trajectory),
    ) -> Result<(), SourceError> {
        let foreign = self.foreign_object(&elements)?;
        let total = elements.len();
        for (done, element) in elements.into_iter().enumerate() {
            if done.is_multiple_of(PROGRESS_EVERY) {
                progress(done, total);
            }
            if let Some(id) = self.check(element, visit)? {
                self.keep(id, element, duplicates)?;
            }
        }
        // Ids of trajectories are arbitrary, so they do not show that another program wrote the file.
        self.foreign_file = foreign.filter(|_| self.with_steps < total);
        Ok(())
    }

    /// The kind of an object by its first keys, if another program wrote it.
    fn foreign_object(&self, members: &[Element]) -> Result<Option<&'static str>, SourceError> {
        if self.shape != Shape::Object || self.is_single {
            return Ok(None);
        }
        let members = members.iter().take(LOOKED_AT);
        let keys = members.map(|member| self.key(*member)).collect::<Result<Vec<_>, _>>()?;
        Ok(foreign::of_keys(|wanted| keys.iter().flatten().any(|key| key == wanted)))
    }

    /// Reports problems that concern the whole file. If another program wrote it, nothing else is reported.
    pub(super) fn conclude(&mut self, error: Option<LayoutError>) -> Result<(), SourceError> {
        if let Some(message) = self.foreign_message()? {
            self.problems = Problems::default();
            self.push(Severity::Error, Place::default(), &message);
            return Ok(());
        }
        self.report_mixed()?;
        let is_unread = self.is_empty() && self.problems.count(Severity::Error) == 0;
        if is_unread && error.is_none() {
            let message =
                format!("no {} in it; a file of them should have at least one", self.wants.noun().many);
            self.push(Severity::Error, Place::default(), &message);
        }
        if !self.is_empty() && self.with_steps == 0 && self.tasks.is_empty() {
            let message = "no trajectory in it has `steps`; is it a file of trajectories? \
                (a catalog of tools has none)";
            self.push(Severity::Error, Place::default(), message);
        }
        if let Some(error) = error {
            self.push_layout_error(&error);
        }
        Ok(())
    }

    /// The message about a file that another program wrote.
    fn foreign_message(&self) -> Result<Option<String>, SourceError> {
        if self.wants == Wants::Tasks {
            return Ok(None);
        }
        if let Some(what) = self.foreign_file {
            return Ok(Some(foreign::refused(what)));
        }
        if self.with_steps > 0 || !self.tasks.is_empty() {
            return Ok(None);
        }
        if let Some(what) = self.foreign_element {
            return Ok(Some(foreign::refused(what)));
        }
        if !self.is_empty() {
            return Ok(None);
        }
        Ok(foreign::of_bytes(&self.source.start(START)?, self.source.name()))
    }

    /// Reads one element, reports its problems, and returns its id if it can be used. `visit` gets a trajectory.
    pub(super) fn check(
        &mut self,
        element: Element,
        visit: &mut dyn FnMut(&Trajectory),
    ) -> Result<Option<String>, SourceError> {
        let key = self.key(element)?;
        let mut place = self.place(element, key.as_deref());
        if self.shape == Shape::Object && !self.is_single && u64::from(element.mark) > MAX_KEY {
            self.push(Severity::Error, place, "a key of more than 64 KiB; use shorter ids");
            return Ok(None);
        }
        if u64::from(element.length) > MAX_ELEMENT {
            let one = self.wants.noun().one;
            let message = format!("one {one} of more than 256 MiB; leave out what it does not need");
            self.push(Severity::Error, place, &message);
            return Ok(None);
        }
        let text = self.source.bytes(element.offset, element.length.into())?;
        let (value, oddities) = match json::parse(&text) {
            Ok(parsed) => parsed,
            Err(error) => {
                let (line, column) = self.source.position(element.offset + error.offset as u64);
                (place.line, place.column) = (Some(line), Some(column));
                self.push(Severity::Error, place, &format!("not JSON: {}", error.message));
                return Ok(None);
            }
        };
        place.id = value.get("id").and_then(id_text).or_else(|| key.clone());
        self.source.name().clone_into(&mut place.file);
        let mut problems = std::mem::take(&mut self.problems);
        for oddity in oddities {
            problems.push(Severity::Warning, &place, &oddity.pointer, &oddity.message);
        }
        let mut report =
            |severity, pointer: String, message: String| problems.push(severity, &place, &pointer, &message);
        let is_task = match self.wants {
            Wants::Tasks => value.get("steps").is_none(),
            Wants::Any | Wants::All | Wants::Predictions => is_task(&value),
        };
        let foreign =
            foreign::of_keys(|key| value.get(key).is_some()).filter(|_| !is_task && !has_calls(&value));
        self.foreign_element = self.foreign_element.or(foreign);
        self.with_steps += usize::from(value.get("steps").is_some() && foreign.is_none());
        let id = if is_task {
            self.tasks.push(element);
            read::task(value, key.as_deref(), &mut report).map(|task| task.id)
        } else {
            let found =
                read::trajectory(value, key.as_deref(), self.default_id(), self.reading(), &mut report);
            found.map(|found| {
                visit(&found);
                self.has_results |= found.calls().any(|(_, call)| call.result.is_some());
                let id = found.id.clone();
                if let Some(kept) = &mut self.kept {
                    kept.insert(element.offset, found);
                }
                id
            })
        };
        self.problems = problems;
        Ok(id)
    }

    /// Warns of tasks among trajectories, which are read as trajectories without calls.
    pub(super) fn report_mixed(&mut self) -> Result<(), SourceError> {
        if self.with_steps == 0 {
            return Ok(());
        }
        for element in std::mem::take(&mut self.tasks) {
            let key = self.key(element)?;
            let id = self.parse(element)?.get("id").and_then(id_text).or_else(|| key.clone());
            let place = Place { id, ..self.place(element, key.as_deref()) };
            self.push(Severity::Warning, place, read::WITHOUT_STEPS);
        }
        Ok(())
    }

    /// Adds an element under its id, or chooses between it and an earlier element with this id.
    pub(super) fn keep(
        &mut self,
        id: String,
        element: Element,
        duplicates: Duplicates,
    ) -> Result<(), SourceError> {
        let slot = match self.by_id.entry(hash_id(&id)) {
            Entry::Vacant(entry) => {
                entry.insert(u32::try_from(self.elements.len()).unwrap_or(u32::MAX));
                self.elements.push(element);
                return Ok(());
            }
            Entry::Occupied(_) if duplicates == Duplicates::Keep => {
                self.elements.push(element);
                return Ok(());
            }
            Entry::Occupied(entry) => *entry.get() as usize,
        };
        let first = self.elements[slot];
        let is_equal = self.canonical_text(first)? == self.canonical_text(element)?;
        let (severity, message) = match (is_equal, duplicates) {
            (true, _) => (Severity::Warning, "duplicate id, with the same content".to_owned()),
            (false, Duplicates::Last | Duplicates::Keep) => {
                (Severity::Warning, "duplicate id, with other content; the last is used".to_owned())
            }
            (false, Duplicates::Error) => {
                let first = self.place(first, Some(&id));
                let first = first.line.map_or(first.pointer, |line| format!("line {line}"));
                let hint = "; remove one, or have the last one used (`duplicates`: `last`)";
                let hint = if self.has_conflict { "" } else { hint };
                self.has_conflict = true;
                (Severity::Error, format!("duplicate id; its content differs from {first}{hint}"))
            }
        };
        let place = Place { id: Some(id.clone()), ..self.place(element, Some(&id)) };
        self.push(severity, place, &message);
        let known = *self.duplicate_of.entry(hash_id(&id)).or_insert(self.duplicates.len());
        match self.duplicates.get_mut(known) {
            Some(duplicate) => duplicate.is_equal &= is_equal,
            None => self.duplicates.push(Duplicate { id, is_equal }),
        }
        self.elements[slot] = element;
        Ok(())
    }

    pub(super) fn canonical_text(&self, element: Element) -> Result<String, SourceError> {
        Ok(self.parse(element)?.to_text(Keys::Sorted))
    }

    /// The place of an element; `key` is its name in an object by id.
    pub(super) fn place(&self, element: Element, key: Option<&str>) -> Place {
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

    pub(super) fn push(&mut self, severity: Severity, place: Place, message: &str) {
        let place = Place { file: self.source.name().to_owned(), ..place };
        self.problems.push(severity, &place, "", message);
    }

    pub(super) fn push_layout_error(&mut self, error: &LayoutError) {
        let (line, column) = self.source.position(error.offset);
        let place = Place { line: Some(line), column: Some(column), ..Place::default() };
        self.push(Severity::Error, place, &error.message);
    }
}

/// An id in the form in which it will be read, for messages about earlier problems.
fn id_text(id: &Json) -> Option<String> {
    match id {
        Json::String(id) => Some(id.clone()),
        Json::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

fn is_task(value: &Json) -> bool {
    let has_text = |key| value.get(key).is_some_and(|text| text.as_str().is_some());
    value.get("steps").is_none() && (has_text("prompt") || has_text("question"))
}

/// Whether any step has `calls`: other programs use another name for them.
fn has_calls(value: &Json) -> bool {
    let Some(Json::Array(steps)) = value.get("steps") else { return false };
    steps.iter().any(|step| step.get("calls").is_some())
}
