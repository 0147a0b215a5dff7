//! The type of a file by its bytes, because a type that a server or a name claims may be wrong.

use m3_support::text::head;
use serde::Serialize;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A picture.
    Image,
    /// Sound.
    Audio,
    /// Anything else.
    Other,
}

/// The type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Media {
    /// The kind of the file.
    pub kind: Kind,
    /// The MIME type, such as `image/png`.
    pub mime_type: &'static str,
    /// The usual extension without a dot, such as `png`.
    pub extension: &'static str,
}

impl Media {
    const fn new(kind: Kind, mime_type: &'static str, extension: &'static str) -> Self {
        Self { kind, mime_type, extension }
    }

    /// Recognizes the type by the first bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        if let Some((_, media)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            return *media;
        }
        match (bytes.get(..4), bytes.get(4..8), bytes.get(8..12)) {
            (Some(b"RIFF"), _, Some(b"WEBP")) => Self::new(Kind::Image, "image/webp", "webp"),
            (Some(b"RIFF"), _, Some(b"WAVE")) => Self::new(Kind::Audio, "audio/wav", "wav"),
            (_, Some(b"ftyp"), Some(b"avif")) => Self::new(Kind::Image, "image/avif", "avif"),
            (_, Some(b"ftyp"), Some(b"heic" | b"heix" | b"mif1")) => {
                Self::new(Kind::Image, "image/heic", "heic")
            }
            (_, Some(b"ftyp"), Some(b"M4A ")) => Self::new(Kind::Audio, "audio/mp4", "m4a"),
            (_, Some(b"ftyp"), _) => Self::new(Kind::Other, "video/mp4", "mp4"),
            _ if begins_mpeg_audio(bytes) => Self::new(Kind::Audio, "audio/mpeg", "mp3"),
            _ => Self::of_text(bytes),
        }
    }

    fn of_text(bytes: &[u8]) -> Self {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Self::new(Kind::Other, "application/octet-stream", "bin");
        };
        let start = head(text.trim_start_matches('\u{feff}').trim_start(), 1000);
        if start.starts_with("<svg") || (start.starts_with("<?xml") && start.contains("<svg")) {
            Self::new(Kind::Image, "image/svg+xml", "svg")
        } else {
            Self::new(Kind::Other, "text/plain", "txt")
        }
    }
}

/// Every frame of MPEG audio begins with 11 set bits; not every value of the bits after them is allowed.
fn begins_mpeg_audio(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, second, ..] if second & 0xe0 == 0xe0 && second & 0x06 != 0)
}

/// The bytes that files begin with, as their formats' specifications say.
const MAGIC: [(&[u8], Media); 16] = [
    (b"\x89PNG\r\n\x1a\n", Media::new(Kind::Image, "image/png", "png")),
    (b"\xff\xd8\xff", Media::new(Kind::Image, "image/jpeg", "jpg")),
    (b"GIF87a", Media::new(Kind::Image, "image/gif", "gif")),
    (b"GIF89a", Media::new(Kind::Image, "image/gif", "gif")),
    (b"BM", Media::new(Kind::Image, "image/bmp", "bmp")),
    (b"II*\0", Media::new(Kind::Image, "image/tiff", "tiff")),
    (b"MM\0*", Media::new(Kind::Image, "image/tiff", "tiff")),
    (b"\0\0\x01\0", Media::new(Kind::Image, "image/x-icon", "ico")),
    (b"ID3", Media::new(Kind::Audio, "audio/mpeg", "mp3")),
    (b"OggS", Media::new(Kind::Audio, "audio/ogg", "ogg")),
    (b"fLaC", Media::new(Kind::Audio, "audio/flac", "flac")),
    (b"%PDF-", Media::new(Kind::Other, "application/pdf", "pdf")),
    (b"PK\x03\x04", Media::new(Kind::Other, "application/zip", "zip")),
    (b"\x1f\x8b", Media::new(Kind::Other, "application/gzip", "gz")),
    (b"\x1a\x45\xdf\xa3", Media::new(Kind::Other, "video/webm", "webm")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Media::new(Kind::Other, "application/x-ole-storage", "ole")),
];
