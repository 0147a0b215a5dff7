//! The folder that a task works in: made anew for every try, with the task's image in it.

use std::io;
use std::path::Path;

use crate::task_image::{self, Copies};

/// Which workspaces are left when their tasks are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepWorkspaces {
    /// All.
    Always,
    /// Those of tasks that failed.
    Failed,
    /// None.
    Never,
}

/// Where results are kept whole, below the workspace.
pub(super) const RESULTS: &str = "results";

/// Makes the folder, without anything that an earlier try left in it, and puts the image there.
pub(super) fn make(workspace: &Path, image: Option<(&str, &Path)>) -> io::Result<()> {
    remove(workspace)?;
    std::fs::create_dir_all(workspace)?;
    match image {
        Some((image, source)) => task_image::put(image, source, workspace, Copies::Plain),
        None => Ok(()),
    }
}

/// Removes the folder, if it is there.
pub(super) fn remove(workspace: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(workspace) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
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
}
