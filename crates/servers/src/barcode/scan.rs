//! Finds and reads the codes of an image, several at once and turned by any angle.
//!
//! The image is searched as it is, then enlarged or reduced, inverted, and turned; codes that were found are painted
//! white, so that later searches find others.

use image::imageops::{self, FilterType};
use image::{DynamicImage, GrayImage, Luma};
use rxing::common::HybridBinarizer;
use rxing::multi::MultipleBarcodeReader as _;
use rxing::oned::MultiFormatOneDReader;
use rxing::qrcode::cpp_port::QrReader;
use rxing::{BarcodeFormat, BinaryBitmap, DecodeHints, Luma8Source, RXingResult, Reader as _};

use crate::turn::Turn;

use super::geometry::{Corners, Place, Rect, bars};

/// A code in an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    /// The kind of the code, by zbar's name.
    pub(super) kind: &'static str,
    /// The content of the code.
    pub(super) text: String,
    /// The upright box around it, in pixels of the image.
    pub(super) rect: Rect,
}

/// The most codes that are read from one image.
const MOST_CODES: usize = 100;

/// The most pixels that the searches for bars may look at, one after the other: a minute's work. The search of an image
/// that looks like bars everywhere is given up then.
const MOST_EFFORT: u64 = 1_000_000_000;

/// Bars lower than this are noise, in pixels.
const LEAST_HEIGHT: f32 = 6.0;

/// Bars of EAN and UPC are at least this high for their length: half of the nominal height that is left when codes
/// are cut down to fit small products. Lower ones are diagonals through something else.
const LEAST_RATIO: f32 = 0.12;

/// Images with a longer side smaller than this are searched again enlarged, and larger ones reduced to it.
const WORKING_SIDE: u32 = 1400;

/// Angles, in degrees, by which the image is turned. Bars are read at 0 and 90 degrees, leaning by up to 12 degrees.
const ANGLES: [f32; 3] = [22.5, 45.0, 67.5];

/// Formats that are searched for first. UPC-A is an EAN-13 that begins with zero.
const STRONG: [BarcodeFormat; 4] =
    [BarcodeFormat::QR_CODE, BarcodeFormat::CODE_128, BarcodeFormat::EAN_13, BarcodeFormat::UPC_A];

/// Formats that are searched for afterwards, in the rest of the image: they are so short that a diagonal through a
/// longer code may look like one.
const WEAK: [BarcodeFormat; 2] = [BarcodeFormat::EAN_8, BarcodeFormat::UPC_E];

/// All codes of an image, from top to bottom and from left to right.
pub(super) fn scan(image: &DynamicImage) -> Vec<Code> {
    let mut search = Search { image: on_white(image), codes: Vec::new(), effort: 0 };
    let views = views(search.image.width().max(search.image.height()));
    for formats in [&STRONG[..], &WEAK[..]] {
        let hints = DecodeHints {
            PossibleFormats: Some(formats.iter().copied().collect()),
            TryHarder: Some(true),
            ..DecodeHints::default()
        };
        for view in &views {
            search.through(view, &hints);
        }
    }
    let mut codes = search.codes;
    codes.sort_by_key(|code| (code.rect.y, code.rect.x));
    codes
}

/// The views of an image whose longer side is this long.
fn views(side: u32) -> Vec<View> {
    let plain = View { scale: 1.0, angle: 0.0, is_inverted: false };
    let scale = if side * 2 < WORKING_SIDE {
        (WORKING_SIDE / side.max(1)).clamp(2, 4) as f32
    } else {
        (WORKING_SIDE as f32 / side as f32).min(1.0)
    };
    let working = scale.min(1.0);
    let mut views = vec![plain];
    if (scale - 1.0).abs() > 0.1 {
        views.push(View { scale, ..plain });
    }
    views.push(View { scale: working, is_inverted: true, ..plain });
    views.extend(ANGLES.map(|angle| View { scale: working, angle: angle.to_radians(), ..plain }));
    views
}

/// The image in gray, white where it is transparent.
fn on_white(image: &DynamicImage) -> GrayImage {
    let shades = image.to_luma_alpha8();
    GrayImage::from_fn(shades.width(), shades.height(), |x, y| {
        let [luma, alpha] = shades.get_pixel(x, y).0.map(u16::from);
        let mixed = (luma * alpha + 255 * (255 - alpha) + 127) / 255;
        Luma([u8::try_from(mixed).unwrap_or(u8::MAX)])
    })
}

/// A view of the image.
#[derive(Debug, Clone, Copy)]
struct View {
    scale: f32,
    /// The angle, clockwise, in radians.
    angle: f32,
    is_inverted: bool,
}

