//! Numbers with units, and durations: compared in one unit.

use super::constants::{NOTHING, RELATIVE_DIFFERENCE, SAME_OTHERWISE, UNIT_SAID_ONCE, on_log_curve};
use super::name::Name;
use super::text::fold;
use super::{Finding, Kind, number, standard};

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
    ("area", &[]),
    ("pressure", &[]),
];

/// Units that in free text are words or letters of something else, so that they are units only where a text is nothing
/// but a quantity.
const UNITS_ALONE: &[(&str, &str, f64)] = &[
    ("length", "in", 0.0254),
    ("length", "\"", 0.0254),
    ("length", "'", 0.3048),
    ("length", "nm nmi", 1852.0),
    ("length", "um micrometre micrometer micron", 1e-6),
    ("mass", "t", 1e6),
    ("mass", "ug", 1e-6),
    ("mass", "st stone", 6350.293_18),
    ("volume", "dl decilitre deciliter", 0.1),
    ("volume", "cup", 0.236_588_2),
    ("volume", "pt pint", 0.473_176_5),
    ("volume", "qt quart", 0.946_352_9),
    ("volume", "tbsp tablespoon", 0.014_786_76),
    ("volume", "tsp teaspoon", 0.004_928_922),
    ("time", "m mins", 60.0),
    ("time", "hrs", 3600.0),
    ("time", "us", 1e-6),
    ("months", "y a", 12.0),
    ("months", "quarter", 3.0),
    ("data", "b", 1.0),
    ("data", "kib", 1024.0),
    ("data", "mib", 1_048_576.0),
    ("data", "gib", 1_073_741_824.0),
    ("data", "tib", 1_099_511_627_776.0),
    ("speed", "km/h", 1.0),
    ("speed", "m/s", 3.6),
    ("speed", "mi/h", 1.609_344),
    ("speed", "kn kt knot", 1.852),
    ("area", "m2 sqm", 1.0),
    ("area", "km2", 1e6),
    ("area", "ft2 sqft", 0.092_903_04),
    ("area", "ha hectare", 1e4),
    ("area", "acre", 4046.856),
    ("angle", "rad radian", 57.295_779_513_082_32),
    ("pressure", "pa", 1.0),
    ("pressure", "hpa mbar millibar", 100.0),
    ("pressure", "kpa", 1000.0),
    ("pressure", "bar", 1e5),
    ("pressure", "psi", 6894.757),
    ("pressure", "atm", 101_325.0),
    ("energy", "j joule", 1.0),
    ("energy", "kwh", 3_600_000.0),
    ("energy", "wh", 3600.0),
    ("power", "mw", 1e6),
    ("power", "hp", 745.7),
];

/// Units of temperature: degrees Celsius of none of them, and of one more.
const TEMPERATURES: &[(&str, f64, f64)] = &[
    ("c celsius centigrade", 0.0, 1.0),
    ("f fahrenheit", -32.0 / 1.8, 1.0 / 1.8),
    ("kelvin k", -273.15, 1.0),
];

/// Degrees Celsius that a conversion in whole degrees is off at most.
const ROUNDED_DEGREES: f64 = 0.6;

/// The place in the table of units from which on currencies are counted.
const CURRENCIES_FROM: usize = 1000;

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

/// What a text measures, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Quantity {
    /// A place in the table of units, [`TEMPERATURE`], or a currency.
    dimension: usize,
    /// In the first unit.
    amount: f64,
    /// How many of the first unit its own is, where it has one only.
    factor: Option<f64>,
}

/// The dimension of temperatures, behind those of the table.
const TEMPERATURE: usize = 999;

/// Compares two texts if both are quantities, or one of them is and the other a number.
pub(super) fn compare(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let has_digit = |text: &str| text.len() <= LONGEST && text.bytes().any(|byte| byte.is_ascii_digit());
    if !has_digit(a) || !has_digit(b) {
        return None;
    }
    let (x, y) = (readings(a), readings(b));
    match (x[0], y[0]) {
        (Some(_), Some(_)) => Some(best(&x, &y)),
        (Some(_), None) => beside(name, &x, a, b),
        (None, Some(_)) => beside(name, &y, b, a),
        (None, None) => {
            // `00:02:00` beside the number of its seconds.
            let (clock_of, number) = if a.contains(':') { (a, b) } else { (b, a) };
            let (dimension, factor) = name.unit().filter(|unit| is_time(unit.0))?;
            let amount = number::in_text(number)? * factor;
            let number = Quantity { dimension, amount, factor: Some(factor) };
            Some(best(&[Some(number), None], &clock(dimension, clock_of)?))
        }
    }
}

