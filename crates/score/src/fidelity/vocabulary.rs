//! Words of the names of arguments, by what they say of the value.

use std::sync::LazyLock;

/// Names of degrees.
pub(super) const DEGREES: &[&str] = &["lat", "lng", "lon", "latitude", "longitude"];

/// Names of what is searched, sorted or shown, where `all` or `none` is no restriction.
pub(super) const FILTERS: &[&str] = &[
    "category", "type", "kind", "status", "filter", "sort", "order", "language", "region", "country",
    "genre", "scope", "mode", "topic", "tag", "level", "period", "time",
];

/// Names of values that are another one with another digit, however many there are.
pub(super) const EXACT: &[&str] = &[
    "price",
    "prices",
    "amount",
    "budget",
    "cost",
    "salary",
    "income",
    "principal",
    "balance",
    "payment",
    "total",
    "fee",
    "quantity",
    "qty",
    "number",
    "id",
    "ids",
    "index",
    "year",
    "month",
    "day",
    "page",
    "limit",
    "count",
    "n",
    "num",
    "zoom",
    "z",
    "x",
    "y",
    "port",
    "code",
    "level",
    "version",
    "seed",
    "top",
    "k",
    "offset",
    "isbn",
    "no",
];

/// Names of codes.
pub(super) const CODES: &[&str] = &[
    "id",
    "ids",
    "isbn",
    "issn",
    "doi",
    "sku",
    "upc",
    "ean",
    "asin",
    "ticker",
    "tickers",
    "symbol",
    "symbols",
    "code",
    "codes",
    "hash",
    "sha",
    "sha1",
    "sha256",
    "md5",
    "checksum",
    "digest",
    "uuid",
    "guid",
    "key",
    "token",
    "instrument",
    "vin",
    "iban",
    "barcode",
    "pmid",
    "nct",
    "cell",
    "cve",
    "commit",
    "icd",
    "serial",
    "license",
    "sequence",
    "dna",
    "rna",
    "protein",
    "gene",
    "zip",
    "zipcode",
    "postcode",
    "postal",
    "mac",
    "imei",
    "orcid",
    "arxiv",
    "phone",
    "telephone",
    "mobile",
    "fax",
];

/// Names of places.
pub(super) const PLACES: &[&str] = &[
    "address",
    "location",
    "locations",
    "place",
    "city",
    "town",
    "origin",
    "origins",
    "destination",
    "destinations",
    "waypoint",
    "waypoints",
    "center",
    "venue",
    "from",
    "to",
];

/// Names of paths.
pub(super) const PATHS: &[&str] =
    &["path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "folder", "uri"];

/// Names of lists whose order matters.
pub(super) const ORDERED: &[&str] = &[
    "waypoints",
    "waypoint",
    "intermediates",
    "steps",
    "route",
    "path",
    "points",
    "order",
    "sequence",
    "rows",
    "data",
    "args",
    "command",
    "stops",
    "coordinates",
    "bbox",
    "box",
    "color",
    "colour",
    "range",
    "interval",
    "messages",
    "tracks",
    "songs",
    "playlist",
    "frames",
    "slides",
    "chapters",
    "layers",
    "scenes",
    "stages",
    "operations",
    "commands",
    "actions",
    "instructions",
    "moves",
    "keystrokes",
    "ranking",
    "priorities",
    "sort",
    "vertices",
    "polygon",
    "polyline",
    "series",
    "queue",
    "itinerary",
    "legs",
    "lines",
    "params",
    "argv",
    "samples",
    "vector",
    "matrix",
];

/// Names of a box's sides, by axis.
pub(super) const SIDES: [&[&str]; 2] = [
    &["x", "x1", "x2", "xmin", "xmax", "left", "right", "width", "w"],
    &["y", "y1", "y2", "ymin", "ymax", "top", "bottom", "height", "h"],
];

/// Names of values that are measured, so that a little more or less is nearly the same.
pub(super) const MEASURES: &[&str] = &[
    "radius",
    "distance",
    "width",
    "height",
    "length",
    "size",
    "area",
    "weight",
    "altitude",
    "elevation",
    "depth",
    "diameter",
    "thickness",
    "pixels",
    "px",
    "center",
    "centre",
    "cx",
    "cy",
    "left",
    "top",
    "right",
    "bottom",
    "points",
    "polygon",
    "vertices",
    "bbox",
    "box",
    "boxes",
    "rect",
    "roi",
    "region",
    "coordinates",
    "areas",
    "position",
    "corners",
    "crop",
];

/// Names of moments.
pub(super) const MOMENTS: &[&str] = &[
    "time",
    "timestamp",
    "date",
    "datetime",
    "since",
    "until",
    "start",
    "end",
    "from",
    "to",
    "at",
    "before",
    "after",
    "begin",
    "epoch",
    "when",
    "ts",
    "created",
    "updated",
    "expires",
    "due",
    "deadline",
    "begins",
    "ends",
];

/// Arguments of tools whose usual default is this value.
pub(super) const USUAL: &[(&[&str], f64)] = &[
    (&["page", "pagenumber", "pageno"], 1.0),
    (&["maxresults", "maxresultcount"], 10.0),
    (&["offset", "skip", "rotation", "angle", "padding", "margin", "delay", "tilt", "bearing"], 0.0),
    (
        &[
            "brightness",
            "contrast",
            "saturation",
            "sharpness",
            "opacity",
            "scale",
            "gamma",
            "speed",
            "zoomfactor",
        ],
        1.0,
    ),
];

/// Texts that most tools have as the default of arguments of these names, in small letters.
pub(super) const USUAL_TEXTS: &[(&[&str], &[&str])] = &[
    (&["language", "languagecode", "lang", "locale"], &["en", "eng", "english", "en-us"]),
    (&["mode", "travelmode"], &["driving", "drive"]),
    (&["maptype"], &["roadmap"]),
    (&["startcell"], &["a1"]),
    (&["sort", "sortby", "orderby"], &["relevance"]),
    (&["encoding", "charset"], &["utf-8", "utf8"]),
];

/// Words that are units and have other meanings at the end of a name.
pub(super) const NO_UNITS: &[&str] = &[
    "min", "d", "in", "m", "t", "us", "a", "b", "y", "c", "f", "k", "l", "h", "w", "v", "st", "g", "all",
    "top",
];

/// Names that are units by themselves.
pub(super) const DURATIONS: &[&str] = &["seconds", "minutes", "hours", "days", "milliseconds"];

/// Names of things that have a name.
pub(super) static THINGS: LazyLock<Vec<&str>> = LazyLock::new(|| named("things"));

/// Names of words that are searched or written.
pub(super) static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| named("words"));

/// Names of people.
pub(super) static PERSONS: LazyLock<Vec<&str>> = LazyLock::new(|| named("persons"));

/// A line of the table of names of arguments.
fn named(kind: &str) -> Vec<&'static str> {
    let mut lines = include_str!("tables/argument_names.txt").lines();
    let names = lines.find_map(|line| line.strip_prefix(kind)?.strip_prefix(": "));
    names.into_iter().flat_map(str::split_whitespace).collect()
}
