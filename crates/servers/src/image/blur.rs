//! The tool that blurs areas of an image, or everything else.

use image::imageops::{self, GaussianBlurParameters};
use image::{DynamicImage, RgbaImage};
use serde::Deserialize;

use super::Edit;
use super::arguments::{Pixels, few};
use super::canvas::Effort;
use super::failure::Failure;
use super::spans::{Edges, Point, Shape};
use crate::Workspace;

/// Arguments of `blur`.
#[derive(Debug, Deserialize)]
pub(super) struct Blur {
    areas: Vec<Area>,
    #[serde(default)]
    invert_areas: bool,
}

#[derive(Debug, Deserialize)]
struct Area {
    x1: Option<Pixels>,
    y1: Option<Pixels>,
    x2: Option<Pixels>,
    y2: Option<Pixels>,
    polygon: Option<Vec<Vec<Pixels>>>,
    blur_strength: Option<Pixels>,
}

/// The default size of the kernel, in pixels.
const USUAL_STRENGTH: u16 = 15;

/// The most corners of one polygon.
const MOST_CORNERS: usize = 1_000;

/// The largest product of pixels and kernel that is computed as defined, in a second or so. Beyond it three box blurs
/// approximate the Gaussian, whose time does not depend on the kernel.
const MOST_EXACT: u64 = 200_000_000;

impl Edit for Blur {
    fn edit(&self, image: RgbaImage, _: &Workspace) -> Result<RgbaImage, Failure> {
        few("areas", &self.areas)?;
        let areas = self.areas.iter().enumerate();
        let areas: Vec<(Shape, Kernel)> = areas
            .map(|(index, area)| {
                let place = format!("areas[{index}]");
                Ok((area.shape(&place)?, area.kernel(&place)?))
            })
            .collect::<Result<_, Failure>>()?;
        if self.invert_areas { all_but(&areas, &image) } else { each(&areas, &image) }
    }
}

/// Blurs each area by its own strength, always starting from the original image.
fn each(areas: &[(Shape, Kernel)], image: &RgbaImage) -> Result<RgbaImage, Failure> {
    let mut effort = Effort::new();
    let mut out = image.clone();
    for (index, (shape, kernel)) in areas.iter().enumerate() {
        effort.spend(walk(shape, image))?;
        let bounds = Bounds::around(shape, image, *kernel).ok_or_else(|| outside(index, image))?;
        let part = imageops::crop_imm(image, bounds.left, bounds.top, bounds.width, bounds.height).to_image();
        let blurred = kernel.blurred(part, &mut effort)?;
        shape.spans(image.dimensions(), |row, columns| {
            for column in columns {
                out.put_pixel(column, row, *blurred.get_pixel(column - bounds.left, row - bounds.top));
            }
        });
    }
    Ok(out)
}

/// Blurs the whole image by the strength of the first area and puts the areas back.
fn all_but(areas: &[(Shape, Kernel)], image: &RgbaImage) -> Result<RgbaImage, Failure> {
    let mut effort = Effort::new();
    let kernel = areas.first().map_or(Kernel { size: USUAL_STRENGTH }, |(_, kernel)| *kernel);
    let mut out = kernel.blurred(image.clone(), &mut effort)?;
    for (index, (shape, _)) in areas.iter().enumerate() {
        effort.spend(walk(shape, image))?;
        let painted = shape.spans(image.dimensions(), |row, columns| {
            for column in columns {
                out.put_pixel(column, row, *image.get_pixel(column, row));
            }
        });
        if painted == 0 {
            return Err(outside(index, image));
        }
        effort.spend(painted)?;
    }
    Ok(out)
}

/// An area outside of the image is an error: otherwise a caller would wrongly believe that a face is blurred.
fn outside(index: usize, image: &RgbaImage) -> Failure {
    let hint = "coordinates are pixels from the top left corner";
    Failure::no_pixel(format!("`areas[{index}]`"), image, hint)
}

