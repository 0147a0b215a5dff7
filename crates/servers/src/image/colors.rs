//! The tools that change colors in place: gray and sepia, and one image over another.

use image::{Rgba, RgbaImage};
use serde::Deserialize;

use super::arguments::Pixels;
use super::canvas::{byte, lay_over};
use super::failure::Failure;
use super::{Edit, read};
use crate::Workspace;

/// Arguments of `change_color`.
#[derive(Debug, Deserialize)]
pub(super) struct ChangeColor {
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
    #[serde(rename = "overlay_image_path")]
    above: String,
    x: Pixels,
    y: Pixels,
}

impl Edit for ChangeColor {
    fn edit(&self, mut image: RgbaImage, _: &Workspace) -> Result<RgbaImage, Failure> {
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
    const INPUT: &'static str = "base_image_path";

    fn edit(&self, mut image: RgbaImage, workspace: &Workspace) -> Result<RgbaImage, Failure> {
        let above = read(workspace, &self.above)?;
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
        let (width, height) = above.dimensions();
        let what = format!("the image on top, {width} x {height} pixels at ({left}, {top}),");
        Err(Failure::no_pixel(what, &image, "x and y are where its top left corner goes"))
    }
}
