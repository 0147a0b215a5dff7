//! Why a tool of the image server did not do what it was asked to. The text is the answer that the caller gets.

use m3_images::ImageFileError;

use crate::WorkspaceError;

/// A call that failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The path is not followed.
    #[error(transparent)]
    Path(#[from] WorkspaceError),
    /// The image cannot be read.
    #[error(
        "failed to read `{path}`: {source}\nhint: an image is png, jpeg, webp, gif, bmp or tiff, has at most 25 \
         million pixels and 64 MiB"
    )]
    Read {
        /// As the caller named it.
        path: String,
        /// What is wrong with it.
        #[source]
        source: ImageFileError,
    },
    /// Nothing of the image lies where it should.
    #[error("{what} has no pixel of the image, which is {width} x {height} pixels\nhint: {hint}")]
    NoPixel {
        /// The place that was named.
        what: String,
        /// Of the image.
        width: u32,
        /// Of the image.
        height: u32,
        /// What to do.
        hint: &'static str,
    },
    /// An argument of the right type with a value that makes no sense.
    #[error("`{argument}` {problem}")]
    Argument {
        /// Its place in the arguments, such as `circles[2].radius`.
        argument: String,
        /// What is wrong with it and what would be right.
        problem: &'static str,
    },
    /// The result would be too large.
    #[error(
        "the result would have {width} x {height} pixels\nhint: at most 25 million pixels, and 16384 on a side, \
         are made"
    )]
    TooLarge {
        /// In pixels.
        width: f64,
        /// In pixels.
        height: f64,
    },
    /// The shapes together would take too long.
    #[error("all of this together is too much to draw\nhint: draw fewer or smaller things in one call")]
    TooMuch,
    /// The extension names no format that is written.
    #[error(
        "`{path}` names no format that is written\nhint: end it with .png, .jpg, .webp, .gif, .bmp or .tiff"
    )]
    Format {
        /// As the caller named it.
        path: String,
    },
    /// The format cannot hold the image.
    #[error("failed to encode `{path}`: {source}\nhint: png holds every image")]
    Encode {
        /// As the caller named it.
        path: String,
        /// What is wrong.
        #[source]
        source: image::ImageError,
    },
    /// The file cannot be written.
    #[error("failed to write `{path}`: {source}")]
    Write {
        /// As the caller named it.
        path: String,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The program itself lacks something. This is a bug.
    #[error("failed for a reason of the server's own: {0}. This is a bug.")]
    Bug(&'static str),
}
