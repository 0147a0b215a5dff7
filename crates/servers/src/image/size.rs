//! The tools that change an image's size: crop, resize, rotate.

use image::imageops::{self, FilterType};
use image::{Rgba, RgbaImage};
use m3_images::LARGEST_SIDE;
use serde::Deserialize;

use super::arguments::Pixels;
use super::failure::Failure;
use super::{Edit, MOST_PIXELS};
use crate::Workspace;
use crate::turn::Turn;

/// Arguments of `crop`.
#[derive(Debug, Deserialize)]
pub(super) struct Crop {
    x1: Pixels,
    y1: Pixels,
    x2: Pixels,
    y2: Pixels,
}

/// Arguments of `resize`.
#[derive(Debug, Deserialize)]
pub(super) struct Resize {
    width: Option<Pixels>,
    height: Option<Pixels>,
    scale_factor: Option<f64>,
    interpolation: Option<Method>,
}

/// How new pixels are computed from old ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Method {
    Nearest,
    #[default]
    Linear,
    Area,
    Cubic,
    Lanczos,
}

/// Arguments of `rotate`.
#[derive(Debug, Deserialize)]
pub(super) struct Rotate {
    angle: f64,
}

impl Edit for Crop {
    fn edit(&self, image: RgbaImage, _: &Workspace) -> Result<RgbaImage, Failure> {
        let (width, height) = image.dimensions();
        let cut = |from: Pixels, to: Pixels, side: u32| {
            let within = |edge: Pixels| u32::try_from(edge.whole().max(0)).unwrap_or(u32::MAX).min(side);
            let (from, to) = (within(from), within(to));
            (from < to).then(|| (from, to - from))
        };
        let (Some((left, columns)), Some((top, rows))) =
            (cut(self.x1, self.x2, width), cut(self.y1, self.y2, height))
        else {
            let [x1, y1, x2, y2] = [self.x1, self.y1, self.x2, self.y2].map(Pixels::whole);
            let what = format!("the rectangle from ({x1}, {y1}) to ({x2}, {y2})");
            let hint = "x1 must be less than x2, y1 less than y2, and part of it inside of the image";
            return Err(Failure::no_pixel(what, &image, hint));
        };
        Ok(imageops::crop_imm(&image, left, top, columns, rows).to_image())
    }
}

impl Edit for Resize {
    fn edit(&self, image: RgbaImage, _: &Workspace) -> Result<RgbaImage, Failure> {
        let (width, height) = self.new_size(image.dimensions())?;
        let filter = match self.interpolation.unwrap_or_default() {
            Method::Nearest => FilterType::Nearest,
            Method::Area if width <= image.width() && height <= image.height() => {
                return Ok(averaged(&image, width, height));
            }
            // If there is nothing to average, OpenCV's `INTER_AREA` is linear too.
            Method::Linear | Method::Area => FilterType::Triangle,
            Method::Cubic => FilterType::CatmullRom,
            Method::Lanczos => FilterType::Lanczos3,
        };
        // Between the two directions, the intermediate image has the old width and the new height, with 16 bytes a
        // pixel. If that is larger than both images, the other order is not.
        let is_high = u64::from(image.width()) * u64::from(height) > MOST_PIXELS;
        let image = if is_high { imageops::resize(&image, width, image.height(), filter) } else { image };
        Ok(imageops::resize(&image, width, height, filter))
    }
}

/// Each new pixel is the mean of the old pixels that it covers.
fn averaged(image: &RgbaImage, width: u32, height: u32) -> RgbaImage {
    // `thumbnail` adds up in 32 bits, enough for 16 million pixels.
    if width * height < 4 && image.width() > 64 && image.height() > 64 {
        return imageops::thumbnail(&imageops::thumbnail(image, 64, 64), width, height);
    }
    imageops::thumbnail(image, width, height)
}

impl Resize {
    /// The new size. Missing sides are computed and rounded down, as in `imagesorcery-mcp`, but to at least 1.
    fn new_size(&self, (width, height): (u32, u32)) -> Result<(u32, u32), Failure> {
        let (width, height) = (f64::from(width), f64::from(height));
        for (argument, side) in [("width", self.width), ("height", self.height)] {
            if self.scale_factor.is_none() && side.is_some_and(|side| side.0 < 1.0) {
                return Err(Failure::argument(argument, "is less than 1"));
            }
        }
        let size = match (self.scale_factor, self.width, self.height) {
            (Some(factor), ..) if factor > 0.0 => (width * factor, height * factor),
            (Some(_), ..) => return Err(Failure::argument("scale_factor", "is not above 0")),
            (None, Some(new_width), Some(new_height)) => (new_width.0, new_height.0),
            (None, Some(new_width), None) => (new_width.0, height * new_width.0 / width),
            (None, None, Some(new_height)) => (width * new_height.0 / height, new_height.0),
            (None, None, None) => {
                return Err(Failure::argument(
                    "width",
                    "is missing, and so are height and scale_factor; name one",
                ));
            }
        };
        allowed(size)
    }
}

impl Edit for Rotate {
    fn edit(&self, image: RgbaImage, _: &Workspace) -> Result<RgbaImage, Failure> {
        let angle = self.angle.rem_euclid(360.0);
        // Turning by quarters moves pixels unchanged.
        let quarters = [0.0, 90.0, 180.0, 270.0].iter().position(|&quarter| (angle - quarter).abs() < 1e-9);
        match quarters {
            Some(0) => Ok(image),
            Some(1) => Ok(imageops::rotate270(&image)),
            Some(2) => Ok(imageops::rotate180(&image)),
            Some(_) => Ok(imageops::rotate90(&image)),
            None => turned(&image, angle),
        }
    }
}

/// Turns counterclockwise, by an angle in degrees, into an image that holds all of the old one.
fn turned(image: &RgbaImage, angle: f64) -> Result<RgbaImage, Failure> {
    let (sine, cosine) = angle.to_radians().sin_cos();
    let (width, height) = (f64::from(image.width()), f64::from(image.height()));
    let (new_width, new_height) =
        allowed((width * cosine.abs() + height * sine.abs(), width * sine.abs() + height * cosine.abs()))?;
    let middle = |width: u32, height: u32| ((width as f32 - 1.0) / 2.0, (height as f32 - 1.0) / 2.0);
    let (x, y) = middle(image.width(), image.height());
    let (new_x, new_y) = middle(new_width, new_height);
    #[expect(clippy::cast_possible_truncation, reason = "a third decimal of a degree moves no pixel")]
    let clockwise = -angle.to_radians() as f32;
    let turn = Turn { angle: clockwise, center: (x, y), new_center: (new_x, new_y) };
    Ok(turn.of(image, (new_width, new_height), Rgba([0, 0, 0, u8::MAX])))
}

/// A size in whole pixels, if an image of this size is allowed.
fn allowed((width, height): (f64, f64)) -> Result<(u32, u32), Failure> {
    let largest = f64::from(LARGEST_SIDE);
    // A rounding error in a product must not cost a pixel.
    let (width, height) = ((width + 1e-6).floor().max(1.0), (height + 1e-6).floor().max(1.0));
    if width > largest || height > largest || width * height > MOST_PIXELS as f64 {
        // A number of 300 digits would not be readable.
        return Err(Failure::TooLarge { width: width.min(1e9), height: height.min(1e9) });
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 16384")]
    let size = (width as u32, height as u32);
    Ok(size)
}