fn is_time(dimension: usize) -> bool {
    UNITS.get(dimension).is_some_and(|unit| unit.0 == "time")
}

type Readings = [Option<Quantity>; 2];

/// The comparison of the readings that fit best: `m` is metres or minutes.
fn best(a: &Readings, b: &Readings) -> Finding {
    let pairs = a.iter().flatten().flat_map(|x| b.iter().flatten().map(move |y| (x, y)));
    let found = pairs.filter(|(x, y)| x.dimension == y.dimension).map(|(x, y)| values(x, y));
    let found = found.reduce(|best, other| if other.score > best.score { other } else { best });
    found.unwrap_or_else(|| Finding::new(Kind::Quantity, NOTHING, "measures something else"))
}

fn values(a: &Quantity, b: &Quantity) -> Finding {
    let (same, other) = ("the same in another unit or writing", "another quantity");
    if a.dimension == TEMPERATURE {
        let apart = (a.amount - b.amount).abs();
        let is_converted = a.factor != b.factor;
        return match apart {
            _ if apart < 0.01 => Finding::new(Kind::Quantity, SAME_OTHERWISE, same),
            _ if is_converted && apart < ROUNDED_DEGREES => {
                Finding::new(Kind::Quantity, 0.8, "differs by rounding")
            }
            _ => Finding::new(Kind::Quantity, NOTHING, other),
        };
    }
    let larger = a.amount.abs().max(b.amount.abs());
    let relative = if larger > 0.0 { (a.amount - b.amount).abs() / larger } else { 0.0 };
    // A conversion is right to some six digits.
    if relative < 1e-5 {
        return Finding::new(Kind::Quantity, SAME_OTHERWISE, same);
    }
    if a.amount * b.amount < 0.0 {
        return Finding::new(Kind::Quantity, NOTHING, "the sign differs");
    }
    // In one unit they are numbers, of which one may be rounded.
    if let (Some(factor), true) = (a.factor, a.factor == b.factor) {
        let found = number::numbers(a.amount / factor, b.amount / factor, false, false);
        return Finding::new(Kind::Quantity, found.score, found.reason);
    }
    let score = on_log_curve(&RELATIVE_DIFFERENCE, relative);
    Finding::new(Kind::Quantity, score, if relative < 0.01 { "differs by rounding" } else { other })
}

/// A quantity beside a text that is none: a share, a number whose unit is known from the argument's name, or a clock.
fn beside(name: &Name, quantity: &Readings, text: &str, other: &str) -> Option<Finding> {
    let is_of_time = |reading: &&Quantity| is_time(reading.dimension);
    if other.contains(':') {
        let time = quantity.iter().flatten().find(is_of_time)?;
        return clock(time.dimension, other).map(|clock| best(&[Some(*time), None], &clock));
    }
    let other = number::in_text(other)?;
    if text.trim_end().ends_with(['%', '％']) {
        return quantity[0].map(|share| shares(share.amount, other));
    }
    if let Some((dimension, factor)) = name.unit()
        && let Some(reading) = quantity.iter().flatten().find(|reading| reading.dimension == dimension)
    {
        let other = Quantity { dimension, amount: other * factor, factor: Some(factor) };
        return Some(values(reading, &other));
    }
    // The unit may be known from elsewhere.
    let is_same = |reading: &Quantity| {
        let amount = reading.factor.map_or(reading.amount, |factor| reading.amount / factor);
        let in_seconds = if is_of_time(&reading) { reading.amount } else { amount };
        [amount, in_seconds].iter().any(|amount| (amount - other).abs() <= 1e-9 * other.abs())
    };
    let is_same = quantity.iter().flatten().any(is_same);
    let (score, reason) =
        if is_same { (UNIT_SAID_ONCE, "the unit is said only once") } else { (NOTHING, "another quantity") };
    Some(Finding::new(Kind::Quantity, score, reason))
}

