//! The end of every file of ours that only grows: a record is a line, a line is one write, and nothing follows a write
//! that failed, since the file may then end within a line.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};

use serde::Serialize;

/// A file of lines, open to be appended to.
#[derive(Debug)]
pub struct Lines {
    file: File,
    failure: Option<io::Error>,
}

impl Lines {
    /// Goes on after what is in the file, which was opened to append and ends with a line.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self { file, failure: None }
    }

    /// Hands over the lines of a file that was opened to read and to append, each with its end, and removes a last line
    /// that was cut off. Only who has the file alone may do this.
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

    /// Writes a line, as [`line_of`] makes it. Nothing is written after a failure, which [`Lines::failure`] tells.
    pub fn append(&mut self, line: io::Result<Vec<u8>>) {
        if self.failure.is_none() {
            self.failure = line.and_then(|line| self.file.write_all(&line)).err();
        }
    }

    /// Why a line could not be written.
    #[must_use]
    pub fn failure(&self) -> Option<io::Error> {
        let failure = self.failure.as_ref()?;
        Some(io::Error::new(failure.kind(), failure.to_string()))
    }
}

/// A record as a line, with its end.
///
/// # Errors
/// It cannot be written as JSON.
pub fn line_of(record: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
}
