//! The likeness of two pictures, by their pixels.

use image::{Rgba, RgbaImage};

use super::{ImageFileError, OpenedImage};

/// Pictures with more pixels are not compared.
const MOST_PIXELS: u64 = 16 << 20;

/// The most pixels by which the sides of two copies of one picture may differ: tools round differently.
const SIDES: u32 = 2;

/// The mean difference of channels, of 255, from which on two pictures of one size are different pictures: encoders
/// change less than this.
const SAME: f64 = 1.0;

/// The mean difference of channels from which on two pictures of different sizes are different: their edges fall
/// elsewhere.
const SAME_OF_OTHER_SIZE: f64 = 4.0;

/// The sides of the parts of a picture that are compared one by one.
const PART: u32 = 16;

/// The ratio of a part's difference to that of the whole from which on the part is a change of its own, if it also
/// differs by at least [`SEEN`]. Encoders differ all over a picture (by a ratio of up to 28, in the small benchmark's
/// pictures as JPEG and WebP), one digit in place of another only in one place (by 60 and more).
const CONCENTRATED: f64 = 40.0;

/// The mean difference of a part from which on the difference is seen; rounding stays below 1.
const SEEN: f64 = 2.0;

/// The mean difference from which on nothing is alike: half of that of two unrelated photographs.
const UNLIKE: f64 = 32.0;

/// The likeness of two pictures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    /// The likeness in [0, 1]: 1 for the same pixels, 0 if the sides differ by more than 2 pixels or the mean
    /// difference of channels is 32 of 255 or more, else 1 - difference / 32.
    pub likeness: f64,
    /// Whether they count as one picture. For one size, the mean difference must be below 1 of 255, and no part of 16
    /// by 16 pixels may have a mean difference of 2 or more that is also 40 times that of the whole or more. For
    /// different sizes, the mean difference must be below 4.
    pub is_same: bool,
    /// The share of pixels that differ in any channel, in the part that both pictures have; 1 if their sides differ by
    /// more than 2 pixels.
    pub changed: f64,
}

/// A picture's pixels as they are shown, from the bytes of its file; of an animation the first.
///
/// # Errors
/// [`ImageFileError`], also for more than 16 million pixels.
pub fn pixels(bytes: &[u8]) -> Result<RgbaImage, ImageFileError> {
    Ok(OpenedImage::new(bytes)?.shown(MOST_PIXELS)?.into_rgba8())
}

/// Compares two pictures.
#[must_use]
pub fn compare(a: &RgbaImage, b: &RgbaImage) -> Likeness {
    let far = |x: u32, y: u32| x.abs_diff(y) > SIDES;
    let (width, height) = (a.width().min(b.width()), a.height().min(b.height()));
    if far(a.width(), b.width()) || far(a.height(), b.height()) || width == 0 || height == 0 {
        return Likeness { likeness: 0.0, is_same: false, changed: 1.0 };
    }
    let columns = width.div_ceil(PART) as usize;
    let mut parts = vec![0_u64; columns * height.div_ceil(PART) as usize];
    let mut changed = 0_u64;
    for y in 0..height {
        for x in 0..width {
            let (p, q) = (a.get_pixel(x, y).0, b.get_pixel(x, y).0);
            let difference: u64 = p.iter().zip(q).map(|(p, q)| u64::from(p.abs_diff(q))).sum();
            parts[(y / PART) as usize * columns + (x / PART) as usize] += difference;
            changed += u64::from(difference > 0);
        }
    }
    let pixels = u64::from(width) * u64::from(height);
    // Three channels: pictures without transparency all have the same fourth.
    let mean_of = |sum: u64, pixels: u64| sum as f64 / (3 * pixels) as f64;
    let mean = mean_of(parts.iter().sum(), pixels);
    let worst = mean_of(parts.iter().copied().max().unwrap_or_default(), u64::from(PART * PART));
    let is_concentrated = worst >= SEEN && worst >= CONCENTRATED * mean;
    let is_same = if a.dimensions() == b.dimensions() {
        mean < SAME && !is_concentrated
    } else {
        mean < SAME_OF_OTHER_SIZE
    };
    Likeness {
        likeness: (1.0 - mean / UNLIKE).clamp(0.0, 1.0),
        is_same,
        changed: changed as f64 / pixels as f64,
    }
}

/// The least brightness of a channel that differs at all, of 255, in a picture of differences.
const LEAST_SEEN: u16 = 48;

