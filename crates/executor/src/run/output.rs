//! The folder that a run writes: `predictions.json`, `predictions/`, `interrupted/`, `journal.jsonl`, `workspaces/`,
//! `lock`. Only one run at a time uses the folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use m3_support::files::{AtomicFile, write_atomically};
use m3_support::task_files::task_file_name;

use super::prediction::KeptPrediction;

/// The reason why the folder of a run cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The folder or a file in it cannot be made, read or written to.
    #[error("failed to {action} `{}`: {cause}\nhint: {}", path.display(), m3_support::files::hint(cause))]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// The folder belongs to something else: it has files in it, and no lock of a run.
    #[error(
        "`{}` has files in it and is no folder of a run\nhint: name a new folder, or an empty one", path.display()
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// Another run works in the folder.
    #[error(
        "another m3 works in `{}`{}\nhint: wait for its end, or name another folder", path.display(),
        process.map(|process| format!(", process {process}")).unwrap_or_default()
    )]
    Locked {
        /// The folder.
        path: PathBuf,
        /// The process that holds the lock, if known.
        process: Option<u32>,
    },
}

impl OutputError {
    pub(super) fn io<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |cause| Self::Io { action, path: path.to_owned(), cause }
    }
}

/// The folder of a run, locked for this process until this value is dropped.
#[derive(Debug)]
pub struct OutputFolder {
    root: PathBuf,
    /// The file of the lock, held open: the system releases the lock when it closes, however the process ends.
    _lock: File,
}

impl OutputFolder {
    /// Makes the folder if need be, locks it, and removes what a killed run left half-written.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn open(path: &Path) -> Result<Self, OutputError> {
        std::fs::create_dir_all(path).map_err(OutputError::io("make the folder", path))?;
        let root = path.canonicalize().map_err(OutputError::io("use the folder", path))?;
        if !is_of_a_run(&root).map_err(OutputError::io("read", path))? {
            return Err(OutputError::Foreign { path: path.to_owned() });
        }
        let lock = lock(&root, path)?;
        let output = Self { root, _lock: lock };
        for folder in [output.predictions(), output.workspaces()] {
            // A folder behind a link is not ours to clear up.
            if folder.is_symlink() {
                return Err(OutputError::Foreign { path: folder });
            }
            std::fs::create_dir_all(&folder).map_err(OutputError::io("make the folder", &folder))?;
        }
        for folder in [output.root.clone(), output.predictions(), output.all_interrupted()] {
            match remove_temporary(&folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                cleared => cleared.map_err(OutputError::io("clear up", &folder))?,
            }
        }
        Ok(output)
    }

    /// The folder itself, absolute.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file with all predictions of one repetition.
    #[must_use]
    pub fn combined(&self, repeat: u32) -> PathBuf {
        self.root.join(match repeat {
            1 => "predictions.json".to_owned(),
            repeat => format!("predictions-{repeat}.json"),
        })
    }

    /// The file of one prediction.
    #[must_use]
    pub fn prediction(&self, id: &str, repeat: u32) -> PathBuf {
        self.predictions().join(format!("{}.json", task_file_name(id, repeat)))
    }

    /// The folder that a task works in.
    #[must_use]
    pub fn workspace(&self, id: &str, repeat: u32) -> PathBuf {
        self.workspaces().join(task_file_name(id, repeat))
    }

    /// The file with the record of an interrupted task.
    #[must_use]
    pub fn interrupted(&self, id: &str, repeat: u32) -> PathBuf {
        self.all_interrupted().join(format!("{}.json", task_file_name(id, repeat)))
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.root.join("journal.jsonl")
    }

    fn predictions(&self) -> PathBuf {
        self.root.join("predictions")
    }

    /// This folder exists only once a task was interrupted.
    fn all_interrupted(&self) -> PathBuf {
        self.root.join("interrupted")
    }

    fn workspaces(&self) -> PathBuf {
        self.root.join("workspaces")
    }

    /// The prediction that was kept, if there is one and it can be read.
    pub(super) fn kept_prediction(&self, id: &str, repeat: u32) -> Option<KeptPrediction> {
        let text = std::fs::read(self.prediction(id, repeat)).ok()?;
        KeptPrediction::read(id, &text)
    }

    /// Writes one prediction: afterwards it is on disk as a whole, or not at all. The record of an earlier
    /// interruption of the task is removed.
    pub(super) fn write_prediction(&self, id: &str, repeat: u32, json: &str) -> Result<(), OutputError> {
        let path = self.prediction(id, repeat);
        write_atomically(&path, json.as_bytes())
            .and_then(|()| sync_folder(&self.predictions()))
            .map_err(OutputError::io("write", &path))?;
        let interrupted = self.interrupted(id, repeat);
        match std::fs::remove_file(&interrupted) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(OutputError::io("remove", &interrupted)(error))
            }
            _ => Ok(()),
        }
    }

    /// Writes the record of an interrupted task, replacing that of an earlier interruption.
    pub(super) fn write_interrupted(&self, id: &str, repeat: u32, json: &str) -> Result<(), OutputError> {
        let path = self.interrupted(id, repeat);
        std::fs::create_dir_all(self.all_interrupted())
            .and_then(|()| write_atomically(&path, json.as_bytes()))
            .map_err(OutputError::io("write", &path))
    }

    /// Writes the existing predictions of `ids` into one file, as a list in this order.
    pub(super) fn combine<'a>(
        &self,
        ids: impl Iterator<Item = &'a str>,
        repeat: u32,
    ) -> Result<(), OutputError> {
        let path = self.combined(repeat);
        let write = || {
            let mut file = AtomicFile::create(&path)?;
            let mut separator: &[u8] = b"[\n";
            for id in ids {
                let text = match std::fs::read(self.prediction(id, repeat)) {
                    Ok(text) => text,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                };
                file.write_all(separator)?;
                file.write_all(text.trim_ascii_end())?;
                separator = b",\n";
            }
            file.write_all(if separator == b"[\n" { b"[]\n" } else { b"\n]\n" })?;
            file.commit()
        };
        write().map_err(OutputError::io("write", &path))
    }
}

