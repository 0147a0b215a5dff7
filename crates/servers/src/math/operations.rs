//! The operations of the math server. Results are those of the benchmark's server, with JavaScript's numbers and edge
//! cases: undefined results are `NaN` or an infinity, not errors.

use std::collections::HashMap;

use super::number::to_text;

/// The arguments of an operation, and the function that computes it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operands {
    /// Two numbers under these names.
    Two([&'static str; 2], fn(f64, f64) -> f64),
    /// One number, named `number`.
    One(fn(f64) -> f64),
    /// A list, named `numbers`; the flag tells whether the list needs at least one item.
    Many(bool, fn(&[f64]) -> String),
}

use Operands::{Many, One, Two};

/// All operations: the tool's name, its description, and its operands. The names of tools and arguments are those of the
/// benchmark, whose `multiply` really has `SecondNumber`.
pub(super) const OPERATIONS: [(&str, &str, Operands); 22] = [
    ("add", "The sum of two numbers.", Two(["firstNumber", "secondNumber"], |a, b| a + b)),
    ("subtract", "The difference: minuend minus subtrahend.", Two(["minuend", "subtrahend"], |a, b| a - b)),
    ("multiply", "The product of two numbers.", Two(["firstNumber", "SecondNumber"], |a, b| a * b)),
    (
        "division",
        "The quotient: numerator divided by denominator. By zero it is Infinity, -Infinity or NaN.",
        Two(["numerator", "denominator"], |a, b| a / b),
    ),
    ("sum", "The sum of a list of numbers.", Many(true, |list| to_text(sum(list)))),
    (
        "modulo",
        "The remainder of numerator divided by denominator; it has the sign of the numerator.",
        Two(["numerator", "denominator"], |a, b| a % b),
    ),
    ("mean", "The arithmetic mean of a list of numbers.", Many(true, |list| to_text(mean(list)))),
    ("median", "The median of a list of numbers.", Many(true, |list| to_text(median(list)))),
    ("mode", "The most frequent values of a list and how often they occur.", Many(false, mode)),
    ("min", "The smallest number of a list.", Many(false, |list| to_text(min(list)))),
    ("max", "The largest number of a list.", Many(false, |list| to_text(max(list)))),
    ("floor", "The largest integer that is not larger than the number.", One(f64::floor)),
    ("ceiling", "The smallest integer that is not smaller than the number.", One(f64::ceil)),
    ("round", "The nearest integer; halves go up, so that -2.5 becomes -2.", One(round)),
    ("sin", "The sine of an angle in radians.", One(libm::sin)),
    ("arcsin", "The arcsine in radians; NaN outside of -1 to 1.", One(libm::asin)),
    ("cos", "The cosine of an angle in radians.", One(libm::cos)),
    ("arccos", "The arccosine in radians; NaN outside of -1 to 1.", One(libm::acos)),
    ("tan", "The tangent of an angle in radians.", One(libm::tan)),
    ("arctan", "The arctangent in radians.", One(libm::atan)),
    ("radiansToDegrees", "Degrees of an angle in radians.", One(|x| x * (180.0 / std::f64::consts::PI))),
    ("degreesToRadians", "Radians of an angle in degrees.", One(|x| x * (std::f64::consts::PI / 180.0))),
];

/// The sum from left to right, starting with zero.
fn sum(list: &[f64]) -> f64 {
    list.iter().fold(0.0, |sum, number| sum + number)
}

/// The arithmetic mean; `NaN` for an empty list.
fn mean(list: &[f64]) -> f64 {
    sum(list) / list.len() as f64
}

/// The middle number, or the mean of the middle two; `NaN` for an empty list. (The benchmark's server sorts the numbers
/// as texts, 10 before 9, a mistake that is not copied here.)
fn median(list: &[f64]) -> f64 {
    let mut sorted = list.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The most frequent numbers, first seen first; an empty list gives `Entries () appeared 0 times`.
fn mode(list: &[f64]) -> String {
    // Adding zero turns minus zero into zero.
    let key = |number: f64| (number + 0.0).to_bits();
    let mut counts: HashMap<u64, usize> = HashMap::new();
    let mut distinct = Vec::new();
    for &number in list {
        let count = counts.entry(key(number)).or_insert(0);
        if *count == 0 {
            distinct.push(number);
        }
        *count += 1;
    }
    let most = counts.values().copied().max().unwrap_or(0);
    let modes = distinct.into_iter().filter(|&number| counts.get(&key(number)) == Some(&most));
    let modes: Vec<String> = modes.map(to_text).collect();
    format!("Entries ({}) appeared {most} times", modes.join(", "))
}

/// The smallest number; infinity for an empty list.
fn min(list: &[f64]) -> f64 {
    list.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The largest number; minus infinity for an empty list.
fn max(list: &[f64]) -> f64 {
    list.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Rounds halves up. Adding a half first would round 0.49999999999999994 to 1.
fn round(number: f64) -> f64 {
    let floor = number.floor();
    if number - floor >= 0.5 { floor + 1.0 } else { floor }
}
