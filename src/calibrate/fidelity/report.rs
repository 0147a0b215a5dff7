//! The report of `m3 fidelity`: `m3.fidelity/1`.

use std::collections::BTreeMap;

use m3_embedding::{Embedder, EncoderError};
use m3_judge::same::{PairAnswer, SameOpinion};
use m3_report::{AskedReport, FidelityModelReport};
use m3_score::Serializer;
use m3_score::fidelity::Fidelity;
use schemars::JsonSchema;
use serde::Serialize;

use crate::calibrate::fidelity::pairs::TestPair;
use crate::calibrate::pairs::cosines;

/// The schema of the report.
pub(crate) const FIDELITY_SCHEMA: &str = "m3.fidelity/1";

/// How well a similarity separates pairs of the same meaning from different ones, on labelled pairs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.fidelity/1")]
pub(crate) struct FidelityReport {
    /// Always `m3.fidelity/1`.
    pub(crate) schema: String,
    /// The name of the similarity: `typed` or `cosine`.
    pub(crate) similarity: String,
    /// The name of the encoder.
    pub(crate) encoder: String,
    /// The encoder's fingerprint.
    pub(crate) fingerprint: String,
    /// The model of fidelity; left out for cosines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fidelity_model: Option<FidelityModelReport>,
    /// The lowest score with which a pair is accepted as the same.
    pub(crate) threshold: f64,
    /// The figures of all pairs.
    pub(crate) all: GroupReport,
    /// The mean squared difference of score and label.
    pub(crate) brier_score: Option<f64>,
    /// The mean difference between mean score and share of same pairs, over tenths of the scores.
    pub(crate) calibration_error: Option<f64>,
    /// The mean score and the share of same pairs, for each tenth of the scores that has pairs.
    pub(crate) reliability: Vec<ReliabilityReport>,
    /// The figures of each file; left out where there is one file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) by_source: Vec<GroupReport>,
    /// The figures of each edit, the change that makes the second call from the first.
    pub(crate) by_edit: Vec<GroupReport>,
    /// The figures of each tool.
    pub(crate) by_tool: Vec<GroupReport>,
    /// The answers of a language model on pairs that the similarity is not sure of; only if one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<AskedReport>,
    /// Every pair, in the order of the files.
    pub(crate) pairs: Vec<PairReport>,
}

/// The figures of a group of pairs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct GroupReport {
    /// The name of the file, edit or tool; `all` for all pairs.
    pub(crate) name: String,
    /// The number of pairs that are labelled as the same.
    pub(crate) same: usize,
    /// The number of pairs that are labelled as different.
    pub(crate) different: usize,
    /// The area under the curve; null where all pairs have the same label.
    pub(crate) area_under_curve: Option<f64>,
    /// The share of pairs that are accepted or rejected rightly.
    pub(crate) accuracy: f64,
    /// The share of different pairs that are accepted.
    pub(crate) different_accepted: Option<f64>,
    /// The share of same pairs that are rejected.
    pub(crate) same_rejected: Option<f64>,
    /// The mean score.
    pub(crate) mean_score: f64,
}

/// One tenth of the range of scores, and the pairs with a score in it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ReliabilityReport {
    /// The lowest score of the tenth.
    pub(crate) low: f64,
    /// The number of pairs with a score in the tenth.
    pub(crate) pairs: usize,
    /// The mean score of these pairs.
    pub(crate) mean_score: f64,
    /// The share of these pairs that are labelled as the same.
    pub(crate) same: f64,
}

/// A labelled pair of calls with its score.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct PairReport {
    /// The index of the pair over all files, from 0.
    pub(crate) index: usize,
    /// The tool of both calls.
    pub(crate) tool: String,
    /// The edit that makes the second call from the first.
    pub(crate) edit: String,
    /// Whether the pair is labelled as the same.
    pub(crate) same: bool,
    /// The score of the pair.
    pub(crate) score: f64,
    /// The JSON pointer of the argument that lowers the score most; left out for cosines and equal arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) argument: Option<String>,
    /// The kind that this argument is compared as: the name of its reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    /// The verdict on this argument: `equivalent`, `close`, `different`, `missing` or `extra`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<String>,
    /// The reason for this verdict; for an argument that one call lacks, whether it restricts the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The answer of a language model about the pair, if one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<AskedPair>,
}

/// The scores of pairs, by a similarity.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    /// The name of the similarity: `typed` or `cosine`.
    pub(crate) similarity: &'static str,
    /// The score of each pair.
    pub(crate) pairs: Vec<PairReport>,
}

fn unscored(pairs: &[TestPair]) -> impl Iterator<Item = PairReport> {
    pairs.iter().enumerate().map(|(index, pair)| PairReport {
        index,
        tool: pair.tool.clone(),
        edit: pair.edit.clone(),
        same: pair.is_same,
        ..PairReport::default()
    })
}

