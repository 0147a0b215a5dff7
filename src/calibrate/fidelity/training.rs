//! Makes a model of fidelity from labelled pairs.

use m3_embedding::{Embedder, EncoderError};
use m3_report::FidelityModelReport;
use m3_score::fidelity::model::{Example, Model, Source, SourceFigures, train};
use m3_score::fidelity::{CallPair, Fidelity};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::calibrate::fidelity::pairs::{LabelledSource, TestPair};
use crate::calibrate::fidelity::report::{GroupReport, ScoredPair};

/// The figures of a new model on pairs that are not in its training.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.fidelity-training/1")]
pub(crate) struct TrainingReport {
    /// Always `m3.fidelity-training/1`.
    pub(crate) schema: String,
    /// Whether an existing model was adapted, the built-in one or that of `--fidelity-model`; false for a new one.
    pub(crate) is_adapted: bool,
    /// For a model made anew, each source scored by the model of all others. For an adapted model, all pairs scored by
    /// the model before, and by models adapted to four fifths of the pairs, each on the rest.
    pub(crate) figures: Vec<GroupReport>,
}

impl TrainingReport {
    /// The report of these figures.
    pub(crate) fn new(is_adapted: bool, figures: Vec<GroupReport>) -> Self {
        Self { schema: "m3.fidelity-training/1".to_owned(), is_adapted, figures }
    }
}

/// The training examples that pairs give.
///
/// # Errors
/// [`EncoderError`].
pub(crate) fn examples(
    pairs: &[TestPair],
    fidelity: Fidelity<'_>,
    embedder: &mut Embedder,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Example>, EncoderError> {
    let pair = |index: usize| pairs[index].calls();
    let example = |pair: &TestPair| Example {
        arguments: Vec::new(),
        settled: 1.0,
        is_same: pair.is_same,
        is_doubtful: pair.is_doubtful,
    };
    let mut all: Vec<Example> = pairs.iter().map(example).collect();
    fidelity.with_evidence().compare_all(pairs.len(), &pair, embedder, progress, &mut |index, found| {
        all[index].arguments = found.evidence;
        all[index].settled = found.settled;
    })?;
    Ok(all)
}

/// Trains a model on these sources alone; also returns the figures of each source by the model of all others.
pub(crate) fn train_anew(
    sources: &[LabelledSource],
    examples: Vec<Vec<Example>>,
    progress: &mut dyn FnMut(usize, usize),
) -> (Model, Vec<GroupReport>) {
    let examples: Vec<Source> = sources
        .iter()
        .zip(examples)
        .map(|(source, examples)| Source { name: source.group().to_owned(), examples })
        .collect();
    let (model, all) = train(&examples, progress);
    let figures: Vec<GroupReport> = sources
        .iter()
        .zip(&all)
        .map(|(source, scores)| {
            let sure = source.pairs.iter().zip(scores).filter(|(pair, _)| !pair.is_doubtful);
            let labelled: Vec<ScoredPair> = sure.map(|(pair, &score)| (score, pair.is_same)).collect();
            GroupReport::new(&source.name, &labelled, 0.5)
        })
        .collect();
    let of_sources = sources.iter().zip(&figures).map(|(source, figures)| SourceFigures {
        name: source.name.clone(),
        pairs: source.pairs.len(),
        sha256: source.sha256.clone(),
        area_under_curve: figures.area_under_curve,
        different_accepted: figures.different_accepted,
        same_rejected: figures.same_rejected,
    });
    (model.with_sources(of_sources.collect()), figures)
}

/// The number of parts that pairs are divided into; each is scored by a model that has not seen it.
const FOLDS: usize = 5;

/// Adapts a model to pairs; returns it with the figures of `base` and of adapted models on pairs that they have not
/// seen. Pairs of one question, or without a question of one tool, stay together.
pub(crate) fn adapt(pairs: &[TestPair], examples: &[Example], base: &Model) -> (Model, [GroupReport; 2]) {
    let group = |pair: &TestPair| {
        let name = pair.question.as_deref().unwrap_or(&pair.tool);
        usize::from(Sha256::digest(name)[0]) % FOLDS
    };
    let mut unseen = vec![0.0; pairs.len()];
    for fold in 0..FOLDS {
        let is_in = |index: &usize| group(&pairs[*index]) == fold;
        let (inside, outside): (Vec<usize>, Vec<usize>) = (0..pairs.len()).partition(is_in);
        let learned: Vec<Example> = outside.iter().map(|&index| examples[index].clone()).collect();
        let model = base.adapted(&learned);
        for index in inside {
            unseen[index] = model.of_example(&examples[index]);
        }
    }
    let report = |name: &str, score: &dyn Fn(usize) -> f64| {
        let sure = (0..pairs.len()).filter(|&index| !pairs[index].is_doubtful);
        let scored: Vec<ScoredPair> = sure.map(|index| (score(index), pairs[index].is_same)).collect();
        GroupReport::new(name, &scored, 0.5)
    };
    let figures = [
        report("before", &|index| base.of_example(&examples[index])),
        report("adapted", &|index| unseen[index]),
    ];
    (base.adapted(examples), figures)
}

impl TestPair {
    /// The two calls of the pair, to be compared.
    pub(crate) fn calls(&self) -> CallPair<'_> {
        let (question, schema) = (self.question.as_deref(), self.schema.as_ref());
        CallPair { tool: &self.tool, a: Some(&self.a), b: Some(&self.b), question, schema }
    }
}

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
