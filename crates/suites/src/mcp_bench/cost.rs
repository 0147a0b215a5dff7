//! What a task took (table 6 has rounds and calls; the program also prints tokens and seconds).

use m3_trajectory::Trajectory;

use crate::members::{member, number};

/// What is recorded of a prediction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    pub(super) input_tokens: Option<f64>,
    pub(super) output_tokens: Option<f64>,
    pub(super) seconds: Option<f64>,
}

impl Cost {
    /// Nothing.
    pub(super) const NONE: Self = Self { input_tokens: None, output_tokens: None, seconds: None };

    pub(super) fn of(prediction: &Trajectory) -> Self {
        let number = |value| number(value).filter(|number| *number >= 0.0);
        let tokens = |key: &str| member(prediction, "usage")?.get(key).and_then(number);
        let milliseconds = member(prediction, "milliseconds").and_then(number);
        Self {
            input_tokens: tokens("input_tokens"),
            output_tokens: tokens("output_tokens"),
            seconds: milliseconds.map(|milliseconds| milliseconds / 1000.0),
        }
    }
}
