//! The files in a result: decoded, and saved into the task's workspace under names chosen here.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use m3_images::media::{Kind, Media};
use m3_support::files;
use m3_support::redact::Redactor;
use m3_support::text::shortened;
use serde::Serialize;

use crate::{Content, ToolResult};

/// A file of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SavedFile {
    /// Which part of the content it was, from 0.
    pub part: usize,
    /// Its name in the workspace.
    pub name: String,
    /// What kind of file it is.
    pub kind: Kind,
    /// Its type by its bytes, such as `image/png`.
    pub mime_type: String,
    /// Its size in bytes.
    pub bytes: usize,
    /// Width and height in pixels, where it is an image that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pixels: Option<(u32, u32)>,
    /// Where it is.
    #[serde(skip)]
    #[schemars(skip)]
    pub path: PathBuf,
}

/// Accepts base64 with or without padding, because servers are not strict about it.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// The most names that are tried for one file.
const MAX_TRIES: u32 = 10_000;

/// Saves all files of a result as `PREFIX-PART.EXT`, and reports files that cannot be saved because the server's data
/// are wrong.
///
/// # Errors
/// The system's reason, if one cannot be written.
pub fn save_files(
    result: &ToolResult,
    workspace: &Path,
    prefix: &str,
    redactor: &Redactor,
) -> io::Result<(Vec<SavedFile>, Vec<String>)> {
    let (mut saved, mut problems) = (Vec::new(), Vec::new());
    for (part, content) in result.content.iter().enumerate() {
        let Some((data, claimed)) = encoded(content) else { continue };
        let bytes = match decode(data) {
            Ok(bytes) => bytes,
            Err(reason) => {
                problems.push(format!("part {part}, {}: {reason}", shown_claim(claimed)));
                continue;
            }
        };
        let media = Media::of(&bytes);
        let bytes = redactor.bytes(&bytes);
        let expected = match content {
            Content::Image { .. } => Some(Kind::Image),
            Content::Audio { .. } => Some(Kind::Audio),
            _ => None,
        };
        if expected.is_some_and(|kind| kind != media.kind) {
            let claim = shown_claim(claimed);
            problems
                .push(format!("part {part} is said to be {claim}, and its bytes are {}", media.mime_type));
        }
        let (name, path) = write_new(workspace, &format!("{prefix}-{part}"), media.extension, &bytes)?;
        saved.push(SavedFile {
            part,
            name,
            kind: media.kind,
            mime_type: media.mime_type.to_owned(),
            bytes: bytes.len(),
            pixels: pixels(media, &bytes),
            path,
        });
    }
    Ok((saved, problems))
}

/// The base64 data in a part, with the MIME type that the server gives.
fn encoded(content: &Content) -> Option<(&str, &str)> {
    match content {
        Content::Image { data, mime_type } | Content::Audio { data, mime_type } => Some((data, mime_type)),
        Content::Resource(resource) => {
            let text = |key| resource.get(key).and_then(serde_json::Value::as_str);
            Some((text("blob")?, text("mimeType").unwrap_or_default()))
        }
        _ => None,
    }
}

fn shown_claim(claimed: &str) -> String {
    if claimed.is_empty() { "of no type".to_owned() } else { format!("`{}`", shortened(claimed, 60)) }
}

/// Decodes base64 in all forms that servers write: with line breaks, without padding, in either alphabet, as a
/// `data:` address.
fn decode(data: &str) -> Result<Vec<u8>, String> {
    let data = match data.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((_, data)) => data,
        None => data,
    };
    let is_plain = !data.bytes().any(|byte| byte.is_ascii_whitespace());
    let compact: String;
    let data = if is_plain {
        data
    } else {
        compact = data.split_ascii_whitespace().collect();
        &compact
    };
    if data.is_empty() {
        return Err("its data is empty".to_owned());
    }
    let engine = if data.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    engine.decode(data).map_err(|error| format!("its data is not base64: {error}"))
}

/// The size of an image without decoding it.
fn pixels(media: Media, bytes: &[u8]) -> Option<(u32, u32)> {
    if media.kind != Kind::Image {
        return None;
    }
    let reader = image::ImageReader::new(io::Cursor::new(bytes)).with_guessed_format().ok()?;
    reader.into_dimensions().ok()
}

/// Writes a file under a name that does not exist yet: a server may have put anything into its workspace, links too.
fn write_new(folder: &Path, stem: &str, extension: &str, bytes: &[u8]) -> io::Result<(String, PathBuf)> {
    for attempt in 0..MAX_TRIES {
        let name = match attempt {
            0 => format!("{stem}.{extension}"),
            attempt => format!("{stem}-{attempt}.{extension}"),
        };
        let path = folder.join(&name);
        match files::write_new_atomically(&path, bytes) {
            Ok(()) => return Ok((name, path)),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(cause),
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_servers_write_it() {
        for data in ["/+8=", "/+8", "_-8=", "/+\n8=", "data:image/png;base64,/+8="] {
            assert_eq!(decode(data), Ok(vec![0xff, 0xef]), "{data}");
        }
        assert!(decode("").unwrap_err().contains("empty"));
        assert!(decode("not base64!").unwrap_err().contains("not base64"));
        assert!(decode("/+8==x").is_err());
    }
}
