//! The answers of every grader about every trajectory, and the scores of the panel.

use std::collections::BTreeMap;

use m3_stats::agreement::{TrimmedMean, trimmed_mean};

use super::panel::{GraderAnswer, Panel};
use super::report::{GraderGrades, Grades};
use super::rubric::{Aspect, Rubric};

/// A trajectory that was graded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GradedSubject {
    /// The task's id.
    pub id: String,
    /// The task's type.
    pub task_type: Option<String>,
}

/// All tasks that are graded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GradedTasks {
    /// The predictions, in the order of the file.
    pub subjects: Vec<GradedSubject>,
    /// The number of references; `None` without a file of references.
    pub references: Option<usize>,
    /// References without a prediction.
    pub missing: Vec<GradedSubject>,
    /// Predictions without a reference, if there are references.
    pub extra: Vec<String>,
}

/// The graders' answers, by trajectory and grader.
#[derive(Debug)]
pub struct CollectedGrades<'a> {
    pub(super) panel: &'a Panel,
    pub(super) tasks: &'a GradedTasks,
    pub(super) grader_answers: &'a [GraderAnswer],
    /// By subject, then grader, then measure: the scores of all passes that were answered.
    pub(super) scores: Vec<Vec<BTreeMap<&'static str, Vec<f64>>>>,
}

/// The panel's score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PanelScore {
    pub(super) value: f64,
    pub(super) is_trimmed: bool,
    pub(super) is_tied: bool,
}

/// The mean; `None` for no values.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation; `None` for fewer than two values.
pub(super) fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

impl<'a> CollectedGrades<'a> {
    /// Sorts the judges' answers.
    #[must_use]
    pub fn new(panel: &'a Panel, tasks: &'a GradedTasks, grader_answers: &'a [GraderAnswer]) -> Self {
        let mut scores = vec![vec![BTreeMap::new(); panel.graders.len()]; tasks.subjects.len()];
        for GraderAnswer { subject, grader, aspect, answer, .. } in grader_answers {
            let Ok(answer) = answer else { continue };
            let Some(scores) = scores.get_mut(*subject).and_then(|of: &mut Vec<_>| of.get_mut(*grader))
            else {
                continue;
            };
            for &measure in aspect.measures() {
                if let Some(score) = answer.scores.get(measure) {
                    scores.entry(measure).or_insert_with(Vec::new).push(*score);
                }
            }
        }
        Self { panel, tasks, grader_answers, scores }
    }

    pub(super) fn subjects(&self) -> &'a [GradedSubject] {
        &self.tasks.subjects
    }

    pub(super) fn rubric(&self) -> Rubric {
        self.panel.rubric
    }

    pub(super) fn grader_name(&self, grader: usize) -> &str {
        &self.panel.graders[grader].name
    }

    /// The scores of a grader for one measure of a trajectory, one for each pass that was answered.
    pub(super) fn answers(&self, subject: usize, grader: usize, measure: &str) -> &[f64] {
        self.scores[subject][grader].get(measure).map_or(&[], Vec::as_slice)
    }

    /// A grader's score: the mean of its answers. For verdicts, what most answers say; `None` if they are even.
    pub(super) fn score(&self, subject: usize, grader: usize, measure: &str) -> Option<f64> {
        let mean = mean(self.answers(subject, grader, measure))?;
        if !self.rubric().is_verdict(measure) {
            return Some(mean);
        }
        let is_even = (mean - 0.5).abs() < 1e-9;
        (!is_even).then_some(if mean > 0.5 { 1.0 } else { 0.0 })
    }

    /// The panel's score, without one of the graders if one is named.
    pub(super) fn panel_score(
        &self,
        subject: usize,
        measure: &str,
        without: Option<usize>,
    ) -> Option<PanelScore> {
        let graders = (0..self.panel.graders.len()).filter(|grader| Some(*grader) != without);
        let scores: Vec<f64> = graders.filter_map(|grader| self.score(subject, grader, measure)).collect();
        let TrimmedMean { value, is_trimmed, .. } = trimmed_mean(&scores)?;
        if !self.rubric().is_verdict(measure) {
            return Some(PanelScore { value, is_trimmed, is_tied: false });
        }
        let is_tied = (value - 0.5).abs() < 1e-9;
        Some(PanelScore { value: if value > 0.5 && !is_tied { 1.0 } else { 0.0 }, is_trimmed, is_tied })
    }

    pub(super) fn measures(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.rubric().aspects().flat_map(Aspect::measures).copied()
    }

    /// The grades of one trajectory, for its key `grades`.
    #[must_use]
    pub fn grades(&self, subject: usize) -> Grades {
        let panel: Vec<(&str, PanelScore)> = self
            .measures()
            .filter_map(|measure| Some((measure, self.panel_score(subject, measure, None)?)))
            .collect();
        let by_grader = (0..self.panel.graders.len()).map(|grader| GraderGrades {
            judge: self.grader_name(grader).to_owned(),
            measures: self
                .measures()
                .filter_map(|measure| Some((measure.to_owned(), self.score(subject, grader, measure)?)))
                .collect(),
        });
        Grades {
            rubric: self.rubric().name().to_owned(),
            is_trimmed: !panel.is_empty() && panel.iter().all(|(_, score)| score.is_trimmed),
            is_tied: panel.iter().any(|(_, score)| score.is_tied),
            measures: panel.iter().map(|(name, score)| ((*name).to_owned(), score.value)).collect(),
            matrix: self.matrix(subject),
            by_judge: by_grader.filter(|grader| !grader.measures.is_empty()).collect(),
        }
    }

    /// The matrix of a trajectory: for each entry the trimmed mean over graders.
    fn matrix(&self, subject: usize) -> Option<Vec<Vec<f64>>> {
        let start = self.grader_answers.partition_point(|answer| answer.subject < subject);
        let of_subject = self.grader_answers[start..].iter().take_while(|answer| answer.subject == subject);
        let mut by_grader: BTreeMap<usize, Vec<&Vec<Vec<f64>>>> = BTreeMap::new();
        for answer in of_subject {
            if let Ok(Some(matrix)) = answer.answer.as_ref().map(|answer| answer.matrix.as_ref()) {
                by_grader.entry(answer.grader).or_default().push(matrix);
            }
        }
        let first = by_grader.values().next()?.first()?;
        let entry = |row: usize, column: usize| {
            let of_grader = |matrices: &Vec<&Vec<Vec<f64>>>| {
                let entries: Vec<f64> =
                    matrices.iter().filter_map(|matrix| matrix.get(row)?.get(column).copied()).collect();
                mean(&entries)
            };
            let entries: Vec<f64> = by_grader.values().filter_map(of_grader).collect();
            trimmed_mean(&entries).map_or(0.0, |mean| mean.value)
        };
        let columns = first.first().map_or(0, Vec::len);
        Some((0..first.len()).map(|row| (0..columns).map(|column| entry(row, column)).collect()).collect())
    }
}