/// Scores pairs by fidelity.
///
/// # Errors
/// [`EncoderError`].
pub(crate) fn typed_trial(
    pairs: &[TestPair],
    mut fidelity: Fidelity<'_>,
    embedder: &mut Embedder,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Trial, EncoderError> {
    let pair = |index: usize| pairs[index].calls();
    let mut reports: Vec<PairReport> = unscored(pairs).collect();
    fidelity.compare_all(pairs.len(), &pair, embedder, progress, &mut |index, found| {
        let worst = found.worst();
        let report = &mut reports[index];
        report.score = found.score;
        report.argument = worst.map(|worst| worst.path.clone());
        report.kind = worst.map(|worst| worst.kind.name().to_owned());
        report.verdict = worst.map(|worst| worst.verdict.name().to_owned());
        report.reason = worst.map(|worst| worst.reason.to_string());
    })?;
    Ok(Trial { similarity: "typed", pairs: reports })
}

/// Scores pairs as `m3 score` does: by the cosine of the embeddings of the serialized arguments, in [0, 1].
///
/// # Errors
/// [`EncoderError`].
pub(crate) fn cosine_trial(
    pairs: &[TestPair],
    serializer: &Serializer<'_>,
    embedder: &mut Embedder,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Trial, EncoderError> {
    let text = |pair: &TestPair, arguments| serializer.text(&pair.tool, Some(arguments));
    let texts: Vec<String> =
        pairs.iter().flat_map(|pair| [text(pair, &pair.a), text(pair, &pair.b)]).collect();
    let cosines = cosines(&texts, embedder, progress)?;
    let score = |(cosine, report): (f64, PairReport)| PairReport { score: cosine.max(0.0), ..report };
    Ok(Trial { similarity: "cosine", pairs: cosines.into_iter().zip(unscored(pairs)).map(score).collect() })
}

impl FidelityReport {
    /// The report of a trial at a threshold.
    pub(crate) fn new(trial: Trial, threshold: f64, encoder: &m3_embedding::Identity) -> Self {
        let pairs = trial.pairs;
        let scored: Vec<ScoredPair> = pairs.iter().map(|pair| (pair.score, pair.same)).collect();
        let by = |name: fn(&PairReport) -> &str| -> Vec<GroupReport> {
            let mut groups: BTreeMap<&str, Vec<ScoredPair>> = BTreeMap::new();
            for pair in &pairs {
                groups.entry(name(pair)).or_default().push((pair.score, pair.same));
            }
            groups.iter().map(|(name, scored)| GroupReport::new(name, scored, threshold)).collect()
        };
        let reliability = (0..BINS).filter_map(|bin| {
            let of_bin = of_bin(&scored, bin);
            let (mean_score, same) = mean_and_share(&of_bin)?;
            Some(ReliabilityReport { low: bin as f64 / BINS as f64, pairs: of_bin.len(), mean_score, same })
        });
        Self {
            schema: FIDELITY_SCHEMA.to_owned(),
            similarity: trial.similarity.to_owned(),
            encoder: encoder.name.clone(),
            fingerprint: encoder.fingerprint.clone(),
            fidelity_model: None,
            threshold,
            all: GroupReport::new("all", &scored, threshold),
            brier_score: brier_score(&scored),
            calibration_error: calibration_error(&scored),
            reliability: reliability.collect(),
            by_source: Vec::new(),
            by_edit: by(|pair| &pair.edit),
            by_tool: by(|pair| &pair.tool),
            asked: None,
            pairs,
        }
    }

    /// Adds the figures of each file, if there are several. `sources` has the name of each file and its number of
    /// pairs, in the order of the pairs.
    pub(crate) fn with_sources(self, sources: &[(String, usize)]) -> Self {
        if sources.len() < 2 {
            return self;
        }
        let mut scored = self.pairs.iter().map(|pair| (pair.score, pair.same));
        let group = |(name, count): &(String, usize)| {
            let of_source: Vec<ScoredPair> = scored.by_ref().take(*count).collect();
            GroupReport::new(name, &of_source, self.threshold)
        };
        let by_source = sources.iter().map(group).collect();
        Self { by_source, ..self }
    }
}

impl GroupReport {
    pub(super) fn new(name: &str, scored: &[ScoredPair], threshold: f64) -> Self {
        let count = |same: bool, accepted: bool| {
            scored.iter().filter(|pair| pair.1 == same && (pair.0 >= threshold) == accepted).count()
        };
        let (accepted, rejected) = (count(true, true), count(true, false));
        let (wrongly_accepted, rightly_rejected) = (count(false, true), count(false, false));
        let share = |of: usize, all: usize| (all > 0).then(|| of as f64 / all as f64);
        Self {
            name: name.to_owned(),
            same: accepted + rejected,
            different: wrongly_accepted + rightly_rejected,
            area_under_curve: area_under_curve(scored),
            accuracy: share(accepted + rightly_rejected, scored.len()).unwrap_or(0.0),
            different_accepted: share(wrongly_accepted, wrongly_accepted + rightly_rejected),
            same_rejected: share(rejected, accepted + rejected),
            mean_score: mean_and_share(scored).map_or(0.0, |found| found.0),
        }
    }
}

/// The answer of a language model about a pair.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct AskedPair {
    /// The score before the model was asked.
    pub(crate) before: f64,
    /// The answer of the model.
    pub(crate) answer: PairAnswer,
    /// The model's opinion in the order `a`, `b`, and in the order `b`, `a`; null where it cannot be read.
    pub(crate) opinions: [Option<SameOpinion>; 2],
}

/// A score, and whether the pair asks for the same.
pub(super) type ScoredPair = (f64, bool);

/// Of all combinations of a pair that asks for the same and a pair that does not, the share that the score ranks
/// correctly, ties counting half: the area under the receiver operating characteristic, by the Mann-Whitney
/// statistic. `None` without both kinds.
pub(crate) fn area_under_curve(scored: &[(f64, bool)]) -> Option<f64> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut wins, mut same) = (0.0, 0.0, 0.0);
    for group in sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let of_same = group.iter().filter(|pair| pair.1).count() as f64;
        let of_different = group.len() as f64 - of_same;
        wins += of_same * (below + of_different / 2.0);
        below += of_different;
        same += of_same;
    }
    (same > 0.0 && below > 0.0).then(|| wins / (same * below))
}

