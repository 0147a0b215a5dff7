//! Pairs of calls that people have labelled by how alike they are (M³-Bench, section 6.4): `m3 review --label` collects
//! them, `m3 calibrate` and `m3 fidelity` read them.
//!
//! Arguments are [`Json`], which keeps every digit of a number: encoders see every digit, and thresholds are chosen by
//! the similarities that they compute.

use std::collections::HashSet;
use std::path::Path;

use m3_support::text::shortened;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{WholeFile, WholeFileError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The schema of the file.
pub const LABELS_SCHEMA: &str = "m3.labels/1";

/// Larger files are refused, in MiB: no group of people writes that many labels.
const LARGEST: u64 = 256;

/// Why a file of labels cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LabelsError {
    /// The file cannot be read, or is not JSON.
    #[error(transparent)]
    File(#[from] WholeFileError),
    /// The file has no labels of pairs, or has wrong ones.
    #[error(
        "`{name}` has no labels of pairs: {message}\nhint: name a file as `m3 review --label PRED REF` writes it"
    )]
    Content {
        /// The file.
        name: String,
        /// What is wrong.
        message: String,
    },
}

/// A file of labelled pairs.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(title = "m3.labels/1")]
pub struct Labels {
    /// `m3.labels/1`.
    pub schema: String,
    /// The pairs.
    pub pairs: Vec<LabelledPair>,
}

/// Two calls of one tool.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
pub struct LabelledPair {
    /// Names the pair; unique in the file.
    pub id: String,
    /// The tool as `server/tool`.
    pub tool: String,
    /// The arguments of the reference's call.
    #[schemars(with = "Value")]
    pub reference: Json,
    /// The arguments of the predicted call.
    #[schemars(with = "Value")]
    pub predicted: Json,
    /// The labels, at most one of each person.
    #[schemars(default)]
    pub labels: Vec<PersonLabel>,
}

/// The label that one person gave a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PersonLabel {
    /// The person.
    pub name: String,
    /// How alike the calls are.
    pub label: Label,
    /// The time of the label, as RFC 3339 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// How alike two calls are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// They ask for different things.
    Weak,
    /// The calls ask for much the same, but one of them lacks something or puts it differently.
    Medium,
    /// They ask for the same.
    Strong,
}

impl Labels {
    /// A file without pairs.
    #[must_use]
    pub fn empty() -> Self {
        Self { schema: LABELS_SCHEMA.to_owned(), pairs: Vec::new() }
    }

    /// Reads a file. Also returns its name as messages show it.
    ///
    /// # Errors
    /// [`LabelsError`], also if two pairs have the same id, or one person labels a pair twice.
    pub fn read(path: &Path) -> Result<(Self, String), LabelsError> {
        let WholeFile { name, value, .. } = WholeFile::read(path, LARGEST)?;
        match Self::of(&value) {
            Ok(labels) => Ok((labels, name)),
            Err(message) => Err(LabelsError::Content { name, message }),
        }
    }

    /// Whether a file declares that it holds labels.
    pub fn is_label_file(json: &Json) -> bool {
        json.get("schema").and_then(Json::as_str) == Some(LABELS_SCHEMA)
    }

    /// The labels of a file.
    ///
    /// # Errors
    /// The message that says what is wrong with the file.
    pub fn of(json: &Json) -> Result<Self, String> {
        let schema = json.get("schema").and_then(Json::as_str).unwrap_or_default();
        if schema != LABELS_SCHEMA {
            return Err(format!(
                "its schema is `{}`, and should be `{LABELS_SCHEMA}`",
                shortened(schema, 60)
            ));
        }
        let Some(Json::Array(pairs)) = json.get("pairs") else { return Err("it has no `pairs`".to_owned()) };
        let pairs = pairs.iter().map(LabelledPair::of).collect::<Result<Vec<_>, _>>()?;
        let mut ids = HashSet::new();
        if let Some(twice) = pairs.iter().find(|pair| !ids.insert(pair.id.as_str())) {
            return Err(format!("the pair `{}` stands in it twice", shortened(&twice.id, 100)));
        }
        Ok(Self { schema: schema.to_owned(), pairs })
    }

    /// The text of the file, a pair on each line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let schema = Json::String(self.schema.clone()).to_text(Keys::AsRead);
        let pairs: Vec<String> =
            self.pairs.iter().map(|pair| format!("\n{}", pair.to_json().to_text(Keys::AsRead))).collect();
        format!("{{\"schema\":{schema},\"pairs\":[{}\n]}}\n", pairs.join(","))
    }
}

