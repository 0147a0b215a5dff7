//! Measures by labelled pairs how well a similarity distinguishes arguments that ask for the same from others.
//!
//! ```text
//! labelled pairs -> score of each (typed, or cosine) -> area under the curve, errors at a threshold, calibration
//! ```

mod asked;
mod doubtful;
mod learned;
mod measure;
mod pairs;
mod report;
mod sources;
mod training;

pub(crate) use asked::AskedPair;
pub(crate) use doubtful::DoubtfulPair;
pub(crate) use learned::{SourceReport, SourcesReport, adapted_to};
pub(crate) use measure::{area_under_curve, brier_score, calibration_error};
pub(crate) use pairs::{PairFile, PairFileError, TestPair};
pub(crate) use report::{
    FIDELITY_SCHEMA, FidelityReport, GroupReport, PairReport, ReliabilityReport, Trial, cosine_trial,
    typed_trial,
};
pub(crate) use sources::{LabelledSourceError, file_labels, pair_files};
pub(crate) use training::{LabelledSource, TrainingReport, adapt, examples, train_anew};
