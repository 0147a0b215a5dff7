//! From answers to grades: [`Collected`] has what every judge says of every trajectory, and makes the report.

use std::collections::BTreeMap;
use std::ops::{AddAssign, Mul};

use m3_stats::agreement::{TrimmedMean, trimmed_mean};
use m3_stats::{Draws, LEVEL, bootstrap};
use m3_support::text::{counted, shortened};

use super::agreement::{agreement, consistency, without_judge};
use super::compared::compare;
use super::panel::{Given, Panel};
use super::people::PeopleLabels;
use super::question::prompts_hash;
use super::report::{
    GRADES_SCHEMA, GradeLedger, GradeReport, GraderGrades, GraderMeasure, GraderReport, Grades,
    MeasureReport, MissingGrade, TrajectoryGrades,
};
use super::rubric::{Aspect, Rubric};

/// A trajectory that was graded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GradedSubject {
    /// The task.
    pub id: String,
    /// Its type.
    pub task_type: Option<String>,
}

/// All that there is to grade.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GradedTasks {
    /// The predictions, in the order of the file.
    pub subjects: Vec<GradedSubject>,
    /// How many references there are; none without a file of them.
    pub references: Option<usize>,
    /// References without a prediction.
    pub missing: Vec<GradedSubject>,
    /// Predictions without a reference, where there are references.
    pub extra: Vec<String>,
}

/// What judges say, by trajectory and judge.
#[derive(Debug)]
pub struct Collected<'a> {
    pub(super) panel: &'a Panel,
    tasks: &'a GradedTasks,
    given: &'a [Given],
    /// By subject, then judge, then measure: the scores of all passes that were answered.
    scores: Vec<Vec<BTreeMap<&'static str, Vec<f64>>>>,
}

/// What the panel says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PanelScore {
    pub(super) value: f64,
    pub(super) is_trimmed: bool,
    pub(super) is_tied: bool,
}

/// A sum over tasks.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    scores: f64,
    tasks: f64,
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.scores += other.scores;
        self.tasks += other.tasks;
    }
}

impl Mul<f64> for Sum {
    type Output = Self;

    fn mul(self, weight: f64) -> Self {
        Self { scores: self.scores * weight, tasks: self.tasks * weight }
    }
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub(super) fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

impl<'a> Collected<'a> {
    /// Sorts what was given.
    #[must_use]
    pub fn new(panel: &'a Panel, tasks: &'a GradedTasks, given: &'a [Given]) -> Self {
        let mut scores = vec![vec![BTreeMap::new(); panel.judges.len()]; tasks.subjects.len()];
        for Given { subject, judge, aspect, answer, .. } in given {
            let Ok(answer) = answer else { continue };
            let Some(scores) = scores.get_mut(*subject).and_then(|of: &mut Vec<_>| of.get_mut(*judge)) else {
                continue;
            };
            for &measure in aspect.measures() {
                if let Some(score) = answer.scores.get(measure) {
                    scores.entry(measure).or_insert_with(Vec::new).push(*score);
                }
            }
        }
        Self { panel, tasks, given, scores }
    }

    pub(super) fn subjects(&self) -> &'a [GradedSubject] {
        &self.tasks.subjects
    }

    pub(super) fn rubric(&self) -> Rubric {
        self.panel.rubric
    }

    pub(super) fn judge_name(&self, judge: usize) -> &str {
        &self.panel.judges[judge].name
    }

    /// All answers of a judge.
    pub(super) fn answers(&self, subject: usize, judge: usize, measure: &str) -> &[f64] {
        self.scores[subject][judge].get(measure).map_or(&[], Vec::as_slice)
    }

    /// What a judge says: the mean of its answers; of verdicts what most of them say, nothing if they are even.
    pub(super) fn score(&self, subject: usize, judge: usize, measure: &str) -> Option<f64> {
        let mean = mean(self.answers(subject, judge, measure))?;
        if !self.rubric().is_verdict(measure) {
            return Some(mean);
        }
        let is_even = (mean - 0.5).abs() < 1e-9;
        (!is_even).then_some(if mean > 0.5 { 1.0 } else { 0.0 })
    }

