//! The part of an audit that shows what both trajectories do: which call makes what another one reads, what calls returned,
//! what is left behind.

use schemars::JsonSchema;
use serde::Serialize;

use m3_score::CallPlace;

/// What both trajectories do, beside each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct FlowAudit {
    /// Calls of the reference that read what others made, or make something. None where neither trajectory makes anything.
    pub reference: Vec<CallFlow>,
    /// Calls of the prediction, likewise.
    pub prediction: Vec<CallFlow>,
    /// The results of calls that are compared, where both are recorded: in the order of `arguments`. The first 400.
    pub results: Vec<ResultPair>,
    /// What is left behind.
    pub left_behind: LeftAudit,
}

/// What a call reads and makes. The first 20 of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallFlow {
    /// The call.
    pub call: CallPlace,
    /// What it reads.
    pub reads: Vec<ReadAudit>,
    /// How much more it reads.
    pub more_reads: usize,
    /// The names of files that it makes.
    pub makes: Vec<String>,
    /// How many more it makes.
    pub more_makes: usize,
}

/// Something that a call reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadAudit {
    /// `file`, `changed_file` (it changes the file in place), `task_image` (the task's own picture), `returned_value` (an id
    /// that a call returned) or `named_value` (a name that a call gave).
    #[schemars(extend("enum" = ["file", "changed_file", "task_image", "returned_value", "named_value"]))]
    pub kind: String,
    /// The argument that names it, such as `input_path` or `image_paths[0]`.
    pub argument: String,
    /// Its name as the argument has it, cut after 200 characters.
    pub name: String,
    /// The call that made it; null for the task's own picture.
    pub maker: Option<CallPlace>,
    /// Whether that call is of the same step: then it may not have been there.
    pub is_of_same_step: bool,
}

/// The results of two calls that are compared.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResultPair {
    /// The reference call.
    pub reference: CallPlace,
    /// The predicted call.
    pub predicted: CallPlace,
    /// Whether they are the same, but for names that a trajectory chose, times, and what encoders change in a picture; null
    /// where one is an error or a picture cannot be had.
    pub are_same: Option<bool>,
    /// What the reference call returned, without its pictures; cut after 2,000 characters.
    pub reference_text: String,
    /// What the predicted call returned.
    pub predicted_text: String,
    /// Their pictures, in their order; the first 16.
    pub pictures: Vec<PicturePair>,
}

/// A picture of the reference's result and the one at the same place in the prediction's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct PicturePair {
    /// Which part of the reference's result it is; null where that has fewer pictures.
    pub reference_part: Option<usize>,
    /// Which part of the prediction's.
    pub predicted_part: Option<usize>,
    /// How they differ; null where one of them cannot be had.
    pub difference: Option<PictureDifference>,
}

/// How two pictures differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PictureDifference {
    /// The share of pixels that differ, of the part that both have, in [0, 1]; 1 where sides differ by more than 2 pixels.
    pub changed: f64,
    /// Width and height of the reference's.
    pub reference_size: (u32, u32),
    /// Width and height of the prediction's.
    pub predicted_size: (u32, u32),
}

/// What both trajectories leave behind: files that no later call reads and nothing takes the place of and, where both sides
/// have results, pictures without a name and answers of the last step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct LeftAudit {
    /// How well both sets agree, in [0, 1]; null where nothing is recorded or left behind.
    pub agreement: Option<f64>,
    /// What the reference leaves behind. The first 64.
    pub reference: Vec<ArtifactAudit>,
    /// What the prediction leaves behind. The first 64.
    pub prediction: Vec<ArtifactAudit>,
    /// Which of it belongs together; none without results on both sides.
    pub pairs: Vec<ArtifactPair>,
}

/// Something that is left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArtifactAudit {
    /// The call that makes it.
    pub maker: CallPlace,
    /// The name of the file, cut after 200 characters; null where nothing tells it, as of an answer.
    pub name: Option<String>,
    /// The call whose result shows it as a picture; null if none does.
    pub pictured_by: Option<CallPlace>,
    /// The part of that result.
    pub picture_part: Option<usize>,
}

/// What a reference leaves behind and what a prediction does in its place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ArtifactPair {
    /// Which of `reference`.
    pub reference: usize,
    /// Which of `prediction`.
    pub predicted: usize,
    /// How alike they are, in [0, 1].
    pub likeness: f64,
    /// Whether they count as the same.
    pub are_same: bool,
    /// Whether the picture of one of them cannot be read. Left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub is_unreadable: bool,
    /// How they differ, where both are pictures.
    pub difference: Option<PictureDifference>,
}

impl FlowAudit {
    /// Whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reference.is_empty()
            && self.prediction.is_empty()
            && self.results.is_empty()
            && self.left_behind.is_empty()
    }
}

impl LeftAudit {
    /// Whether neither trajectory leaves anything behind.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reference.is_empty() && self.prediction.is_empty()
    }
}
