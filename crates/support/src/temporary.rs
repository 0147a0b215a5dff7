//! Temporary files: without a name, or with a name that is removed or replaced by another one.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// The most names that are tried; if all are taken, something is wrong.
const TRIES: usize = 100;

/// The folder that a file is in.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new file in the folder for temporary files (`TMPDIR`), open for reading and writing. The file has no name, and is
/// gone when it is closed, however the process ends.
///
/// # Errors
/// The system's reason.
pub fn unnamed() -> io::Result<File> {
    let folder = std::env::temp_dir();
    #[cfg(target_os = "linux")]
    if let Some(opened) = without_name(&folder, 0o600, false) {
        return opened;
    }
    let (file, path) = create(&folder, 0o600)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// A file that has no name, and may get one; `None` where the file system has no such files.
#[cfg(target_os = "linux")]
fn without_name(folder: &Path, mode: u32, may_get_one: bool) -> Option<io::Result<File>> {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::Errno;
    let unlinked = if may_get_one { OFlags::empty() } else { OFlags::EXCL };
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC | unlinked;
    match open(folder, flags, Mode::from_raw_mode(mode)) {
        Ok(descriptor) => Some(Ok(descriptor.into())),
        // The errors of systems without such files.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => None,
        Err(cause) => Some(Err(cause.into())),
    }
}

/// A new file that is removed unless it gets a name.
#[derive(Debug)]
pub(crate) struct UnfinishedFile {
    file: File,
    /// The random name that the file has until then. Where the file system allows it the file has none, so that a process
    /// that is killed leaves nothing behind.
    path: Option<PathBuf>,
}

impl UnfinishedFile {
    /// Makes a file in this folder, with the permissions of any new file.
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        // The system removes the permissions that the user's mask forbids.
        const MODE: u32 = 0o666;
        #[cfg(target_os = "linux")]
        if let Some(Ok(file)) = without_name(folder, MODE, true)
            && has_descriptor_path(&file)
        {
            return Ok(Self { file, path: None });
        }
        let (file, path) = create(folder, MODE)?;
        Ok(Self { file, path: Some(path) })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file this name; another file with the name is replaced. If this fails, the file is as it was.
    pub(crate) fn persist(&mut self, path: &Path) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if self.path.is_none() {
            match link(&self.file, path) {
                Ok(()) => return Ok(()),
                // A link replaces nothing, so the file first gets another name, for a moment.
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                    let name = |taken: &Path| link(&self.file, taken);
                    self.path = Some(at_random_name(folder_of(path), name)?.1);
                }
                Err(_) => self.copy_beside(path)?,
            }
        }
        if let Some(name) = &self.path {
            std::fs::rename(name, path)?;
            self.path = None;
        }
        Ok(())
    }

    /// Continues with a copy that has a name, because the file can get none: some systems forbid it.
    #[cfg(target_os = "linux")]
    fn copy_beside(&mut self, path: &Path) -> io::Result<()> {
        use std::io::Seek as _;
        let (file, name) = create(folder_of(path), 0o600)?;
        let mut copy = Self { file, path: Some(name) };
        self.file.rewind()?;
        io::copy(&mut self.file, &mut copy.file)?;
        copy.file.set_permissions(self.file.metadata()?.permissions())?;
        copy.file.sync_all()?;
        std::mem::swap(self, &mut copy);
        Ok(())
    }

    /// Gives the file this name; fails if something else has it.
    pub(crate) fn persist_new(self, path: &Path) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        let mut file = self;
        #[cfg(not(target_os = "linux"))]
        let file = self;
        #[cfg(target_os = "linux")]
        if file.path.is_none() {
            match link(&file.file, path) {
                Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => file.copy_beside(path)?,
                done => return done,
            }
        }
        let Some(name) = &file.path else { return Err(io::ErrorKind::Unsupported.into()) };
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            use rustix::io::Errno;
            match renameat_with(CWD, name, CWD, path, RenameFlags::NOREPLACE) {
                // The errors of file systems without this operation.
                Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {}
                done => return done.map_err(Into::into),
            }
        }
        std::fs::hard_link(name, path)
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // The file has another name by now, or cannot be removed.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The path of an open file of this process, which stands for the file itself (proc(5), `/proc/pid/fd`).
#[cfg(target_os = "linux")]
fn descriptor_path(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Whether [`link`] will find the file: `/proc` may be missing.
#[cfg(target_os = "linux")]
fn has_descriptor_path(file: &File) -> bool {
    descriptor_path(file).is_symlink()
}

/// Gives a file without a name this one; fails if something else has it (open(2), `O_TMPFILE`).
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, descriptor_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Makes a file that was not there, under a name that nobody guesses.
fn create(folder: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    at_random_name(folder, |path| options.open(path))
}

/// Does something at a random name in a folder, at another one if something has the name. Returns the name too.
fn at_random_name<T>(folder: &Path, act: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    let mut taken = None;
    for _ in 0..TRIES {
        // The keys of the hasher are random in every process, and different each time.
        let path = folder.join(format!(".m3-{:016x}.tmp", RandomState::new().build_hasher().finish()));
        match act(&path) {
            Ok(done) => return Ok((done, path)),
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
        let named = |folder: &Path| {
            let (file, path) = create(folder, 0o666).unwrap();
            UnfinishedFile { file, path: Some(path) }
        };
        gets_a_name(&named);
        gets_a_name(&|folder| UnfinishedFile::new_in(folder).unwrap());
    }

    /// Where a file without a name can get none, a copy takes its place.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_can_get_no_name_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut file = UnfinishedFile::new_in(folder.path()).unwrap();
        file.file().write_all(b"whole").unwrap();
        let mode = file.file().metadata().unwrap().permissions();
        file.copy_beside(&path).unwrap();
        file.persist(&path).unwrap();
        drop(file);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions(), mode);
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    fn a_file_has_no_name_before_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        if without_name(folder.path(), 0o666, true).is_none() {
            eprintln!("skipped: this file system has no files without names");
            return;
        }
        let _file = UnfinishedFile::new_in(folder.path()).unwrap();
        assert!(names(folder.path()).is_empty());
    }

    fn gets_a_name(new_in: &dyn Fn(&Path) -> UnfinishedFile) {
        let folder = tempfile::tempdir().unwrap();
        drop(new_in(folder.path()));
        assert!(names(folder.path()).is_empty());
        let path = folder.path().join("a");
        let written = |text: &str| {
            let file = new_in(folder.path());
            file.file().write_all(text.as_bytes()).unwrap();
            file
        };
        written("one").persist(&path).unwrap();
        written("two").persist(&path).unwrap();
        assert_eq!(names(folder.path()), ["a"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        let taken = written("three").persist_new(&path).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        written("four").persist_new(&folder.path().join("b")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        drop(written("five"));
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
        assert_eq!(mode(UnfinishedFile::new_in(folder.path()).unwrap().file()), mode(&plain));
    }
}