impl LabelledPair {
    fn of(json: &Json) -> Result<Self, String> {
        let text = |key: &str| {
            let value = json.get(key).and_then(Json::as_str).map(str::to_owned);
            value.ok_or_else(|| format!("a pair has no text `{key}`"))
        };
        let (id, tool) = (text("id")?, text("tool")?);
        let shown = shortened(&id, 100);
        let side =
            |key: &str| json.get(key).cloned().ok_or_else(|| format!("the pair `{shown}` has no `{key}`"));
        let labels = match json.get("labels") {
            None => Vec::new(),
            Some(labels) => {
                let labels = labels.to_value().unwrap_or_default();
                serde_json::from_value::<Vec<PersonLabel>>(labels).map_err(|error| {
                    format!("of the pair `{shown}`, {}", shortened(&error.to_string(), 200))
                })?
            }
        };
        let mut names = HashSet::new();
        if let Some(twice) = labels.iter().find(|label| !names.insert(label.name.as_str())) {
            return Err(format!("`{}` labels the pair `{shown}` twice", shortened(&twice.name, 100)));
        }
        Ok(Self { reference: side("reference")?, predicted: side("predicted")?, id, tool, labels })
    }

    fn to_json(&self) -> Json {
        let text = |text: &String| Json::String(text.clone());
        // Names, labels and times are texts, so this cannot fail.
        let label = |label: &PersonLabel| Json::from(&serde_json::to_value(label).unwrap_or_default());
        let members = [
            ("id", text(&self.id)),
            ("tool", text(&self.tool)),
            ("reference", self.reference.clone()),
            ("predicted", self.predicted.clone()),
            ("labels", Json::Array(self.labels.iter().map(label).collect())),
        ];
        Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    fn labels(pairs: &str) -> Result<Labels, String> {
        let text = format!(r#"{{"schema": "m3.labels/1", "pairs": [{pairs}]}}"#);
        Labels::of(&parse(text.as_bytes()).unwrap().0)
    }

    #[test]
    fn every_digit_is_kept() {
        let pair = |id: &str, digits: &str| {
            format!(
                r#"{{"id": "{id}", "tool": "s/t", "reference": {{"n": {digits}}}, "predicted": {{"f": 2.50}}}}"#
            )
        };
        // 23 digits, too many for a double: both round to the same one.
        let digits = ["12345678901234567890123", "12345678901234567890124"];
        assert_eq!(digits.map(str::parse::<f64>)[0], digits.map(str::parse::<f64>)[1]);
        let read = labels(&format!("{},{}", pair("a", digits[0]), pair("b", digits[1]))).unwrap();
        assert_ne!(read.pairs[0].reference, read.pairs[1].reference);
        let written = read.to_text();
        assert!(digits.iter().all(|digits| written.contains(digits)), "{written}");
        assert_eq!(Labels::of(&parse(written.as_bytes()).unwrap().0).unwrap(), read);
        // The same must hold for the file on disk, which `m3 review` and `m3 calibrate` read.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.json");
        std::fs::write(&path, &written).unwrap();
        assert_eq!(Labels::read(&path).unwrap().0, read);
    }

    #[test]
    fn what_is_no_file_of_labels_is_said() {
        let pair = |labels: &str| {
            format!(
                r#"{{"id": "a", "tool": "s/t", "reference": {{}}, "predicted": {{}}, "labels": [{labels}]}}"#
            )
        };
        let ada = r#"{"name": "Ada", "label": "weak"}"#;
        for (pairs, part) in [
            (format!("{},{}", pair(ada), pair("")), "stands in it twice"),
            (pair(&format!("{ada},{ada}")), "`Ada` labels the pair `a` twice"),
            (pair(r#"{"name": "Ada", "label": "strongly"}"#), "strongly"),
            (r#"{"id": "a", "tool": "s/t", "reference": {}}"#.to_owned(), "no `predicted`"),
            (r#"{"id": 7}"#.to_owned(), "no text `id`"),
            ("7".to_owned(), "no text `id`"),
        ] {
            let problem = labels(&pairs).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        }
        let other = |text: &str| Labels::of(&parse(text.as_bytes()).unwrap().0).unwrap_err();
        assert!(other(r#"{"schema": "m3.score/1", "pairs": []}"#).contains("m3.score/1"));
        assert!(other(r#"{"schema": "m3.labels/1"}"#).contains("no `pairs`"));
        assert!(other("null").contains("m3.labels/1"));
        assert_eq!(labels("").unwrap(), Labels::empty());
    }
}
