//! The tool that writes on an image, with the font that m3 ships.

use std::sync::LazyLock;

use ab_glyph::{Font as _, FontRef, Glyph, PxScale, ScaleFont as _, point};
use image::{Rgba, RgbaImage};
use m3_images::font::FONT;
use m3_support::text::visible;
use serde::Deserialize;

use super::Edit;
use super::arguments::{Color, Pixels, Thickness, few};
use super::canvas::{Canvas, lay_over};
use super::failure::Failure;
use crate::Workspace;

/// Arguments of `draw_texts`.
#[derive(Debug, Deserialize)]
pub(super) struct DrawTexts {
    texts: Vec<Text>,
}

#[derive(Debug, Deserialize)]
struct Text {
    #[serde(rename = "text")]
    content: String,
    x: Pixels,
    y: Pixels,
    #[serde(default = "one")]
    font_scale: f64,
    #[serde(default)]
    color: Color,
    #[serde(default)]
    thickness: Thickness,
}

/// The most bytes of all texts of one call.
const LONGEST: usize = 100_000;

/// Em of the font at `font_scale` 1, in pixels. OpenCV's `FONT_HERSHEY_SIMPLEX` has capitals of 21 pixels there;
/// those of DejaVu Sans are 1493 of 2048 units high.
const EM: f64 = 21.0 * 2048.0 / 1493.0;

/// Width of the font's upright strokes, in em: the letter l of DejaVu Sans is 184 of 2048 units wide.
const STROKE: f32 = 184.0 / 2048.0;

/// The most that strokes grow to each side, in em. More would fill the letters, and this is less than a stroke, so
/// there is no gap between copies.
const BOLDEST: f32 = 0.05;

static FONT_READ: LazyLock<Option<FontRef<'static>>> = LazyLock::new(|| FontRef::try_from_slice(FONT).ok());

const fn one() -> f64 {
    1.0
}

impl Edit for DrawTexts {
    fn edit(&self, image: RgbaImage, _: &Workspace) -> Result<RgbaImage, Failure> {
        few("texts", &self.texts)?;
        if self.texts.iter().map(|text| text.content.len()).sum::<usize>() > LONGEST {
            return Err(Failure::argument("texts", "have more than 100000 bytes together"));
        }
        let font = FONT_READ.as_ref().ok_or(Failure::Bug("the font cannot be read"))?;
        let mut canvas = Canvas::new(image);
        for (index, text) in self.texts.iter().enumerate() {
            text.draw(&format!("texts[{index}]"), font, &mut canvas)?;
        }
        Ok(canvas.image)
    }
}

impl Text {
    fn draw(&self, place: &str, font: &FontRef<'_>, canvas: &mut Canvas) -> Result<(), Failure> {
        if !(self.font_scale > 0.0 && self.font_scale <= 100.0) {
            let problem = "is not above 0 and at most 100";
            return Err(Failure::argument(format!("{place}.font_scale"), problem));
        }
        #[expect(clippy::cast_possible_truncation, reason = "a pixel more or less at a billion is not seen")]
        let (em, x, y, width) = (
            (EM * self.font_scale) as f32,
            self.x.0 as f32,
            self.y.0 as f32,
            self.thickness.line(place)? as f32,
        );
        let pen = Pen { font, em, offsets: offsets(em, width), color: self.color.red_first(place)? };
        let scaled = font.as_scaled(pen.scale());
        let step = scaled.height() + scaled.line_gap();
        let mut baseline = y;
        // Tabs are four spaces, line feeds begin a new line; other control characters are made visible.
        for line in self.content.replace('\t', "    ").split('\n') {
            let is_seen = baseline + em > 0.0 && baseline - 2.0 * em < canvas.image.height() as f32;
            if is_seen {
                pen.line(&visible(line.trim_end_matches('\r'), false), x, baseline, canvas)?;
            }
            baseline += step;
        }
        Ok(())
    }
}

