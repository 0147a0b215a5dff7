//! A folder that cannot be left: every path from a caller of our servers, or from a file by others, is resolved here
//! first.
//!
//! A path is split into names, and every symbolic link on the way is resolved, before anything is opened. A process
//! that changes links in the workspace between resolving and opening could still lead us outside, but such a process
//! has the user's rights already.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::text::shortened;

/// A folder that cannot be left.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// The path without symbolic links.
    root: PathBuf,
    /// The path as given, which may have links.
    given: PathBuf,
    /// The name of the folder, for messages.
    name: String,
}

/// Why a path is not followed. The path is the caller's; nothing is revealed about places outside.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The folder itself cannot be used.
    #[error("failed to use the workspace `{path}`: {source}\nhint: name a folder that exists")]
    Unusable {
        /// The folder.
        path: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The path is outside, or a link on the way leads outside or nowhere.
    #[error(
        "`{path}` leads out of the workspace `{workspace}`\nhint: name a path inside of it, such as \
         `images/a.png`, without `..`"
    )]
    Outside {
        /// The caller's path.
        path: String,
        /// The workspace's name.
        workspace: String,
    },
    /// Nothing has this name.
    #[error("no file `{path}` in the workspace `{workspace}`\nhint: paths start at the workspace's folder")]
    NotFound {
        /// The caller's path.
        path: String,
        /// The workspace's name.
        workspace: String,
    },
    /// A folder, a device, a pipe; or a file where a folder should be.
    #[error("`{path}` is not a plain file in a plain folder")]
    NotAFile {
        /// The caller's path.
        path: String,
    },
    /// The system refuses.
    #[error("failed to reach `{path}`: {source}")]
    Unreachable {
        /// The caller's path.
        path: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

/// The most columns of a path in a message.
const PATH_SHOWN: usize = 120;

/// The most folders that one path may create.
const MOST_FOLDERS: usize = 32;

impl Workspace {
    /// Uses a folder that exists.
    ///
    /// # Errors
    /// [`WorkspaceError::Unusable`].
    pub fn new(folder: &Path) -> Result<Self, WorkspaceError> {
        let unusable = |source| WorkspaceError::Unusable { path: shown(&folder.to_string_lossy()), source };
        let root = folder.canonicalize().map_err(unusable)?;
        if !root.is_dir() {
            return Err(unusable(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        let name = root.file_name().map_or_else(|| "/".to_owned(), |name| shown(&name.to_string_lossy()));
        Ok(Self { root, given: folder.to_owned(), name })
    }

    /// The path of an existing plain file inside the workspace, without links. `path` is relative to the workspace,
    /// or absolute and inside of it.
    ///
    /// # Errors
    /// [`WorkspaceError`].
    pub fn file(&self, path: &str) -> Result<PathBuf, WorkspaceError> {
        let mut place = self.root.clone();
        for name in self.names(path)? {
            place.push(name);
            place = self.resolved(place, path)?.ok_or_else(|| self.not_found(path))?;
        }
        if place.is_file() { Ok(place) } else { Err(WorkspaceError::NotAFile { path: shown(path) }) }
    }

    /// The path of the workspace as given.
    #[must_use]
    pub fn given_path(&self) -> &Path {
        &self.given
    }

    /// The rest of a path whose beginning is also the end of the workspace's own path: for `images/a.png` in
    /// `data/images` it is `a.png`. The shortest rest comes first.
    #[must_use]
    pub fn rests(&self, path: &str) -> Vec<String> {
        let path = Path::new(path).strip_prefix(".").unwrap_or(Path::new(path));
        let parts: Vec<Component<'_>> = path.components().collect();
        if !parts.iter().all(|part| matches!(part, Component::Normal(_))) {
            return Vec::new();
        }
        let is_own = |head: &Path| self.root.ends_with(head) || self.given.ends_with(head);
        let rest = |at: usize| {
            let head: PathBuf = parts[..at].iter().collect();
            let rest: PathBuf = parts[at..].iter().collect();
            is_own(&head).then(|| rest.to_string_lossy().into_owned())
        };
        (1..parts.len()).rev().filter_map(rest).collect()
    }

    /// The path for writing a file of this name, where a plain file or nothing exists. Missing folders are created.
    ///
    /// # Errors
    /// [`WorkspaceError`].
    pub fn place(&self, path: &str) -> Result<PathBuf, WorkspaceError> {
        let names = self.names(path)?;
        let not_a_file = || WorkspaceError::NotAFile { path: shown(path) };
        let Some((last, folders)) = names.split_last() else { return Err(not_a_file()) };
        let mut folder = self.root.clone();
        let mut count = 0;
        for name in folders {
            folder.push(name);
            folder = if let Some(folder) = self.resolved(folder.clone(), path)? {
                folder
            } else {
                count += 1;
                if count > MOST_FOLDERS {
                    return Err(self.not_found(path));
                }
                make_folder(&folder).map_err(|source| unreachable(path, source))?;
                folder
            };
            if !folder.is_dir() {
                return Err(not_a_file());
            }
        }
        let place = folder.join(last);
        match self.resolved(place.clone(), path)? {
            Some(place) if !place.is_file() => Err(not_a_file()),
            Some(place) => Ok(place),
            None => Ok(place),
        }
    }

    /// The names in the path, from the root.
    fn names<'a>(&self, path: &'a str) -> Result<Vec<&'a str>, WorkspaceError> {
        let whole = Path::new(path);
        let inner = if whole.is_absolute() {
            let inside = whole.strip_prefix(&self.root).or_else(|_| whole.strip_prefix(&self.given));
            inside.map_err(|_| self.outside(path))?
        } else {
            whole
        };
        let mut names = Vec::new();
        for part in inner.components() {
            match part {
                Component::Normal(name) => names.extend(name.to_str()),
                Component::CurDir => {}
                _ => return Err(self.outside(path)),
            }
        }
        if names.is_empty() { Err(WorkspaceError::NotAFile { path: shown(path) }) } else { Ok(names) }
    }

    /// What exists at a path whose folder has no links: the path itself, the target of a link, or nothing.
    fn resolved(&self, place: PathBuf, path: &str) -> Result<Option<PathBuf>, WorkspaceError> {
        match place.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                Err(WorkspaceError::NotAFile { path: shown(path) })
            }
            Err(source) => Err(unreachable(path, source)),
            Ok(metadata) if metadata.is_symlink() => {
                let target = place.canonicalize().ok().filter(|target| target.starts_with(&self.root));
                target.map(Some).ok_or_else(|| self.outside(path))
            }
            Ok(_) => Ok(Some(place)),
        }
    }

    fn outside(&self, path: &str) -> WorkspaceError {
        WorkspaceError::Outside { path: shown(path), workspace: self.name.clone() }
    }

    fn not_found(&self, path: &str) -> WorkspaceError {
        WorkspaceError::NotFound { path: shown(path), workspace: self.name.clone() }
    }
}

