//! Numbers with units, money and durations: compared in one unit.

use jiff::{Span, SpanTotal, Unit as TimeUnit};

use super::super::constants::{NOTHING, RELATIVE_DIFFERENCE, SAME_OTHERWISE, UNIT_SAID_ONCE, on_log_curve};
use super::super::language::fold;
use super::super::name::Name;
use super::super::{Finding, Kind};
use super::units::{currency, dimensions_of_time, named, named_in_full};
use super::{ArgumentContext, Values, number, standard};

/// The most bytes of a text that is a quantity.
const LONGEST: usize = 64;

/// What a text measures, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Quantity {
    /// The index of what is measured.
    dimension: usize,
    /// The amount in the first unit of its kind.
    amount: f64,
    /// The amount in its own unit; NaN for a duration.
    written: f64,
}

/// The readings of a text: as a number with a unit, and as a duration, since `m` is metres or minutes.
type Readings = [Option<Quantity>; 2];

/// Compares two texts if both are quantities, or one of them is and the other a number.
pub(super) fn compare(context: &ArgumentContext<'_>, values: &Values<'_>) -> Option<Finding> {
    let [a, b] = values.texts.as_ref()?;
    let name = &context.name;
    if name.is_of("units")
        && let (Some(x), Some(y)) = (named(&fold(a)), named(&fold(b)))
    {
        return Some(Finding::same_or_not(Kind::Quantity, x == y, ["the same unit", "another unit"]));
    }
    let has_digit = |text: &str| text.len() <= LONGEST && text.bytes().any(|byte| byte.is_ascii_digit());
    if !has_digit(a) || !has_digit(b) {
        return None;
    }
    let (x, y) = (readings(a), readings(b));
    // Units that differ in the case of letters: `5 mW` and `5 MW`.
    let unit = |text: &str| text.trim_start_matches(|c: char| !c.is_alphabetic()).to_owned();
    let is_million = |text: &str| matches!(&*unit(text), "M" | "MW" | "MV" | "MHz" | "MJ");
    if a.eq_ignore_ascii_case(b) && is_million(a) != is_million(b) && x[0].is_some() {
        return Some(Finding::new(Kind::Quantity, NOTHING, "a unit of another case"));
    }
    match (x.iter().flatten().count(), y.iter().flatten().count()) {
        (0, 0) => None,
        (_, 0) => beside(name, &x, b),
        (0, _) => beside(name, &y, a),
        _ => Some(best(&x, &y)),
    }
}

/// The comparison of the readings that fit best.
fn best(a: &Readings, b: &Readings) -> Finding {
    let pairs = a.iter().flatten().flat_map(|x| b.iter().flatten().map(move |y| (x, y)));
    let findings = pairs.filter(|(x, y)| x.dimension == y.dimension).map(|(x, y)| amounts(x, y));
    let best = findings.reduce(|best, other| if other.score > best.score { other } else { best });
    best.unwrap_or_else(|| Finding::new(Kind::Quantity, NOTHING, "measures something else"))
}

fn amounts(a: &Quantity, b: &Quantity) -> Finding {
    let larger = a.amount.abs().max(b.amount.abs());
    let relative = if larger > 0.0 { (a.amount - b.amount).abs() / larger } else { 0.0 };
    // A conversion is right to some six digits.
    if relative < 1e-5 {
        return Finding::new(Kind::Quantity, SAME_OTHERWISE, "the same in another unit or writing");
    }
    if a.amount * b.amount < 0.0 {
        return Finding::new(Kind::Quantity, NOTHING, "the sign differs");
    }
    // Amounts in one unit are compared as numbers, of which one may be rounded.
    if (a.written * b.amount - b.written * a.amount).abs() <= 1e-9 * (a.written * b.amount).abs() {
        let finding = number::numbers(a.written, b.written, false);
        return Finding::new(Kind::Quantity, finding.score, finding.reason);
    }
    // A converted amount is rounded; a duration of several units is not.
    let is_rounded = relative < 0.01 && a.written.is_finite() && b.written.is_finite();
    let score = if is_rounded { on_log_curve(&RELATIVE_DIFFERENCE, relative) } else { NOTHING };
    Finding::new(Kind::Quantity, score, if is_rounded { "differs by rounding" } else { "another quantity" })
}