/// Whether the folder is empty or was written by a run, which puts a lock into it before anything else.
fn is_of_a_run(root: &Path) -> io::Result<bool> {
    Ok(root.join("lock").is_file() || std::fs::read_dir(root)?.next().is_none())
}

/// Locks the folder and writes this process's id into the lock.
fn lock(root: &Path, shown: &Path) -> Result<File, OutputError> {
    let path = root.join("lock");
    let mut lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(OutputError::io("write", &path))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // The lock may be empty for a moment.
            let _ = lock.take(20).read_to_string(&mut holder);
            return Err(OutputError::Locked { path: shown.to_owned(), process: holder.trim().parse().ok() });
        }
        Err(TryLockError::Error(cause)) => return Err(OutputError::io("lock", &path)(cause)),
    }
    let write = |lock: &mut File| {
        lock.set_len(0)?;
        lock.rewind()?;
        lock.write_all(format!("{}\n", std::process::id()).as_bytes())
    };
    write(&mut lock).map_err(OutputError::io("write", &path))?;
    Ok(lock)
}

/// Removes files that were being written when a run was killed.
fn remove_temporary(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(".m3-") && name.ends_with(".tmp") {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Syncs a folder: the name of a new file is on disk only after that.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_is_refused_and_told_who_has_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputFolder::open(folder.path()).unwrap();
        match OutputFolder::open(folder.path()) {
            Err(OutputError::Locked { process, .. }) => assert_eq!(process, Some(std::process::id())),
            other => panic!("{other:?}"),
        }
        drop(output);
        OutputFolder::open(folder.path()).unwrap();
    }

    #[test]
    fn predictions_are_combined_in_the_order_of_the_tasks_and_leftovers_removed() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputFolder::open(folder.path()).unwrap();
        output.combine(["a"].into_iter(), 2).unwrap();
        assert_eq!(std::fs::read_to_string(output.combined(2)).unwrap(), "[]\n");
        output.write_prediction("b", 1, "{\"id\":\"b\"}\n").unwrap();
        output.write_prediction("a", 1, "{\"id\":\"a\"}\n").unwrap();
        output.combine(["a", "none", "b"].into_iter(), 1).unwrap();
        let text = std::fs::read_to_string(folder.path().join("predictions.json")).unwrap();
        assert_eq!(text, "[\n{\"id\":\"a\"},\n{\"id\":\"b\"}\n]\n");
        drop(output);
        let left = folder.path().join("predictions/.m3-x.tmp");
        std::fs::write(&left, "half").unwrap();
        OutputFolder::open(folder.path()).unwrap();
        assert!(!left.exists());
    }
}
