//! The prediction that is written for a task: a native trajectory that `m3 score` can read, with everything that is
//! known about its run.

use std::collections::BTreeMap;

pub use m3_trajectory::PREDICTION_SCHEMA;
use m3_trajectory::{
    CallForms, FailureClass, FinishReason, NO_NAME, RunFacts, Task, Trajectory, TurnRecord, Usage,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Mode, Record, RunOptions, StepRecord, TOOLS_UNREAD};

/// A prediction. Unknown keys of the task stand beside these fields; a key with the name of a field gets `task_` in
/// front.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = PREDICTION_SCHEMA)]
pub struct Prediction {
    /// The task's id.
    pub id: String,
    /// The task's image, as the task names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The kind of task.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The explicit form of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The fuzzy form of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The steps, each with at least one call.
    pub steps: Vec<StepRecord>,
    /// The answer; empty if there is none.
    pub final_reply: String,
    /// Why the task ended.
    pub finish: FinishReason,
    /// Why there is no answer, as a class; absent if there is an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureClass>,
    /// What failed, or what was used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The model.
    pub model: ModelReport,
    /// How model and executor worked together.
    pub mode: Mode,
    /// Hash of the prompts.
    pub prompts: String,
    /// Hash of the tools that were offered.
    pub tools: String,
    /// The versions of m3 and of the schema.
    pub versions: Versions,
    /// Tokens of all turns.
    pub usage: Usage,
    /// The images that the model was shown.
    pub images: Vec<Value>,
    /// The turns of the model.
    pub turns: Vec<TurnRecord>,
    /// All that was said, images by name, size and hash.
    pub dialogue: Vec<Value>,
    /// The run.
    pub run: RunReport,
    /// All other keys of the task.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The model that made a prediction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelReport {
    /// The model's name as requested.
    pub requested: String,
    /// The model's name as the provider reports it, in the last turn that reports one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<String>,
}

/// The versions of m3 and of the schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Versions {
    /// The version of m3.
    pub m3: String,
    /// The schema of the prediction, `m3.prediction/1`.
    pub schema: String,
}

/// How a task was run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunReport {
    /// Which repetition and attempt, how long it took.
    #[serde(flatten)]
    pub facts: RunFacts,
    /// Mode, limits, settings.
    pub options: RunOptions,
}

/// What is known about a run of a task besides its [`Record`].
#[derive(Debug, Clone)]
pub(super) struct Circumstances<'a> {
    pub(super) task: &'a Task,
    pub(super) model: String,
    pub(super) prompts: String,
    pub(super) tools: String,
    pub(super) run: RunReport,
}

impl Prediction {
    pub(super) fn new(record: Record, circumstances: Circumstances<'_>) -> Self {
        let Circumstances { task, model, prompts, tools, run } = circumstances;
        let usage =
            record.turns.iter().fold(Usage::default(), |sum, turn| sum.plus(turn.usage.unwrap_or_default()));
        let reported = record.turns.iter().rev().find_map(|turn| turn.model.clone());
        let mut steps = record.steps;
        for call in steps.iter_mut().flat_map(|step| &mut step.calls) {
            if call.name.is_empty() {
                NO_NAME.clone_into(&mut call.name);
            }
        }
        let mut prediction = Self {
            id: task.id.clone(),
            image: task.image.clone(),
            task_type: task.task_type.clone(),
            prompt: task.prompt.clone(),
            question: task.question.clone(),
            steps,
            final_reply: record.final_reply,
            finish: record.finish,
            failure: record.failure,
            reason: record.reason,
            model: ModelReport { requested: model, reported },
            mode: run.options.mode,
            prompts,
            tools,
            versions: Versions {
                m3: env!("CARGO_PKG_VERSION").to_owned(),
                schema: PREDICTION_SCHEMA.to_owned(),
            },
            usage,
            images: record.images,
            turns: record.turns,
            dialogue: record.dialogue,
            run,
            extra: Map::new(),
        };
        prediction.extra = prediction.others(task);
        prediction
    }

    /// The task's keys that have no field of their own here.
    fn others(&self, task: &Task) -> Map<String, Value> {
        let ours = serde_json::to_value(self).unwrap_or_default();
        let is_ours = |key: &str| ours.get(key).is_some() || ["failure", "reason"].contains(&key);
        let members = task.extra.iter().map(|(key, value)| {
            let value = value.to_value_or_text();
            (if is_ours(key) { format!("task_{key}") } else { key.clone() }, value)
        });
        members.collect()
    }

    /// The prediction on one line.
    pub(super) fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}

/// A prediction that an earlier run wrote.
#[derive(Debug, Clone)]
pub(super) struct KeptPrediction {
    pub(super) trajectory: Trajectory,
    pub(super) finish: FinishReason,
    /// The prediction's [`RunFacts::key`].
    pub(super) key: String,
}

impl KeptPrediction {
    /// Reads the prediction of a task; `None` if the bytes are not one.
    pub(super) fn read(id: &str, bytes: &[u8]) -> Option<Self> {
        let trajectory = Trajectory::of_bytes(id, bytes, CallForms::Literal, &[]).ok()?;
        let finish = trajectory.get_as("finish")?;
        let key = trajectory.run().map(|run| run.key).filter(|key| !key.is_empty())?;
        (trajectory.id == id).then_some(Self { trajectory, finish, key })
    }
}

