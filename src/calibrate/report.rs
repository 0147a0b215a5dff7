//! The report of `m3 calibrate`: `m3.calibration/1`.

use m3_embedding::Identity;
use m3_judge::labels::Label;
use m3_score::{Profile, Thresholds};
use m3_stats::agreement::{Scale, Weights, cohen_kappa, krippendorff_alpha};
use m3_stats::{Draws, LEVEL, percentiles, resampled};
use schemars::JsonSchema;
use serde::Serialize;

use super::advice::Advice;
use super::pairs::{LabelSummary, MajorityLabels};
use super::sweep::{LabelledPair, Sweep, called};

/// The schema of the report.
pub(crate) const CALIBRATION_SCHEMA: &str = "m3.calibration/1";

/// The number of steps between 0 and 1 in the table of agreement.
const STEPS: u32 = 50;

/// Thresholds chosen from people's labels.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.calibration/1")]
pub(crate) struct CalibrationReport {
    /// Always `m3.calibration/1`.
    pub(crate) schema: String,
    /// The profile by which arguments are serialized.
    pub(crate) profile: String,
    /// The name of the encoder.
    pub(crate) encoder: String,
    /// The encoder's fingerprint.
    pub(crate) fingerprint: String,
    /// Counts of the labels.
    pub(crate) labels: LabelCounts,
    /// The thresholds to score with: the best ones, or the default ones where `keep_default` is not empty.
    pub(crate) recommended: ThresholdReport,
    /// The reasons to recommend the default thresholds though others agree with more labels: the labels do not depend
    /// on the similarity, or are too few.
    pub(crate) keep_default: Vec<String>,
    /// Gaps in the labels: a kind of label that no pair has, a range in which all thresholds give the same result.
    pub(crate) warnings: Vec<String>,
    /// The thresholds that agree with most labels.
    pub(crate) best: ThresholdReport,
    /// The default thresholds of scores.
    pub(crate) default: ThresholdReport,
    /// Of two pairs with different labels, how often the one with the higher label is the more similar; a tie counts
    /// half. 0.5 is chance; left out where all labels are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) concordance: Option<f64>,
    /// The interval of the concordance, by bootstrap over pairs (percentiles). With 0.5 in it, it may be chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) concordance_interval: Option<IntervalReport>,
    /// The interval of the best weak threshold, by bootstrap over pairs (percentiles).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weak_interval: Option<IntervalReport>,
    /// The interval of the best strong threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) strong_interval: Option<IntervalReport>,
    /// The interval of the agreement of the recommended thresholds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agreement_interval: Option<IntervalReport>,
    /// The mean agreement of the best thresholds of a resample with the pairs that are not in it: what to expect of new
    /// pairs. The agreement with the pairs that chose the thresholds is higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected_agreement: Option<f64>,
    /// The confidence level of the intervals.
    pub(crate) level: f64,
    /// The number of resamples.
    pub(crate) resamples: usize,
    /// The seed of the resamples.
    pub(crate) seed: u64,
    /// Agreement for thresholds in steps of 0.02, weak below strong.
    pub(crate) sweep: Vec<AgreementCell>,
    /// The scores of the predictions with several thresholds; empty without predictions.
    pub(crate) sensitivity: Vec<SensitivityReport>,
}

/// The number of labels of each kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct LabelCounts {
    /// The number of pairs in the file.
    pub(crate) pairs: usize,
    /// The number of pairs by which the thresholds are chosen: those with a majority label.
    pub(crate) used: usize,
    /// The number of people who gave labels.
    pub(crate) people: usize,
    /// The number of pairs with the majority label weak.
    pub(crate) weak: usize,
    /// The number of pairs with the majority label medium.
    pub(crate) medium: usize,
    /// The number of pairs with the majority label strong.
    pub(crate) strong: usize,
    /// Krippendorff's alpha of the labels, on an ordinal scale; left out if no two people labelled the same pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) krippendorff_alpha: Option<f64>,
    /// The ids of pairs without labels.
    pub(crate) unlabelled: Vec<String>,
    /// The ids of pairs in which no label has more votes than every other; they are left out.
    pub(crate) ties: Vec<String>,
    /// The ids of pairs in which people disagree but most give the same label.
    pub(crate) disagreements: Vec<String>,
    /// The ids of pairs whose label the recommended thresholds do not give.
    pub(crate) not_met: Vec<String>,
}

