//! Temporary files: without a name, or with a name that is removed or replaced by another one.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// The most names that are tried; if all are taken, something is wrong.
const TRIES: usize = 100;

/// A new file in the folder for temporary files (`TMPDIR`), open for reading and writing. The file has no name, and is
/// gone when it is closed, however the process ends.
///
/// # Errors
/// The system's reason.
pub fn unnamed() -> io::Result<File> {
    let folder = std::env::temp_dir();
    #[cfg(target_os = "linux")]
    if let Some(opened) = without_name(&folder) {
        return opened;
    }
    let (file, path) = create(&folder, 0o600)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// A file that never has a name; `None` where the file system has no such files.
#[cfg(target_os = "linux")]
fn without_name(folder: &Path) -> Option<io::Result<File>> {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::Errno;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    match open(folder, flags, Mode::RUSR | Mode::WUSR) {
        Ok(descriptor) => Some(Ok(descriptor.into())),
        // The errors of systems without such files.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => None,
        Err(cause) => Some(Err(cause.into())),
    }
}

/// A new file with a random name; it is removed unless it gets another name.
#[derive(Debug)]
pub(crate) struct NamedFile {
    file: File,
    path: PathBuf,
}

impl NamedFile {
    /// Makes a file in this folder, with the permissions of any new file.
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        // The system removes the permissions that the user's mask forbids.
        let (file, path) = create(folder, 0o666)?;
        Ok(Self { file, path })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file this name; another file with the name is replaced.
    pub(crate) fn persist(self, path: &Path) -> io::Result<()> {
        // `drop` then finds nothing to remove.
        std::fs::rename(&self.path, path)
    }

    /// Gives the file this name; fails if something else has it.
    pub(crate) fn persist_new(self, path: &Path) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            use rustix::io::Errno;
            match renameat_with(CWD, &self.path, CWD, path, RenameFlags::NOREPLACE) {
                // The errors of file systems without this operation.
                Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {}
                done => return done.map_err(Into::into),
            }
        }
        std::fs::hard_link(&self.path, path)
    }
}

impl Drop for NamedFile {
    fn drop(&mut self) {
        // The file has another name by now, or cannot be removed.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Makes a file that was not there, under a name that nobody guesses.
fn create(folder: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut taken = None;
    for _ in 0..TRIES {
        // The keys of the hasher are random in every process, and different each time.
        let path = folder.join(format!(".m3-{:016x}.tmp", RandomState::new().build_hasher().finish()));
        match options.open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => taken = Some(cause),
            Err(cause) => return Err(cause),
        }
    }
    Err(taken.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _, Write as _};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_without_a_name_holds_what_is_written() {
        let mut file = unnamed().unwrap();
        file.write_all(b"some").unwrap();
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "some");
    }

    #[test]
    fn a_file_is_removed_unless_it_gets_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = NamedFile::new_in(folder.path()).unwrap();
        assert_eq!(names(folder.path()).len(), 1);
        drop(file);
        assert!(names(folder.path()).is_empty());
        let path = folder.path().join("a");
        let written = |text: &str| {
            let file = NamedFile::new_in(folder.path()).unwrap();
            file.file().write_all(text.as_bytes()).unwrap();
            file
        };
        written("one").persist(&path).unwrap();
        written("two").persist(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        let taken = written("three").persist_new(&path).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        written("four").persist_new(&folder.path().join("b")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_passes_by_a_name_is_private_and_what_keeps_it_is_not() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode = |file: &File| file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&create(folder.path(), 0o600).unwrap().0), 0o600);
        assert_eq!(mode(&unnamed().unwrap()), 0o600);
        let plain = File::create(folder.path().join("plain")).unwrap();
        assert_eq!(mode(NamedFile::new_in(folder.path()).unwrap().file()), mode(&plain));
    }
}
