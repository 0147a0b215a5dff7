//! Removes files and folders that may be missing.

use std::io;
use std::path::Path;

use super::asset_error::{AssetError, file_error};

/// Removes a folder with everything in it, if it is there.
pub(super) fn remove_folder(folder: &Path) -> Result<(), AssetError> {
    match std::fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(file_error("remove", folder, cause)),
        _ => Ok(()),
    }
}

/// Removes a file, if it is there.
#[cfg(feature = "fastembed")]
pub(super) fn remove_file(path: &Path) -> Result<(), AssetError> {
    match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(file_error("remove", path, cause)),
        _ => Ok(()),
    }
}
