//! Reads labelled pairs: [`LabelFile`]. Arguments stay as the file has them, since every digit is embedded.

use std::collections::HashSet;
use std::path::Path;

use crate::judge::labels::{LABELS_SCHEMA, Label, Labels, PersonLabel};
use crate::text::shortened;
use crate::trajectory::json::Json;
use crate::trajectory::{WholeFile, WholeFileError};

/// Larger files are not read, in MiB.
const LARGEST: u64 = 256;

/// A file of labels cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LabelFileError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] WholeFileError),
    /// It has something else in it.
    #[error("`{name}` has no labels of pairs: {message}\nhint: `m3 review --label PRED REF` collects them")]
    Content {
        /// The file.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// Nothing in it can be used.
    #[error(
        "`{name}` has no pair that people agree on\nhint: each pair should have labels, more of one kind than of others"
    )]
    NoMajority {
        /// The file.
        name: String,
    },
}

/// A pair with the label that most people give it.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledArguments {
    /// Names it.
    pub id: String,
    /// The tool as `server/tool`.
    pub tool: String,
    /// The arguments of the reference's call.
    pub reference: Json,
    /// The arguments of the predicted call.
    pub predicted: Json,
    /// What most people say.
    pub label: Label,
}

/// Who says what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSummary {
    /// Pairs in the file.
    pub pairs: usize,
    /// Different names of people.
    pub people: usize,
    /// Pairs without any label.
    pub unlabelled: Vec<String>,
    /// Pairs where no label has more votes than every other; they are left out.
    pub ties: Vec<String>,
    /// Pairs where people say different things and most of them one.
    pub disagreements: Vec<String>,
}

/// A file of labels.
#[derive(Debug)]
pub struct LabelFile {
    /// The pairs that can be used.
    pub pairs: Vec<LabelledArguments>,
    /// Of each pair of the file, what people say: 0 weak, 1 medium, 2 strong.
    pub votes: Vec<Vec<Option<f64>>>,
    /// The rest.
    pub summary: LabelSummary,
}

impl LabelFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`LabelFileError`].
    pub fn read(path: &Path) -> Result<Self, LabelFileError> {
        let file = WholeFile::read(path, LARGEST)?;
        let name = file.name.clone();
        let found = Self::of(&file.value)
            .map_err(|message| LabelFileError::Content { name: name.clone(), message })?;
        if found.pairs.is_empty() { Err(LabelFileError::NoMajority { name }) } else { Ok(found) }
    }

    fn of(json: &Json) -> Result<Self, String> {
        let value = json.to_value().ok_or("its numbers cannot be used")?;
        let labels: Labels =
            serde_json::from_value(value).map_err(|error| shortened(&error.to_string(), 200))?;
        if labels.schema != LABELS_SCHEMA {
            let found = shortened(&labels.schema, 60);
            return Err(format!("its schema is `{found}`, and should be `{LABELS_SCHEMA}`"));
        }
        let Some(Json::Array(raw)) = json.get("pairs") else { return Err("it has no `pairs`".to_owned()) };
        let (mut ids, mut people) = (HashSet::new(), HashSet::new());
        let mut found = Self { pairs: Vec::new(), votes: Vec::new(), summary: LabelSummary::default() };
        for (pair, raw) in labels.pairs.into_iter().zip(raw) {
            let shown = shortened(&pair.id, 100);
            if !ids.insert(pair.id.clone()) {
                return Err(format!("the pair `{shown}` stands in it twice"));
            }
            let mut names = HashSet::new();
            if let Some(twice) = pair.labels.iter().find(|label| !names.insert(label.name.as_str())) {
                return Err(format!("`{}` labels the pair `{shown}` twice", shortened(&twice.name, 100)));
            }
            people.extend(pair.labels.iter().map(|label| label.name.clone()));
            found.votes.push(pair.labels.iter().map(|label| Some(grade(label.label))).collect());
            let summary = &mut found.summary;
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
            let side = |key: &str| raw.get(key).cloned().unwrap_or(Json::Null);
            let (reference, predicted) = (side("reference"), side("predicted"));
            found.pairs.push(LabelledArguments { id: pair.id, tool: pair.tool, reference, predicted, label });
        }
        found.summary.people = people.len();
        Ok(found)
    }
}

/// The place of a label in their order.
fn grade(label: Label) -> f64 {
    match label {
        Label::Weak => 0.0,
        Label::Medium => 1.0,
        Label::Strong => 2.0,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::json::parse;

    fn file(pairs: &str) -> Result<LabelFile, String> {
        let text = format!(r#"{{"schema": "m3.labels/1", "pairs": [{pairs}]}}"#);
        LabelFile::of(&parse(text.as_bytes()).unwrap().0)
    }

    fn pair(id: &str, labels: &[&str]) -> String {
        let labels: Vec<String> = labels
            .iter()
            .enumerate()
            .map(|(person, label)| format!(r#"{{"name": "p{person}", "label": "{label}"}}"#))
            .collect();
        format!(
            r#"{{"id": "{id}", "tool": "s/t", "reference": {{"x": 1.50}}, "predicted": {{}}, "labels": [{}]}}"#,
            labels.join(",")
        )
    }

    #[test]
    fn most_people_decide_and_ties_are_left_out() {
        let pairs = [
            pair("all", &["strong", "strong"]),
            pair("most", &["weak", "strong", "weak"]),
            pair("tie", &["weak", "strong"]),
            pair("three", &["weak", "medium", "strong"]),
            pair("none", &[]),
        ];
        let found = file(&pairs.join(",")).unwrap();
        let labels: Vec<(&str, Label)> =
            found.pairs.iter().map(|pair| (pair.id.as_str(), pair.label)).collect();
        assert_eq!(labels, [("all", Label::Strong), ("most", Label::Weak)]);
        let LabelSummary { pairs, people, unlabelled, ties, disagreements } = found.summary;
        assert_eq!((pairs, people), (5, 3));
        assert_eq!((unlabelled, disagreements), (vec!["none".to_owned()], vec!["most".to_owned()]));
        assert_eq!(ties, ["tie", "three"]);
        // As it was written: `1.50` is no `1.5` to an encoder of texts.
        let text = found.pairs[0].reference.to_text(crate::trajectory::json::Keys::AsRead);
        assert!(text.contains("1.5"), "{text}");
    }

    #[test]
    fn what_is_no_file_of_labels_is_said() {
        assert!(file(&[pair("a", &["weak"]), pair("a", &["weak"])].join(",")).unwrap_err().contains("twice"));
        assert!(file(&pair("a", &["strongly"])).is_err());
        let other = parse(br#"{"schema": "m3.score/1", "pairs": []}"#).unwrap().0;
        assert!(LabelFile::of(&other).unwrap_err().contains("m3.score/1"));
        assert!(LabelFile::of(&Json::Null).is_err());
    }
}
