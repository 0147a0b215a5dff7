//! Reads the members of an object in a configuration one by one, and collects problems and warnings.

use std::time::Duration;

use m3_support::names::{nearest, plain};
use m3_trajectory::json::{Json, Keys};

use super::ConfigProblem;

/// Problems and warnings, by file, server and key.
#[derive(Debug)]
pub(super) struct Findings {
    pub(super) file: String,
    pub(super) server: Option<String>,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) warnings: Vec<ConfigProblem>,
}

impl Findings {
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), server: None, problems: Vec::new(), warnings: Vec::new() }
    }

    /// Adds a problem: the file cannot be used.
    pub(super) fn problem(&mut self, key: impl Into<String>, message: impl Into<String>) {
        let problem = self.about(key.into(), message.into());
        self.problems.push(problem);
    }

    /// Adds a warning: the file can still be used.
    pub(super) fn warn(&mut self, key: impl Into<String>, message: impl Into<String>) {
        let warning = self.about(key.into(), message.into());
        self.warnings.push(warning);
    }

    fn about(&self, key: String, message: String) -> ConfigProblem {
        ConfigProblem { file: self.file.clone(), server: self.server.clone(), key, message }
    }

    /// Returns what was read of a value; without it, adds the problem that the value is not `what` it should be.
    fn expected<T>(&mut self, key: &str, what: &str, value: &Json, read: Option<T>) -> Option<T> {
        if read.is_none() {
            self.problem(key, format!("expected {what}, found {}", value.kind()));
        }
        read
    }

    pub(super) fn object<'a>(&mut self, key: &str, value: &'a Json) -> Option<&'a [(String, Json)]> {
        let members = if let Json::Object(members) = value { Some(members.as_slice()) } else { None };
        self.expected(key, "an object", value, members)
    }

    pub(super) fn string<'a>(&mut self, key: &str, value: &'a Json) -> Option<&'a str> {
        self.expected(key, "a string", value, value.as_str())
    }

    pub(super) fn boolean(&mut self, key: &str, value: &Json) -> Option<bool> {
        let flag = if let Json::Bool(flag) = value { Some(*flag) } else { None };
        self.expected(key, "true or false", value, flag)
    }

    /// A list of strings; a single string counts as a list of one.
    pub(super) fn strings(&mut self, key: &str, value: &Json) -> Vec<String> {
        match value {
            Json::String(text) => vec![text.clone()],
            Json::Array(items) => {
                let item = |(index, item)| self.scalar(&format!("{key}[{index}]"), item);
                items.iter().enumerate().filter_map(item).collect()
            }
            other => self.expected(key, "a list of strings", other, None).unwrap_or_default(),
        }
    }

    /// Names with texts: environment variables, headers.
    pub(super) fn texts(&mut self, key: &str, value: &Json) -> Vec<(String, String)> {
        let members = self.object(key, value).unwrap_or_default();
        let text = |(name, value): &(String, Json)| {
            Some((name.clone(), self.scalar(&format!("{key}.{name}"), value)?))
        };
        members.iter().filter_map(text).collect()
    }

    /// A text; numbers, `true` and `false` are read as they are written, `null` counts as left out.
    fn scalar(&mut self, key: &str, value: &Json) -> Option<String> {
        match value {
            Json::String(text) => Some(text.clone()),
            Json::Null => None,
            Json::Array(_) | Json::Object(_) => self.expected(key, "a string", value, None),
            value => Some(value.to_text(Keys::AsRead)),
        }
    }

    /// A whole number, at least `least`.
    pub(super) fn count(&mut self, key: &str, value: &Json, least: u32) -> Option<u32> {
        if let Json::Integer(number) = value
            && let Ok(number) = u32::try_from(*number)
            && number >= least
        {
            return Some(number);
        }
        self.problem(key, format!("expected a whole number from {least} on"));
        None
    }

    /// A number above 0, of a week in milliseconds at most.
    pub(super) fn positive(&mut self, key: &str, value: &Json) -> Option<f64> {
        let number = match value {
            Json::Integer(number) => *number as f64,
            Json::Float(number) => *number,
            _ => f64::NAN,
        };
        if number > 0.0 && number <= MAX_NUMBER {
            return Some(number);
        }
        self.problem(key, "expected a number above 0, of a week at most");
        None
    }

    /// A time in seconds.
    pub(super) fn seconds(&mut self, key: &str, value: &Json) -> Option<Duration> {
        let seconds = self.positive(key, value)?;
        if seconds <= MAX_SECONDS {
            return Some(Duration::from_secs_f64(seconds));
        }
        self.problem(key, "expected seconds, of a week at most");
        None
    }
}

/// The longest time, in seconds: a week. Longer times are a mistake in the unit.
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3600.0;

/// The largest number: a week in milliseconds.
const MAX_NUMBER: f64 = MAX_SECONDS * 1000.0;

/// The members of an object that have not been taken yet.
pub(super) struct Fields<'a> {
    rest: Vec<(&'a str, &'a Json)>,
}

/// Keys that a host may ignore: notes, and keys of editors.
const IGNORED: [&str; 12] = [
    "note",
    "comment",
    "description",
    "title",
    "name",
    "version",
    "icon",
    "gallery",
    "metadata",
    "autoApprove",
    "alwaysAllow",
    "trust",
];

impl<'a> Fields<'a> {
    pub(super) fn new(members: &'a [(String, Json)]) -> Self {
        Self { rest: members.iter().map(|(key, value)| (key.as_str(), value)).collect() }
    }

    /// Takes the first of the keys that is there, as it is written in the file. `maxConcurrent`, `max_concurrent` and
    /// `max-concurrent` are the same; `null` counts as left out.
    pub(super) fn take(&mut self, keys: &[&str]) -> Option<(&'a str, &'a Json)> {
        let is_one = |found: &str| keys.iter().any(|key| plain(key) == plain(found));
        let index = self.rest.iter().position(|(key, _)| is_one(key))?;
        let member = self.rest.remove(index);
        if member.1 == &Json::Null { self.take(keys) } else { Some(member) }
    }

    /// Warns of every key that was not read, and suggests the most similar one of `known`.
    pub(super) fn warn_of_rest(self, below: &str, known: &[&str], findings: &mut Findings) {
        for (key, _) in self.rest {
            let is_note = key.starts_with(['_', '$', '/', '#']);
            if is_note || IGNORED.iter().any(|ignored| plain(ignored) == plain(key)) {
                continue;
            }
            let message = match similar(key, known) {
                Some(near) => format!("not a key that m3 knows; did you mean `{near}`?"),
                None => "not a key that m3 knows; it is left aside".to_owned(),
            };
            findings.warn(format!("{below}{key}"), message);
        }
    }
}

/// The known key that `key` is most likely to be, if one is similar.
fn similar<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    nearest(key, known.iter().copied()).first().filter(|(likeness, _)| *likeness > 0.84).map(|(_, key)| *key)
}
