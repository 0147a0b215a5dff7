//! What the name of an argument or of a field says: which ones are alike, which ones are settings, which ones say how
//! many, which ones name what is written.

use m3_support::names;

/// Words of one thing.
const SAME: [(&str, &str); 5] =
    [("latitude", "lat"), ("longitude", "lon"), ("lng", "lon"), ("identifier", "id"), ("ticker", "symbol")];

/// Last words of names that tell one thing of many: `paper_id` is what a field `id` holds.
const NAMING: [&str; 6] = ["id", "code", "index", "number", "key", "slug"];

/// Words of names that say nothing of the thing, besides [`NAMING`] and [`AMOUNTS`].
const VAGUE: [&str; 16] = [
    "name", "value", "text", "title", "date", "time", "data", "item", "list", "result", "image", "file",
    "path", "query", "end", "is",
];

/// Last words of names that tell a place in a list.
const POSITIONS: [&str; 6] = ["index", "idx", "position", "rank", "ordinal", "nth"];

/// Settings: their values are chosen from a few words that stand in any text.
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

/// How many, how large, which page.
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

/// Words of names of what is written.
const OUTPUTS: [&str; 9] =
    ["output", "out", "save", "saved", "dest", "destination", "target", "export", "outfile"];

/// Words of names of what is only read, also by tools that change something.
const INPUTS: [&str; 5] = ["input", "source", "src", "from", "template"];

/// The start of a longer name tells what it is, in characters.
const LONGEST: usize = 200;

/// The words of a name in lower case: `paperId`, `paper_id` and `paper-id` have the same; those of a plural lose it.
pub(super) fn words(name: &str) -> Vec<String> {
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

/// What an argument's value may be called in a result. Two names are alike where they have one of these in common.
pub(super) fn argument_classes(name: &str) -> Vec<String> {
    let words = words(name);
    let mut classes = vec![words.concat()];
    if let Some(last) = words.last().filter(|last| NAMING.contains(&last.as_str())) {
        classes.push(format!("*{last}"));
    }
    classes.extend(things(&words));
    classes
}

/// Words of which one is enough where a short value is the same: `country_code` and `country`.
fn things(words: &[String]) -> impl Iterator<Item = String> {
    let is_thing = |word: &&String| {
        let lists = [&NAMING[..], &AMOUNTS, &VAGUE, &SETTINGS];
        word.chars().count() >= 2
            && word.chars().all(char::is_alphabetic)
            && !lists.iter().any(|list| list.contains(&word.as_str()))
    };
    words.iter().filter(is_thing).map(|word| format!("~{word}"))
}

/// Whether an argument of this name tells a place in a list.
pub(super) fn names_position(name: &str) -> bool {
    words(name).last().is_some_and(|last| POSITIONS.contains(&last.as_str()))
}

/// Whether a class is that of a name that says how many.
pub(super) fn is_amount_class(class: &str) -> bool {
    let class = class.trim_start_matches(['~', '*']);
    AMOUNTS.iter().any(|amount| class == *amount || (amount.len() > 2 && class.ends_with(amount)))
}

/// What a field's value may be called as an argument. `parent` is the field around it.
pub(super) fn field_classes(name: &str, parent: Option<&str>) -> Vec<String> {
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

/// Whether the name is one of a thing among many, such as an id.
pub(super) fn names_one_of_many(class: &str) -> bool {
    NAMING.iter().any(|naming| class.ends_with(naming))
}

/// Whether an argument of this name is a setting: only a field of the same name gives its value.
pub(super) fn is_setting(name: &str) -> bool {
    words(name).last().is_some_and(|last| SETTINGS.contains(&last.as_str()))
}

/// Whether an argument of this name says how many.
pub(super) fn is_amount(name: &str) -> bool {
    let words = words(name);
    words.first().is_some_and(|first| first == "max" || first == "min")
        || words.last().is_some_and(|last| AMOUNTS.contains(&last.as_str()))
}

/// Whether an argument of this name is where something is written to.
pub(super) fn is_output(name: &str) -> bool {
    words(name).iter().any(|word| OUTPUTS.contains(&word.as_str()))
}

/// Whether an argument of this name is where something is read from.
pub(super) fn is_input(name: &str) -> bool {
    words(name).iter().any(|word| INPUTS.contains(&word.as_str()))
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
        assert!(["output_path", "savePath", "dest"].map(is_output).iter().all(|&is| is));
        assert!(!["input_path", "layout", "title"].map(is_output).iter().any(|&is| is));
    }
}
