//! Classifies arguments and fields by their names: which are alike, which are settings, which are amounts, which are
//! outputs.

use std::cell::RefCell;

use m3_support::name_cache::NameCache;
use m3_support::names;

/// Pairs of words with the same meaning.
const SAME: [(&str, &str); 5] =
    [("latitude", "lat"), ("longitude", "lon"), ("lng", "lon"), ("identifier", "id"), ("ticker", "symbol")];

/// Last words of names that identify one of many things: `paper_id` is the value of a field `id`.
const NAMING: [&str; 6] = ["id", "code", "index", "number", "key", "slug"];

/// Words in names that reveal nothing about the thing, besides [`NAMING`] and [`AMOUNTS`].
const VAGUE: [&str; 16] = [
    "name", "value", "text", "title", "date", "time", "data", "item", "list", "result", "image", "file",
    "path", "query", "end", "is",
];

/// Last words of names that mean a place in a list.
const POSITIONS: [&str; 6] = ["index", "idx", "position", "rank", "ordinal", "nth"];

/// Names of settings: their values are chosen from a few words that occur in any text.
const SETTINGS: [&str; 34] = [
    "type",
    "mode",
    "unit",
    "language",
    "lang",
    "region",
    "locale",
    "operation",
    "interval",
    "format",
    "domain",
    "channel",
    "sort",
    "order",
    "bar",
    "status",
    "color",
    "colour",
    "palette",
    "font",
    "face",
    "config",
    "alignment",
    "style",
    "scheme",
    "currency",
    "preference",
    "field",
    "direction",
    "encoding",
    "verbose",
    "timezone",
    "scale",
    "level",
];

/// Words in names that mean an amount, a size or a page.
const AMOUNTS: [&str; 18] = [
    "n",
    "limit",
    "page",
    "count",
    "max",
    "min",
    "top",
    "size",
    "zoom",
    "offset",
    "start",
    "timeout",
    "k",
    "radius",
    "thickness",
    "width",
    "height",
    "depth",
];

/// Words in names of outputs.
const OUTPUTS: [&str; 6] = ["output", "out", "save", "saved", "export", "outfile"];

/// Words in names of outputs that also name places, hosts and people.
const GOALS: [&str; 3] = ["dest", "destination", "target"];

/// Words in names of inputs, also of tools that change something.
const INPUTS: [&str; 5] = ["input", "source", "src", "from", "template"];

/// Last words of names of arguments that hold paths.
const PATHS: [&str; 7] = ["path", "dir", "directory", "folder", "file", "filename", "filepath"];

/// The most characters of a name that are read.
const LONGEST: usize = 200;

/// The words of a name in lower case, without the ending of a plural: `paperId`, `paper_id` and `paper-id` have the
/// same words.
#[must_use]
pub fn words(name: &str) -> Vec<String> {
    let end = name.char_indices().nth(LONGEST).map_or(name.len(), |(end, _)| end);
    let mut words = names::words(&name[..end], |c| !c.is_alphanumeric());
    for word in &mut words {
        if word.len() > 2 && word.ends_with('s') && !word.ends_with("ss") && word != "gas" {
            word.pop();
        }
        if let Some((_, same)) = SAME.iter().find(|(long, _)| long == word) {
            (*same).clone_into(word);
        }
    }
    words
}

/// The names that an argument's value may have in a result. Two names are alike if they have one of these in common.
pub(crate) fn argument_classes(name: &str) -> Vec<String> {
    let words = words(name);
    let mut classes = vec![words.concat()];
    if let Some(last) = words.last().filter(|last| NAMING.contains(&last.as_str())) {
        classes.push(format!("*{last}"));
    }
    classes.extend(things(&words));
    classes
}

/// The words that name a thing. If two names share one of them, an equal short value counts: `country_code` and
/// `country`.
fn things(words: &[String]) -> impl Iterator<Item = String> {
    let is_thing = |word: &&String| {
        let lists = [&NAMING[..], &AMOUNTS, &VAGUE, &SETTINGS];
        word.chars().count() >= 2
            && word.chars().all(char::is_alphabetic)
            && !lists.iter().any(|list| list.contains(&word.as_str()))
    };
    words.iter().filter(is_thing).map(|word| format!("~{word}"))
}

/// Whether an argument of this name is a place in a list.
pub(crate) fn names_position(name: &str) -> bool {
    words(name).last().is_some_and(|last| POSITIONS.contains(&last.as_str()))
}

/// Whether a name of this class is an amount.
pub(crate) fn is_amount_class(class: &str) -> bool {
    let class = class.trim_start_matches(['~', '*']);
    AMOUNTS.iter().any(|amount| class == *amount || (amount.len() > 2 && class.ends_with(amount)))
}

