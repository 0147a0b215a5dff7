//! Pictures of results, for their comparison: those within the files, and those in files beside them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::RgbaImage;
use m3_images::likeness::{compare, pixels};
use m3_score::results::{ComparePictures, Likeness, RecordedPicture, ResultSide};
use m3_support::workspace::Workspace;
use sha2::{Digest as _, Sha256};

/// Pixels that are kept for the next comparison, in bytes.
const KEPT: usize = 48 << 20;

/// Opens pictures in the folders of the scored files, and nowhere else: predictions are hostile.
#[derive(Debug, Default)]
pub(super) struct ResultPictures {
    references: Vec<Workspace>,
    predictions: Vec<Workspace>,
    decoded: Mutex<Decoded>,
}

/// Pictures that were decoded, and those that cannot be.
#[derive(Debug, Default)]
struct Decoded {
    pictures: HashMap<[u8; 32], Option<Arc<RgbaImage>>>,
    bytes: usize,
}

impl ResultPictures {
    /// For trajectories in these files.
    pub(super) fn beside<'p>(references: &Path, predictions: impl IntoIterator<Item = &'p Path>) -> Self {
        let folder = |file: &Path| {
            let folder = if file.is_dir() { file } else { file.parent()? };
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            Workspace::new(folder).ok()
        };
        Self {
            references: folder(references).into_iter().collect(),
            predictions: predictions.into_iter().filter_map(folder).collect(),
            decoded: Mutex::default(),
        }
    }

    fn bytes(&self, side: ResultSide, picture: &RecordedPicture) -> Option<Vec<u8>> {
        match picture {
            RecordedPicture::Sent(data) => STANDARD.decode(data.as_bytes()).ok(),
            RecordedPicture::File(path) => m3_images::bytes_of(&self.file(side, path)?).ok(),
            RecordedPicture::TooLarge => None,
        }
    }

    fn file(&self, side: ResultSide, path: &str) -> Option<PathBuf> {
        let folders = match side {
            ResultSide::Reference => &self.references,
            ResultSide::Prediction => &self.predictions,
        };
        folders.iter().find_map(|folder| folder.file(path).ok())
    }

    fn pixels(&self, side: ResultSide, picture: &RecordedPicture) -> Option<Arc<RgbaImage>> {
        let mut key = Sha256::new();
        match picture {
            RecordedPicture::Sent(data) => key.update(data.as_bytes()),
            RecordedPicture::File(path) => key.update(format!("{side:?} {path}")),
            RecordedPicture::TooLarge => return None,
        }
        let key: [u8; 32] = key.finalize().into();
        let known = |decoded: &Decoded| decoded.pictures.get(&key).cloned();
        if let Some(known) = known(&self.decoded.lock().unwrap_or_else(PoisonError::into_inner)) {
            return known;
        }
        let opened = self.bytes(side, picture).and_then(|bytes| pixels(&bytes).ok()).map(Arc::new);
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = opened.as_ref().map_or(0, |image| image.as_raw().len()) + 64;
        if decoded.bytes + bytes > KEPT {
            *decoded = Decoded::default();
        }
        if bytes <= KEPT {
            decoded.bytes += bytes;
            decoded.pictures.insert(key, opened.clone());
        }
        opened
    }
}

impl ComparePictures for ResultPictures {
    fn compare(&self, reference: &RecordedPicture, predicted: &RecordedPicture) -> Option<Likeness> {
        let a = self.pixels(ResultSide::Reference, reference)?;
        let b = self.pixels(ResultSide::Prediction, predicted)?;
        let found = compare(&a, &b);
        Some(Likeness { likeness: found.likeness, is_same: found.is_same })
    }

    fn digest(&self, side: ResultSide, picture: &RecordedPicture) -> Option<[u8; 16]> {
        let digest = Sha256::digest(self.bytes(side, picture)?);
        digest[..16].try_into().ok()
    }
}
