//! Evidence as the page shows it: texts, and lists of keys with the values below them. The most interesting keys come
//! first, those for programs last.

use m3_support::text::{shortened, visible};
use m3_trajectory::json::{Json, Keys};
use serde_json::Value;
use serde_json::json;

/// The longest text that a page is given, in bytes.
const LONGEST_TEXT: usize = 20_000;

/// The most items that are shown of a list.
const MOST: usize = 200;

/// The depth down to which evidence is shown.
const DEEPEST: usize = 12;

/// Keys that come first, wherever they stand.
const FIRST: [&str; 12] = [
    "status",
    "state",
    "verdict",
    "refusal",
    "success",
    "reason",
    "removed",
    "merged",
    "disagreements",
    "verification",
    "problems",
    "decisions",
];

/// Keys that come last: names, counts, and the raw numbers behind what the page shows as steps and links.
const LAST: [&str; 19] = [
    "chosen",
    "runs",
    "reconstruction",
    "dependencies",
    "steps",
    "calls",
    "mode",
    "model",
    "answered_by",
    "repeat",
    "file",
    "index",
    "content",
    "image",
    "usage",
    "prompts",
    "schema",
    "m3",
    "written",
];

/// A text, or a list of keys with the values below them.
pub(super) fn tree(value: &Json) -> Value {
    below(value, 0)
}

fn below(value: &Json, depth: usize) -> Value {
    let branch =
        |key: String, value: &Json| json!({"key": shortened(&key, 200), "value": below(value, depth + 1)});
    if let Some(place) = place(value) {
        return Value::String(place);
    }
    match value {
        Json::Object(members) if depth < DEEPEST && !members.is_empty() => {
            let mut members: Vec<&(String, Json)> = members.iter().collect();
            members.sort_by_key(|(key, _)| rank(key));
            members.into_iter().take(MOST).map(|(key, value)| branch(key.clone(), value)).collect()
        }
        Json::Array(items) if depth < DEEPEST && !items.is_empty() => {
            let items = items.iter().take(MOST).enumerate();
            items.map(|(index, value)| branch((index + 1).to_string(), value)).collect()
        }
        value => Value::String(shown(value)),
    }
}

/// The place of a key in the order: unknown keys come between the first and the last ones.
fn rank(key: &str) -> usize {
    let place = |keys: &[&str]| keys.iter().position(|known| *known == key);
    place(&FIRST).or_else(|| Some(FIRST.len() + 1 + place(&LAST)?)).unwrap_or(FIRST.len())
}

/// The place of a call, which files count from 0 and people from 1.
fn place(value: &Json) -> Option<String> {
    let Json::Object(members) = value else { return None };
    match (members.len(), value.get("step")?, value.get("call")?) {
        (2, Json::Integer(step), Json::Integer(call)) => {
            Some(format!("step {}, call {}", step.checked_add(1)?, call.checked_add(1)?))
        }
        _ => None,
    }
}

/// The start of a text that is too long, in whole characters.
pub(super) fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes);
    format!("{}… [{} more bytes]", &text[..end], text.len() - end)
}

/// The start of a text by others, safe to show.
pub(super) fn passage(text: &str) -> String {
    visible(&cut(text, LONGEST_TEXT), true).into_owned()
}

/// A value by others as text.
pub(super) fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => passage(text),
        value => passage(&value.to_text(Keys::AsRead)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_want_to_know_comes_first() {
        let text = r#"{"schema": "s", "runs": [{"content": "sha", "usage": {}, "verdict": {"success": true},
            "reconstruction": {"steps": [], "removed": [{"place": {"call": 1, "step": 0}}]}}], "own": 1, "status": "accepted"}"#;
        let text = tree(&m3_trajectory::json::parse(text.as_bytes()).unwrap().0).to_string();
        let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word} in {text}"));
        let order = ["status", "own", "runs", "verdict", "removed", "steps", "content", "usage", "schema"];
        assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{text}");
        assert!(text.contains("step 1, call 2"), "{text}");
    }
}
