//! The agreement of what two trajectories leave behind.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::left_behind::{Artifact, DEEPEST, all_left_behind, calls_leading_to};
use super::pictures::Likeness;
use super::{ComparePictures, PairResults, Side};
use crate::assign::{Side as Rows, assign};
use crate::matrix::Matrix;

/// The most artifacts of a side that are compared with all of the other side. If there are more, those with equal keys
/// are matched first; of the rest, all beyond this number agree with nothing.
pub(super) const MOST: usize = 64;

/// The most artifacts of a side that are looked at; further ones agree with nothing.
const MOST_IN_ALL: usize = 1024;

/// The agreement of what two trajectories leave behind.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Agreement {
    /// The sum of likenesses over the larger number of artifacts, in [0, 1]; `None` where nothing is left behind, or a picture
    /// of the reference cannot be had.
    pub(super) value: Option<f64>,
    /// For each artifact of the reference, and of the prediction: the calls that lead to it.
    leading: [Vec<BTreeSet<usize>>; 2],
    /// Artifacts that are the same, of the reference and of the prediction.
    same: Vec<(usize, usize)>,
    /// What the reference and what the prediction leaves behind; at most [`MOST_IN_ALL`] of each.
    pub(super) artifacts: [Vec<Artifact>; 2],
    /// The matched artifacts, by their places in `artifacts`, and their likeness.
    pub(super) pairs: Vec<((usize, usize), Likeness)>,
}

impl Agreement {
    /// Compares what both sides leave behind; `is_paired` says which predicted calls are compared with a reference
    /// call.
    pub(super) fn new(
        results: &PairResults,
        is_paired: &dyn Fn(usize) -> bool,
        pictures: Option<&dyn ComparePictures>,
    ) -> Self {
        let (references, predictions) = (&results.references, &results.predictions);
        let [mut wanted, mut left] = all_left_behind(results, is_paired);
        let most = wanted.len().max(left.len());
        if most == 0 {
            return Self::default();
        }
        wanted.truncate(MOST_IN_ALL);
        left.truncate(MOST_IN_ALL);
        let mut likenesses =
            Comparer { results, pictures, known: HashMap::new(), known_files: HashMap::new() };
        let Some(pairs) = likenesses.best_pairs(&wanted, &left) else {
            return Self { artifacts: [wanted, left], ..Self::default() };
        };
        let sum: f64 = pairs.iter().map(|(_, found)| found.likeness).sum();
        let leading = |side: &Side, artifacts: &[Artifact]| {
            artifacts.iter().map(|&artifact| calls_leading_to(side, artifact)).collect()
        };
        Self {
            value: Some((sum / most as f64).clamp(0.0, 1.0)),
            leading: [leading(references, &wanted), leading(predictions, &left)],
            same: pairs.iter().filter(|(_, found)| found.is_same).map(|(pair, _)| *pair).collect(),
            artifacts: [wanted, left],
            pairs,
        }
    }

    /// Drops matches of answers that tell nothing, such as `ok`; `is_telling` says of each reference call whether its
    /// result tells something.
    pub(super) fn keep_telling(&mut self, is_telling: &[bool]) {
        let wanted = &self.artifacts[0];
        self.same.retain(|(row, _)| match wanted.get(*row) {
            Some(Artifact::Result(call)) => is_telling.get(*call).copied().unwrap_or_default(),
            _ => true,
        });
    }

    /// Whether all that a reference call leads to is left behind by the prediction too.
    pub(super) fn has_all_of(&self, reference: usize) -> bool {
        let leading = &self.leading[0];
        let mut artifacts = (0..leading.len()).filter(|&row| leading[row].contains(&reference)).peekable();
        artifacts.peek().is_some()
            && artifacts.all(|row| self.same.binary_search_by_key(&row, |(same, _)| *same).is_ok())
    }

