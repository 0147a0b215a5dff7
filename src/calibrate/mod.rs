//! Chooses thresholds of similarity from people's labels (M³-Bench, section 6.4).
//!
//! ```text
//! labels of pairs -> majority -> similarity (encoder, as in scores) -> sweep -> best pair, interval, agreement
//! ```
//!
//! | part | what it does |
//! | --- | --- |
//! | [`MajorityLabels`] | reads `m3.labels/1` and finds the majority label of each pair |
//! | [`similarities`] | how alike the calls of each pair are |
//! | [`Sweep`] | agreement for every pair of thresholds that makes a difference, and the best |
//! | [`CalibrationReport`] | the report |
//! | [`FidelityReport`] | how well a similarity separates same from different arguments, on labelled pairs |

mod advice;
mod fidelity;
mod pairs;
mod report;
mod similarity;
mod sweep;

pub(crate) use fidelity::{
    AskedPair, DoubtfulPair, FIDELITY_SCHEMA, FidelityReport, GroupReport, LabelledSource,
    LabelledSourceError, PairFile, PairFileError, PairReport, ReliabilityReport, SourceReport, SourcesReport,
    TestPair, TrainingReport, Trial, adapt, adapted_to, area_under_curve, brier_score, calibration_error,
    cosine_trial, examples, file_labels, pair_files, train_anew, typed_trial,
};
pub(crate) use pairs::{LabelSummary, LabelledArguments, MajorityError, MajorityLabels};
pub(crate) use report::{
    AgreementCell, CALIBRATION_SCHEMA, CalibrationReport, IntervalReport, LabelCounts, SensitivityReport,
    ThresholdReport, calibrate,
};
pub(crate) use similarity::similarities;
pub(crate) use sweep::{LabelledPair, Pick, Sweep};
