//! Reads members of JSON that others wrote, and cuts texts to what a page shows.

use m3_trajectory::json::Json;

/// The member of an object that was read.
pub(crate) fn member<'a>(members: &'a [(String, Json)], key: &str) -> Option<&'a Json> {
    members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// A number that counts something.
pub(crate) fn count(value: &Json) -> Option<u64> {
    match value {
        Json::Integer(value) => u64::try_from(*value).ok(),
        _ => None,
    }
}

/// The beginning of a text, with an ellipsis if there is more.
pub(crate) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
