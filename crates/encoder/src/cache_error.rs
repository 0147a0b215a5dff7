//! Why the cache cannot be used, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use m3_support::files;
use rusqlite::ErrorCode;

/// The cache cannot be used; the run can go on without it.
#[derive(Debug, thiserror::Error)]
#[error("failed to use the embedding cache `{path}`: {message}")]
pub struct CacheError {
    path: PathBuf,
    message: String,
    trouble: CacheTrouble,
}

/// The defect of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheTrouble {
    /// The file is not a cache, or is damaged.
    Damaged,
    /// The file or its folder may not be written to.
    ReadOnly,
    /// Another process has been writing for too long.
    Busy,
    /// There is no space left.
    Full,
    /// Any other defect.
    Other,
}

impl CacheError {
    pub(super) fn of_database(path: &Path, cause: &rusqlite::Error) -> Self {
        let trouble = match cause.sqlite_error_code() {
            _ if is_damage(cause) => CacheTrouble::Damaged,
            _ if is_read_only(cause) => CacheTrouble::ReadOnly,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => CacheTrouble::Busy,
            Some(ErrorCode::DiskFull) => CacheTrouble::Full,
            _ => CacheTrouble::Other,
        };
        Self { path: path.to_owned(), message: cause.to_string(), trouble }
    }

    pub(super) fn of_file(path: &Path, cause: &io::Error) -> Self {
        let trouble = match cause {
            _ if files::is_of_place(cause) => CacheTrouble::ReadOnly,
            _ if files::is_full(cause) => CacheTrouble::Full,
            _ => CacheTrouble::Other,
        };
        Self { path: path.to_owned(), message: cause.to_string(), trouble }
    }

    /// The defect, for callers that add a hint.
    #[must_use]
    pub fn trouble(&self) -> CacheTrouble {
        self.trouble
    }
}

pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
        || error.to_string().contains("no such table")
        || error.to_string().contains("no such column")
}

/// Whether SQLite failed because the file, or one beside it, may not be written to or created.
pub(super) fn is_read_only(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied)
    )
}