/// A share said in percent beside a number, which is the share itself or the percent without their sign.
fn shares(share: f64, number: f64) -> Finding {
    let is_near = |x: f64, y: f64| (x - y).abs() <= 1e-9 * x.abs().max(y.abs());
    let (score, reason) = if is_near(share, number) {
        (SAME_OTHERWISE, "the same share")
    } else if number > 1.0 && is_near(share * 100.0, number) {
        (0.9, "the same percentage")
    } else {
        (NOTHING, "another share")
    };
    Finding::new(Kind::Quantity, score, reason)
}

/// Hours, minutes and seconds; of two numbers hours and minutes or minutes and seconds.
fn clock(dimension: usize, text: &str) -> Option<Readings> {
    let parts = text.trim().split(':').map(|part| {
        let is_number = !part.is_empty() && part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { part.parse::<f64>().ok() } else { None }
    });
    let of = |amount: f64| Some(Quantity { dimension, amount, factor: None });
    match parts.collect::<Option<Vec<f64>>>()?[..] {
        [hours, minutes, seconds] => Some([of(hours * 3600.0 + minutes * 60.0 + seconds), None]),
        [first, second] => Some([of(first * 3600.0 + second * 60.0), of(first * 60.0 + second)]),
        _ => None,
    }
}

/// What a number in a unit is in the first unit of what it measures, if the unit is known.
pub(super) fn measured(amount: f64, name: &str) -> Option<(usize, f64)> {
    if name.len() > LONGEST {
        return None;
    }
    let (dimension, factor, zero) = named(&fold(name), false)?;
    Some((dimension, amount * factor + zero))
}

/// Compares two names of units if both are known.
pub(super) fn units(a: &str, b: &str) -> Option<Finding> {
    let (x, y) = (measured(1.0, a)?, measured(1.0, b)?);
    let (score, reason) = if x == y { (SAME_OTHERWISE, "the same unit") } else { (NOTHING, "another unit") };
    Some(Finding::new(Kind::Choice, score, reason))
}

/// What a unit measures, how many of the first unit it is, and where its zero lies.
fn named(name: &str, m_is_minutes: bool) -> Option<(usize, f64, f64)> {
    let name = match name.trim() {
        "°" => "degree",
        name => name.trim_start_matches('°').trim_end_matches('.'),
    };
    let name = ["degrees ", "degree ", "deg ", "deg"]
        .iter()
        .find_map(|before| name.strip_prefix(before))
        .filter(|rest| !rest.is_empty() && *rest != "ree" && *rest != "rees")
        .unwrap_or(name);
    let singular = name.strip_suffix('s').filter(|singular| singular.len() > 1);
    let is_it = |names: &str| names.split(' ').any(|known| known == name || Some(known) == singular);
    if let Some((_, zero, one)) = TEMPERATURES.iter().find(|(names, ..)| is_it(names)) {
        return Some((TEMPERATURE, *one, *zero));
    }
    if let Some(currency) = standard::currency(name)
        && !matches!(name, "pound" | "pounds" | "real" | "won" | "all")
    {
        return Some((CURRENCIES_FROM + currency, 1.0, 0.0));
    }
    let alone = || {
        let (dimension, _, factor) = UNITS_ALONE.iter().find(|(_, names, _)| is_it(names))?;
        Some((UNITS.iter().position(|(known, _)| known == dimension)?, *factor))
    };
    let found = if name == "m" && m_is_minutes { alone() } else { unit(name).or_else(alone) };
    found.map(|(dimension, factor)| (dimension, factor, 0.0))
}