    /// What the panel says without one of the judges, if one is named.
    pub(super) fn panel_score(
        &self,
        subject: usize,
        measure: &str,
        without: Option<usize>,
    ) -> Option<PanelScore> {
        let judges = (0..self.panel.judges.len()).filter(|judge| Some(*judge) != without);
        let scores: Vec<f64> = judges.filter_map(|judge| self.score(subject, judge, measure)).collect();
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

    /// The grades of one trajectory, for its `grades`.
    #[must_use]
    pub fn grades(&self, subject: usize) -> Grades {
        let panel: Vec<(&str, PanelScore)> = self
            .measures()
            .filter_map(|measure| Some((measure, self.panel_score(subject, measure, None)?)))
            .collect();
        let by_judge = (0..self.panel.judges.len()).map(|judge| GraderGrades {
            judge: self.judge_name(judge).to_owned(),
            measures: self
                .measures()
                .filter_map(|measure| Some((measure.to_owned(), self.score(subject, judge, measure)?)))
                .collect(),
        });
        Grades {
            rubric: self.rubric().name().to_owned(),
            is_trimmed: !panel.is_empty() && panel.iter().all(|(_, score)| score.is_trimmed),
            is_tied: panel.iter().any(|(_, score)| score.is_tied),
            measures: panel.iter().map(|(name, score)| ((*name).to_owned(), score.value)).collect(),
            matrix: self.matrix(subject),
            by_judge: by_judge.filter(|judge| !judge.measures.is_empty()).collect(),
        }
    }

    /// The matrix of a trajectory: for each entry the trimmed mean of what judges say.
    fn matrix(&self, subject: usize) -> Option<Vec<Vec<f64>>> {
        let start = self.given.partition_point(|given| given.subject < subject);
        let of_subject = self.given[start..].iter().take_while(|given| given.subject == subject);
        let mut by_judge: BTreeMap<usize, Vec<&Vec<Vec<f64>>>> = BTreeMap::new();
        for given in of_subject {
            if let Ok(Some(matrix)) = given.answer.as_ref().map(|answer| answer.matrix.as_ref()) {
                by_judge.entry(given.judge).or_default().push(matrix);
            }
        }
        let first = by_judge.values().next()?.first()?;
        let entry = |row: usize, column: usize| {
            let of_judge = |matrices: &Vec<&Vec<Vec<f64>>>| {
                let entries: Vec<f64> =
                    matrices.iter().filter_map(|matrix| matrix.get(row)?.get(column).copied()).collect();
                mean(&entries)
            };
            let entries: Vec<f64> = by_judge.values().filter_map(of_judge).collect();
            trimmed_mean(&entries).map_or(0.0, |mean| mean.value)
        };
        let columns = first.first().map_or(0, Vec::len);
        Some((0..first.len()).map(|row| (0..columns).map(|column| entry(row, column)).collect()).collect())
    }

    /// A measure over some of the trajectories, beside so many tasks without one.
    fn measure(&self, subjects: &[usize], absent: usize, measure: &str, draws: &Draws) -> MeasureReport {
        let known: Vec<PanelScore> =
            subjects.iter().filter_map(|&subject| self.panel_score(subject, measure, None)).collect();
        let sums: Vec<Sum> = known.iter().map(|score| Sum { scores: score.value, tasks: 1.0 }).collect();
        let estimate = bootstrap(&[sums], |sum| [sum.scores / sum.tasks.max(1.0)], draws);
        let interval = estimate.ok().and_then(|resamples| resamples.estimate(0, 0, LEVEL).interval);
        let sum: f64 = known.iter().map(|score| score.value).sum();
        MeasureReport {
            mean: mean(&known.iter().map(|score| score.value).collect::<Vec<_>>()),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            tasks: known.len(),
            missing: subjects.len() - known.len(),
            untrimmed: known.iter().filter(|score| !score.is_trimmed).count(),
            absent,
            mean_with_absent_as_zero: (absent > 0).then(|| sum / (known.len() + absent) as f64),
        }
    }

    fn measures_of(
        &self,
        subjects: &[usize],
        absent: usize,
        draws: &Draws,
    ) -> BTreeMap<String, MeasureReport> {
        let of_measure = |measure: &str| self.measure(subjects, absent, measure, draws);
        self.measures().map(|measure| (measure.to_owned(), of_measure(measure))).collect()
    }

    fn ledger(&self) -> GradeLedger {
        let is_graded = |subject: &usize| self.scores[*subject].iter().any(|scores| !scores.is_empty());
        GradeLedger {
            references: self.tasks.references,
            predictions: self.subjects().len(),
            graded: (0..self.subjects().len()).filter(is_graded).count(),
            missing: self.tasks.missing.iter().map(|task| task.id.clone()).collect(),
            extra: self.tasks.extra.clone(),
        }
    }

    fn judge(&self, judge: usize) -> GraderReport {
        let measures = self.measures().filter_map(|measure| {
            let scores: Vec<f64> = (0..self.subjects().len())
                .filter_map(|subject| self.score(subject, judge, measure))
                .collect();
            let report =
                GraderMeasure { mean: mean(&scores)?, deviation: deviation(&scores), tasks: scores.len() };
            Some((measure.to_owned(), report))
        });
        GraderReport {
            judge: self.judge_name(judge).to_owned(),
            sees_images: self.panel.judges[judge].has_eyes,
            measures: measures.collect(),
            missing: self.given.iter().filter(|given| given.judge == judge && given.answer.is_err()).count(),
        }
    }

    /// Everything.
    #[must_use]
    pub fn report(&self, pass_mark: f64, draws: &Draws, people: Option<&PeopleLabels>) -> GradeReport {
        let all: Vec<usize> = (0..self.subjects().len()).collect();
        // With how many tasks of the type no prediction is of.
        let mut types: BTreeMap<String, (Vec<usize>, usize)> = BTreeMap::new();
        for (index, subject) in self.subjects().iter().enumerate() {
            if let Some(task_type) = &subject.task_type {
                types.entry(task_type.clone()).or_default().0.push(index);
            }
        }
        for task_type in self.tasks.missing.iter().filter_map(|task| task.task_type.as_ref()) {
            types.entry(task_type.clone()).or_default().1 += 1;
        }
        let missing = self.given.iter().filter_map(|given| {
            Some(MissingGrade {
                id: self.subjects().get(given.subject)?.id.clone(),
                judge: self.judge_name(given.judge).to_owned(),
                aspect: given.aspect,
                pass: given.pass,
                reason: given.answer.as_ref().err()?.clone(),
            })
        });
        let trajectories = all.iter().map(|&subject| TrajectoryGrades {
            id: self.subjects()[subject].id.clone(),
            task_type: self.subjects()[subject].task_type.clone(),
            grades: self.grades(subject),
        });
        let aspects: Vec<Aspect> = self.rubric().aspects().collect();
        let judges = 0..self.panel.judges.len();
        let by_type = types
            .into_iter()
            .map(|(name, (subjects, absent))| (name, self.measures_of(&subjects, absent, draws)));
        let measures = self.measures_of(&all, self.tasks.missing.len(), draws);
        GradeReport {
            schema: GRADES_SCHEMA.to_owned(),
            rubric: self.rubric().name().to_owned(),
            prompts: prompts_hash(self.rubric()),
            passes: self.panel.passes,
            pass_mark,
            level: LEVEL,
            notes: self.notes(&measures, people),
            ledger: self.ledger(),
            measures,
            judges: judges.map(|judge| self.judge(judge)).collect(),
            by_type: by_type.collect(),
            agreement: aspects.iter().map(|aspect| agreement(self, *aspect, pass_mark)).collect(),
            without_judge: aspects.iter().flat_map(|aspect| without_judge(self, *aspect)).collect(),
            consistency: aspects.iter().flat_map(|aspect| consistency(self, *aspect)).collect(),
            people: people.map(|labels| compare(self, labels, pass_mark)).unwrap_or_default(),
            missing: missing.collect(),
            trajectories: trajectories.collect(),
        }
    }

    fn notes(
        &self,
        measures: &BTreeMap<String, MeasureReport>,
        people: Option<&PeopleLabels>,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        let absent: Vec<&str> = self.tasks.missing.iter().map(|task| task.id.as_str()).collect();
        if !absent.is_empty() {
            notes.push(format!(
                "{} of {} without a prediction: {}; left out of the mean, and 0 in the one beside it",
                absent.len(),
                counted(self.tasks.references.unwrap_or_default(), "reference"),
                listed(&absent)
            ));
        }
        for aspect in self.rubric().aspects() {
            let Some(measure) = measures.get(aspect.main()) else { continue };
            let name = aspect.main();
            if measure.untrimmed > 0 {
                notes.push(format!(
                    "{name}: {} of {} tasks have fewer than three judges; nothing is trimmed there",
                    measure.untrimmed, measure.tasks
                ));
            }
            if measure.missing > 0 {
                notes.push(format!(
                    "{name}: {} of {} tasks have no grade and are left out of the mean",
                    measure.missing,
                    self.subjects().len()
                ));
            }
        }
        let is_tied = |subject: &usize| {
            self.measures()
                .any(|measure| self.panel_score(*subject, measure, None).is_some_and(|s| s.is_tied))
        };
        let ties = (0..self.subjects().len()).filter(is_tied).count();
        if ties > 0 {
            notes
                .push(format!("{ties} tasks are passed by as many judges as fail them, and count as failed"));
        }
        let known: Vec<&str> = self.measures().collect();
        let foreign = people.map(PeopleLabels::measures).unwrap_or_default();
        let foreign: Vec<&str> = foreign.into_iter().filter(|measure| !known.contains(measure)).collect();
        if !foreign.is_empty() {
            notes.push(format!("Labels of {} are of no measure of this rubric", listed(&foreign)));
        }
        notes
    }
}

/// Some of these, and how many more there are.
fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(5).map(|name| shortened(name, 40)).collect();
    let more = names.len() - shown.len();
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
