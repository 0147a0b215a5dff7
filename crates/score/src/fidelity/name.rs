//! What the name of an argument says of its value.

use super::vocabulary::{
    CODES, DEGREES, DURATIONS, EXACT, FILTERS, MEASURES, MOMENTS, NO_UNITS, ORDERED, PATHS, PERSONS, PLACES,
    SIDES, THINGS, USUAL, USUAL_TEXTS, WORDS,
};

/// The words of a name, in lower case: `maxResultCount` and `max_result_count` are `max`, `result`, `count`.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    words: Vec<String>,
    /// The unit that the schema's description tells.
    told: Option<(usize, f64)>,
}

/// Longer keys are content.
const LONGEST_KEY: usize = 64;

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
        Self { words, told: None }
    }

    /// The name with the unit that its description tells.
    pub(super) fn in_unit(self, told: (usize, f64)) -> Self {
        Self { told: Some(told), ..self }
    }

    /// A key as all writings of it are: in small letters, without signs between its words, coordinates by their long
    /// names. `None` for one that is content rather than a name: with other signs, or, below the arguments themselves,
    /// one word, of which the case may matter.
    pub(super) fn plain(key: &str, is_argument: bool) -> Option<String> {
        let is_sign = |c: char| matches!(c, '_' | '-' | ' ');
        let is_name = key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.chars().all(|c| c.is_ascii_alphanumeric() || is_sign(c));
        if !is_name || key.len() > LONGEST_KEY {
            return None;
        }
        let words = Self::new(key).words;
        let long = |word: &String| match word.as_str() {
            "lat" => "latitude".to_owned(),
            "lng" | "lon" | "long" => "longitude".to_owned(),
            _ => word.clone(),
        };
        let plain: String = words.iter().map(long).collect();
        let is_coordinate = matches!(plain.as_str(), "latitude" | "longitude");
        (is_argument || is_coordinate || words.len() > 1).then_some(plain)
    }

    /// Whether values are names of things, places or people.
    pub(super) fn is_of_a_thing(&self) -> bool {
        self.is_place() || self.has(&THINGS)
    }

    /// Whether values are words that are searched or written.
    pub(super) fn is_of_words(&self) -> bool {
        self.has(&WORDS)
    }

    /// Its words with spaces between them.
    pub(super) fn said(&self) -> String {
        self.words.join(" ")
    }

    /// How many words it has.
    pub(super) fn length(&self) -> usize {
        self.words.len()
    }

    fn has(&self, names: &[&str]) -> bool {
        self.words.iter().any(|word| names.contains(&word.as_str()))
    }

    fn is(&self, names: &[&str]) -> bool {
        self.words.len() == 1 && self.has(names)
    }

    pub(super) fn is_degrees(&self) -> bool {
        self.has(DEGREES) || self.is(&["long"])
    }

    /// Whether `all` as its value restricts nothing.
    pub(super) fn is_filter(&self) -> bool {
        self.has(FILTERS)
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
    pub(super) fn is_measure(&self) -> bool {
        self.has(MEASURES) || self.side().is_some()
    }

    pub(super) fn is_moment(&self) -> bool {
        self.has(MOMENTS)
    }

    pub(super) fn is_version(&self) -> bool {
        self.has(&["version", "versions", "release", "tag"])
    }

    pub(super) fn is_color(&self) -> bool {
        self.has(&[
            "color",
            "colour",
            "colors",
            "colours",
            "background",
            "fill",
            "stroke",
            "tint",
            "foreground",
        ])
    }

    pub(super) fn is_expression(&self) -> bool {
        self.has(&["expression", "expr", "formula", "equation", "calculation", "math"])
    }

    pub(super) fn is_time_zone(&self) -> bool {
        self.has(&["timezone", "tz", "timezones"]) || (self.has(&["zone"]) && self.has(&["time"]))
    }

    pub(super) fn is_state(&self) -> bool {
        self.has(&["state", "states", "province"])
    }

    pub(super) fn is_month(&self) -> bool {
        self.has(&["month", "months"])
    }

    pub(super) fn is_sorting(&self) -> bool {
        self.has(&["sort", "order", "ordering", "orderby", "sortby", "direction"])
    }

    /// Whether a number may be in Roman digits.
    pub(super) fn is_ordinal(&self) -> bool {
        self.has(&[
            "chapter", "volume", "part", "act", "scene", "book", "episode", "season", "edition", "number",
            "no",
        ])
    }

    pub(super) fn is_rating(&self) -> bool {
        self.has(&["rating", "score", "stars", "grade"])
    }

    pub(super) fn is_ratio(&self) -> bool {
        self.has(&["ratio", "aspect", "odds"])
    }

    /// Whether a value is of ranges of whole numbers.
    pub(super) fn is_range(&self) -> bool {
        self.has(&[
            "page", "pages", "range", "ranges", "rows", "lines", "ports", "port", "columns", "slides",
            "verses",
        ])
    }

    pub(super) fn is_revision(&self) -> bool {
        self.has(&["commit", "commits", "sha", "revision", "rev", "ref", "branch"])
    }

    pub(super) fn is_permission(&self) -> bool {
        self.has(&["mode", "chmod", "permission", "permissions", "umask"])
    }

    pub(super) fn is_sex(&self) -> bool {
        self.has(&["sex", "gender"])
    }

    pub(super) fn is_airport(&self) -> bool {
        self.has(&["airport", "airports", "iata", "departure", "arrival"])
    }

    /// Whether a value is words to search for.
    pub(super) fn is_query(&self) -> bool {
        self.has(&["query", "q", "search", "keywords", "keyword", "terms"])
    }

    pub(super) fn is_unit(&self) -> bool {
        self.has(&["unit", "units", "uom"])
    }

    pub(super) fn is_format(&self) -> bool {
        self.has(&["format", "extension", "ext", "filetype", "mime", "mimetype"])
    }

    /// Whether every letter of a value counts, and its case.
    pub(super) fn is_verbatim(&self) -> bool {
        self.has(&[
            "password",
            "passphrase",
            "secret",
            "regex",
            "regexp",
            "pattern",
            "smiles",
            "inchi",
            "fen",
            "pgn",
        ])
    }

    /// Whether a value is the name of an account or a group, in which each letter counts.
    pub(super) fn is_account(&self) -> bool {
        self.has(&["username", "handle", "subreddit", "screenname", "login", "account"])
    }

    /// Whether a value is a program or a command.
    pub(super) fn is_source(&self) -> bool {
        self.has(&[
            "code",
            "script",
            "snippet",
            "program",
            "command",
            "cmd",
            "shell",
            "python",
            "javascript",
            "source",
        ])
    }

    /// Whether a value may be a pattern for texts, or one on cloth.
    pub(super) fn is_pattern(&self) -> bool {
        self.has(&["pattern"])
    }

    /// Whether whole numbers of a list of this name are in no order.
    pub(super) fn is_of_numbers(&self) -> bool {
        self.has(&[
            "ids",
            "years",
            "ports",
            "pages",
            "seasons",
            "categories",
            "departments",
            "pmids",
            "isbns",
        ])
    }

    /// Whether a value is the name of a person.
    pub(super) fn is_person(&self) -> bool {
        self.is(&["name"])
            || self.has(&PERSONS)
            || (self.has(&["name"]) && self.has(&["first", "last", "full", "family", "given", "customer"]))
    }

    /// The unit that most tools take a bare number of this name in.
    pub(super) fn usual_unit(&self, number: f64) -> Option<(usize, f64)> {
        // A small one may as well be in kilometres or miles.
        if self.is(&["radius"]) && number >= 100.0 { super::quantity::measured(1.0, "metre") } else { None }
    }

    /// The unit that the last word of a name is, `timeout_seconds`, `distanceKm`, or else that its description tells.
    pub(super) fn unit(&self) -> Option<(usize, f64)> {
        self.unit_said().or(self.told)
    }

    fn unit_said(&self) -> Option<(usize, f64)> {
        let words = match &self.words[..] {
            [words @ .., last] if matches!(last.as_str(), "back" | "ago" | "ahead") => words,
            words => words,
        };
        let last = words.last()?;
        let is_unit = if words.len() == self.words.len() && words.len() < 2 {
            DURATIONS.contains(&last.as_str())
        } else {
            !NO_UNITS.contains(&last.as_str())
        };
        if !is_unit {
            return None;
        }
        let one = super::quantity::measured(1.0, last)?;
        // What has another zero is no factor.
        super::quantity::measured(0.0, last).filter(|zero| zero.1 == 0.0).map(|_| one)
    }

    /// Whether most tools have this number as the default of an argument of this name.
    pub(super) fn is_usual(&self, value: f64) -> bool {
        #[expect(clippy::float_cmp, reason = "defaults are written")]
        USUAL.iter().any(|(names, usual)| *usual == value && self.is_one_of(names))
    }

    /// Whether most tools have this text, in small letters, as the default of an argument of this name.
    pub(super) fn is_usual_text(&self, value: &str) -> bool {
        USUAL_TEXTS.iter().any(|(names, usual)| usual.contains(&value) && self.is_one_of(names))
    }

    /// Whether all its words together are one of these.
    fn is_one_of(&self, names: &[&str]) -> bool {
        self.words.len() <= 3 && names.contains(&self.words.concat().as_str())
    }

    /// Whether it says why a call is made, which models do unasked and no tool needs.
    pub(super) fn is_of_call(&self) -> bool {
        self.is(&["reasoning", "rationale", "explanation"])
    }

    /// Whether a value may begin with the name of its argument, which then says nothing.
    pub(super) fn may_be_said(&self) -> bool {
        self.is_query() || self.is_place() || self.has(&["topic", "title", "condition", "term"])
    }

    /// Whether a text with commas names parts of what is asked for, in any order.
    pub(super) fn is_of_items(&self) -> bool {
        self.has(&[
            "fields",
            "field",
            "columns",
            "include",
            "includes",
            "select",
            "types",
            "tags",
            "attributes",
        ])
    }

    /// Whether a word is one of its own, as in `address: ..`.
    pub(super) fn says(&self, word: &str) -> bool {
        self.has(&[word.to_lowercase().as_str()])
    }

    /// Whether a list of this name is a box.
    pub(super) fn is_box(&self) -> bool {
        self.has(&["box", "bbox", "boxes", "rect", "rectangle", "bounds", "bounding", "roi"])
    }
}
