//! The folder that a task works in, made anew for every try, with the task's image in it.

use std::io;
use std::path::Path;

use m3_images::task_image::{self, Copies};

use crate::FinishReason;

/// Which workspaces are kept when their tasks are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum KeepWorkspaces {
    /// All
    Always,
    /// Those of tasks that failed
    Failed,
    /// None
    Never,
}

impl KeepWorkspaces {
    /// Whether the workspace of a task that ended in this way is kept.
    pub(super) fn keeps(self, finish: FinishReason) -> bool {
        match self {
            Self::Always => true,
            Self::Failed => finish.is_failure(),
            Self::Never => false,
        }
    }
}

/// Makes the folder, without anything that an earlier try left in it, and puts the image there.
pub(super) fn make(workspace: &Path, image: Option<(&str, &Path)>) -> io::Result<()> {
    remove(workspace)?;
    std::fs::create_dir_all(workspace)?;
    match image {
        Some((image, source)) => task_image::put(image, source, workspace, Copies::Plain),
        None => Ok(()),
    }
}

/// Removes the folder, if it exists, even if it contains folders that may not be written to.
pub(super) fn remove(workspace: &Path) -> io::Result<()> {
    let removed = match std::fs::remove_dir_all(workspace) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            allow_removal(workspace);
            std::fs::remove_dir_all(workspace)
        }
        removed => removed,
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Gives the owner all rights to a folder and the folders in it, as far as possible; links are not followed.
fn allow_removal(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    // This is a loop and not a recursion: folders may be nested deeper than the stack allows.
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        if !folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            continue;
        }
        // If this fails, the removal that follows reports why.
        let _ = std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700));
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(entries.map(|entry| entry.path()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_an_earlier_try_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let (workspace, image) = (folder.path().join("w"), folder.path().join("eel.png"));
        std::fs::write(&image, "eel").unwrap();
        make(&workspace, None).unwrap();
        std::fs::write(workspace.join("left"), "x").unwrap();
        make(&workspace, Some(("images/eel.png", &image))).unwrap();
        assert!(!workspace.join("left").exists());
        assert!(workspace.join("images/eel.png").exists() && workspace.join("eel.png").exists());
        remove(&workspace).unwrap();
        remove(&workspace).unwrap();
        assert!(!workspace.exists() && image.exists());
    }

    /// Root may remove anything, so for root this test only shows that nothing else is lost.
    #[cfg(unix)]
    #[test]
    fn folders_that_may_not_be_written_to_are_removed_and_what_links_name_stays() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (workspace, outside) = (folder.path().join("w"), folder.path().join("outside"));
        std::fs::create_dir_all(workspace.join("a/b")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(workspace.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink(&outside, workspace.join("a/link")).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let allowed = mode(&outside);
        for locked in ["a/b", "a"] {
            std::fs::set_permissions(workspace.join(locked), std::fs::Permissions::from_mode(0o500)).unwrap();
        }
        allow_removal(&workspace);
        assert_eq!((mode(&workspace.join("a/b")), mode(&outside)), (0o700, allowed));
        std::fs::set_permissions(workspace.join("a"), std::fs::Permissions::from_mode(0o000)).unwrap();
        remove(&workspace).unwrap();
        assert!(!workspace.exists() && outside.exists());
    }
}