/// The work of walking through a shape, compared to setting pixels: each edge of a polygon is checked in every row.
fn walk(shape: &Shape, image: &RgbaImage) -> u64 {
    let edges = if let Shape::Polygon(corners) = shape { corners.len() as u64 } else { 1 };
    8 * edges * u64::from(image.height())
}

/// A Gaussian kernel.
#[derive(Debug, Clone, Copy)]
struct Kernel {
    /// The side in pixels, odd.
    size: u16,
}

impl Kernel {
    fn blurred(self, image: RgbaImage, effort: &mut Effort) -> Result<RgbaImage, Failure> {
        let pixels = u64::from(image.width()) * u64::from(image.height());
        let exact = pixels * u64::from(self.size);
        if exact > MOST_EXACT {
            // Three passes in two directions.
            effort.spend(6 * pixels)?;
            return Ok(imageops::fast_blur(&image, self.sigma()));
        }
        effort.spend(exact / 4)?;
        let parameters = GaussianBlurParameters::new_from_kernel_size(f32::from(self.size));
        Ok(DynamicImage::from(image).blur_advanced(parameters).into_rgba8())
    }

    /// The standard deviation that OpenCV gives a kernel of this size (`getGaussianKernel`), in pixels, as
    /// `GaussianBlurParameters` do too.
    fn sigma(self) -> f32 {
        0.3 * ((f32::from(self.size) - 1.0) * 0.5 - 1.0) + 0.8
    }
}

/// A part of an image with all pixels that the blur of an area depends on.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
}

impl Bounds {
    fn around(shape: &Shape, image: &RgbaImage, kernel: Kernel) -> Option<Self> {
        let (width, height) = image.dimensions();
        let (mut left, mut top, mut right, mut bottom) = (u32::MAX, u32::MAX, 0, 0);
        shape.spans((width, height), |row, columns| {
            (left, top) = (left.min(columns.start), top.min(row));
            (right, bottom) = (right.max(columns.end), bottom.max(row + 1));
        });
        // The kernel reaches half its size; three box blurs instead of it reach little farther.
        let reach = u32::from(kernel.size);
        let (from_left, from_top) = (left.saturating_sub(reach), top.saturating_sub(reach));
        (left < right && top < bottom).then(|| Self {
            left: from_left,
            top: from_top,
            width: (right + reach).min(width) - from_left,
            height: (bottom + reach).min(height) - from_top,
        })
    }
}

impl Area {
    /// A polygon if there is one, else the rectangle.
    fn shape(&self, place: &str) -> Result<Shape, Failure> {
        if let Some(corners) = &self.polygon {
            let argument = format!("{place}.polygon");
            if corners.is_empty() || corners.len() > MOST_CORNERS {
                return Err(Failure::argument(argument, "does not have 1 to 1000 corners"));
            }
            let corner = |corner: &Vec<Pixels>| match corner.as_slice() {
                [x, y] => Some(Point { x: x.0, y: y.0 }),
                _ => None,
            };
            let Some(corners) = corners.iter().map(corner).collect() else {
                return Err(Failure::argument(argument, "has a corner that is not two numbers, [x, y]"));
            };
            return Ok(Shape::Polygon(corners));
        }
        let (Some(x1), Some(y1), Some(x2), Some(y2)) = (self.x1, self.y1, self.x2, self.y2) else {
            return Err(Failure::argument(place, "has neither `x1`, `y1`, `x2` and `y2` nor `polygon`"));
        };
        Ok(Shape::Rectangle(Edges::between(Point { x: x1.0, y: y1.0 }, Point { x: x2.0, y: y2.0 })))
    }

    /// The kernel; an even size is increased by one to make it odd.
    fn kernel(&self, place: &str) -> Result<Kernel, Failure> {
        let strength = self.blur_strength.map_or(i64::from(USUAL_STRENGTH), Pixels::whole);
        let allowed = u16::try_from(strength).ok().filter(|strength| (1..=999).contains(strength));
        let refused = || Failure::argument(format!("{place}.blur_strength"), "is not between 1 and 999");
        allowed.map(|strength| Kernel { size: strength | 1 }).ok_or_else(refused)
    }
}
