//! Why an image is not shown to a model.

use std::io;

use image::ImageError;
use image::error::LimitErrorKind;
use m3_images::ImageFileError;
use m3_images::media::{Kind, Media};
use m3_support::text::visible;

use super::MOST_PIXELS;

/// Why an image is not shown to a model. Every message names the image and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The path is a folder, a device or a pipe.
    #[error("`{name}` is not a file\nhint: name an image file")]
    NotAFile {
        /// The image.
        name: String,
    },
    /// The file cannot be opened or read.
    #[error("failed to read `{name}`: {source}\nhint: check that it is there and may be read")]
    Unreadable {
        /// The image.
        name: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The file has no bytes or no pixels.
    #[error("`{name}` is empty\nhint: put an image there")]
    Empty {
        /// The image.
        name: String,
    },
    /// The file is not an image, or one in a format that models cannot be shown.
    #[error(
        "`{name}` is {found}, not an image that can be shown\nhint: make it a PNG, JPEG, WebP, GIF, BMP or TIFF"
    )]
    NotAnImage {
        /// The image.
        name: String,
        /// The type of the file, such as `text/plain`.
        found: &'static str,
    },
    /// The file begins like an image, but cannot be decoded to its end.
    #[error("`{name}` is damaged or cut off ({found}): {reason}\nhint: get the file again, or save it anew")]
    Damaged {
        /// The image.
        name: String,
        /// The type of the file, such as `image/png`.
        found: &'static str,
        /// The decoder's reason, made safe to show.
        reason: String,
        /// The decoder's error; `None` if the file ends too early.
        #[source]
        source: Option<Box<ImageError>>,
    },
    /// Reading or decoding the image would take too much time or memory.
    #[error("`{name}` is too large: {found}\nhint: scale it down; {LARGEST}")]
    TooLarge {
        /// The image.
        name: String,
        /// The size that is too large.
        found: String,
    },
    /// Even the smallest form of the image has more bytes than the wire accepts.
    #[error("`{name}` cannot be made as small as {max_bytes} bytes\nhint: raise the limit")]
    CannotFit {
        /// The image.
        name: String,
        /// The limit.
        max_bytes: usize,
    },
    /// The image was read but cannot be written.
    #[error("failed to re-encode `{name}`: {source}\nhint: save it as PNG or JPEG")]
    Encode {
        /// The image.
        name: String,
        /// The encoder's reason.
        #[source]
        source: Box<ImageError>,
    },
}

/// The limits, in words.
const LARGEST: &str = "at most 16384 pixels a side, 120 million pixels, 512 MiB when decoded and 64 MiB as a file \
                       are read";

impl PictureError {
    /// The error for a failure of reading; `bytes` are those of the image, if they were read.
    pub(super) fn new(name: &str, bytes: &[u8], error: ImageFileError) -> Self {
        let name = shown(name);
        match error {
            ImageFileError::NotAFile => Self::NotAFile { name },
            ImageFileError::Unreadable(source) => Self::Unreadable { name, source },
            ImageFileError::TooLarge { bytes } => Self::TooLarge { name, found: format!("{bytes} bytes") },
            ImageFileError::TooManyPixels { width, height } => {
                let size =
                    format!("{width} x {height} pixels, more than {} million", MOST_PIXELS / 1_000_000);
                Self::TooLarge { name, found: size }
            }
            ImageFileError::NotAnImage(_) if bytes.is_empty() => Self::Empty { name },
            ImageFileError::NotAnImage(ImageError::Limits(error)) => {
                let size = match error.kind() {
                    LimitErrorKind::DimensionError => "a side has more than 16384 pixels",
                    _ => "it takes more than 512 MiB when decoded",
                };
                Self::TooLarge { name, found: size.to_owned() }
            }
            ImageFileError::NotAnImage(source) => {
                let media = Media::from_bytes(bytes);
                let mime_type = media.mime_type;
                if media.kind == Kind::Image && is_read(mime_type) {
                    let reason = visible(&source.to_string(), false).into_owned();
                    Self::Damaged { name, found: mime_type, reason, source: Some(Box::new(source)) }
                } else {
                    Self::NotAnImage { name, found: mime_type }
                }
            }
        }
    }

    /// The error for an image without pixels.
    pub(super) fn empty(name: &str) -> Self {
        Self::Empty { name: shown(name) }
    }

    /// The error for an image whose file ends too early.
    pub(super) fn cut_off(name: &str, found: &'static str) -> Self {
        let reason = "the file ends before the image does".to_owned();
        Self::Damaged { name: shown(name), found, reason, source: None }
    }

    /// The error for a failure of the encoder.
    pub(super) fn encoder(name: &str, source: ImageError) -> Self {
        Self::Encode { name: shown(name), source: Box::new(source) }
    }
}

/// A name as errors show it.
pub(super) fn shown(name: &str) -> String {
    visible(name, false).into_owned()
}

/// Whether images of this type are read.
fn is_read(mime_type: &str) -> bool {
    ["image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp", "image/tiff"].contains(&mime_type)
}
