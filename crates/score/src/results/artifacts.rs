//! What a trajectory leaves behind: pictures that no later call reads and nothing takes the place of, or else what its last
//! step returned; and how well two sets agree.

use std::collections::BTreeSet;

use m3_flow::{Role, looks_by_name};

use super::pictures::Likeness;
use super::{ComparePictures, PairResults, Side};
use crate::assign::{Side as Rows, assign};
use crate::matrix::Matrix;

/// So many artifacts of a side are compared; further ones agree with nothing.
const MOST: usize = 64;

/// How well what two trajectories leave behind agrees.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Agreement {
    /// The sum of likenesses over the larger number of artifacts, in [0, 1]; `None` where nothing is left behind, or a picture
    /// cannot be had.
    pub(super) value: Option<f64>,
    /// For each artifact of the reference: the calls that lead to it.
    leading: Vec<BTreeSet<usize>>,
    /// For each artifact of the prediction.
    predicted_leading: Vec<BTreeSet<usize>>,
    /// Artifacts that are the same, of the reference and of the prediction.
    same: Vec<(usize, usize)>,
}

impl Agreement {
    pub(super) fn new(results: &PairResults, pictures: Option<&dyn ComparePictures>) -> Self {
        let (references, predictions) = (&results.references, &results.predictions);
        let (mut wanted, mut left) = (pictures_left(references), pictures_left(predictions));
        let are_pictures = !(wanted.is_empty() && left.is_empty());
        if !are_pictures {
            (wanted, left) = (last_results(references), last_results(predictions));
        }
        let most = wanted.len().max(left.len());
        if most == 0 {
            return Self::default();
        }
        wanted.truncate(MOST);
        left.truncate(MOST);
        let pairs =
            wanted.iter().flat_map(|&reference| left.iter().map(move |&predicted| (reference, predicted)));
        let Some(found) =
            pairs.map(|pair| results.compare(pair, pictures)).collect::<Option<Vec<Likeness>>>()
        else {
            return Self::default();
        };
        let columns = left.len();
        let likeness =
            Matrix::from_fn(wanted.len(), columns, |row, column| found[row * columns + column].likeness);
        let classes: Vec<usize> = (0..MOST).collect();
        let steps = vec![0; MOST];
        let side = |count: usize| Rows { classes: &classes[..count], steps: &steps[..count] };
        // The largest sum, not the largest number: every pair is allowed.
        let pairs = assign(&likeness, 0.0, side(wanted.len()), side(left.len())).unwrap_or_default();
        let sum: f64 = pairs.iter().map(|&pair| likeness[pair]).sum();
        let leading = |side: &Side, artifacts: &[usize]| {
            artifacts.iter().map(|&call| calls_leading_to(side, call)).collect()
        };
        Self {
            value: Some((sum / most as f64).clamp(0.0, 1.0)),
            leading: leading(references, &wanted),
            predicted_leading: leading(predictions, &left),
            same: pairs.into_iter().filter(|(row, column)| found[row * columns + column].is_same).collect(),
        }
    }

    /// Whether all that a reference call leads to is left behind by the prediction too.
    pub(super) fn has_all_of(&self, reference: usize) -> bool {
        let mut artifacts =
            (0..self.leading.len()).filter(|&row| self.leading[row].contains(&reference)).peekable();
        artifacts.peek().is_some() && artifacts.all(|row| self.same.iter().any(|(same, _)| *same == row))
    }

    /// Whether a reference call and a predicted call lead to the same artifacts, and to some.
    pub(super) fn lead_to_same(&self, reference: usize, predicted: usize) -> bool {
        let rows = (0..self.leading.len()).filter(|&row| self.leading[row].contains(&reference)).count();
        let columns = self.predicted_leading.iter().filter(|leading| leading.contains(&predicted)).count();
        let both = self.same.iter().filter(|(row, column)| {
            self.leading[*row].contains(&reference) && self.predicted_leading[*column].contains(&predicted)
        });
        rows > 0 && rows == columns && both.count() == rows
    }
}

/// The calls whose pictures are left behind. A call that only looks makes none.
fn pictures_left(side: &Side) -> Vec<usize> {
    let is_left = |(index, call): (usize, &super::RecordedCall)| {
        let result = call.result.as_ref().filter(|result| !result.pictures.is_empty())?;
        let own = || side.lineage.versions.iter().enumerate().filter(|(_, version)| version.call == index);
        let tool = call.tool.split_once('/').map_or(call.tool.as_str(), |(_, tool)| tool);
        let is_left = match own().next() {
            Some(_) => own().any(|(version, _)| side.lineage.is_left(version)),
            None => !looks_by_name(tool),
        };
        (is_left && !result.pictures.is_empty()).then_some(index)
    };
    side.calls.iter().enumerate().filter_map(is_left).collect()
}

/// The calls of the last step whose results say something.
fn last_results(side: &Side) -> Vec<usize> {
    let last = side.calls.iter().map(|call| call.step).max();
    let calls = side.calls.iter().enumerate().filter(|(_, call)| Some(call.step) == last);
    let tells = |call: &super::RecordedCall| call.result.as_ref().is_some_and(|result| !result.is_plain);
    calls.filter(|(_, call)| tells(call)).map(|(index, _)| index).collect()
}

/// A call and all calls whose files it needs.
fn calls_leading_to(side: &Side, call: usize) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::from([call]), vec![call]);
    while let Some(call) = open.pop() {
        for mention in side.lineage.mentions.get(call).into_iter().flatten() {
            if let Role::Reads { version, .. } = mention.role
                && let Some(made) = side.lineage.versions.get(version)
                && found.insert(made.call)
            {
                open.push(made.call);
            }
        }
    }
    found
}
