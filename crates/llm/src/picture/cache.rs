//! Pictures that many workers share: the same image is decoded once, however many tasks show it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::{Picture, PictureError, PictureLimits};

/// The most bytes of all kept pictures.
const ALL_BYTES: usize = 64 << 20;

/// The memory of a cached picture besides its bytes, roughly.
const OVERHEAD: usize = 1 << 10;

/// Pictures by the file they were made of. Clones share them.
#[derive(Debug, Clone)]
pub struct Pictures {
    shelf: Arc<Mutex<Shelf>>,
    most_bytes: usize,
}

/// The state of a file at some time, and the limits its picture was made for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    path: PathBuf,
    modified: Option<SystemTime>,
    size: u64,
    limits: PictureLimits,
}

#[derive(Debug, Default)]
struct Shelf {
    places: HashMap<Key, Place>,
    bytes: usize,
    clock: u64,
}

/// The place for a picture, filled by the first thread that needs the picture, while others wait for it.
type Slot = Arc<Mutex<Option<Arc<Picture>>>>;

#[derive(Debug)]
struct Place {
    slot: Slot,
    /// The memory of the picture, in bytes; 0 until the picture is there.
    bytes: usize,
    used: u64,
}

impl Default for Pictures {
    fn default() -> Self {
        Self::new()
    }
}

impl Pictures {
    /// An empty cache. It keeps up to 64 MiB of pictures, those used last.
    #[must_use]
    pub fn new() -> Self {
        Self::keeping(ALL_BYTES)
    }

    pub(super) fn keeping(most_bytes: usize) -> Self {
        Self { shelf: Arc::default(), most_bytes }
    }

    /// The picture of a file, as [`Picture::open`] makes it: decoded once for each state of the file (its time and
    /// size) and each limit. A caller waits while another one makes the same picture, so do not call this on
    /// asynchronous threads.
    ///
    /// # Errors
    /// The errors of [`Picture::open`]. Failures are not kept: the next caller tries again.
    pub fn get(&self, path: &Path, limits: &PictureLimits) -> Result<Arc<Picture>, PictureError> {
        let Ok(metadata) = path.metadata() else { return Picture::open(path, limits).map(Arc::new) };
        let key = Key {
            path: path.to_owned(),
            modified: metadata.modified().ok(),
            size: metadata.len(),
            limits: *limits,
        };
        let slot = self.shelf().slot(&key);
        let mut filled = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(picture) = &*filled {
            return Ok(picture.clone());
        }
        match Picture::open(path, limits) {
            Ok(picture) => {
                let picture = Arc::new(picture);
                *filled = Some(picture.clone());
                self.shelf().keep(&key, &slot, picture.bytes.len() + OVERHEAD, self.most_bytes);
                Ok(picture)
            }
            Err(error) => {
                self.shelf().forget(&key, &slot);
                Err(error)
            }
        }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        let held = self.shelf();
        (held.places.len(), held.bytes)
    }
}

impl Shelf {
    fn slot(&mut self, key: &Key) -> Slot {
        self.clock += 1;
        let place = self.places.entry(key.clone()).or_insert_with(|| Place {
            slot: Arc::default(),
            bytes: 0,
            used: 0,
        });
        place.used = self.clock;
        place.slot.clone()
    }

    /// Removes the entry of a picture that could not be made, unless it belongs to a newer one.
    fn forget(&mut self, key: &Key, slot: &Slot) {
        if self.places.get(key).is_some_and(|place| Arc::ptr_eq(&place.slot, slot)) {
            self.bytes -= self.places.remove(key).map_or(0, |place| place.bytes);
        }
    }

    /// Counts a finished picture, and drops those not used for longest until all fit.
    fn keep(&mut self, key: &Key, slot: &Slot, bytes: usize, most_bytes: usize) {
        // The failure of another thread may have removed the entry.
        let place = self.places.get_mut(key).filter(|place| Arc::ptr_eq(&place.slot, slot));
        let Some(place) = place else { return };
        self.bytes = self.bytes + bytes - std::mem::replace(&mut place.bytes, bytes);
        while self.bytes > most_bytes {
            let done = self.places.iter().filter(|(_, place)| place.bytes > 0);
            let Some(oldest) = done.min_by_key(|(_, place)| place.used).map(|(key, _)| key.clone()) else {
                return;
            };
            self.bytes -= self.places.remove(&oldest).map_or(0, |place| place.bytes);
        }
    }
}