/// The factor by which a difference is drawn brighter than it is.
const AMPLIFIED: u16 = 4;

/// A picture of the differences of two pictures, on the part that both have: black where they are the same, brighter
/// the more they differ, amplified so that the least difference is seen.
#[must_use]
pub fn difference(a: &RgbaImage, b: &RgbaImage) -> RgbaImage {
    let (width, height) = (a.width().min(b.width()), a.height().min(b.height()));
    RgbaImage::from_fn(width, height, |x, y| {
        let (p, q) = (a.get_pixel(x, y).0, b.get_pixel(x, y).0);
        // A difference in transparency alone is seen in all channels.
        let clear = p[3].abs_diff(q[3]);
        let channel = |index: usize| match u16::from(p[index].abs_diff(q[index]).max(clear)) {
            0 => 0,
            difference => u8::try_from(LEAST_SEEN + AMPLIFIED * difference).unwrap_or(u8::MAX),
        };
        Rgba([channel(0), channel(1), channel(2), u8::MAX])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: u32, height: u32, value: u8) -> RgbaImage {
        RgbaImage::from_pixel(width, height, Rgba([value, value, value, 255]))
    }

    #[test]
    fn pictures_are_alike_by_their_mean_difference() {
        // By hand: 8 of 32 is a quarter less; half of the pixels by 1 is a mean of 0.5.
        assert_eq!(
            compare(&grey(4, 4, 9), &grey(4, 4, 9)),
            Likeness { likeness: 1.0, is_same: true, changed: 0.0 }
        );
        assert_eq!(
            compare(&grey(4, 4, 9), &grey(4, 4, 17)),
            Likeness { likeness: 0.75, is_same: false, changed: 1.0 }
        );
        let mut half = grey(4, 4, 9);
        for x in 0..4 {
            for y in 0..2 {
                half.put_pixel(x, y, Rgba([10, 10, 10, 255]));
            }
        }
        let likeness = compare(&grey(4, 4, 9), &half);
        assert_eq!(likeness, Likeness { likeness: 1.0 - 0.5 / 32.0, is_same: true, changed: 0.5 });
    }

    /// By hand: 24 pixels that differ by 200 are a mean of 0.0075 in 800 by 800 pixels, and of 18.75 in their part. A
    /// difference of 1 everywhere is a mean of 1 less one pixel.
    #[test]
    fn a_mark_is_another_picture_and_rounding_is_not() {
        let white = grey(800, 800, 255);
        let mut marked = white.clone();
        for x in 100..104 {
            for y in 100..106 {
                marked.put_pixel(x, y, Rgba([55, 55, 55, 255]));
            }
        }
        let likeness = compare(&white, &marked);
        assert!(!likeness.is_same && likeness.likeness > 0.999);
        let mut rounded = grey(800, 800, 254);
        rounded.put_pixel(0, 0, Rgba([255, 255, 255, 255]));
        assert!(compare(&white, &rounded).is_same);
    }

    #[test]
    fn sides_may_differ_by_two_pixels() {
        assert!(compare(&grey(10, 8, 9), &grey(12, 7, 11)).is_same);
        assert!(compare(&grey(10, 8, 9), &grey(13, 8, 9)).likeness.abs() < f64::EPSILON);
        assert!(!compare(&grey(10, 8, 9), &grey(11, 8, 14)).is_same);
        assert!(compare(&grey(0, 0, 0), &grey(0, 0, 0)).likeness.abs() < f64::EPSILON);
    }

    #[test]
    fn differences_are_seen_on_the_shared_part() {
        let mut other = grey(4, 3, 9);
        other.put_pixel(1, 0, Rgba([10, 9, 209, 255]));
        other.put_pixel(2, 0, Rgba([9, 9, 9, 0]));
        let image = difference(&grey(3, 8, 9), &other);
        assert_eq!(image.dimensions(), (3, 3));
        assert_eq!(image.get_pixel(0, 0).0, [0, 0, 0, 255]);
        // By hand: 48 + 4 x 1, and far more than 255.
        assert_eq!(image.get_pixel(1, 0).0, [52, 0, 255, 255]);
        assert_eq!(image.get_pixel(2, 0).0, [255, 255, 255, 255]);
        assert_eq!(difference(&grey(0, 0, 0), &grey(1, 1, 0)).dimensions(), (0, 0));
    }

    #[test]
    fn what_is_no_picture_has_no_pixels() {
        assert!(pixels(b"no picture").is_err());
        assert!(pixels(b"").is_err());
    }
}
