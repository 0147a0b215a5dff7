//! Reads the key `simulated` of a configuration; all mistakes in it are reported together.

use std::path::Path;

use m3_mcp::config::{ConfigError, ConfigProblem, HostConfig};
use m3_support::text::shortened;
use serde_json::{Map, Value};

use super::error::{SimulationError, suggestion};
use super::faults::{Delay, Faults};
use super::options::{DistractorOptions, SimulatedOptions};
use super::server::Behaviour;
use crate::distractors::DistractorKind;

const KEYS: [&str; 7] = ["catalog", "trajectories", "strict", "seed", "faults", "only", "distractors"];
const FAULT_KEYS: [&str; 4] = ["delay", "failure_rate", "crash_rate", "hang_rate"];
const DISTRACTOR_KEYS: [&str; 2] = ["count", "kind"];

impl SimulatedOptions {
    /// The options in a configuration's key `simulated`, if it has one.
    ///
    /// # Errors
    /// [`SimulationError::Config`], with all mistakes.
    pub fn from_config(config: &HostConfig) -> Result<Option<Self>, SimulationError> {
        let Some(simulated) = &config.simulated else { return Ok(None) };
        Ok(Some(options(simulated, &config.folder, &config.file)?))
    }
}

/// Reads `{catalog, trajectories, strict, seed, faults: {delay, failure_rate, crash_rate, hang_rate}, only,
/// distractors}`; only `catalog` is required. A list of one may be written without the list; `delay` is a mean in
/// seconds or `[least, most]`; `distractors` a number or `{count, kind}` with the kind `near` (the default) or
/// `random`. Paths are relative to `folder`; `file` is named in errors.
///
/// # Errors
/// [`ConfigError::Invalid`].
pub(super) fn options(
    simulated: &Map<String, Value>,
    folder: &Path,
    file: &str,
) -> Result<SimulatedOptions, ConfigError> {
    let mut reader = Reader { file, problems: Vec::new() };
    reader.check_keys(simulated, "", &KEYS);
    let path = |text: &String| folder.join(text);
    let catalog = match simulated.get("catalog") {
        Some(Value::String(catalog)) if !catalog.is_empty() => path(catalog),
        Some(other) => reader.wrong("catalog", "the path of a catalog of tools", other),
        None => reader.problem("catalog", "it is missing: the path of a catalog of tools".to_owned()),
    };
    let seed = reader.value(simulated, "seed", "a whole number from 0 to 2^64 - 1", Value::as_u64);
    let is_strict = reader.value(simulated, "strict", "`true` or `false`", Value::as_bool);
    let faults = simulated.get("faults").map(|value| reader.faults(value)).unwrap_or_default();
    let trajectories = reader.texts(simulated, "trajectories").iter().map(path).collect();
    let only = reader.texts(simulated, "only");
    let distractors = simulated.get("distractors").map(|value| reader.distractors(value));
    if !reader.problems.is_empty() {
        return Err(ConfigError::Invalid { problems: reader.problems });
    }
    let behaviour =
        Behaviour { seed: seed.unwrap_or_default(), is_strict: is_strict.unwrap_or_default(), faults };
    Ok(SimulatedOptions { catalog, trajectories, behaviour, only, distractors })
}

/// Reads values and collects mistakes.
struct Reader<'a> {
    file: &'a str,
    problems: Vec<ConfigProblem>,
}

impl Reader<'_> {
    /// Notes a mistake; returns a value to use instead.
    fn problem<T: Default>(&mut self, key: &str, message: String) -> T {
        let key = if key.is_empty() { "simulated".to_owned() } else { format!("simulated.{key}") };
        self.problems.push(ConfigProblem { file: self.file.to_owned(), server: None, key, message });
        T::default()
    }

    fn wrong<T: Default>(&mut self, key: &str, expected: &str, found: &Value) -> T {
        let value = shortened(&found.to_string(), 80);
        self.problem(key, format!("it should be {expected}, and is `{value}`"))
    }

    fn check_keys(&mut self, members: &Map<String, Value>, prefix: &str, known: &[&str]) {
        for key in members.keys().filter(|key| !known.contains(&key.as_str())) {
            let hint = suggestion(key, known.iter().copied());
            let () = self.problem(&format!("{prefix}{key}"), format!("there is no such option; {hint}"));
        }
    }

    /// The value of a key, read by `read`; `None` without the key.
    fn value<T>(
        &mut self,
        members: &Map<String, Value>,
        key: &str,
        expected: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = members.get(key)?;
        read(value).or_else(|| self.wrong(key, expected, value))
    }

    /// A list of texts, or a single one; empty without the key.
    fn texts(&mut self, members: &Map<String, Value>, key: &str) -> Vec<String> {
        let Some(value) = members.get(key) else { return Vec::new() };
        let items = match value {
            Value::Array(items) => items.as_slice(),
            single => std::slice::from_ref(single),
        };
        let text = |item: &Value| item.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let texts: Option<Vec<String>> = items.iter().map(text).collect();
        texts.unwrap_or_else(|| self.wrong(key, "a text or a list of texts", value))
    }

    fn faults(&mut self, value: &Value) -> Faults {
        let Value::Object(members) = value else { return self.wrong("faults", "an object of rates", value) };
        self.check_keys(members, "faults.", &FAULT_KEYS);
        let before = self.problems.len();
        let [failure_rate, crash_rate, hang_rate] = ["failure_rate", "crash_rate", "hang_rate"].map(|key| {
            let Some(value) = members.get(key) else { return 0.0 };
            let rate = value.as_f64().filter(|rate| (0.0..=1.0).contains(rate));
            rate.unwrap_or_else(|| self.wrong(&format!("faults.{key}"), "a number from 0 to 1", value))
        });
        let delay = members.get("delay").map_or(Delay::None, |value| self.delay(value));
        let faults = Faults { delay, failure_rate, crash_rate, hang_rate };
        if let Some(problem) = faults.problem().filter(|_| self.problems.len() == before) {
            let () = self.problem("faults", problem);
        }
        faults
    }

    fn delay(&mut self, value: &Value) -> Delay {
        let range = || match value.as_array()?.as_slice() {
            [low, high] => Some(Delay::Between(low.as_f64()?, high.as_f64()?)),
            _ => None,
        };
        let expected = "the mean in seconds, or `[least, most]`";
        let delay = value.as_f64().map(Delay::Mean).or_else(range);
        delay.unwrap_or_else(|| {
            let () = self.wrong("faults.delay", expected, value);
            Delay::None
        })
    }

    fn distractors(&mut self, value: &Value) -> DistractorOptions {
        let expected = "a number of tools, or `{\"count\": .., \"kind\": ..}`";
        let number = |value: &Value| value.as_u64().and_then(|count| usize::try_from(count).ok());
        let Value::Object(members) = value else {
            let count = number(value).unwrap_or_else(|| self.wrong("distractors", expected, value));
            return DistractorOptions { count, kind: DistractorKind::default() };
        };
        self.check_keys(members, "distractors.", &DISTRACTOR_KEYS);
        let kind = match members.get("kind").map(|kind| (kind, kind.as_str())) {
            None => DistractorKind::default(),
            Some((_, Some("near"))) => DistractorKind::Near,
            Some((_, Some("random"))) => DistractorKind::Random,
            Some((kind, _)) => self.wrong("distractors.kind", "`near` or `random`", kind),
        };
        let count = members.get("count").map(|value| {
            number(value).unwrap_or_else(|| self.wrong("distractors.count", "a number of tools", value))
        });
        DistractorOptions { count: count.unwrap_or_default(), kind }
    }
}
