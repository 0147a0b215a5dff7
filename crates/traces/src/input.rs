//! A file that is read as traces, and who receives them.

use std::io::{Seek as _, SeekFrom};

use m3_trajectory::json::{Json, parse};
use m3_trajectory::{Source, SourceError};

use crate::archive::{TOO_MANY, has_too_many_values};
use crate::head::{Head, Shape, each_line, is_conversation};
use crate::trace::Trace;

/// The longest document, in bytes: its values take some times as much memory.
const LONGEST: u64 = 512 << 20;

/// The longest line, in bytes.
pub(crate) const LONGEST_LINE: u64 = 256 << 20;

/// Why a file gives no traces.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read, or a temporary file cannot be written.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It is of a kind that holds no calls, or not what scoring needs: the reason, and what to use instead.
    #[error("{0}")]
    Refused(String),
}

impl ReadError {
    /// A refusal with its reason.
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }
}

/// Who receives what is read from a file.
pub trait Sink {
    /// A trajectory. `line` is where it begins, from 1, if lines mean anything there.
    ///
    /// # Errors
    /// [`ReadError`] if it cannot be kept.
    fn trace(&mut self, line: Option<u64>, trace: Trace) -> Result<(), ReadError>;

    /// What could not be read of the file itself.
    fn warn(&mut self, line: Option<u64>, message: &str);
}

/// A file that is read as traces.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    pub(crate) source: &'a Source,
    pub(crate) head: &'a Head,
}

/// A value of a file: a line, an item of its list, or the whole document.
#[derive(Debug)]
pub(crate) struct Record {
    /// Which one it is, from 0.
    pub(crate) index: u64,
    /// Its line, from 1, if every line has a value.
    pub(crate) line: Option<u64>,
    /// The value.
    pub(crate) value: Json,
}

impl Input<'_> {
    /// The whole document.
    pub(crate) fn document(&self) -> Result<Json, ReadError> {
        let length =
            self.source.seekable().seek(SeekFrom::End(0)).map_err(|cause| self.source.error(cause))?;
        if length > LONGEST {
            return Err(ReadError::refused(
                "one JSON value of more than 512 MB; export it as JSON Lines, a record on each line",
            ));
        }
        let bytes = self.source.start(LONGEST)?;
        if has_too_many_values(&bytes) {
            return Err(ReadError::refused(format!(
                "one JSON value with {TOO_MANY}; export it in smaller files"
            )));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        match parse(bytes.trim_ascii()) {
            Ok((value, _)) => Ok(value),
            Err(error) => {
                let (line, column) = self.source.position(error.offset as u64);
                Err(ReadError::refused(format!("line {line}, column {column}: not JSON: {}", error.message)))
            }
        }
    }

    /// Each line with a value of its own, or the whole document. Lines that are no JSON are reported.
    pub(crate) fn values(
        &self,
        sink: &mut dyn Sink,
        mut each: impl FnMut(&mut dyn Sink, Record) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        if self.head.shape != Shape::Lines {
            return each(sink, Record { index: 0, line: None, value: self.document()? });
        }
        let mut index = 0;
        each_line(self.source, LONGEST_LINE, |line, text| {
            if text.len() as u64 == LONGEST_LINE {
                sink.warn(Some(line), "a line of more than 256 MB is left out");
                return Ok(());
            }
            if has_too_many_values(text) {
                sink.warn(Some(line), &format!("a value with {TOO_MANY} is left out"));
                return Ok(());
            }
            match parse(text) {
                Ok((value, _)) => {
                    each(sink, Record { index, line: Some(line), value })?;
                    index += 1;
                }
                Err(error) => sink.warn(Some(line), &format!("not JSON, left out: {}", error.message)),
            }
            Ok(())
        })
    }

    /// All values of the lines, or the whole document.
    pub(crate) fn all(&self, sink: &mut dyn Sink) -> Result<Vec<Json>, ReadError> {
        let mut all = Vec::new();
        self.values(sink, |_, record| {
            all.push(record.value);
            Ok(())
        })?;
        Ok(all)
    }

    /// All records: the values of the lines, or the items of the document if it is a list.
    pub(crate) fn list(&self, sink: &mut dyn Sink) -> Result<Vec<Json>, ReadError> {
        let mut all = self.all(sink)?;
        match &mut all[..] {
            [Json::Array(items)] => Ok(std::mem::take(items)),
            _ => Ok(all),
        }
    }

    /// Each conversation of a file: a line, an item of a list, or the document, if it holds a list of messages; all lines
    /// together if each is one message.
    pub(crate) fn conversations(
        &self,
        sink: &mut dyn Sink,
        mut each: impl FnMut(&mut dyn Sink, At, &Json) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let is_lines = self.head.shape == Shape::Lines;
        if is_lines && !self.head.values.first().is_some_and(is_conversation) {
            let all = Json::Array(self.all(sink)?);
            return each(sink, At::default(), &all);
        }
        self.values(sink, |sink, record| match record.value {
            Json::Array(items) if !items.is_empty() && items.iter().all(is_conversation) => (0..)
                .zip(&items)
                .try_for_each(|(index, value)| each(sink, At { index: Some(index), line: None }, value)),
            value => each(sink, At { index: is_lines.then_some(record.index), line: record.line }, &value),
        })
    }
}

/// Where a conversation is in its file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct At {
    /// Which one it is, from 0; `None` if it is the whole file.
    pub(crate) index: Option<u64>,
    /// Its line, from 1.
    pub(crate) line: Option<u64>,
}

impl At {
    /// The id of a conversation: its own, else its place.
    pub(crate) fn id(self, own: Option<String>) -> Option<String> {
        own.or_else(|| self.index.map(|index| index.to_string()))
    }
}
