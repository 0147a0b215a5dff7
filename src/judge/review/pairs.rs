//! Original against reconstructed trajectories: which one people prefer when they do not know which is which (M³-Bench,
//! section 6.4).

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::ELSEWHERE;
use super::checks::{beside, checked_note, digest, person};
use super::desk::{Images, image, passage, shown};
use super::labelling::name_of;
use super::page::{Mode, page};
use super::server::{Ask, Desk, Page, Reply, body};
use super::time::now;
use crate::journal::{JournalError, Kind, SharedJournal};
use crate::stats::LEVEL;
use crate::stats::agreement::wilson;
use crate::text::{hexadecimal, json_without_hidden, shortened, visible};
use crate::trajectory::json::{Json, Keys};
use crate::trajectory::{Call, Trajectory};

/// The schema of a line.
pub const PREFERENCE_SCHEMA: &str = "m3.preference/1";

/// Arguments are shown up to so many bytes.
const LONGEST_ARGUMENTS: usize = 20_000;

const KIND: Kind = Kind { name: "file of preferences", schema: None, elsewhere: ELSEWHERE };

/// What one person prefers: a line of the file beside the references.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "m3.preference/1")]
pub struct Preference {
    /// `m3.preference/1`.
    pub schema: String,
    /// The task.
    pub id: String,
    /// SHA-256 of both trajectories as they were, in hexadecimal.
    pub pair: String,
    /// The person.
    pub name: String,
    /// When, as RFC 3339 in UTC.
    pub time: String,
    /// Which one stood on the left.
    pub left: Version,
    /// Which one was preferred; `None` for a tie.
    pub preferred: Option<Version>,
    /// A remark; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// One of the two trajectories of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// As the model ran it.
    Original,
    /// As the judge or a person made it of that.
    Reconstructed,
}

/// How often each was preferred.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The reconstructed one.
    pub reconstructed: u64,
    /// The original one.
    pub original: u64,
    /// Neither.
    pub ties: u64,
}

impl Counts {
    /// The share of the reconstructed one among those that are no ties; `None` without any.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        let decided = self.reconstructed + self.original;
        (decided > 0).then(|| self.reconstructed as f64 / decided as f64)
    }

    /// Wilson's interval of [`Counts::share`] at 95 %, as if no judgement depended on another one.
    #[must_use]
    pub fn interval(self) -> Option<(f64, f64)> {
        let share = wilson(self.reconstructed, self.reconstructed + self.original, LEVEL)?;
        Some((share.low, share.high))
    }
}

/// What people prefer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreferenceSummary {
    /// The pairs there are.
    pub pairs: usize,
    /// Of all people.
    pub all: Counts,
    /// Of each person.
    pub people: BTreeMap<String, Counts>,
}

/// Pairs of trajectories of the same tasks, and what people prefer.
#[derive(Debug)]
pub struct Pairs {
    list: Vec<[Trajectory; 2]>,
    digests: Vec<String>,
    store: SharedJournal<Preference>,
}

/// The file of preferences beside a file of references: `references.json.preferences.jsonl`.
#[must_use]
pub fn preferences_path(references: &Path) -> PathBuf {
    beside(references, ".preferences.jsonl")
}

impl Pairs {
    /// Pairs of an original and a reconstructed trajectory of one task, with the preferences of a file.
    ///
    /// # Errors
    /// [`JournalError`], of the file.
    pub fn open(pairs: Vec<[Trajectory; 2]>, path: &Path) -> Result<Self, JournalError> {
        let both = |[one, two]: &[Trajectory; 2]| {
            hexadecimal(&Sha256::digest(format!("{}{}", digest(one), digest(two))))
        };
        let digests = pairs.iter().map(both).collect();
        Ok(Self { list: pairs, digests, store: SharedJournal::open(path, KIND)? })
    }

