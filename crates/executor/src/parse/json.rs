//! Finds JSON in what models write: with prose and fences around it, with delimiters of chat templates, with a comma
//! too many. JSON in an odd form is understood, and the oddity is reported; JSON that is cut off is not understood.

use m3_support::surrogates::{LONE_SURROGATE, without_lone_surrogates};
use serde_json::Value;

/// JSON in a text, and what was odd about it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundJson {
    pub(super) value: Value,
    pub(super) oddities: Vec<String>,
}

/// Delimiters that some models leave around their answers (M³-Bench, section 8: GLM-4.5v).
const DELIMITERS: [&str; 6] =
    ["<|begin_of_box|>", "<|end_of_box|>", "<tool_call>", "</tool_call>", "<|im_end|>", "<|eot_id|>"];

/// The longest reply that is searched, in bytes.
pub(super) const LONGEST: usize = 1 << 20;

/// The most places of a text where JSON is tried.
const MOST_PLACES: usize = 200;

/// The objects and lists of a text that are not inside others, in order. `Err` says why there is none.
pub(super) fn find(text: &str) -> Result<Vec<FoundJson>, String> {
    let (text, oddities) = without_delimiters(text);
    let text = text.trim();
    if text.is_empty() {
        return Err("the reply is empty".to_owned());
    }
    if text.len() > LONGEST {
        return Err(too_long(text));
    }
    if let Ok(value) = serde_json::from_str::<Value>(text)
        && (value.is_object() || value.is_array())
    {
        return Ok(vec![FoundJson { value, oddities }]);
    }
    let mut values = Vec::new();
    let mut problem = None;
    let mut rest = text;
    for _ in 0..MOST_PLACES {
        let Some(start) = rest.find(['{', '[']) else { break };
        let Some(length) = balanced(&rest[start..]) else {
            problem.get_or_insert_with(|| "the JSON ends before it is complete".to_owned());
            break;
        };
        let span = &rest[start..start + length];
        match parse(span) {
            Ok((value, repair)) => {
                let mut oddities = oddities.clone();
                oddities.extend(repair);
                if span.len() < text.len() {
                    oddities.push("there is text around the JSON".to_owned());
                }
                values.push(FoundJson { value, oddities });
            }
            // Words in brackets are not meant as JSON.
            Err(error) if span.contains('"') => {
                problem.get_or_insert(format!("the JSON cannot be read: {error}"));
            }
            Err(_) => {}
        }
        rest = &rest[start + length..];
    }
    // If one JSON value cannot be read, the others alone are not what the model meant.
    match problem {
        Some(problem) => Err(problem),
        None if values.is_empty() => Err("there is no JSON in it".to_owned()),
        None => Ok(values),
    }
}

pub(super) fn too_long(text: &str) -> String {
    format!("the reply has {} bytes, and at most {LONGEST} are read", text.len())
}

fn without_delimiters(text: &str) -> (String, Vec<String>) {
    let mut oddities = Vec::new();
    let mut text = text.to_owned();
    for delimiter in DELIMITERS {
        if text.contains(delimiter) {
            oddities.push(format!("the delimiter `{delimiter}` stands in the reply"));
            text = text.replace(delimiter, "\n");
        }
    }
    (text, oddities)
}

/// The value, and what had to be repaired.
fn parse(span: &str) -> Result<(Value, Option<String>), serde_json::Error> {
    match serde_json::from_str(span) {
        Ok(value) => Ok((value, None)),
        Err(error) => {
            if let Ok(value) = serde_json::from_slice(&without_lone_surrogates(span.as_bytes())) {
                return Ok((value, Some(LONE_SURROGATE.to_owned())));
            }
            let repaired = without_trailing_commas(span).ok_or(error)?;
            let value = serde_json::from_str(&repaired)?;
            Ok((value, Some("a comma stands behind the last item of the JSON".to_owned())))
        }
    }
}

/// The length in bytes of the object or list that a text begins with; `None` if it does not end.
fn balanced(text: &str) -> Option<usize> {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The text without commas in front of closing brackets; `None` if it has none.
fn without_trailing_commas(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    // The place of a comma in `out` that only white space has followed.
    let mut comma = None;
    let (mut is_text, mut is_escaped, mut is_repaired) = (false, false, false);
    for c in text.chars() {
        if is_text {
            is_text = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
        } else {
            match c {
                '"' => (is_text, comma) = (true, None),
                ',' => comma = Some(out.len()),
                '}' | ']' => {
                    if let Some(at) = comma.take() {
                        out.remove(at);
                        is_repaired = true;
                    }
                }
                c if c.is_whitespace() => {}
                _ => comma = None,
            }
        }
        out.push(c);
    }
    is_repaired.then_some(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_found_in_whatever_stands_around_it() {
        let calls = r#"{"tool_calls": [{"name": "a/b", "arguments": {"x": "}] \" {"}}]}"#;
        let expected: Value = serde_json::from_str(calls).unwrap();
        for (text, odd) in [
            (calls.to_owned(), 0),
            (format!("  \n{calls}\n"), 0),
            (format!("```json\n{calls}\n```"), 1),
            (format!("Here it is [see above]:\n```\n{calls}\n```\nDone {{so far}}."), 1),
            (format!("<|begin_of_box|>{calls}<|end_of_box|>"), 2),
            (calls.replace("}]}", "},\n ] }"), 1),
        ] {
            let values = find(&text).unwrap();
            assert_eq!((&values[0].value, values.len()), (&expected, 1), "{text}");
            assert_eq!(values[0].oddities.len(), odd, "{text}: {:?}", values[0].oddities);
        }
    }

    #[test]
    fn what_is_cut_off_is_not_understood_by_its_parts() {
        for (text, reason) in [
            (r#"{"tool_calls": [{"name": "a/b", "arguments": {}}, {"name": "c/d""#, "complete"),
            (r#"{"tool_calls": [{"name": "a/b", "arguments": {}}, {"name": c}]}"#, "cannot be read"),
            // M³-Bench, section 8: GLM-4.5v.
            (
                r#"<|begin_of_box|>"name":"food.mcp/get.nutrition" "arguments":{"query":"1 watermelon"}"<|end_of_box|> ..."#,
                "",
            ),
            ("I would call the tool.", "no JSON"),
            ("7", "no JSON"),
            ("", "empty"),
            ("<|begin_of_box|><|end_of_box|>", "empty"),
        ] {
            match find(text) {
                Err(found) => assert!(found.contains(reason), "{text}: {found}"),
                Ok(found) => assert_eq!(reason, "", "{text}: {found:?}"),
            }
        }
    }

    #[test]
    fn several_values_are_all_found() {
        let entries = find(r#"{"a": 1} and then [2] and {"c": [3,]}"#).unwrap();
        let values: Vec<Value> = entries.into_iter().map(|entry| entry.value).collect();
        assert_eq!(values, [json!({"a": 1}), json!([2]), json!({"c": [3]})]);
    }

    #[test]
    fn hostile_replies_take_no_time_and_no_stack() {
        for text in ["[".repeat(1 << 20), "{\"".repeat(1 << 19), "[]".repeat(1 << 19), "\\\"[".repeat(1000)] {
            let _ = find(&text);
        }
        assert!(find(&"x".repeat((1 << 20) + 1)).is_err());
    }

    #[test]
    fn commas_in_texts_stay() {
        assert_eq!(without_trailing_commas(r#"["a,]", "b\",}"]"#), None);
        assert_eq!(without_trailing_commas(r#"{"a": [1, 2 , ],}"#).unwrap(), r#"{"a": [1, 2  ]}"#);
    }
}
