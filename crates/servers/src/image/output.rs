//! Where a picture is written, in which format, and how it is shown in the answer.

use std::borrow::Cow;
use std::io::{self, Cursor};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ImageFormat, ImageResult, RgbImage, Rgba, RgbaImage, imageops};
use m3_mcp::Content;
use m3_support::files::{write_atomically, write_new_atomically};
use m3_support::text::visible;
use serde_json::{Map, Value, json};

use super::canvas::lay_over;
use super::failure::Failure;
use crate::Workspace;
use crate::tools::object;

/// The longest side of a picture in an answer, in pixels: vision models scale larger ones down themselves.
const LONGEST_SIDE_SHOWN: u32 = 1_568;

/// The largest picture in an answer, in bytes of PNG.
const MOST_BYTES_SHOWN: usize = 2 << 20;

/// Quality of a JPEG, of 100; OpenCV's own.
const QUALITY: u8 = 95;

/// The highest number that is added to a name.
const MOST_NUMBERS: u32 = 9_999;

/// The output schema of the tools that make a picture.
pub(super) fn picture_schema() -> Map<String, Value> {
    object(json!({
        "type": "object",
        "properties": {
            "result": {"type": "array", "items": {"type": "string"}, "description": "Where the result was written."},
            "width": {"type": "integer", "description": "Its width in pixels."},
            "height": {"type": "integer", "description": "Its height in pixels."}
        },
        "required": ["result", "width", "height"]
    }))
}

/// Where a picture will be written.
#[derive(Debug)]
pub(super) struct Target {
    path: String,
    format: ImageFormat,
    /// Whether the caller named the path; only then may a file be replaced.
    is_named: bool,
}

impl Target {
    /// Creates a target from the caller's path, or without one from the input's with `suffix`. Paths keep the caller's
    /// spelling.
    pub(super) fn new(input: &str, output: &str, suffix: &str) -> Result<Self, Failure> {
        if !output.is_empty() {
            if Path::new(output).extension().is_none() {
                return Ok(Self { path: format!("{output}.png"), format: ImageFormat::Png, is_named: true });
            }
            let refused = || Failure::Format { path: visible(output, false).into_owned() };
            let format = format_of(output).ok_or_else(refused)?;
            return Ok(Self { path: output.to_owned(), format, is_named: true });
        }
        let whole = Path::new(input);
        let stem = whole.file_stem().unwrap_or_default().to_string_lossy();
        let (extension, format) = match (whole.extension(), format_of(input)) {
            (Some(extension), Some(format)) => (extension.to_string_lossy(), format),
            _ => (Cow::Borrowed("png"), ImageFormat::Png),
        };
        let path = whole.with_file_name(format!("{stem}{suffix}.{extension}"));
        Ok(Self { path: path.to_string_lossy().into_owned(), format, is_named: false })
    }

    /// Writes the picture, as a whole or not at all, and returns the path.
    pub(super) fn write(&self, workspace: &Workspace, image: &RgbaImage) -> Result<String, Failure> {
        let shown = || visible(&self.path, false).into_owned();
        let bytes =
            encoded(image, self.format).map_err(|source| Failure::Encode { path: shown(), source })?;
        let failed = |source| Failure::Write { path: shown(), source };
        if self.is_named {
            write_atomically(&workspace.place(&self.path)?, &bytes).map_err(failed)?;
            return Ok(self.path.clone());
        }
        for number in 1..=MOST_NUMBERS {
            let path = numbered(&self.path, number);
            let place = workspace.place(&path)?;
            if place.exists() {
                continue;
            }
            match write_new_atomically(&place, &bytes) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                written => return written.map(|()| path).map_err(failed),
            }
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }
}

/// The path with a number, from the second one on: `a.png`, `a_2.png`, `a_3.png`.
fn numbered(path: &str, number: u32) -> String {
    match path.rsplit_once('.') {
        Some((stem, extension)) if number > 1 => format!("{stem}_{number}.{extension}"),
        _ => path.to_owned(),
    }
}

/// The format for a path's extension, if it can be written.
fn format_of(path: &str) -> Option<ImageFormat> {
    let format = ImageFormat::from_path(path).ok()?;
    let is_written = matches!(
        format,
        ImageFormat::Png
            | ImageFormat::Jpeg
            | ImageFormat::WebP
            | ImageFormat::Gif
            | ImageFormat::Bmp
            | ImageFormat::Tiff
    );
    is_written.then_some(format)
}

/// Encodes the picture. Without transparency it has three channels. JPEG has no transparency, so transparent parts
/// become white.
fn encoded(image: &RgbaImage, format: ImageFormat) -> ImageResult<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    match (opaque(image), format) {
        (opaque, ImageFormat::Jpeg) => {
            let encoder = JpegEncoder::new_with_quality(&mut bytes, QUALITY);
            opaque.unwrap_or_else(|| on_white(image.clone())).write_with_encoder(encoder)?;
        }
        (Some(image), format) => image.write_to(&mut bytes, format)?,
        (None, format) => image.write_to(&mut bytes, format)?,
    }
    Ok(bytes.into_inner())
}

fn on_white(mut image: RgbaImage) -> RgbImage {
    for pixel in image.pixels_mut() {
        let above = std::mem::replace(pixel, Rgba([u8::MAX; 4]));
        lay_over(pixel, above);
    }
    DynamicImage::from(image).into_rgb8()
}

/// The picture as PNG, packed better than a file of the workspace: it is sent, shown and recorded.
fn packed(image: &RgbaImage) -> ImageResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive);
    match opaque(image) {
        Some(image) => image.write_with_encoder(encoder)?,
        None => image.write_with_encoder(encoder)?,
    }
    Ok(bytes)
}

/// The picture in three channels, if it has no transparency.
fn opaque(image: &RgbaImage) -> Option<RgbImage> {
    let is_opaque = image.pixels().all(|pixel| pixel.0[3] == u8::MAX);
    is_opaque.then(|| DynamicImage::from(image.clone()).into_rgb8())
}

/// The picture for the caller, scaled down if needed, followed by a text that says so.
pub(super) fn shown(image: &RgbaImage) -> Result<Vec<Content>, Failure> {
    let (width, height) = image.dimensions();
    let mut side = LONGEST_SIDE_SHOWN.min(width.max(height));
    loop {
        let small = scaled(image, side);
        let png = packed(&small)
            .map_err(|source| Failure::Encode { path: "the picture of the answer".to_owned(), source })?;
        if png.len() > MOST_BYTES_SHOWN && side > 64 {
            side = side * 7 / 10;
            continue;
        }
        let picture = Content::Image { data: STANDARD.encode(png), mime_type: "image/png".to_owned() };
        if small.dimensions() == (width, height) {
            return Ok(vec![picture]);
        }
        let note = format!(
            "The picture is shown at {} x {} pixels; the file has {width} x {height}, and coordinates are its.",
            small.width(),
            small.height()
        );
        return Ok(vec![Content::Text(note), picture]);
    }
}

/// The picture with this longest side.
fn scaled(image: &RgbaImage, side: u32) -> Cow<'_, RgbaImage> {
    let (width, height) = image.dimensions();
    let longest = width.max(height);
    if longest <= side {
        return Cow::Borrowed(image);
    }
    let scale = |length: u32| {
        let scaled = u64::from(length) * u64::from(side) / u64::from(longest);
        u32::try_from(scaled).unwrap_or(side).max(1)
    };
    Cow::Owned(imageops::thumbnail(image, scale(width), scale(height)))
}
