//! Units of measure, by what they measure.

use super::iso;

/// Units by what they measure: names, and how many of the first unit they are.
pub(super) const UNITS: &[(&str, &[(&str, f64)])] = &[
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
    ("bits a second", &[]),
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
    ("mass", "st stone", 6_350.293_18),
    ("volume", "dl decilitre deciliter", 0.1),
    ("volume", "cup", 0.236_588),
    ("volume", "pt pint", 0.473_176),
    ("volume", "qt quart", 0.946_353),
    ("volume", "tbsp tablespoon", 0.014_787),
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
    ("bits a second", "bps bit/s", 1.0),
    ("bits a second", "kbps kbit/s kb/s", 1e3),
    ("bits a second", "mbps mbit/s", 1e6),
    ("bits a second", "gbps gbit/s", 1e9),
    ("area", "m2 sqm", 1.0),
    ("area", "km2", 1e6),
    ("area", "ft2 sqft", 0.092_903_04),
    ("area", "ha hectare", 1e4),
    ("area", "acre", 4046.856),
    ("angle", "rad radian", 57.295_78),
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

/// The place in the table of units from which on currencies are counted.
pub(super) const CURRENCIES_FROM: usize = 1000;

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

/// Whether two texts differ in the case of letters of a unit that tell two units: `1m` and `1M`, `mW` and `MW`, `Mb` and
/// `MB`.
pub(super) fn differ_in_case(a: &str, b: &str) -> bool {
    if a == b || a.len() > 24 || !a.eq_ignore_ascii_case(b) {
        return false;
    }
    let unit = |text: &str| text.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).to_owned();
    let (x, y) = (unit(a), unit(b));
    let (Some((first_x, rest_x)), Some((first_y, rest_y))) = (x.split_at_checked(1), y.split_at_checked(1))
    else {
        return false;
    };
    let is_million = first_x != first_y
        && first_x.eq_ignore_ascii_case("m")
        && rest_x == rest_y
        // Milligrams and millilitres are written in any case.
        && matches!(rest_x, "" | "W" | "Hz" | "V" | "A" | "J" | "Wh" | "b" | "B" | "bps");
    let is_bit = |rest: &str| matches!(rest, "b" | "B" | "bps" | "Bps" | "b/s" | "B/s");
    let is_bits = first_x == first_y
        && matches!(first_x, "k" | "K" | "M" | "G" | "T")
        && rest_x != rest_y
        && is_bit(rest_x)
        && is_bit(rest_y);
    is_million || is_bits
}

/// The dimension of temperatures, behind those of the table.
pub(super) const TEMPERATURE: usize = 999;

/// What a unit measures, how many of the first unit it is, and where its zero lies.
pub(super) fn named(name: &str, m_is_minutes: bool) -> Option<(usize, f64, f64)> {
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
    if let Some(currency) = iso::currency(name)
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
