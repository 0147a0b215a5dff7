//! Reading images of unknown origin: whatever is not a file, too large or not an image is refused before it costs
//! anything.
//!
//! ```
//! use m3_images::{ImageFileError, facts};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("red.png");
//! image::RgbImage::from_pixel(4, 3, image::Rgb([255, 0, 0])).save(&path)?;
//!
//! let found = facts(&path)?;
//! assert_eq!((found.width, found.height), (4, 3));
//! assert!(matches!(facts(folder.path()), Err(ImageFileError::NotAFile)));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod font;
pub mod likeness;
pub mod looks;
pub mod media;
pub mod task_image;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read as _, Seek};
use std::path::Path;

use image::codecs::gif::GifDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{AnimationDecoder as _, ColorType, DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

/// The largest file that is read, in bytes.
const LARGEST_FILE: u64 = 64 << 20;

/// The longest side of an image that is decoded, in pixels.
pub const LARGEST_SIDE: u32 = 16_384;

/// The most memory that decoding may need, in bytes.
const DECODER_MEMORY: u64 = 512 << 20;

/// Why a file was not read as an image.
#[derive(Debug, thiserror::Error)]
pub enum ImageFileError {
    /// The path names a folder, a device or a pipe.
    #[error("it is not a file")]
    NotAFile,
    /// The file has more than 64 MiB.
    #[error("the file is too large, {bytes} bytes")]
    TooLarge {
        /// The size of the file.
        bytes: u64,
    },
    /// The file cannot be opened or read.
    #[error("the file cannot be read")]
    Unreadable(#[source] io::Error),
    /// The file is not an image of a known format, is damaged, or would take too much to decode.
    #[error("the file is not an image that can be shown")]
    NotAnImage(#[source] image::ImageError),
    /// The image has more pixels than the caller takes.
    #[error("the image is too large, {width} x {height} pixels")]
    TooManyPixels {
        /// The width in pixels, as the image is shown.
        width: u32,
        /// The height in pixels, as the image is shown.
        height: u32,
    },
}

/// Facts about an image that are known before it is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageFacts {
    /// The format by the file's first bytes, whatever its name.
    pub format: ImageFormat,
    /// The width in pixels, as the image is shown: turned as its EXIF data say.
    pub width: u32,
    /// The height in pixels, as the image is shown.
    pub height: u32,
    /// How colors are stored.
    pub color: ColorType,
    /// How the stored pixels are turned to be shown.
    pub orientation: Orientation,
    /// Size of the file.
    pub bytes: u64,
}

/// Reads what is known about an image without decoding a pixel.
///
/// # Errors
/// [`ImageFileError`], but never for the number of pixels.
pub fn facts(path: &Path) -> Result<ImageFacts, ImageFileError> {
    OpenedImage::open(path).map(|image| image.facts)
}

/// Decodes an image of at most `most_pixels` and turns it as its EXIF data say; of an animation, the first
/// picture.
///
/// # Errors
/// [`ImageFileError`].
pub fn read(path: &Path, most_pixels: u64) -> Result<DynamicImage, ImageFileError> {
    OpenedImage::open(path)?.shown(most_pixels)
}

/// The bytes of a file that may be an image.
///
/// # Errors
/// [`ImageFileError`], but never for the content of the file.
pub fn bytes_of(path: &Path) -> Result<Vec<u8>, ImageFileError> {
    let (file, size) = open_file(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    // The file may have grown since its size was read.
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(ImageFileError::Unreadable)?;
    check_size(bytes.len() as u64)?;
    Ok(bytes)
}

/// An opened image.
pub struct OpenedImage<'a> {
    /// The facts that are known before decoding.
    pub facts: ImageFacts,
    decoder: Box<dyn ImageDecoder + 'a>,
}

impl<'a> OpenedImage<'a> {
    /// Opens an image that is in memory; no pixel is decoded yet.
    ///
    /// # Errors
    /// [`ImageFileError`], but never for the number of pixels.
    pub fn new(bytes: &'a [u8]) -> Result<Self, ImageFileError> {
        check_size(bytes.len() as u64)?;
        Self::from_reader(Cursor::new(bytes), bytes.len() as u64)
    }

    fn open(path: &Path) -> Result<Self, ImageFileError> {
        let (file, bytes) = open_file(path)?;
        Self::from_reader(BufReader::new(file), bytes)
    }

    fn from_reader(reader: impl BufRead + Seek + 'a, bytes: u64) -> Result<Self, ImageFileError> {
        let reader = ImageReader::new(reader);
        let mut reader = reader.with_guessed_format().map_err(ImageFileError::Unreadable)?;
        let format = reader.format();
        reader.limits(limits());
        let mut decoder = reader.into_decoder().map_err(ImageFileError::NotAnImage)?;
        // Any format will do here: without a known format decoding fails.
        let format = format.unwrap_or(ImageFormat::Png);
        let (width, height) = decoder.dimensions();
        // Damaged EXIF data are ignored: the image is shown as stored.
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        // From 5 on, the numbers of EXIF are turns by which width and height change places.
        let is_on_its_side = orientation.to_exif() >= 5;
        let (width, height) = if is_on_its_side { (height, width) } else { (width, height) };
        let color = decoder.color_type();
        let facts = ImageFacts { format, width, height, color, orientation, bytes };
        Ok(Self { facts, decoder: Box::new(decoder) })
    }

    /// The ICC profile that says what the colors mean, if there is one.
    pub fn color_profile(&mut self) -> Option<Vec<u8>> {
        self.decoder.icc_profile().ok().flatten()
    }

    /// The memory that the image's pixels need, in bytes.
    #[must_use]
    pub fn decoded_bytes(&self) -> u64 {
        self.decoder.total_bytes()
    }

    /// Decodes an image of at most `most_pixels` as it is stored, not turned; of an animation, the first picture.
    ///
    /// # Errors
    /// [`ImageFileError`].
    pub fn decode(mut self, most_pixels: u64) -> Result<DynamicImage, ImageFileError> {
        let ImageFacts { width, height, .. } = self.facts;
        if u64::from(width) * u64::from(height) > most_pixels {
            return Err(ImageFileError::TooManyPixels { width, height });
        }
        let mut limits = limits();
        let reserved = limits.reserve(self.decoder.total_bytes());
        reserved.and_then(|()| self.decoder.set_limits(limits)).map_err(ImageFileError::NotAnImage)?;
        DynamicImage::from_decoder(self.decoder).map_err(ImageFileError::NotAnImage)
    }

    /// Decodes an image as it is shown: turned as its EXIF data say.
    fn shown(self, most_pixels: u64) -> Result<DynamicImage, ImageFileError> {
        let orientation = self.facts.orientation;
        let mut image = self.decode(most_pixels)?;
        image.apply_orientation(orientation);
        Ok(image)
    }
}

/// Whether an image that is in memory has more than one picture; damage after the first one counts as more.
#[must_use]
pub fn is_animated(bytes: &[u8], format: ImageFormat) -> bool {
    let reader = Cursor::new(bytes);
    match format {
        ImageFormat::Gif => {
            let limited = |mut decoder: GifDecoder<_>| decoder.set_limits(limits()).map(|()| decoder);
            GifDecoder::new(reader)
                .and_then(limited)
                .is_ok_and(|decoder| decoder.into_frames().nth(1).is_some())
        }
        ImageFormat::WebP => WebPDecoder::new(reader).is_ok_and(|decoder| decoder.has_animation()),
        ImageFormat::Png => {
            PngDecoder::with_limits(reader, limits()).is_ok_and(|decoder| decoder.is_apng().unwrap_or(true))
        }
        _ => false,
    }
}

/// A file and its size in bytes.
fn open_file(path: &Path) -> Result<(File, u64), ImageFileError> {
    // The kind of file is checked before it is opened, because opening a pipe would wait for its other end.
    let metadata = path.metadata().map_err(ImageFileError::Unreadable)?;
    if !metadata.is_file() {
        return Err(ImageFileError::NotAFile);
    }
    check_size(metadata.len())?;
    let file = File::open(path).map_err(ImageFileError::Unreadable)?;
    Ok((file, metadata.len()))
}

fn check_size(bytes: u64) -> Result<(), ImageFileError> {
    if bytes > LARGEST_FILE { Err(ImageFileError::TooLarge { bytes }) } else { Ok(()) }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST_SIDE);
    limits.max_image_height = Some(LARGEST_SIDE);
    limits.max_alloc = Some(DECODER_MEMORY);
    limits
}
