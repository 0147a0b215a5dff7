//! Joins labels of success with the models that they describe.

use std::collections::BTreeMap;
use std::path::Path;

use m3_judge::grade::{PeopleLabels, RunLabels};
use m3_report::agree::{LabelsReport, PASS_MARK, ScoredModel};
use m3_support::text::{counted, shortened};

use crate::cli::common::{Failure, NamedFile, Printer, Result};

/// The most names that a message lists, and the columns of each.
const NAMES: usize = 20;
const NAME: usize = 60;

/// Reads labels of the next repetition of the model that the option names, or else of each model with a `run` in the
/// file. Reports and counts the labels that are left out.
pub(super) fn add_labels(
    models: &mut [ScoredModel],
    file: &NamedFile,
    counts: &mut LabelsReport,
    printer: Printer,
) -> Result {
    let path = file.path.display();
    let tell = |count: usize, why: &str| {
        if count > 0 {
            printer.warn(&format!("`{path}`: {} {why}", counted(count, "label")));
        }
        count
    };
    let names = listed(models.iter().map(|model| model.name.as_str()));
    if let Some(name) = file.name.as_ref().filter(|name| models.iter().all(|model| model.name != **name)) {
        let name = shortened(name, NAME);
        return Err(Failure::input(format!(
            "`--labels {name}=..`: no model is called so\nhint: there are {names}"
        )));
    }
    let labels = RunLabels::read(&file.path).map_err(Failure::input)?;
    let own = |model: &ScoredModel| match &file.name {
        Some(name) => (model.name == *name).then(|| of_one(&labels, name)).flatten(),
        None => labels.by_run.get(&model.name).filter(|_| !model.name.is_empty()),
    };
    if models.iter().all(|model| own(model).is_none()) {
        return Err(Failure::input(of_no_model(&labels, &file.path, &names)));
    }
    counts.rows += labels.rows;
    counts.broken += tell(labels.broken, "of runs that broke");
    let others = labels.by_run.iter().filter(|(run, _)| models.iter().all(|model| model.name != **run));
    let others: Vec<(&String, &PeopleLabels)> = others.filter(|_| file.name.is_none()).collect();
    let runs = listed(others.iter().map(|(run, _)| run.as_str()));
    let of_others = others.iter().map(|(_, labels)| labels.by_id.len()).sum();
    counts.unknown_runs += tell(of_others, &format!("of runs without a result: {runs}"));
    let (mut unclear, mut is_known, mut fits) = (labels.unclear, false, false);
    for model in models {
        let Some(labels) = own(model) else {
            // This model has no labels in this file; those of its next repetition are in the next file.
            if file.name.is_none() {
                model.people.push(BTreeMap::new());
            }
            continue;
        };
        let verdicts = labels.verdicts(PASS_MARK);
        unclear += labels.by_id.len() - verdicts.len();
        is_known |= !verdicts.is_empty();
        let unknown = verdicts.keys().filter(|id| model.trajectories.iter().all(|it| it.id != **id)).count();
        fits |= unknown < verdicts.len();
        let name = shortened(&model.name, NAME);
        counts.unknown_ids += tell(unknown, &format!("of ids that `{name}` does not have"));
        model.people.push(verdicts.into_iter().map(|(id, right)| (id.to_owned(), right)).collect());
    }
    counts.unclear += tell(unclear, "without pass or fail");
    if is_known && !fits {
        return Err(Failure::input(format!(
            "`{path}`: no id of its labels is that of a task in these results\nhint: `id` should be that of the trajectory"
        )));
    }
    if !is_known {
        printer.warn(&format!(
            "`{path}`: no trial is right or wrong for most people, so nothing is compared with them"
        ));
    }
    Ok(())
}

/// The labels of one model: those whose `run` is its name, or all labels of a file with one run.
fn of_one<'l>(labels: &'l RunLabels, name: &str) -> Option<&'l PeopleLabels> {
    let only = || labels.by_run.values().next().filter(|_| labels.by_run.len() == 1);
    labels.by_run.get(name).or_else(only)
}

/// The message for labels that belong to no model of the results.
fn of_no_model(labels: &RunLabels, path: &Path, names: &str) -> String {
    let path = path.display();
    if labels.by_run.keys().all(String::is_empty) {
        return format!(
            "`--labels {path}` says of no model\nhint: `--labels NAME={path}`, of {names}; or give each label a `run` with \
             the model's name"
        );
    }
    let runs = listed(labels.by_run.keys().map(String::as_str));
    format!(
        "`{path}` has labels of {runs}, and no model is called so\nhint: there are {names}; `NAME=RESULT` names one"
    )
}

/// Joins names for a message: at most [`NAMES`] of them, each shortened.
fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(NAMES);
    let shown = |name: &str| if name.is_empty() { "no run".to_owned() } else { shortened(name, NAME) };
    let mut list: Vec<String> = names.take(NAMES).map(shown).collect();
    list.extend((more > 0).then(|| format!("{more} more")));
    list.join(", ")
}
