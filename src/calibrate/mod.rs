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
//! | [`sweep`] | agreement for every pair of thresholds that makes a difference, and the best |
//! | [`CalibrationReport`] | the report |
//! | [`fidelity`] | how well a similarity separates same from different arguments, on labelled pairs |

mod advice;
pub(crate) mod fidelity;
mod pairs;
mod report;
mod sweep;

pub(crate) use pairs::{LabelledArguments, MajorityError, MajorityLabels, similarities};
pub(crate) use report::{CalibrationReport, IntervalReport, SensitivityReport, ThresholdReport, calibrate};
