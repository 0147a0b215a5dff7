//! The part of an audit that shows what both trajectories do: which call makes what another one reads, what calls returned,
//! what is left behind.

use schemars::JsonSchema;
use serde::Serialize;

use m3_score::CallPlace;

/// What both trajectories do, beside each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct FlowAudit {
    /// Calls of the reference that make something, or read what other calls made.
    pub reference: Vec<CallFlow>,
    /// Calls of the prediction that make something, or read what other calls made.
    pub prediction: Vec<CallFlow>,
    /// The results of calls that are compared, where both are recorded: in the order of `arguments`. The first 400.
    pub results: Vec<ResultPair>,
    /// The artifacts that both trajectories leave behind.
    pub left_behind: LeftAudit,
}

/// What a call reads and makes. The first 20 of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallFlow {
    /// The call.
    pub call: CallPlace,
    /// The files and values that the call reads.
    pub reads: Vec<ReadAudit>,
    /// The number of further reads.
    pub more_reads: usize,
    /// The names of files that it makes.
    pub makes: Vec<String>,
    /// The number of further files that it makes.
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
    /// Whether the maker is in the same step, so that its result may not have been there.
    pub is_of_same_step: bool,
}

/// The results of two calls that are compared.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResultPair {
    /// The reference call.
    pub reference: CallPlace,
    /// The predicted call.
    pub predicted: CallPlace,
    /// Whether both results are the same, apart from names that a trajectory chose, times, and changes by picture
    /// encoders; null where one is an error or a picture is not available.
    pub are_same: Option<bool>,
    /// What the reference call returned, without its pictures; cut after 2,000 characters.
    pub reference_text: String,
    /// What the predicted call returned.
    pub predicted_text: String,
    /// The pictures of both results, paired in their order; the first 16.
    pub pictures: Vec<PicturePair>,
}

/// A picture of the reference's result and the one at the same place in the prediction's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct PicturePair {
    /// The part of the reference's result; null where that result has fewer pictures.
    pub reference_part: Option<usize>,
    /// The part of the prediction's result; null where that result has fewer pictures.
    pub predicted_part: Option<usize>,
    /// How the pictures differ; null if they cannot be compared.
    pub difference: Option<PictureDifference>,
}

/// How two pictures differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PictureDifference {
    /// The share of pixels that differ, of the part that both have, in [0, 1]; 1 where sides differ by more than 2 pixels.
    pub changed: f64,
    /// Width and height of the reference's picture, in pixels.
    pub reference_size: (u32, u32),
    /// Width and height of the prediction's picture, in pixels.
    pub predicted_size: (u32, u32),
}

/// The artifacts that both trajectories leave behind: files that no later call reads or replaces and, where both sides
/// have results, pictures without a name and answers of the last step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct LeftAudit {
    /// How well both sets agree, in [0, 1]; null where nothing is recorded or left behind.
    pub agreement: Option<f64>,
    /// What the reference leaves behind. The first 64.
    pub reference: Vec<ArtifactAudit>,
    /// What the prediction leaves behind. The first 64.
    pub prediction: Vec<ArtifactAudit>,
    /// The pairs of artifacts that belong together; empty without results on both sides.
    pub pairs: Vec<ArtifactPair>,
}

/// Something that is left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArtifactAudit {
    /// The call that makes it.
    pub maker: CallPlace,
    /// The name of the file, cut after 200 characters; null where it is not known, as for an answer.
    pub name: Option<String>,
    /// The call whose result shows it as a picture; null if none does.
    pub pictured_by: Option<CallPlace>,
    /// The part of that result that is the picture.
    pub picture_part: Option<usize>,
}

/// An artifact of the reference and the prediction's artifact in its place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ArtifactPair {
    /// The index of the reference's artifact in `reference`.
    pub reference: usize,
    /// The index of the prediction's artifact in `prediction`.
    pub predicted: usize,
    /// How alike both artifacts are, in [0, 1].
    pub likeness: f64,
    /// Whether both artifacts count as the same.
    pub are_same: bool,
    /// Whether the picture of one of them cannot be read. Left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub is_unreadable: bool,
    /// How both artifacts differ, where both are pictures.
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
