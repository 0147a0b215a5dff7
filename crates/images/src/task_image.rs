//! The image of a task: where it is looked for, the hash of its content, and where it stands in a workspace.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use m3_support::text::{hash_of_bytes, shortened};
use m3_support::workspace::{Workspace, WorkspaceError};
use unicode_normalization::UnicodeNormalization as _;

/// The file of a task's image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskImage {
    source: PathBuf,
    /// `None` inside if the file cannot be read.
    hash: Arc<OnceLock<Option<String>>>,
}

impl TaskImage {
    /// The image in a file, which is not read yet.
    #[must_use]
    pub fn new(source: PathBuf) -> Self {
        Self { source, hash: Arc::default() }
    }

    /// The path of the file.
    #[must_use]
    pub fn source(&self) -> &Path {
        &self.source
    }

    /// The hash of the file's content, read once; files larger than images may be are not read. This blocks, so do
    /// not call it on asynchronous threads. `None` if the file cannot be read.
    #[must_use]
    pub fn hash(&self) -> Option<&str> {
        let read = || crate::bytes_of(&self.source).ok().map(|bytes| hash_of_bytes(&bytes));
        self.hash.get_or_init(read).as_deref()
    }
}

/// The folders that are searched for images when none is named: the folder of the tasks' file, and the one above it,
/// where benchmarks keep their images beside the references. The folder above is left out if it is the root, the
/// user's home or the system's temporary folder, because everything would be inside it.
#[must_use]
pub fn image_folders(tasks: &Path) -> Vec<PathBuf> {
    let barred = [std::env::home_dir(), Some(std::env::temp_dir())];
    let barred: Vec<PathBuf> =
        barred.into_iter().flatten().filter_map(|path| path.canonicalize().ok()).collect();
    tasks.canonicalize().map(|tasks| folders_of(&tasks, &barred)).unwrap_or_default()
}

fn folders_of(tasks: &Path, barred: &[PathBuf]) -> Vec<PathBuf> {
    let own = tasks.parent();
    let above = own.and_then(Path::parent);
    let above = above.filter(|path| path.parent().is_some() && !barred.iter().any(|barred| barred == path));
    own.into_iter().chain(above).map(Path::to_owned).collect()
}

/// The image of a task in one of the folders. Many tasks may show the same image, which is read once: `known` holds
/// those found before.
///
/// # Errors
/// A message that says where the image was looked for, and what the user can do.
pub fn find<S: std::hash::BuildHasher>(
    image: &str,
    folders: &[PathBuf],
    known: &mut HashMap<PathBuf, TaskImage, S>,
) -> Result<TaskImage, String> {
    let shown = shortened(image, 200);
    let source = locate_in(image, &opened(folders)).map_err(|elsewhere| {
        // A path that itself stays inside leads outside only through a link.
        if let NotFound::Outside(folder) = elsewhere
            && is_inside(Path::new(image))
        {
            return format!(
                "the image `{shown}` is a link, or in one, that leads out of `{}` or nowhere, and is not followed\nhint: \
                 put the file itself there, or name the folder that it is in with `--images DIR`",
                folder.display()
            );
        }
        let folders: Vec<String> = folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
        match folders.join(" nor in ") {
            none if none.is_empty() => format!(
                "the image `{shown}` can be looked for in no folder\nhint: `--images DIR` names the images' folder, \
                 which standard input does not say"
            ),
            folders => format!(
                "the image `{shown}` is no file in {folders}\nhint: `--images DIR` names the images' folder"
            ),
        }
    })?;
    Ok(known.entry(source.clone()).or_insert_with(|| TaskImage::new(source)).clone())
}

/// Why an image is in none of the folders.
#[derive(Debug)]
pub enum NotFound {
    /// There is no such file.
    Missing,
    /// The path leads out of this folder, by itself or by a link in it, and is not followed.
    Outside(PathBuf),
    /// The path names a folder, a device or a pipe.
    NotAFile,
}

/// The folders that exist.
#[must_use]
pub fn opened(folders: &[PathBuf]) -> Vec<Workspace> {
    folders.iter().filter_map(|folder| Workspace::new(folder).ok()).collect()
}

/// The file that a task's path names in one of the folders, never outside of them.
#[must_use]
pub fn locate(image: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    locate_in(image, &opened(folders)).ok()
}

