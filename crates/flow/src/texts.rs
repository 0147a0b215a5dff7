//! Texts among arguments, and names of files within them.

use std::ops::Range;

use m3_trajectory::json::{Json, pointer_to};

/// The most files, and the most texts, that are read in the arguments of one call.
pub(crate) const MOST_OF_CALL: usize = 256;

/// Values nested deeper are not looked at.
const MAX_DEPTH: usize = 64;

/// Makes the JSON pointer of a value by calling that of the value around it, so that only texts of interest cost a
/// pointer.
type Pointer<'p> = &'p dyn Fn() -> String;

/// Calls back for each text among arguments, with the name of the nearest member around it and with its pointer, until
/// the callback returns false.
pub(crate) fn walk_texts<'a>(
    arguments: Option<&'a Json>,
    visit: &mut dyn FnMut(&'a str, &str, Pointer<'_>) -> bool,
) {
    fn walk<'a>(
        value: &'a Json,
        name: &str,
        (pointer, depth): (Pointer<'_>, usize),
        visit: &mut dyn FnMut(&'a str, &str, Pointer<'_>) -> bool,
    ) -> bool {
        match value {
            _ if depth > MAX_DEPTH => true,
            Json::String(text) => visit(text, name, pointer),
            Json::Array(items) => items
                .iter()
                .enumerate()
                .all(|(index, item)| walk(item, name, (&|| pointer_to(&pointer(), index), depth + 1), visit)),
            Json::Object(members) => members
                .iter()
                .all(|(key, item)| walk(item, key, (&|| pointer_to(&pointer(), key), depth + 1), visit)),
            _ => true,
        }
    }
    if let Some(arguments) = arguments {
        walk(arguments, "", (&String::new, 0), visit);
    }
}

/// The texts of arguments that are of interest, with their places.
pub(crate) fn texts_of<'a>(
    arguments: Option<&'a Json>,
    is_of_interest: &dyn Fn(&str) -> bool,
) -> Vec<(String, &'a str)> {
    let mut texts = Vec::new();
    walk_texts(arguments, &mut |text, _, pointer| {
        if is_of_interest(text) {
            texts.push((pointer(), text));
        }
        texts.len() < MOST_OF_CALL
    });
    texts
}

/// The bytes of the ending at the start of `rest`, with its dot, that a tool may have added to a file's name without an
/// ending; 0 if there is none.
fn ending_after(name: &str, rest: &str) -> usize {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let Some(ending) = rest.strip_prefix('.').filter(|_| !file.contains('.')) else { return 0 };
    let length = ending.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if (1..=5).contains(&length) { length + 1 } else { 0 }
}

/// Where a name stands in a text as a word of its own.
pub fn whole_words<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '\\');
    text.match_indices(name).filter_map(move |(start, found)| {
        let end = start + found.len() + ending_after(name, &text[start + found.len()..]);
        let before = text[..start].chars().next_back();
        let mut after = text[end..].chars();
        // A dot belongs to a longer name if a letter or a digit follows it; else it ends a sentence.
        let goes_on = match after.next() {
            Some('.') => after.next().is_some_and(char::is_alphanumeric),
            next => next.is_some_and(is_part),
        };
        (!before.is_some_and(is_part) && !goes_on).then_some(start..end)
    })
}