/// How letters are drawn.
struct Pen<'a> {
    font: &'a FontRef<'a>,
    /// The em in pixels.
    em: f32,
    /// The offsets of the copies of each letter, which together are as bold as asked for.
    offsets: Vec<(i32, i32)>,
    color: [u8; 3],
}

impl Pen<'_> {
    /// The scale for `ab_glyph`, which measures a font by its height and not by its em.
    fn scale(&self) -> PxScale {
        let units = self.font.units_per_em().unwrap_or(2048.0);
        PxScale::from(self.em * self.font.height_unscaled() / units)
    }

    /// Draws one line from `x` to the image's right edge.
    fn line(&self, line: &str, x: f32, baseline: f32, canvas: &mut Canvas) -> Result<(), Failure> {
        let scaled = self.font.as_scaled(self.scale());
        let mut x = x;
        for c in line.chars() {
            if x - self.em > canvas.image.width() as f32 {
                break;
            }
            // A character that the font lacks has glyph 0, the empty box.
            let id = self.font.glyph_id(c);
            if x + 2.0 * self.em > 0.0 {
                self.letter(id.with_scale_and_position(self.scale(), point(x, baseline)), canvas)?;
            }
            x += scaled.h_advance(id);
        }
        Ok(())
    }

    /// Draws one letter: computes how much of each pixel it covers, and lays the color over the pixel by that much.
    fn letter(&self, glyph: Glyph, canvas: &mut Canvas) -> Result<(), Failure> {
        let Some(outline) = self.font.outline_glyph(glyph) else { return Ok(()) };
        let bounds = outline.px_bounds();
        let reach = self.offsets.iter().map(|&(x, _)| x).max().unwrap_or(0);
        #[expect(clippy::cast_possible_truncation, reason = "a few em from the image")]
        let (left, top) = (bounds.min.x as i32 - reach, bounds.min.y as i32 - reach);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few em")]
        let side = |length: f32| length.max(0.0) as u32 + 2 * reach.unsigned_abs();
        let (columns, rows) = (side(bounds.width()), side(bounds.height()));
        canvas.effort.spend(u64::from(columns) * u64::from(rows) * self.offsets.len() as u64)?;
        let mut cover = image::GrayImage::new(columns, rows);
        let mut thin = Vec::new();
        outline.draw(|x, y, part| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
            let part = (part.clamp(0.0, 1.0) * 255.0).round() as u8;
            if part > 0 {
                thin.push((x, y, part));
            }
        });
        for &(dx, dy) in &self.offsets {
            for &(x, y, part) in &thin {
                let (x, y) = (x.saturating_add_signed(dx + reach), y.saturating_add_signed(dy + reach));
                if let Some(pixel) = cover.get_pixel_mut_checked(x, y) {
                    pixel.0[0] = pixel.0[0].max(part);
                }
            }
        }
        let [red, green, blue] = self.color;
        for (x, y, part) in cover.enumerate_pixels() {
            let (Some(x), Some(y)) = (x.checked_add_signed(left), y.checked_add_signed(top)) else {
                continue;
            };
            if let Some(below) = canvas.image.get_pixel_mut_checked(x, y) {
                lay_over(below, Rgba([red, green, blue, part.0[0]]));
            }
        }
        Ok(())
    }
}

/// The offsets of a letter's copies that make its strokes this wide: one in place, others in a circle around it.
fn offsets(em: f32, width: f32) -> Vec<(i32, i32)> {
    let radius = ((width - em * STROKE) / 2.0).clamp(0.0, em * BOLDEST);
    let mut offsets = vec![(0, 0)];
    for step in 0_u8..16 {
        let (sine, cosine) = (f32::from(step) * std::f32::consts::PI / 8.0).sin_cos();
        #[expect(clippy::cast_possible_truncation, reason = "less than an em")]
        let offset = ((radius * cosine).round() as i32, (radius * sine).round() as i32);
        if !offsets.contains(&offset) {
            offsets.push(offset);
        }
    }
    offsets
}