impl View {
    /// The image in this view, and a function that maps places in the view back to the image.
    fn apply(&self, image: &GrayImage) -> (GrayImage, impl Fn(Place) -> Place + use<>) {
        let (width, height) = image.dimensions();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most four times a side"
        )]
        let scaled = |side: u32| ((side as f32 * self.scale).round() as u32).max(1);
        let (new_width, new_height) = (scaled(width), scaled(height));
        let mut view = if (new_width, new_height) == (width, height) {
            image.clone()
        } else {
            imageops::resize(image, new_width, new_height, FilterType::Triangle)
        };
        if self.is_inverted {
            imageops::invert(&mut view);
        }
        let mut shift = (0, 0);
        if self.angle != 0.0 {
            // The corners of the turned image need room.
            let side = new_width.max(new_height) + new_width.min(new_height).div_ceil(2);
            let mut room = GrayImage::from_pixel(side, side, Luma([u8::MAX]));
            shift = ((side - new_width) / 2, (side - new_height) / 2);
            imageops::replace(&mut room, &view, shift.0.into(), shift.1.into());
            let center = (side as f32 / 2.0, side as f32 / 2.0);
            let turn = Turn { angle: self.angle, center, new_center: center };
            view = turn.of(&room, (side, side), Luma([u8::MAX]));
        }
        let center = (view.width() as f32 / 2.0, view.height() as f32 / 2.0);
        let (sin, cos) = (-self.angle).sin_cos();
        let (wide, high) = (new_width as f32 / width as f32, new_height as f32 / height as f32);
        let back = move |place: Place| {
            let (x, y) = (place.x - center.0, place.y - center.1);
            let (x, y) = (x * cos - y * sin + center.0, x * sin + y * cos + center.1);
            Place { x: (x - shift.0 as f32) / wide, y: (y - shift.1 as f32) / high }
        };
        (view, back)
    }
}

/// The rest of the image, and the codes found so far.
struct Search {
    image: GrayImage,
    codes: Vec<Code>,
    /// The number of pixels looked at so far.
    effort: u64,
}

impl Search {
    /// Scans one view.
    fn through(&mut self, view: &View, hints: &DecodeHints) {
        let (mut seen, back) = view.apply(&self.image);
        for (result, corners) in squares(&seen, hints) {
            corners.erase(&mut seen);
            self.keep(&result, corners.map(&back));
        }
        let pixels = u64::from(seen.width()) * u64::from(seen.height());
        while self.codes.len() < MOST_CODES && self.effort + pixels <= MOST_EFFORT {
            self.effort += pixels;
            let Some((result, line)) = line_of_bars(&seen, hints) else { break };
            match bars(&seen, line[0], line[1]) {
                Some(bars) if bars.height >= LEAST_HEIGHT => {
                    bars.corners.erase(&mut seen);
                    let is_low =
                        bars.ratio < LEAST_RATIO && result.getBarcodeFormat() != &BarcodeFormat::CODE_128;
                    if bars.is_whole && !is_low {
                        self.keep(&result, bars.corners.map(&back));
                    }
                }
                _ => erase_line(&mut seen, line),
            }
        }
    }

    fn keep(&mut self, result: &RXingResult, corners: Corners) {
        let Some(kind) = kind(*result.getBarcodeFormat()) else { return };
        let (text, rect) = (result.getText(), corners.rect(self.image.dimensions()));
        corners.erase(&mut self.image);
        // This may be a remainder of a code that was found at another angle.
        let known = |code: &&mut Code| code.kind == kind && code.text == text && code.rect.touches(rect);
        if let Some(code) = self.codes.iter_mut().find(known) {
            code.rect = code.rect.with(rect);
        } else if self.codes.len() < MOST_CODES {
            self.codes.push(Code { kind, text: text.to_owned(), rect });
        }
    }
}

/// zbar's name for a format (`zbar_get_symbol_name`).
fn kind(format: BarcodeFormat) -> Option<&'static str> {
    match format {
        BarcodeFormat::EAN_13 => Some("EAN13"),
        BarcodeFormat::EAN_8 => Some("EAN8"),
        BarcodeFormat::UPC_A => Some("UPCA"),
        BarcodeFormat::UPC_E => Some("UPCE"),
        BarcodeFormat::CODE_128 => Some("CODE128"),
        BarcodeFormat::QR_CODE => Some("QRCODE"),
        _ => None,
    }
}

fn bitmap(image: &GrayImage) -> Option<BinaryBitmap<HybridBinarizer<Luma8Source<'_>>>> {
    let source = Luma8Source::new_with_slice(image.as_raw(), image.width(), image.height()).ok()?;
    Some(BinaryBitmap::new(HybridBinarizer::new(source)))
}

/// All QR codes, if `hints` asks for them.
fn squares(image: &GrayImage, hints: &DecodeHints) -> Vec<(RXingResult, Corners)> {
    let Some(mut bitmap) = bitmap(image) else { return Vec::new() };
    let codes = QrReader.decode_multiple_with_hints(&mut bitmap, hints);
    let with_corners = codes.unwrap_or_default().into_iter().filter_map(|result| {
        let [a, b, c, d] = result.getPoints() else { return None };
        let corners = Corners::around([a, b, c, d].map(|point| Place { x: point.x, y: point.y }));
        Some((result, corners))
    });
    with_corners.collect()
}

/// One code of bars, and a line across it.
fn line_of_bars(image: &GrayImage, hints: &DecodeHints) -> Option<(RXingResult, [Place; 2])> {
    let result = MultiFormatOneDReader::new(hints).decode_with_hints(&mut bitmap(image)?, hints).ok()?;
    let [first, .., last] = result.getPoints() else { return None };
    let place = |point: &rxing::Point| Place { x: point.x + 0.5, y: point.y + 0.5 };
    let line = [place(first), place(last)];
    Some((result, line))
}

/// Paints the line itself white, because it crosses no real code.
fn erase_line(image: &mut GrayImage, [start, end]: [Place; 2]) {
    let around = |low: f32, high: f32| (low.min(high) - 1.0, low.max(high) + 1.0);
    let ((left, right), (top, bottom)) = (around(start.x, end.x), around(start.y, end.y));
    let place = |x, y| Place { x, y };
    Corners([place(left, top), place(right, top), place(right, bottom), place(left, bottom)]).erase(image);
}

#[cfg(test)]
mod tests;
