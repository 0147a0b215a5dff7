//! Statements of SQL, compared word by word: case, white space and words that may be left out say nothing.

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::{Finding, Kind};

/// Longer statements are texts.
const LONGEST: usize = 8192;

/// Words that begin a statement.
const STATEMENTS: &[&str] =
    &["select", "insert", "update", "delete", "with", "create", "drop", "alter", "explain", "pragma"];

/// Compares two texts if both are statements.
pub(super) fn compare(a: &str, b: &str) -> Option<Finding> {
    let is_one = |text: &str| {
        let word = text.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        text.len() <= LONGEST && STATEMENTS.iter().any(|statement| statement.eq_ignore_ascii_case(word))
    };
    // `select a hotel` is no statement; what has signs or words of SQL in it is.
    let is_told = |text: &str| {
        let has = |word: &str| text.split_whitespace().any(|found| found.eq_ignore_ascii_case(word));
        ["from", "into", "set", "table", "index", "where", "as"].iter().any(|word| has(word))
    };
    if !is_one(a) || !is_one(b) || !is_told(a) || !is_told(b) {
        return None;
    }
    let (mut x, mut y) = (words(a), words(b));
    if x == y {
        return Some(Finding::new(Kind::Text, SAME_OTHERWISE, "the same statement"));
    }
    sort_conditions(&mut x);
    sort_conditions(&mut y);
    Some(if x == y {
        Finding::new(Kind::Text, 0.93, "the same conditions in another order")
    } else {
        Finding::new(Kind::Text, NOTHING, "another statement")
    })
}

/// The words and signs of a statement, without those that are the default.
fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text.trim().trim_end_matches([';', ' ', '\n']);
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            _ if c.is_alphanumeric() || c == '_' => {
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
            }
            '<' | '>' | '!' | '=' | '|' => c.len_utf8() + usize::from(rest[1..].starts_with(['=', '>', '|'])),
            _ => c.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        match word {
            // White space, and quotation marks of names.
            "\"" | "`" | "[" | "]" | " " | "\n" | "\t" | "\r" => {}
            "<>" => found.push("!=".to_owned()),
            "==" => found.push("=".to_owned()),
            _ if c == '\'' => found.push(word.to_owned()),
            _ => found.push(word.to_lowercase()),
        }
    }
    let mut index = 0;
    while index < found.len() {
        let next = found.get(index + 1).map(String::as_str);
        let says_nothing = match found[index].as_str() {
            "asc" | "as" => true,
            "inner" | "outer" => next == Some("join"),
            _ => false,
        };
        if says_nothing {
            found.remove(index);
        } else {
            index += 1;
        }
    }
    found
}

/// Brings conditions that are joined by `and` alone into one order.
fn sort_conditions(words: &mut Vec<String>) {
    let Some(start) = words.iter().position(|word| word == "where").map(|at| at + 1) else { return };
    let ends = |word: &String| matches!(word.as_str(), "group" | "order" | "limit" | "having" | "returning");
    let end = words[start..].iter().position(ends).map_or(words.len(), |at| start + at);
    let range = &words[start..end];
    if range.iter().any(|word| matches!(word.as_str(), "or" | "(" | ")" | "between" | "case")) {
        return;
    }
    let mut conditions: Vec<Vec<String>> =
        range.split(|word| word == "and").map(<[String]>::to_vec).collect();
    conditions.sort_unstable();
    let sorted = conditions.join(&"and".to_owned());
    words.splice(start..end, sorted);
}
