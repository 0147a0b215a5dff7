//! Reads a grader's answer strictly, from its own reply alone. A value that is out of range, given twice in different
//! ways, or in another form is a problem that the grader is told of, never a guess and never 0.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use m3_support::text::shortened;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The answer of a judge in one reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The measures by name, each in [0, 1].
    pub scores: BTreeMap<String, f64>,
    /// For each step of the reference, how far each step of the prediction achieved its purpose, in [0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Vec<Vec<f64>>>,
}

/// The part of a reply that could be read.
#[derive(Debug, PartialEq)]
pub enum ReadReply {
    /// Everything that was asked for.
    Whole(Answer),
    /// The score, and why the matrix could not be read.
    WithoutMatrix(Answer, String),
}

/// `\boxed{..}` as LaTeX and as JSON escape it, with blanks; the content has no braces.
static BOXED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\\+boxed\s*\{([^{}]*)\}").ok());

impl Answer {
    /// The answer for one measure, in [0, 1].
    pub(super) fn of(measure: &str, score: f64) -> Self {
        Self { scores: [(measure.to_owned(), score)].into(), matrix: None }
    }
}

/// The content of the box, or of all boxes if they are the same.
pub(super) fn boxed(reply: &str) -> Result<String, String> {
    let Some(pattern) = BOXED.as_ref() else { return Err("boxes cannot be read".to_owned()) };
    let boxes: Vec<&str> =
        pattern.captures_iter(reply).map(|capture| capture.extract::<1>().1[0].trim()).collect();
    let Some(first) = boxes.first() else { return Err("it has no \\boxed{..}".to_owned()) };
    let is_same = |other: &&str| {
        let numbers = (first.parse::<f64>(), other.parse::<f64>());
        matches!(numbers, (Ok(a), Ok(b)) if a.to_bits() == b.to_bits()) || first.eq_ignore_ascii_case(other)
    };
    if boxes.iter().all(is_same) {
        Ok((*first).to_owned())
    } else {
        Err("it has several \\boxed{..} that say different things".to_owned())
    }
}

/// Reads a number from 0 to `most`, in digits with at most one point: no sign, no exponent, no share such as 7/10.
pub(super) fn number(text: &str, most: f64) -> Result<f64, String> {
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match text.parse::<f64>() {
        Ok(value) if is_plain && (0.0..=most).contains(&value) => Ok(value),
        Ok(_) if is_plain => Err(format!("{} is not between 0 and {most}", shortened(text, 40))),
        _ => Err(format!("`{}` is not a number between 0 and {most}", shortened(text, 40))),
    }
}

/// The one JSON object with the key that is asked for, wherever it stands in the reply.
pub(super) fn object_with(reply: &str, key: &str) -> Result<Map<String, Value>, String> {
    let (mut found, mut rest) = (Vec::new(), reply);
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        if let Some(Ok(object)) = values.next() {
            rest = &rest[values.byte_offset()..];
            if object.contains_key(key) && !found.contains(&object) {
                found.push(object);
            }
        } else {
            rest = &rest[1..];
        }
    }
    match (found.pop(), found.is_empty()) {
        (Some(object), true) => Ok(object),
        (None, _) => Err(format!("it has no JSON object with the key \"{key}\"")),
        _ => Err(format!("it has several JSON objects with the key \"{key}\" that say different things")),
    }
}

pub(super) fn read_matrix(reply: &str, (rows, columns): (usize, usize)) -> Result<Vec<Vec<f64>>, String> {
    let object = object_with(reply, "matrix")?;
    let wrong = || format!("the matrix should have {rows} rows of {columns} numbers between 0 and 1");
    let matrix: Vec<Vec<f64>> = object
        .get("matrix")
        .and_then(|matrix| serde_json::from_value(matrix.clone()).ok())
        .ok_or_else(wrong)?;
    let is_right = |row: &Vec<f64>| row.len() == columns && row.iter().all(|g| (0.0..=1.0).contains(g));
    if matrix.len() == rows && matrix.iter().all(is_right) { Ok(matrix) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::super::rubric::Aspect;
    use super::*;

    fn read(aspect: &str, matrix: Option<(usize, usize)>, reply: &str) -> Result<ReadReply, String> {
        Aspect::named(aspect).unwrap().read(matrix, reply)
    }

    fn completion(reply: &str) -> Option<f64> {
        match read("task_completion", None, reply) {
            Ok(ReadReply::Whole(answer)) => Some(answer.scores["task_completion"]),
            _ => None,
        }
    }

    #[test]
    fn scores_are_read_from_a_box_and_from_nothing_else() {
        for (reply, score) in [
            (r"\boxed{7}", Some(0.7)),
            (r"The plan is clear. $\boxed{ 7.5 }$", Some(0.75)),
            (r"\\boxed{10}", Some(1.0)),
            (r"\boxed{0}", Some(0.0)),
            (r"\boxed{8} .. so I give \boxed{8.0}", Some(0.8)),
            (r"\boxed{8} or perhaps \boxed{9}", None),
            (r"\boxed{11}", None),
            (r"\boxed{-1}", None),
            (r"\boxed{7/10}", None),
            (r"\boxed{7 out of 10}", None),
            (r"\boxed{1e1}", None),
            (r"\boxed{NaN}", None),
            (r"\boxed{inf}", None),
            (r"\boxed{}", None),
            (r"\boxed{\text{7}}", None),
            (r"boxed{7}", None),
            ("7", None),
            ("Score: 7 of 10", None),
            ("", None),
        ] {
            assert_eq!(completion(reply), score, "{reply}");
        }
    }

    #[test]
    fn a_matrix_has_the_size_that_was_asked_for_or_is_left_out() {
        let read = |reply: &str| read("information_grounding", Some((1, 2)), reply);
        let Ok(ReadReply::Whole(answer)) = read("```json\n{\"matrix\": [[1, 0.5]]}\n```\n\\boxed{0.9}")
        else {
            panic!("it is whole");
        };
        assert_eq!(
            (answer.scores["information_grounding"], answer.matrix),
            (0.9, Some(vec![vec![1.0, 0.5]]))
        );
        for reply in [
            r"\boxed{0.9}",
            r#"{"matrix": [[1, 0.5], [0, 0]]} \boxed{0.9}"#,
            r#"{"matrix": [[1]]} \boxed{0.9}"#,
            r#"{"matrix": [[1, 1.5]]} \boxed{0.9}"#,
            r#"{"matrix": [[1, null]]} \boxed{0.9}"#,
            r#"{"matrix": [[1, 0]]} {"matrix": [[1, 1]]} \boxed{0.9}"#,
            r#"{"matrix": [[1, 0]] \boxed{0.9}"#,
        ] {
            let Ok(ReadReply::WithoutMatrix(answer, problem)) = read(reply) else { panic!("{reply}") };
            assert_eq!(answer.scores.get("information_grounding"), Some(&0.9), "{problem}");
        }
        assert!(read(r#"{"matrix": [[1, 0.5]]} \boxed{9}"#).is_err(), "out of range");
    }
}
