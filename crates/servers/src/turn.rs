//! Turns images by any angle.

use image::{ImageBuffer, Pixel};

/// An image of bytes.
type Image<P> = ImageBuffer<P, Vec<u8>>;

/// A turn about a point of an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    /// The angle, clockwise, in radians.
    pub(crate) angle: f32,
    /// The point of the old image around which it turns.
    pub(crate) center: (f32, f32),
    /// The position of this point in the new image.
    pub(crate) new_center: (f32, f32),
}

impl Turn {
    /// Turns an image into a new one of this size, whose pixels around the old image are `outside`. A new pixel is the mean
    /// of the four old pixels around its place, weighted by distance.
    pub(crate) fn of<P: Pixel<Subpixel = u8>>(
        self,
        image: &Image<P>,
        (width, height): (u32, u32),
        outside: P,
    ) -> Image<P> {
        let Self { angle, center, new_center } = self;
        let (sine, cosine) = angle.sin_cos();
        // The point of the old image that becomes the first pixel.
        let start = (
            cosine * -new_center.0 + sine * -new_center.1 + center.0,
            -sine * -new_center.0 + cosine * -new_center.1 + center.1,
        );
        Image::from_fn(width, height, |x, y| {
            let (x, y) = (x as f32, y as f32);
            between(image, (cosine * x + sine * y + start.0, -sine * x + cosine * y + start.1), outside)
        })
    }
}

/// The mean of the four pixels around a point, weighted by distance.
fn between<P: Pixel<Subpixel = u8>>(image: &Image<P>, (x, y): (f32, f32), outside: P) -> P {
    let (left, top) = (x.floor(), y.floor());
    let (right_weight, bottom_weight) = (x - left, y - top);
    #[expect(clippy::cast_possible_truncation, reason = "images have fewer pixels than that")]
    let (left, top) = (left as i64, top as i64);
    let pixel = |x: i64, y: i64| {
        let (x, y) = (u32::try_from(x).ok(), u32::try_from(y).ok());
        x.zip(y).and_then(|(x, y)| image.get_pixel_checked(x, y)).copied().unwrap_or(outside)
    };
    let upper = pixel(left, top).map2(&pixel(left + 1, top), |a, b| mean(a, b, right_weight));
    let lower = pixel(left, top + 1).map2(&pixel(left + 1, top + 1), |a, b| mean(a, b, right_weight));
    upper.map2(&lower, |a, b| mean(a, b, bottom_weight))
}

/// The weighted mean of two values, rounded down.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats stop at the ends of the range"
)]
fn mean(a: u8, b: u8, weight_of_b: f32) -> u8 {
    ((1.0 - weight_of_b) * f32::from(a) + weight_of_b * f32::from(b)) as u8
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{FRAC_PI_2, PI};

    use image::{GrayImage, Luma, Rgba, RgbaImage};

    use super::*;

    #[test]
    fn a_quarter_moves_pixels_clockwise() {
        let image = GrayImage::from_raw(2, 2, vec![10, 20, 30, 40]).unwrap();
        let turn = Turn { angle: FRAC_PI_2, center: (0.5, 0.5), new_center: (0.5, 0.5) };
        let turned = turn.of(&image, (2, 2), Luma([0]));
        // The angle is not exactly a quarter turn, and means are rounded down.
        let expected = [30_u8, 10, 40, 20];
        assert!(turned.iter().zip(expected).all(|(found, expected)| expected - found <= 1), "{turned:?}");
    }

    #[test]
    fn what_is_outside_has_its_own_colour_and_edges_are_mixed() {
        let image = RgbaImage::from_pixel(3, 1, Rgba([200, 100, 0, 255]));
        // Half a pixel to the right.
        let turn = Turn { angle: 0.0, center: (0.0, 0.0), new_center: (0.5, 0.0) };
        let moved = turn.of(&image, (5, 1), Rgba([0, 0, 0, 55]));
        let rows: Vec<[u8; 4]> = moved.pixels().map(|pixel| pixel.0).collect();
        let (full, half, none) = ([200, 100, 0, 255], [100, 50, 0, 155], [0, 0, 0, 55]);
        assert_eq!(rows, [half, full, full, half, none]);
    }

    #[test]
    fn half_a_turn_of_half_a_turn_is_nearly_nothing() {
        let image = GrayImage::from_fn(40, 30, |x, y| Luma([u8::try_from(x * 3 + y).unwrap()]));
        let turn = Turn { angle: PI, center: (19.5, 14.5), new_center: (19.5, 14.5) };
        let back = turn.of(&turn.of(&image, (40, 30), Luma([0])), (40, 30), Luma([0]));
        let inner = |x: u32, y: u32| back.get_pixel(x, y).0[0].abs_diff(image.get_pixel(x, y).0[0]);
        assert!((1..39).all(|x| (1..29).all(|y| inner(x, y) <= 2)));
    }
}
