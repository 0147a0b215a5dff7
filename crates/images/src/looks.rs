//! Whether two files hold the same picture: pixel for pixel, or to the eye, for example if one is smaller or was
//! compressed with losses.

use std::path::Path;

use image::imageops;
use image::{DynamicImage, GenericImageView as _, Pixel as _, Rgb, RgbImage};
use m3_support::text::hash_of_bytes;

use crate::{ImageFileError, read};

/// The side of the small copies that are compared, in pixels.
const SIDE: u32 = 32;

/// The greatest mean difference of two small copies that look the same, of 255: scaling by other rules and JPEG of
/// quality 90 stay below.
const ALIKE: f64 = 4.0;

/// The greatest difference of two ratios of width to height that count as one, as a share: a scaled side is a whole
/// number of pixels.
const RATIO: f64 = 0.02;

/// The look of a picture, small enough to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looks {
    /// Width and height in pixels, as it is shown.
    pub pixels: (u32, u32),
    /// The hash of all pixels.
    hash: String,
    /// Red, green and blue of a small copy on white.
    small: Vec<u8>,
}

impl Looks {
    /// The look of the picture in a file. The whole picture is decoded, which needs time and memory.
    ///
    /// # Errors
    /// [`ImageFileError`], also for a picture of more than `most_pixels`.
    pub fn of_file(path: &Path, most_pixels: u64) -> Result<Self, ImageFileError> {
        Ok(Self::from_image(&read(path, most_pixels)?))
    }

    fn from_image(image: &DynamicImage) -> Self {
        let pixels = image.dimensions();
        let hash = hash_of_bytes(image.to_rgba8().as_raw());
        let small = imageops::thumbnail(&on_white(image), SIDE, SIDE);
        Self { pixels, hash, small: small.into_raw() }
    }

    /// Whether both have the same pixels.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.pixels == other.pixels && self.hash == other.hash
    }

    /// How far apart two pictures of one shape are to the eye, from 0 to 255; `None` if they are clearly different
    /// pictures.
    #[must_use]
    pub fn distance(&self, other: &Self) -> Option<f64> {
        if !have_one_shape(self.pixels, other.pixels) {
            return None;
        }
        let apart = self.small.iter().zip(&other.small).map(|(one, other)| f64::from(one.abs_diff(*other)));
        let distance = apart.sum::<f64>() / f64::from(3 * SIDE * SIDE);
        (distance <= ALIKE).then_some(distance)
    }
}

/// Whether pictures of these sizes have the same ratio of width to height.
#[must_use]
pub fn have_one_shape(one: (u32, u32), other: (u32, u32)) -> bool {
    let ratio = |(width, height): (u32, u32)| f64::from(width.max(1)) / f64::from(height.max(1));
    let (one, other) = (ratio(one), ratio(other));
    (one - other).abs() <= RATIO * one.max(other)
}

/// The picture on a white ground, as formats without transparency show it.
fn on_white(image: &DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.to_rgb8();
    }
    let image = image.to_rgba8();
    RgbImage::from_fn(image.width(), image.height(), |x, y| {
        let mut paper = image::Rgba([u8::MAX; 4]);
        paper.blend(image.get_pixel(x, y));
        let [red, green, blue, _] = paper.0;
        Rgb([red, green, blue])
    })
}

#[cfg(test)]
mod tests {
    use image::Rgba;
    use image::RgbaImage;

    use super::*;

    /// A picture of coloured stripes.
    fn stripes(width: u32, height: u32) -> DynamicImage {
        let stripe = |x: u32| if (x * 6 / width).is_multiple_of(2) { [200, 40, 10] } else { [20, 90, 220] };
        RgbImage::from_fn(width, height, |x, _| Rgb(stripe(x))).into()
    }

    fn saved(image: &DynamicImage, name: &str) -> Looks {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        image.save(&path).unwrap();
        Looks::of_file(&path, 1_000_000).unwrap()
    }

    #[test]
    fn a_picture_is_itself_in_any_format_without_losses() {
        let image = stripes(120, 80);
        assert!(saved(&image, "a.png").is_same(&saved(&image, "a.bmp")));
        assert!(!saved(&image, "a.png").is_same(&saved(&image.fliph(), "a.png")));
    }

    #[test]
    fn a_smaller_copy_and_a_jpeg_are_alike_and_another_picture_is_not() {
        let (image, other) = (stripes(120, 80), stripes(120, 80).fliph());
        let looks = saved(&image, "a.png");
        for like in [
            saved(&image, "a.jpg"),
            saved(&image.thumbnail(60, 40), "a.png"),
            saved(&image.resize(50, 33, imageops::FilterType::Triangle), "a.png"),
        ] {
            assert!(!looks.is_same(&like) && looks.distance(&like).is_some(), "{:?}", like.pixels);
        }
        for unlike in [saved(&other, "a.png"), saved(&stripes(80, 120), "a.png")] {
            assert_eq!(looks.distance(&unlike), None, "{:?}", unlike.pixels);
        }
    }

    #[test]
    fn transparency_is_white_where_a_format_has_none() {
        let clear = RgbaImage::from_fn(40, 40, |x, _| Rgba([250, 20, 20, if x < 20 { 0 } else { 255 }]));
        let opaque = RgbImage::from_fn(40, 40, |x, _| Rgb(if x < 20 { [255; 3] } else { [250, 20, 20] }));
        let (clear, opaque) = (saved(&clear.into(), "a.png"), saved(&opaque.into(), "a.png"));
        assert!(!clear.is_same(&opaque));
        assert_eq!(clear.distance(&opaque), Some(0.0));
    }
}
