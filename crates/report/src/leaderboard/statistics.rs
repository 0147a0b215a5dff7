//! How certain a leaderboard is: intervals, ranks, and which models differ significantly.
//!
//! A few models are tested pair by pair. With many models there are too many pairs for permutations, so only the
//! pairs that decide about groups are tested, by a bound of the p-value. The best model of a group is chosen from the
//! same data, so the correction is for all pairs, tested or not.

use m3_score::Metric;
use m3_stats::{
    DifferentLengths, Draws, Estimate, LEVEL, POWER, RankInterval, Resamples, SIGNIFICANCE, estimates,
    groups, holm, least_bound, least_p_value, pairs, smallest_detectable_difference, tail_constant,
    tie_groups,
};
use m3_support::text::counted;

use super::graded_sums::graded_sums;
use super::report::{TestMethod, TestsReport};
use super::{Average, GradedSums, Selection, values};

/// Up to this number of models, all pairs are tested by permutations: for their 496 pairs, 100,000 permutations give
/// p-values ten times smaller than the correction requires.
const MOST_PERMUTED: usize = 32;

/// How many permutations to draw so that the smallest p-value, corrected for `tests`, can be far below the
/// significance level.
pub(super) fn test_draws(draws: &Draws, tests: usize) -> Draws {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of draws")]
    let wanted = (10.0 * tests as f64 / SIGNIFICANCE) as usize;
    Draws { count: draws.count.max(wanted), ..*draws }
}

/// The results of resampling the models with trajectories, in their order.
pub(super) struct Statistics {
    /// The estimate of each metric.
    pub(super) estimates: Vec<[Estimate; Metric::COUNT]>,
    /// The number of resamples.
    pub(super) resamples: usize,
    pub(super) ranks: Vec<RankInterval>,
    pub(super) tests: Tests,
    tasks: usize,
}

/// The results of the tests.
pub(super) struct Tests {
    pub(super) groups: Vec<usize>,
    pub(super) report: TestsReport,
    /// The median of the smallest significant differences of the tested pairs.
    pub(super) smallest_difference: Option<f64>,
    /// The smallest corrected p-value that a pair can have.
    least_p_value: f64,
}

impl Statistics {
    pub(super) fn new(
        selection: &Selection<'_>,
        (average, by): (Average, Metric),
        draws: &Draws,
    ) -> Result<Self, DifferentLengths> {
        let sums = graded_sums(&selection.trajectories);
        let statistic = |sums: &GradedSums| values(sums, selection.profile, average);
        let (estimates, averages) = estimates(&sums, statistic, by.index(), LEVEL, draws)?;
        let is_permuted = averages.models() <= MOST_PERMUTED;
        Ok(Self {
            estimates,
            resamples: averages.count(),
            ranks: averages.ranks(0, LEVEL),
            tests: if is_permuted { permuted(&averages, draws) } else { bounded(&averages) },
            tasks: selection.ids.len(),
        })
    }

    /// The note if the tests cannot find any difference.
    pub(super) fn note(&self) -> Option<String> {
        let Tests { report: TestsReport { pairs, method, .. }, least_p_value, .. } = self.tests;
        let is_blind = pairs > 0 && least_p_value >= SIGNIFICANCE;
        is_blind.then(|| {
            format!(
                "groups mean nothing here: with {} and {} of models no difference can be significant{}",
                counted(self.tasks, "task"),
                counted(pairs, "pair"),
                match method {
                    TestMethod::Permutations => "",
                    TestMethod::Bound => " by the bound on p-values that is used for so many models",
                }
            )
        })
    }
}

/// Tests all pairs by permutations.
fn permuted(averages: &Resamples<1>, draws: &Draws) -> Tests {
    let pairs = pairs(averages.models());
    let permutations = test_draws(draws, pairs.len());
    let p_values: Vec<f64> = averages.flip_test(&pairs, &permutations).into_iter().flatten().collect();
    let significance = SIGNIFICANCE / pairs.len().max(1) as f64;
    let errors = pairs.iter().filter_map(|&(a, b)| averages.difference(a, b, 0, LEVEL).standard_error);
    Tests {
        groups: tie_groups(&points(averages), &pairs, &holm(&p_values), SIGNIFICANCE),
        smallest_difference: median_difference(errors, significance),
        least_p_value: least_p_value(averages.trajectories(), &permutations) * pairs.len() as f64,
        report: TestsReport { method: TestMethod::Permutations, tested: pairs.len(), pairs: pairs.len() },
    }
}

/// Tests the best model of each group against the models below it that are in no better group.
fn bounded(averages: &Resamples<1>) -> Tests {
    let models = averages.models();
    let pairs = models * models.saturating_sub(1) / 2;
    let significance = SIGNIFICANCE / pairs.max(1) as f64;
    let bounds = averages.flip_bounds(0);
    let mut errors = Vec::new();
    let groups = groups(&points(averages), |best, model| {
        errors.push(bounds.standard_error(best, model));
        bounds.p_value(best, model) < significance
    });
    let tested = errors.len();
    Tests {
        groups,
        smallest_difference: median_difference(errors.into_iter(), significance / tail_constant()),
        least_p_value: least_bound(averages.trajectories()) * pairs as f64,
        report: TestsReport { method: TestMethod::Bound, tested, pairs },
    }
}

fn points(averages: &Resamples<1>) -> Vec<f64> {
    averages.points().iter().map(|[average]| *average).collect()
}

/// The median of the smallest differences that tests with these standard errors find; `None` if no pair differs.
fn median_difference(errors: impl Iterator<Item = f64>, significance: f64) -> Option<f64> {
    let differences = errors
        .filter(|error| *error > 0.0)
        .map(|error| smallest_detectable_difference(error, significance, POWER));
    let mut values: Vec<f64> = differences.collect();
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}
