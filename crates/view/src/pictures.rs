//! The pictures of the pages. A page names a picture by a hash; only what a document has named is served, and only from
//! the folders of its run.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use image::RgbaImage;
use m3_images::likeness::{difference, pixels};
use m3_images::task_image::locate;
use m3_report::audit::Pictures as Small;
use sha2::{Digest as _, Sha256};

/// The longest side in pixels, and the quality, of a picture in a page.
const WHOLE: (u32, u8) = (1280, 85);

/// The longest side in pixels, and the quality, of a picture in a table.
const THUMBNAIL: (u32, u8) = (120, 70);

/// The run or file that holds a trajectory, by its number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Holder {
    /// A run.
    Run(usize),
    /// A file of references, shown beside a run.
    References { file: usize, run: usize },
}

/// The place of a picture.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// A file in one of these folders, by the path that a trajectory gives.
    File { folders: Arc<[PathBuf]>, path: String },
    /// A part of a call's result: the holder, the trajectory, the call, the part.
    Result { holder: Holder, trajectory: usize, call: usize, part: usize },
    /// A picture of the differences between these two.
    Difference(Box<[Place; 2]>),
}

/// The pictures that documents have named so far.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    known: RwLock<HashMap<String, Place>>,
    /// Locked while a picture is decoded: a large picture takes hundreds of megabytes, so only one is decoded at a
    /// time.
    decoding: Mutex<()>,
}

impl Pictures {
    /// The name of a picture, in hexadecimal.
    pub(crate) fn name(&self, place: Place) -> String {
        let name = m3_support::text::hexadecimal(&Sha256::digest(format!("{place:?}")))[..20].to_owned();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(name.clone()).or_insert(place);
        name
    }

    /// The place of the picture with this name, if a document has named it.
    pub(crate) fn place(&self, name: &str) -> Option<Place> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All names, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<String> = known.keys().cloned().collect();
        names.sort();
        names
    }

    /// A picture made small: its media type and its bytes.
    ///
    /// # Errors
    /// The reason why the picture is not shown.
    pub(crate) fn small(
        &self,
        place: &Place,
        is_thumbnail: bool,
        sent: impl Fn(&Place) -> Option<Vec<u8>>,
    ) -> Result<(&'static str, Vec<u8>), &'static str> {
        let _decoding = self.decoding.lock().unwrap_or_else(PoisonError::into_inner);
        small(place, is_thumbnail, sent)
    }
}

fn small(
    place: &Place,
    is_thumbnail: bool,
    sent: impl Fn(&Place) -> Option<Vec<u8>>,
) -> Result<(&'static str, Vec<u8>), &'static str> {
    let (side, quality) = if is_thumbnail { THUMBNAIL } else { WHOLE };
    match place {
        Place::File { folders, path } => Small::of_size(folders, side, quality).file(path),
        Place::Result { .. } => {
            let bytes = sent(place).ok_or("the result has no such picture any more")?;
            Small::of_size(&[], side, quality).sent(&bytes)
        }
        Place::Difference(both) => {
            let opened = |place| open(place, &sent).ok_or("one of the pictures cannot be had");
            let [a, b] = [opened(&both[0])?, opened(&both[1])?];
            Small::of_size(&[], side, quality).of_pixels(&difference(&a, &b))
        }
    }
}

/// The pixels of a picture.
fn open(place: &Place, sent: impl Fn(&Place) -> Option<Vec<u8>>) -> Option<RgbaImage> {
    let bytes = match place {
        Place::File { folders, path } => m3_images::bytes_of(&locate(path, folders)?).ok()?,
        place => sent(place)?,
    };
    pixels(&bytes).ok()
}
