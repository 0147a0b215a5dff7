//! The files that are imported: those that were named, and those in folders.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use m3_trajectory::{Source, SourceError};

use crate::sink::LONGEST;

/// A file to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileToImport {
    /// The path of the file; of a session that is kept in several files, the folder that names it.
    pub path: PathBuf,
    /// The files of such a session, in their order; else empty.
    pub parts: Vec<PathBuf>,
    /// Whether it was found in a folder, and not named.
    pub is_of_folder: bool,
}

impl FileToImport {
    /// Opens the file; the files of a session as one, in which their values stand one after another.
    ///
    /// # Errors
    /// Those of [`Source::open`], also for a session of more than 256 MB.
    pub fn open(&self) -> Result<Source, SourceError> {
        if self.parts.is_empty() {
            return Source::open(&self.path);
        }
        let name = self.path.display().to_string();
        let mut bytes = Vec::new();
        for part in &self.parts {
            bytes.extend(Source::open(part)?.start(LONGEST)?);
            bytes.push(b'\n');
            if bytes.len() as u64 > LONGEST {
                let cause = io::ErrorKind::FileTooLarge.into();
                return Err(SourceError::Read { path: name, cause });
            }
        }
        Source::of_bytes(&name, &bytes)
    }
}

/// How the names of files begin that hold a message or an event of a session each, before their numbers: those of Strands and
/// of `OpenHands`.
const PARTS: [&str; 2] = ["message_", "event-"];

fn is_json(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "json")
}

/// The number of a file that is a part of a session.
fn part_number(name: &str) -> Option<u64> {
    let rest = PARTS.iter().find_map(|begin| name.strip_prefix(begin)).filter(|_| is_json(name))?;
    rest.split(|sign: char| !sign.is_ascii_digit()).next()?.parse().ok()
}

/// The session that a folder holds in files of their own.
fn session(folder: &Path, entries: &[DirEntry]) -> Option<FileToImport> {
    let name = |entry: &DirEntry| entry.file_name().to_string_lossy().into_owned();
    let numbers: Option<Vec<(u64, PathBuf)>> = entries
        .iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()) && is_json(&name(entry)))
        .map(|entry| Some((part_number(&name(entry))?, entry.path())))
        .collect();
    let mut numbers = numbers.filter(|numbers| numbers.len() > 1)?;
    numbers.sort();
    let parts = numbers.into_iter().map(|(_, path)| path).collect();
    Some(FileToImport { path: folder.parent().unwrap_or(folder).to_owned(), parts, is_of_folder: true })
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
            found.push(FileToImport { path: path.clone(), parts: Vec::new(), is_of_folder: false });
        }
    }
    Ok(found)
}

fn folder(path: &Path, depth: usize, found: &mut Vec<FileToImport>) -> io::Result<()> {
    let mut entries = path.read_dir()?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    let is_session = |name: &str| Path::new(name).extension().is_some_and(|ending| ending == "jsonl");
    let is_agent = |name: &str| name.starts_with("agent-") && is_session(name);
    let name_of = |entry: &DirEntry| entry.file_name().to_string_lossy().into_owned();
    // Older versions of Claude Code keep the sessions of sub-agents beside the sessions that started them.
    if entries.iter().map(name_of).any(|name| is_session(&name) && !is_agent(&name)) {
        entries.retain(|entry| !is_agent(&name_of(entry)));
    }
    if let Some(session) = session(path, &entries) {
        found.push(session);
        return Ok(());
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
            found.push(FileToImport { path: entry.path(), parts: Vec::new(), is_of_folder: true });
        }
    }
    Ok(())
}
