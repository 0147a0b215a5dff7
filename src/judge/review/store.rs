//! A file of records, one JSON value a line, that only grows and that several processes may write at once.
//!
//! A line is written by one write while the file is locked, and is on disk before anybody is told that it is. A process
//! that is killed leaves at most one line that is cut off; the next one that writes removes it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::text::shortened;

/// How long another process may hold the file: it writes one line.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// A file that is larger was not written by people.
const MAX_BYTES: u64 = 256 << 20;

/// The records of a file, as far as they have been read.
#[derive(Debug)]
pub struct Store<T> {
    path: PathBuf,
    records: Vec<T>,
    /// Where the next line begins.
    offset: u64,
}

/// A store cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system's reason.
    #[error("failed to {action} `{path}`: {source}")]
    File {
        /// What was tried, such as `write to`.
        action: &'static str,
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// A line is none of ours.
    #[error(
        "`{path}:{line}` is no record of this kind: {message}\nhint: move the file away, or mend the line"
    )]
    Line {
        /// The file.
        path: String,
        /// From 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// Somebody else has it locked.
    #[error("`{path}` is locked by another process\nhint: end what holds it, and try again")]
    Locked {
        /// The file.
        path: String,
    },
    /// It is shorter than it was.
    #[error("`{path}` was changed by something other than m3\nhint: start the review anew")]
    Changed {
        /// The file.
        path: String,
    },
    /// It is larger than such a file can be.
    #[error("`{path}` has more than {} MiB\nhint: this is probably another file than was meant", MAX_BYTES >> 20)]
    TooLarge {
        /// The file.
        path: String,
    },
}

impl<T: Serialize + DeserializeOwned> Store<T> {
    /// Reads the file, if there is one. It is made by the first record.
    ///
    /// # Errors
    /// [`StoreError`], with the line.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut store = Self { path: path.to_owned(), records: Vec::new(), offset: 0 };
        store.refresh()?;
        Ok(store)
    }

    /// The records in the order in which they were written.
    #[must_use]
    pub fn records(&self) -> &[T] {
        &self.records
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads what others have written since.
    ///
    /// # Errors
    /// [`StoreError`], with the line.
    pub fn refresh(&mut self) -> Result<(), StoreError> {
        match File::open(&self.path) {
            Ok(mut file) => self.read(&mut file),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound && self.offset == 0 => Ok(()),
            Err(cause) => Err(self.error("read", cause)),
        }
    }

    /// Locks the file, reads what others have written, and writes the record that `make` gives, if it gives one.
    ///
    /// # Errors
    /// [`StoreError`]; the file is then as it was.
    pub fn append_with(&mut self, make: impl FnOnce(&[T]) -> Option<T>) -> Result<bool, StoreError> {
        let file = OpenOptions::new().create(true).read(true).append(true).open(&self.path);
        let mut file = file.map_err(|cause| self.error("open", cause))?;
        self.lock(&file)?;
        self.read(&mut file)?;
        let Some(record) = make(&self.records) else { return Ok(false) };
        let written = self.write(&mut file, &record);
        if let Err(cause) = written {
            // The file ends where it did; if that fails too, the next writer removes the rest of the line.
            let _ = file.set_len(self.offset);
            return Err(self.error("write to", cause));
        }
        self.records.push(record);
        Ok(true)
    }

    /// Waits until nobody else writes.
    fn lock(&self, file: &File) -> Result<(), StoreError> {
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_WAIT => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Locked { path: self.name() });
                }
                Err(TryLockError::Error(cause)) => return Err(self.error("lock", cause)),
            }
        }
    }

    /// Takes the whole lines after those that are known.
    fn read(&mut self, file: &mut File) -> Result<(), StoreError> {
        let length = file.metadata().map_err(|cause| self.error("read", cause))?.len();
        if length < self.offset {
            return Err(StoreError::Changed { path: self.name() });
        }
        if length > MAX_BYTES {
            return Err(StoreError::TooLarge { path: self.name() });
        }
        if length == self.offset {
            return Ok(());
        }
        let mut added = Vec::new();
        let read = file
            .seek(SeekFrom::Start(self.offset))
            .and_then(|_| file.take(MAX_BYTES - self.offset).read_to_end(&mut added));
        read.map_err(|cause| self.error("read", cause))?;
        for line in added.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            let record = serde_json::from_slice(line).map_err(|error| StoreError::Line {
                path: self.name(),
                line: self.records.len() + 1,
                message: shortened(&error.to_string(), 200),
            })?;
            self.records.push(record);
            self.offset += line.len() as u64;
        }
        Ok(())
    }

    /// Writes a line to the locked file, whose whole lines are all known.
    fn write(&mut self, file: &mut File, record: &T) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        if file.metadata()?.len() > self.offset {
            file.set_len(self.offset)?;
        }
        file.write_all(&line)?;
        file.sync_data()?;
        self.offset += line.len() as u64;
        Ok(())
    }

    fn name(&self) -> String {
        shortened(&self.path.display().to_string(), 300)
    }

    fn error(&self, action: &'static str, source: io::Error) -> StoreError {
        StoreError::File { action, path: self.name(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(store: &Store<u32>) -> Vec<u32> {
        store.records().to_vec()
    }

    #[test]
    fn two_that_write_see_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.jsonl");
        let (mut one, mut two) = (Store::<u32>::open(&path).unwrap(), Store::<u32>::open(&path).unwrap());
        assert!(one.append_with(|_| Some(1)).unwrap());
        assert!(two.append_with(|known| Some(known.iter().sum::<u32>() + 1)).unwrap());
        assert!(!one.append_with(|known| (known.len() != 2).then_some(9)).unwrap());
        assert_eq!((values(&one), values(&two)), (vec![1, 2], vec![1, 2]));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n");
    }

    #[test]
    fn many_threads_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.jsonl");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    let mut store = Store::<u32>::open(path).unwrap();
                    for number in 0..20 {
                        store.append_with(|_| Some(thread * 100 + number)).unwrap();
                    }
                });
            }
        });
        let mut found = values(&Store::open(&path).unwrap());
        found.sort_unstable();
        let expected: Vec<u32> = (0..4).flat_map(|thread| (0..20).map(move |n| thread * 100 + n)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_line_that_was_cut_off_is_removed_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.jsonl");
        std::fs::write(&path, "1\n23").unwrap();
        let mut store = Store::<u32>::open(&path).unwrap();
        assert_eq!(values(&store), [1]);
        store.append_with(|_| Some(4)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n4\n");
    }

    #[test]
    fn other_files_are_told_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.jsonl");
        std::fs::write(&path, "1\nx\n").unwrap();
        assert!(matches!(Store::<u32>::open(&path).unwrap_err(), StoreError::Line { line: 2, .. }));
        std::fs::write(&path, "1\n2\n").unwrap();
        let mut store = Store::<u32>::open(&path).unwrap();
        std::fs::write(&path, "1\n").unwrap();
        assert!(matches!(store.refresh().unwrap_err(), StoreError::Changed { .. }));
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(store.refresh().unwrap_err(), StoreError::File { .. }));
    }
}