    /// The file of preferences.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// What each person said last of each pair, by its index.
    fn newest(&self) -> HashMap<(usize, &str), &Preference> {
        let indices: HashMap<(&str, &str), usize> = self
            .list
            .iter()
            .zip(&self.digests)
            .enumerate()
            .map(|(index, ([original, _], digest))| ((original.id.as_str(), digest.as_str()), index))
            .collect();
        let records = self.store.records().iter();
        let known = records.filter_map(|said| {
            let index = *indices.get(&(said.id.as_str(), said.pair.as_str()))?;
            Some(((index, said.name.as_str()), said))
        });
        known.collect()
    }

    /// What people prefer, the newest of each person and pair.
    #[must_use]
    pub fn summary(&self) -> PreferenceSummary {
        let mut summary = PreferenceSummary { pairs: self.list.len(), ..PreferenceSummary::default() };
        for ((_, name), said) in self.newest() {
            for counts in [&mut summary.all, summary.people.entry(name.to_owned()).or_default()] {
                match said.preferred {
                    Some(Version::Original) => counts.original += 1,
                    Some(Version::Reconstructed) => counts.reconstructed += 1,
                    None => counts.ties += 1,
                }
            }
        }
        summary
    }

    /// The order in which a person sees the pairs: another one for each person, the same at each visit.
    fn order(&self, name: &str) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.sort_by_cached_key(|index| chance(&["order", &self.list[*index][0].id, name]));
        order
    }
}

/// Which trajectory of a pair a person sees on the left.
fn on_the_left(id: &str, name: &str) -> Version {
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

/// Serves pairs, blind.
pub struct PairsDesk {
    pairs: Pairs,
    images: Images,
    source: String,
    name: String,
}

impl fmt::Debug for PairsDesk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PairsDesk").field("pairs", &self.pairs).finish_non_exhaustive()
    }
}

/// A preference as the page sends it.
#[derive(Deserialize)]
struct Prefer {
    place: usize,
    name: String,
    choice: Choice,
    #[serde(default)]
    note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Left,
    Right,
    Tie,
}

impl PairsDesk {
    /// The desk; `source` is what the page says of where the pairs come from.
    #[must_use]
    pub fn new(pairs: Pairs, images: Images, source: &str, name: &str) -> Self {
        Self { pairs, images, source: visible(source, false).into_owned(), name: name.to_owned() }
    }

    /// What a person chose at each place.
    fn list(&self, name: &str) -> Value {
        let newest = self.pairs.newest();
        let chosen = |index: usize| {
            let said = newest.get(&(index, name))?;
            Some(match said.preferred {
                None => Choice::Tie,
                Some(version) if version == on_the_left(&said.id, name) => Choice::Left,
                Some(_) => Choice::Right,
            })
        };
        let chosen: Vec<Option<Choice>> = self.pairs.order(name).into_iter().map(chosen).collect();
        json!({ "chosen": chosen })
    }

    fn pair(&self, place: usize, name: &str) -> Option<Value> {
        let index = *self.pairs.order(name).get(place)?;
        let [original, reconstructed] = self.pairs.list.get(index)?;
        // What only one side has would tell which it is.
        let has_results =
            [original, reconstructed].iter().all(|side| side.calls().any(|(_, call)| call.result.is_some()));
        let sides = match on_the_left(&original.id, name) {
            Version::Original => [original, reconstructed],
            Version::Reconstructed => [reconstructed, original],
        };
        let [left, right] = sides.map(|side| steps(side, has_results));
        let newest = self.pairs.newest();
        let reply =
            original.final_reply.as_deref().filter(|_| original.final_reply == reconstructed.final_reply);
        Some(json!({
            "index": index,
            "question": original.question.as_deref().or(reconstructed.question.as_deref()).map(passage),
            // Of the references alone: predictions would choose which of the reader's files to show.
            "image": reconstructed.image.as_deref().map(|path| shortened(path, 300)),
            "reply": reply.map(passage),
            "left": left,
            "right": right,
            "note": newest.get(&(index, name)).map(|said| &said.note),
        }))
    }

