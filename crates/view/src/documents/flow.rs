//! The data flow of both trajectories, for the page of a task: which call made the values that another call reads,
//! results side by side, and artifacts that are left behind.

use m3_report::audit::{
    ArtifactAudit, CallFlow, FlowAudit, FlowLine, LeftAudit, PictureDifference, PicturePair, ResultPair,
};
use m3_score::CallPlace;
use m3_score::results::ResultSide;
use serde::{Deserialize, Serialize};

use super::trajectory::PictureDocument;

/// The most lines about the values that a call reads, and about those that it makes.
const OF_CALL: usize = 10;

/// The most calls of a side with such lines: as many as a page shows.
const CALLS: usize = 1_000;

/// A picture in the result of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PictureAt {
    pub side: ResultSide,
    /// The call, by its index.
    pub call: usize,
    /// The number of the part in the call's result.
    pub part: usize,
}

/// Gives the pictures of results their names.
pub(crate) trait ResultNaming {
    /// The picture at this place, with its name in the page.
    fn picture(&self, at: PictureAt) -> Option<PictureDocument>;
    /// A picture of the differences between a picture of the reference and one of the prediction, with a title.
    fn difference(&self, both: [PictureAt; 2], title: String) -> Option<PictureDocument>;
}

/// The data flow of both trajectories.
#[derive(Debug, Serialize)]
pub(crate) struct FlowDocument {
    reference: Vec<CallLines>,
    prediction: Vec<CallLines>,
    results: Vec<ResultPairDocument>,
    left: Option<LeftDocument>,
}

/// The lines about a call.
#[derive(Debug, Serialize)]
struct CallLines {
    index: usize,
    lines: Vec<LineDocument>,
}

#[derive(Debug, Serialize)]
struct LineDocument {
    before: String,
    maker: Option<CallPlace>,
    after: String,
}

/// The results of two calls.
#[derive(Debug, Serialize)]
struct ResultPairDocument {
    reference: CallPlace,
    predicted: CallPlace,
    words: String,
    differs: bool,
    /// The texts of both results, without pictures.
    texts: [String; 2],
    pictures: Vec<PicturesDocument>,
}

/// Two pictures beside each other, with a picture of their differences.
#[derive(Debug, Default, Serialize)]
struct PicturesDocument {
    reference: Option<PictureDocument>,
    prediction: Option<PictureDocument>,
    difference: Option<PictureDocument>,
}

#[derive(Debug, Serialize)]
struct LeftDocument {
    heading: String,
    lines: Vec<LeftLine>,
}

#[derive(Debug, Serialize)]
struct LeftLine {
    words: String,
    pictures: PicturesDocument,
}

impl FlowDocument {
    /// Makes the document; `None` if there is nothing to show.
    pub(crate) fn new(flow: &FlowAudit, naming: &dyn ResultNaming) -> Option<Self> {
        let calls = |calls: &[CallFlow]| calls.iter().take(CALLS).map(CallLines::new).collect();
        let pair = |pair: &ResultPair| ResultPairDocument {
            reference: pair.reference,
            predicted: pair.predicted,
            words: pair.words(),
            differs: pair.differs(),
            texts: [pair.reference_text.clone(), pair.predicted_text.clone()],
            pictures: pair.pictures.iter().map(|found| of_pair(pair, found, naming)).collect(),
        };
        (!flow.is_empty()).then(|| Self {
            reference: calls(&flow.reference),
            prediction: calls(&flow.prediction),
            results: flow.results.iter().map(pair).collect(),
            left: left(&flow.left_behind, naming),
        })
    }
}

impl CallLines {
    fn new(of: &CallFlow) -> Self {
        let line = |FlowLine { before, maker, after }| LineDocument { before, maker, after };
        Self { index: of.call.index, lines: of.lines(OF_CALL).into_iter().map(line).collect() }
    }
}

fn of_pair(pair: &ResultPair, found: &PicturePair, naming: &dyn ResultNaming) -> PicturesDocument {
    let at = |side, call: CallPlace, part: Option<usize>| {
        part.map(|part| PictureAt { side, call: call.index, part })
    };
    let places = [
        at(ResultSide::Reference, pair.reference, found.reference_part),
        at(ResultSide::Prediction, pair.predicted, found.predicted_part),
    ];
    beside(places, found.difference, naming)
}

fn beside(
    [reference, predicted]: [Option<PictureAt>; 2],
    difference: Option<PictureDifference>,
    naming: &dyn ResultNaming,
) -> PicturesDocument {
    let picture = |at: Option<PictureAt>| at.and_then(|at| naming.picture(at));
    let both = reference.zip(predicted).zip(difference.filter(|found| found.changed > 0.0));
    PicturesDocument {
        reference: picture(reference),
        prediction: picture(predicted),
        difference: both.and_then(|((a, b), found)| naming.difference([a, b], found.words(false))),
    }
}

/// The artifacts that are left behind: a line for each pair, then one for each artifact without a counterpart.
fn left(left: &LeftAudit, naming: &dyn ResultNaming) -> Option<LeftDocument> {
    let at = |side, of: Option<&ArtifactAudit>| {
        let of = of?;
        Some(PictureAt { side, call: of.pictured_by?.index, part: of.picture_part? })
    };
    let pictures = left.pairs.iter().map(|pair| {
        let reference = at(ResultSide::Reference, left.reference.get(pair.reference));
        let predicted = at(ResultSide::Prediction, left.prediction.get(pair.predicted));
        beside([reference, predicted], pair.difference, naming)
    });
    let pictures = pictures.chain(std::iter::repeat_with(PicturesDocument::default));
    let lines = left.sentences().into_iter().zip(pictures);
    (!left.is_empty()).then(|| LeftDocument {
        heading: left.heading(),
        lines: lines.map(|(words, pictures)| LeftLine { words, pictures }).collect(),
    })
}

/// The pairs of calls that a score has compared, by their indices; empty if the score has another form, as that of
/// another program may.
pub(crate) fn compared_calls(score: &str) -> Vec<(usize, usize)> {
    let Pairs { matches, further_pairs } = serde_json::from_str(score).unwrap_or_default();
    let further = further_pairs.into_iter();
    let pairs = matches.into_iter().chain(further);
    pairs.map(|pair| (pair.reference.index, pair.compared_with.unwrap_or(pair.predicted).index)).collect()
}

#[derive(Debug, Default, Deserialize)]
struct Pairs {
    #[serde(default)]
    matches: Vec<Pair>,
    #[serde(default)]
    further_pairs: Vec<Pair>,
}

#[derive(Debug, Deserialize)]
struct Pair {
    reference: Index,
    predicted: Index,
    compared_with: Option<Index>,
}

#[derive(Debug, Deserialize)]
struct Index {
    index: usize,
}
