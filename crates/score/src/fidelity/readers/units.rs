//! Units of measure, by `tables/units.txt`: what a unit measures, its names, its factor to the first unit of its kind,
//! and its zero. The names in lines that begin with `alone` mean something else in free text, so they are units only
//! where a text is nothing but a quantity.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::standard;

/// A unit of measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    /// The index of what it measures; from [`CURRENCIES_FROM`] on a currency.
    pub(super) dimension: usize,
    /// The factor that converts an amount into the first unit of its kind.
    pub(super) factor: f64,
    /// The zero of the unit, in the first unit of its kind.
    pub(super) zero: f64,
    is_alone: bool,
}

/// The first index of a currency.
const CURRENCIES_FROM: usize = 1000;

static UNITS: LazyLock<HashMap<&str, Unit>> = LazyLock::new(|| {
    let mut dimensions: Vec<&str> = Vec::new();
    let mut units = HashMap::new();
    for line in include_str!("../tables/units.txt").lines() {
        let mut parts = line.split('|');
        let name = parts.next().unwrap_or_default();
        let (is_alone, name) = name.strip_prefix("alone ").map_or((false, name), |name| (true, name));
        let dimension = dimensions.iter().position(|known| *known == name).unwrap_or_else(|| {
            dimensions.push(name);
            dimensions.len() - 1
        });
        let names = parts.next().unwrap_or_default();
        let mut number =
            |otherwise: f64| parts.next().map_or(otherwise, |part| part.parse().unwrap_or(f64::NAN));
        let (factor, zero) = (number(f64::NAN), number(0.0));
        debug_assert!(factor.is_finite() && zero.is_finite(), "`{line}` has a factor");
        units.extend(names.split(' ').map(|name| (name, Unit { dimension, factor, zero, is_alone })));
    }
    units
});

fn known(name: &str) -> Option<Unit> {
    let singular = name.strip_suffix('s').filter(|singular| singular.len() > 1);
    UNITS.get(name).or_else(|| UNITS.get(singular?)).copied()
}

/// The index of what a word of a text measures, and its factor to the first unit of its kind.
pub(in crate::fidelity) fn unit(word: &str) -> Option<(usize, f64)> {
    known(word).filter(|unit| !unit.is_alone).map(|unit| (unit.dimension, unit.factor))
}

/// The unit that the folded text after a number names: `km`, `°C`, `degrees fahrenheit`, `US dollars`.
pub(super) fn named(name: &str) -> Option<Unit> {
    let name = match name.trim() {
        "°" => "degree",
        "%" => "percent",
        name => name.trim_start_matches('°').trim_end_matches('.'),
    };
    let bare = ["degrees ", "degree ", "deg "].iter().find_map(|before| name.strip_prefix(before));
    let name = bare.unwrap_or(name);
    let is_other = matches!(name, "pound" | "pounds" | "all");
    let currency = standard::currency(name).filter(|_| !is_other).map(currency);
    currency.or_else(|| known(name))
}

/// The unit that the last word of an argument's name names: a plural, or a symbol of two letters that is not a word,
/// such as `seconds` or `km`.
pub(super) fn named_in_full(word: &str) -> Option<Unit> {
    let is_short = matches!(word, "km" | "cm" | "mm" | "kg" | "mg" | "ms" | "ml" | "kb" | "mb" | "gb" | "ft");
    let is_plural = word.len() > 4 && word.ends_with('s') || word == "feet";
    known(word).filter(|unit| unit.zero == 0.0 && (is_short || is_plural))
}

/// A currency as a unit.
pub(super) fn currency(number: usize) -> Unit {
    Unit { dimension: CURRENCIES_FROM + number, factor: 1.0, zero: 0.0, is_alone: true }
}

/// The dimensions of durations: seconds, and months.
pub(super) fn dimensions_of_time() -> [usize; 2] {
    ["second", "month"].map(|name| known(name).map_or(usize::MAX, |unit| unit.dimension))
}
