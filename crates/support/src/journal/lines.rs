//! Appends lines to a file: each record is a line, and each line is one write. After a failed write nothing more is
//! written, because the file may then end within a line.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};

use serde::Serialize;

/// A file of lines, open for appending.
#[derive(Debug)]
pub struct Lines {
    file: File,
    failure: Option<io::Error>,
}

impl Lines {
    /// Continues after the content of a file that was opened for appending and ends with a complete line.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self { file, failure: None }
    }

    /// Passes each line of a file to `take`, with its line end, and removes a last line that was cut off. The file
    /// must be open for reading and appending, and no other process may use it.
    ///
    /// # Errors
    /// The system's reason.
    pub fn recover(mut file: File, mut take: impl FnMut(&[u8])) -> io::Result<Self> {
        file.seek(SeekFrom::Start(0))?;
        let (mut whole, mut line) = (0, Vec::new());
        let mut reader = BufReader::new(&file);
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                break;
            }
            whole += length as u64;
            take(&line);
        }
        if whole < file.metadata()?.len() {
            file.set_len(whole)?;
        }
        Ok(Self::new(file))
    }

    /// Writes a line made by [`line_of`]. After a failure, which [`Lines::failure`] returns, nothing more is written.
    pub fn append(&mut self, line: io::Result<Vec<u8>>) {
        if self.failure.is_none() {
            self.failure = line.and_then(|line| self.file.write_all(&line)).err();
        }
    }

    /// The error of a line that could not be written.
    #[must_use]
    pub fn failure(&self) -> Option<io::Error> {
        let failure = self.failure.as_ref()?;
        Some(io::Error::new(failure.kind(), failure.to_string()))
    }
}

/// A record as a line, with its line end.
///
/// # Errors
/// The record cannot be written as JSON.
pub fn line_of(record: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
}
