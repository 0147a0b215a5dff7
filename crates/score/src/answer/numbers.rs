//! Numbers as replies show them: how exactly, in which unit, and when two of them are the same.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Digits that a rounded number must have to stand for a longer one: 12 for 12.4, but not 3 for 2.5.
const LEAST_DIGITS: usize = 2;

/// The relative error of conversions.
const CONVERSION: f64 = 1e-9;

/// A unit of measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    kind: &'static str,
    scale: f64,
    offset: f64,
}

impl Unit {
    /// What units that stand for one another have in common: `length`, `money`.
    pub(super) fn family(self) -> &'static str {
        self.kind.split('.').next().unwrap_or_default()
    }
}

/// The units by their names, each word of which is in the singular.
static UNITS: LazyLock<HashMap<String, Unit>> = LazyLock::new(|| {
    let lines = include_str!("units.txt").lines().filter(|line| !line.starts_with('#'));
    let units = lines.filter_map(|line| {
        let (kind, rest) = line.split_once(' ')?;
        let (factor, names) = rest.split_once(' ')?;
        let (scale, offset) = factor.split_once('+').unwrap_or((factor, "0"));
        Some((Unit { kind, scale: scale.parse().ok()?, offset: offset.parse().ok()? }, names))
    });
    units.flat_map(|(unit, names)| names.split(", ").map(move |name| (singular(name), unit))).collect()
});

/// The unit of this name, whose words may be plurals.
pub(super) fn unit(name: &str) -> Option<Unit> {
    UNITS.get(&singular(name)).copied()
}

fn singular(name: &str) -> String {
    let words =
        name.split(' ').map(|word| word.strip_suffix('s').filter(|one| one.len() > 1).unwrap_or(word));
    words.collect::<Vec<_>>().join(" ")
}

/// A number and how exactly it is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    value: f64,
    /// Half a unit of the last digit.
    slack: f64,
    /// Digits without zeros in front.
    digits: usize,
    unit: Option<Unit>,
}

impl Number {
    /// The number of `1200`, `-3.50` or `1e-5`; `None` if it is too large.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (number, exponent) = text.split_once('e').unwrap_or((text, "0"));
        // `1.200.000` has points for commas.
        let points = number.matches('.').count();
        let number = if points > 1 { number.replace('.', "") } else { number.to_owned() };
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let digits = number.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
        let power: i32 = exponent.parse().ok()?;
        let value = format!("{number}e{power}").parse::<f64>().ok().filter(|value| value.is_finite())?;
        let slack = 0.5 * 10_f64.powi(power.saturating_sub(i32::try_from(decimals).ok()?));
        Some(Self { value, slack, digits, unit: None })
    }

    /// A number that is said in words, which is exact.
    pub(super) fn of_words(value: f64) -> Self {
        Self { value, slack: 0.5, digits: 1, unit: None }
    }

    /// The same number in a unit.
    pub(super) fn with(self, unit: Option<Unit>) -> Self {
        Self { unit, ..self }
    }

    /// The number times a factor, such as a thousand or a million.
    pub(super) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, slack: self.slack * factor, ..self }
    }

    /// Whether both numbers are the same: equal, or one is the other rounded, in the same unit or one of its kind. A
    /// number without a unit is the same as that number in any unit.
    pub(super) fn is_same(self, other: Self) -> bool {
        let raw = self.is_near(other, 1.0, 1.0, self.value, other.value);
        let (Some(one), Some(two)) = (self.unit, other.unit) else {
            // 0.25 is 25 %.
            let is_share = self.unit.or(other.unit).is_some_and(|unit| unit.kind == "ratio");
            return raw || is_share && self.in_base(other);
        };
        if one == two { raw } else { one.kind == two.kind && self.in_base(other) }
    }

    fn in_base(self, other: Self) -> bool {
        let base = |number: Self| {
            let unit = number.unit.unwrap_or(Unit { kind: "", scale: 1.0, offset: 0.0 });
            (number.value * unit.scale + unit.offset, unit.scale)
        };
        let ((a, one), (b, two)) = (base(self), base(other));
        self.is_near(other, one, two, a, b)
    }

    fn is_near(self, other: Self, one: f64, two: f64, a: f64, b: f64) -> bool {
        let slack = |number: Self, scale: f64| {
            if number.digits >= LEAST_DIGITS { number.slack * scale } else { 0.0 }
        };
        a.is_finite()
            && b.is_finite()
            && (a - b).abs()
                <= slack(self, one).max(slack(other, two)) * (1.0 + 1e-6) + CONVERSION * a.abs().max(b.abs())
    }

    /// Whether both numbers may describe the same thing, unlike a length and a weight.
    pub(super) fn is_rival(self, other: Self) -> bool {
        match (self.unit, other.unit) {
            (Some(one), Some(two)) => one.family() == two.family(),
            _ => true,
        }
    }
}
