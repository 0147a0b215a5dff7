//! Makes the part of an audit that shows what both trajectories do.

use std::collections::HashMap;

use m3_flow::{Origin, Role, ValueUse};
use m3_images::likeness::compare;
use m3_score::fidelity::place::{Place, cut};
use m3_score::results::{
    ComparePictures, LeftArtifact, LeftBehind, RecordedPicture, ResultSide, recorded_picture, results_beside,
};
use m3_score::{CallPlace, SideFlow, flow_of};
use m3_trajectory::json::Json;
use m3_trajectory::{Call, Trajectory, read_result, result_parts};

use super::flow_model::{
    ArtifactAudit, ArtifactPair, CallFlow, FlowAudit, LeftAudit, PictureDifference, PicturePair, ReadAudit,
    ResultPair,
};
use crate::{ResultPictures, TrajectoryReport};

/// The most characters of a name.
const NAME: usize = 200;

/// The most reads of a call that are listed, and the most files that it makes.
const OF_CALL: usize = 20;

/// The most pairs of results.
const RESULTS: usize = 400;

/// The most characters of a result.
const TEXT: usize = 2_000;

/// The most pictures of a result.
const PICTURES: usize = 16;

/// The most pairs of pictures of a trajectory whose pixels are compared.
const COMPARED: usize = 400;

impl FlowAudit {
    /// Shows what a reference and its prediction do; `pairs` are the calls that are compared, by their indices. Without
    /// `pictures` no results are shown.
    #[must_use]
    pub fn new(
        reference: &Trajectory,
        prediction: &Trajectory,
        pairs: &[(usize, usize)],
        pictures: Option<&ResultPictures>,
    ) -> Self {
        let flows = flow_of(reference, prediction);
        let both = [Side::new(reference), Side::new(prediction)];
        let makes_files = flows.iter().any(|flow| !flow.lineage.versions.is_empty());
        let [of_reference, of_prediction] = [0, 1].map(|side| both[side].calls(&flows[side], makes_files));
        let opener = pictures.map(|pictures| pictures as &dyn ComparePictures);
        let beside = results_beside((reference, prediction), pairs, opener);
        let mut comparer = PictureComparer { sides: &both, pictures, left: COMPARED };
        let alike = pairs.iter().zip(&beside.pairs);
        let results = alike.filter_map(|(&calls, found)| comparer.results(calls, found.map(|it| it.is_same)));
        let results = results.take(RESULTS).collect();
        let left_behind = comparer.left(&beside.left);
        Self { reference: of_reference, prediction: of_prediction, results, left_behind }
    }
}

/// One side of an audit: the calls of a trajectory, with their places.
struct Side<'t> {
    id: &'t str,
    calls: Vec<(CallPlace, &'t Call)>,
}

impl<'t> Side<'t> {
    fn new(trajectory: &'t Trajectory) -> Self {
        let steps = trajectory.steps.iter().enumerate();
        let of_steps = steps.flat_map(|(step, content)| {
            content.calls.iter().enumerate().map(move |(call, found)| (step, call, found))
        });
        let placed = of_steps.enumerate();
        let calls = placed.map(|(index, (step, call, found))| (CallPlace { step, call, index }, found));
        Self { id: &trajectory.id, calls: calls.collect() }
    }

    fn place(&self, call: usize) -> Option<CallPlace> {
        self.calls.get(call).map(|(place, _)| *place)
    }