/// A pair of thresholds and its agreement with the labels.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct ThresholdReport {
    /// The weak threshold.
    pub(crate) weak: f64,
    /// The strong threshold.
    pub(crate) strong: f64,
    /// The share of pairs to which the thresholds give the majority label, in [0, 1].
    pub(crate) agreement: f64,
    /// Cohen's kappa of the labels and those that the thresholds give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cohen_kappa: Option<f64>,
    /// Cohen's kappa with quadratic weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weighted_kappa: Option<f64>,
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct IntervalReport {
    /// The lower end.
    pub(crate) low: f64,
    /// The upper end.
    pub(crate) high: f64,
}

/// The agreement of two thresholds with the labels.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct AgreementCell {
    /// The weak threshold.
    pub(crate) weak: f64,
    /// The strong threshold.
    pub(crate) strong: f64,
    /// The share of pairs to which the thresholds give the majority label.
    pub(crate) agreement: f64,
}

/// Scores of the predictions with these thresholds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SensitivityReport {
    /// The name of the thresholds: `recommended`, `default`, `low end`, `high end`.
    pub(crate) name: String,
    /// The weak threshold.
    pub(crate) weak: f64,
    /// The strong threshold.
    pub(crate) strong: f64,
    /// Matched pairs / reference calls.
    pub(crate) recall: f64,
    /// How similar the arguments of matched calls are.
    pub(crate) argument_similarity: f64,
    /// The mean of the six alignment metrics.
    pub(crate) average: f64,
}

/// Chooses thresholds. `similarities` are those of the file's pairs, in their order. `None` without pairs.
pub(crate) fn calibrate(
    file: &MajorityLabels,
    similarities: &[f64],
    profile: Profile,
    encoder: &Identity,
    draws: &Draws,
) -> Option<CalibrationReport> {
    let pairs: Vec<LabelledPair> = file
        .pairs
        .iter()
        .zip(similarities)
        .map(|(pair, &similarity)| LabelledPair { similarity, label: pair.label })
        .collect();
    let sweep = Sweep::new(&pairs);
    let best = sweep.best()?;
    let default = Thresholds::default();
    let advice = Advice::new(&pairs, &best, draws);
    let (weak, strong) = advice.thresholds(&best);
    let resamples = resampled(
        pairs.len(),
        |counts| {
            let Some(pick) = sweep.best_of(counts) else { return [f64::NAN; 4] };
            let met = pairs.iter().zip(counts).filter(|(pair, _)| meets(pair, weak, strong));
            let met: u32 = met.map(|(_, count)| *count).sum();
            let rest = sweep.agreement_of_rest(counts, &pick).unwrap_or(f64::NAN);
            [pick.weak, pick.strong, f64::from(met) / pairs.len() as f64, rest]
        },
        draws,
    );
    let report = |(low, high)| IntervalReport { low, high };
    let interval = |place: usize| percentiles(resamples.iter().map(|row| row[place]), LEVEL).map(report);
    let rest: Vec<f64> = resamples.iter().map(|row| row[3]).filter(|rest| rest.is_finite()).collect();
    Some(CalibrationReport {
        schema: CALIBRATION_SCHEMA.to_owned(),
        profile: profile.name().to_owned(),
        encoder: encoder.name.clone(),
        fingerprint: encoder.fingerprint.clone(),
        labels: counts(file, &pairs, (weak, strong)),
        recommended: thresholds(&pairs, weak, strong),
        keep_default: advice.reasons,
        warnings: advice.warnings,
        best: thresholds(&pairs, best.weak, best.strong),
        default: thresholds(&pairs, default.weak(), default.strong()),
        concordance: advice.concordance,
        concordance_interval: advice.interval.map(report),
        weak_interval: interval(0),
        strong_interval: interval(1),
        agreement_interval: interval(2),
        expected_agreement: (!rest.is_empty()).then(|| rest.iter().sum::<f64>() / rest.len() as f64),
        level: LEVEL,
        resamples: resamples.len(),
        seed: draws.seed,
        sweep: cells(&sweep),
        sensitivity: Vec::new(),
    })
}

fn meets(pair: &LabelledPair, weak: f64, strong: f64) -> bool {
    called(pair.similarity, weak, strong) == pair.label
}

fn thresholds(pairs: &[LabelledPair], weak: f64, strong: f64) -> ThresholdReport {
    let both: Vec<(usize, usize)> = pairs
        .iter()
        .map(|pair| (pair.label as usize, called(pair.similarity, weak, strong) as usize))
        .collect();
    let met = both.iter().filter(|(said, called)| said == called).count();
    ThresholdReport {
        weak,
        strong,
        agreement: met as f64 / pairs.len().max(1) as f64,
        cohen_kappa: cohen_kappa(&both, Weights::None),
        weighted_kappa: cohen_kappa(&both, Weights::Quadratic),
    }
}

