//! Writes an image as PNG or JPEG of limited size.

use std::borrow::Cow;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{DynamicImage, GrayImage, ImageEncoder, Rgb, RgbImage};

use super::error::{PictureError, shown};
use super::{Picture, scale};

/// The JPEG quality of photographs, at most 100.
const QUALITY: u8 = 90;

/// Qualities that are tried if the file is too large, best first.
const LOWER_QUALITIES: [u8; 3] = [80, 65, 50];

/// The longest side below which no image is made smaller, in pixels.
const SMALLEST_SIDE: u32 = 16;

/// An image to be written.
pub(super) struct Source<'a> {
    /// The name of the image in errors.
    pub(super) name: &'a str,
    /// What was already changed, in words.
    pub(super) changes: Vec<String>,
    /// Whether the image was a JPEG.
    pub(super) is_photo: bool,
    /// The size before scaling, as shown.
    pub(super) size: (u32, u32),
    /// The color profile.
    pub(super) profile: Option<Vec<u8>>,
    /// The image, upright and scaled.
    pub(super) image: DynamicImage,
}

impl Source<'_> {
    /// Writes a photograph as JPEG and anything else as PNG; if that has more than `max_bytes`, as JPEG of falling
    /// quality, then with smaller sides.
    ///
    /// # Errors
    /// [`PictureError::CannotFit`] if it cannot be made small enough, and [`PictureError::Encode`].
    pub(super) fn encode(&self, max_bytes: usize) -> Result<Picture, PictureError> {
        let fits = |bytes: &Vec<u8>| bytes.len() <= max_bytes;
        let size = (self.image.width(), self.image.height());
        let mut changes = self.changes.clone();
        if size != self.size {
            changes.push(scaled_from(self.size));
        }
        if !self.is_photo {
            let bytes = self.png()?;
            if fits(&bytes) {
                changes.push("re-encoded as image/png".to_owned());
                return Ok(self.picture("image/png", size, changes, bytes));
            }
        }
        let (opaque, had_alpha) = opaque(&self.image);
        if had_alpha {
            changes.push("its transparency laid on white".to_owned());
        }
        let first = self.is_photo.then_some(QUALITY);
        let all = std::iter::once(QUALITY).chain(LOWER_QUALITIES);
        for quality in all {
            let bytes = self.jpeg(&opaque, quality)?;
            if fits(&bytes) {
                let reason = if first == Some(quality) { String::new() } else { because(quality, max_bytes) };
                changes.push(format!("re-encoded as image/jpeg{reason}"));
                return Ok(self.picture("image/jpeg", size, changes, bytes));
            }
        }
        self.shrink(opaque, max_bytes, changes)
    }

    /// The last resort: three quarters of each side until it fits.
    fn shrink(
        &self,
        mut opaque: DynamicImage,
        max_bytes: usize,
        mut changes: Vec<String>,
    ) -> Result<Picture, PictureError> {
        let [.., lowest] = LOWER_QUALITIES;
        loop {
            let longest = opaque.width().max(opaque.height());
            if longest <= SMALLEST_SIDE {
                return Err(PictureError::CannotFit { name: shown(self.name), max_bytes });
            }
            opaque = scale::down(opaque, (longest / 4 * 3).max(SMALLEST_SIDE));
            let bytes = self.jpeg(&opaque, lowest)?;
            if bytes.len() <= max_bytes {
                let scaled = scaled_from(self.size);
                changes.retain(|change| *change != scaled);
                changes.push(scaled);
                changes.push(format!("re-encoded as image/jpeg{}", because(lowest, max_bytes)));
                let size = (opaque.width(), opaque.height());
                return Ok(self.picture("image/jpeg", size, changes, bytes));
            }
        }
    }

    fn picture(
        &self,
        mime_type: &'static str,
        size: (u32, u32),
        changes: Vec<String>,
        bytes: Vec<u8>,
    ) -> Picture {
        let scaled_from = (size != self.size).then_some(self.size);
        Picture { scaled_from, ..Picture::new(mime_type, size, changes, bytes) }
    }

    fn png(&self) -> Result<Vec<u8>, PictureError> {
        let mut bytes = Vec::new();
        let mut encoder = PngEncoder::new(&mut bytes);
        let image = of_integers(&self.image);
        if let Some(profile) = self.profile_for(&image) {
            // An encoder that cannot store the profile leaves it out.
            let _ = encoder.set_icc_profile(profile);
        }
        image.write_with_encoder(encoder).map_err(|error| PictureError::encoder(self.name, error))?;
        Ok(bytes)
    }

    /// Writes `opaque`, which is 8-bit gray or RGB, as JPEG.
    fn jpeg(&self, opaque: &DynamicImage, quality: u8) -> Result<Vec<u8>, PictureError> {
        let mut bytes = Vec::new();
        let mut encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
        if let Some(profile) = self.profile_for(opaque) {
            // An image without its profile is still usable.
            let _ = encoder.set_icc_profile(profile);
        }
        opaque.write_with_encoder(encoder).map_err(|error| PictureError::encoder(self.name, error))?;
        Ok(bytes)
    }

    /// The profile, if it is one of the image's own colors (ICC.1:2022, 7.2.6): the profile of a CMYK image no longer
    /// applies, because decoding made it RGB.
    fn profile_for(&self, image: &DynamicImage) -> Option<Vec<u8>> {
        let space: &[u8] = if image.color().has_color() { b"RGB " } else { b"GRAY" };
        self.profile.clone().filter(|profile| profile.get(16..20) == Some(space))
    }
}

fn scaled_from((width, height): (u32, u32)) -> String {
    format!("scaled from {width} x {height}")
}

fn because(quality: u8, max_bytes: usize) -> String {
    format!(" of quality {quality} to have at most {max_bytes} bytes")
}

/// Converts floating-point colors, which PNG does not have.
fn of_integers(image: &DynamicImage) -> Cow<'_, DynamicImage> {
    match image {
        DynamicImage::ImageRgb32F(_) => Cow::Owned(image.to_rgb16().into()),
        DynamicImage::ImageRgba32F(_) => Cow::Owned(image.to_rgba16().into()),
        image => Cow::Borrowed(image),
    }
}

/// The image in 8-bit gray or RGB, with transparent parts laid on white, and whether there were any.
fn opaque(image: &DynamicImage) -> (DynamicImage, bool) {
    let color = image.color();
    if !color.has_alpha() {
        let gray = || DynamicImage::from(image.to_luma8());
        return (if color.has_color() { image.to_rgb8().into() } else { gray() }, false);
    }
    let over = |value: u8, alpha: u8| {
        let (value, alpha) = (u32::from(value), u32::from(alpha));
        u8::try_from((value * alpha + 255 * (255 - alpha) + 127) / 255).unwrap_or(u8::MAX)
    };
    if color.has_color() {
        let rgba = image.to_rgba8();
        let had_alpha = rgba.pixels().any(|pixel| pixel.0[3] < u8::MAX);
        let flat = RgbImage::from_fn(rgba.width(), rgba.height(), |x, y| {
            let [red, green, blue, alpha] = rgba.get_pixel(x, y).0;
            Rgb([over(red, alpha), over(green, alpha), over(blue, alpha)])
        });
        return (flat.into(), had_alpha);
    }
    let gray = image.to_luma_alpha8();
    let had_alpha = gray.pixels().any(|pixel| pixel.0[1] < u8::MAX);
    let flat = GrayImage::from_fn(gray.width(), gray.height(), |x, y| {
        let [value, alpha] = gray.get_pixel(x, y).0;
        image::Luma([over(value, alpha)])
    });
    (flat.into(), had_alpha)
}
