//! What `m3 grade` reports: the shapes of `m3.grades/1` and of the `grades` of a trajectory.

use std::collections::{BTreeMap, HashSet};

use m3_trajectory::json::Json;
use m3_trajectory::{Member, Trajectory};
use schemars::JsonSchema;
use serde::Serialize;

use super::rubric::Aspect;

/// The schema of the report.
pub const GRADES_SCHEMA: &str = "m3.grades/1";

/// Grades of a file of predictions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.grades/1")]
pub struct GradeReport {
    /// `m3.grades/1`.
    pub schema: String,
    /// The rubric by name.
    pub rubric: String,
    /// SHA-256 over the prompts before they are filled in.
    pub prompts: String,
    /// How often each judge was asked the same.
    pub passes: u32,
    /// A score of at least this counts as a pass where passes and failures are compared.
    pub pass_mark: f64,
    /// The level of intervals.
    pub level: f64,
    /// The trajectories that were graded, and those that could not be.
    pub ledger: GradeLedger,
    /// The judges.
    pub judges: Vec<GraderReport>,
    /// Measures of the whole set by name: task by task the panel's scores without the lowest and the highest, then the
    /// mean over tasks.
    pub measures: BTreeMap<String, MeasureReport>,
    /// The measures of each type of task, by name.
    pub by_type: BTreeMap<String, BTreeMap<String, MeasureReport>>,
    /// How far judges agree, one entry for each aspect that was asked about.
    pub agreement: Vec<AgreementReport>,
    /// How measures change without each judge.
    pub without_judge: Vec<WithoutGrader>,
    /// How far judges agree with themselves, where they were asked more than once.
    pub consistency: Vec<ConsistencyReport>,
    /// How far judges agree with people, with `--labels`: an entry for each measure that people have labelled.
    pub people: Vec<PeopleReport>,
    /// Answers that are missing. None of them counts as 0.
    pub missing: Vec<MissingGrade>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// The trajectories, in the order of the file.
    pub trajectories: Vec<TrajectoryGrades>,
}

/// The numbers of graded trajectories, and those that could not be graded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GradeLedger {
    /// The number of references; absent if no file of references was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<usize>,
    /// The number of predictions.
    pub predictions: usize,
    /// The number of predictions with a grade.
    pub graded: usize,
    /// References without a prediction. They only count in means that say so.
    pub missing: Vec<String>,
    /// Predictions without a reference, if there are references; questions that need a reference are not asked about
    /// them.
    pub extra: Vec<String>,
}

/// One judge.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GraderReport {
    /// The model.
    pub judge: String,
    /// Whether the judge was shown images.
    pub sees_images: bool,
    /// The judge's scores over all tasks.
    pub measures: BTreeMap<String, GraderMeasure>,
    /// The number of answers that the judge did not give.
    pub missing: usize,
}

/// Scores of one judge.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct GraderMeasure {
    /// The mean over tasks, in [0, 1].
    pub mean: f64,
    /// The sample standard deviation over tasks; absent for fewer than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// The number of tasks.
    pub tasks: usize,
}

/// A measure over tasks.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct MeasureReport {
    /// The mean over the tasks whose grade is known; absent if there is no such task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// The lower end of the mean's interval, by bootstrap over tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end of the mean's interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The number of tasks whose grade is known.
    pub tasks: usize,
    /// The number of tasks whose grade is not known.
    pub missing: usize,
    /// The number of tasks graded by fewer than three judges, where nothing is trimmed.
    pub untrimmed: usize,
    /// The number of references without a prediction; they are in none of the other numbers.
    pub absent: usize,
    /// The mean over the tasks whose grade is known and the absent ones, which count as 0; left out if no task is
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_with_absent_as_zero: Option<f64>,
}

/// The agreement of judges on a measure.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgreementReport {
    /// The measure.
    pub measure: String,
    /// Krippendorff's alpha of the scores, on an interval scale; for verdicts, on a nominal one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub krippendorff_alpha: Option<f64>,
    /// Fleiss' kappa of passes and failures, over the tasks that every judge with any grade has graded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleiss_kappa: Option<f64>,
    /// The number of tasks that every judge with any grade has graded.
    pub graded_by_all: usize,
    /// Judges that graded no task.
    pub left_out: Vec<String>,
    /// The agreement of every two judges.
    pub pairs: Vec<PairReport>,
}

/// The agreement of two judges.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PairReport {
    /// One judge.
    pub first: String,
    /// The other judge.
    pub second: String,
    /// The number of tasks that both graded.
    pub tasks: usize,
    /// The share of these tasks that both pass or both fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// Cohen's kappa of passes and failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cohen_kappa: Option<f64>,
    /// Cohen's kappa of scores rounded to tenths, with quadratic weights; absent for verdicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted_kappa: Option<f64>,
}

