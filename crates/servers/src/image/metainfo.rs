//! The tool that describes an image. Its keys are those of `imagesorcery-mcp`, without the times of the file, which
//! differ in every copy of a workspace.

use std::path::Path;

use image::{ColorType, ImageFormat};
use m3_mcp::{Answer, ToolResult};
use m3_support::text::visible;
use serde_json::json;

use super::failure::Failure;
use crate::Workspace;

/// Reads the header of an image. Width and height are those that all other tools use, after turning as the EXIF data
/// say.
pub(super) fn metainfo(workspace: &Workspace, path: &str) -> Result<Answer, Failure> {
    let file = workspace.file(path)?;
    let shown = || visible(path, false).into_owned();
    let facts = m3_images::facts(&file).map_err(|source| Failure::Read { path: shown(), source })?;
    let (width, height) = (facts.width, facts.height);
    let filename = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
    let bytes = facts.bytes as f64;
    let result = ToolResult::structured(&json!({
        "filename": visible(&filename, false),
        "path": shown(),
        "size_bytes": facts.bytes,
        "size_kb": hundredths(bytes / 1024.0),
        "size_mb": hundredths(bytes / 1024.0 / 1024.0),
        "dimensions": {
            "width": width,
            "height": height,
            "aspect_ratio": hundredths(f64::from(width) / f64::from(height.max(1))),
        },
        "format": name(facts.format),
        "color_mode": mode(facts.color),
        "exif_orientation": facts.orientation.to_exif(),
    }));
    Ok(Answer::Result(result))
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// The format's name as Pillow has it.
const fn name(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Gif => "GIF",
        ImageFormat::WebP => "WEBP",
        ImageFormat::Tiff => "TIFF",
        ImageFormat::Bmp => "BMP",
        _ => "unknown",
    }
}

/// How colors are stored, as Pillow names it where it has a name.
const fn mode(color: ColorType) -> &'static str {
    match color {
        ColorType::L8 => "L",
        ColorType::La8 => "LA",
        ColorType::Rgb8 => "RGB",
        ColorType::Rgba8 => "RGBA",
        ColorType::L16 => "I;16",
        ColorType::La16 => "LA;16",
        ColorType::Rgb16 => "RGB;16",
        ColorType::Rgba16 => "RGBA;16",
        _ => "F",
    }
}
