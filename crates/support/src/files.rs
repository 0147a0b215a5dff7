//! Writes files so that no existing content is lost: to a new file beside the old one, which is flushed and then
//! renamed. Also locks files, so that only one process writes at a time.

use std::fs::File;
use std::io::{self, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use crate::temporary::folder_of;
use crate::temporary::{UnfinishedFile, unnamed};

/// Writes `content` to `path`. An existing file stays until the new content is complete and on disk.
///
/// # Errors
/// The system's reason; `path` is then unchanged.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(content)?;
    file.commit()
}

/// Writes `content` to `path` if nothing with that name exists, completely or not at all. Links are not followed.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if something exists, or the system's reason.
pub fn write_new_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    let file = UnfinishedFile::new_in(folder_of(path))?;
    file.file().write_all(content)?;
    file.file().sync_all()?;
    file.persist_new(path)
}

/// Whether writing failed for want of space: the disk is full, a quota is used up, or a file's size limit is reached.
#[must_use]
pub fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Whether this process, or the system, may not open any more files: a limit of the machine, whatever was tried.
#[cfg(unix)]
#[must_use]
pub fn is_exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let limits = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::AGAIN];
    error.raw_os_error().is_some_and(|code| limits.iter().any(|limit| limit.raw_os_error() == code))
}

#[cfg(not(unix))]
pub fn is_exhausted(_: &io::Error) -> bool {
    false
}

/// Whether nothing can be written to this place, however much space the machine has left.
#[must_use]
pub fn is_of_place(error: &io::Error) -> bool {
    use io::ErrorKind::{
        AlreadyExists, IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
    };
    matches!(
        error.kind(),
        AlreadyExists | IsADirectory | NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem
    ) || is_loop(error)
}

/// Whether links lead round in a circle.
#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(_: &io::Error) -> bool {
    false
}

/// Whether a file is a device such as `/dev/zero`, whose content may never end, but not a terminal.
#[cfg(unix)]
#[must_use]
pub fn is_device(file: &File, metadata: &std::fs::Metadata) -> bool {
    use std::io::IsTerminal as _;
    use std::os::unix::fs::FileTypeExt as _;
    let kind = metadata.file_type();
    (kind.is_char_device() || kind.is_block_device()) && !file.is_terminal()
}

#[cfg(not(unix))]
pub fn is_device(_: &File, _: &std::fs::Metadata) -> bool {
    false
}

/// The hint to the user if writing failed for this reason.
#[must_use]
pub fn hint(error: &io::Error) -> &'static str {
    use io::ErrorKind;
    match error.kind() {
        _ if is_full(error) => "make space, or name another place",
        _ if is_exhausted(error) => EXHAUSTED,
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => "a file is in its place; name another place",
        ErrorKind::IsADirectory => "a folder is in its place; name another file",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "name a place that you may write to",
        ErrorKind::NotFound => "make the folder that it is to be in",
        _ => "name another place",
    }
}

/// The hint to the user if no more files can be opened or processes started.
pub const EXHAUSTED: &str = "raise the limits of this shell (`ulimit -n` of open files, `ulimit -u` of processes), or do less at once with \
     `--workers`";

/// Locks a file for this process, and waits this long if another one has locked it. The system releases the lock when
/// the file is closed, however the process ends.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] if another process still has it, or the system's reason.
pub fn lock_within(file: &File, wait: Duration) -> io::Result<()> {
    let start = Instant::now();
    loop {
        match file.try_lock().map_err(io::Error::from) {
            Err(cause) if cause.kind() == io::ErrorKind::WouldBlock && start.elapsed() < wait => {
                std::thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// The most links in a row that are followed, as in Linux (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// The path that a link names, whether it exists or not; for a chain of links, its end.
///
/// # Errors
/// The system's reason; too many links in a row.
pub fn real_path(link: &Path) -> io::Result<PathBuf> {
    let failed = match std::fs::canonicalize(link) {
        Ok(path) => return Ok(path),
        Err(failed) => failed,
    };
    let mut path = link.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            // The path is not a link, or does not exist.
            Err(_) => return Ok(path),
        }
    }
    Err(failed)
}

/// A file that appears under its name only when it is complete.
///
/// Anything but a plain file (a device, a pipe) is written to directly, because renaming would replace it. So is the
/// target of standard output or of another descriptor of this process, after its existing content.
#[derive(Debug)]
pub struct AtomicFile {
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// A new file beside the old one, whose name it takes.
    Beside {
        file: UnfinishedFile,
        path: PathBuf,
    },
    /// A new file without a name, to be written over the old one: the folder allows no new file.
    Over {
        file: File,
        path: PathBuf,
    },
    Direct(File),
}

impl Target {
    fn file(&self) -> &File {
        match self {
            Self::Beside { file, .. } => file.file(),
            Self::Over { file, .. } | Self::Direct(file) => file,
        }
    }
}

impl AtomicFile {
    /// Starts writing the file that will be `path`; its folder must exist.
    ///
    /// # Errors
    /// The system's reason.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut path = path.to_owned();
        if let Some(descriptor) = descriptor(&path) {
            return Ok(Self { target: Target::Direct(descriptor?) });
        }
        let mut metadata = std::fs::symlink_metadata(&path).ok();
        if metadata.as_ref().is_some_and(std::fs::Metadata::is_symlink) {
            // A link is followed, so that the file it names is replaced or created.
            path = real_path(&path)?;
            metadata = std::fs::metadata(&path).ok();
        }
        if let Some(metadata) = metadata {
            if metadata.is_dir() {
                return Err(io::Error::from(io::ErrorKind::IsADirectory));
            }
            if !metadata.is_file() {
                let file = std::fs::OpenOptions::new().write(true).open(&path)?;
                return Ok(Self { target: Target::Direct(file) });
            }
        }
        let target = match UnfinishedFile::new_in(folder_of(&path)) {
            Ok(file) => Target::Beside { file, path },
            // The folder may not be written to, but perhaps the file.
            Err(cause) if is_forbidden(&cause) => {
                File::options().write(true).open(&path).map_err(|_| cause)?;
                Target::Over { file: unnamed()?, path }
            }
            Err(cause) => return Err(cause),
        };
        Ok(Self { target })
    }

    /// Fails if [`AtomicFile::create`] would, and leaves nothing behind. Anything but a plain file stays open and is
    /// returned to be written to, because closing a pipe would be its end for the reader.
    ///
    /// # Errors
    /// The system's reason.
    pub fn probe(path: &Path) -> io::Result<Option<Self>> {
        let file = Self::create(path)?;
        Ok(matches!(file.target, Target::Direct(_)).then_some(file))
    }

    /// Flushes everything that was written to the disk; the file has no name yet.
    ///
    /// # Errors
    /// The system's reason.
    pub fn finish(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Beside { file, .. } => file.file().sync_all(),
            Target::Over { file, path } => reserved(path, file),
            Target::Direct(file) => file.flush(),
        }
    }

    /// Makes the file complete: flushes it and gives it its name.
    ///
    /// # Errors
    /// The system's reason; a file that had the name before is then unchanged, unless it had to be written over and the
    /// disk failed in the midst of it.
    pub fn commit(mut self) -> io::Result<()> {
        self.finish()?;
        match self.target {
            Target::Beside { mut file, path } => {
                keep_permissions(&path, file.file())?;
                match file.persist(&path) {
                    Err(cause) if is_bound_to_place(&cause) => {
                        let content = file.file().try_clone()?;
                        reserved(&path, &content).and_then(|()| write_over(content, &path)).map_err(|_| cause)
                    }
                    done => done,
                }
            }
            Target::Over { file, path } => write_over(file, &path),
            Target::Direct(_) => Ok(()),
        }
    }
}