/// The mean squared difference of score and label (Brier, 1950), in [0, 1]; `None` without pairs.
pub(crate) fn brier_score(scored: &[(f64, bool)]) -> Option<f64> {
    let squares = scored.iter().map(|&(score, is_same)| (score - f64::from(u8::from(is_same))).powi(2));
    (!scored.is_empty()).then(|| squares.sum::<f64>() / scored.len() as f64)
}

/// The mean difference between mean score and share of "same" over bins of a tenth, weighted by their pairs: the
/// expected calibration error; `None` without pairs.
pub(crate) fn calibration_error(scored: &[(f64, bool)]) -> Option<f64> {
    let gaps = (0..BINS).filter_map(|bin| {
        let of_bin = of_bin(scored, bin);
        let (mean, share) = mean_and_share(&of_bin)?;
        Some(of_bin.len() as f64 * (mean - share).abs())
    });
    (!scored.is_empty()).then(|| gaps.sum::<f64>() / scored.len() as f64)
}

/// The number of bins for the reliability.
pub(super) const BINS: usize = 10;

/// The pairs whose score is in a bin; the last bin includes 1.
pub(super) fn of_bin(scored: &[ScoredPair], bin: usize) -> Vec<ScoredPair> {
    let (low, high) = (bin as f64 / BINS as f64, (bin + 1) as f64 / BINS as f64);
    let is_in = |score: f64| score >= low && (score < high || bin + 1 == BINS);
    scored.iter().filter(|pair| is_in(pair.0)).copied().collect()
}

/// The mean score, and the share of pairs that ask for the same.
pub(super) fn mean_and_share(scored: &[ScoredPair]) -> Option<(f64, f64)> {
    let count = scored.len() as f64;
    let same = scored.iter().filter(|pair| pair.1).count() as f64;
    (!scored.is_empty()).then(|| (scored.iter().map(|pair| pair.0).sum::<f64>() / count, same / count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_by_hand() {
        assert_eq!(area_under_curve(&[(0.1, false), (0.9, true)]), Some(1.0));
        assert_eq!(area_under_curve(&[(0.9, false), (0.1, true)]), Some(0.0));
        assert_eq!(area_under_curve(&[(0.5, false), (0.5, true)]), Some(0.5));
        // Five of six combinations are ranked correctly.
        assert_eq!(
            area_under_curve(&[(0.1, false), (0.2, false), (0.3, true), (0.4, false), (0.5, true)]),
            Some(5.0 / 6.0)
        );
        assert_eq!(area_under_curve(&[(0.5, true)]), None);
    }

    #[test]
    fn calibration_by_hand() {
        // 0.8 three times, correct twice: 0.8 against 0.667.
        let scored = [(0.8, true), (0.8, true), (0.8, false)];
        assert!((calibration_error(&scored).unwrap() - (0.8 - 2.0 / 3.0)).abs() < 1e-12);
        assert!((brier_score(&scored).unwrap() - (0.04 + 0.04 + 0.64) / 3.0).abs() < 1e-12);
        assert_eq!((calibration_error(&[]), brier_score(&[])), (None, None));
    }
}
