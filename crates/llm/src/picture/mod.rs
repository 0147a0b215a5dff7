//! Pictures in the form in which models are shown them: upright, scaled to the limits of the wire, re-encoded only if
//! needed.

mod cache;
mod complete;
mod encode;
mod error;
mod pages;
mod room;
mod scale;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use cache::Pictures;
use encode::Source;
pub use error::PictureError;
use image::metadata::Orientation;
use image::{DynamicImage, ImageFormat};
use m3_images::OpenedImage;
use m3_support::text::hexadecimal;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The most pixels of an image: 120 million of 8-bit RGB with transparency are 480 MB, which is what decoding may take.
const MOST_PIXELS: u64 = 120_000_000;

/// The largest color profile that is kept when an image is re-encoded, in bytes.
const LARGEST_PROFILE: usize = 1 << 20;

/// A picture, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Picture {
    /// `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
    pub mime_type: &'static str,
    /// The width as sent, in pixels.
    pub width: u32,
    /// The height as sent, in pixels.
    pub height: u32,
    /// SHA-256 of the bytes that are sent, in hexadecimal.
    pub sha256: String,
    /// The size of the file in pixels, as it is shown, if it was scaled down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaled_from: Option<(u32, u32)>,
    /// The changes compared with the file; empty if its bytes are sent unchanged.
    pub changes: Vec<String>,
    /// The bytes that are sent.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// The limits of a wire for one image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct PictureLimits {
    /// The longest side, in pixels; at least 1.
    pub max_side: u32,
    /// The most bytes of a file, before Base64.
    pub max_bytes: usize,
}

impl Picture {
    /// Reads an image file (PNG, JPEG, WebP, GIF, BMP or TIFF by its bytes, whatever its name) and makes it fit the
    /// limits. The whole image is decoded, so that a damaged image is found here and not by the provider. It takes
    /// time and memory (an image of 100 megapixels some seconds and 350 MB) so do not call it on asynchronous
    /// threads.
    ///
    /// # Errors
    /// [`PictureError`] if it cannot be read, is not such an image, is damaged, is too large to decode (a side of
    /// more than 16384 pixels, more than 120 million pixels, more than 512 MiB of memory, a file of more than 64
    /// MiB), or cannot be made small enough for the limits.
    pub fn open(path: &Path, limits: &PictureLimits) -> Result<Self, PictureError> {
        let name = path.display().to_string();
        let bytes = m3_images::bytes_of(path).map_err(|error| PictureError::new(&name, &[], error))?;
        Self::from_bytes(&name, bytes, limits)
    }

    /// Prepares an image that is in memory, such as one that a tool returned. Errors call it `name`.
    ///
    /// # Errors
    /// The errors of [`Picture::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>, limits: &PictureLimits) -> Result<Self, PictureError> {
        let failed = |error| PictureError::new(name, &bytes, error);
        let mut opened = OpenedImage::new(&bytes).map_err(failed)?;
        let facts = opened.facts;
        if facts.width == 0 || facts.height == 0 {
            return Err(PictureError::empty(name));
        }
        let profile = opened.color_profile().filter(|profile| profile.len() <= LARGEST_PROFILE);
        // The memory is reserved until the image is scaled: the scaled image needs little.
        let room = room::take(opened.decoded_bytes());
        let image = opened.decode(MOST_PIXELS).map_err(failed)?;
        if facts.format == ImageFormat::Jpeg && !complete::jpeg_has_end(&bytes) {
            return Err(PictureError::cut_off(name, "image/jpeg"));
        }
        let is_animated = m3_images::is_animated(&bytes, facts.format);
        let max_side = limits.max_side.max(1);
        let is_upright = facts.orientation == Orientation::NoTransforms;
        let fits = facts.width.max(facts.height) <= max_side && bytes.len() <= limits.max_bytes;
        if let (Some(mime_type), true, true, false) = (sendable(facts.format), is_upright, fits, is_animated)
        {
            return Ok(Self::new(mime_type, (facts.width, facts.height), Vec::new(), bytes));
        }
        let mut changes = Vec::new();
        if is_animated {
            changes.push("only the first picture of its animation".to_owned());
        }
        if facts.format == ImageFormat::Tiff && pages::has_more(&bytes) {
            changes.push("only the first of its pages".to_owned());
        }
        if !is_upright {
            changes.push("turned by its EXIF orientation".to_owned());
        }
        let upright = upright(image, facts.orientation, max_side);
        drop(room);
        let source = Source {
            name,
            changes,
            is_photo: facts.format == ImageFormat::Jpeg,
            size: (facts.width, facts.height),
            profile,
            image: upright,
        };
        source.encode(limits.max_bytes)
    }

    fn new(mime_type: &'static str, size: (u32, u32), changes: Vec<String>, bytes: Vec<u8>) -> Self {
        let (width, height) = size;
        Self { mime_type, width, height, sha256: sha256(&bytes), scaled_from: None, changes, bytes }
    }

    /// A note for the model on a picture that was scaled down, because tools count the pixels of the file; the sizes
    /// are width x height.
    #[must_use]
    pub fn scaled_in_words(&self) -> Option<String> {
        let (width, height) = self.scaled_from?;
        Some(format!(
            "is shown at {} x {} pixels; the file has {width} x {height}, and tools count in those",
            self.width, self.height
        ))
    }
}

/// The media type of a format that wires accept unchanged.
fn sendable(format: ImageFormat) -> Option<&'static str> {
    match format {
        ImageFormat::Png => Some("image/png"),
        ImageFormat::Jpeg => Some("image/jpeg"),
        ImageFormat::WebP => Some("image/webp"),
        ImageFormat::Gif => Some("image/gif"),
        _ => None,
    }
}

/// The image scaled down and turned, in this order, because turning makes a copy.
fn upright(image: DynamicImage, orientation: Orientation, max_side: u32) -> DynamicImage {
    let mut image = scale::down(image, max_side);
    image.apply_orientation(orientation);
    image
}

fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}