/// Reserves room for `content` in the file that it is to be written over.
fn reserved(path: &Path, content: &File) -> io::Result<()> {
    reserve(&File::options().write(true).open(path)?, content.metadata()?.len())
}

/// Whether a file cannot be replaced by another one, but perhaps written over: a mount of a container, a file of another
/// user in a sticky folder.
fn is_bound_to_place(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, ResourceBusy};
    is_forbidden(error) || matches!(error.kind(), CrossesDevices | ResourceBusy)
}

/// Writes all of `content` over a file, once there is room for it.
fn write_over(mut content: File, path: &Path) -> io::Result<()> {
    content.rewind()?;
    let length = content.metadata()?.len();
    let mut over = File::options().write(true).open(path)?;
    io::copy(&mut content, &mut over)?;
    over.set_len(length)?;
    over.sync_all()
}

/// Reserves space for `length` bytes from a file's start, without changing its content. Where the file system does not
/// support this, the file is left as it is.
#[cfg(target_os = "linux")]
fn reserve(file: &File, length: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, length.max(1)) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) | Ok(()) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Whether a path names a plain file, or nothing yet, so that other files may be put beside it: not a folder, a pipe, a
/// device or a descriptor of a process.
#[must_use]
pub fn is_plain(path: &Path) -> bool {
    descriptor_path(path).is_none() && std::fs::metadata(path).map_or(true, |found| found.is_file())
}

/// The path `/proc/NUMBER/fd/NUMBER` behind a path that names a descriptor of a process, as `/dev/stdout` and a shell's
/// `>(command)` do; `None` for other paths.
fn descriptor_path(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = std::fs::canonicalize(folder_of(&path)).ok()?;
        let parts: Vec<_> = folder.iter().filter_map(|part| part.to_str()).collect();
        if let ["/", "proc", _, .., "fd"] = parts[..] {
            return Some(folder.join(path.file_name()?));
        }
        let next = std::fs::read_link(&path).ok()?;
        path = folder_of(&path).join(next);
    }
    None
}

/// The file behind a descriptor, opened to be written after its content. `None` for a path that is not of a descriptor.
#[cfg(unix)]
fn descriptor(path: &Path) -> Option<io::Result<File>> {
    use std::os::fd::AsFd as _;
    let path = descriptor_path(path)?;
    let of_process =
        |number: u8| Path::new("/proc").join(std::process::id().to_string()).join(format!("fd/{number}"));
    // A program that writes to the descriptor itself shares its place in the file.
    let shared = if path == of_process(1) {
        io::stdout().as_fd().try_clone_to_owned()
    } else if path == of_process(2) {
        io::stderr().as_fd().try_clone_to_owned()
    } else {
        return Some(File::options().append(true).open(path));
    };
    Some(shared.map(File::from))
}

#[cfg(not(unix))]
fn descriptor(_: &Path) -> Option<io::Result<File>> {
    None
}

/// Gives the new file the permissions of the file it replaces.
fn keep_permissions(path: &Path, file: &File) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(metadata) => file.set_permissions(metadata.permissions()),
        Err(_) => Ok(()),
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.target.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.file().flush()
    }
}

#[cfg(test)]
mod tests;