    /// The calls that read or make anything, with what they read and make. Reading the task's own picture counts only
    /// where files are made.
    fn calls(&self, flow: &SideFlow, makes_files: bool) -> Vec<CallFlow> {
        let mut made: HashMap<usize, Vec<String>> = HashMap::new();
        for version in &flow.lineage.versions {
            made.entry(version.call).or_default().push(cut(&version.path, NAME).into_owned());
        }
        let mut used: HashMap<usize, Vec<&ValueUse>> = HashMap::new();
        for value in &flow.values {
            used.entry(value.to).or_default().push(value);
        }
        let mut of_call = |(index, (place, call)): (usize, &(CallPlace, &Call))| {
            let mut reads = Vec::new();
            for mention in flow.lineage.mentions.get(index).into_iter().flatten() {
                let read = |kind: &str, maker: Option<usize>, is_of_same_step: bool| {
                    let name = text_at(call, &mention.pointer)?.get(mention.span.clone())?;
                    self.read((kind, name), (call, &mention.pointer), maker, is_of_same_step)
                };
                let maker = |version: usize| flow.lineage.versions.get(version).map(|it| it.call);
                match mention.role {
                    Role::Reads { version, is_of_step } => {
                        reads.extend(read("file", maker(version), is_of_step));
                    }
                    Role::Changes(version) if maker(version) != Some(index) => {
                        reads.extend(read("changed_file", maker(version), false));
                    }
                    Role::ReadsTaskImage if makes_files => reads.extend(read("task_image", None, false)),
                    _ => {}
                }
            }
            for used in used.remove(&index).unwrap_or_default() {
                // A file is listed as a file above.
                let mut mentions = flow.lineage.mentions.get(index).into_iter().flatten();
                if mentions.any(|mention| mention.pointer == used.pointer) {
                    continue;
                }
                let kind =
                    if matches!(used.origin, Origin::Name(_)) { "named_value" } else { "returned_value" };
                let name = m3_flow::plain_value(&used.value);
                reads.extend(self.read((kind, &name), (call, &used.pointer), Some(used.from), false));
            }
            let (reads, more_reads) =
                first(reads, |a, b| (&a.kind, &a.name, a.maker) == (&b.kind, &b.name, b.maker));
            let (makes, more_makes) = first(made.remove(&index).unwrap_or_default(), PartialEq::eq);
            let is_any = !reads.is_empty() || !makes.is_empty();
            is_any.then_some(CallFlow { call: *place, reads, more_reads, makes, more_makes })
        };
        self.calls.iter().enumerate().filter_map(&mut of_call).collect()
    }

    fn read(
        &self,
        (kind, name): (&str, &str),
        (call, pointer): (&Call, &str),
        maker: Option<usize>,
        is_of_same_step: bool,
    ) -> Option<ReadAudit> {
        // A value whose maker is not among the calls is left out.
        let maker = match maker {
            Some(maker) => Some(self.place(maker)?),
            None => None,
        };
        Some(ReadAudit {
            kind: kind.to_owned(),
            argument: cut(&Place::of(call.arguments.as_ref(), pointer).name, NAME).into_owned(),
            name: cut(name, NAME).into_owned(),
            maker,
            is_of_same_step,
        })
    }

    /// The part of a call's result that holds its first picture.
    fn picture_part(&self, call: usize) -> Option<usize> {
        let parts = result_parts(self.calls.get(call)?.1.result.as_ref()?)?;
        parts.iter().position(|part| recorded_picture(part, self.id).is_some())
    }

    fn picture(&self, call: usize, part: usize) -> Option<RecordedPicture> {
        let parts = result_parts(self.calls.get(call)?.1.result.as_ref()?)?;
        recorded_picture(parts.get(part)?, self.id)
    }

    fn artifact(&self, left: &LeftArtifact) -> Option<ArtifactAudit> {
        let part = left.pictured_by.and_then(|call| self.picture_part(call));
        Some(ArtifactAudit {
            maker: self.place(left.call)?,
            name: left.name.as_ref().map(|name| cut(name, NAME).into_owned()),
            pictured_by: part.and(left.pictured_by).and_then(|call| self.place(call)),
            picture_part: part,
        })
    }
}

/// The text in the arguments of a call that a pointer leads to.
fn text_at<'c>(call: &'c Call, pointer: &str) -> Option<&'c str> {
    call.arguments.as_ref()?.pointer(pointer).and_then(Json::as_str)
}

/// The first [`OF_CALL`] different items, and the number of further ones.
fn first<T>(all: Vec<T>, is_same: impl Fn(&T, &T) -> bool) -> (Vec<T>, usize) {
    let (mut kept, mut more): (Vec<T>, usize) = (Vec::new(), 0);
    for item in all {
        if kept.iter().any(|known| is_same(known, &item)) {
            continue;
        }
        if kept.len() < OF_CALL {
            kept.push(item);
        } else {
            more += 1;
        }
    }
    (kept, more)
}

/// Compares pictures of both sides.
struct PictureComparer<'a> {
    sides: &'a [Side<'a>; 2],
    pictures: Option<&'a ResultPictures>,
    /// How many pairs may still be compared.
    left: usize,
}

