//! Why a journal cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::is_full;
use crate::text::shortened;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be opened, read, locked or written.
    #[error("failed to {action} `{}`: {cause}\nhint: {}{elsewhere}", shown(path), if is_full(cause) { "make space, or " } else { "" })]
    Io {
        /// The action that failed, such as `write to`.
        action: &'static str,
        /// The path of the journal.
        path: PathBuf,
        /// The hint to the user.
        elsewhere: &'static str,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// The file is of another kind, by its first line.
    #[error("`{}` is no {name}\nhint: {elsewhere}, or move it away", shown(path))]
    Foreign {
        /// The path of the journal.
        path: PathBuf,
        /// The kind of file that was expected.
        name: &'static str,
        /// The hint to the user.
        elsewhere: &'static str,
    },
    /// A line is not a valid record; the file is left unchanged.
    #[error(
        "`{}:{line}` is no line of a {name}: {message}\nhint: {elsewhere}, or mend the line",
        shown(path)
    )]
    Line {
        /// The path of the journal.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// The kind of file that was expected.
        name: &'static str,
        /// The reason.
        message: String,
        /// The hint to the user.
        elsewhere: &'static str,
    },
    /// Another process has locked the file.
    #[error(
        "another m3 works with `{}`{}\nhint: wait for its end, or {elsewhere}",
        shown(path),
        process.map(|process| format!(", process {process}")).unwrap_or_default()
    )]
    Locked {
        /// The path of the journal.
        path: PathBuf,
        /// The other process, if the system tells.
        process: Option<u32>,
        /// The hint to the user.
        elsewhere: &'static str,
    },
    /// The file has fewer bytes than were read or written before.
    #[error("`{}` was changed by something other than m3\nhint: start the command anew", shown(path))]
    Changed {
        /// The path of the journal.
        path: PathBuf,
    },
    /// The file has more bytes than allowed, or would have.
    #[error("`{}` has more than {} MiB\nhint: {elsewhere}", shown(path), most >> 20)]
    TooLarge {
        /// The path of the journal.
        path: PathBuf,
        /// The most bytes that are allowed.
        most: u64,
        /// The hint to the user.
        elsewhere: &'static str,
    },
}

fn shown(path: &Path) -> String {
    shortened(&path.display().to_string(), 300)
}
