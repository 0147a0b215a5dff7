//! The files and settings behind scores: whether the references are the same, and what all signatures have in common.

use m3_support::text::{counted, shortened};

use super::scored::{RankedModel, SelectionError};
use super::{Origin, TrajectoryResult};
use crate::wire::start;
use crate::{Band, InputReport};

/// Checks whether the scores name the same references. Returns notes: on different references where these are
/// allowed, and on scores that name none.
pub(super) fn check_references(
    models: &[RankedModel<'_>],
    allows_different: bool,
) -> Result<Vec<String>, SelectionError> {
    let mut notes = Vec::new();
    let mut known = models.iter().filter_map(|model| Some((model, model.origin.references.as_ref()?)));
    if let Some((first, expected)) = known.next()
        && let Some((other, found)) = known.find(|(_, found)| found.sha256 != expected.sha256)
    {
        let difference = format!("{} and {}", in_words(expected), in_words(found));
        if !allows_different {
            return Err(SelectionError::References { files: first.files(other), difference });
        }
        notes.push(format!("Scored against different references, {difference}: differences may be theirs"));
    }
    let is_silent = |origin: &Origin| origin.references.is_none();
    notes.extend(silent_note(models, is_silent, "which references they were scored against"));
    Ok(notes)
}

/// The language model that settled uncertain pairs, the band of their scores, and whether all were answered.
type SettledBy<'o> = (&'o str, Band, bool);

/// Where argument fidelity comes from: the model, and the language model that was asked about a band of scores, if one was.
/// `None` if the score does not say it.
fn fidelity_source(origin: &Origin) -> Option<(&str, Option<SettledBy<'_>>)> {
    let model = origin.fidelity_model.as_ref()?;
    // If requests got no reply, some pairs keep the score from before.
    let asked = origin.asked.as_ref().map(|asked| (&*asked.model, asked.band, asked.no_reply == 0));
    Some((&model.fingerprint, asked))
}

/// Checks whether argument fidelity comes from the same models in all scores. Returns a note on scores that do not say
/// their model, as those of earlier versions.
pub(super) fn check_fidelity_models(models: &[RankedModel<'_>]) -> Result<Option<String>, SelectionError> {
    let mut known = models.iter().filter_map(|model| Some((model, fidelity_source(model.origin)?)));
    if let Some((first, expected)) = known.next()
        && let Some((other, _)) = known.find(|(_, found)| *found != expected)
    {
        return Err(first.differs_in_conditions(other));
    }
    let is_silent = |origin: &Origin| origin.fidelity_model.is_none();
    Ok(silent_note(models, is_silent, "by which model their argument fidelity was computed"))
}

/// A note if recorded results are evidence in only some of the scores.
pub(super) fn results_note(models: &[RankedModel<'_>]) -> Option<String> {
    let with = models.iter().filter(|model| model.origin.are_results_evidence).count();
    let is_partial = with > 0 && with < models.len();
    is_partial.then(|| {
        format!(
            "What calls returned is evidence for {with} of {}: argument fidelity and passes may differ by that; \
             `m3 score --results off` leaves it out",
            counted(models.len(), "result")
        )
    })
}

/// A note if some, but not all, results lack the information `what`.
fn silent_note(models: &[RankedModel<'_>], is_silent: fn(&Origin) -> bool, what: &str) -> Option<String> {
    let silent = models.iter().filter(|model| is_silent(model.origin)).count();
    let is_partial = silent > 0 && silent < models.len();
    is_partial.then(|| format!("{silent} of {} do not say {what}", counted(models.len(), "result")))
}

/// A file by its name and the first digits of its hash.
fn in_words(file: &InputReport) -> String {
    format!("`{}` ({})", shortened(&file.name, 40), start(&file.sha256))
}

/// Whether the references of the tasks are the same, as far as the scores show: how many calls of which tools.
/// `trajectories` is `[models][ids]`.
pub(super) fn check_tasks(
    models: &[RankedModel<'_>],
    ids: &[&str],
    trajectories: &[Vec<&TrajectoryResult>],
    allows_different: bool,
) -> Result<Option<String>, SelectionError> {
    let (Some(first), Some(expected)) = (models.first(), trajectories.first()) else { return Ok(None) };
    let differs =
        |found: &[&TrajectoryResult], task: usize| expected[task].reference.differs(found[task].reference);
    let different = |task: &usize| trajectories.iter().any(|found| differs(found, *task));
    let tasks: Vec<usize> = (0..ids.len()).filter(different).collect();
    let Some(&task) = tasks.first() else { return Ok(None) };
    if allows_different {
        return Ok(Some(format!("{} of {} tasks have other reference calls", tasks.len(), ids.len())));
    }
    let other = trajectories.iter().position(|found| differs(found, task)).unwrap_or_default();
    let calls = |model: usize| trajectories[model][task].reference.count;
    let how = if calls(0) == calls(other) {
        "other reference calls in each".to_owned()
    } else {
        format!("{} reference calls in the first and {} in the second", calls(0), calls(other))
    };
    Err(SelectionError::References {
        files: first.files(&models[other]),
        difference: format!("task `{}` has {how}", shortened(ids[task], 40)),
    })
}

/// The parts of the signatures that all scores have in common, without the predictions, which differ by model. `None`
/// if a score has no signature.
pub(super) fn common_signature(origins: &[&Origin]) -> Option<String> {
    let mut signatures = origins.iter().map(|origin| origin.signature.as_deref());
    let first = signatures.next()??;
    let others: Vec<Vec<&str>> =
        signatures.map(|signature| Some(signature?.split('|').collect())).collect::<Option<_>>()?;
    let is_common =
        |part: &&str| !part.starts_with("preds:") && others.iter().all(|parts| parts.contains(part));
    Some(first.split('|').filter(is_common).collect::<Vec<_>>().join("|"))
}

/// The note if catalogs of tools differ: they decide which missing arguments do not matter.
pub(super) fn catalogs_note(origins: &[&Origin]) -> Option<String> {
    let hash = |origin: &Origin| origin.tools.as_ref().map(|file| file.sha256.clone());
    let named: Vec<&&Origin> = origins.iter().filter(|origin| origin.references.is_some()).collect();
    let first = hash(named.first()?);
    let differs = named.iter().any(|origin| hash(origin) != first);
    differs.then(|| "Scored with different catalogs of tools (`--tools`)".to_owned())
}