/// A measure without one judge.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WithoutGrader {
    /// The judge that is left out.
    pub judge: String,
    /// The measure.
    pub measure: String,
    /// The mean over tasks that other judges graded as well.
    pub mean: f64,
    /// The difference of this mean from the mean with the judge, over the same tasks.
    pub change: f64,
}

/// The agreement of a judge with itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConsistencyReport {
    /// The judge.
    pub judge: String,
    /// The measure.
    pub measure: String,
    /// The number of tasks with two answers or more.
    pub tasks: usize,
    /// The mean over tasks of the standard deviation within a task.
    pub deviation: f64,
    /// The share of tasks where all answers are the same.
    pub same: f64,
}

/// The agreement of judges with people.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PeopleReport {
    /// The measure that is compared.
    pub measure: String,
    /// The number of tasks with a label of people and a grade.
    pub tasks: usize,
    /// The share of these tasks that people pass, which is the agreement of a judge that passes everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rate: Option<f64>,
    /// Krippendorff's alpha of people's verdicts, nominal; absent if no two people labelled the same task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people_alpha: Option<f64>,
    /// The panel, then each judge.
    pub raters: Vec<PeopleRater>,
    /// Tasks that as many people pass as fail; they are left out.
    pub ties: Vec<String>,
    /// Labelled tasks that are not among the predictions.
    pub unknown: Vec<String>,
}

/// The panel or a judge beside people.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PeopleRater {
    /// `panel`, or the judge.
    pub rater: String,
    /// The number of tasks that were compared.
    pub tasks: usize,
    /// The share of these tasks that both pass or both fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// Cohen's kappa of passes and failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cohen_kappa: Option<f64>,
    /// The share of people's passes that the rater passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<f64>,
    /// The share of people's failures that the rater fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specificity: Option<f64>,
    /// The share of all graded tasks that the rater passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateReport>,
    /// The share of all graded tasks that the rater passes, corrected by people's labels (Tenenbein 1970).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_rate: Option<RateReport>,
    /// The mean absolute difference of scores, where people gave scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_difference: Option<f64>,
}

/// A share with its interval.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct RateReport {
    /// The share, in [0, 1].
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// An answer that is missing.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MissingGrade {
    /// The id of the trajectory.
    pub id: String,
    /// The judge.
    pub judge: String,
    /// The aspect that was asked about.
    pub aspect: Aspect,
    /// The number of the pass, from 1.
    pub pass: u32,
    /// Why there is no answer.
    pub reason: String,
}

/// The grades of one trajectory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrajectoryGrades {
    /// The task's id.
    pub id: String,
    /// The task's type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The trajectory's grades, as they also stand in the graded predictions.
    pub grades: Grades,
}

/// A panel's grades of one trajectory: `grades` of a graded prediction.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Grades {
    /// The measures that are known, each in [0, 1], such as `task_completion`.
    #[serde(flatten)]
    pub measures: BTreeMap<String, f64>,
    /// The rubric.
    pub rubric: String,
    /// Whether the lowest and the highest score were left out of all measures.
    pub is_trimmed: bool,
    /// Whether as many judges pass as fail, which counts as a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_tied: bool,
    /// For each step of the reference, how far each step of the prediction achieved its purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Vec<Vec<f64>>>,
    /// The grades of each judge.
    pub by_judge: Vec<GraderGrades>,
}

impl Member for Grades {
    const KEY: &'static str = "grades";
}

/// The grades of a trajectory by other rubrics, if it was graded before: `other_grades` of a graded prediction.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct OtherGrades(pub Vec<Grades>);

impl Member for OtherGrades {
    const KEY: &'static str = "other_grades";
}

impl Grades {
    /// Records these grades in a trajectory, and keeps its grades by other rubrics. Earlier grades that name no rubric
    /// are replaced.
    pub fn record(&self, trajectory: &mut Trajectory) {
        let rubric = |grades: &Json| grades.get("rubric").and_then(Json::as_str).map(str::to_owned);
        let mut others: Vec<Json> = trajectory.grades().cloned().collect();
        let mut seen = HashSet::from([self.rubric.clone()]);
        others.retain(|other| rubric(other).is_some_and(|rubric| seen.insert(rubric)));
        let is_list_of_others =
            |key: &str, value: &Json| key == OtherGrades::KEY && matches!(value, Json::Array(_));
        trajectory.extra.retain(|(key, value)| key != Self::KEY && !is_list_of_others(key, value));
        trajectory.set_member(self);
        if !others.is_empty() {
            trajectory.extra.push((OtherGrades::KEY.to_owned(), Json::Array(others)));
        }
    }
}

/// The grades of one trajectory by one judge.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GraderGrades {
    /// The judge.
    pub judge: String,
    /// The judge's measures, each from all of its answers.
    #[serde(flatten)]
    pub measures: BTreeMap<String, f64>,
}
