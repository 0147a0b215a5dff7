//! Journals: files of records, one JSON object a line, that only grow. They keep answers that commands must not ask
//! for twice, and work that people must not lose. Only one process can use a [`Journal`] at a time; several can write
//! a [`SharedJournal`].
//!
//! A line is written by one write. A process that is killed leaves at most one line that is cut off; the next process
//! that writes removes it. Any other invalid line is an error with its place, and the file is left unchanged, because
//! going on would hide a loss. Nothing is written that could not be read again.
//!
//! A journal is independent of its records: each user has its own records, keys and meaning. Two files need less and
//! only use [`Lines`]: the journal of `m3 run`, which is locked with its folder and only tells what happened (the
//! predictions decide what is done), so an invalid line must not stop a run; and cassettes, which people may also
//! write, so a line without a line end is kept.

mod error;
mod holder;
mod lines;

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub use error::JournalError;
pub use lines::{Lines, line_of};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::files::lock_within;
use crate::text::shortened;

/// The kind of a journal.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The kind of file in messages, such as `file of decisions`.
    pub name: &'static str,
    /// The schema in the first line, `{"schema":".."}`; `None` for files without such a line.
    pub schema: Option<&'static str>,
    /// The hint to a user who needs another file, such as ``name another one with `--answers` ``.
    pub elsewhere: &'static str,
}

/// How long to wait for a process that has locked a shared file: it only reads new lines and writes once.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// The longest line that is written or read, in bytes: far more than needed, as at most 1 MiB of a model's reply is
/// used.
const LONGEST_LINE: u64 = 64 << 20;

/// The largest file that is written or read, in bytes. A process that opens it keeps what it needs of the records in
/// memory.
const MOST_BYTES: u64 = 4 << 30;

/// The largest file of people's decisions that is written or read, in bytes: all its records are kept in memory.
const MOST_BYTES_SHARED: u64 = 256 << 20;

/// The first line of a journal with a schema.
#[derive(Serialize, Deserialize)]
struct Head {
    schema: String,
}

/// The path of a journal, and how much of it has been read or written.
#[derive(Debug)]
struct ReadState {
    path: PathBuf,
    kind: Kind,
    /// The most bytes that the journal may have.
    most: u64,
    /// The end of the last complete line that was read, in bytes.
    end: u64,
    /// The number of complete lines before this end.
    lines: u64,
    /// Whether the file may end in the middle of a line, because writing failed and the part could not be removed.
    is_broken: bool,
}

impl ReadState {
    fn new(path: &Path, kind: Kind, most: u64) -> Self {
        Self { path: path.to_owned(), kind, most, end: 0, lines: 0, is_broken: false }
    }

    fn io(&self, action: &'static str, cause: io::Error) -> JournalError {
        JournalError::Io { action, path: self.path.clone(), elsewhere: self.kind.elsewhere, cause }
    }

    /// Locks the file; waits this long if another process has locked it.
    fn lock(&self, file: &File, wait: Duration) -> Result<(), JournalError> {
        lock_within(file, wait).map_err(|cause| match cause.kind() {
            io::ErrorKind::WouldBlock => JournalError::Locked {
                path: self.path.clone(),
                process: holder::process(file),
                elsewhere: self.kind.elsewhere,
            },
            _ => self.io("lock", cause),
        })
    }

    /// An error about the line after those that have been read.
    fn wrong(&self, message: &str) -> JournalError {
        JournalError::Line {
            path: self.path.clone(),
            line: self.lines + 1,
            name: self.kind.name,
            message: shortened(&message.replace(" at line 1 column ", " at column "), 200),
            elsewhere: self.kind.elsewhere,
        }
    }

    /// Opens the file for reading and for writing at its end, and creates it if it does not exist.
    fn open(&self) -> Result<File, JournalError> {
        self.check_is_file()?;
        let file = OpenOptions::new().create(true).read(true).append(true).open(&self.path);
        file.map_err(|cause| self.io("open", cause))
    }

    /// Fails for pipes, because opening one waits, and for devices, because they have no end.
    fn check_is_file(&self) -> Result<(), JournalError> {
        match std::fs::metadata(&self.path) {
            Ok(found) if !found.is_file() => Err(self.io("open", io::Error::other("it is no plain file"))),
            _ => Ok(()),
        }
    }

