//! The tools that change colors in place: gray and sepia, and one image over another.

use image::{Rgba, RgbaImage};
use serde::Deserialize;

use super::arguments::Pixels;
use super::canvas::{byte, lay_over};
use super::failure::Failure;
use super::{Edit, Images};

/// Arguments of `change_color`.
#[derive(Debug, Deserialize)]
pub(super) struct ChangeColor {
    input_path: String,
    output_path: Option<String>,
    palette: Palette,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Palette {
    Grayscale,
    Sepia,
}

/// Luma of ITU-R BT.601, in thousandths of red, green and blue; OpenCV's `COLOR_BGR2GRAY` has the same.
const LUMA: [u32; 3] = [299, 587, 114];

/// For red, green and blue of the result: the weights of red, green and blue of the original, in thousandths. From
/// `sepia(1)` in W3C Filter Effects Module Level 1, section "Sepia".
const SEPIA: [[u32; 3]; 3] = [[393, 769, 189], [349, 686, 168], [272, 534, 131]];

/// Arguments of `overlay`.
#[derive(Debug, Deserialize)]
pub(super) struct Overlay {
    #[serde(rename = "base_image_path")]
    below: String,
    #[serde(rename = "overlay_image_path")]
    above: String,
    output_path: Option<String>,
    x: Pixels,
    y: Pixels,
}

impl Edit for ChangeColor {
    fn paths(&self) -> (&str, Option<&str>) {
        (&self.input_path, self.output_path.as_deref())
    }

    fn suffix(&self) -> &'static str {
        match self.palette {
            Palette::Grayscale => "_grayscale",
            Palette::Sepia => "_sepia",
        }
    }

    fn edit(&self, mut image: RgbaImage, _: &Images) -> Result<RgbaImage, Failure> {
        let matrix = match self.palette {
            Palette::Grayscale => [LUMA; 3],
            Palette::Sepia => SEPIA,
        };
        for pixel in image.pixels_mut() {
            let Rgba([red, green, blue, alpha]) = *pixel;
            let [red, green, blue] = [red, green, blue].map(u32::from);
            let [red, green, blue] =
                matrix.map(|[r, g, b]| byte((r * red + g * green + b * blue + 500) / 1000));
            *pixel = Rgba([red, green, blue, alpha]);
        }
        Ok(image)
    }
}

impl Edit for Overlay {
    fn paths(&self) -> (&str, Option<&str>) {
        (&self.below, self.output_path.as_deref())
    }

    fn suffix(&self) -> &'static str {
        "_overlaid"
    }

    fn edit(&self, mut image: RgbaImage, images: &Images) -> Result<RgbaImage, Failure> {
        let above = images.read(&self.above)?;
        let (left, top) = (self.x.whole(), self.y.whole());
        let mut is_inside = false;
        for (x, y, &pixel) in above.enumerate_pixels() {
            let place = (u32::try_from(left + i64::from(x)), u32::try_from(top + i64::from(y)));
            let (Ok(x), Ok(y)) = place else { continue };
            if let Some(below) = image.get_pixel_mut_checked(x, y) {
                lay_over(below, pixel);
                is_inside = true;
            }
        }
        if is_inside {
            return Ok(image);
        }
        Err(Failure::NoPixel {
            what: format!(
                "the image on top, {} x {} pixels at ({left}, {top}),",
                above.width(),
                above.height()
            ),
            width: image.width(),
            height: image.height(),
            hint: "x and y are where its top left corner goes",
        })
    }
}
