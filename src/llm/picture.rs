//! Pictures as models are shown them: turned upright, scaled to what the wire takes, re-encoded only when needed.

use serde::Serialize;

/// A picture, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Picture {
    /// `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
    pub mime_type: &'static str,
    /// In pixels, as sent.
    pub width: u32,
    /// In pixels, as sent.
    pub height: u32,
    /// SHA-256 of the bytes that are sent, in hexadecimal.
    pub sha256: String,
    /// What was done to the file's own bytes: nothing if they are sent as they are.
    pub changes: Vec<String>,
    /// The bytes that are sent.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}
