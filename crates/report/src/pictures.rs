//! A leaderboard as pictures: the figures, and the names of their files.

use m3_figures::{
    Bar, LeaderboardBars, MetricByTask, ModelOutcomes, Outcomes as OutcomesFigure, SimilarityBin,
    SimilarityHistogram, TaskValues,
};
use m3_score::{Metric, Similarity};

use super::audit::{BINS, bin};
use super::leaderboard_sheets::outcome_names;
use crate::TaskOutcomes;
use crate::leaderboard::{
    Leaderboard, ModelReport, ModelResult, Numbers, Selection, TrajectoryResult, TypeReport,
};

/// The most models in the figure by type of task, the best ones: readers cannot distinguish more.
const MODELS_BY_TYPE: usize = 8;

/// A figure with the name of its file, without an ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The file's name, with safe characters only.
    pub name: String,
    /// The figure as SVG.
    pub svg: String,
}

/// The metric and the models of the figure by type of task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureChoice {
    /// The metric.
    pub metric: Metric,
    /// The models by name; the best eight if none is named.
    pub models: Vec<String>,
}

/// The figures of a leaderboard: bars, and where there are data for them types of task (figure 7 of M³-Bench),
/// outcomes of calls (figure 6) and a histogram of similarities for each model.
#[must_use]
pub fn leaderboard_pictures(
    board: &Leaderboard,
    models: &[ModelResult],
    selection: Option<&Selection<'_>>,
    choice: &PictureChoice,
) -> Vec<Picture> {
    let mut pictures = vec![Picture { name: "leaderboard".to_owned(), svg: bars(board).to_svg() }];
    if !board.types.is_empty() {
        pictures.push(Picture { name: "by-type".to_owned(), svg: by_type(board, choice).to_svg() });
    }
    if board.models.iter().any(|model| model.outcomes.is_some()) {
        pictures.push(Picture { name: "outcomes".to_owned(), svg: outcomes(board).to_svg() });
    }
    let scored = models.iter().filter_map(|model| match &model.numbers {
        Numbers::Trajectories { similarity, thresholds, .. } => {
            Some((model.name.as_str(), *similarity, *thresholds))
        }
        Numbers::Row(_) => None,
    });
    let trajectories = selection.into_iter().flat_map(|selection| &selection.trajectories);
    for (index, ((name, similarity, thresholds), trajectories)) in scored.zip(trajectories).enumerate() {
        // The number distinguishes models whose names give the same file name.
        let file = format!("similarities-{}-{}", index + 1, file_name(name));
        pictures.push(Picture {
            name: file,
            svg: histogram(name, similarity, thresholds, trajectories).to_svg(),
        });
    }
    pictures
}

/// A safe file name from the name of a model: `_` replaces other characters than letters, digits, dots and dashes.
fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' };
    name.chars().take(40).map(safe).collect()
}

fn bars(board: &Leaderboard) -> LeaderboardBars {
    let bar = |model: &ModelReport| {
        let estimate = model.metric(&board.ranked_by);
        let interval = estimate.and_then(|estimate| Some((estimate.low?, estimate.high?)));
        Bar {
            name: model.model.clone(),
            value: estimate.map_or(f64::NAN, |estimate| estimate.value),
            interval,
        }
    };
    LeaderboardBars {
        title: "Leaderboard".to_owned(),
        axis: match board.ranking() {
            Metric::Average => board.average.description.clone(),
            other => other.label().to_owned(),
        },
        bars: board.models.iter().map(bar).collect(),
    }
}

fn by_type(board: &Leaderboard, choice: &PictureChoice) -> MetricByTask {
    let chosen = |model: &&String| choice.models.is_empty() || choice.models.contains(model);
    let ranked = board.models.iter().filter(|model| model.group.is_some()).map(|model| &model.model);
    let most = if choice.models.is_empty() { MODELS_BY_TYPE } else { usize::MAX };
    let models: Vec<String> = ranked.filter(chosen).take(most).cloned().collect();
    let name = choice.metric.name();
    let task = |found: &TypeReport| {
        let value = |model: &String| {
            let row = found.models.iter().find(|row| row.model == *model)?;
            row.metrics.get(name).copied()
        };
        TaskValues { name: found.task_type.clone(), values: models.iter().map(value).collect() }
    };
    let label = name.replace('_', " ");
    let axis = match (choice.metric, board.types.first()) {
        (Metric::Average, Some(first)) => first.average.description.clone(),
        _ => label.clone(),
    };
    MetricByTask {
        title: format!("By type of task: {label}"),
        axis,
        tasks: board.types.iter().map(task).collect(),
        models: models.clone(),
    }
}

fn outcomes(board: &Leaderboard) -> OutcomesFigure {
    // Success comes first, because lengths are compared best from 0. Calls that were not executed are neither success
    // nor failure, and come last.
    let names = outcome_names(board);
    let (neither, five): (Vec<&str>, Vec<&str>) =
        names.iter().partition(|name| **name == TaskOutcomes::NOT_EXECUTED);
    let order: Vec<&str> = five.into_iter().rev().chain(neither).collect();
    let models = board.models.iter().filter_map(|model| {
        let counts = &model.outcomes.as_ref()?.counts;
        let amounts = order.iter().map(|name| counts.get(*name).copied().unwrap_or_default() as f64);
        Some(ModelOutcomes { name: model.model.clone(), amounts: amounts.collect() })
    });
    OutcomesFigure {
        title: "What became of calls".to_owned(),
        axis: "share of all calls".to_owned(),
        categories: order.iter().map(|name| name.replace('_', " ")).collect(),
        models: models.collect(),
    }
}

/// A histogram of how similar a model's calls are to the reference's.
fn histogram(
    name: &str,
    similarity: Similarity,
    (weak, strong): (f64, f64),
    trajectories: &[&TrajectoryResult],
) -> SimilarityHistogram {
    let mut bins = vec![SimilarityBin::default(); BINS];
    for trajectory in trajectories {
        trajectory.similarities.iter().for_each(|similarity| bins[bin(*similarity)].matched += 1);
        trajectory.candidates.iter().for_each(|similarity| bins[bin(*similarity)].unmatched += 1);
    }
    SimilarityHistogram {
        title: format!("Similarity of reference calls to the calls of {name}"),
        axis: format!(
            "{} of the arguments, with the partner or else the best candidate",
            similarity.measure()
        ),
        bins,
        weak_threshold: weak,
        strong_threshold: strong,
    }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_of_files_lead_nowhere() {
        assert_eq!(file_name("GPT-5 (high)"), "GPT-5__high_");
        assert_eq!(file_name("../../etc/passwd\u{0}"), ".._.._etc_passwd_");
    }
}