/// The file that a task's path names in one of these open folders, never outside of them. The path may start in the
/// folder, may name the folder first (`images` of `images/a.png`), or the folder may hold the image under its name
/// alone. These three are tried in this order, each in all folders; then again with accents written as parts of their
/// letters and apart from them, because macOS writes names of files apart and most other programs do not.
///
/// # Errors
/// [`NotFound`].
pub fn locate_in(image: &str, folders: &[Workspace]) -> Result<PathBuf, NotFound> {
    let as_written = locate_as_written(image, folders);
    if as_written.is_ok() || image.is_ascii() {
        return as_written;
    }
    let forms = [image.nfc().collect::<String>(), image.nfd().collect()];
    forms.iter().find_map(|form| locate_as_written(form, folders).ok()).map_or(as_written, Ok)
}

fn locate_as_written(image: &str, folders: &[Workspace]) -> Result<PathBuf, NotFound> {
    let path = Path::new(image);
    // A path that goes up names a definite place outside; a file of the same name elsewhere is another file.
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    let alone = path.file_name().filter(|_| !goes_up).map(|name| name.to_string_lossy().into_owned());
    let as_named = |_: &Workspace| vec![image.to_owned()];
    let below = |folder: &Workspace| folder.rests(image);
    let by_name = |_: &Workspace| alone.iter().cloned().collect();
    let mut refused = NotFound::Missing;
    for paths in [&as_named as &dyn Fn(&Workspace) -> Vec<String>, &below, &by_name] {
        for folder in folders {
            for path in paths(folder) {
                match folder.file(&path) {
                    Ok(file) => return Ok(file),
                    Err(WorkspaceError::Outside { .. }) => {
                        refused = NotFound::Outside(folder.given_path().to_owned());
                    }
                    Err(WorkspaceError::NotAFile { .. }) => refused = NotFound::NotAFile,
                    Err(_) => {}
                }
            }
        }
    }
    Err(refused)
}

/// The paths at which a workspace has a task's image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// The path that the task gives, and the image's name alone.
    Plain,
    /// Also a path in `media`, the folder that the benchmark's references use.
    WithMedia,
}

/// Puts a task's image where calls may look for it.
///
/// # Errors
/// The system's reason.
pub fn put(image: &str, source: &Path, workspace: &Path, copies: Copies) -> io::Result<()> {
    let path = Path::new(image);
    let Some(name) = path.file_name() else { return Ok(()) };
    let content = std::fs::read(source)?;
    let mut targets = BTreeSet::from([path.to_owned(), PathBuf::from(name)]);
    if copies == Copies::WithMedia {
        targets.insert(Path::new("media").join(name));
    }
    for target in targets {
        // Other paths may name a file in the image folders, but no place inside the workspace.
        if !is_inside(&target) {
            continue;
        }
        let target = workspace.join(target);
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // The content is copied without the original's permissions: a tool may overwrite it.
        std::fs::write(&target, &content)?;
    }
    Ok(())
}

