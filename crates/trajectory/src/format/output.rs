//! The output of a format's reader: m3's own JSON Lines in an unnamed temporary file.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use m3_support::temporary::unnamed;

use crate::json::Keys;
use crate::model::Trajectory;
use crate::problem::{Place, Problems, Severity};
use crate::source::Source;
use crate::source_error::SourceError;
use crate::split::{Element, Layout, Shape};

/// Receives the trajectories and the problems of one file.
#[derive(Debug)]
pub struct Output<'a> {
    source: &'a Source,
    file: BufWriter<File>,
    length: u64,
    elements: Vec<Element>,
    problems: Problems,
}

impl<'a> Output<'a> {
    pub(crate) fn new(source: &'a Source) -> Result<Self, SourceError> {
        let file = unnamed().map_err(|cause| source.spool_error(cause))?;
        let file = BufWriter::with_capacity(1 << 18, file);
        Ok(Self { source, file, length: 0, elements: Vec::new(), problems: Problems::default() })
    }

    /// Adds a trajectory. `line` is where it begins in the file, counted from 1; `None` if lines mean nothing there.
    ///
    /// # Errors
    /// [`SourceError::Spool`] when it cannot be written to the temporary file.
    pub fn trajectory(&mut self, line: Option<u64>, trajectory: &Trajectory) -> Result<(), SourceError> {
        let mut text = trajectory.to_json().to_text(Keys::AsRead);
        self.elements.push(Element::new(self.length, text.len() as u64, line.unwrap_or(0)));
        text.push('\n');
        self.length += text.len() as u64;
        self.file.write_all(text.as_bytes()).map_err(|cause| self.source.spool_error(cause))
    }

    /// Adds a problem. The place needs no file; a [`Severity::Error`] makes the whole file unusable.
    pub fn problem(&mut self, severity: Severity, place: Place, message: &str) {
        let place = Place { file: self.source.name().to_owned(), ..place };
        self.problems.push(severity, &place, "", message);
    }

    /// The result: a file of trajectories, their places in it, and the problems.
    pub(crate) fn finish(self) -> Result<(Source, Layout, Problems), SourceError> {
        let file = self.file.into_inner().map_err(|error| self.source.spool_error(error.into_error()))?;
        let layout = Layout { elements: self.elements, ..Layout::of(Shape::Lines) };
        Ok((self.source.converted_to(file)?, layout, self.problems))
    }
}
