//! Reading cassettes line by line, compressed ones too.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use m3_support::text::shortened;
use m3_support::unpack::{UnpackedReader, is_packed};

use super::{CassetteError, Entry, Header, SCHEMA};

/// The longest line, in bytes: a reply and the request before it.
const MAX_LINE: u64 = 256 << 20;

/// The longest cassette, in bytes, uncompressed.
const MAX_CASSETTE: u64 = 16 << 30;

/// A cassette that is being read line by line.
pub(super) struct Reader {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    line: usize,
    read: u64,
    /// The lines that are cut off, from 1: the process that wrote them was killed, or the file is damaged.
    pub(super) cut: Vec<usize>,
}

impl Reader {
    /// Opens a cassette and reads its first line.
    ///
    /// # Errors
    /// [`CassetteError`] if it cannot be read or is not a cassette.
    pub(super) fn open(path: &Path) -> Result<(Header, Self), CassetteError> {
        let failed = |source| CassetteError::Read { path: path.to_owned(), source };
        let mut file = BufReader::new(File::open(path).map_err(failed)?);
        let is_packed = is_packed(file.fill_buf().map_err(failed)?);
        let input: Box<dyn BufRead + Send> = if is_packed {
            Box::new(UnpackedReader::buffered(file).map_err(failed)?)
        } else {
            Box::new(file)
        };
        let mut reader = Self { path: path.to_owned(), input, line: 0, read: 0, cut: Vec::new() };
        let line = reader.line()?.unwrap_or_default();
        let header = read_header(&line)
            .map_err(|reason| CassetteError::NotACassette { path: path.to_owned(), reason })?;
        Ok((header, reader))
    }

    /// The next record. Lines that were cut off are skipped.
    ///
    /// # Errors
    /// [`CassetteError`] if it cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, CassetteError> {
        while let Some(line) = self.line()? {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(entry) => return Ok(Some(entry)),
                Err(error) if error.is_eof() || ends_within_a_character(line) => self.cut.push(self.line),
                Err(error) => return Err(self.broken(shortened(&error.to_string(), 200))),
            }
        }
        Ok(None)
    }

    /// The last line that begins with `start`, unparsed. Earlier lines are skipped.
    ///
    /// # Errors
    /// [`CassetteError`] if it cannot be read.
    pub(super) fn last_line(mut self, start: &[u8]) -> Result<Option<Vec<u8>>, CassetteError> {
        let mut last = None;
        while let Some(line) = self.line()? {
            if line.starts_with(start) {
                last = Some(line);
            }
        }
        Ok(last)
    }

    fn broken(&self, reason: String) -> CassetteError {
        CassetteError::Line { path: self.path.clone(), line: self.line, reason }
    }

    fn line(&mut self) -> Result<Option<Vec<u8>>, CassetteError> {
        let mut line = Vec::new();
        let read = self.input.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line);
        let read =
            read.map_err(|source: io::Error| CassetteError::Read { path: self.path.clone(), source })?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        self.read += read as u64;
        if read as u64 > MAX_LINE || self.read > MAX_CASSETTE {
            return Err(self.broken("it is too long".to_owned()));
        }
        Ok(Some(line))
    }
}

fn ends_within_a_character(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_err_and(|error| error.error_len().is_none())
}

/// Reads a first line.
pub(super) fn read_header(line: &[u8]) -> Result<Header, String> {
    if line.trim_ascii().is_empty() {
        return Err("it is empty".to_owned());
    }
    let header: Header = serde_json::from_slice(line)
        .map_err(|error| format!("its first line is no header: {}", shortened(&error.to_string(), 200)))?;
    if header.schema != SCHEMA {
        return Err(format!("its `schema` is `{}`, not `{SCHEMA}`", shortened(&header.schema, 60)));
    }
    Ok(header)
}