/// Sums over predictions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunSummary {
    /// The number of predictions.
    pub predictions: u64,
    /// Predictions with an answer.
    pub answered: u64,
    /// Predictions ended by the limit of steps.
    pub max_steps: u64,
    /// Predictions ended by another limit.
    pub budget: u64,
    /// Predictions ended because the prompt did not fit the model's context.
    pub context_overflow: u64,
    /// Predictions of tasks that failed.
    pub error: u64,
    /// Steps with at least one call.
    pub steps: u64,
    /// The number of calls.
    pub calls: u64,
    /// Calls by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Tokens that the model used.
    pub usage: Usage,
    /// Predictions whose model seems not to have received the tools.
    pub tools_unread: u64,
}

impl RunSummary {
    pub(super) fn add(&mut self, kept: &KeptPrediction) {
        self.predictions += 1;
        *match kept.finish {
            FinishReason::Answered => &mut self.answered,
            FinishReason::MaxSteps => &mut self.max_steps,
            FinishReason::Budget => &mut self.budget,
            FinishReason::ContextOverflow => &mut self.context_overflow,
            FinishReason::Error | FinishReason::Interrupted => &mut self.error,
        } += 1;
        let trajectory = &kept.trajectory;
        self.steps += trajectory.steps.len() as u64;
        for (_, call) in trajectory.calls() {
            self.calls += 1;
            *self.outcomes.entry(call.recorded_outcome().unwrap_or_default().to_owned()).or_default() += 1;
        }
        self.usage = self.usage.plus(trajectory.usage().unwrap_or_default());
        let mut oddities = trajectory.turns().flat_map(|turn| turn.oddities);
        self.tools_unread += u64::from(oddities.any(|oddity| oddity == TOOLS_UNREAD));
    }
}

#[cfg(test)]
mod tests {
    use m3_llm::Settings;
    use m3_trajectory::json::Json;

    use super::*;
    use crate::{CallRecord, Instruction, Limits};

    fn options() -> RunOptions {
        RunOptions {
            mode: Mode::React,
            instruction: Instruction::Question,
            limits: Limits::default(),
            compress: false,
            result_limit: 100,
            no_images: false,
            max_image_side: None,
            settings: Settings::default(),
        }
    }

    fn prediction(task: &Task) -> Prediction {
        let call = |name: &str, outcome: &str| CallRecord {
            name: name.to_owned(),
            arguments: Value::Null,
            result: None,
            is_error: false,
            outcome: outcome.to_owned(),
            milliseconds: 1,
        };
        let turn = |model: Option<&str>, tokens| TurnRecord {
            purpose: "turn".to_owned(),
            usage: Some(Usage { input_tokens: Some(tokens), ..Usage::default() }),
            milliseconds: 1,
            tries: 1,
            model: model.map(str::to_owned),
            oddities: Vec::new(),
        };
        let record = Record {
            steps: vec![StepRecord {
                step: 1,
                calls: vec![call("", "illegal_format"), call("a/b", "success")],
            }],
            final_reply: "yes".to_owned(),
            finish: FinishReason::Answered,
            failure: None,
            reason: None,
            dialogue: Vec::new(),
            turns: vec![turn(Some("m-1"), 5), turn(None, 7)],
            images: Vec::new(),
        };
        let facts =
            RunFacts { key: "k".to_owned(), repeat: 1, attempt: 1, milliseconds: 3, no_images: false };
        let run = RunReport { facts, options: options() };
        let (model, prompts, tools) = ("openai:m".to_owned(), "p".to_owned(), "t".to_owned());
        Prediction::new(record, Circumstances { task, model, prompts, tools, run })
    }

    #[test]
    fn keys_of_the_task_survive_and_take_no_place_of_ours() {
        let extra =
            [("level", Json::Integer(3)), ("usage", Json::Bool(true)), ("odd", Json::Float(f64::NAN))];
        let extra = extra.map(|(key, value)| (key.to_owned(), value)).to_vec();
        let task = Task { id: "a".to_owned(), question: Some("why".to_owned()), extra, ..Task::default() };
        let line = prediction(&task).to_line();
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&value["id"], &value["question"], &value["level"]),
            (&"a".into(), &"why".into(), &3.into())
        );
        assert_eq!((&value["task_usage"], &value["odd"]), (&true.into(), &"NaN".into()));
        assert_eq!(value["usage"]["input_tokens"], 12);
        assert_eq!(value["model"]["reported"], "m-1");
        assert_eq!(line.matches("\"usage\":").count(), 3, "{line}");
        assert!(line.ends_with("}\n") && line.trim_end().lines().count() == 1);
        let kept = KeptPrediction::read("a", line.as_bytes()).unwrap();
        let mut summary = RunSummary::default();
        summary.add(&kept);
        assert_eq!((summary.answered, summary.calls, summary.outcomes["illegal_format"]), (1, 2, 1));
    }

    /// Scores count a call without a name as a call of a tool that does not exist; outcomes count it as illegal.
    #[test]
    fn a_call_without_a_name_is_scored_and_stays_illegal() {
        use m3_outcomes::{KnownTools, Outcome, classify_trajectory, recorded_reply};
        use m3_trajectory::{Duplicates, TrajectoryFile};
        let task = Task { id: "a".to_owned(), question: Some("why".to_owned()), ..Task::default() };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("predictions.json");
        std::fs::write(&path, format!("[{}]", prediction(&task).to_line())).unwrap();
        let file = TrajectoryFile::open(&path, Duplicates::Error).unwrap();
        let trajectory = file.read(0).unwrap();
        assert_eq!(trajectory.steps[0].calls[0].tool, NO_NAME);
        let judged =
            classify_trajectory(&trajectory, &KnownTools::default(), &mut |_, call| recorded_reply(call));
        let outcome = |index: usize| judged[index].classification.verdict().outcome();
        assert_eq!(outcome(0), Some(Outcome::IllegalFormat));
        assert_eq!(outcome(1), Some(Outcome::UnknownTool));
    }
}
