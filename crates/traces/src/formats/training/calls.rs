//! Calls in the syntax of Python: `f(a=1, b='x')`. Nothing is run; an argument that is not a literal stays a text.

use crate::formats::prelude::*;
use crate::literal::Reader;

/// The calls of a text that holds nothing else. In a list, `[f(a=1), g()]`, names may have spaces, and arguments
/// without names stay text. Outside of a list, `f(a=1)`, names have no spaces and all arguments have names, so that
/// prose is not a call.
pub(super) fn calls(text: &str) -> Option<Vec<TracedCall>> {
    let text = text.trim_matches(|letter: char| letter == '`' || letter.is_whitespace());
    let text = text.strip_prefix("python\n").unwrap_or(text).trim_start();
    let mut calls = Vec::new();
    let (mut reader, is_list) = match text.strip_prefix('[') {
        Some(inside) => (Reader { rest: inside.strip_suffix(']')? }, true),
        None => (Reader { rest: text }, false),
    };
    loop {
        reader.skip();
        if reader.rest.is_empty() {
            return (is_list || !calls.is_empty()).then_some(calls);
        }
        calls.push(reader.call(is_list)?);
        reader.skip();
        if !reader.eat(',') && !reader.eat(';') && (is_list && !reader.rest.is_empty()) {
            return None;
        }
    }
}

impl Reader<'_> {
    /// Reads a call; `may_be_any` allows spaces in its name and arguments without names.
    fn call(&mut self, may_be_any: bool) -> Option<TracedCall> {
        let is_name = |letter: char| {
            letter.is_alphanumeric()
                || matches!(letter, '_' | '.' | '-' | '/')
                || may_be_any && !"()[]{}\"'`=,;\n".contains(letter)
        };
        let name = self.take(is_name).trim();
        if name.is_empty() || !self.eat('(') {
            return None;
        }
        let start = self.rest;
        let (mut members, mut is_named) = (Vec::new(), true);
        loop {
            self.skip();
            let left = self.rest.len();
            if self.eat(')') {
                let arguments = if is_named {
                    Json::Object(members)
                } else {
                    string(start.get(..start.len() - left)?.trim())
                };
                return (is_named || may_be_any)
                    .then(|| TracedCall::new(None, tool(None, name), Some(arguments)));
            }
            let key = self.key();
            let value = self.argument()?;
            match key {
                Some(key) => members.push((key, value)),
                None => is_named = false,
            }
            self.skip();
            if !self.eat(',') && !self.rest.starts_with(')') {
                return None;
            }
        }
    }

    /// The name of an argument, if it has one.
    fn key(&mut self) -> Option<String> {
        let start = self.rest;
        let mut quoted = String::new();
        let key = if self.rest.starts_with(['"', '\'']) {
            self.string(&mut quoted, false).map(|()| quoted)
        } else {
            Some(self.take(|letter| letter.is_alphanumeric() || "_-.$".contains(letter)).to_owned())
        };
        self.skip();
        let is_key =
            key.as_ref().is_some_and(|key| !key.is_empty()) && self.eat('=') && !self.rest.starts_with('=');
        if is_key {
            return key;
        }
        self.rest = start;
        None
    }

    /// The value of an argument: a literal, else its text up to the comma or bracket that ends it.
    fn argument(&mut self) -> Option<Json> {
        self.skip();
        let start = self.rest;
        if let Some(value) = self.value(0) {
            self.skip();
            if self.rest.starts_with([',', ')']) {
                return Some(value);
            }
        }
        self.rest = start;
        let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
        for (place, letter) in start.char_indices() {
            match (quote, letter) {
                (Some(_), _) if is_escaped => is_escaped = false,
                (Some(_), '\\') => is_escaped = true,
                (Some(open), _) if open == letter => quote = None,
                (None, '"' | '\'') => quote = Some(letter),
                (None, '(' | '[' | '{') => depth += 1,
                (None, ',' | ')') if depth == 0 => {
                    let (text, rest) = start.split_at(place);
                    self.rest = rest;
                    let text = text.trim();
                    return (!text.is_empty()).then(|| string(text));
                }
                (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::{Keys, parse};

    use super::*;

    fn json(text: &str) -> String {
        parse(text.as_bytes()).unwrap().0.to_text(Keys::AsRead)
    }

    fn called(text: &str) -> Option<Vec<(String, String)>> {
        let calls = calls(text)?.into_iter();
        Some(calls.map(|call| (call.tool, call.arguments.unwrap().to_text(Keys::AsRead))).collect())
    }

    #[test]
    fn calls_are_read_and_prose_is_not() {
        let one = |name: &str, arguments: &str| (name.to_owned(), json(arguments));
        assert_eq!(called("f(a=1, b='x, )')"), Some(vec![one("f", r#"{"a": 1, "b": "x, )"}"#)]));
        assert_eq!(
            called("[a.b(x=[1, {'k': None}]), Get Weather (city = \"O\", unit-id=\"c\")]"),
            Some(vec![
                one("a.b", r#"{"x": [1, {"k": null}]}"#),
                one("Get Weather", r#"{"city": "O", "unit-id": "c"}"#)
            ])
        );
        assert_eq!(called("[f(x=g(1, ')'), y=z)]"), Some(vec![one("f", r#"{"x": "g(1, ')')", "y": "z"}"#)]));
        assert_eq!(called("[cd('a', 1)]"), Some(vec![one("cd", r#""'a', 1""#)]));
        assert_eq!(called("```python\n[f()]\n```"), Some(vec![one("f", "{}")]));
        assert_eq!(called("f()\ng(a=1)").map(|calls| calls.len()), Some(2));
        assert_eq!(called("[]"), Some(Vec::new()));
        for prose in [
            "",
            "I cannot do that (sorry).",
            "Yes(no)",
            "[1, 2]",
            "[a](b)",
            "[f(a=1)",
            "[\"f(a=1)\"]",
            "f(a=",
            "f(a=)",
        ] {
            assert_eq!(called(prose), None, "{prose}");
        }
        assert_eq!(called(&format!("[f(a={}", "(".repeat(100_000))), None);
    }
}
