//! Programs and commands, in which the order of words counts and most white space does not.

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::name::Name;
use super::{Finding, Kind};

/// Longer programs are texts.
const LONGEST: usize = 16_384;

/// Compares two texts if they are programs or commands, as far as white space and order tell them.
pub(super) fn compare(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let is_source = |text: &str| text.len() <= LONGEST && text.trim().contains([' ', '(', '=', ';', '\n']);
    if !name.is_source() || !is_source(a) || !is_source(b) {
        return None;
    }
    let (x, y) = (words(a), words(b));
    if x == y {
        return Some(Finding::new(
            Kind::Text,
            SAME_OTHERWISE,
            "the same but for white space and quotation marks",
        ));
    }
    let sorted = |mut words: Vec<String>| {
        words.sort_unstable();
        words
    };
    (sorted(x) == sorted(y)).then(|| Finding::new(Kind::Text, NOTHING, "the same words in another order"))
}

/// The words and signs of a program; the depth at which a line begins is one of them.
fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.trim().lines() {
        if !found.is_empty() {
            let depth = line.len() - line.trim_start().len();
            found.push(format!("line {depth}"));
        }
        let mut is_apart = true;
        for c in line.trim().chars() {
            let c = if c == '"' { '\'' } else { c };
            match found.last_mut() {
                Some(word) if is_of_word(c) && !is_apart => word.push(c),
                _ if c.is_whitespace() => {}
                _ => found.push(c.to_string()),
            }
            is_apart = !is_of_word(c);
        }
    }
    found
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
