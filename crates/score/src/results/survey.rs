//! A survey of tools by their recorded results: which give equal answers to equal calls, and which always answer alike.

use std::collections::{BTreeMap, HashMap};

use m3_embedding::{key_of, text_key};
use m3_flow::Role;
use m3_trajectory::Trajectory;
use m3_trajectory::json::{Json, Keys};

use super::recorded::RecordedResult;
use super::{ComparePictures, PairResults, RecordedPicture, ResultSide, Side};
use crate::flow::replaced;

/// The most tools that are surveyed; only a crafted file has more.
const MOST_TOOLS: usize = 10_000;

/// The number of calls that must have equal answers before a tool counts as one that always answers alike.
const FEW: usize = 3;

/// The number of confirmed answers for which one may be contradicted.
const MOST_CONTRADICTED: u64 = 20;

/// What the results in two files show about their tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Survey {
    tools: BTreeMap<String, ToolSurvey>,
}

/// What results show about one tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolSurvey {
    /// The number of calls with a result that is not an error.
    pub calls: u64,
    /// The different contents of the references' results, at most two.
    contents: Vec<[u8; 16]>,
    /// The different requests of the references' calls with a result, at most [`FEW`].
    asked: Vec<[u8; 16]>,
    /// Whether a prediction's result has another content.
    is_answered_otherwise: bool,
    /// How often two calls of one task with the same arguments and inputs gave equal results.
    pub confirmed: u64,
    /// How often two such calls gave different results.
    pub contradicted: u64,
}

impl ToolSurvey {
    /// Whether the tool gives equal answers to equal calls, with at most one exception for twenty confirmations:
    /// servers fail now and then, and files change without a call.
    #[must_use]
    pub fn answers_same_to_same(&self) -> bool {
        self.confirmed > 0 && self.contradicted.saturating_mul(MOST_CONTRADICTED) <= self.confirmed
    }

    /// Whether the tool gave different answers to equal calls more often than by accident.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.contradicted > 0 && !self.answers_same_to_same()
    }

    /// Whether the tool gives the same answer to every call, so that its answer tells nothing. If the references show
    /// this with enough different calls, a prediction's records cannot change it.
    #[must_use]
    pub fn always_answers_alike(&self) -> bool {
        let shows_it = self.asked.len() >= FEW || self.calls >= FEW as u64 && !self.is_answered_otherwise;
        shows_it && self.contents.len() == 1
    }
}

impl Survey {
    /// Each tool with its survey, by name.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &ToolSurvey)> {
        self.tools.iter().map(|(name, tool)| (name.as_str(), tool))
    }

    pub(super) fn answers_same_to_same(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(ToolSurvey::answers_same_to_same)
    }

    pub(super) fn always_answers_alike(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(ToolSurvey::always_answers_alike)
    }

    /// Adds the survey of a further repetition.
    pub(crate) fn add_repetition(&mut self, other: Self) {
        for (name, more) in other.tools {
            let tool = self.tools.entry(name).or_default();
            tool.calls += more.calls;
            tool.is_answered_otherwise |= more.is_answered_otherwise;
            tool.confirmed += more.confirmed;
            tool.contradicted += more.contradicted;
            more.contents.into_iter().for_each(|content| add_new(&mut tool.contents, content, 2));
            more.asked.into_iter().for_each(|asked| add_new(&mut tool.asked, asked, FEW));
        }
    }

    /// Adds the results of a task, if both sides have some.
    pub(crate) fn add(
        &mut self,
        reference: &Trajectory,
        prediction: &Trajectory,
        pictures: Option<&dyn ComparePictures>,
    ) {
        let results =
            PairResults::new(reference, prediction).filter(|results| !results.predictions.calls.is_empty());
        let Some(results) = results else { return };
        let mut answers: HashMap<(String, [u8; 16]), Vec<[u8; 16]>> = HashMap::new();
        let sides = [
            (reference, &results.references, ResultSide::Reference),
            (prediction, &results.predictions, ResultSide::Prediction),
        ];
        for (trajectory, side, which) in sides {
            let contents: Vec<Option<[u8; 16]>> = side
                .calls
                .iter()
                .map(|call| content(call.result.as_ref()?, &|picture| digest(pictures, which, picture)))
                .collect();
            for (index, (_, call)) in trajectory.calls().enumerate() {
                let Some(answer) = contents[index] else { continue };
                if self.tools.len() >= MOST_TOOLS && !self.tools.contains_key(&call.tool) {
                    continue;
                }
                let tool = self.tools.entry(call.tool.clone()).or_default();
                tool.calls += 1;
                let asked = asked(call.arguments.as_ref(), index, side, &contents);
                match which {
                    ResultSide::Reference => {
                        add_new(&mut tool.contents, answer, 2);
                        if let Some(asked) = asked {
                            add_new(&mut tool.asked, asked, FEW);
                        }
                    }
                    ResultSide::Prediction => tool.is_answered_otherwise |= !tool.contents.contains(&answer),
                }
                let Some(asked) = asked else { continue };
                // The counts do not depend on the order of calls.
                let known = answers.entry((call.tool.clone(), asked)).or_default();
                if known.contains(&answer) {
                    tool.confirmed += 1;
                } else {
                    tool.contradicted += u64::from(!known.is_empty());
                    known.push(answer);
                }
            }
        }
    }
}

