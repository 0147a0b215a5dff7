//! Numbers with units, and durations: compared in one unit.

use super::constants::{NOTHING, RELATIVE_DIFFERENCE, SAME_OTHERWISE, on_log_curve};
use super::text::fold;
use super::{Finding, Kind, number};

/// Longer texts are none.
const LONGEST: usize = 64;

/// Units by what they measure: names, and how many of the first unit they are.
const UNITS: &[(&str, &[(&str, f64)])] = &[
    (
        "length",
        &[
            ("m metre meter", 1.0),
            ("km kilometre kilometer", 1000.0),
            ("cm centimetre centimeter", 0.01),
            ("mm millimetre millimeter", 0.001),
            ("mi mile", 1609.344),
            ("ft foot feet", 0.3048),
            ("yd yard", 0.9144),
            ("inch inche", 0.0254),
        ],
    ),
    (
        "mass",
        &[
            ("kg kilogram kilo", 1000.0),
            ("g gram gramme", 1.0),
            ("mg milligram", 0.001),
            ("mcg microgram", 1e-6),
            ("lb pound", 453.592_37),
            ("oz ounce", 28.349_523),
            ("tonne", 1e6),
        ],
    ),
    (
        "volume",
        &[
            ("l litre liter", 1.0),
            ("ml millilitre milliliter", 0.001),
            ("cl centilitre", 0.01),
            ("gal gallon", 3.785_411),
        ],
    ),
    (
        "time",
        &[
            ("s sec second", 1.0),
            ("ms millisecond", 0.001),
            ("min minute", 60.0),
            ("h hr hour", 3600.0),
            ("d day", 86_400.0),
            ("wk week", 604_800.0),
            ("fortnight", 1_209_600.0),
        ],
    ),
    ("months", &[("mo month", 1.0), ("yr year", 12.0), ("decade", 120.0)]),
    (
        "data",
        &[
            ("kb kilobyte", 1e3),
            ("mb megabyte", 1e6),
            ("gb gigabyte", 1e9),
            ("tb terabyte", 1e12),
            ("byte", 1.0),
        ],
    ),
    ("speed", &[("kmh kph", 1.0), ("mph", 1.609_344)]),
    ("power", &[("w watt", 1.0), ("kw kilowatt", 1000.0)]),
    ("voltage", &[("v volt", 1.0), ("mv millivolt", 0.001)]),
    (
        "frequency",
        &[("hz hertz", 1.0), ("khz kilohertz", 1e3), ("mhz megahertz", 1e6), ("ghz gigahertz", 1e9)],
    ),
    ("energy", &[("kcal kilocalorie calorie cal", 4184.0), ("kj kilojoule", 1000.0)]),
    ("angle", &[("degree deg", 1.0)]),
    ("share", &[("percent pct", 0.01)]),
    ("dollars", &[("usd dollar buck", 1.0)]),
    ("euros", &[("eur euro", 1.0)]),
    ("pounds sterling", &[("gbp quid", 1.0)]),
    ("yen", &[("jpy yen", 1.0)]),
    ("resolution", &[("megapixel mp", 1.0)]),
    ("pixels", &[("px pixel", 1.0)]),
];

/// What a unit measures, as a place in the table, and how many of the first unit it is.
pub(super) fn unit(word: &str) -> Option<(usize, f64)> {
    let singular = word.strip_suffix('s').filter(|singular| singular.len() > 1);
    UNITS.iter().enumerate().find_map(|(dimension, (_, units))| {
        units.iter().find_map(|(names, factor)| {
            let is_it = names.split(' ').any(|name| name == word || Some(name) == singular);
            is_it.then_some((dimension, *factor))
        })
    })
}

/// Compares two texts if both are quantities, or one of them is and the other a number.
pub(super) fn compare(a: &str, b: &str) -> Option<Finding> {
    let share = |text: &str| text.trim_end().ends_with('%');
    match (read(a), read(b)) {
        (Some(a), Some(b)) if a.0 != b.0 => {
            Some(Finding::new(Kind::Quantity, NOTHING, "measures something else"))
        }
        (Some(a), Some(b)) => Some(values(a.1, b.1)),
        (Some(x), None) if share(a) => {
            number::in_text(b).map(|y| values(x.1, if y > 1.0 { y / 100.0 } else { y }))
        }
        (None, Some(y)) if share(b) => {
            number::in_text(a).map(|x| values(if x > 1.0 { x / 100.0 } else { x }, y.1))
        }
        (Some(_), None) => number::in_text(b).map(|y| without_unit(a, y)),
        (None, Some(_)) => number::in_text(a).map(|x| without_unit(b, x)),
        (None, None) => None,
    }
}

fn values(a: f64, b: f64) -> Finding {
    let larger = a.abs().max(b.abs());
    let relative = if larger > 0.0 { (a - b).abs() / larger } else { 0.0 };
    // A conversion is right to some six digits.
    if relative < 1e-5 {
        return Finding::new(Kind::Quantity, SAME_OTHERWISE, "the same in another unit or writing");
    }
    let score = if a * b < 0.0 { NOTHING } else { on_log_curve(&RELATIVE_DIFFERENCE, relative) };
    Finding::new(
        Kind::Quantity,
        score,
        if relative < 0.01 { "differs by rounding" } else { "another quantity" },
    )
}

/// A quantity beside a bare number: the unit may be known from elsewhere.
fn without_unit(quantity: &str, other: f64) -> Finding {
    let number: String =
        quantity.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-')).collect();
    let is_same = number::in_text(&number).is_some_and(|number| (number - other).abs() <= 1e-9 * other.abs());
    let score = if is_same { 0.7 } else { NOTHING };
    Finding::new(
        Kind::Quantity,
        score,
        if is_same { "the unit is said only once" } else { "another quantity" },
    )
}

/// What a text measures, and how much of it: `1h30m`, `90 min`, `2.5 km`, `PT1H30M`, `$5`, `25 %`.
fn read(text: &str) -> Option<(usize, f64)> {
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let folded = number::without_thousands(&fold(text));
    let folded = folded.trim();
    let folded = folded
        .strip_prefix("pt")
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(folded);
    let (mut sum, mut dimension, mut rest) = (0.0, None, folded);
    if let Some((name, amount)) = [('$', "usd"), ('€', "eur"), ('£', "gbp"), ('¥', "jpy")]
        .into_iter()
        .find_map(|(sign, name)| Some((name, folded.strip_prefix(sign)?)))
    {
        return Some((unit(name)?.0, number::in_text(amount)?));
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(rest.len());
        let amount: f64 = rest[..end].parse().ok()?;
        let after = rest[end..].trim_start_matches([' ', '-']);
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (name, end) = match after.chars().next()? {
            '%' => ("percent", 1),
            '$' => ("usd", 1),
            '€' => ("eur", '€'.len_utf8()),
            '£' => ("gbp", '£'.len_utf8()),
            _ => (&after[..end], end),
        };
        // After hours and a number, `m` is minutes.
        let is_time = dimension.is_some() || folded.contains('h');
        let (found, factor) = if name == "m" && is_time { unit("min")? } else { unit(name)? };
        if dimension.is_some_and(|dimension| dimension != found) {
            return None;
        }
        dimension = Some(found);
        sum += amount * factor;
        rest = after[end..].trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    Some((dimension?, sum))
}
