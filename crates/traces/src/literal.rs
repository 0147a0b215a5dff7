//! Literals as Python writes them: `{'a': True, 'b': (1, None)}`.

use m3_trajectory::json::{Json, parse};

/// How deep lists and dicts may be nested.
const DEEPEST: usize = 100;

/// The value of a text that is one literal.
pub(crate) fn literal(text: &str) -> Option<Json> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.skip();
    reader.rest.is_empty().then_some(value)
}

/// A reader of a text, with the rest that has not been read.
pub(crate) struct Reader<'t> {
    pub(crate) rest: &'t str,
}

impl<'t> Reader<'t> {
    pub(crate) fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    pub(crate) fn eat(&mut self, letter: char) -> bool {
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes the beginning of the rest, up to the first character for which `is` is false.
    pub(crate) fn take(&mut self, is: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|letter| !is(letter)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    pub(crate) fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEEPEST {
            return None;
        }
        self.skip();
        match self.rest.chars().next()? {
            '[' => self.items('[', ']', depth).map(|(items, _)| Json::Array(items)),
            '(' => match self.items('(', ')', depth)? {
                (mut items, false) if items.len() == 1 => items.pop(),
                (items, _) => Some(Json::Array(items)),
            },
            '{' => self.braces(depth),
            '"' | '\'' => self.strings(),
            '0'..='9' | '-' | '+' | '.' => self.number(),
            _ => self.word(),
        }
    }

    /// Values between brackets, and whether a comma follows any.
    fn items(&mut self, open: char, close: char, depth: usize) -> Option<(Vec<Json>, bool)> {
        let (mut items, mut has_comma) = (Vec::new(), false);
        self.eat(open);
        loop {
            self.skip();
            if self.eat(close) {
                return Some((items, has_comma));
            }
            items.push(self.value(depth + 1)?);
            self.skip();
            if self.eat(',') {
                has_comma = true;
            } else if !self.rest.starts_with(close) {
                return None;
            }
        }
    }

    /// A dict as an object, or a set as a list.
    fn braces(&mut self, depth: usize) -> Option<Json> {
        self.eat('{');
        let (mut members, mut items) = (Vec::new(), Vec::new());
        loop {
            self.skip();
            if self.eat('}') {
                return Some(if items.is_empty() { Json::Object(members) } else { Json::Array(items) });
            }
            let key = self.value(depth + 1)?;
            self.skip();
            if self.eat(':') {
                let key = match key {
                    Json::String(key) => key,
                    other => other.to_text(m3_trajectory::json::Keys::AsRead),
                };
                members.push((key, self.value(depth + 1)?));
            } else {
                items.push(key);
            }
            self.skip();
            if !self.eat(',') && !self.rest.starts_with('}') || !members.is_empty() && !items.is_empty() {
                return None;
            }
        }
    }

    /// One string, or several adjacent strings joined into one.
    fn strings(&mut self) -> Option<Json> {
        let mut whole = String::new();
        while self.rest.starts_with(['"', '\'']) {
            self.string(&mut whole, false)?;
            self.skip();
        }
        Some(Json::String(whole))
    }

    pub(crate) fn string(&mut self, out: &mut String, is_raw: bool) -> Option<()> {
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| self.rest.starts_with(quote))?;
        self.rest = self.rest.strip_prefix(quote)?;
        loop {
            if let Some(rest) = self.rest.strip_prefix(quote) {
                self.rest = rest;
                return Some(());
            }
            let mut letters = self.rest.chars();
            let letter = letters.next()?;
            self.rest = letters.as_str();
            match letter {
                '\\' if !is_raw => self.escape(out)?,
                '\\' => {
                    let next = letters.next()?;
                    self.rest = letters.as_str();
                    out.extend(['\\', next]);
                }
                other => out.push(other),
            }
        }
    }

    /// Reads the characters after a backslash.
    fn escape(&mut self, out: &mut String) -> Option<()> {
        let mut letters = self.rest.chars();
        let letter = letters.next()?;
        self.rest = letters.as_str();
        let known = match letter {
            '\n' => return Some(()),
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            'b' => '\u{8}',
            'f' => '\u{c}',
            '\\' | '\'' | '"' | '/' => letter,
            'x' => self.code(2)?,
            'u' => self.code(4)?,
            'U' => self.code(8)?,
            other => {
                out.extend(['\\', other]);
                return Some(());
            }
        };
        out.push(known);
        Some(())
    }

