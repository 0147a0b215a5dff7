//! Measures by labelled pairs how well a similarity distinguishes arguments that ask for the same from others.
//!
//! ```text
//! labelled pairs -> score of each (typed, or cosine) -> area under the curve, errors at a threshold, calibration
//! ```

mod doubtful;
mod pairs;
mod report;
mod training;

pub(crate) use doubtful::DoubtfulPair;
pub(crate) use pairs::{LabelledSource, PairFileError, TestPair, file_labels, pair_files};
pub(crate) use report::{FidelityReport, GroupReport, PairReport, cosine_trial, typed_trial};
pub(crate) use training::{
    SourceReport, SourcesReport, TrainingReport, adapt, adapted_to, examples, train_anew,
};
