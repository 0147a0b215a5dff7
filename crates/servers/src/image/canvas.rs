//! An image to draw on, and a limit on the work that one call may cause.

use image::{Rgba, RgbaImage};

use super::failure::Failure;
use super::spans::Shape;

/// The most pixels that one call may set or read: 20 times the largest image, some seconds.
const MOST_PIXELS_TOUCHED: u64 = 500_000_000;

/// The work that a call may still do.
#[derive(Debug)]
pub(super) struct Effort {
    /// In pixels that are set or read.
    remaining: u64,
}

impl Effort {
    /// The limit at the beginning of a call.
    pub(super) const fn new() -> Self {
        Self { remaining: MOST_PIXELS_TOUCHED }
    }

    /// Subtracts the work for this many pixels.
    ///
    /// # Errors
    /// [`Failure::TooMuch`].
    pub(super) fn spend(&mut self, pixels: u64) -> Result<(), Failure> {
        self.remaining = self.remaining.checked_sub(pixels).ok_or(Failure::TooMuch)?;
        Ok(())
    }
}

/// An image to draw on.
#[derive(Debug)]
pub(super) struct Canvas {
    pub(super) image: RgbaImage,
    pub(super) effort: Effort,
}

impl Canvas {
    pub(super) const fn new(image: RgbaImage) -> Self {
        Self { image, effort: Effort::new() }
    }

    /// Fills a shape with an opaque color, red first.
    ///
    /// # Errors
    /// [`Failure::TooMuch`].
    pub(super) fn fill(&mut self, shape: &Shape, [red, green, blue]: [u8; 3]) -> Result<(), Failure> {
        let size = self.image.dimensions();
        let pixel = [red, green, blue, u8::MAX];
        let painted = shape.spans(size, |row, columns| {
            let start = row as usize * size.0 as usize;
            let bytes = 4 * (start + columns.start as usize)..4 * (start + columns.end as usize);
            if let Some(part) = self.image.get_mut(bytes) {
                part.as_chunks_mut().0.fill(pixel);
            }
        });
        // Rows are walked through even if nothing is painted in them.
        self.effort.spend(painted + u64::from(size.1))
    }
}

/// Lays a color over a pixel: "source over" of Porter and Duff, Compositing Digital Images (1984), with straight
/// alpha and rounding to the nearest.
pub(super) fn lay_over(below: &mut Rgba<u8>, above: Rgba<u8>) {
    let [.., alpha_above] = above.0.map(u32::from);
    let [.., alpha_below] = below.0.map(u32::from);
    let (weight_above, weight_below) = (alpha_above * 255, alpha_below * (255 - alpha_above));
    // The alpha of both, times 255.
    let weight = weight_above + weight_below;
    if weight == 0 {
        return;
    }
    for (below, above) in below.0.iter_mut().zip(above.0).take(3) {
        let mixed = u32::from(above) * weight_above + u32::from(*below) * weight_below;
        *below = byte((mixed + weight / 2) / weight);
    }
    below.0[3] = byte((weight + 127) / 255);
}

/// Converts a number that is at most 255.
pub(super) fn byte(value: u32) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}
