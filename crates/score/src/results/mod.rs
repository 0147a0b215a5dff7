//! Results of calls as evidence: whether two results are the same, what follows for two calls, and what a trajectory
//! leaves behind.
//!
//! | part | what it does |
//! | --- | --- |
//! | `recorded` | a result without what differs from run to run |
//! | [`survey`] | which tools give equal answers to equal calls, and which always answer alike |
//! | `evidence` | the evidence of results about compared calls |
//! | `left_behind` | the files and last results that a trajectory leaves behind |
//! | `artifacts` | the agreement of what two trajectories leave behind |
//! | `beside` | results of pairs of calls, and what is left behind, side by side, to be shown to people |
//!
//! Only what both sides have recorded counts. What a prediction records is believed (`docs/flow.md` says what follows).

mod artifacts;
mod beside;
mod evidence;
mod left_behind;
mod pictures;
mod recorded;
pub mod survey;

pub use beside::{LeftArtifact, LeftBehind, LeftPair, ResultsBeside, results_beside};
pub(crate) use evidence::ResultEvidence;
pub use pictures::{ComparePictures, Likeness, PictureProblem, RecordedPicture, ResultSide};
pub use recorded::recorded_picture;
use recorded::{RecordedResult, TrajectoryNames, has_failed};

use m3_flow::{Content, Lineage, Mention, contents};
use m3_trajectory::{Call, Trajectory};

/// The recorded results of a reference and of its prediction.
pub(crate) struct PairResults {
    references: Side,
    predictions: Side,
}

/// One trajectory: what its calls returned, and what they do with files.
struct Side {
    calls: Vec<RecordedCall>,
    lineage: Lineage,
    /// The content of each version of a file, as far as the calls tell it.
    contents: Vec<Content>,
}

/// A call with what it returned.
struct RecordedCall {
    tool: String,
    step: usize,
    /// The result, if it is recorded and is not an error.
    result: Option<RecordedResult>,
    has_failed: bool,
    /// The files that the call reads whose names are whole arguments: the argument as a JSON pointer, and the version.
    reads: Vec<(String, usize)>,
}

/// The files that a call reads whose names are whole arguments.
fn whole_names(call: &Call, mentions: &[Mention]) -> Vec<(String, usize)> {
    let name = |mention: &Mention| {
        let text = call.arguments.as_ref()?.pointer(&mention.pointer)?.as_str()?;
        let version = mention.role.used_version()?;
        (mention.span == (0..text.len())).then(|| (mention.pointer.clone(), version))
    };
    mentions.iter().filter_map(name).collect()
}

impl Side {
    /// The result of a call, if it is recorded and is not an error.
    fn result(&self, call: usize) -> Option<&RecordedResult> {
        self.calls.get(call)?.result.as_ref()
    }

    /// Whether a call returned pictures.
    fn has_pictures(&self, call: usize) -> bool {
        self.result(call).is_some_and(|result| !result.pictures.is_empty())
    }

    /// The call whose result shows the picture that is the whole argument at a JSON pointer; `None` where the call made
    /// several pictures, of which any may be meant.
    fn picture_read_at(&self, call: usize, pointer: &str) -> Option<usize> {
        let mut reads = self.calls.get(call)?.reads.iter();
        let (_, version) = reads.find(|(place, _)| place == pointer)?;
        let maker = self.picture_of(*version, 0)?;
        let made = self.lineage.versions.iter().filter(|version| version.call == maker).take(2).count();
        let shown = self.result(maker)?.pictures.len();
        (made == 1 && shown == 1).then_some(maker)
    }
}

impl PairResults {
    /// The results of both sides; `None` where one of them has recorded nothing. A prediction without calls has nothing to record.
    pub(crate) fn new(reference: &Trajectory, prediction: &Trajectory) -> Option<Box<Self>> {
        let has_results = super::flow::has_results;
        let are_recorded =
            has_results(reference) && (has_results(prediction) || prediction.call_count() == 0);
        are_recorded.then(|| Box::new(Self::build(reference, prediction, true)))
    }

    /// Collects what both sides do and return; results count where `are_recorded`.
    fn build(reference: &Trajectory, prediction: &Trajectory, are_recorded: bool) -> Self {
        let facts = super::flow::PairFacts::new(reference, prediction, are_recorded);
        let asked = super::flow::asked_names([reference, prediction]);
        let side = |trajectory: &Trajectory| {
            let (views, lineage) = super::flow::lineage(trajectory, facts);
            let contents = contents(&views, &lineage);
            let names = TrajectoryNames::new(trajectory, (&lineage, facts.image), &asked);
            let read = |(index, (step, call))| {
                let call: &Call = call;
                let result = if are_recorded { RecordedResult::new((call, index), &names) } else { None };
                let has_failed = are_recorded && has_failed(call);
                let reads =
                    lineage.mentions.get(index).map_or_else(Vec::new, |names| whole_names(call, names));
                RecordedCall { tool: call.tool.clone(), step, result, has_failed, reads }
            };
            let calls = trajectory.calls().enumerate().map(read).collect();
            Side { calls, lineage, contents }
        };
        Self { references: side(reference), predictions: side(prediction) }
    }

    /// The likeness of the results of a reference call and of a predicted call: that of their least alike pictures or,
    /// without pictures, equal or not. `None` where one of them is not recorded, is an error, or has a picture that
    /// cannot be had.
    fn compare(
        &self,
        (reference, predicted): (usize, usize),
        pictures: Option<&dyn ComparePictures>,
    ) -> Option<Likeness> {
        let (a, b) = (self.references.result(reference)?, self.predictions.result(predicted)?);
        if a.pictures.len() != b.pictures.len() {
            return Some(Likeness::NONE);
        }
        if a.pictures.is_empty() {
            return Some(if a.digest == b.digest { Likeness::EQUAL } else { Likeness::NONE });
        }
        let mut all = Likeness::EQUAL;
        for (a, b) in a.pictures.iter().zip(&b.pictures) {
            let is_equal = a == b && matches!(a, RecordedPicture::Sent(_));
            all = all.least(if is_equal { Likeness::EQUAL } else { pictures?.compare(a, b)? });
        }
        Some(all)
    }

    /// Whether calls cannot be compared because the prediction's pictures are missing, and for no other reason.
    fn lacks_predicted_pictures(
        &self,
        (reference, predicted): (usize, usize),
        pictures: &dyn ComparePictures,
    ) -> bool {
        let lacks = |side: &Side, call: usize, which: ResultSide| {
            let mut named = side.result(call).into_iter().flat_map(|result| &result.pictures);
            named.any(|picture| pictures.is_missing(which, picture))
        };
        lacks(&self.predictions, predicted, ResultSide::Prediction)
            && !lacks(&self.references, reference, ResultSide::Reference)
    }

    /// Whether a reference call returned pictures.
    pub(crate) fn has_reference_pictures(&self, call: usize) -> bool {
        self.references.has_pictures(call)
    }

    /// Whether a predicted call failed, by its result.
    pub(crate) fn has_prediction_failed(&self, call: usize) -> bool {
        self.predictions.calls.get(call).is_some_and(|call| call.has_failed)
    }

    /// Whether a predicted call failed where the reference call did not, by the results of both.
    pub(crate) fn has_only_prediction_failed(&self, (reference, predicted): (usize, usize)) -> bool {
        self.references.result(reference).is_some() && self.has_prediction_failed(predicted)
    }

    /// How much memory the results take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let calls = self.references.calls.iter().chain(&self.predictions.calls);
        calls.filter_map(|call| call.result.as_ref()).map(RecordedResult::bytes).sum()
    }
}