    /// The character whose code has this number of hexadecimal digits. Two surrogates in a row make one character.
    fn code(&mut self, digits: usize) -> Option<char> {
        let first = self.hex(digits)?;
        let low = self.rest.strip_prefix("\\u").filter(|_| (0xd800..0xdc00).contains(&first));
        if let Some(low) = low {
            let second = Reader { rest: low }.hex(4)?;
            if (0xdc00..0xe000).contains(&second) {
                self.rest = low.get(4..)?;
                return char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            }
        }
        Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let (number, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        u32::from_str_radix(number, 16).ok()
    }

    fn number(&mut self) -> Option<Json> {
        let sign = self.take(|letter| letter == '-' || letter == '+');
        let mut text = if sign == "-" { "-".to_owned() } else { String::new() };
        if sign.len() > 1 {
            return None;
        }
        let mut last = ' ';
        let end = self.rest.find(|letter: char| {
            let is_sign = matches!(letter, '-' | '+') && matches!(last, 'e' | 'E');
            last = letter;
            !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.') || is_sign)
        });
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        text.extend(digits.chars().filter(|letter| *letter != '_'));
        let digits = text.strip_prefix('-').unwrap_or(&text);
        if let Some(hex) = digits.strip_prefix("0x") {
            return i64::from_str_radix(hex, 16)
                .ok()
                .map(|number| Json::Integer(if sign == "-" { -number } else { number }));
        }
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(text.parse().map(Json::Integer).unwrap_or(Json::LongInteger(text)));
        }
        let is_number = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
        text.parse().ok().filter(|_| is_number).map(Json::Float)
    }

    /// A constant, or a string with a prefix.
    fn word(&mut self) -> Option<Json> {
        let word = self.take(|letter| letter.is_alphanumeric() || letter == '_');
        match word {
            "True" | "true" => Some(Json::Bool(true)),
            "False" | "false" => Some(Json::Bool(false)),
            "None" | "null" => Some(Json::Null),
            "r" | "R" | "u" | "U" | "b" | "B" | "f" | "rb" | "br" if self.rest.starts_with(['"', '\'']) => {
                let mut whole = String::new();
                self.string(&mut whole, word.contains(['r', 'R']))?;
                Some(Json::String(whole))
            }
            _ => None,
        }
    }
}

/// JSON, or a literal of Python.
pub(crate) fn value(text: &str) -> Option<Json> {
    parse(text.as_bytes()).ok().map(|(value, _)| value).or_else(|| literal(text))
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::{Keys, parse};

    use super::*;

    fn shown(text: &str) -> Option<String> {
        literal(text).map(|value| value.to_text(Keys::AsRead))
    }

    fn json(text: &str) -> String {
        parse(text.as_bytes()).unwrap().0.to_text(Keys::AsRead)
    }

    #[test]
    fn literals() {
        for (python, expected) in [
            ("{'a': True, \"b\": [None, -1.5, 1_000], }", r#"{"a": true, "b": [null, -1.5, 1000]}"#),
            ("(1, 'x')", r#"[1, "x"]"#),
            ("(1)", "1"),
            ("(1,)", "[1]"),
            ("{1, 2}", "[1, 2]"),
            ("{}", "{}"),
            (r"'it\'s \u00e9\n' 'b' r'\d'", ""),
            (r"'it\'s \u00e9\n' 'b'", r#""it's é\nb""#),
            (r"r'\d'", r#""\\d""#),
            (r"'\ud83d\ude00\ud83d'", "\"😀\u{fffd}\""),
            ("'''a'b'''", r#""a'b""#),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1e-3", "0.001"),
        ] {
            if expected.is_empty() {
                assert_eq!(shown(python), None, "{python}");
            } else {
                assert_eq!(shown(python), Some(json(expected)), "{python}");
            }
        }
        for wrong in [
            "",
            "[1",
            "[1 2]",
            "{'a': 1 'b': 2}",
            "{'a': 1, 2}",
            "'a",
            "x",
            "--1",
            "'\\x",
            "'\\",
            "inf",
            "1 2",
        ] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
        assert_eq!(literal(&"[".repeat(100_000)), None);
        assert_eq!(literal(&"{1:".repeat(100_000)), None);
    }
}