/// Creates a folder. Another call may create it at the same time.
fn make_folder(folder: &Path) -> io::Result<()> {
    match std::fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}

fn unreachable(path: &str, source: io::Error) -> WorkspaceError {
    WorkspaceError::Unreachable { path: shown(path), source }
}

fn shown(path: &str) -> String {
    shortened(path, PATH_SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("task");
        std::fs::create_dir_all(inside.join("media")).unwrap();
        std::fs::write(inside.join("media/a.png"), "a").unwrap();
        std::fs::write(root.path().join("outside.png"), "o").unwrap();
        let workspace = Workspace::new(&inside).unwrap();
        (root, workspace)
    }

    #[test]
    fn files_inside_are_found_by_relative_and_absolute_paths() {
        let (root, workspace) = workspace();
        let expected = root.path().canonicalize().unwrap().join("task/media/a.png");
        let absolute = root.path().join("task/media/a.png");
        for path in ["media/a.png", "./media/./a.png", "media//a.png", absolute.to_str().unwrap()] {
            assert_eq!(workspace.file(path).unwrap(), expected, "{path}");
            assert_eq!(workspace.place(path).unwrap(), expected, "{path}");
        }
        assert_eq!(workspace.name, "task");
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        let (root, workspace) = workspace();
        let outside = root.path().join("outside.png");
        let sibling = root.path().join("task-of-another/a.png");
        for path in [
            "../outside.png",
            "media/../../outside.png",
            "media/../media/a.png",
            "/etc/passwd",
            "/no/such/file",
            "..",
            outside.to_str().unwrap(),
            sibling.to_str().unwrap(),
        ] {
            for error in [workspace.file(path).unwrap_err(), workspace.place(path).unwrap_err()] {
                assert!(matches!(error, WorkspaceError::Outside { .. }), "{path}: {error}");
            }
        }
        assert!(!root.path().join("task-of-another").exists());
    }

    #[test]
    fn what_is_no_plain_file_is_refused() {
        let (_root, workspace) = workspace();
        for path in ["", ".", "media", "/dev/null/a", "media/a.png/b.png", "media/a\0.png"] {
            assert!(workspace.file(path).is_err(), "{path}");
            assert!(workspace.place(path).is_err(), "{path}");
        }
        let missing = workspace.file("media/none.png").unwrap_err();
        assert!(matches!(missing, WorkspaceError::NotFound { .. }), "{missing}");
        assert!(workspace.place(&format!("{}x.png", "d/".repeat(40))).is_err(), "too many folders");
    }

    #[test]
    fn folders_on_the_way_are_made() {
        let (root, workspace) = workspace();
        workspace.place("new/deep/b.png").unwrap();
        assert!(root.path().join("task/new/deep").is_dir());
        assert!(!root.path().join("task/new/deep/b.png").exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_inside_only() {
        use std::os::unix::fs::symlink;
        let (root, workspace) = workspace();
        let inside = root.path().join("task");
        symlink(root.path().join("outside.png"), inside.join("file.png")).unwrap();
        symlink(root.path(), inside.join("folder")).unwrap();
        symlink(root.path().join("nowhere.png"), inside.join("dangling.png")).unwrap();
        symlink(inside.join("loop.png"), inside.join("loop.png")).unwrap();
        symlink("media", inside.join("good")).unwrap();
        for path in ["file.png", "folder/outside.png", "folder/new.png", "dangling.png", "loop.png"] {
            for error in [workspace.file(path).unwrap_err(), workspace.place(path).unwrap_err()] {
                assert!(matches!(error, WorkspaceError::Outside { .. }), "{path}: {error}");
            }
        }
        let expected = inside.canonicalize().unwrap().join("media/a.png");
        assert_eq!(workspace.file("good/a.png").unwrap(), expected);
        assert_eq!(workspace.place("good/a.png").unwrap(), expected);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_are_not_opened() {
        let (root, workspace) = workspace();
        let pipe = root.path().join("task/pipe.png");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for error in [workspace.file("pipe.png").unwrap_err(), workspace.place("pipe.png").unwrap_err()] {
            assert!(matches!(error, WorkspaceError::NotAFile { .. }), "{error}");
        }
    }
}
