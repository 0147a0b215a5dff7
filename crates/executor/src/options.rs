//! The options of a run: mode, texts, limits and settings.

use std::time::Duration;

use m3_llm::Settings;
use m3_trajectory::Task;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// How the model and the executor work together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Plan which tools to use, emit calls as strict JSON, decide whether the task is complete, answer (M³-Bench,
    /// section 3.1).
    #[cfg_attr(
        feature = "clap",
        value(
            help = "Plan tools, emit calls as JSON, decide whether it is complete, answer (the paper's way)"
        )
    )]
    Staged,
    /// The provider's own tool calling.
    Native,
    /// Thought, action, observation, in text.
    React,
}

/// Which of a task's texts the model gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Instruction {
    /// The fuzzy `question`, as people ask.
    #[cfg_attr(feature = "clap", value(help = "As people ask"))]
    Question,
    /// The explicit `prompt`, which names tools and steps.
    #[cfg_attr(feature = "clap", value(help = "Explicit: names tools and steps"))]
    Prompt,
}

impl Instruction {
    /// The chosen text of a task, or the other one if the task has only that; white space alone counts as no text.
    #[must_use]
    pub fn text_of(self, task: &Task) -> Option<&str> {
        let (question, prompt) = (task.question.as_deref(), task.prompt.as_deref());
        let texts = match self {
            Self::Question => [question, prompt],
            Self::Prompt => [prompt, question],
        };
        texts.into_iter().flatten().find(|text| !text.trim().is_empty())
    }
}

/// The limits of a task. A task that reaches a limit ends with what it has.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Limits {
    /// The most steps with calls.
    pub steps: u32,
    /// The most calls of a step. Further calls of the same reply are not run, and the model is told so.
    pub calls_per_step: u32,
    /// The most calls of a task.
    pub calls: Option<u32>,
    /// The most tokens of a task, input and output together.
    pub tokens: Option<u64>,
    /// The time limit of one call, in seconds from when it is sent. Waiting for a place at its server, or for the
    /// server to be started again, does not count.
    #[serde(serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub call_time: Duration,
    /// The time limit of all calls of a step together, in seconds.
    #[serde(serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub step_time: Duration,
    /// The time limit of a task, the model's turns included, in seconds.
    #[serde(serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub task_time: Duration,
}

/// Everything that decides what a model is asked and what may happen then.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunOptions {
    /// How the model is driven.
    pub mode: Mode,
    /// Which text of the task the model gets.
    pub instruction: Instruction,
    /// The limits of each task.
    pub limits: Limits,
    /// Whether the model itself shortens long results, instead of a rule.
    pub compress: bool,
    /// The longest result that the model gets, in characters.
    pub result_limit: usize,
    /// Whether the model is shown no image, and told of no file but those that its calls make: the blind baseline. It
    /// is written beside these options, in [`RunReport`](super::run::RunReport).
    #[serde(skip)]
    pub no_images: bool,
    /// The longest side of images that are sent, in pixels, if it is less than what the wire takes.
    pub max_image_side: Option<u32>,
    /// The model's settings for its replies.
    pub settings: Settings,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 6,
            calls_per_step: 10,
            calls: None,
            tokens: None,
            call_time: Duration::from_mins(5),
            step_time: Duration::from_mins(10),
            task_time: Duration::from_hours(1),
        }
    }
}

/// Writes a time in seconds.
fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}
