//! Pairs of an original and a reconstructed trajectory, and people's preferences (M³-Bench, section 6.4).

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use m3_stats::LEVEL;
use m3_stats::agreement::wilson;
use m3_support::journal::{JournalError, Kind, SharedJournal};
use m3_support::text::hexadecimal;
use m3_trajectory::Trajectory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::ELSEWHERE;
use super::checks::{Digests, beside, now};

/// The schema of a line.
pub const PREFERENCE_SCHEMA: &str = "m3.preference/1";

const KIND: Kind = Kind { name: "file of preferences", schema: None, elsewhere: ELSEWHERE };

/// The preference of one person: a line of the file beside the references.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "m3.preference/1")]
pub struct Preference {
    /// `m3.preference/1`.
    pub schema: String,
    /// The id of the task.
    pub id: String,
    /// SHA-256, in hexadecimal, of the parts of both trajectories that people judge, as they were. In lines of older
    /// versions it is the hash of both whole trajectories.
    pub pair: String,
    /// The name of the person.
    pub name: String,
    /// The time of the preference, as RFC 3339 in UTC.
    pub time: String,
    /// The trajectory on the left.
    pub left: Version,
    /// The preferred trajectory; `None` for a tie.
    pub preferred: Option<Version>,
    /// A remark; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// One of the two trajectories of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// The trajectory that the model ran.
    Original,
    /// The trajectory that the judge or a person made of the original.
    Reconstructed,
}

/// The number of preferences for each trajectory of a pair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// How often the reconstructed trajectory was preferred.
    pub reconstructed: u64,
    /// How often the original trajectory was preferred.
    pub original: u64,
    /// How often neither was preferred.
    pub ties: u64,
}

impl Counts {
    /// The share of the reconstructed trajectory among the answers that are not ties; `None` without any.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        let decided = self.reconstructed + self.original;
        (decided > 0).then(|| self.reconstructed as f64 / decided as f64)
    }

    /// Wilson's interval of [`Counts::share`] at 95 %, as if all judgements were independent.
    #[must_use]
    pub fn interval(self) -> Option<(f64, f64)> {
        let share = wilson(self.reconstructed, self.reconstructed + self.original, LEVEL)?;
        Some((share.low, share.high))
    }
}

/// The people's preferences, counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreferenceSummary {
    /// The number of pairs.
    pub pairs: usize,
    /// The counts over all people.
    pub all: Counts,
    /// The counts of each person.
    pub people: BTreeMap<String, Counts>,
}

/// Pairs of trajectories of the same tasks, and what people prefer.
#[derive(Debug)]
pub struct Pairs {
    pub(super) list: Vec<[Trajectory; 2]>,
    digests: Vec<[String; 2]>,
    store: SharedJournal<Preference>,
}

/// The file of preferences beside a file of references: `references.json.preferences.jsonl`.
#[must_use]
pub fn preferences_path(references: &Path) -> PathBuf {
    beside(references, ".preferences.jsonl")
}

impl Pairs {
    /// Opens the file of preferences for pairs of an original and a reconstructed trajectory of one task.
    ///
    /// # Errors
    /// [`JournalError`], of the file.
    pub fn open(pairs: Vec<[Trajectory; 2]>, path: &Path) -> Result<Self, JournalError> {
        let hash = |texts: String| hexadecimal(&Sha256::digest(texts));
        let both = |pair: &[Trajectory; 2]| {
            let [one, two] = pair.each_ref().map(Digests::of);
            [format!("{}{}", one.judged, two.judged), format!("{}{}", one.whole, two.whole)].map(hash)
        };
        let digests = pairs.iter().map(both).collect();
        Ok(Self { list: pairs, digests, store: SharedJournal::open(path, KIND)? })
    }

    /// The file of preferences.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// Reads preferences that other processes have added.
    pub(super) fn refresh(&mut self) -> Result<(), JournalError> {
        self.store.refresh()
    }

    /// Keeps a person's preference for a pair. It is on disk on return.
    pub(super) fn prefer(
        &mut self,
        index: usize,
        name: &str,
        preferred: Option<Version>,
        note: String,
    ) -> Result<(), JournalError> {
        let id = self.list[index][0].id.clone();
        let record = Preference {
            schema: PREFERENCE_SCHEMA.to_owned(),
            pair: self.digests[index][0].clone(),
            name: name.to_owned(),
            time: now(),
            left: on_the_left(&id, name),
            preferred,
            note,
            id,
        };
        self.store.append_with(|_| Some(record)).map(|_| ())
    }

    /// Each person's newest preference for each pair, by its index.
    pub(super) fn newest(&self) -> HashMap<(usize, &str), &Preference> {
        let indices: HashMap<(&str, &str), usize> = self
            .list
            .iter()
            .zip(&self.digests)
            .enumerate()
            .flat_map(|(index, ([original, _], digests))| {
                digests.iter().map(move |digest| ((original.id.as_str(), digest.as_str()), index))
            })
            .collect();
        let records = self.store.records().iter();
        let known = records.filter_map(|preference| {
            let index = *indices.get(&(preference.id.as_str(), preference.pair.as_str()))?;
            Some(((index, preference.name.as_str()), preference))
        });
        known.collect()
    }

    /// Counts the newest preference of each person and pair.
    #[must_use]
    pub fn summary(&self) -> PreferenceSummary {
        let mut summary = PreferenceSummary { pairs: self.list.len(), ..PreferenceSummary::default() };
        for ((_, name), preference) in self.newest() {
            for counts in [&mut summary.all, summary.people.entry(name.to_owned()).or_default()] {
                match preference.preferred {
                    Some(Version::Original) => counts.original += 1,
                    Some(Version::Reconstructed) => counts.reconstructed += 1,
                    None => counts.ties += 1,
                }
            }
        }
        summary
    }

    /// The order in which a person sees the pairs: another one for each person, the same at each visit.
    pub(super) fn order(&self, name: &str) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.sort_by_cached_key(|index| chance(&["order", &self.list[*index][0].id, name]));
        order
    }
}

/// Which trajectory of a pair a person sees on the left.
pub(super) fn on_the_left(id: &str, name: &str) -> Version {
    match chance(&["side", id, name])[0] % 2 {
        0 => Version::Original,
        _ => Version::Reconstructed,
    }
}

/// Bytes that look random and are the same for the same texts.
fn chance(texts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}
