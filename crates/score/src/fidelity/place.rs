//! Finds a value in a call's arguments, to show what a comparison says of it.

use std::borrow::Cow;

use m3_support::pointer::segments;
use m3_trajectory::json::Json;

/// The most characters of a key in a name.
const KEY: usize = 1_000;

/// What a JSON pointer leads to.
pub struct Place<'a> {
    /// The name for people: `location.lat`, `box[2]`.
    pub name: String,
    /// The value at the place, if there is one.
    pub value: Option<&'a Json>,
    /// Whether the pointer goes on into the value, which is a text that holds others or stands for a list.
    pub is_inside: bool,
}

impl<'a> Place<'a> {
    /// Finds the place that a pointer leads to in a call's arguments; a pointer that leads nowhere does no harm.
    #[must_use]
    pub fn of(arguments: Option<&'a Json>, pointer: &str) -> Self {
        let mut place = Place { name: String::new(), value: arguments, is_inside: false };
        for key in segments(pointer) {
            match place.value {
                // A list of one item may stand without its brackets.
                Some(Json::Object(members)) if key == "0" && !members.iter().any(|(name, _)| name == "0") => {
                }
                Some(Json::Object(members)) => {
                    place.value = members.iter().find(|(name, _)| *name == key).map(|(_, value)| value);
                    add_member(&mut place.name, &key);
                }
                Some(Json::Array(items)) => {
                    place.value = key.parse::<usize>().ok().and_then(|index| items.get(index));
                    add_item(&mut place.name, &key);
                }
                within => {
                    place.is_inside = within.is_some();
                    let add = if is_index(&key) { add_item } else { add_member };
                    add(&mut place.name, &key);
                }
            }
        }
        place
    }
}

fn add_member(name: &mut String, key: &str) {
    if !name.is_empty() {
        name.push('.');
    }
    // An empty name would stand for the arguments as a whole.
    name.push_str(&if key.is_empty() { "\"\"".into() } else { cut(key, KEY) });
}

fn add_item(name: &mut String, index: &str) {
    name.push('[');
    name.push_str(&cut(index, KEY));
    name.push(']');
}

/// The name of the place that a pointer leads to: keys with points between them, each cut after `longest` characters,
/// and what `item` writes for an index in a list.
pub(super) fn name_of(pointer: &str, item: impl Fn(&str) -> String, longest: usize) -> String {
    let mut name = String::new();
    for key in segments(pointer) {
        if is_index(&key) {
            name.push_str(&item(&key));
            continue;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(&cut(&key, longest));
    }
    name
}

/// Whether a segment of a pointer may be an index in a list.
pub(super) fn is_index(segment: &str) -> bool {
    !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first characters of a text, with an ellipsis if there are more.
#[must_use]
pub fn cut(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters) {
        None => text.into(),
        Some((offset, _)) => format!("{}…", &text[..offset]).into(),
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    /// Whatever a comparison says, a pointer that leads nowhere leads to nothing.
    #[test]
    fn pointers_that_lead_nowhere_are_harmless() {
        for pointer in ["", "/", "/a/b/c", "/99999999999999999999", "/-1", "//", "no pointer", "/~", "/~2"] {
            for text in ["null", "{}", "[]", "[1]", r#""text""#] {
                let place = Some(parse(text.as_bytes()).unwrap().0);
                let _ = Place::of(place.as_ref(), pointer);
            }
            assert!(Place::of(None, pointer).value.is_none());
        }
    }
}
