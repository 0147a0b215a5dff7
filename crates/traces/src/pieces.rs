//! The lines of a file, or the items of a document that is a list, some of them at a time.

use std::io::{BufRead, Read as _};
use std::ops::Range;

use m3_trajectory::Source;

use crate::parallel::PART;
use crate::scan::{Scanner, Stop};
use crate::sink::{At, LONGEST, ReadError};

/// Some successive lines or items of a file, with their places.
#[derive(Debug, Default)]
pub(crate) struct Part {
    text: Vec<u8>,
    places: Vec<(At, u64, Range<usize>)>,
}

/// A line or an item.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'t> {
    /// The number of the piece, and its line.
    pub(crate) at: At,
    /// The place in the file where the piece begins, in bytes.
    pub(crate) offset: u64,
    /// The text of the piece.
    pub(crate) text: &'t [u8],
}

impl Part {
    /// The lines or items.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.places.iter().map(|(at, offset, range)| Piece {
            at: *at,
            offset: *offset,
            text: self.text.get(range.clone()).unwrap_or_default(),
        })
    }

    /// The length of the text in bytes.
    pub(crate) fn size(&self) -> usize {
        self.text.len()
    }
}

/// Reads the lines that are not empty.
pub(crate) struct Lines<R> {
    reader: R,
    count: u64,
    number: u64,
    offset: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, count: 0, number: 0, offset: 0 }
    }

    /// How many bytes were read.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads some lines; `None` at the end.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<Part>> {
        let mut part = Part::default();
        while part.text.len() < PART {
            let start = part.text.len();
            let read = self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut part.text)?;
            if read == 0 {
                break;
            }
            self.number += 1;
            if read as u64 == LONGEST {
                let message = format!("line {} has more than {} MB", self.number, LONGEST >> 20);
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, message));
            }
            let line = part.text.get(start..).unwrap_or_default();
            let mark = if self.number == 1 && line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            let line = line.get(mark..).unwrap_or_default();
            let lead = mark + line.len() - line.trim_ascii_start().len();
            let length = line.trim_ascii().len();
            if length > 0 {
                let range = start + lead..start + lead + length;
                let at = At { index: Some(self.count), line: Some(self.number) };
                part.places.push((at, self.offset + lead as u64, range));
                self.count += 1;
            }
            self.offset += read as u64;
        }
        Ok(Some(part).filter(|part| !part.text.is_empty()))
    }
}

/// Reads the items of a list.
pub(crate) struct Items<'s, R> {
    source: &'s Source,
    scanner: Scanner<R>,
    count: u64,
    is_more: bool,
    failed: Option<ReadError>,
}

impl<'s, R: BufRead> Items<'s, R> {
    /// Begins with a reader that stands before the opening bracket of the list.
    pub(crate) fn new(source: &'s Source, reader: R) -> Result<Self, ReadError> {
        let mut it =
            Self { source, scanner: after_mark(source, reader)?, count: 0, is_more: false, failed: None };
        it.is_more = it.scanner.enter().map_err(|stop| stopped(source, stop))?;
        if !it.is_more {
            it.end()?;
        }
        Ok(it)
    }

    /// How many bytes were read.
    pub(crate) fn offset(&self) -> u64 {
        self.scanner.offset()
    }

    /// Reads some items; `None` at the end. The items before an error come first, then the error.
    pub(crate) fn next(&mut self) -> Result<Option<Part>, ReadError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut part = Part::default();
        while self.is_more && part.text.len() < PART {
            let one = self.one(&mut part).map_err(|stop| stopped(self.source, stop));
            if let Err(error) = one.and_then(|()| if self.is_more { Ok(()) } else { self.end() }) {
                self.is_more = false;
                self.failed = Some(error);
            }
        }
        match self.failed.take_if(|_| part.places.is_empty()) {
            Some(error) => Err(error),
            None => Ok(Some(part).filter(|part| !part.places.is_empty())),
        }
    }

    fn one(&mut self, part: &mut Part) -> Result<(), Stop> {
        self.scanner.expect()?;
        let (start, offset) = (part.text.len(), self.scanner.offset());
        let most = usize::try_from(LONGEST).unwrap_or(usize::MAX);
        part.text.extend_from_slice(self.scanner.text(most)?);
        let at = At { index: Some(self.count), line: None };
        part.places.push((at, offset, start..part.text.len()));
        self.count += 1;
        self.is_more = self.scanner.more()?;
        Ok(())
    }

    fn end(&mut self) -> Result<(), ReadError> {
        match self.scanner.peek().map_err(|stop| stopped(self.source, stop))? {
            None => Ok(()),
            Some(_) => {
                Err(not_json(self.source, self.scanner.offset(), "there is more after the end of the list"))
            }
        }
    }
}

/// A scanner after the byte-order mark.
pub(crate) fn after_mark<R: BufRead>(source: &Source, mut reader: R) -> Result<Scanner<R>, ReadError> {
    let start = reader.fill_buf().map_err(|cause| source.error(cause))?;
    let mark = if start.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    reader.consume(mark);
    Ok(Scanner::at(reader, mark as u64))
}

/// The error for a scan that stopped.
pub(crate) fn stopped(source: &Source, stop: Stop) -> ReadError {
    match stop {
        Stop::Text(offset, message) => not_json(source, offset, message),
        // A `ReadError` was wrapped by a reader that asks whether to go on.
        Stop::Io(cause) => match cause.downcast::<ReadError>() {
            Ok(error) => error,
            Err(cause) => source.error(cause).into(),
        },
    }
}

/// The refusal of a document that is not JSON.
pub(crate) fn not_json(source: &Source, offset: u64, message: &str) -> ReadError {
    let (line, column) = source.position(offset);
    ReadError::refused(format!("line {line}, column {column}: not JSON: {message}"))
}
