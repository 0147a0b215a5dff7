//! Builds the JSON of a score from the scorer's results.

use m3_embedding::Identity;
use m3_score::fidelity::model::BUILT_IN_DIGEST;
use m3_score::{ComparedPair, ExactSums, Profile, ScoreOptions};

use super::{
    AggregateReport, ArgumentReport, BestPrediction, BestReference, CoverageReport, EncoderReport,
    FidelityModelReport, FurtherPairReport, InputsReport, JobReport, JobsReport, MatchOptionsReport,
    MatchReport, MatchedReport, Named, RegionsReport, RejectedMatchesReport, ResultsReport, SCORE_SCHEMA,
    ScoreSummary, ThresholdsReport, TrajectoryReport, UnmatchedPredictionReport, UnmatchedReferenceReport,
    VerdictReport, by_tool, signature,
};
use crate::metrics::MetricsReport;
use crate::{Places, ToolNamesReport};

impl ScoreSummary {
    /// Makes the summary of a report.
    #[must_use]
    pub fn new(
        summary: &m3_score::Summary,
        encoder: &Identity,
        options: &ScoreOptions<'_>,
        inputs: InputsReport,
        tool_names: ToolNamesReport,
    ) -> Self {
        let ScoreOptions { profile, similarity, flow, thresholds, model, verdicts, .. } = *options;
        let model = model.map_or(BUILT_IN_DIGEST, |model| model.digest());
        let aggregate = |sums: &ExactSums| AggregateReport {
            matched_whole: verdicts.map(|options| MatchedReport {
                mode: options.mode.name(),
                passed: sums.passed,
                of: sums.trajectories,
            }),
            ..AggregateReport::of_set(sums, profile)
        };
        let by_type = summary.by_type.iter();
        let (matches, count) = summary.findings.rejected_matches();
        let unsigned = Self {
            schema: SCORE_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            signature: String::new(),
            inputs,
            profile: profile.name().to_owned(),
            encoder: EncoderReport {
                name: encoder.name.clone(),
                fingerprint: encoder.fingerprint.clone(),
                dimensions: encoder.dimensions,
                max_tokens: encoder.max_tokens,
            },
            fidelity_model: Some(FidelityModelReport::new(model)),
            asked: None,
            similarity: similarity.name().to_owned(),
            flow: flow.name().to_owned(),
            results: ResultsReport::of(&summary.survey),
            thresholds: ThresholdsReport { weak: thresholds.weak(), strong: thresholds.strong() },
            tool_names,
            match_options: verdicts.map(MatchOptionsReport::from),
            coverage: CoverageReport::from(&summary.ledger),
            no_images: false,
            ledger: summary.ledger.clone().into(),
            aggregate: aggregate(&summary.aggregate),
            by_type: by_type.map(|(name, sums)| (name.clone(), aggregate(sums))).collect(),
            costs: by_tool::costs(&summary.by_tool, &summary.aggregate),
            by_tool: by_tool::tools(&summary.by_tool),
            wrong_arguments: summary.findings.wrong_arguments(),
            rejected_matches: RejectedMatchesReport { count, matches },
            repeats: None,
            suites: Named::default(),
            trajectories: Vec::new(),
        };
        Self { signature: signature(&unsigned), ..unsigned }
    }
}

impl AggregateReport {
    /// The numbers of a set, with how many trajectories did their job.
    #[must_use]
    pub fn of_set(sums: &ExactSums, profile: Profile) -> Self {
        Self { jobs: JobsReport::new(sums, profile), ..Self::new(sums, profile) }
    }

    /// The numbers of one trajectory.
    #[must_use]
    pub fn new(sums: &ExactSums, profile: Profile) -> Self {
        Self {
            trajectories: sums.trajectories,
            reference_calls: sums.reference_calls,
            predicted_calls: sums.predicted_calls,
            matched: sums.matched,
            metrics: MetricsReport(sums.metrics(profile)),
            average_steps: sums.average_steps(),
            average_calls: sums.average_calls(),
            jobs: None,
            matched_whole: None,
        }
    }
}

impl TrajectoryReport {
    /// The report of one trajectory.
    #[must_use]
    pub fn new(scored: m3_score::TrajectoryScore, profile: Profile) -> Self {
        let matching = scored.matching;
        let further_pairs = scored.compared.iter().skip(matching.matches.len());
        let tool_of = |reference: usize| {
            let mut alone = matching.unmatched_references.iter();
            alone.find(|alone| alone.place.index == reference).map(|alone| alone.tool.clone())
        };
        let further_pairs = further_pairs
            .map(|pair| FurtherPairReport::new(tool_of(pair.reference.index).unwrap_or_default(), pair))
            .collect();
        Self {
            metrics: AggregateReport::new(&scored.sums, profile),
            id: scored.id,
            repeat: None,
            task_type: scored.task_type,
            failure: scored.failure.map(|failure| failure.name().to_owned()),
            verdict: scored.verdict.map(VerdictReport::from),
            job: scored.job.as_ref().map(JobReport::from),
            matches: matching
                .matches
                .into_iter()
                .zip(&scored.compared)
                .map(|(pair, compared)| MatchReport::new(pair, compared))
                .collect(),
            further_pairs,
            unmatched_references: matching.unmatched_references.into_iter().map(Into::into).collect(),
            unmatched_predictions: matching.unmatched_predictions.into_iter().map(Into::into).collect(),
            outcomes: None,
            grades: None,
            suites: Named::default(),
            usage: None,
            places: Places::default(),
        }
    }
}

impl MatchReport {
    fn new(pair: m3_score::Match, compared: &ComparedPair) -> Self {
        let is_other = compared.predicted != pair.predicted;
        Self {
            compared_with: is_other.then_some(compared.predicted),
            tool: pair.tool,
            similarity: pair.similarity,
            strength: if pair.is_strong { Self::STRONG } else { Self::WEAK }.to_owned(),
            reference: pair.reference,
            predicted: pair.predicted,
            argument_fidelity: compared.fidelity.score,
            wrong_arguments: ArgumentReport::of_wrong(&compared.fidelity),
            regions: RegionsReport::of(&compared.fidelity.regions),
        }
    }
}

impl FurtherPairReport {
    fn new(tool: String, pair: &ComparedPair) -> Self {
        Self {
            tool,
            reference: pair.reference,
            predicted: pair.predicted,
            argument_fidelity: pair.fidelity.score,
            wrong_arguments: ArgumentReport::of_wrong(&pair.fidelity),
        }
    }
}

impl From<m3_score::UnmatchedCall> for UnmatchedReferenceReport {
    fn from(unmatched: m3_score::UnmatchedCall) -> Self {
        let best = unmatched.best.map(|(predicted, similarity)| BestPrediction { predicted, similarity });
        Self {
            place: unmatched.place,
            tool: unmatched.tool,
            reason: unmatched.reason.name().to_owned(),
            best,
        }
    }
}

impl From<m3_score::UnmatchedCall> for UnmatchedPredictionReport {
    fn from(unmatched: m3_score::UnmatchedCall) -> Self {
        let best = unmatched.best.map(|(reference, similarity)| BestReference { reference, similarity });
        Self {
            place: unmatched.place,
            tool: unmatched.tool,
            reason: unmatched.reason.name().to_owned(),
            best,
        }
    }
}
