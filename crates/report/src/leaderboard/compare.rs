//! Two models on the same tasks, `m3.comparison/1`: differences with intervals and p-values, and the trajectories
//! that cause them.

use m3_score::Metric;
use m3_stats::{
    DifferentLengths, Draws, LEVEL, POWER, PassRate, Resamples, SIGNIFICANCE, bootstrap, holm,
    smallest_detectable_difference,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::board::known;
use super::decision::{
    ChangedTrajectory, ComparisonError, Decision, DifferenceReport, LEAST_TASKS, are_too_few,
};
use super::graded_sums::graded_sums;
use super::repeats::Passing;
use super::statistics::test_draws;
use super::{
    Average, FailuresReport, GradedSums, PassingReport, Selection, TrajectoryResult, failures, origin, values,
};
use crate::EstimateReport;

/// The version of this format.
pub const COMPARISON_SCHEMA: &str = "m3.comparison/1";

/// The most changed trajectories that are named.
const NAMED: usize = 10;

/// What `m3 compare --format json` writes. Differences are the second model's value less the first's.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "m3.comparison/1")]
pub struct Comparison {
    /// Always `m3.comparison/1`.
    pub schema: String,
    /// The first model, the baseline of the comparison.
    pub first: String,
    /// The second model.
    pub second: String,
    /// The profile of the definitions, such as `paper`.
    pub profile: String,
    /// The similarity by which calls were aligned: `cosine` or `typed`.
    pub similarity: String,
    /// How many tasks both are compared on.
    pub tasks: usize,
    /// Tasks of the first and of the second that the other does not have.
    pub left_out: (usize, usize),
    /// The common part of both scores' signatures, without the predictions; null if a score has no signature.
    pub signature: Option<String>,
    /// The tasks of each model that came to nothing; null if that is not known.
    pub failures: [Option<FailuresReport>; 2],
    /// Notes for the reader, such as on different failures or references.
    pub notes: Vec<String>,
    /// The metrics that the average is taken over, in words.
    pub average: String,
    /// The level of the intervals.
    pub level: f64,
    /// How many resamples and permutations were drawn.
    pub resamples: usize,
    /// The seed of the draws: the same seed gives the same numbers.
    pub seed: u64,
    /// A difference for each metric; the average comes last.
    pub differences: Vec<DifferenceReport>,
    /// The metric that decides.
    pub metric: String,
    /// The trajectories whose own value of the deciding metric changed most, either way; of equal changes, those with
    /// more calls.
    pub changed: Vec<ChangedTrajectory>,
    /// How much lower than the first model the second may be and still pass.
    pub margin: f64,
    /// The decision by the interval of the deciding difference: `pass` if it lies above minus the margin, `regress` if
    /// it lies below, else `inconclusive`, also without an interval and if any of fewer than 6 tasks changed.
    pub decision: Decision,
    /// Every task for which both models have the deciding metric, in the order of the ids; for formats that list all.
    #[serde(skip)]
    #[schemars(skip)]
    pub all_tasks: Vec<ChangedTrajectory>,
    /// How often both pass; left out unless both have repetitions with the same criterion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passing: Option<PassingComparison>,
}

/// The difference of two models in how often they pass.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PassingComparison {
    /// The number of trials, the criterion and the tasks behind the rates.
    #[serde(flatten)]
    pub passing: PassingReport,
    /// A difference for pass@1, pass@k and pass^k, means over tasks.
    pub differences: Vec<DifferenceReport>,
}

