//! Why a journal cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::is_full;
use crate::text::shortened;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be opened, read, locked or written.
    #[error("failed to {action} `{}`: {cause}\nhint: {}{elsewhere}", shown(path), if is_full(cause) { "make space, or " } else { "" })]
    Io {
        /// What was tried, such as `write to`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the user can do.
        elsewhere: &'static str,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// It is another kind of file, by its first line.
    #[error("`{}` is no {name}\nhint: {elsewhere}, or move it away", shown(path))]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it should be.
        name: &'static str,
        /// What the user can do.
        elsewhere: &'static str,
    },
    /// A line is not a valid record; the file is left unchanged.
    #[error(
        "`{}:{line}` is no line of a {name}: {message}\nhint: {elsewhere}, or mend the line",
        shown(path)
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// What the file should be.
        name: &'static str,
        /// What is wrong.
        message: String,
        /// What the user can do.
        elsewhere: &'static str,
    },
    /// Another process has locked it.
    #[error(
        "another m3 works with `{}`{}\nhint: wait for its end, or {elsewhere}",
        shown(path),
        process.map(|process| format!(", process {process}")).unwrap_or_default()
    )]
    Locked {
        /// The file.
        path: PathBuf,
        /// The other process, if the system tells.
        process: Option<u32>,
        /// What the user can do.
        elsewhere: &'static str,
    },
    /// It has fewer bytes than were read or written before.
    #[error("`{}` was changed by something other than m3\nhint: start the command anew", shown(path))]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// It has more bytes than allowed, or would have.
    #[error("`{}` has more than {} MiB\nhint: {elsewhere}", shown(path), most >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are allowed.
        most: u64,
        /// What the user can do.
        elsewhere: &'static str,
    },
}

fn shown(path: &Path) -> String {
    shortened(&path.display().to_string(), 300)
}