/// The readings of a text: `1h30m`, `90 min`, `2.5 km`, `PT1H30M`, `$5`, `25 %`, `20 °C`, `5'11"`.
fn readings(text: &str) -> Readings {
    let folded = fold(text).replace('−', "-");
    let folded = folded.trim();
    if let Some(quantity) = iso_duration(folded) {
        return [Some(quantity), None];
    }
    let plain = number::without_thousands(folded);
    let first = money(folded).or_else(|| parts(&plain, false));
    let is_ambiguous =
        plain.bytes().any(|byte| byte == b'm') && first.is_none_or(|first| first.dimension == 0);
    let second = if is_ambiguous { parts(&plain, true) } else { None };
    if first.is_some() { [first, second.filter(|_| first != second)] } else { [second, None] }
}

/// `P1DT2H30M`, `PT90M`, `P2W`.
fn iso_duration(text: &str) -> Option<Quantity> {
    let mut rest = text.strip_prefix('p')?;
    if !rest.starts_with(|c: char| c.is_ascii_digit() || c == 't') {
        return None;
    }
    let (mut seconds, mut months, mut is_of_day) = (0.0, 0.0, false);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('t') {
            (rest, is_of_day) = (after, true);
            continue;
        }
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let amount: f64 = rest[..end].parse().ok()?;
        match (rest[end..].chars().next()?, is_of_day) {
            ('y', false) => months += 12.0 * amount,
            ('m', false) => months += amount,
            ('w', false) => seconds += 604_800.0 * amount,
            ('d', false) => seconds += 86_400.0 * amount,
            ('h', true) => seconds += 3600.0 * amount,
            ('m', true) => seconds += 60.0 * amount,
            ('s', true) => seconds += amount,
            _ => return None,
        }
        rest = &rest[end + 1..];
    }
    let (name, amount) = match (months > 0.0, seconds > 0.0) {
        (true, false) => ("months", months),
        (false, _) => ("time", seconds),
        (true, true) => return None,
    };
    let dimension = UNITS.iter().position(|(known, _)| *known == name)?;
    Some(Quantity { dimension, amount, factor: None })
}

/// `$5`, `US$ 1,200.50`, `300 USD`, `₹4,000`, `€1.5M`.
fn money(text: &str) -> Option<Quantity> {
    let is_of_amount = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-');
    let of = |sign: &str, amount: &str| {
        let sign = sign.trim();
        // Longer names are found among the units.
        let is_sign = !sign.is_ascii() || sign.contains('$') || sign.len() == 3;
        let currency = standard::currency(sign).filter(|_| is_sign)?;
        let amount = number::in_text(amount).or_else(|| number::written(amount))?;
        Some(Quantity { dimension: CURRENCIES_FROM + currency, amount, factor: Some(1.0) })
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

/// One or more numbers, each with its unit, of one dimension.
fn parts(text: &str, m_is_minutes: bool) -> Option<Quantity> {
    let (mut sum, mut dimension, mut factor, mut count, mut rest) = (0.0, None, None, 0, text);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(rest.len());
        let amount: f64 = rest[..end].parse().ok()?;
        let after = rest[end..].trim_start_matches([' ', '-']);
        let is_of_name = |c: char| c.is_alphabetic() || matches!(c, '°' | '/');
        let mut end = after.find(|c: char| !is_of_name(c)).unwrap_or(after.len());
        // `degrees Celsius`, `m2`.
        if after.starts_with("deg") && after[end..].starts_with(' ') {
            let more = &after[end + 1..];
            end += 1 + more.find(|c: char| !c.is_alphabetic()).unwrap_or(more.len());
        } else if after[end..].starts_with('2') && end > 0 {
            end += 1;
        }
        let (name, end) = match after.chars().next()? {
            '%' | '％' => ("percent", after.chars().next()?.len_utf8()),
            '\'' | '"' => (&after[..1], 1),
            _ => (&after[..end], end),
        };
        // After hours and a number, `m` is minutes.
        let is_time = m_is_minutes || count > 0 || text.contains('h') && !text.contains('/');
        let (found, of, zero) = named(name, is_time)?;
        if dimension.is_some_and(|dimension| dimension != found) {
            return None;
        }
        dimension = Some(found);
        factor = Some(of);
        sum += amount * of + zero;
        count += 1;
        rest = after[end..].trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    Some(Quantity { dimension: dimension?, amount: sum, factor: factor.filter(|_| count == 1) })
}
