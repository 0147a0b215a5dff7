//! The files that are imported: those that were named, and those in folders.

use std::io;
use std::path::{Path, PathBuf};

/// A file to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileToImport {
    /// The path of the file.
    pub path: PathBuf,
    /// Whether it was found in a folder, and not named.
    pub is_of_folder: bool,
}

/// The folder in which programs keep the sessions of sub-agents, beside the session that started them.
const BESIDE: &str = "subagents";

/// The deepest level of folders below a named one.
const DEEPEST: usize = 32;

/// The files of these paths; a folder stands for all files in it, by name, without links to folders and hidden files.
///
/// # Errors
/// The system's error, with the path.
pub fn walk(paths: &[PathBuf]) -> Result<Vec<FileToImport>, (PathBuf, io::Error)> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            folder(path, DEEPEST, &mut found).map_err(|cause| (path.clone(), cause))?;
        } else {
            found.push(FileToImport { path: path.clone(), is_of_folder: false });
        }
    }
    Ok(found)
}

fn folder(path: &Path, depth: usize, found: &mut Vec<FileToImport>) -> io::Result<()> {
    let mut entries = path.read_dir()?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let is_session = |name: &str| Path::new(name).extension().is_some_and(|ending| ending == "jsonl");
    let is_agent = |name: &str| name.starts_with("agent-") && is_session(name);
    let name_of = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    // Older versions of Claude Code keep the sessions of sub-agents beside the sessions that started them.
    if entries.iter().map(name_of).any(|name| is_session(&name) && !is_agent(&name)) {
        entries.retain(|entry| !is_agent(&name_of(entry)));
    }
    for entry in entries {
        let name = entry.file_name();
        let kind = entry.file_type()?;
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() && depth > 0 && name != BESIDE {
            folder(&entry.path(), depth - 1, found)?;
        } else if kind.is_file() || kind.is_symlink() && entry.path().is_file() {
            found.push(FileToImport { path: entry.path(), is_of_folder: true });
        }
    }
    Ok(())
}
