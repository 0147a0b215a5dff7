//! Turns answers into the report of grades: measures over trajectories and types, and notes for the reader.

use std::collections::BTreeMap;
use std::ops::{AddAssign, Mul};

use m3_stats::{Draws, LEVEL, bootstrap};
use m3_support::text::{counted, shortened};

use super::agreement::{agreement, consistency, without_grader};
use super::collected::{CollectedGrades, PanelScore, deviation, mean};
use super::compared::compare;
use super::people::PeopleLabels;
use super::question::prompts_hash;
use super::report::{
    GRADES_SCHEMA, GradeLedger, GradeReport, GraderMeasure, GraderReport, MeasureReport, MissingGrade,
    TrajectoryGrades,
};
use super::rubric::Aspect;

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

impl CollectedGrades<'_> {
    /// The report of a measure over some of the trajectories; `absent` is the number of tasks without a prediction.
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

    fn grader(&self, grader: usize) -> GraderReport {
        let measures = self.measures().filter_map(|measure| {
            let scores: Vec<f64> = (0..self.subjects().len())
                .filter_map(|subject| self.score(subject, grader, measure))
                .collect();
            let report =
                GraderMeasure { mean: mean(&scores)?, deviation: deviation(&scores), tasks: scores.len() };
            Some((measure.to_owned(), report))
        });
        GraderReport {
            judge: self.grader_name(grader).to_owned(),
            sees_images: self.panel.graders[grader].has_eyes,
            measures: measures.collect(),
            missing: self
                .grader_answers
                .iter()
                .filter(|answer| answer.grader == grader && answer.answer.is_err())
                .count(),
        }
    }

    /// The whole report.
    #[must_use]
    pub fn report(&self, pass_mark: f64, draws: &Draws, people: Option<&PeopleLabels>) -> GradeReport {
        let all: Vec<usize> = (0..self.subjects().len()).collect();
        // For each type, its subjects and the number of its tasks without a prediction.
        let mut types: BTreeMap<String, (Vec<usize>, usize)> = BTreeMap::new();
        for (index, subject) in self.subjects().iter().enumerate() {
            if let Some(task_type) = &subject.task_type {
                types.entry(task_type.clone()).or_default().0.push(index);
            }
        }
        for task_type in self.tasks.missing.iter().filter_map(|task| task.task_type.as_ref()) {
            types.entry(task_type.clone()).or_default().1 += 1;
        }
        let missing = self.grader_answers.iter().filter_map(|answer| {
            Some(MissingGrade {
                id: self.subjects().get(answer.subject)?.id.clone(),
                judge: self.grader_name(answer.grader).to_owned(),
                aspect: answer.aspect,
                pass: answer.pass,
                reason: answer.answer.as_ref().err()?.clone(),
            })
        });
        let trajectories = all.iter().map(|&subject| TrajectoryGrades {
            id: self.subjects()[subject].id.clone(),
            task_type: self.subjects()[subject].task_type.clone(),
            grades: self.grades(subject),
        });
        let aspects: Vec<Aspect> = self.rubric().aspects().collect();
        let graders = 0..self.panel.graders.len();
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
            judges: graders.map(|grader| self.grader(grader)).collect(),
            by_type: by_type.collect(),
            agreement: aspects.iter().map(|aspect| agreement(self, *aspect, pass_mark)).collect(),
            without_judge: aspects.iter().flat_map(|aspect| without_grader(self, *aspect)).collect(),
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
                "{} of {} without a prediction: {}; left out of the mean, and counted as 0 in the mean under `absent as 0`",
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

/// Some of these names, and how many more there are.
fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(5).map(|name| shortened(name, 40)).collect();
    let more = names.len() - shown.len();
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
