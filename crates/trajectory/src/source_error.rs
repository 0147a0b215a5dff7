//! Why the bytes of a file cannot be read.

use std::io;

use m3_support::unpack::TooLarge;

/// The most bytes that are read from a device: some have an end, such as `/dev/null`.
pub(crate) const DEVICE: u64 = 1 << 20;

/// Why an input cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Opening or reading failed.
    #[error("failed to read `{path}`: {cause}{}", hint(.cause))]
    Read {
        /// The file as the user named it.
        path: String,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// The path is a folder.
    #[error(
        "failed to read `{path}`: it is a folder; name a file in it (of a run's folder: `predictions.json`)"
    )]
    Folder {
        /// The path as the user named it.
        path: String,
    },
    /// The path, or standard input, is a device without an end, such as `/dev/zero`.
    #[error("failed to read `{path}`: it is a device, and gave more than {} MiB; name a file or a pipe", DEVICE >> 20)]
    Device {
        /// The path as the user named it.
        path: String,
    },
    /// Unpacking failed.
    #[error("failed to unpack `{path}`: {cause}; the file is damaged")]
    Packed {
        /// The file as the user named it.
        path: String,
        /// The decoder's reason.
        #[source]
        cause: io::Error,
    },
    /// The file is YAML that cannot be read as JSON.
    #[error("failed to read `{path}` as YAML: {reason}")]
    Yaml {
        /// The file as the user named it.
        path: String,
        /// What is wrong, with its line and column.
        reason: String,
    },
    /// A compressed input becomes too large.
    #[error("failed to read `{path}`: {reason}")]
    Growth {
        /// The file as the user named it.
        path: String,
        /// The limit that the unpacked input exceeds.
        reason: TooLarge,
    },
    /// An input that is not a plain file has more than 16 GiB.
    #[error("`{path}` holds more than 16 GiB; split it")]
    TooLarge {
        /// The file as the user named it.
        path: String,
    },
    /// The temporary file cannot be written.
    #[error(
        "failed to write a temporary copy of `{path}` in the folder for temporary files (TMPDIR): {cause} (hint: {})", m3_support::files::hint(.cause)
    )]
    Spool {
        /// The file as the user named it.
        path: String,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
}

fn hint(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::NotFound => " (hint: check the path; relative paths start at the working directory)",
        io::ErrorKind::PermissionDenied => " (hint: check the permissions of the file and its folders)",
        _ => "",
    }
}
