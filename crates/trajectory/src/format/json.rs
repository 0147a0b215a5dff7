//! m3's own trajectories as JSON: a list of them, an object of them by id, or a single one.

use super::{Format, ReadFormat};
use crate::split::split;

/// Accepts every file that no other format has recognized, so that its problems are reported; therefore it is the
/// last.
pub(super) const FORMAT: Format = Format {
    name: "json",
    title: "trajectories of m3 as JSON",
    recognizes: |_| true,
    read: ReadFormat::InPlace(split),
};
