//! Failed tasks, shown beside the scores: a model is not better because the provider of another one gave no answer.

use std::collections::BTreeMap;

use m3_score::Profile;
use schemars::JsonSchema;
use serde::Serialize;

use super::Selection;

/// The most models that a note names.
const NAMED: usize = 4;

/// Tasks without a prediction, or with one that failed or was not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailuresReport {
    /// The number of tasks, including those that were left out because they failed; each repetition counts as one.
    pub tasks: usize,
    /// The number of failed tasks.
    pub failed: usize,
    /// The number of failed tasks by class: `provider` (the model was not available, refused, or gave an unusable
    /// reply), `server_lost`, `time`, `limit` (steps, calls or tokens), `context`, `missing`, `too_large`, `other`.
    pub classes: BTreeMap<String, usize>,
}

impl FailuresReport {
    /// The failures of each model in a selection; `None` if its score does not count failures.
    pub(super) fn of(selection: &Selection<'_>) -> Vec<Option<Self>> {
        let of_model = |model: usize| {
            let (trajectories, origin) = (&selection.trajectories[model], selection.origins[model]);
            // In this profile, failed tasks are left out of the score, so only the counts in its head know them.
            if selection.profile == Profile::OpenM3Bench {
                let (classes, tasks) = origin.failures.as_ref()?;
                return Some(Self::new(classes.clone(), *tasks));
            }
            let mut classes = BTreeMap::new();
            for (class, count) in trajectories.iter().flat_map(|found| &found.failures) {
                *classes.entry(class.clone()).or_default() += count;
            }
            let is_known = origin.failures.is_some() || !classes.is_empty();
            let tasks = trajectories.iter().map(|found| found.repetitions as usize).sum();
            is_known.then(|| Self::new(classes, tasks))
        };
        (0..selection.trajectories.len()).map(of_model).collect()
    }

    fn new(classes: BTreeMap<String, usize>, tasks: usize) -> Self {
        // The sum saturates, because files may contain any numbers.
        Self { tasks, failed: classes.values().copied().fold(0, usize::saturating_add), classes }
    }

    /// The share of tasks that failed, in [0, 1].
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.failed as f64 / self.tasks.max(1) as f64
    }
}

/// A note if models differ in failures, which names those with the highest rates.
pub(super) fn note(names: &[&str], failures: &[Option<FailuresReport>]) -> Option<String> {
    let mut known: Vec<(&str, &FailuresReport)> = names
        .iter()
        .copied()
        .zip(failures)
        .filter_map(|(name, found)| Some((name, found.as_ref()?)))
        .collect();
    known.sort_by(|(_, a), (_, b)| b.rate().total_cmp(&a.rate()));
    let ((_, most), (_, least)) = (known.first()?, known.last()?);
    let some_are_unknown = known.len() < names.len();
    let differ = most.rate() - least.rate() > 1e-9 || (some_are_unknown && most.failed > 0);
    let share =
        |(name, found): &(&str, &FailuresReport)| format!("{name} {} of {}", found.failed, found.tasks);
    let mut text: Vec<String> = known.iter().take(NAMED).map(share).collect();
    if known.len() > NAMED {
        text.push("…".to_owned());
    }
    if some_are_unknown {
        text.push("unknown for others".to_owned());
    }
    differ.then(|| format!("Unequal failures, which lower scores: {}", text.join(", ")))
}
