//! Writes the pages as files for any web server: the answers that a server would give, each under its path.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::desk::ViewDesk;
use crate::library::Library;
use crate::page::page_for_files;

/// The most scored runs of which every two are compared.
const COMPARED: usize = 20;

/// The beginning of a folder's name while the folder is being filled, and the file in it that its writer locks.
const UNFINISHED: &str = ".m3-view-";
const LOCK: &str = ".lock";

/// A bundle cannot be written.
#[derive(Debug)]
pub enum BundleError {
    /// The folder is not empty.
    NotEmpty(PathBuf),
    /// The system's reason, with the path.
    Io(PathBuf, io::Error),
    /// The caller does not want it any more.
    Stopped,
}

impl std::fmt::Display for BundleError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotEmpty(path) => {
                write!(formatter, "`{}` is not empty\nhint: name a new folder", path.display())
            }
            Self::Io(path, cause) => write!(formatter, "failed to write `{}`: {cause}", path.display()),
            Self::Stopped => formatter.write_str("stopped"),
        }
    }
}

impl std::error::Error for BundleError {}

/// Receives the number of files that are written, and of all. Returns whether to go on.
type Progress<'p> = dyn FnMut(usize, usize) -> bool + 'p;

/// Writes all pages of a library into a new folder, whole or not at all; `progress` gets the number of files that are
/// written, and of all, and returns whether to go on. Returns the number of files.
///
/// # Errors
/// [`BundleError`].
pub fn write_bundle(
    library: Arc<Library>,
    folder: &Path,
    progress: &mut Progress<'_>,
) -> Result<usize, BundleError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| BundleError::Io(path, cause)
    };
    let is_taken = folder.exists() && folder.read_dir().map_or(true, |mut entries| entries.next().is_some());
    if is_taken {
        return Err(BundleError::NotEmpty(folder.to_owned()));
    }
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(above).map_err(failed(above))?;
    remove_unfinished(above);
    let made = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(above).map_err(failed(above))?;
    let lock_path = made.path().join(LOCK);
    let lock = File::create(&lock_path).map_err(failed(&lock_path))?;
    lock.lock().map_err(failed(&lock_path))?;
    let desk = ViewDesk::new(library, false);
    let count = write_into(&desk, made.path(), progress)?;
    if folder.exists() {
        fs::remove_dir(folder).map_err(failed(folder))?;
    }
    fs::remove_file(&lock_path).map_err(failed(&lock_path))?;
    // Until now only its owner can read the folder, as any temporary folder.
    open_to_readers(made.path()).map_err(failed(made.path()))?;
    let kept = made.keep();
    fs::rename(&kept, folder).map_err(|cause| {
        let _ = fs::remove_dir_all(&kept);
        failed(folder)(cause)
    })?;
    Ok(count)
}

/// Removes the folders of writers that were stopped before they had finished.
fn remove_unfinished(above: &Path) {
    let entries = above.read_dir().into_iter().flatten().flatten();
    let unfinished = entries.filter(|entry| {
        let is_ours = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        is_ours && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    for entry in unfinished {
        let lock = File::open(entry.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            // A folder that cannot be removed does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn write_into(desk: &ViewDesk, root: &Path, progress: &mut Progress<'_>) -> Result<usize, BundleError> {
    let mut go_on = |done, all| if progress(done, all) { Ok(()) } else { Err(BundleError::Stopped) };
    let write = |path: &str, content: &[u8]| {
        let path = root.join(path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, content));
        made.map_err(|cause| BundleError::Io(path, cause))
    };
    write("index.html", page_for_files().as_bytes())?;
    let mut paths = vec!["home.json".to_owned(), "board.json".to_owned(), "matrix.json".to_owned()];
    {
        let shelves = desk.library().read();
        for (number, run) in shelves.runs.iter().enumerate() {
            paths.push(format!("run/{number}.json"));
            paths.extend((0..run.rows.len()).map(|row| format!("task/{number}/{row}.json")));
        }
        for (number, references) in shelves.references.iter().enumerate() {
            paths.push(format!("references/{number}.json"));
            paths.extend((0..references.run.rows.len()).map(|row| format!("reference/{number}/{row}.json")));
        }
        let scored: Vec<usize> = (0..shelves.runs.len())
            .filter(|number| shelves.runs.get(*number).is_some_and(|run| run.score.is_some()))
            .collect();
        let pairs = scored.iter().flat_map(|first| scored.iter().map(move |second| (first, second)));
        let pairs = pairs.filter(|(first, second)| first != second && scored.len() <= COMPARED);
        paths.extend(pairs.map(|(first, second)| format!("compare/{first}-{second}.json")));
    }
    let mut done = 0;
    for path in &paths {
        go_on(done, paths.len())?;
        if let Some(reply) = desk.document(path) {
            write(&format!("data/{path}"), &reply.body)?;
        }
        done += 1;
    }
    // The documents above have given the pictures their names.
    let names = desk.library().pictures.names();
    let all = paths.len() + names.len();
    let mut written = paths.len() + 1;
    for name in names {
        go_on(done, all)?;
        for kind in ["picture", "thumbnail"] {
            let path = format!("{kind}/{name}.jpg");
            if let Some(reply) = desk.document(&path).filter(|reply| reply.status == 200) {
                write(&format!("data/{path}"), &reply.body)?;
                written += 1;
            }
        }
        done += 1;
    }
    go_on(all, all)?;
    Ok(written)
}

#[cfg(unix)]
fn open_to_readers(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn open_to_readers(_: &Path) -> io::Result<()> {
    Ok(())
}