    fn prefer(&mut self, ask: &Ask<'_>) -> Result<Reply, Reply> {
        let said: Prefer = serde_json::from_value(body(ask)?)
            .map_err(|error| Reply::error(400, &shortened(&error.to_string(), 200)))?;
        let name = person(&said.name).map_err(|error| Reply::error(422, &error.to_string()))?;
        let note = checked_note(&said.note).map_err(|error| Reply::error(422, error))?;
        let index = *self.pairs.order(&name).get(said.place).ok_or_else(Reply::not_found)?;
        let id = self.pairs.list[index][0].id.clone();
        let left = on_the_left(&id, &name);
        let right = if left == Version::Original { Version::Reconstructed } else { Version::Original };
        let preferred = match said.choice {
            Choice::Left => Some(left),
            Choice::Right => Some(right),
            Choice::Tie => None,
        };
        let (schema, pair, time) = (PREFERENCE_SCHEMA.to_owned(), self.pairs.digests[index].clone(), now());
        let record = Preference { schema, id, pair, name: name.clone(), time, left, preferred, note };
        self.pairs
            .store
            .append_with(|_| Some(record))
            .map_err(|error| Reply::error(500, &error.to_string()))?;
        Ok(Reply::json(&self.list(&name)))
    }

    /// What a person prefers, once there is nothing left that it could sway.
    fn end(&self, name: &str) -> Reply {
        let chosen = self.list(name);
        let is_done =
            chosen["chosen"].as_array().is_some_and(|chosen| chosen.iter().all(|one| !one.is_null()));
        if !is_done {
            return Reply::error(409, "there are pairs left: the summary comes when all are done");
        }
        let summary = self.pairs.summary();
        let counts = |counts: Counts| {
            json!({
                "reconstructed": counts.reconstructed, "original": counts.original, "ties": counts.ties,
                "share": counts.share(), "interval": counts.interval(),
            })
        };
        let own = summary.people.get(name).copied().unwrap_or_default();
        Reply::json(&json!({
            "pairs": summary.pairs, "people": summary.people.len(), "own": counts(own), "all": counts(summary.all),
        }))
    }
}

/// The calls of a side, and nothing else of it.
fn steps(side: &Trajectory, has_results: bool) -> Vec<Vec<Value>> {
    let call = |call: &Call| {
        let arguments = call
            .arguments
            .as_ref()
            .map_or_else(|| "{}".to_owned(), |found: &Json| found.to_text(Keys::AsRead));
        let end = arguments.floor_char_boundary(LONGEST_ARGUMENTS);
        json!({
            "tool": shortened(&call.tool, 200),
            "arguments": json_without_hidden(&arguments[..end]),
            "result": call.result.as_ref().filter(|_| has_results).map(shown),
        })
    };
    side.steps.iter().map(|step| step.calls.iter().map(call).collect()).collect()
}

impl Desk for PairsDesk {
    fn page(&self) -> Page {
        page(Mode::Pairs, &self.source, &self.name)
    }

    fn answer(&mut self, ask: &Ask<'_>) -> Reply {
        if let Some(index) = ask.path.strip_prefix("image/") {
            let pair = index.parse().ok().and_then(|index: usize| self.pairs.list.get(index));
            return image(pair.map(|[_, reconstructed]| reconstructed), &self.images);
        }
        if let Err(error) = self.pairs.store.refresh() {
            return Reply::error(500, &error.to_string());
        }
        if ask.is_post {
            return match ask.path {
                "api/prefer" => self.prefer(ask).unwrap_or_else(|refused| refused),
                _ => Reply::not_found(),
            };
        }
        let name = match name_of(ask) {
            Ok(name) => name,
            Err(refused) => return refused,
        };
        match ask.path {
            "api/pairs" => Reply::json(&self.list(&name)),
            "api/pair" => {
                let pair = ask.number("place").and_then(|place| self.pair(place, &name));
                pair.map_or_else(Reply::not_found, |pair| Reply::json(&pair))
            }
            "api/end" => self.end(&name),
            _ => Reply::not_found(),
        }
    }
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod tests;
