//! Numbers within the schema's bounds.

use serde_json::{Number, Value};

use super::flat::Flat;
use crate::seed::Seed;

/// The width of the range of numbers if the schema lacks a bound, in steps of `multipleOf`.
const USUAL: i64 = 1_000;

/// The largest bound of whole numbers: doubles are exact up to here.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A whole number within the schema's bounds, and a multiple of its `multipleOf`.
pub(super) fn integer(flat: &Flat<'_>, attempt: usize, seed: &Seed) -> Option<Value> {
    let above = flat.least("exclusiveMinimum").map(|bound| bound.floor() + 1.0);
    let below = flat.most("exclusiveMaximum").map(|bound| bound.ceil() - 1.0);
    let low = larger(flat.least("minimum").map(f64::ceil), above).map(whole);
    let high = smaller(flat.most("maximum").map(f64::floor), below).map(whole);
    let step = match flat.least("multipleOf") {
        None => 1,
        // The smallest whole multiple of a fractional step, such as 5 for 2.5.
        Some(step) => {
            (1..=1_000_i64).map(|times| step * times as f64).find(|step| step.fract() == 0.0).map(whole)?
        }
    };
    if step <= 0 {
        return None;
    }
    let (low, high) = window(low, high, step);
    // The bounds in steps, rounded into the range.
    let first = low.div_euclid(step) + i64::from(low.rem_euclid(step) != 0);
    let last = high.div_euclid(step);
    let count = last.checked_sub(first)?.checked_add(1).filter(|count| *count > 0)?;
    let drawn = seed.child("integer").nth(attempt).stream().below(count.unsigned_abs());
    let times = first.checked_add(i64::try_from(drawn).ok()?)?;
    times.checked_mul(step).map(Value::from)
}

/// The range to draw from: the schema's bounds, and [`USUAL`] numbers where a bound is missing.
fn window(low: Option<i64>, high: Option<i64>, step: i64) -> (i64, i64) {
    let width = USUAL.saturating_mul(step);
    match (low, high) {
        (Some(low), Some(high)) => (low, high),
        (Some(low), None) => (low, low.saturating_add(width)),
        (None, Some(high)) if high >= 0 => (high.saturating_sub(width).max(0), high),
        (None, Some(high)) => (high.saturating_sub(width), high),
        (None, None) => (0, width),
    }
}

/// A number with two decimals, if such a number fits between the bounds.
pub(super) fn number(flat: &Flat<'_>, attempt: usize, seed: &Seed) -> Option<Value> {
    if flat.least("multipleOf").is_some() {
        return multiple(flat, attempt, seed);
    }
    let low = larger(flat.least("minimum"), flat.least("exclusiveMinimum"));
    let high = smaller(flat.most("maximum"), flat.most("exclusiveMaximum"));
    let usual = USUAL as f64;
    let (low, high) = match (low, high) {
        (Some(low), Some(high)) => (low, high),
        (Some(low), None) => (low, low + usual),
        (None, Some(high)) => (if high > 0.0 { (high - usual).max(0.0) } else { high - usual }, high),
        (None, None) => (0.0, usual),
    };
    let share = seed.child("number").nth(attempt).stream().unit();
    // Computed as a sum of shares, because the difference of two large bounds may be infinite.
    let drawn = low * (1.0 - share) + high * share;
    let rounded = (drawn * 100.0).round() / 100.0;
    let fits = low < rounded && rounded < high;
    finite(if fits { rounded } else { drawn.clamp(low.min(high), high) })
}

/// A multiple of a step, written with as many digits as the step.
fn multiple(flat: &Flat<'_>, attempt: usize, seed: &Seed) -> Option<Value> {
    if let Some(whole) = integer(flat, attempt, seed) {
        return Some(whole);
    }
    let step = flat.least("multipleOf").filter(|step| *step > 0.0)?;
    let low = larger(flat.least("minimum"), flat.least("exclusiveMinimum")).unwrap_or(0.0);
    let high = smaller(flat.most("maximum"), flat.most("exclusiveMaximum")).unwrap_or(low + 1_000.0 * step);
    let (first, last) = (whole((low / step).ceil()), whole((high / step).floor()));
    let count = u64::try_from(last.checked_sub(first)?.checked_add(1)?).ok()?;
    let times =
        first.checked_add(i64::try_from(seed.child("multiple").nth(attempt).stream().below(count)).ok()?)?;
    let digits = step.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
    format!("{:.digits$}", step * times as f64).parse().ok().and_then(finite)
}

fn finite(value: f64) -> Option<Value> {
    Number::from_f64(value).map(Value::Number)
}

fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    [a, b].into_iter().flatten().reduce(f64::max)
}

fn smaller(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    [a, b].into_iter().flatten().reduce(f64::min)
}

#[expect(clippy::cast_possible_truncation, reason = "clamped to what an i64 holds exactly")]
fn whole(value: f64) -> i64 {
    value.clamp(-EXACT, EXACT) as i64
}
