//! Pictures in results. The code that opens and compares them is passed in: this crate decodes no image.

use std::fmt::Debug;
use std::sync::Arc;

/// The file that a picture was recorded in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResultSide {
    /// The references.
    Reference,
    /// The predictions.
    Prediction,
}

/// A picture that a call returned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RecordedPicture {
    /// The bytes of the picture, in Base64.
    Sent(Arc<str>),
    /// A picture in a file.
    File {
        /// The id of its trajectory: each may have a folder of its own.
        id: String,
        /// A path relative to the file that the trajectory stands in, or to that folder. Untrusted: it may lead
        /// anywhere.
        path: String,
    },
    /// A picture that cannot be compared, whatever files there are.
    Unusable {
        /// The id of its trajectory.
        id: String,
        /// The reason.
        problem: PictureProblem,
    },
}

/// Why a recorded picture cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PictureProblem {
    /// The file that it names is not beside the file of trajectories.
    NoFile,
    /// The data is not a picture, or is damaged.
    NoPicture,
    /// The picture has more than 24 MiB of Base64, 64 MiB as a file, or 16 million pixels.
    TooLarge,
    /// The result says that there is a picture, and has neither its bytes nor the name of a file.
    NoData,
}

/// Compares pictures of results.
pub trait ComparePictures: Debug + Sync {
    /// How alike a reference's and a prediction's picture are; `None` where one of them cannot be had.
    fn compare(&self, reference: &RecordedPicture, predicted: &RecordedPicture) -> Option<Likeness>;

    /// Whether a picture is known to be unusable: its file is not there, is not a picture, or is too large.
    fn is_missing(&self, side: ResultSide, picture: &RecordedPicture) -> bool;

    /// A digest of a picture's bytes; `None` where it cannot be had.
    fn digest(&self, side: ResultSide, picture: &RecordedPicture) -> Option<[u8; 16]>;
}

/// How alike two pictures are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    /// The likeness, in [0, 1]: 1 for the same pixels, 0 if the sides differ by more than 2 pixels or the
    /// colours too much.
    pub likeness: f64,
    /// Whether they count as one picture: their sides differ by 2 pixels at most, and their common part hardly differs.
    pub is_same: bool,
}

impl Likeness {
    /// The likeness of two pictures with the same bytes.
    pub(super) const EQUAL: Self = Self { likeness: 1.0, is_same: true };

    /// The likeness of what has nothing in common.
    pub(super) const NONE: Self = Self { likeness: 0.0, is_same: false };

    /// The likeness of two pairs that are compared together: that of the less alike one.
    pub(super) fn least(self, other: Self) -> Self {
        Self { likeness: self.likeness.min(other.likeness), is_same: self.is_same && other.is_same }
    }
}
