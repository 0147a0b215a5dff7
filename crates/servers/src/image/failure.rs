//! Why a tool of the image server failed. The text is the answer to the caller.

use image::RgbaImage;
use m3_images::ImageFileError;

use crate::WorkspaceError;

/// A call that failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The workspace refuses the path.
    #[error(transparent)]
    Path(#[from] WorkspaceError),
    /// The image cannot be read.
    #[error(
        "failed to read `{path}`: {source}\nhint: an image is png, jpeg, webp, gif, bmp or tiff, has at most 25 \
         million pixels and 64 MiB"
    )]
    Read {
        /// The path in the caller's spelling.
        path: String,
        /// The cause.
        #[source]
        source: ImageFileError,
    },
    /// The place lies completely outside of the image.
    #[error("{what} has no pixel of the image, which is {width} x {height} pixels\nhint: {hint}")]
    NoPixel {
        /// The place that was named.
        what: String,
        /// The width of the image.
        width: u32,
        /// The height of the image.
        height: u32,
        /// What to do.
        hint: &'static str,
    },
    /// An argument has the right type but an impossible value.
    #[error("`{argument}` {problem}")]
    Argument {
        /// The argument's place, such as `circles[2].radius`.
        argument: String,
        /// The problem with the argument, and the allowed values.
        problem: &'static str,
    },
    /// The result would be too large.
    #[error(
        "the result would have {width} x {height} pixels\nhint: at most 25 million pixels, and 16384 on a side, \
         are made"
    )]
    TooLarge {
        /// The width in pixels.
        width: f64,
        /// The height in pixels.
        height: f64,
    },
    /// Drawing the shapes would take too long.
    #[error("all of this together is too much to draw\nhint: draw fewer or smaller things in one call")]
    TooMuch,
    /// The file's extension is not that of a format that can be written.
    #[error(
        "`{path}` names no format that is written\nhint: end it with .png, .jpg, .webp, .gif, .bmp or .tiff"
    )]
    Format {
        /// The path in the caller's spelling.
        path: String,
    },
    /// The format cannot hold the image.
    #[error("failed to encode `{path}`: {source}\nhint: png holds every image")]
    Encode {
        /// The path in the caller's spelling.
        path: String,
        /// The encoder's reason.
        #[source]
        source: image::ImageError,
    },
    /// The file cannot be written.
    #[error("failed to write `{path}`: {source}")]
    Write {
        /// The path in the caller's spelling.
        path: String,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The program itself is broken. This is a bug.
    #[error("failed for a reason of the server's own: {0}. This is a bug.")]
    Bug(&'static str),
}

impl Failure {
    /// An argument with an impossible value.
    pub(super) fn argument(argument: impl Into<String>, problem: &'static str) -> Self {
        Self::Argument { argument: argument.into(), problem }
    }

    /// A place outside of the image.
    pub(super) fn no_pixel(what: String, image: &RgbaImage, hint: &'static str) -> Self {
        Self::NoPixel { what, width: image.width(), height: image.height(), hint }
    }
}