/// Compares a quantity with a number. The number's unit may be in its argument's name, `timeout_seconds`, or known from
/// elsewhere: it may be that of the quantity, or the first of its kind, as durations are counted in seconds, files in
/// bytes, and shares as fractions of one.
fn beside(name: &Name, quantity: &Readings, other: &str) -> Option<Finding> {
    let written = number::in_text(other)?;
    if let Some(unit) = name.last().and_then(named_in_full) {
        let number = Quantity { dimension: unit.dimension, amount: written * unit.factor, written };
        return Some(best(quantity, &[Some(number), None]));
    }
    let is_same = quantity.iter().flatten().any(|reading| {
        let amounts = [reading.written, reading.amount];
        amounts.iter().any(|amount| (amount - written).abs() <= 1e-9 * written.abs())
    });
    let (score, reason) =
        if is_same { (UNIT_SAID_ONCE, "the unit is said only once") } else { (NOTHING, "another quantity") };
    Some(Finding::new(Kind::Quantity, score, reason))
}

fn readings(text: &str) -> Readings {
    let folded = fold(text);
    let folded = folded.trim();
    let first = money(folded).or_else(|| measured(folded));
    let is_other = |second: &Quantity| first.is_none_or(|first| first.dimension != second.dimension);
    [first, duration(folded).filter(is_other)]
}

/// Reads a number with a unit: `2.5 km`, `1 1/2 cups`, `25 %`, `20 °C`.
fn measured(text: &str) -> Option<Quantity> {
    let end = text.find(|c: char| c.is_alphabetic() || matches!(c, '%' | '°' | '\'' | '"'))?;
    let (amount, name) = text.split_at(end);
    let written = number::parse(amount.trim().trim_end_matches('-'))?;
    let unit = named(name)?;
    let amount = written * unit.factor + unit.zero;
    Some(Quantity { dimension: unit.dimension, amount, written })
}

/// Reads an amount of money: `$5`, `US$ 1,200.50`, `300 USD`, `₹4,000`, `€1.5M`.
fn money(text: &str) -> Option<Quantity> {
    let is_of_amount = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-');
    let of = |sign: &str, amount: &str| {
        let sign = sign.trim();
        // Longer names are found among the units.
        let is_sign = !sign.is_ascii() || sign.contains('$') || sign.len() == 3;
        let unit = standard::currency(sign).filter(|_| is_sign).map(currency)?;
        let written = number::parse(amount.trim())?;
        Some(Quantity { dimension: unit.dimension, amount: written, written })
    };
    if !text.starts_with(is_of_amount) {
        let start = text.find(is_of_amount)?;
        return of(&text[..start], &text[start..]);
    }
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    of(&text[end..], &text[..end]).or_else(|| {
        let (amount, sign) = text.rsplit_once(' ')?;
        of(sign, amount)
    })
}

/// Reads a duration, in seconds or in months, not both: `1h30m`, `90 minutes`, `PT1H30M`.
fn duration(text: &str) -> Option<Quantity> {
    let span: Span = text.parse().ok()?;
    let months = i64::from(span.get_years()) * 12 + i64::from(span.get_months());
    let rest = span.try_years(0).and_then(|rest| rest.try_months(0)).ok()?;
    let seconds = rest.total(SpanTotal::from(TimeUnit::Second).days_are_24_hours()).ok()?;
    let [of_seconds, of_months] = dimensions_of_time();
    let (dimension, amount) = match (months, seconds) {
        (0, seconds) => (of_seconds, seconds),
        (months, 0.0) => (of_months, months as f64),
        _ => return None,
    };
    Some(Quantity { dimension, amount, written: f64::NAN })
}
