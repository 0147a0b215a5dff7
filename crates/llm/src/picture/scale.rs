//! Scaling images down in bounded memory.

use image::DynamicImage;
use image::imageops::FilterType;

/// The largest ratio of an image's sides to the wanted ones at which `CatmullRom` scales it directly. The intermediate
/// image of that filter takes 16 bytes for each pixel of the image's width and the wanted height, so larger images are
/// first averaged down to this ratio.
const AVERAGED_TO: u32 = 3;

/// The image with sides of at most `max_side` pixels, its aspect kept; unchanged if they fit already.
pub(super) fn down(image: DynamicImage, max_side: u32) -> DynamicImage {
    let (width, height) = fitting((image.width(), image.height()), max_side);
    if (width, height) == (image.width(), image.height()) {
        return image;
    }
    let (many_wide, many_high) = (width.saturating_mul(AVERAGED_TO), height.saturating_mul(AVERAGED_TO));
    let image = if image.width() > many_wide && image.height() > many_high {
        let averaged = image.thumbnail_exact(many_wide, many_high);
        drop(image);
        averaged
    } else {
        image
    };
    // This filter is a polynomial: others use functions that differ between machines.
    image.resize_exact(width, height, FilterType::CatmullRom)
}

/// The size with sides of at most `max_side`, its aspect kept up to rounding.
pub(super) fn fitting((width, height): (u32, u32), max_side: u32) -> (u32, u32) {
    let longest = u64::from(width.max(height));
    if longest <= u64::from(max_side) {
        return (width, height);
    }
    // Rounded to the nearest; never above `max_side`, since no side is above the longest one.
    let scaled = |side: u32| (u64::from(side) * u64::from(max_side) + longest / 2) / longest;
    let scaled = |side| u32::try_from(scaled(side)).unwrap_or(max_side).clamp(1, max_side);
    (scaled(width), scaled(height))
}
