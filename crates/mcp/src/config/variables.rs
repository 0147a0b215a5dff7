//! `${VAR}` in the texts of a configuration.
//!
//! `${VAR}` is the variable's value, `${VAR:-default}` the default if it is unset or empty, as in a shell; defaults
//! may contain variables. Editors write `${env:VAR}` for `${VAR}`. `$${` is a plain `${`. Everything else, `$VAR`
//! included, stays as it is.

use std::path::Path;

/// The source of variables.
pub(super) struct Variables<'a> {
    /// Looks up the environment.
    pub(super) lookup: &'a dyn Fn(&str) -> Option<String>,
    /// The folder of the configuration.
    pub(super) folder: &'a Path,
}

/// A text whose variables have been replaced.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ExpandedText {
    pub(super) text: String,
    /// The variables used in it, with their values; defaults are not included.
    pub(super) used: Vec<(String, String)>,
    /// The variables that could not be replaced, in words.
    pub(super) problems: Vec<String>,
}

/// How deep defaults may be nested; deeper nesting is a mistake.
const MAX_DEPTH: usize = 8;

impl Variables<'_> {
    /// Replaces the variables of a text.
    pub(super) fn expand(&self, text: &str) -> ExpandedText {
        let mut out = ExpandedText::default();
        self.expand_into(text, &mut out, 0);
        out
    }

    fn expand_into(&self, text: &str, out: &mut ExpandedText, depth: usize) {
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            if let Some(before) = rest[..start].strip_suffix('$') {
                out.text.push_str(before);
                out.text.push_str("${");
                rest = &rest[start + 2..];
                continue;
            }
            out.text.push_str(&rest[..start]);
            let inside = &rest[start + 2..];
            let Some(end) = closing_brace(inside) else {
                out.problems.push(format!("`{}` has no closing brace", &rest[start..]));
                return;
            };
            self.variable(&inside[..end], out, depth);
            rest = &inside[end + 1..];
        }
        out.text.push_str(rest);
    }

    /// Adds the value for the text between the braces.
    fn variable(&self, inside: &str, out: &mut ExpandedText, depth: usize) {
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        if !is_name(name) {
            out.problems.push(match name.split_once(':') {
                Some(("input", input)) => format!(
                    "`${{{inside}}}` asks the user, which m3 does not: write `${{NAME}}` and set NAME in the \
                     environment to the value of `{input}`"
                ),
                _ => format!("`${{{inside}}}` is not a variable: write `${{NAME}}` or `${{NAME:-default}}`"),
            });
            return;
        }
        let value = self.value(name);
        match (value, default) {
            (Some(value), Some(default)) if value.is_empty() => self.default(default, out, depth),
            (Some(value), _) => {
                out.text.push_str(&value);
                out.used.push((name.to_owned(), value));
            }
            (None, Some(default)) => self.default(default, out, depth),
            (None, None) => out.problems.push(format!("the variable `{name}` is not set")),
        }
    }

    fn default(&self, default: &str, out: &mut ExpandedText, depth: usize) {
        if depth == MAX_DEPTH {
            out.problems.push(format!("defaults are nested deeper than {MAX_DEPTH}"));
        } else {
            self.expand_into(default, out, depth + 1);
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        match name {
            // Variables of editors. The folder of an editor's settings is below the folder they mean.
            "workspaceFolder" => {
                let is_editors = self.folder.ends_with(".vscode") || self.folder.ends_with(".cursor");
                let folder = if is_editors { self.folder.parent() } else { Some(self.folder) };
                folder.map(|folder| folder.display().to_string())
            }
            "userHome" => (self.lookup)("HOME"),
            name => (self.lookup)(name),
        }
    }
}

/// The position of the brace that closes the one before `text`.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'{' if text[..index].ends_with('$') => depth += 1,
            b'}' if depth == 0 => return Some(index),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(text: &str) -> ExpandedText {
        let lookup = |name: &str| match name {
            "SET" => Some("value".to_owned()),
            "EMPTY" => Some(String::new()),
            "HOME" => Some("/h".to_owned()),
            _ => None,
        };
        Variables { lookup: &lookup, folder: Path::new("/a/.vscode") }.expand(text)
    }

    #[test]
    fn variables_and_defaults_are_replaced_as_a_shell_does() {
        for (text, expected) in [
            ("plain $SET {SET} $", "plain $SET {SET} $"),
            ("${SET}", "value"),
            ("a${SET}b${SET}c", "avaluebvaluec"),
            ("${env:SET}", "value"),
            ("${UNSET:-default}", "default"),
            ("${EMPTY:-default}", "default"),
            ("${EMPTY}", ""),
            ("${UNSET:-}", ""),
            ("${UNSET:-${SET}-${EMPTY:-{x}}}", "value-{x}"),
            ("$${SET} ${SET}", "${SET} value"),
            ("${workspaceFolder}/x ${userHome}", "/a/x /h"),
            ("ü${SET}ü", "üvalueü"),
        ] {
            let expanded = expand(text);
            assert_eq!((expanded.text.as_str(), expanded.problems), (expected, vec![]), "{text}");
        }
        assert_eq!(expand("${SET}").used, [("SET".to_owned(), "value".to_owned())]);
        assert_eq!(expand("${UNSET:-x}").used, []);
    }

    #[test]
    fn what_cannot_be_replaced_is_said() {
        for (text, said) in [
            ("${UNSET}", "the variable `UNSET` is not set"),
            ("${UNSET:-${OTHER}}", "the variable `OTHER` is not set"),
            ("${SET", "no closing brace"),
            ("${input:key}", "asks the user"),
            ("${}", "is not a variable"),
            ("${1}", "is not a variable"),
            ("${A B}", "is not a variable"),
        ] {
            let problems = expand(text).problems;
            assert!(problems.len() == 1 && problems[0].contains(said), "{text}: {problems:?}");
        }
        let nested = "${A:-".repeat(50) + &"}".repeat(50);
        assert!(expand(&nested).problems[0].contains("deeper"));
    }
}
