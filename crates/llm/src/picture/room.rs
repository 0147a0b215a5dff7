//! Limits the memory for decoded images, however many workers there are.

use std::sync::{Condvar, Mutex, PoisonError};

/// The memory for all images that are being decoded, in bytes. A larger image is decoded alone.
const ALL: u64 = 128 << 20;

static TAKEN: Mutex<u64> = Mutex::new(0);
static GIVEN_BACK: Condvar = Condvar::new();

/// Reserved memory, released when this is dropped.
pub(super) struct Room(u64);

/// Waits until there is room for an image of this many bytes. A thread that has room must not ask for more.
pub(super) fn take(bytes: u64) -> Room {
    let wanted = bytes.min(ALL);
    let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let free = GIVEN_BACK.wait_while(taken, |taken| *taken + wanted > ALL);
    *free.unwrap_or_else(PoisonError::into_inner) += wanted;
    Room(wanted)
}

impl Drop for Room {
    fn drop(&mut self) {
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) -= self.0;
        GIVEN_BACK.notify_all();
    }
}