/// Adds a digest that is not there yet, if there are fewer than `most`.
fn add_new(digests: &mut Vec<[u8; 16]>, digest: [u8; 16], most: usize) {
    if digests.len() < most && !digests.contains(&digest) {
        digests.push(digest);
    }
}

/// A digest of all that a result holds.
fn content(
    result: &RecordedResult,
    digest: &dyn Fn(&RecordedPicture) -> Option<[u8; 16]>,
) -> Option<[u8; 16]> {
    // Text beside pictures names them, and says no more than they do.
    if result.pictures.is_empty() {
        return Some(key_of(&result.digest));
    }
    let digests: Option<Vec<[u8; 16]>> = result.pictures.iter().map(digest).collect();
    Some(key_of(&digests?.concat()))
}

fn digest(
    pictures: Option<&dyn ComparePictures>,
    side: ResultSide,
    picture: &RecordedPicture,
) -> Option<[u8; 16]> {
    match (pictures, picture) {
        // The same picture may be sent by one side and be a file on the other.
        (Some(pictures), RecordedPicture::Sent(_) | RecordedPicture::File { .. }) => {
            pictures.digest(side, picture)
        }
        (None, RecordedPicture::Sent(data)) => Some(text_key(data)),
        _ => None,
    }
}

/// A digest of what a call asks for, its inputs included; `None` where an input is not known.
fn asked(
    arguments: Option<&Json>,
    call: usize,
    side: &Side,
    contents: &[Option<[u8; 16]>],
) -> Option<[u8; 16]> {
    let empty = Json::Object(Vec::new());
    let arguments = arguments.unwrap_or(&empty);
    let mut changes = Vec::new();
    for mention in side.lineage.mentions.get(call).into_iter().flatten() {
        let input = match mention.role {
            Role::ReadsTaskImage => "(the task's image)".to_owned(),
            // The ending of the name says what kind of file is written.
            Role::Writes(version) => {
                let path = side.lineage.versions.get(version).map_or("", |made| made.path.as_str());
                format!("(a new file .{})", path.rsplit_once('.').map_or("", |(_, ending)| ending))
            }
            Role::Reads { version, .. } | Role::Changes(version) => {
                let made = side.lineage.versions.get(version).filter(|made| !made.is_changed_in_place)?;
                format!("{:x?}", (*contents.get(made.call)?)?)
            }
        };
        changes.push((mention.pointer.clone(), mention.span.clone(), input));
    }
    let text = if changes.is_empty() {
        arguments.to_text(Keys::Sorted)
    } else {
        replaced(arguments, changes).to_text(Keys::Sorted)
    };
    Some(text_key(&text))
}
