//! The file of a model: JSON with one line per tree.

use crate::boost::Tree;
use m3_support::text::hexadecimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Model;
use crate::fidelity::evidence::SIGNS;

/// The schema of the file.
const SCHEMA: &str = "m3.fidelity-model/1";

/// The most trees that are read.
const MOST_TREES: usize = 10_000;

/// The largest leaf of a tree, in log-odds: sums of such leaves stay finite.
const LARGEST_LEAF: f64 = 1e6;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ModelError {
    /// The file is not a model.
    #[error("it is no model of fidelity: {0}")]
    Json(String),
    /// Another version of m3, with other evidence, made the model.
    #[error("it was made by another version of m3, whose evidence is not this one's; train it again")]
    Evidence,
}

/// A source that a model was made from, and what the model of the other sources reaches on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceFigures {
    /// The name of the source.
    pub name: String,
    /// The number of its pairs.
    pub pairs: usize,
    /// The SHA-256 of the source's file.
    pub sha256: String,
    /// The area under the curve, by the model of the other sources; `None` where all pairs have one label.
    pub area_under_curve: Option<f64>,
    /// The share of different pairs that this model accepts at a probability of one half.
    pub different_accepted: Option<f64>,
    /// The share of same pairs that this model rejects.
    pub same_rejected: Option<f64>,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    evidence: Vec<String>,
    base: f64,
    calibration: Vec<(f64, f64)>,
    sources: Vec<SourceFigures>,
    trees: Vec<Tree>,
    /// The trees that an adaptation of the model added.
    #[serde(default)]
    more: Vec<Tree>,
}

impl Model {
    /// Reads a model.
    ///
    /// # Errors
    /// [`ModelError`] if the bytes are not a model, or another version of m3 made it.
    pub fn read(bytes: &[u8]) -> Result<Self, ModelError> {
        let file: File =
            serde_json::from_slice(bytes).map_err(|error| ModelError::Json(error.to_string()))?;
        let wrong = |problem: &str| Err(ModelError::Json(problem.to_owned()));
        if file.schema != SCHEMA {
            return wrong(&format!("its schema is not {SCHEMA}"));
        }
        if file.evidence.iter().ne(SIGNS.iter().map(|(name, _)| *name)) {
            return Err(ModelError::Evidence);
        }
        let count = file.trees.len() + file.more.len();
        if count == 0 || count > MOST_TREES {
            return wrong(&format!("it has {count} trees; 1 to {MOST_TREES} can be read"));
        }
        let is_of_evidence = |tree: &Tree| tree.numbers() <= SIGNS.len() && tree.largest() <= LARGEST_LEAF;
        if !file.trees.iter().chain(&file.more).all(is_of_evidence) {
            return wrong("a tree asks for evidence that there is not, or has absurd leaves");
        }
        let is_number = |number: f64| number.abs() <= LARGEST_LEAF;
        if !is_number(file.base) || !file.calibration.iter().all(|(x, y)| is_number(*x) && is_number(*y)) {
            return wrong("its base or its calibration is no log-odds");
        }
        if file.calibration.is_empty() || !file.calibration.is_sorted_by(|x, y| x.0 < y.0 && x.1 <= y.1) {
            return wrong("its calibration does not rise");
        }
        let File { base, calibration, sources, trees, more, .. } = file;
        Ok(Self { trees, more, base, calibration, sources, digest: digest_of(bytes) })
    }

    /// The content of the model's file, with one line per tree.
    #[must_use]
    pub fn to_json(&self) -> String {
        let json = |value: Result<String, serde_json::Error>| value.unwrap_or_default();
        let lines = |trees: &[Tree]| -> String {
            trees.iter().map(|tree| json(serde_json::to_string(tree))).collect::<Vec<_>>().join(",\n")
        };
        let sources: Vec<String> =
            self.sources.iter().map(|source| json(serde_json::to_string(source))).collect();
        let evidence: Vec<&str> = SIGNS.iter().map(|(name, _)| *name).collect();
        format!(
            "{{\"schema\": \"{SCHEMA}\",\n\"evidence\": {},\n\"base\": {:?},\n\"calibration\": {},\n\"sources\": [\n{}\n],\n\"trees\": [\n{}\n],\n\"more\": [\n{}\n]}}\n",
            json(serde_json::to_string(&evidence)),
            self.base,
            json(serde_json::to_string(&self.calibration)),
            sources.join(",\n"),
            lines(&self.trees),
            lines(&self.more),
        )
    }

    /// The model with the digest of its file.
    pub(super) fn digested(self) -> Self {
        let digest = digest_of(self.to_json().as_bytes());
        Self { digest, ..self }
    }
}

/// The digest of a file: the first half of its SHA-256.
fn digest_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes)[..16])
}
