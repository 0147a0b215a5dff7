//! Why a journal cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::is_full;
use crate::text::shortened;

/// A journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system's reason.
    #[error("failed to {action} `{}`: {cause}\nhint: {}{elsewhere}", shown(path), if is_full(cause) { "make space, or " } else { "" })]
    Io {
        /// What was tried, such as `write to`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What a user can do.
        elsewhere: &'static str,
        /// Why not.
        #[source]
        cause: io::Error,
    },
    /// It is some other file, by its first line.
    #[error("`{}` is no {name}\nhint: {elsewhere}, or move it away", shown(path))]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it should be.
        name: &'static str,
        /// What a user can do.
        elsewhere: &'static str,
    },
    /// A line is no record; the file is as it was.
    #[error(
        "`{}:{line}` is no line of a {name}: {message}\nhint: {elsewhere}, or mend the line",
        shown(path)
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: u64,
        /// What it should be.
        name: &'static str,
        /// What is wrong.
        message: String,
        /// What a user can do.
        elsewhere: &'static str,
    },
    /// Another process has it.
    #[error(
        "another m3 works with `{}`{}\nhint: wait for its end, or {elsewhere}",
        shown(path),
        process.map(|process| format!(", process {process}")).unwrap_or_default()
    )]
    Locked {
        /// The file.
        path: PathBuf,
        /// The process, where the system tells.
        process: Option<u32>,
        /// What a user can do.
        elsewhere: &'static str,
    },
    /// It has fewer bytes than were read or written.
    #[error("`{}` was changed by something other than m3\nhint: start the command anew", shown(path))]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// It has more bytes than such a file can have, or would have them.
    #[error("`{}` has more than {} MiB\nhint: {elsewhere}", shown(path), most >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// So many bytes are allowed.
        most: u64,
        /// What a user can do.
        elsewhere: &'static str,
    },
}

fn shown(path: &Path) -> String {
    shortened(&path.display().to_string(), 300)
}
