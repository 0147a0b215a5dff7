//! The majority labels of labelled pairs: [`MajorityLabels`].

use std::collections::{HashMap, HashSet};
use std::path::Path;

use m3_embedding::{Embedder, EncoderError, InputKey, cosine};
use m3_judge::labels::{Label, Labels, LabelsError, PersonLabel};
use m3_score::Serializer;
use m3_trajectory::json::Json;

/// The error of a file of labels that cannot be used to choose thresholds.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MajorityError {
    /// The file cannot be read.
    #[error(transparent)]
    Labels(#[from] LabelsError),
    /// The file has no pair with a majority label.
    #[error(
        "`{name}` has no pair that people agree on\nhint: each pair should have labels, more of one kind than of others"
    )]
    NoMajority {
        /// The name of the file.
        name: String,
    },
}

/// A pair with the label that most people give it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LabelledArguments {
    /// The pair's id.
    pub(crate) id: String,
    /// The tool as `server/tool`.
    pub(crate) tool: String,
    /// The arguments of the reference's call.
    pub(crate) reference: Json,
    /// The arguments of the predicted call.
    pub(crate) predicted: Json,
    /// The majority label.
    pub(crate) label: Label,
}

/// Counts of the labels in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LabelSummary {
    /// The number of pairs in the file.
    pub(crate) pairs: usize,
    /// The number of different names of people.
    pub(crate) people: usize,
    /// The ids of pairs without any label.
    pub(crate) unlabelled: Vec<String>,
    /// The ids of pairs in which no label has more votes than every other; they are left out.
    pub(crate) ties: Vec<String>,
    /// The ids of pairs in which people disagree but most give the same label.
    pub(crate) disagreements: Vec<String>,
}

/// The pairs of a file with their majority labels.
pub(crate) struct MajorityLabels {
    /// The pairs that have a majority label.
    pub(crate) pairs: Vec<LabelledArguments>,
    /// For each pair of the file, the labels that people give: 0 weak, 1 medium, 2 strong.
    pub(crate) votes: Vec<Vec<Option<f64>>>,
    /// Counts of the labels.
    pub(crate) summary: LabelSummary,
}

impl MajorityLabels {
    /// Reads a file of labels and finds the majority label of each pair.
    ///
    /// # Errors
    /// [`MajorityError`].
    pub(crate) fn read(path: &Path) -> Result<Self, MajorityError> {
        let (labels, name) = Labels::read(path)?;
        let labels = Self::of(labels);
        if labels.pairs.is_empty() { Err(MajorityError::NoMajority { name }) } else { Ok(labels) }
    }

    pub(super) fn of(labels: Labels) -> Self {
        let mut people = HashSet::new();
        let mut majority_labels =
            Self { pairs: Vec::new(), votes: Vec::new(), summary: LabelSummary::default() };
        for pair in labels.pairs {
            people.extend(pair.labels.iter().map(|label| label.name.clone()));
            majority_labels
                .votes
                .push(pair.labels.iter().map(|label| Some(f64::from(label.label as u8))).collect());
            let summary = &mut majority_labels.summary;
            summary.pairs += 1;
            if pair.labels.is_empty() {
                summary.unlabelled.push(pair.id);
                continue;
            }
            let Some(label) = majority(&pair.labels) else {
                summary.ties.push(pair.id);
                continue;
            };
            if pair.labels.iter().any(|other| other.label != label) {
                summary.disagreements.push(pair.id.clone());
            }
            majority_labels.pairs.push(LabelledArguments {
                id: pair.id,
                tool: pair.tool,
                reference: pair.reference,
                predicted: pair.predicted,
                label,
            });
        }
        majority_labels.summary.people = people.len();
        majority_labels
    }
}

/// The label that more people give than any other.
fn majority(labels: &[PersonLabel]) -> Option<Label> {
    let votes = |wanted: Label| labels.iter().filter(|label| label.label == wanted).count();
    let all = [Label::Weak, Label::Medium, Label::Strong];
    let most = all.map(votes).into_iter().max().unwrap_or_default();
    let mut leading = all.into_iter().filter(|label| votes(*label) == most);
    leading.next().filter(|_| most > 0 && leading.next().is_none())
}

/// The similarity of each pair, in [-1, 1]: the cosine of the embeddings of the two serialized arguments.
///
/// # Errors
/// [`EncoderError`].
pub(crate) fn similarities(
    pairs: &[LabelledArguments],
    serializer: &Serializer<'_>,
    embedder: &mut Embedder,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<f64>, EncoderError> {
    let text = |pair: &LabelledArguments, arguments| serializer.text(&pair.tool, Some(arguments));
    let texts: Vec<String> =
        pairs.iter().flat_map(|pair| [text(pair, &pair.reference), text(pair, &pair.predicted)]).collect();
    cosines(&texts, embedder, progress)
}

/// The cosine of each two consecutive texts, in [-1, 1]; 1 only if the encoder cannot distinguish them.
///
/// # Errors
/// [`EncoderError`].
pub(super) fn cosines(
    texts: &[String],
    embedder: &mut Embedder,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<f64>, EncoderError> {
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let inputs = embedder.inputs(&borrowed)?;
    let wanted: HashMap<InputKey, &str> = inputs.iter().copied().zip(borrowed).collect();
    let wanted: Vec<(InputKey, &str)> = wanted.into_iter().collect();
    embedder.embed(&wanted, progress)?;
    let embedder = &*embedder;
    let similarity = |pair: &[InputKey]| {
        // As in the alignment: only texts that the encoder cannot distinguish have similarity 1.
        if pair[0] == pair[1] {
            return 1.0;
        }
        cosine(embedder.vector(&pair[0]), embedder.vector(&pair[1])).min(1.0 - f64::EPSILON)
    };
    Ok(inputs.chunks_exact(2).map(similarity).collect())
}

#[cfg(test)]
mod tests {
    use m3_judge::labels::LabelledPair;

    use super::*;

    fn pair(id: &str, labels: &[Label]) -> LabelledPair {
        let label = |(person, label): (usize, &Label)| PersonLabel {
            name: format!("p{person}"),
            label: *label,
            time: None,
        };
        LabelledPair {
            id: id.to_owned(),
            tool: "s/t".to_owned(),
            reference: Json::Integer(1),
            predicted: Json::LongInteger("12345678901234567890123".to_owned()),
            labels: labels.iter().enumerate().map(label).collect(),
        }
    }

    #[test]
    fn most_people_decide_and_ties_are_left_out() {
        use Label::{Medium, Strong, Weak};
        let pairs = vec![
            pair("all", &[Strong, Strong]),
            pair("most", &[Weak, Strong, Weak]),
            pair("tie", &[Weak, Strong]),
            pair("three", &[Weak, Medium, Strong]),
            pair("none", &[]),
        ];
        let found = MajorityLabels::of(Labels { pairs, ..Labels::empty() });
        let labels: Vec<(&str, Label)> =
            found.pairs.iter().map(|pair| (pair.id.as_str(), pair.label)).collect();
        assert_eq!(labels, [("all", Strong), ("most", Weak)]);
        assert_eq!(found.pairs[0].predicted, Json::LongInteger("12345678901234567890123".to_owned()));
        let LabelSummary { pairs, people, unlabelled, ties, disagreements } = found.summary;
        assert_eq!((pairs, people), (5, 3));
        assert_eq!((unlabelled, disagreements), (vec!["none".to_owned()], vec!["most".to_owned()]));
        assert_eq!(ties, ["tie", "three"]);
    }
}
