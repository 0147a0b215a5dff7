//! The sources that a model of fidelity has learned from: `m3.fidelity-sources/1`.

use m3_report::FidelityModelReport;
use m3_score::fidelity::model::{Model, SourceFigures};
use schemars::JsonSchema;
use serde::Serialize;

use super::training::LabelledSource;

/// The sources that a model was made from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.fidelity-sources/1")]
pub(crate) struct SourcesReport {
    /// `m3.fidelity-sources/1`.
    pub(crate) schema: String,
    /// The model.
    pub(crate) fidelity_model: FidelityModelReport,
    /// The sources of the model, in the order in which they were given.
    pub(crate) sources: Vec<SourceReport>,
}

/// A file of labelled pairs that a model has learned from, with the figures that the model of all other sources reaches
/// on it. All figures are null where the model was adapted to the file, because no model was made without it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SourceReport {
    /// The name of the file.
    pub(crate) name: String,
    /// The number of pairs in the file.
    pub(crate) pairs: usize,
    /// The SHA-256 of the file.
    pub(crate) sha256: String,
    /// The area under the curve; null where all pairs have one label.
    pub(crate) area_under_curve: Option<f64>,
    /// The share of different pairs that are accepted, from 0.5 on; null without such pairs.
    pub(crate) different_accepted: Option<f64>,
    /// The share of same pairs that are rejected; null without such pairs.
    pub(crate) same_rejected: Option<f64>,
}

impl SourcesReport {
    /// The report of a model.
    pub(crate) fn new(model: &Model) -> Self {
        Self {
            schema: "m3.fidelity-sources/1".to_owned(),
            fidelity_model: FidelityModelReport::new(model.digest()),
            sources: model.sources().iter().map(SourceReport::from).collect(),
        }
    }
}

impl SourceReport {
    /// Whether the source has the figures that the model of the other sources reaches on it.
    pub(crate) fn has_figures(&self) -> bool {
        self.different_accepted.is_some() || self.same_rejected.is_some()
    }
}

impl From<&SourceFigures> for SourceReport {
    fn from(source: &SourceFigures) -> Self {
        Self {
            name: source.name.clone(),
            pairs: source.pairs,
            sha256: source.sha256.clone(),
            area_under_curve: source.area_under_curve,
            different_accepted: source.different_accepted,
            same_rejected: source.same_rejected,
        }
    }
}

impl LabelledSource {
    /// Whether a model has learned from this file.
    pub(crate) fn is_learned_by(&self, model: &Model) -> bool {
        model.sources().iter().any(|learned| learned.sha256 == self.sha256)
    }
}

/// The adapted model, with the files that it was adapted to among its sources. These files have no figures. A file that
/// was a source before loses its figures, which were those of a model that had not seen it.
pub(crate) fn adapted_to(model: Model, sources: &[LabelledSource]) -> Model {
    let is_given = |of: &SourceFigures| sources.iter().any(|given| given.sha256 == of.sha256);
    let mut all: Vec<SourceFigures> = model.sources().iter().filter(|of| !is_given(of)).cloned().collect();
    all.extend(sources.iter().map(|given| SourceFigures {
        name: given.name.clone(),
        pairs: given.pairs.len(),
        sha256: given.sha256.clone(),
        area_under_curve: None,
        different_accepted: None,
        same_rejected: None,
    }));
    model.with_sources(all)
}
