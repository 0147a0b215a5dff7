//! Pictures of results. Who opens and compares them is handed in: this crate decodes no image.

use std::fmt::Debug;
use std::sync::Arc;

/// Which file a picture was recorded in.
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
    /// Its bytes in Base64.
    Sent(Arc<str>),
    /// A file.
    File {
        /// The id of its trajectory: each may have a folder of its own.
        id: String,
        /// A path relative to the file that the trajectory stands in, or to that folder. Hostile: it may lead anywhere.
        path: String,
    },
    /// One that cannot be compared, whatever stands beside the file.
    Unusable {
        /// The id of its trajectory.
        id: String,
        /// Why.
        problem: PictureProblem,
    },
}

/// Why a recorded picture cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PictureProblem {
    /// The file that it names is not beside the file of trajectories.
    NoFile,
    /// It is no picture, or a damaged one.
    NoPicture,
    /// It is more than 24 MiB of Base64, 64 MiB of a file, or 16 million pixels.
    TooLarge,
    /// The result says that there is a picture, and has neither its bytes nor the name of a file.
    NoData,
}

/// Compares pictures of results.
pub trait ComparePictures: Debug + Sync {
    /// How alike a reference's and a prediction's picture are; `None` where one of them cannot be had.
    fn compare(&self, reference: &RecordedPicture, predicted: &RecordedPicture) -> Option<Likeness>;

    /// Whether a picture is known to be none: its file is not there, is no picture, or is too large.
    fn is_missing(&self, side: ResultSide, picture: &RecordedPicture) -> bool;

    /// A digest of a picture's bytes; `None` where it cannot be had.
    fn digest(&self, side: ResultSide, picture: &RecordedPicture) -> Option<[u8; 16]>;
}

/// How alike two pictures are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    /// In [0, 1]; 1 for the same pixels, 0 for pictures of other sizes.
    pub likeness: f64,
    /// Whether they count as one picture: their sides differ by 2 pixels at most, and their shared part hardly.
    pub is_same: bool,
}

impl Likeness {
    /// What is the same to the last bit.
    pub(super) const EQUAL: Self = Self { likeness: 1.0, is_same: true };

    /// What has nothing in common.
    pub(super) const NONE: Self = Self { likeness: 0.0, is_same: false };
}
