//! Members of JSON objects as other programs write them: absent and null are the same, and names vary.

use m3_trajectory::json::Json;

/// A list of names, which are written one after another.
macro_rules! names {
    ($($name:ident)*) => { &[$(stringify!($name)),*] };
}
pub(crate) use names;

/// Reads members of objects; a member that is null counts as missing.
pub(crate) trait Fields {
    /// The first of these members that is there.
    fn first(&self, keys: &[&str]) -> Option<&Json>;

    /// The member with this name.
    fn member(&self, key: &str) -> Option<&Json> {
        self.first(&[key])
    }

    /// The member of a member, and so on.
    fn below(&self, path: &[&str]) -> Option<&Json>;

    /// Whether the member is there.
    fn has(&self, key: &str) -> bool {
        self.member(key).is_some()
    }

    /// The first of these members that is there, if it is a text.
    fn first_text(&self, keys: &[&str]) -> Option<&str> {
        self.first(keys)?.as_str()
    }

    /// The text to which the path leads.
    fn text_below(&self, path: &[&str]) -> Option<&str> {
        self.below(path)?.as_str()
    }

    /// The items of the first of these members that is there, if it is a list; or nothing.
    fn first_list(&self, keys: &[&str]) -> &[Json] {
        self.first(keys).map(Json::items).unwrap_or_default()
    }

    /// The items of the list to which the path leads, or nothing.
    fn list_below(&self, path: &[&str]) -> &[Json] {
        self.below(path).map(Json::items).unwrap_or_default()
    }

    /// The member, if it is a text.
    fn text(&self, key: &str) -> Option<&str> {
        self.member(key)?.as_str()
    }

    /// Whether the member is this text.
    fn says(&self, key: &str, text: &str) -> bool {
        self.text(key) == Some(text)
    }

    /// Whether the member is `true`.
    fn is(&self, key: &str) -> bool {
        self.member(key) == Some(&Json::Bool(true))
    }

    /// The items of the member; empty if it is not a list.
    fn list(&self, key: &str) -> &[Json] {
        self.member(key).map(Json::items).unwrap_or_default()
    }

    /// The member as a whole number that is not negative, even if it is written as a text.
    fn count(&self, key: &str) -> Option<u64> {
        self.member(key).and_then(count)
    }

    /// The member as a number, even if it is written as a text.
    fn number(&self, key: &str) -> Option<f64> {
        self.member(key).and_then(number)
    }

    /// The member as an id: a text, or a whole number as a text.
    fn id(&self, key: &str) -> Option<String> {
        self.member(key).and_then(id)
    }
}

impl Fields for Json {
    fn first(&self, keys: &[&str]) -> Option<&Json> {
        keys.iter().filter_map(|key| self.get(key)).find(|value| **value != Json::Null)
    }

    fn below(&self, path: &[&str]) -> Option<&Json> {
        path.iter().try_fold(self, |value, key| value.member(key))
    }
}

/// A name without case and punctuation: `tool_calls`, `toolCalls` and `tool-calls` are the same.
pub(crate) fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The members of an object; empty for other values.
pub(crate) fn members(value: &Json) -> &[(String, Json)] {
    match value {
        Json::Object(members) => members,
        _ => &[],
    }
}

/// The items of a list; any other value as the only item.
pub(crate) fn items_or_one(value: &Json) -> &[Json] {
    match value {
        Json::Array(items) => items,
        one => std::slice::from_ref(one),
    }
}

/// The value as a whole number that is not negative, even if it is written as a text.
pub(crate) fn count(value: &Json) -> Option<u64> {
    match value {
        Json::Integer(number) => u64::try_from(*number).ok(),
        Json::String(text) | Json::LongInteger(text) => text.parse().ok(),
        // Some exporters write every number with a point.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole and in range"
        )]
        Json::Float(number) if number.fract() == 0.0 && (0.0..9e15).contains(number) => Some(*number as u64),
        _ => None,
    }
}

/// The value as a finite number, even if it is written as a text.
pub(crate) fn number(value: &Json) -> Option<f64> {
    let number = match value {
        #[expect(clippy::cast_precision_loss, reason = "times and counts")]
        Json::Integer(number) => *number as f64,
        Json::Float(number) => *number,
        Json::String(text) | Json::LongInteger(text) => text.parse().ok()?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// The value as an id: a text, or a whole number as a text.
pub(crate) fn id(value: &Json) -> Option<String> {
    match value {
        Json::String(text) | Json::LongInteger(text) => Some(text.clone()),
        Json::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The role of a message, if it has one.
pub(crate) fn role(message: &Json) -> Option<&str> {
    let inner = ["info", "author"].iter().filter_map(|key| message.below(&[key, "role"]));
    // A whole reply of Anthropic's, as batches have it, is no message of a list.
    let held = message.member("message").filter(|held| !held.says("type", "message"));
    let inner = inner.chain(held.and_then(|held| held.member("role")));
    // Semantic Kernel of .NET.
    let label = message.below(&["Role", "Label"]);
    message.first(&["role", "sender"]).into_iter().chain(inner).chain(label).find_map(Json::as_str)
}
