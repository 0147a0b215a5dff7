//! The pool of image paths: image files of the workspace that the model may name in calls.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, DirEntry, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use m3_images::media::{Kind, Media};
use m3_support::text::is_hidden;

/// The most images that are named.
const MOST_IMAGES: usize = 200;

/// The most entries of folders that are looked at.
const MOST_ENTRIES: usize = 5_000;

/// Folders below this depth are not looked into.
const DEEPEST: usize = 8;

/// The folder below the workspace where whole results are kept; it has no images.
pub(super) const RESULTS: &str = "results";

/// The bytes at the start of a file that are read to recognize its type.
const HEAD: usize = 64;

/// The images of a workspace, in the order in which they appeared.
pub(super) struct Pool {
    folder: Arc<Folder>,
    /// The paths of the images, relative to the workspace.
    paths: Vec<String>,
    /// A second path of the task's image, under its name alone; naming both would make the model wonder why there are
    /// two.
    second: Option<String>,
}

impl Pool {
    /// A pool that begins with the task's own image.
    pub(super) fn new(workspace: &Path, image: Option<&str>) -> Self {
        let second = image.and_then(|path| path.rsplit_once('/')).map(|(_, name)| name.to_owned());
        Self {
            folder: Arc::new(Folder { path: workspace.to_owned(), seen: Mutex::default() }),
            paths: image.map(str::to_owned).into_iter().collect(),
            second,
        }
    }

    pub(super) fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The workspace's folder, to be listed on a thread where waiting for the disk delays nobody.
    pub(super) fn folder(&self) -> Arc<Folder> {
        Arc::clone(&self.folder)
    }

    /// Takes the result of [`Folder::list`]: vanished files are dropped, new ones are added at the end. True if any
    /// file is new.
    pub(super) fn update(&mut self, found: Vec<String>) -> bool {
        self.paths.retain(|path| found.contains(path));
        let before = self.paths.len();
        let new: Vec<String> = found
            .into_iter()
            .filter(|path| !self.paths.contains(path) && self.second.as_ref() != Some(path))
            .collect();
        self.paths.extend(new);
        self.paths.truncate(MOST_IMAGES);
        self.paths.len() > before
    }
}

/// A workspace that is listed again and again.
pub(super) struct Folder {
    path: PathBuf,
    /// The state of each file when it was last looked into, by path: most files do not change.
    seen: Mutex<HashMap<String, CheckedFile>>,
}

/// A file that was looked into.
struct CheckedFile {
    state: FileState,
    is_image: bool,
}

/// A state that changes whenever a path names another file or the file has another content. A copy may keep the
/// modification time of its original, but not the time at which its entry changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileState {
    length: u64,
    inode: u64,
    changed: (i64, i64),
}

impl FileState {
    fn new(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Self { length: metadata.len(), inode: metadata.ino(), changed }
    }
}

impl Folder {
    /// The path of the workspace.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The image files of the folder and of its subfolders, by path. Links are not followed. Names that do not read as
    /// they are written, and hidden ones, are left out. This blocks on the disk.
    pub(super) fn list(&self) -> Vec<String> {
        self.states().into_keys().collect()
    }

    /// The files of [`Folder::list`], each with its state.
    pub(super) fn states(&self) -> BTreeMap<String, FileState> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut states = BTreeMap::new();
        let mut folders = vec![(self.path.clone(), String::new(), 0)];
        let mut looked_at = 0;
        while let Some((folder, prefix, depth)) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                looked_at += 1;
                if looked_at > MOST_ENTRIES {
                    return states;
                }
                let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
                    continue;
                };
                if name.starts_with('.') || name.chars().any(is_hidden) {
                    continue;
                }
                let path = format!("{prefix}{name}");
                if kind.is_dir() && path == RESULTS {
                    continue;
                }
                if kind.is_dir() && depth < DEEPEST {
                    folders.push((entry.path(), format!("{path}/"), depth + 1));
                } else if kind.is_file()
                    && let Some(state) = image_state(&entry, &path, &mut seen)
                {
                    states.insert(path, state);
                }
            }
        }
        states
    }
}

/// The state of a file that begins as an image does; it is only read if it has changed.
fn image_state(entry: &DirEntry, path: &str, seen: &mut HashMap<String, CheckedFile>) -> Option<FileState> {
    let state = FileState::new(&entry.metadata().ok()?);
    if let Some(looked) = seen.get(path).filter(|looked| looked.state == state) {
        return looked.is_image.then_some(state);
    }
    let mut head = Vec::with_capacity(HEAD);
    let read = fs::File::open(entry.path()).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
    // A failure is not kept: the file may be readable the next time.
    read.ok()?;
    let is_image = Media::from_bytes(&head).kind == Kind::Image;
    seen.insert(path.to_owned(), CheckedFile { state, is_image });
    is_image.then_some(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_found_by_their_bytes_and_no_link_is_followed() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        write("b.dat", b"\x89PNG\r\n\x1a\n");
        write("sub/a.jpg", b"\xff\xd8\xff");
        write("text.png", b"not an image");
        write(".hidden.png", b"\x89PNG\r\n\x1a\n");
        write("turned\u{202e}gnp.png", b"\x89PNG\r\n\x1a\n");
        fs::write(outside.path().join("c.png"), b"\x89PNG\r\n\x1a\n").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
            std::os::unix::fs::symlink(outside.path().join("c.png"), folder.path().join("d.png")).unwrap();
        }
        let pool = Pool::new(folder.path(), None);
        assert_eq!(pool.folder().list(), ["b.dat", "sub/a.jpg"]);
        // A known name gets another content.
        write("b.dat", b"text");
        write("text.png", b"\x89PNG\r\n\x1a\n of some length");
        assert_eq!(pool.folder().list(), ["sub/a.jpg", "text.png"]);
        // Another file gets the name, as long and as old as before, as when an archive is unpacked.
        let modified = |name: &str| fs::metadata(folder.path().join(name)).unwrap().modified().unwrap();
        let (time, other) = (modified("b.dat"), folder.path().join("other"));
        fs::write(&other, b"\xff\xd8\xff\xe0").unwrap();
        fs::File::options().append(true).open(&other).unwrap().set_modified(time).unwrap();
        fs::rename(&other, folder.path().join("b.dat")).unwrap();
        assert_eq!(modified("b.dat"), time);
        assert_eq!(pool.folder().list(), ["b.dat", "sub/a.jpg", "text.png"]);
    }

    #[test]
    fn the_order_is_that_of_appearance() {
        let mut pool = Pool::new(Path::new("w"), Some("images/task.png"));
        let names_of = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        // The second path of the task's own image does not count as new.
        assert!(!pool.update(names_of(&["images/task.png", "task.png"])));
        assert!(pool.update(names_of(&["b.png", "images/task.png", "task.png"])));
        assert!(pool.update(names_of(&["a.png", "b.png", "images/task.png"])));
        assert_eq!(pool.paths(), ["images/task.png", "b.png", "a.png"]);
        assert!(!pool.update(names_of(&["a.png", "images/task.png"])));
        assert_eq!(pool.paths(), ["images/task.png", "a.png"]);
    }

    #[test]
    fn a_full_workspace_is_not_listed_without_end() {
        let mut pool = Pool::new(Path::new("w"), None);
        pool.update((0..1000).map(|number| format!("{number:04}.png")).collect());
        assert_eq!(pool.paths().len(), MOST_IMAGES);
    }
}
