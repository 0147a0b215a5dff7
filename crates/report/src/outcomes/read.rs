//! Reads outcomes, to put them beside scores.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use m3_support::text::counted;
use serde::Deserialize;

use super::{OUTCOMES_SCHEMA, OutcomeCounts, TaskOutcomes};
use crate::unusable::{ExpectedFile, UnusableFile, open};

const EXPECTED: ExpectedFile = ExpectedFile {
    not_met: "holds no outcomes",
    hint: "`m3 outcomes .. --format json --out FILE` writes them",
};

/// Outcomes by the id of their trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomesByTrajectory {
    path: PathBuf,
    found: HashMap<String, (usize, TaskOutcomes)>,
}

/// The whole document, or a line of JSON Lines, with only the members that a score needs. The types of the full
/// document, which the program writes, are in the program.
#[derive(Deserialize)]
struct Entry {
    schema: Option<String>,
    trajectories: Option<Vec<TrajectoryPart>>,
    id: Option<String>,
    outcomes: Option<OutcomeCounts>,
    not_executed: Option<u64>,
    details: Option<Vec<CallPart>>,
}

#[derive(Deserialize)]
struct TrajectoryPart {
    id: String,
    outcomes: OutcomeCounts,
    #[serde(default)]
    not_executed: u64,
    details: Vec<CallPart>,
}

#[derive(Deserialize)]
struct CallPart {
    place: Option<serde::de::IgnoredAny>,
}

impl OutcomesByTrajectory {
    /// Reads what `m3 outcomes --format json` or `jsonl` wrote. Among trajectories with the same id the last counts, as
    /// in scores.
    ///
    /// # Errors
    /// [`UnusableFile`].
    pub fn read(path: &Path) -> Result<Self, UnusableFile> {
        let failed = |cause| UnusableFile::Read { path: path.to_owned(), cause };
        let wrong =
            |message: String| UnusableFile::Content { path: path.to_owned(), expected: EXPECTED, message };
        let reader = open(path).map_err(failed)?;
        let (mut found, mut has_head) = (HashMap::new(), false);
        let mut keep = |part: TrajectoryPart| {
            let calls = part.details.iter().filter(|call| call.place.is_some()).count();
            let TrajectoryPart { outcomes: mut counts, not_executed, details, .. } = part;
            // Files of earlier versions count calls that were not executed as successes too.
            let sum = counts.all().into_iter().fold(not_executed, u64::saturating_add);
            if sum > details.len() as u64 {
                counts.success = counts.success.saturating_sub(not_executed);
            }
            found.insert(part.id, (calls, TaskOutcomes { counts, not_executed }));
        };
        for entry in serde_json::Deserializer::from_reader(reader).into_iter::<Entry>() {
            let entry = entry.map_err(|error| wrong(error.to_string()))?;
            match entry {
                Entry { schema: Some(schema), trajectories, .. } => {
                    if schema != OUTCOMES_SCHEMA {
                        return Err(wrong(format!(
                            "its schema is `{schema}`, and should be `{OUTCOMES_SCHEMA}`"
                        )));
                    }
                    has_head = true;
                    trajectories.unwrap_or_default().into_iter().for_each(&mut keep);
                }
                Entry {
                    id: Some(id),
                    outcomes: Some(outcomes),
                    not_executed,
                    details: Some(details),
                    ..
                } => {
                    let not_executed = not_executed.unwrap_or_default();
                    keep(TrajectoryPart { id, outcomes, not_executed, details });
                }
                _ => return Err(wrong(format!("it has no `schema`; expected `{OUTCOMES_SCHEMA}`"))),
            }
        }
        if !has_head {
            return Err(wrong("it has no head with a `schema`; is it cut short?".to_owned()));
        }
        Ok(Self { path: path.to_owned(), found })
    }

    /// The outcomes of a trajectory with this number of predicted calls; `None` if it has none and the
    /// file lacks it.
    ///
    /// # Errors
    /// [`UnusableFile::OtherCalls`] if the file has another number of calls for this id, or lacks an id that has calls.
    pub fn get(&self, id: &str, calls: usize) -> Result<Option<TaskOutcomes>, UnusableFile> {
        let other = |found: String| UnusableFile::OtherCalls {
            path: self.path.clone(),
            id: id.to_owned(),
            found,
            calls,
            command: "m3 outcomes",
        };
        match self.found.get(id) {
            Some((found, counts)) if *found == calls => Ok(Some(*counts)),
            Some((found, _)) => Err(other(counted(*found, "call"))),
            None if calls == 0 => Ok(None),
            None => Err(other("no place".to_owned())),
        }
    }
}
