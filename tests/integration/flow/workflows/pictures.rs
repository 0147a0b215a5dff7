//! When two files show the same picture: their sides differ by at most 2 pixels, and the part that both have by less than 1
//! of 255 on the mean, or 4 where the sizes differ.

use std::io::Cursor;

use image::{ImageReader, RgbImage};

/// Sides of one picture may differ by this, in pixels.
const SIDES: u32 = 2;

/// Whether a file is a picture.
pub(crate) fn is_picture(content: &[u8]) -> bool {
    image::guess_format(content).is_ok()
}

/// Whether two files show the same picture, or are the same.
pub(crate) fn alike(first: &[u8], second: &[u8]) -> bool {
    if first == second {
        return true;
    }
    // Most pictures that differ have other sizes, which need no decoding.
    let sides =
        |content| ImageReader::new(Cursor::new(content)).with_guessed_format().ok()?.into_dimensions().ok();
    let (Some(one), Some(two)) = (sides(first), sides(second)) else { return false };
    if one.0.abs_diff(two.0).max(one.1.abs_diff(two.1)) > SIDES {
        return false;
    }
    let read = |content| image::load_from_memory(content).ok().map(|picture| picture.to_rgb8());
    match (read(first), read(second)) {
        (Some(first), Some(second)) => alike_pictures(&first, &second),
        _ => false,
    }
}

/// Whether two pictures are one.
pub(crate) fn alike_pictures(first: &RgbImage, second: &RgbImage) -> bool {
    let (width, height) = (first.width().min(second.width()), first.height().min(second.height()));
    let differ = first.width().abs_diff(second.width()).max(first.height().abs_diff(second.height()));
    if differ > SIDES {
        return false;
    }
    let most = 3 * u64::from(width) * u64::from(height) * if differ == 0 { 1 } else { 4 };
    let length = 3 * width as usize;
    let rows = |picture: &RgbImage| picture.width() as usize * 3;
    let mut sum = 0;
    for (one, two) in first.chunks_exact(rows(first)).zip(second.chunks_exact(rows(second))) {
        if one[..length] != two[..length] {
            sum +=
                one[..length].iter().zip(&two[..length]).map(|(a, b)| u64::from(a.abs_diff(*b))).sum::<u64>();
        }
        if sum >= most {
            return false;
        }
    }
    true
}
