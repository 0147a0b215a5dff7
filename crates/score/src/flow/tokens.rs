//! The meaning of a name of a file, and the words for the comparison where two names stand for different things.

use super::side::Side;
use super::{Counterparts, PairFlow, words_of_place};
use crate::calls::Calls;
use crate::fidelity::{LOSS, file_words};
use m3_flow::{Lineage, Mention, Role};
use m3_support::text::shortened;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// What a reference call makes, or the predicted call paired with it: the reference call, and which of its files.
    Made(usize, String),
    /// What a predicted call without a partner makes: the call, and which of its files.
    Unpaired(usize, String),
    /// A file that calls of the reference change in place, or the prediction's file that is paired with it.
    InPlace(usize),
    /// A file that only the prediction changes in place.
    Foreign(usize),
    /// Something that a call makes, while the pairing of calls is not known.
    Anything,
    /// The task's own image.
    TaskImage,
    /// A new file, under a name that the trajectory chooses: which of its call's files it is.
    New(String),
    /// A file in the place of the task's own image.
    InPlaceOfTaskImage,
    /// A file that a later call writes over.
    Lost(usize),
    /// A file from which a later call makes something else.
    Continued(usize),
    /// A file where the question asks for a name: the name that the call gives.
    Asked(String),
}

/// The ending of a file's name, without its dot; empty where there is none.
pub(super) fn ending(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

impl PairFlow {
    /// What a mention of the reference stands for.
    pub(super) fn reference_meaning(&self, mention: &Mention, pairing: Counterparts<'_>) -> Meaning {
        let references = &self.references;
        match mention.role {
            Role::ReadsTaskImage => Meaning::TaskImage,
            Role::Writes(version) => written(references, version),
            Role::Reads { version, .. } | Role::Changes(version) => {
                match (pairing, references.lineage.versions.get(version)) {
                    (Counterparts::Known { .. }, Some(made)) if made.is_changed_in_place => {
                        Meaning::InPlace(version)
                    }
                    (Counterparts::Known { .. }, Some(_)) => {
                        Meaning::Made(references.first_maker(version), references.slot(version))
                    }
                    _ => Meaning::Anything,
                }
            }
        }
    }

    /// What a mention of the prediction stands for.
    pub(super) fn predicted_meaning(&self, mention: &Mention, pairing: Counterparts<'_>) -> Meaning {
        let predictions = &self.predictions;
        match mention.role {
            Role::ReadsTaskImage => Meaning::TaskImage,
            Role::Writes(version) => {
                self.end_of(version, pairing).unwrap_or_else(|| written(predictions, version))
            }
            Role::Reads { version, .. } | Role::Changes(version) => {
                match (pairing, predictions.lineage.versions.get(version)) {
                    (Counterparts::Known { files, .. }, Some(made)) if made.is_changed_in_place => {
                        files.get(&version).map_or(Meaning::Foreign(version), |&file| Meaning::InPlace(file))
                    }
                    (Counterparts::Known { calls, .. }, Some(made)) => {
                        let slot = predictions.slot(version);
                        match self.reference_maker(version, calls) {
                            Some(reference) => Meaning::Made(self.references.first_maker_of(reference), slot),
                            None => Meaning::Unpaired(made.call, slot),
                        }
                    }
                    _ => Meaning::Anything,
                }
            }
        }
    }

    /// The reference call that makes the content of a version of the prediction, under a pairing. If several calls make
    /// this content, one that is paired with a call that does the same counts.
    fn reference_maker(&self, version: usize, calls: &[Option<usize>]) -> Option<usize> {
        let key = self.predictions.content_key(version)?;
        let same = self.predictions.same_as(version).iter().take(MOST_SAME);
        let paired = same.filter_map(|&version| {
            let call = self.predictions.lineage.versions.get(version)?.call;
            calls.get(call).copied().flatten()
        });
        // They are compared by their keys, so that the order of calls within a step does not matter.
        paired.min_by_key(|&reference| {
            let own = self.references.key(reference);
            (own != key, own, reference)
        })
    }

    /// The meaning of a version of the prediction that is not left behind: a later call writes over it, or a call
    /// without a partner makes something from it.
    fn end_of(&self, version: usize, pairing: Counterparts<'_>) -> Option<Meaning> {
        let predictions = &self.predictions;
        let by = predictions.lineage.versions.get(version)?.replaced_by;
        let is_again = |by: usize| predictions.content_key(by) == predictions.content_key(version);
        if let Some(by) = by.filter(|by| !is_again(*by)) {
            return predictions.lineage.versions.get(by).map(|by| Meaning::Lost(by.call));
        }
        let Counterparts::Known { calls, .. } = pairing else { return None };
        let mut unpaired =
            predictions.readers(version).iter().filter(|call| calls.get(**call) == Some(&None));
        unpaired.find(|call| !predictions.made_by(**call).is_empty()).map(|call| Meaning::Continued(*call))
    }

    /// The words for a meaning, between signs that no text has. A call has its number in the prediction, if it is
    /// there.
    pub(super) fn token(
        &self,
        meaning: &Meaning,
        (references, predictions): (&Calls, &Calls),
        pairing: Counterparts<'_>,
    ) -> String {
        let slot = |slot: &str| if slot.is_empty() { String::new() } else { format!(" as `{}`", &slot[1..]) };
        let reads = |maker: String, which: &str| format!("reads what {maker} made{}", slot(which));
        let words = match meaning {
            Meaning::Made(call, which) => {
                let paired = match pairing {
                    Counterparts::Known { calls, .. } => calls.iter().position(|found| *found == Some(*call)),
                    Counterparts::Unknown => None,
                };
                let maker = match paired {
                    Some(call) => words_of_place(predictions, call),
                    None => format!("the reference's {}", words_of_place(references, *call)),
                };
                reads(maker, which)
            }
            Meaning::Unpaired(call, which) => reads(words_of_place(predictions, *call), which),
            Meaning::InPlace(file) => {
                format!("uses the reference's file `{}`", shown(&self.references.lineage, *file))
            }
            Meaning::Foreign(file) => {
                format!("uses another file, `{}`", shown(&self.predictions.lineage, *file))
            }
            Meaning::Anything => "reads something that was made".to_owned(),
            Meaning::TaskImage => "reads the task's picture".to_owned(),
            Meaning::New(_) => "writes a new file".to_owned(),
            Meaning::InPlaceOfTaskImage => "writes over the task's picture".to_owned(),
            Meaning::Asked(name) => format!("writes `{}`", shortened(name, SHOWN)),
            Meaning::Lost(by) => format!("{LOSS} {} writes over", words_of_place(predictions, *by)),
            Meaning::Continued(by) => format!("{LOSS} {} goes on with", words_of_place(predictions, *by)),
        };
        file_words(&words)
    }
}

/// The most calls with the same content whose partners are looked up.
const MOST_SAME: usize = 256;

/// The most columns of a file's name in a reason.
const SHOWN: usize = 60;

fn shown(lineage: &Lineage, version: usize) -> String {
    lineage.versions.get(version).map_or_else(String::new, |version| shortened(&version.path, SHOWN))
}

/// The meaning of a name that a call gives to a file that it makes.
pub(super) fn written(side: &Side, version: usize) -> Meaning {
    match side.lineage.versions.get(version) {
        Some(version) if version.replaces_task_image => Meaning::InPlaceOfTaskImage,
        Some(_) => Meaning::New(side.slot(version)),
        None => Meaning::Anything,
    }
}
