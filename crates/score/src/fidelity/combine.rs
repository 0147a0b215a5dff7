//! From the arguments to the call.
//!
//! Each argument loses `weight x (1 - score)`. The losses are added in a norm of high power, in which the largest
//! decides: one wrong argument is not averaged away by many right ones, and many small differences of writing do not
//! add up to a wrong call. The rest is then calibrated.

use super::ArgumentComparison;
use super::constants::{CALIBRATION, NORM, on_curve};

/// The fidelity of a call, in [0, 1]: 1 without any loss, and never more after one more loss.
pub(super) fn combine(arguments: &[ArgumentComparison]) -> f64 {
    let losses = arguments.iter().map(|argument| argument.weight * (1.0 - argument.score));
    let kept = 1.0 - norm(losses);
    on_curve(&CALIBRATION, kept.clamp(0.0, 1.0)).clamp(0.0, 1.0)
}

/// The norm of losses.
pub(super) fn norm(losses: impl Iterator<Item = f64>) -> f64 {
    let mut powers: Vec<f64> = losses.map(|loss| loss.max(0.0).powi(NORM)).collect();
    // In one order, so that the order of arguments makes no difference in the last digit.
    powers.sort_by(f64::total_cmp);
    powers.into_iter().sum::<f64>().powf(1.0 / f64::from(NORM))
}
