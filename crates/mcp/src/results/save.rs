//! The files in a result: decoded, and saved under names chosen here.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use m3_images::media::{Kind, Media};
use m3_support::files;
use m3_support::redact::Redactor;
use m3_support::text::shortened;
use m3_support::workspace::Workspace;
use serde::{Deserialize, Serialize};

use crate::{Content, ToolResult};

/// A file of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SavedFile {
    /// The index of the part of the content, from 0.
    pub part: usize,
    /// The name in the workspace, by which calls name the file: that of the file which the tool wrote itself, or one
    /// that m3 chose.
    pub name: String,
    /// Whether m3 has put the file into the workspace, because the tool wrote no such file there.
    pub is_put: bool,
    /// The path of the result's own file, relative to the workspace. Later calls do not change this file.
    pub file: String,
    /// The kind of the file.
    pub kind: Kind,
    /// The type of the file called `name` by its bytes, such as `image/png`.
    pub mime_type: String,
    /// The size of the file called `name` in bytes.
    pub bytes: usize,
    /// Width and height of the file called `name` in pixels, if it is an image whose size can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pixels: Option<(u32, u32)>,
    /// The path of `file`.
    #[serde(skip)]
    #[schemars(skip)]
    pub path: PathBuf,
}

impl SavedFile {
    /// The file in the workspace.
    #[must_use]
    pub fn in_workspace(&self) -> WorkspaceFile {
        let Self { name, mime_type, bytes, pixels, .. } = self.clone();
        WorkspaceFile { name, mime_type, bytes, pixels }
    }
}

/// The file in a workspace that belongs to a file of a result: tools write pictures and show them in their answers as
/// well, often smaller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceFile {
    /// The path of the file, relative to the workspace.
    pub name: String,
    /// The type of the file by its bytes, such as `image/png`.
    pub mime_type: String,
    /// The size of the file in bytes.
    pub bytes: usize,
    /// Width and height in pixels.
    pub pixels: Option<(u32, u32)>,
}

/// Accepts base64 with or without padding, because servers are not strict about it.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// The most names that are tried for one file.
const MAX_TRIES: u32 = 10_000;

/// Saves all files of a result in a folder under the names `PREFIX-PART.EXT`, and reports files that cannot be saved
/// because the server's data are wrong.
///
/// # Errors
/// The system's reason, if a file cannot be written.
pub fn save_files(
    result: &ToolResult,
    folder: &Path,
    prefix: &str,
    redactor: &Redactor,
) -> io::Result<(Vec<SavedFile>, Vec<String>)> {
    let (mut saved, mut problems) = (Vec::new(), Vec::new());
    for (part, content) in result.content.iter().enumerate() {
        let bytes = match file_of(content) {
            None => continue,
            Some(Ok(bytes)) => bytes,
            Some(Err(reason)) => {
                problems.push(format!("part {part}, {}: {reason}", claim(content)));
                continue;
            }
        };
        let media = Media::from_bytes(&bytes);
        let bytes = redactor.bytes(&bytes);
        let expected = match content {
            Content::Image { .. } => Some(Kind::Image),
            Content::Audio { .. } => Some(Kind::Audio),
            _ => None,
        };
        if expected.is_some_and(|kind| kind != media.kind) {
            let (claim, actual) = (claim(content), media.mime_type);
            problems.push(format!("part {part} is said to be {claim}, and its bytes are {actual}"));
        }
        let (name, path) = write_new(folder, &format!("{prefix}-{part}"), media.extension, &bytes)?;
        saved.push(SavedFile {
            part,
            file: name.clone(),
            name,
            is_put: true,
            kind: media.kind,
            mime_type: media.mime_type.to_owned(),
            bytes: bytes.len(),
            pixels: pixels(media, &bytes),
            path,
        });
    }
    Ok((saved, problems))
}

/// The bytes of the file in a part of a result; `None` if it has none.
///
/// # Errors
/// The reason why the data cannot be read.
#[must_use]
pub fn file_of(content: &Content) -> Option<Result<Vec<u8>, String>> {
    content.data().map(decode)
}

/// The MIME type that the server gives, in words.
fn claim(content: &Content) -> String {
    let claimed = match content {
        Content::Image { mime_type, .. } | Content::Audio { mime_type, .. } => mime_type,
        Content::Resource(resource) => {
            resource.get("mimeType").and_then(serde_json::Value::as_str).unwrap_or_default()
        }
        _ => "",
    };
    if claimed.is_empty() { "of no type".to_owned() } else { format!("`{}`", shortened(claimed, 60)) }
}

/// Decodes base64 in all forms that servers write: with line breaks, without padding, in either alphabet, as a
/// `data:` address.
///
/// # Errors
/// The reason why the data cannot be read.
pub fn decode(data: &str) -> Result<Vec<u8>, String> {
    let data = match data.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((_, data)) => data,
        None => data,
    };
    let is_plain = !data.bytes().any(|byte| byte.is_ascii_whitespace());
    let compact = || Cow::Owned(data.split_ascii_whitespace().collect::<String>());
    let data = if is_plain { Cow::Borrowed(data) } else { compact() };
    if data.is_empty() {
        return Err("its data is empty".to_owned());
    }
    let engine = if data.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    engine.decode(&*data).map_err(|error| format!("its data is not base64: {error}"))
}

/// The size of an image without decoding it.
fn pixels(media: Media, bytes: &[u8]) -> Option<(u32, u32)> {
    if media.kind != Kind::Image {
        return None;
    }
    let reader = image::ImageReader::new(io::Cursor::new(bytes)).with_guessed_format().ok()?;
    reader.into_dimensions().ok()
}

/// Puts a file into a workspace under a name, unless the name leads out of the workspace or is taken already: the file
/// that a tool has written stays.
///
/// # Errors
/// The system's reason, if it cannot be written.
pub fn put_file(workspace: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let Ok(place) = Workspace::new(workspace).and_then(|workspace| workspace.place(name)) else {
        return Ok(());
    };
    match files::write_new_atomically(&place, bytes) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        written => written,
    }
}

/// Writes a file under a name that does not exist yet: a server may have put anything into its workspace, links too.
pub(super) fn write_new(
    folder: &Path,
    stem: &str,
    extension: &str,
    bytes: &[u8],
) -> io::Result<(String, PathBuf)> {
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
    fn a_file_is_put_where_nothing_is_and_never_outside() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("w");
        std::fs::create_dir(&workspace).unwrap();
        for (name, content) in
            [("a.png", "new"), ("sub/b.png", "new"), ("a.png", "late"), ("../c.png", "new")]
        {
            put_file(&workspace, name, content.as_bytes()).unwrap();
        }
        let read = |name: &str| std::fs::read_to_string(workspace.join(name)).unwrap();
        assert_eq!((read("a.png"), read("sub/b.png")), ("new".to_owned(), "new".to_owned()));
        assert!(!folder.path().join("c.png").exists());
    }

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