    /// Reads the records in the complete lines after those already read. A rest without a line end was cut off, or is
    /// being written by another process.
    fn read<T: DeserializeOwned>(
        &mut self,
        mut file: &File,
        mut take: impl FnMut(T),
    ) -> Result<(), JournalError> {
        let length = file.metadata().map_err(|cause| self.io("read", cause))?.len();
        if length < self.end {
            return Err(JournalError::Changed { path: self.path.clone() });
        }
        if length > self.most {
            return Err(self.too_large());
        }
        file.seek(SeekFrom::Start(self.end)).map_err(|cause| self.io("read", cause))?;
        let mut reader = BufReader::new(file.take(length - self.end));
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line);
            let read = read.map_err(|cause| self.io("read", cause))? as u64;
            if read > LONGEST_LINE {
                return Err(self.wrong(&format!("it has more than {} MiB", LONGEST_LINE >> 20)));
            }
            if !line.ends_with(b"\n") {
                return self.check_rest(&line);
            }
            match self.kind.schema {
                Some(schema) if self.lines == 0 => self.check_head(schema, &line)?,
                _ => take(self.record(&line)?),
            }
            self.end += read;
            self.lines += 1;
        }
    }

    fn record<T: DeserializeOwned>(&self, line: &[u8]) -> Result<T, JournalError> {
        // `serde_json` would not check this inside values that it skips.
        let text = std::str::from_utf8(line).map_err(|_| self.wrong("it is not UTF-8"))?;
        serde_json::from_str(text).map_err(|error| self.wrong(&error.to_string()))
    }

    fn check_head(&self, schema: &str, line: &[u8]) -> Result<(), JournalError> {
        let is_ours = serde_json::from_slice::<Head>(line).is_ok_and(|head| head.schema == schema);
        if is_ours { Ok(()) } else { Err(self.foreign()) }
    }

    /// Fails unless a rest without a line end can be a cut-off line of a journal: other files must not be shortened.
    fn check_rest(&self, rest: &[u8]) -> Result<(), JournalError> {
        match self.kind.schema {
            Some(schema) if self.lines == 0 && !head(schema).as_bytes().starts_with(rest) => {
                Err(self.foreign())
            }
            Some(_) if self.lines == 0 => Ok(()),
            _ if rest.is_empty() || rest.starts_with(b"{") => Ok(()),
            _ => Err(self.wrong("it begins no JSON object")),
        }
    }

    fn foreign(&self) -> JournalError {
        let Kind { name, elsewhere, .. } = self.kind;
        JournalError::Foreign { path: self.path.clone(), name, elsewhere }
    }

    /// Removes everything after the lines that have been read; if there are none, writes the line with the schema. The
    /// caller must hold the lock.
    fn repair(&mut self, mut file: &File) -> io::Result<()> {
        if file.metadata()?.len() > self.end {
            file.set_len(self.end)?;
        }
        if let (0, Some(schema)) = (self.lines, self.kind.schema) {
            let head = head(schema);
            file.write_all(head.as_bytes())?;
            (self.end, self.lines) = (head.len() as u64, 1);
        }
        Ok(())
    }

    fn too_large(&self) -> JournalError {
        JournalError::TooLarge { path: self.path.clone(), most: self.most, elsewhere: self.kind.elsewhere }
    }

    /// The line of a record, with its line end.
    fn line(&self, record: &impl Serialize) -> Result<Vec<u8>, JournalError> {
        let line = line_of(record).map_err(|error| self.io("write to", error))?;
        let length = line.len() as u64;
        if length > LONGEST_LINE {
            let cause = io::Error::other(format!("a record has more than {} MiB", LONGEST_LINE >> 20));
            return Err(self.io("write to", cause));
        }
        if self.end + length > self.most { Err(self.too_large()) } else { Ok(line) }
    }

    /// Writes lines after those that have been read. If this fails, the part that was written is removed.
    fn write(
        &mut self,
        mut file: &File,
        (lines, count): (&[u8], usize),
        is_synced: bool,
    ) -> Result<(), JournalError> {
        let written = file.write_all(lines).and_then(|()| if is_synced { file.sync_data() } else { Ok(()) });
        if let Err(cause) = written {
            self.is_broken = file.set_len(self.end).is_err();
            return Err(self.io("write to", cause));
        }
        self.end += lines.len() as u64;
        self.lines += count as u64;
        Ok(())
    }
}

fn head(schema: &str) -> String {
    format!("{{\"schema\":\"{schema}\"}}\n")
}

