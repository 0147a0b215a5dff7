//! Reading images of unknown origin: what is no file, too large or no image is refused before it costs anything.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

/// Larger files are not read, in bytes.
const LARGEST_FILE: u64 = 64 << 20;

/// Larger images are not decoded, in pixels of a side.
pub(crate) const LARGEST_SIDE: u32 = 16_384;

/// Memory that decoding may take, in bytes.
const DECODER_MEMORY: u64 = 512 << 20;

/// Why a file was not read as an image.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImageFileError {
    /// A folder, a device, a pipe.
    #[error("it is not a file")]
    NotAFile,
    /// It has more than 64 MiB.
    #[error("the file is too large, {bytes} bytes")]
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// It cannot be opened or read.
    #[error("the file cannot be read")]
    Unreadable(#[source] io::Error),
    /// It is no image of a format that is known, it is damaged, or decoding it would take too much.
    #[error("the file is not an image that can be shown")]
    NotAnImage(#[source] image::ImageError),
    /// The image has more pixels than the caller takes.
    #[error("the image is too large, {width} x {height} pixels")]
    TooManyPixels {
        /// In pixels, as it is shown.
        width: u32,
        /// In pixels, as it is shown.
        height: u32,
    },
}

/// What an image says of itself before it is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ImageFacts {
    /// By the file's first bytes, whatever its name.
    pub(crate) format: ImageFormat,
    /// In pixels, as it is shown: turned as its EXIF data say.
    pub(crate) width: u32,
    /// In pixels, as it is shown.
    pub(crate) height: u32,
    /// How colors are stored.
    pub(crate) color: ColorType,
    /// How the stored pixels are turned to be shown.
    pub(crate) orientation: Orientation,
    /// Size of the file.
    pub(crate) bytes: u64,
}

/// What an image says of itself; no pixel is decoded.
///
/// # Errors
/// [`ImageFileError`], but never for the number of pixels.
pub(crate) fn facts(path: &Path) -> Result<ImageFacts, ImageFileError> {
    open(path).map(|(facts, _)| facts)
}

/// Decodes an image of at most `most_pixels` and turns it as its EXIF data say; of an animation, the first
/// picture.
///
/// # Errors
/// [`ImageFileError`].
pub(crate) fn read(path: &Path, most_pixels: u64) -> Result<DynamicImage, ImageFileError> {
    let (facts, mut decoder) = open(path)?;
    let (width, height) = (facts.width, facts.height);
    if u64::from(width) * u64::from(height) > most_pixels {
        return Err(ImageFileError::TooManyPixels { width, height });
    }
    let mut limits = limits();
    let mut decode = || {
        limits.reserve(decoder.total_bytes())?;
        decoder.set_limits(limits.clone())
    };
    decode().map_err(ImageFileError::NotAnImage)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(ImageFileError::NotAnImage)?;
    image.apply_orientation(facts.orientation);
    Ok(image)
}

fn open(path: &Path) -> Result<(ImageFacts, impl ImageDecoder), ImageFileError> {
    // Whether it is a file is asked before it is opened: opening a pipe would wait for its other end.
    let metadata = path.metadata().map_err(ImageFileError::Unreadable)?;
    if !metadata.is_file() {
        return Err(ImageFileError::NotAFile);
    }
    let bytes = metadata.len();
    if bytes > LARGEST_FILE {
        return Err(ImageFileError::TooLarge { bytes });
    }
    let file = File::open(path).map_err(ImageFileError::Unreadable)?;
    let reader = ImageReader::new(BufReader::new(file));
    let mut reader = reader.with_guessed_format().map_err(ImageFileError::Unreadable)?;
    let format = reader.format();
    reader.limits(limits());
    let mut decoder = reader.into_decoder().map_err(ImageFileError::NotAnImage)?;
    // Without a format there is no decoder.
    let format = format.unwrap_or(ImageFormat::Png);
    let (width, height) = decoder.dimensions();
    // Damaged EXIF data say nothing; the image is as good as it was.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let (width, height) = if is_on_its_side(orientation) { (height, width) } else { (width, height) };
    let color = decoder.color_type();
    Ok((ImageFacts { format, width, height, color, orientation, bytes }, decoder))
}

/// Whether width and height change places.
fn is_on_its_side(orientation: Orientation) -> bool {
    matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    )
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST_SIDE);
    limits.max_image_height = Some(LARGEST_SIDE);
    limits.max_alloc = Some(DECODER_MEMORY);
    limits
}