impl PictureComparer<'_> {
    /// The results of two calls, if both are recorded.
    fn results(&mut self, calls: (usize, usize), are_same: Option<bool>) -> Option<ResultPair> {
        self.pictures?;
        let (reference, expected) = *self.sides[0].calls.get(calls.0)?;
        let (predicted, made) = *self.sides[1].calls.get(calls.1)?;
        let (a, b) =
            (read_result(expected.result.as_ref()?, PICTURES), read_result(made.result.as_ref()?, PICTURES));
        let part = |pictures: &[(usize, _)], at: usize| pictures.get(at).map(|(part, _)| *part);
        let count = a.pictures.len().max(b.pictures.len());
        let parts: Vec<_> = (0..count).map(|at| (part(&a.pictures, at), part(&b.pictures, at))).collect();
        let pictures = parts.into_iter().map(|(own, given)| PicturePair {
            reference_part: own,
            predicted_part: given,
            difference: own
                .zip(given)
                .and_then(|(own, given)| self.difference((calls.0, own), (calls.1, given))),
        });
        Some(ResultPair {
            reference,
            predicted,
            are_same,
            reference_text: cut(&a.text, TEXT).into_owned(),
            predicted_text: cut(&b.text, TEXT).into_owned(),
            pictures: pictures.collect(),
        })
    }

    /// How the pictures in parts of two results differ.
    fn difference(
        &mut self,
        reference: (usize, usize),
        predicted: (usize, usize),
    ) -> Option<PictureDifference> {
        self.left = self.left.checked_sub(1)?;
        let reference = self.sides[0].picture(reference.0, reference.1)?;
        let predicted = self.sides[1].picture(predicted.0, predicted.1)?;
        let [a, b] = self.pictures?.both(&reference, &predicted)?;
        Some(PictureDifference {
            changed: compare(&a, &b).changed,
            reference_size: a.dimensions(),
            predicted_size: b.dimensions(),
        })
    }

    /// Whether a picture in parts of two results cannot be read.
    fn is_unreadable(&self, reference: (usize, usize), predicted: (usize, usize)) -> bool {
        let at = [(ResultSide::Reference, reference), (ResultSide::Prediction, predicted)];
        at.into_iter().zip(self.sides).any(|((side, (call, part)), trajectory)| {
            let picture = trajectory.picture(call, part);
            picture.zip(self.pictures).is_some_and(|(picture, pictures)| pictures.is_missing(side, &picture))
        })
    }

    fn left(&mut self, left: &LeftBehind) -> LeftAudit {
        let artifacts = |side: &Side<'_>, list: &[LeftArtifact]| -> Vec<ArtifactAudit> {
            list.iter().filter_map(|it| side.artifact(it)).collect()
        };
        let (own, given) =
            (artifacts(&self.sides[0], &left.references), artifacts(&self.sides[1], &left.predictions));
        let picture = |of: &ArtifactAudit| Some((of.pictured_by?.index, of.picture_part?));
        let pairs = left.pairs.iter().map(|pair| {
            let pictures =
                own.get(pair.reference).and_then(picture).zip(given.get(pair.predicted).and_then(picture));
            let difference = pictures.and_then(|(a, b)| self.difference(a, b));
            ArtifactPair {
                reference: pair.reference,
                predicted: pair.predicted,
                likeness: pair.likeness.likeness,
                are_same: pair.likeness.is_same,
                is_unreadable: difference.is_none()
                    && pictures.is_some_and(|(a, b)| self.is_unreadable(a, b)),
                difference,
            }
        });
        LeftAudit {
            agreement: left.agreement.map(|it| it + 0.0),
            pairs: pairs.collect(),
            reference: own,
            prediction: given,
        }
    }
}

/// The pairs of a reference call and a predicted call whose arguments a score compares, by their indices.
pub(super) fn compared_calls(score: &TrajectoryReport) -> Vec<(usize, usize)> {
    let of_matches =
        score.matches.iter().map(|pair| (pair.reference, pair.compared_with.unwrap_or(pair.predicted)));
    let further = score.further_pairs.iter().map(|pair| (pair.reference, pair.predicted));
    of_matches.chain(further).map(|(reference, predicted)| (reference.index, predicted.index)).collect()
}
