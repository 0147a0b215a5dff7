//! Events while files are installed.

use std::path::PathBuf;

/// An event while files are installed, for a progress bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallEvent {
    /// Another process is installing the same files.
    Waiting,
    /// A download starts.
    Download {
        /// What is downloaded.
        what: String,
        /// The address that it comes from, if it is not the package index of pip.
        from: Option<String>,
        /// The folder that it is for.
        into: PathBuf,
        /// The download's size in bytes; 0 if the server does not state it.
        total: u64,
    },
    /// Files are being downloaded.
    Fetching {
        /// Bytes that have arrived.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
}