    /// Whether a reference call and a predicted call lead to the same artifacts, at least to one.
    pub(super) fn lead_to_same(&self, reference: usize, predicted: usize) -> bool {
        let [leading, others] = &self.leading;
        let rows = leading.iter().filter(|calls| calls.contains(&reference)).count();
        let columns = others.iter().filter(|calls| calls.contains(&predicted)).count();
        let leads = |(row, column): &&(usize, usize)| {
            leading[*row].contains(&reference) && others[*column].contains(&predicted)
        };
        rows > 0 && rows == columns && self.same.iter().filter(leads).count() == rows
    }
}

/// Compares artifacts, and what they are made of.
struct Comparer<'a> {
    results: &'a PairResults,
    pictures: Option<&'a dyn ComparePictures>,
    known: HashMap<(usize, usize), Option<Likeness>>,
    /// The likenesses of files, by their versions.
    known_files: HashMap<(usize, usize), Option<Likeness>>,
}

impl Comparer<'_> {
    /// The pairs of artifacts, by their places, with the largest sum of likenesses; `None` where a picture cannot be had.
    fn best_pairs(
        &mut self,
        wanted: &[Artifact],
        left: &[Artifact],
    ) -> Option<Vec<((usize, usize), Likeness)>> {
        let is_many = wanted.len().max(left.len()) > MOST;
        let mut pairs = if is_many { self.same_by_calls(wanted, left) } else { Vec::new() };
        let (taken, taken_left): (HashSet<usize>, HashSet<usize>) =
            pairs.iter().map(|(pair, _)| *pair).unzip();
        let rest = |count: usize, taken: &HashSet<usize>| -> Vec<usize> {
            (0..count).filter(|at| !taken.contains(at)).take(MOST).collect()
        };
        let (rows, columns) = (rest(wanted.len(), &taken), rest(left.len(), &taken_left));
        let mut all: Vec<Likeness> = Vec::with_capacity(rows.len() * columns.len());
        for &row in &rows {
            for &column in &columns {
                all.push(self.compare((wanted[row], left[column]))?);
            }
        }
        let at = |row: usize, column: usize| all[row * columns.len() + column];
        let likeness = Matrix::from_fn(rows.len(), columns.len(), |row, column| at(row, column).likeness);
        let classes: Vec<usize> = (0..MOST).collect();
        let steps = vec![0; MOST];
        let side = |count: usize| Rows { classes: &classes[..count], steps: &steps[..count] };
        // The largest sum, not the largest number: every pair is allowed.
        let assigned = assign(&likeness, 0.0, side(rows.len()), side(columns.len())).unwrap_or_default();
        pairs.extend(
            assigned.into_iter().map(|(row, column)| ((rows[row], columns[column]), at(row, column))),
        );
        pairs.sort_by_key(|(pair, _)| *pair);
        Some(pairs)
    }

    /// Pairs of artifacts, by their places, that have equal keys and are the same.
    fn same_by_calls(&mut self, wanted: &[Artifact], left: &[Artifact]) -> Vec<((usize, usize), Likeness)> {
        let key = |side: &Side, artifact: Artifact| match artifact {
            Artifact::File(version) => {
                side.contents.get(version).map(|content| content.key.to_le_bytes().to_vec())
            }
            Artifact::Result(call) => side.result(call).map(|result| result.digest.to_vec()),
        };
        let mut by_key: HashMap<Vec<u8>, VecDeque<usize>> = HashMap::new();
        for (at, &artifact) in left.iter().enumerate() {
            if let Some(key) = key(&self.results.predictions, artifact) {
                by_key.entry(key).or_default().push_back(at);
            }
        }
        let mut pairs = Vec::new();
        for (row, &artifact) in wanted.iter().enumerate() {
            let same = key(&self.results.references, artifact).and_then(|key| by_key.get_mut(&key));
            let Some((column, same)) = same.and_then(|same| Some((*same.front()?, same))) else { continue };
            if let Some(found) = self.compare((artifact, left[column])).filter(|found| found.is_same) {
                pairs.push(((row, column), found));
                same.pop_front();
            }
        }
        pairs
    }

    /// The likeness of two artifacts; `None` where a picture cannot be had. An artifact that replaced the task's own
    /// image has nothing in common with one that did not.
    fn compare(&mut self, pair: (Artifact, Artifact)) -> Option<Likeness> {
        let (references, predictions) = (&self.results.references, &self.results.predictions);
        if references.replaces_task_image(pair.0) != predictions.replaces_task_image(pair.1) {
            return Some(Likeness::NONE);
        }
        if let (Artifact::File(reference), Artifact::File(predicted)) = pair {
            return self.files((reference, predicted), 0);
        }
        let shows = |side: &Side, artifact: Artifact| match artifact {
            Artifact::File(version) => side.picture_of(version, 0),
            Artifact::Result(call) => Some(call),
        };
        match shows(references, pair.0).zip(shows(predictions, pair.1)) {
            Some(calls) => self.calls(calls),
            None => Some(Likeness::NONE),
        }
    }

    fn calls(&mut self, calls: (usize, usize)) -> Option<Likeness> {
        let (results, pictures) = (self.results, self.pictures);
        let compare = || {
            let likeness = results.compare(calls, pictures);
            // A prediction cannot hide what it leaves behind.
            let is_hidden = || pictures.is_some_and(|it| results.lacks_predicted_pictures(calls, it));
            likeness.or_else(|| is_hidden().then_some(Likeness::NONE))
        };
        let likeness = (*self.known.entry(calls).or_insert_with(compare))?;
        if !likeness.is_same || results.references.has_pictures(calls.0) {
            return Some(likeness);
        }
        // Answers that name files are the same if the files are.
        let own = &results.references.result(calls.0)?.files;
        let given = results.predictions.result(calls.1)?.files.clone();
        self.files_in_any_order(own, given)
    }

    /// The likeness of the files that two answers name, in any order.
    fn files_in_any_order(&mut self, own: &[usize], mut given: Vec<usize>) -> Option<Likeness> {
        for (at, &file) in own.iter().enumerate().take(MOST) {
            for other in at..given.len().min(MOST) {
                if self.files((file, given[other]), 1)?.is_same {
                    given.swap(at, other);
                    break;
                }
            }
        }
        self.all_files(own, &given, 0)
    }

    /// The likeness of files that are compared one by one: that of the least alike pair.
    fn all_files(&mut self, own: &[usize], given: &[usize], depth: usize) -> Option<Likeness> {
        if own.len() != given.len() {
            return Some(Likeness::NONE);
        }
        let mut all = Likeness::EQUAL;
        for (&a, &b) in own.iter().zip(given) {
            all = all.least(self.files((a, b), depth + 1)?);
        }
        Some(all)
    }

    /// The likeness of two files: that of the pictures that their makers returned. Files without pictures are compared
    /// by what their makers were asked for, and are as alike as the files that they were made from.
    fn files(&mut self, (reference, predicted): (usize, usize), depth: usize) -> Option<Likeness> {
        let (references, predictions) = (&self.results.references, &self.results.predictions);
        let (own, given) = (references.picture_of(reference, 0), predictions.picture_of(predicted, 0));
        if let (Some(own), Some(given)) = (own, given) {
            return self.calls((own, given));
        }
        if own.is_some() || given.is_some() {
            return Some(Likeness::NONE);
        }
        let (own, given) = (references.contents.get(reference)?, predictions.contents.get(predicted)?);
        let is_alike = if depth > DEEPEST { own.key == given.key } else { own.signature == given.signature };
        if depth > DEEPEST || !is_alike {
            return Some(if is_alike { Likeness::EQUAL } else { Likeness::NONE });
        }
        if let Some(known) = self.known_files.get(&(reference, predicted)) {
            return *known;
        }
        // The inputs of files may lead back to these files: they then count as equal, unless something else differs.
        self.known_files.insert((reference, predicted), Some(Likeness::EQUAL));
        let likeness = self.all_files(&own.inputs.clone(), &given.inputs.clone(), depth);
        self.known_files.insert((reference, predicted), likeness);
        likeness
    }
}