/// A journal that only this process can use until it is dropped. [`Journal::append`] returns when the system has the
/// line, so it survives the process; it is not forced to the disk.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    known: ReadState,
    /// The file with the lock, which the system releases when it is closed, however the process ends.
    file: File,
}

impl Journal {
    /// Opens or creates the file, locks it, and passes on its records in order.
    ///
    /// # Errors
    /// [`JournalError`]; the file is then unchanged.
    pub fn open<T: DeserializeOwned>(
        path: &Path,
        kind: Kind,
        take: impl FnMut(T),
    ) -> Result<Self, JournalError> {
        let mut known = ReadState::new(path, kind, MOST_BYTES);
        let file = known.open()?;
        known.lock(&file, Duration::ZERO)?;
        known.read(&file, take)?;
        known.repair(&file).map_err(|cause| known.io("write to", cause))?;
        Ok(Self { path: path.to_owned(), state: Mutex::new(State { known, file }) })
    }

    /// The path of the journal.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a record, which should be a JSON object.
    ///
    /// # Errors
    /// [`JournalError::Io`], [`JournalError::TooLarge`]; the record is then not in the file. If a part of it cannot
    /// be removed again, nothing more is written.
    pub fn append(&self, record: &impl Serialize) -> Result<(), JournalError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { known, file } = &mut *state;
        if known.is_broken {
            let cause = io::Error::other("a line could not be written before");
            return Err(known.io("write to", cause));
        }
        let line = known.line(record)?;
        known.write(file, (&line, 1), false)
    }
}

/// A journal that several processes may write; a record is on disk before anybody is told about it.
#[derive(Debug)]
pub struct SharedJournal<T> {
    known: ReadState,
    records: Vec<T>,
}

impl<T: Serialize + DeserializeOwned> SharedJournal<T> {
    /// Reads the file, if it exists. The first record creates it.
    ///
    /// # Errors
    /// [`JournalError`], with the line.
    pub fn open(path: &Path, kind: Kind) -> Result<Self, JournalError> {
        let known = ReadState::new(path, kind, MOST_BYTES_SHARED);
        let mut journal = Self { known, records: Vec::new() };
        journal.refresh()?;
        Ok(journal)
    }

    /// The records in the order in which they were written.
    #[must_use]
    pub fn records(&self) -> &[T] {
        &self.records
    }

    /// The path of the journal.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.known.path
    }

    /// Reads records that other processes have written since.
    ///
    /// # Errors
    /// [`JournalError`], with the line.
    pub fn refresh(&mut self) -> Result<(), JournalError> {
        self.known.check_is_file()?;
        match File::open(&self.known.path) {
            Ok(file) => self.read(&file),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound && self.known.end == 0 => Ok(()),
            Err(cause) => Err(self.known.io("read", cause)),
        }
    }

    /// Locks the file, reads what others have written, and writes the record that `make` returns, if any. It must be
    /// a JSON object.
    ///
    /// # Errors
    /// [`JournalError`]; the file is then unchanged.
    pub fn append_with(&mut self, make: impl FnOnce(&[T]) -> Option<T>) -> Result<bool, JournalError> {
        Ok(self.append_all_with(|records| make(records).into_iter().collect())? > 0)
    }

    /// Locks the file, reads what others have written, and writes the records that `make` returns in one write: all
    /// of them or none. Returns their number.
    ///
    /// # Errors
    /// [`JournalError`]; the file is then unchanged.
    pub fn append_all_with(&mut self, make: impl FnOnce(&[T]) -> Vec<T>) -> Result<usize, JournalError> {
        let file = self.known.open()?;
        self.known.lock(&file, LOCK_WAIT)?;
        self.read(&file)?;
        let records = make(&self.records);
        let lines: Vec<Vec<u8>> =
            records.iter().map(|record| self.known.line(record)).collect::<Result<_, _>>()?;
        if lines.is_empty() {
            return Ok(0);
        }
        let lines = lines.concat();
        if self.known.end + lines.len() as u64 > self.known.most {
            return Err(self.known.too_large());
        }
        self.known.repair(&file).map_err(|cause| self.known.io("write to", cause))?;
        // A part that cannot be removed now is removed by the next process that writes.
        self.known.write(&file, (&lines, records.len()), true)?;
        let count = records.len();
        self.records.extend(records);
        Ok(count)
    }

    fn read(&mut self, file: &File) -> Result<(), JournalError> {
        let records = &mut self.records;
        self.known.read(file, |record| records.push(record))
    }
}

#[cfg(test)]
mod tests;