fn counts(file: &MajorityLabels, pairs: &[LabelledPair], (weak, strong): (f64, f64)) -> LabelCounts {
    let of = |label: Label| pairs.iter().filter(|pair| pair.label == label).count();
    let LabelSummary { pairs: all, people, unlabelled, ties, disagreements } = file.summary.clone();
    let not_met = file.pairs.iter().zip(pairs).filter(|(_, pair)| !meets(pair, weak, strong));
    LabelCounts {
        pairs: all,
        used: pairs.len(),
        people,
        weak: of(Label::Weak),
        medium: of(Label::Medium),
        strong: of(Label::Strong),
        krippendorff_alpha: krippendorff_alpha(&file.votes, Scale::Ordinal),
        unlabelled,
        ties,
        disagreements,
        not_met: not_met.map(|(pair, _)| pair.id.clone()).collect(),
    }
}

fn cells(sweep: &Sweep) -> Vec<AgreementCell> {
    let value = |step: u32| f64::from(step) / f64::from(STEPS);
    let pairs = (0..=STEPS).flat_map(|strong| (0..strong).map(move |weak| (value(weak), value(strong))));
    let cell =
        |(weak, strong)| Some(AgreementCell { weak, strong, agreement: sweep.agreement(weak, strong)? });
    pairs.filter_map(cell).collect()
}

#[cfg(test)]
mod tests {
    use m3_judge::labels::{LabelledPair, Labels, PersonLabel};
    use m3_trajectory::json::Json;

    use super::*;

    fn labelled(labels: &[Label]) -> MajorityLabels {
        let pair = |(index, label): (usize, &Label)| LabelledPair {
            id: index.to_string(),
            tool: "s/t".to_owned(),
            reference: Json::Null,
            predicted: Json::Null,
            labels: vec![PersonLabel { name: "Ada".to_owned(), label: *label, time: None }],
        };
        let pairs = labels.iter().enumerate().map(pair).collect();
        MajorityLabels::of(Labels { pairs, ..Labels::empty() })
    }

    fn report(labels: &[Label], similarities: &[f64]) -> CalibrationReport {
        let encoder =
            Identity { name: "none".to_owned(), fingerprint: String::new(), dimensions: 1, max_tokens: 1 };
        let draws = Draws { count: 20_000, ..Draws::default() };
        calibrate(&labelled(labels), similarities, Profile::Paper, &encoder, &draws).unwrap()
    }

    #[test]
    fn what_to_expect_of_other_pairs_is_less_than_what_the_pairs_show() {
        // Four pairs at 0.9, three of them strong and one weak: no threshold separates them. The recommended ones
        // call all strong and agree with 3 of 4. A resample has the weak pair k times, k binomial of 4 and 1/4, and
        // they agree with 4 - k of its 4 pairs: 0 with 1/256, at most 1/4 with 13/256, all with 81/256. So the 2.5 %
        // quantile is 1/4 and the other 1.
        let labels = [Label::Strong, Label::Strong, Label::Strong, Label::Weak];
        let found = report(&labels, &[0.9; 4]);
        assert!((found.recommended.agreement - 0.75).abs() < 1e-12, "{found:?}");
        let interval = found.agreement_interval.unwrap();
        assert!((interval.low - 0.25).abs() < 1e-12 && (interval.high - 1.0).abs() < 1e-12, "{interval:?}");
        // By hand, of 256 resamples: k = 0 in 81, of which 3 leave two strong pairs out and agree with 2 of 3 of the
        // rest, 42 leave one out and agree with 1 of 2, and 36 leave only the weak one and agree with none; k = 1 in
        // 108, of which 24 leave nothing out and do not count, and 84 agree with all of the rest; k = 2 in 54, a tie,
        // where the defaults call 0.9 strong and agree with all of the rest; k > 2 in 13, where 0.9 is called weak
        // and agrees with none.
        let expected = (3.0 * 2.0 / 3.0 + 42.0 / 2.0 + 84.0 + 54.0) / (256.0 - 24.0);
        // The standard error of 20,000 resamples is 0.003.
        let found = found.expected_agreement.unwrap();
        assert!((found - expected).abs() < 0.012, "{found} is not {expected}");
    }

    #[test]
    fn thresholds_that_nothing_speaks_against_are_certain() {
        let labels = [Label::Weak, Label::Medium, Label::Strong];
        let found = report(&labels, &[0.2, 0.7, 0.9]);
        let interval = found.agreement_interval.unwrap();
        assert_eq!((interval.low, interval.high), (1.0, 1.0));
        // Whatever is drawn, the defaults agree with it, and so with the pairs that are not drawn.
        assert_eq!(found.expected_agreement, Some(1.0));
        // One pair cannot be resampled.
        let one = report(&labels[..1], &[0.2]);
        assert!(one.agreement_interval.is_none() && one.expected_agreement.is_none());
    }
}
