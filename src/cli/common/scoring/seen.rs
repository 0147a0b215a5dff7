//! Facts about predictions and references, collected while they are read: the tools they call, and who wrote them.

use m3_trajectory::json::Json;
use m3_trajectory::tool_names::Vocabulary;
use m3_trajectory::{Trajectory, TrajectoryFile};

use crate::cli::common::failure::{Failure, code};
use crate::cli::common::printer::Printer;

/// Facts about one file.
#[derive(Debug, Default)]
pub(crate) struct FileFacts {
    pub(crate) tools: Vocabulary,
    trajectories: usize,
    /// The number of predictions of `m3 run`.
    predictions: usize,
    /// The number of references of `m3 judge` or `m3 review`.
    references: usize,
    /// The number of predictions of a model that was shown no images.
    blind: usize,
}

impl FileFacts {
    pub(crate) fn learn(&mut self, trajectory: &Trajectory) {
        self.tools.learn(trajectory);
        self.trajectories += 1;
        self.predictions += usize::from(trajectory.is_prediction());
        self.references += usize::from(trajectory.is_reference());
        let no_images = trajectory.get("run").and_then(|run| run.get("no_images"));
        self.blind += usize::from(no_images == Some(&Json::Bool(true)));
    }

    /// Whether every prediction records that its model was shown no images (`m3 run --no-images`).
    pub(crate) fn are_blind(&self) -> bool {
        self.blind > 0 && self.blind == self.trajectories
    }
}

/// Fails if both files record that their order is wrong, and warns if only one of them does.
pub(crate) fn check_order(
    files: [&TrajectoryFile; 2],
    [predictions, references]: [&FileFacts; 2],
    printer: Printer,
) -> Result<(), Failure> {
    const HINT: &str = "hint: predictions come first, references second";
    let [predicted, expected] = files.map(TrajectoryFile::name);
    let are_references = predictions.references > 0 && references.references == 0;
    let are_predictions = references.predictions > 0;
    let are_all = predictions.references == predictions.trajectories
        && references.predictions == references.trajectories;
    if are_references && are_predictions && are_all {
        let message = format!(
            "the files are in the wrong order: `{expected}` holds predictions of `m3 run`, and `{predicted}` references \
             of `m3 judge` or `m3 review`\n{HINT}"
        );
        return Err(Failure::new(code::INPUT, message));
    }
    if are_predictions {
        let (count, all) = (references.predictions, references.trajectories);
        printer.warn(&format!(
            "{count} of {all} trajectories in `{expected}` are predictions of `m3 run`, and are taken as references\n{HINT}"
        ));
    }
    if are_references {
        let (count, all) = (predictions.references, predictions.trajectories);
        printer.warn(&format!(
            "{count} of {all} trajectories in `{predicted}` are references of `m3 judge` or `m3 review`, and are scored as \
             predictions\n{HINT}"
        ));
    }
    Ok(())
}