impl Comparison {
    /// Compares the two models of a selection, which have these `names`. The second passes if it is not lower by more
    /// than `margin` in `metric`; by default in the verdict, or in the average if the verdict is not known for both.
    ///
    /// # Errors
    /// [`ComparisonError`]
    ///
    /// # Panics
    /// If the selection has fewer than two models.
    pub fn new(
        names: (&str, &str),
        selection: &Selection<'_>,
        draws: &Draws,
        (metric, margin): (Option<Metric>, f64),
    ) -> Result<Self, ComparisonError> {
        let is_complete =
            |metric| selection.trajectories.iter().all(|model| known(model, metric) == model.len());
        let average = Average::of(is_complete);
        let is_compared = |metric: &Metric| {
            let has_some = selection.trajectories.iter().all(|model| known(model, *metric) > 0);
            is_complete(*metric) || metric.may_be_unknown() && has_some
        };
        let columns: Vec<Metric> = Metric::of_leaderboards().into_iter().filter(is_compared).collect();
        let usual = if columns.contains(&Metric::Verdict) { Metric::Verdict } else { Metric::Average };
        let deciding = metric.unwrap_or(usual);
        if !columns.contains(&deciding) {
            return Err(ComparisonError::NotKnown(deciding));
        }
        let sums = graded_sums(&selection.trajectories);
        let statistic = |sums: &GradedSums| values(sums, selection.profile, average);
        let resamples = bootstrap(&sums, statistic, draws)?;
        let mut failures = FailuresReport::of(selection).into_iter();
        let failures = [(); 2].map(|()| failures.next().flatten());
        let mut notes: Vec<String> = failures::note(&[names.0, names.1], &failures).into_iter().collect();
        notes.extend(selection.notes());
        let passing = Passing::of(selection);
        notes.extend(passing.as_ref().err().cloned());
        let mut differences = differences(&resamples, &columns, deciding, draws);
        decide_by_known(&mut differences, (selection, &sums), deciding, (&statistic, draws))?;
        let all_tasks = tasks(selection, &sums, deciding, statistic);
        let deciding = deciding.name();
        let difference = differences.iter().find(|found| found.metric == deciding);
        Ok(Self {
            schema: COMPARISON_SCHEMA.to_owned(),
            first: names.0.to_owned(),
            second: names.1.to_owned(),
            profile: selection.profile.name().to_owned(),
            similarity: selection.similarity.name().to_owned(),
            tasks: selection.ids.len(),
            left_out: (selection.left_out[0], selection.left_out[1]),
            signature: origin::common_signature(&selection.origins),
            failures,
            notes,
            average: average.description().to_owned(),
            level: LEVEL,
            resamples: draws.count,
            seed: draws.seed,
            decision: Decision::of(difference, &all_tasks, margin),
            metric: deciding.to_owned(),
            margin,
            differences,
            changed: changed(&all_tasks),
            all_tasks,
            passing: match passing.ok().flatten() {
                Some(passing) => passing_differences(passing, draws)?,
                None => None,
            },
        })
    }

    /// The difference in the metric that decides.
    #[must_use]
    pub fn deciding_difference(&self) -> Option<&DifferenceReport> {
        self.differences.iter().find(|found| found.metric == self.metric)
    }

    /// Whether the tasks are too few to decide anything.
    #[must_use]
    pub fn has_too_few_tasks(&self) -> bool {
        are_too_few(&self.all_tasks) || self.deciding_difference().is_none_or(|found| found.high.is_none())
    }

    /// Why the decision is what it is, as half a sentence.
    #[must_use]
    pub fn reason(&self) -> String {
        let Some(difference) = self.deciding_difference() else { return "nothing is compared".to_owned() };
        let (Some(low), Some(high)) = (difference.low, difference.high) else {
            return "one task has no interval".to_owned();
        };
        if are_too_few(&self.all_tasks) {
            let tasks = self.all_tasks.len();
            return format!(
                "{tasks} tasks are too few: from {LEAST_TASKS} on a difference can be told from chance"
            );
        }
        let beside = if self.margin > 0.0 { format!("-{}", self.margin) } else { "zero".to_owned() };
        let lies = match self.decision {
            Decision::Pass => "does not lie below",
            Decision::Regress => "lies below",
            Decision::Inconclusive => "lies on both sides of",
        };
        let metric = &self.metric;
        format!("the interval of the difference in {metric}, {low:+.4} to {high:+.4}, {lies} {beside}")
    }
}

fn differences(
    resamples: &Resamples<{ Metric::COUNT }>,
    columns: &[Metric],
    deciding: Metric,
    draws: &Draws,
) -> Vec<DifferenceReport> {
    let tests = columns.iter().filter(|metric| !metric.is_beside()).count();
    let p_values = resamples.flip_test(&[(1, 0)], &test_draws(draws, tests))[0];
    // Other metrics than the paper's are a separate family of tests, so that the paper's keep their p-values.
    let corrected: Vec<(Metric, f64)> = [false, true]
        .into_iter()
        .flat_map(|is_beside| {
            let is_tested = |metric: Metric| metric != Metric::Average && metric != deciding;
            let of_family = |metric: &&Metric| is_tested(**metric) && metric.is_beside() == is_beside;
            let family: Vec<Metric> = columns.iter().filter(of_family).copied().collect();
            let compared: Vec<f64> = family.iter().map(|metric| p_values[metric.index()]).collect();
            family.into_iter().zip(holm(&compared))
        })
        .collect();
    let report = |metric: &Metric| {
        let index = metric.index();
        let corrected = corrected.iter().find(|(other, _)| other == metric).map(|(_, corrected)| *corrected);
        difference(resamples, index, metric.name().to_owned(), (p_values[index], corrected))
    };
    columns.iter().map(report).collect()
}

