//! What the name of an argument says of its value.

/// The words of a name, in lower case: `maxResultCount` and `max_result_count` are `max`, `result`, `count`.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    words: Vec<String>,
}

/// Names of degrees.
const DEGREES: &[&str] = &["lat", "lng", "lon", "long", "latitude", "longitude"];

/// Names of values that are another one with another digit, however many there are.
const EXACT: &[&str] = &[
    "id", "ids", "index", "year", "month", "day", "page", "limit", "count", "n", "num", "zoom", "z", "x",
    "y", "port", "code", "level", "version", "seed", "top", "k", "offset", "isbn", "number", "no",
];

/// Names of codes.
const CODES: &[&str] = &[
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
];

/// Names of places.
const PLACES: &[&str] = &[
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
const PATHS: &[&str] =
    &["path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "folder", "uri"];

/// Names of lists whose order matters.
const ORDERED: &[&str] = &[
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
];

/// Names of a box's sides, by axis.
const SIDES: [&[&str]; 2] = [
    &["x", "x1", "x2", "xmin", "xmax", "left", "right", "width", "w"],
    &["y", "y1", "y2", "ymin", "ymax", "top", "bottom", "height", "h"],
];

impl Name {
    /// Of the key of a member.
    pub(super) fn new(key: &str) -> Self {
        let mut words = vec![String::new()];
        let mut before_is_lower = false;
        for c in key.chars().take(128) {
            let is_upper = c.is_uppercase();
            if (is_upper && before_is_lower) || !c.is_alphanumeric() {
                words.push(String::new());
            }
            before_is_lower = c.is_lowercase() || c.is_numeric();
            if c.is_alphanumeric()
                && let Some(word) = words.last_mut()
            {
                word.extend(c.to_lowercase());
            }
        }
        words.retain(|word| !word.is_empty());
        Self { words }
    }

    fn has(&self, names: &[&str]) -> bool {
        self.words.iter().any(|word| names.contains(&word.as_str()))
    }

    fn is(&self, names: &[&str]) -> bool {
        self.words.len() == 1 && self.has(names)
    }

    pub(super) fn is_degrees(&self) -> bool {
        self.has(DEGREES)
    }

    /// Whether a number of this name is another one as soon as it differs.
    pub(super) fn is_exact(&self) -> bool {
        self.has(EXACT)
    }

    pub(super) fn is_code(&self) -> bool {
        self.has(CODES) && !self.is_language() && !self.is_region()
    }

    pub(super) fn is_place(&self) -> bool {
        self.has(PLACES)
    }

    pub(super) fn is_path(&self) -> bool {
        self.has(PATHS)
    }

    pub(super) fn is_url(&self) -> bool {
        self.has(&["url", "urls", "link", "href", "website", "domain", "host"])
    }

    pub(super) fn is_language(&self) -> bool {
        self.has(&["language", "languages", "lang", "locale", "langs"])
    }

    pub(super) fn is_region(&self) -> bool {
        self.has(&["country", "countries", "region", "nationality", "market"])
    }

    pub(super) fn is_currency(&self) -> bool {
        self.has(&["currency", "currencies"])
    }

    pub(super) fn is_ordered(&self) -> bool {
        self.has(ORDERED)
    }

    /// The axis of a box's side, 0 or 1.
    pub(super) fn side(&self) -> Option<usize> {
        (0..2).find(|&axis| self.is(SIDES[axis]) || (self.words.len() == 2 && self.has(SIDES[axis])))
    }

    /// Whether it is the length of a side, or its far end with this near end.
    pub(super) fn is_length(&self) -> bool {
        self.has(&["width", "w", "height", "h"])
    }
}

impl Name {
    /// Whether a list of this name is a box.
    pub(super) fn is_box(&self) -> bool {
        self.has(&["box", "bbox", "boxes", "rect", "rectangle", "bounds", "bounding", "roi"])
    }
}
