//! The difference between a request and the nearest one in a cassette: the place, and the values there.

use std::cmp::Reverse;
use std::path::Path;

use m3_support::canonical::canonical;
use m3_support::pointer::pointer_to;
use m3_support::text::shortened;
use serde_json::Value;

use super::read::Reader;
use super::record::RecordedRequest;
use super::{Entry, RequestEntry, as_given};

/// The longest differing text that is shown, in columns, from a little before the first difference.
const SHOWN: usize = 120;

/// The first difference of two requests.
#[derive(Debug, PartialEq)]
struct Difference {
    /// JSON pointer (RFC 6901).
    pointer: String,
    recorded: String,
    asked: String,
}

/// Describes in words how a request differs from the nearest recorded one of its task. Reads the cassette again for
/// this.
pub(super) fn describe(path: &Path, recording: &RecordedRequest) -> String {
    let task = shortened(&recording.scope.task, 80);
    match nearest(path, recording) {
        None => format!("no request of task `{task}` is in it"),
        Some((other_path, _)) if other_path != recording.path => {
            format!(
                "the nearest one of task `{task}` went to `{}`, this one goes to `{}`",
                shortened(&other_path, 80),
                shortened(&recording.path, 80)
            )
        }
        Some((_, body)) => match first(Some(&body), Some(&recording.body), String::new()) {
            Some(Difference { pointer, recorded, asked }) => format!(
                "at `{}` the nearest one of task `{task}` has `{recorded}`, and this one `{asked}`",
                shortened(&pointer, 200)
            ),
            None => format!("the same one of task `{task}` was interrupted before its answer"),
        },
    }
}

/// The nearness of a recorded request: whether it has the same path, the number of equal bytes at the beginning, and
/// the difference in length.
type Nearness = (bool, usize, Reverse<usize>);

/// The request of the same task with the longest common beginning; of several, the one nearest in length.
fn nearest(path: &Path, recording: &RecordedRequest) -> Option<(String, Value)> {
    let (_, mut reader) = Reader::open(path).ok()?;
    let asked = canonical(&recording.body);
    let mut best: Option<(Nearness, RequestEntry)> = None;
    while let Ok(Some(entry)) = reader.next() {
        let Entry::Model(entry) = entry else { continue };
        if entry.scope.task != recording.scope.task {
            continue;
        }
        let request = RequestEntry { body: as_given(entry.request.body), ..entry.request };
        let text = canonical(&request.body);
        let same = text.bytes().zip(asked.bytes()).take_while(|(a, b)| a == b).count();
        let nearness = (request.path == recording.path, same, Reverse(text.len().abs_diff(asked.len())));
        if best.as_ref().is_none_or(|(other, _)| nearness > *other) {
            best = Some((nearness, request));
        }
    }
    best.map(|(_, request)| (request.path, request.body))
}

/// The first difference, members in alphabetical order; `None` stands for a value that is missing.
fn first(recorded: Option<&Value>, asked: Option<&Value>, pointer: String) -> Option<Difference> {
    if recorded == asked {
        return None;
    }
    match (recorded, asked) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let mut keys: Vec<&String> = left.keys().chain(right.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.into_iter().find_map(|key| first(left.get(key), right.get(key), pointer_to(&pointer, key)))
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => (0..left.len().max(right.len()))
            .find_map(|index| first(left.get(index), right.get(index), pointer_to(&pointer, index))),
        (Some(Value::String(left)), Some(Value::String(right))) => {
            let same = left.chars().zip(right.chars()).take_while(|(a, b)| a == b).count();
            let skipped = same.saturating_sub(20);
            let show = |text: &str| {
                let start = if skipped > 0 { "…" } else { "" };
                format!("{start}{}", shortened(&text.chars().skip(skipped).collect::<String>(), SHOWN))
            };
            Some(Difference { pointer, recorded: show(left), asked: show(right) })
        }
        _ => {
            let show = |value: Option<&Value>| {
                value.map_or("nothing".to_owned(), |value| shortened(&value.to_string(), SHOWN))
            };
            Some(Difference { pointer, recorded: show(recorded), asked: show(asked) })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_has_a_place_and_both_sides() {
        let recorded =
            json!({"messages": [{"content": "a"}, {"content": "Count the apples in it, please."}], "n": 1});
        let mut asked = recorded.clone();
        let first = |recorded: &Value, asked: &Value| first(Some(recorded), Some(asked), String::new());
        assert_eq!(first(&recorded, &asked), None);
        asked["messages"][1]["content"] = json!("Count the apples in it, please!");
        let difference = first(&recorded, &asked).unwrap();
        assert_eq!(difference.pointer, "/messages/1/content");
        assert_eq!(
            (difference.recorded.as_str(), difference.asked.as_str()),
            ("…apples in it, please.", "…apples in it, please!")
        );
        asked["messages"][1] = json!([]);
        assert_eq!(first(&recorded, &asked).unwrap().asked, "[]");
        let missing = first(&json!({"a/b": {"~": 1}}), &json!({"a/b": {}})).unwrap();
        assert_eq!((missing.pointer.as_str(), missing.asked.as_str()), ("/a~1b/~0", "nothing"));
    }
}