/// Compares only the tasks for which both models have the deciding metric, if some lack it: resamples without any such
/// task would leave the metric without an interval.
fn decide_by_known(
    differences: &mut [DifferenceReport],
    (selection, sums): (&Selection<'_>, &[Vec<GradedSums>]),
    deciding: Metric,
    (statistic, draws): (&(impl Fn(&GradedSums) -> [f64; Metric::COUNT] + Sync), &Draws),
) -> Result<(), DifferentLengths> {
    let known: Vec<usize> =
        (0..selection.ids.len()).filter(|&task| is_known(selection, task, deciding)).collect();
    let row = differences.iter_mut().find(|found| found.metric == deciding.name());
    let Some(row) = row.filter(|_| known.len() < selection.ids.len()) else { return Ok(()) };
    let of_known = |model: &Vec<GradedSums>| known.iter().map(|&task| model[task]).collect::<Vec<_>>();
    let resamples = bootstrap(&sums.iter().map(of_known).collect::<Vec<_>>(), statistic, draws)?;
    let p_values = resamples.flip_test(&[(1, 0)], &test_draws(draws, 1))[0];
    *row = difference(&resamples, deciding.index(), row.metric.clone(), (p_values[deciding.index()], None));
    Ok(())
}

/// Whether both models have a metric for a task.
fn is_known(selection: &Selection<'_>, task: usize, metric: Metric) -> bool {
    let of_task = |model: &Vec<&TrajectoryResult>| known(&[model[task]], metric) > 0;
    metric == Metric::Average || selection.trajectories.iter().all(of_task)
}

/// The second model's value minus the first's, with its p-value and its corrected p-value.
fn difference<const M: usize>(
    resamples: &Resamples<M>,
    index: usize,
    metric: String,
    (p_value, corrected): (f64, Option<f64>),
) -> DifferenceReport {
    let has_p = resamples.trajectories() > 1;
    let found = resamples.difference(1, 0, index, LEVEL);
    let EstimateReport { value, low, high, has_no_spread } = found.into();
    DifferenceReport {
        metric,
        first: resamples.points()[0][index],
        second: resamples.points()[1][index],
        difference: value,
        low,
        high,
        p_value: has_p.then_some(p_value),
        corrected_p_value: corrected.filter(|_| has_p),
        has_no_spread,
        smallest_detectable: found
            .standard_error
            .filter(|error| *error > 0.0)
            .map(|error| smallest_detectable_difference(error, SIGNIFICANCE, POWER)),
    }
}

/// The differences in how often two models pass, as a separate family of tests; `None` unless both have repetitions.
fn passing_differences(
    passing: Passing,
    draws: &Draws,
) -> Result<Option<PassingComparison>, DifferentLengths> {
    let rates = passing.rates.resamples(draws)?;
    if rates.models() < 2 {
        return Ok(None);
    }
    let shown = passing.report.shown();
    let p_values = rates.flip_test(&[(1, 0)], &test_draws(draws, shown.len()))[0];
    let corrected = holm(&p_values[..shown.len()]);
    let of = |rate: &PassRate| {
        let index = *rate as usize;
        let p_values = (p_values[index], Some(corrected[index]));
        difference(&rates, index, rate.name(passing.report.k), p_values)
    };
    let differences = shown.iter().map(of).collect();
    Ok(Some(PassingComparison { passing: passing.report, differences }))
}

/// All tasks for which both models have a metric, with their values.
fn tasks(
    selection: &Selection<'_>,
    sums: &[Vec<GradedSums>],
    metric: Metric,
    statistic: impl Fn(&GradedSums) -> [f64; Metric::COUNT],
) -> Vec<ChangedTrajectory> {
    let value = |sums: &GradedSums| statistic(sums)[metric.index()];
    let of = |(index, id): (usize, &&str)| {
        let (first, second) = (value(&sums[0][index]), value(&sums[1][index]));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of calls")]
        let reference_calls = (sums[0][index].sums.reference_calls / sums[0][index].trajectories) as u64;
        ChangedTrajectory {
            id: (*id).to_owned(),
            task_type: selection.trajectories[0][index].task_type.clone(),
            first,
            second,
            change: second - first,
            reference_calls,
        }
    };
    let ids = selection.ids.iter().enumerate();
    ids.filter(|(index, _)| is_known(selection, *index, metric)).map(of).collect()
}

/// The tasks whose own value changed most.
fn changed(tasks: &[ChangedTrajectory]) -> Vec<ChangedTrajectory> {
    let mut found: Vec<&ChangedTrajectory> = tasks.iter().filter(|found| found.is_changed()).collect();
    // The sort is stable: equal changes stay in the order of the ids.
    found.sort_by(|a, b| {
        b.change.abs().total_cmp(&a.change.abs()).then(b.reference_calls.cmp(&a.reference_calls))
    });
    found.into_iter().take(NAMED).cloned().collect()
}
