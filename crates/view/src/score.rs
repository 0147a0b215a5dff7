//! A file of `m3 score --format json`: the members of its head that pages show, and every trajectory's entry as a whole.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use m3_report::{InputsReport, SCORE_SCHEMA, open_decompressed};
use m3_score::Metric;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The most columns: m3's metrics and those of suites.
const COLUMNS: usize = 200;

/// A score: its head, and its trajectories.
#[derive(Debug)]
pub(crate) struct Score {
    pub path: PathBuf,
    pub head: Head,
    /// The names of the values in [`ScoredTrial::values`]: m3's metrics, then those of suites, `suite.name`.
    pub columns: Vec<String>,
    pub trajectories: Vec<ScoredTrial>,
    places: HashMap<(String, u64), usize>,
}

/// The members of a score's head that are read.
#[derive(Debug, Deserialize)]
pub(crate) struct Head {
    pub schema: String,
    #[serde(default)]
    pub signature: String,
    #[serde(default)]
    pub profile: String,
    #[serde(default)]
    pub inputs: InputsReport,
    #[serde(default)]
    pub ledger: Ledger,
    #[serde(default)]
    pub aggregate: Value,
    #[serde(default)]
    pub by_type: Value,
    #[serde(default)]
    pub costs: Vec<Value>,
    #[serde(default)]
    pub by_tool: Vec<Value>,
    #[serde(default)]
    pub wrong_arguments: Vec<Value>,
    #[serde(default)]
    pub rejected_matches: Value,
    #[serde(default)]
    pub suites: Value,
}

/// The members of a score's ledger that are read.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Ledger {
    /// Tools whose calls do not count: the score numbers the calls without them.
    #[serde(default)]
    pub ignored_tools: HashSet<String>,
}

/// A scored trajectory.
#[derive(Debug)]
pub(crate) struct ScoredTrial {
    pub id: String,
    pub repeat: u64,
    pub task_type: Option<String>,
    pub failure: Option<String>,
    /// Whether the trajectory passes, if it was scored with `--match`.
    pub passes: Option<bool>,
    /// Predicted steps and calls.
    pub steps: usize,
    pub calls: usize,
    /// Values by column.
    pub values: Vec<Option<f64>>,
    /// The whole entry of the trajectory in the score.
    pub whole: Box<RawValue>,
}

/// An entry of the file: the head, which has the trajectories unless the file is JSON Lines, or a trajectory.
#[derive(Deserialize)]
struct Entry {
    schema: Option<String>,
    #[serde(default)]
    trajectories: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct ScoredMembers {
    id: String,
    repeat: Option<u64>,
    #[serde(rename = "type")]
    task_type: Option<String>,
    failure: Option<String>,
    #[serde(rename = "match")]
    verdict: Option<Value>,
    #[serde(default)]
    metrics: HashMap<String, Value>,
    #[serde(default)]
    suites: serde_json::Map<String, Value>,
}

impl Score {
    /// Reads a score.
    ///
    /// # Errors
    /// The reason why the file is not a score, in words.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let failed = |cause: std::io::Error| format!("`{}` cannot be read: {cause}", path.display());
        let mut text = String::new();
        let mut reader = open_decompressed(path).map_err(failed)?;
        std::io::Read::read_to_string(&mut reader, &mut text).map_err(failed)?;
        let wrong = |error: serde_json::Error| format!("`{}` is no score: {error}", path.display());
        let (mut head, mut raw): (Option<Head>, Vec<Box<RawValue>>) = (None, Vec::new());
        for value in serde_json::Deserializer::from_str(&text).into_iter::<&RawValue>() {
            let value = value.map_err(wrong)?;
            let entry: Entry = serde_json::from_str(value.get()).map_err(wrong)?;
            if entry.schema.is_some() {
                head = Some(serde_json::from_str(value.get()).map_err(wrong)?);
                raw.extend(entry.trajectories);
            } else {
                raw.push(value.to_owned());
            }
        }
        let head = head.filter(|head| head.schema == SCORE_SCHEMA);
        let head = head.ok_or_else(|| format!("`{}` has no head of {SCORE_SCHEMA}", path.display()))?;
        Self::new(path, head, raw).map_err(wrong)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a negative count is none")]
    pub(crate) fn new(path: &Path, head: Head, raw: Vec<Box<RawValue>>) -> serde_json::Result<Self> {
        let mut columns: Vec<String> = metrics().map(|metric| metric.name().to_owned()).collect();
        let mut trajectories = Vec::with_capacity(raw.len());
        let mut places = HashMap::with_capacity(raw.len());
        for whole in raw {
            let read: ScoredMembers = serde_json::from_str(whole.get())?;
            let mut values: Vec<Option<f64>> =
                columns.iter().map(|name| read.metrics.get(name).and_then(Value::as_f64)).collect();
            for (suite, of_suite) in &read.suites {
                for (name, value) in of_suite.as_object().into_iter().flatten() {
                    let Some(value) = value.as_f64() else { continue };
                    let column = format!("{suite}.{name}");
                    if columns.len() >= COLUMNS && !columns.contains(&column) {
                        continue;
                    }
                    let at = columns.iter().position(|known| *known == column).unwrap_or_else(|| {
                        columns.push(column);
                        columns.len() - 1
                    });
                    values.resize(values.len().max(at + 1), None);
                    if let Some(place) = values.get_mut(at) {
                        *place = Some(value);
                    }
                }
            }
            let passes = read.verdict.as_ref().and_then(|verdict| verdict.get("passed")?.as_bool());
            let repeat = read.repeat.unwrap_or(1);
            places.insert((read.id.clone(), repeat), trajectories.len());
            let count = |name: &str| read.metrics.get(name).and_then(Value::as_f64).unwrap_or_default();
            // The average over a single trajectory is its own number.
            let (steps, calls) =
                (count("average_steps") as u32 as usize, count("predicted_calls") as u32 as usize);
            let ScoredMembers { id, task_type, failure, .. } = read;
            trajectories.push(ScoredTrial {
                id,
                repeat,
                task_type,
                failure,
                passes,
                steps,
                calls,
                values,
                whole,
            });
        }
        for scored in &mut trajectories {
            scored.values.resize(columns.len(), None);
        }
        Ok(Self { path: path.to_owned(), head, columns, trajectories, places })
    }

    /// The entry of a trajectory in the score.
    pub(crate) fn of(&self, id: &str, repeat: u64) -> Option<&ScoredTrial> {
        self.trajectories.get(*self.places.get(&(id.to_owned(), repeat))?)
    }
}

/// m3's own metrics, in the order of leaderboards.
pub(crate) fn metrics() -> impl Iterator<Item = Metric> {
    Metric::of_leaderboards().into_iter().filter(|metric| !metric.is_graded())
}