/// The path of a task's image in its workspace: the task's own path if it lies inside, else the name of the file.
pub fn path_in_workspace(image: &str) -> String {
    let path = Path::new(image);
    if is_inside(path) {
        return image.strip_prefix("./").unwrap_or(image).to_owned();
    }
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_copied_from_their_folder_and_from_nowhere_else() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("set");
        std::fs::create_dir_all(folder.join("images")).unwrap();
        std::fs::write(folder.join("images/eel.png"), "eel").unwrap();
        std::fs::write(root.path().join("secret"), "secret").unwrap();
        let folders = [folder.canonicalize().unwrap()];
        let workspace = root.path().join("deep/workspace");
        std::fs::create_dir_all(&workspace).unwrap();
        put(
            "./images/eel.png",
            &locate("./images/eel.png", &folders).unwrap(),
            &workspace,
            Copies::WithMedia,
        )
        .unwrap();
        for copy in ["images/eel.png", "eel.png", "media/eel.png"] {
            assert_eq!(std::fs::read(workspace.join(copy)).unwrap(), b"eel", "{copy}");
        }
        let outside = root.path().join("secret");
        for image in
            ["../secret", "images", "images/../../secret", "none.png", "", ".", outside.to_str().unwrap()]
        {
            assert_eq!(locate(image, &folders), None, "{image}");
        }
    }

    /// The image is found in the folder itself, in the one above it, and in one that has a longer path in common.
    #[test]
    fn a_folder_is_the_images_own_or_the_one_that_its_path_starts_in() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("set/images/fish")).unwrap();
        for file in ["set/images/eel.png", "set/images/fish/eel.png", "set/eel.png", "secret.png"] {
            std::fs::write(root.join(file), file).unwrap();
        }
        let located = |image: &str, folder: &str| {
            let path = locate(image, &[root.join(folder)])?;
            Some(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned())
        };
        for folder in ["set", "set/images", "."] {
            for image in ["set/images/eel.png", "images/eel.png"] {
                let expected =
                    (folder != "." || image.starts_with("set")).then(|| "set/images/eel.png".to_owned());
                assert_eq!(located(image, folder), expected, "{image} in {folder}");
            }
        }
        // The file of the same name in another place is not meant.
        assert_eq!(located("images/fish/eel.png", "set/images").unwrap(), "set/images/fish/eel.png");
        // The image is found by its name alone, wherever the path points.
        assert_eq!(located("media/eel.png", "set/images").unwrap(), "set/images/eel.png");
        assert_eq!(located("/pictures/of/somebody/eel.png", "set/images").unwrap(), "set/images/eel.png");
        // A file that the path names is preferred to one that only has its name, in any folder.
        let both = [root.join("set"), root.join("set/images/fish")];
        assert_eq!(locate("images/eel.png", &both).unwrap(), root.join("set/images/eel.png"));
        for hostile in
            ["images/../../secret.png", "../images/../../secret.png", "images/../eel.png", "../eel.png"]
        {
            assert_eq!(located(hostile, "set/images"), None, "{hostile}");
        }
        assert_eq!(located("images/eel.png", "none"), None);
    }

    #[test]
    fn a_name_is_found_in_any_form_of_unicode() {
        let root = tempfile::tempdir().unwrap();
        let folders = [root.path().canonicalize().unwrap()];
        std::fs::write(root.path().join("menu\u{308}.png"), "apart").unwrap();
        assert!(locate("men\u{fc}.png", &folders).is_some());
        // The name as it is written goes first.
        std::fs::write(root.path().join("men\u{fc}.png"), "whole").unwrap();
        let found = locate("men\u{fc}.png", &folders).unwrap();
        assert_eq!(std::fs::read(found).unwrap(), b"whole");
    }

    #[test]
    fn nothing_is_written_beside_the_workspace() {
        let root = tempfile::tempdir().unwrap();
        let workspace = root.path().join("a/b");
        std::fs::create_dir_all(&workspace).unwrap();
        std::fs::write(root.path().join("eel.png"), "eel").unwrap();
        let folders = [root.path().canonicalize().unwrap()];
        let image = "../eel.png";
        assert_eq!(locate(image, &folders), None);
        put(image, &folders[0].join("eel.png"), &workspace, Copies::Plain).unwrap();
        assert!(!root.path().join("a/eel.png").exists());
        assert!(workspace.join("eel.png").exists());
        assert_eq!(path_in_workspace(image), "eel.png");
        assert_eq!(path_in_workspace("./images/eel.png"), "images/eel.png");
        assert_eq!(path_in_workspace("/images/eel.png"), "eel.png");
    }

    #[test]
    fn folders_that_hold_everything_are_not_searched() {
        let barred = ["/people/reader", "/scratch"].map(PathBuf::from);
        let folders = |tasks: &str| folders_of(Path::new(tasks), &barred);
        assert_eq!(folders("/data/set/ref.json"), ["/data/set", "/data"].map(PathBuf::from));
        assert_eq!(folders("/scratch/ref.json"), ["/scratch"].map(PathBuf::from));
        assert_eq!(folders("/scratch/set/ref.json"), ["/scratch/set"].map(PathBuf::from));
        assert_eq!(folders("/people/reader/set/ref.json"), ["/people/reader/set"].map(PathBuf::from));
        assert_eq!(folders("/scratch/x/set/ref.json"), ["/scratch/x/set", "/scratch/x"].map(PathBuf::from));
    }
}