/// The names that a field's value may have as an argument. `parent` is the field around it.
pub(crate) fn field_classes(name: &str, parent: Option<&str>) -> Vec<String> {
    let words_here = words(name);
    let mut classes = vec![words_here.concat()];
    if let [word] = words_here.as_slice()
        && NAMING.contains(&word.as_str())
    {
        classes.push(format!("*{word}"));
        classes.extend(parent.map(|parent| words(parent).concat() + word));
    }
    classes.extend(things(&words_here));
    classes
}

/// Whether the name identifies one thing of many, such as an id.
pub(crate) fn names_one_of_many(class: &str) -> bool {
    NAMING.iter().any(|naming| class.ends_with(naming))
}

/// Whether an argument of this name is a setting: its value can only come from a field of the same name.
pub(crate) fn is_setting(name: &str) -> bool {
    words(name).last().is_some_and(|last| SETTINGS.contains(&last.as_str()))
}

/// Whether an argument of this name is an amount.
pub(crate) fn is_amount(name: &str) -> bool {
    let words = words(name);
    words.first().is_some_and(|first| first == "max" || first == "min")
        || words.last().is_some_and(|last| AMOUNTS.contains(&last.as_str()))
}

/// Whether an argument of a name with these words is an output.
pub(crate) fn is_output(words: &[String]) -> bool {
    words.iter().any(|word| OUTPUTS.contains(&word.as_str())) || is_goal(words)
}

/// Whether an argument of a name with these words is an output only if its value is a file: a `target` may be a city.
pub(crate) fn is_goal(words: &[String]) -> bool {
    words.iter().any(|word| GOALS.contains(&word.as_str()))
        && !words.iter().any(|word| OUTPUTS.contains(&word.as_str()))
}

/// Words in names of arguments that take pictures and other files.
const FILES: [&str; 12] = [
    "image",
    "picture",
    "photo",
    "img",
    "media",
    "attachment",
    "document",
    "video",
    "audio",
    "mask",
    "overlay",
    "uri",
];

/// Whether an argument of this name takes a file, rather than a text that names one.
#[must_use]
pub fn names_input_file(name: &str) -> bool {
    let words = words(name);
    names_path(&words) || is_input(&words) || words.iter().any(|word| FILES.contains(&word.as_str()))
}

/// Whether an argument of this name gives a name or an id to something.
pub(crate) fn gives_name(name: &str) -> bool {
    thread_local! {
        static NAMES: RefCell<NameCache<bool>> = RefCell::default();
    }
    let says =
        |name: &str| words(name).last().is_some_and(|last| last == "name" || NAMING.contains(&last.as_str()));
    NAMES.with_borrow_mut(|names| names.of_name(name, says))
}

/// Whether an argument of a name with these words holds a path, whatever it looks like.
pub(crate) fn names_path(words: &[String]) -> bool {
    words.last().is_some_and(|last| PATHS.contains(&last.as_str()))
}

/// Whether an argument of a name with these words is an input.
pub(crate) fn is_input(words: &[String]) -> bool {
    words.iter().any(|word| INPUTS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_alike_by_their_words() {
        let is_alike = |argument: &str, field: &str, parent: Option<&str>| {
            let fields = field_classes(field, parent);
            argument_classes(argument).iter().any(|class| fields.contains(class))
        };
        for (argument, field, parent) in [
            ("objectId", "objectID", None),
            ("objectId", "objectIDs", None),
            ("paper_id", "id", None),
            ("departmentId", "id", Some("departments")),
            ("lat", "latitude", None),
            ("lng", "longitude", None),
            ("slide_index", "slideIndex", None),
            ("country_code", "country", None),
            ("ticker", "symbol", None),
        ] {
            assert!(is_alike(argument, field, parent), "{argument} {field}");
        }
        for (argument, field) in [
            ("objectId", "departmentId"),
            ("title", "name"),
            ("x1", "x"),
            ("lat", "lng"),
            ("end_time", "start_time"),
        ] {
            assert!(!is_alike(argument, field, None), "{argument} {field}");
        }
    }

    #[test]
    fn settings_amounts_and_outputs_are_known_by_name() {
        assert!(
            ["search_type", "travelMode", "units", "amazon_domain", "languageCode2"]
                .map(is_setting)
                .starts_with(&[true; 4])
        );
        assert!(
            ["n", "maxResultCount", "max_results", "radiusMeters", "page"]
                .map(is_amount)
                .starts_with(&[true; 3])
        );
        assert!(["output_path", "savePath", "dest"].map(|name| is_output(&words(name))).iter().all(|&is| is));
        assert!(!["input_path", "layout", "title"].map(|name| is_output(&words(name))).iter().any(|&is| is));
    }
}
