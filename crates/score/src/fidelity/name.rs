//! What the name of an argument says of its value, by the words of `tables/argument_names.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;

/// The words of names, by the line of the table: what they say of a value.
static SAYS: LazyLock<HashMap<&str, Vec<&str>>> =
    LazyLock::new(|| table(include_str!("tables/argument_names.txt")));

/// Values that most tools have as the default of arguments of these names, in small letters.
static USUAL: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let lines = table(include_str!("tables/usual_defaults.txt"));
    let each = lines
        .into_iter()
        .flat_map(|(names, values)| names.split_whitespace().map(move |name| (name, values.clone())));
    each.collect()
});

fn table(text: &'static str) -> HashMap<&'static str, Vec<&'static str>> {
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines.map(|(name, words)| (name, words.split_whitespace().collect())).collect()
}

/// The kind of thing that texts name, by their argument's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamedThing {
    /// Places and addresses, whose streets have abbreviations.
    Places,
    /// People, whose given names may be initials.
    People,
    /// Anything else.
    Other,
}

/// The words of a name, in lower case: `maxResultCount` and `max_result_count` are `max`, `result`, `count`.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    words: Vec<String>,
}

/// The most characters that are read of a name, and of a text about an argument.
const LONGEST_NAME: usize = 128;
const LONGEST_TEXT: usize = 1000;

/// The most bytes of a key that is a name; longer keys are content.
const LONGEST_KEY: usize = 64;

impl Name {
    /// Creates the name from the key of a member.
    pub(super) fn new(key: &str) -> Self {
        Self::of_characters(key, LONGEST_NAME)
    }

    fn of_characters(text: &str, most: usize) -> Self {
        let mut words = vec![String::new()];
        let mut before_is_lower = false;
        for c in text.chars().take(most) {
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

    /// A key in the form that all its writings share: in lower case, without signs between its words, coordinates by
    /// their long names. `None` for a key that is content rather than a name: one with other signs, or a single word
    /// below the top level, where case may matter. Names in other alphabets are equal in all their forms of Unicode.
    pub(super) fn plain(key: &str, is_argument: bool) -> Option<String> {
        if !key.is_ascii() {
            return (key.len() <= LONGEST_KEY).then(|| key.nfc().collect());
        }
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

    /// Whether a word of the name is in this line of the table.
    pub(super) fn is_of(&self, line: &str) -> bool {
        let words = SAYS.get(line);
        debug_assert!(words.is_some(), "the table has no line `{line}`");
        words.is_some_and(|words| self.words.iter().any(|word| words.contains(&word.as_str())))
    }

    /// The words of the name with spaces between them.
    pub(super) fn with_spaces(&self) -> String {
        self.words.join(" ")
    }

    /// Creates a name from the words at the beginning of a text.
    pub(super) fn of_text(text: &str) -> Self {
        Self::of_characters(text, LONGEST_TEXT)
    }

    /// The words of the name.
    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// The last word of the name.
    pub(super) fn last(&self) -> Option<&str> {
        self.words.last().map(String::as_str)
    }

    /// Whether values are latitudes or longitudes.
    pub(super) fn is_degrees(&self) -> bool {
        self.is_of("degrees") || self.with_spaces() == "long"
    }

    /// Whether values are codes, other than those of languages and regions, such as `language_code`.
    pub(super) fn is_code(&self) -> bool {
        self.is_of("codes") && !self.is_of("languages") && !self.is_of("regions")
    }

    /// Whether values are identifiers of words: `table_name`, but not `table_size`.
    pub(super) fn is_identifier(&self) -> bool {
        let rest = match self.words.split_last() {
            Some((last, rest)) if matches!(last.as_str(), "name" | "id") && !rest.is_empty() => rest,
            _ => &self.words,
        };
        rest.last().is_some_and(|word| Self { words: vec![word.clone()] }.is_of("identifiers"))
    }

    /// Whether values are time zones.
    pub(super) fn is_time_zone(&self) -> bool {
        self.is_of("zones") || self.with_spaces().contains("time zone")
    }

    /// The kind of thing that texts under this name are about.
    pub(super) fn named(&self) -> NamedThing {
        match (self.is_of_a_place(), self.is_of("people")) {
            (true, _) => NamedThing::Places,
            (_, true) => NamedThing::People,
            _ => NamedThing::Other,
        }
    }

    /// Whether values are names of things, places or people.
    pub(super) fn is_of_a_thing(&self) -> bool {
        self.is_of_a_place() || self.is_of("things")
    }

    /// Whether values are places. `from` and `to` are names of places only alone, not in `from_unit`.
    fn is_of_a_place(&self) -> bool {
        self.is_of("places") || matches!(&*self.with_spaces(), "from" | "to")
    }

    /// Whether a value orders, counts or narrows what is asked for: `sort_by`, `room_qty`, `max_price` and `filters` do, `order`,
    /// `room_number` and `max_results` do not. `number` is the value if it is one.
    pub(super) fn changes_the_answer(&self, number: Option<f64>) -> bool {
        let last = self.last().unwrap_or_default();
        let orders = self.is_of("orders") || last == "by" && self.words.iter().any(|word| word == "order");
        let narrows = matches!(last, "filter" | "filters");
        let is_measured = self.is_of("exact") && !self.is_of("shapes");
        let is_some = number.is_some_and(|number| number != 0.0);
        let is_bound = self.is_of("bounds") && is_measured;
        orders || narrows || is_some && (is_bound || self.is_count())
    }

    /// Whether a value is a number of rooms or persons: `rooms`, `room_qty`, `number_of_guests`, but not `room_number`.
    pub(super) fn is_count(&self) -> bool {
        let last = self.last().unwrap_or_default();
        self.is_of("counts")
            && (matches!(last, "qty" | "quantity" | "count") || Self::new(last).is_of("counts"))
    }

    /// Whether most tools have this value, in small letters, as the default of an argument of this name.
    pub(super) fn is_usual(&self, value: &str) -> bool {
        self.words.len() <= 3
            && USUAL.get(self.words.concat().as_str()).is_some_and(|values| values.contains(&value))
    }
}
