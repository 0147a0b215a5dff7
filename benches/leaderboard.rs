//! What the statistics of a leaderboard cost: `cargo bench --bench leaderboard`.
//!
//! As large as the paper's table 2: 14 models, 208 trajectories, six metrics and their average, 10,000 draws; and a
//! thousand models of as many.

use divan::{Bencher, black_box};
use m3_score::{Metric, Profile, Sum, WeightedSums};
use m3_stats::{Draws, Estimate, LEVEL, RankInterval, Resamples, bootstrap, estimates, groups, pairs};

const MODELS: usize = 14;
const TRAJECTORIES: usize = 208;

fn main() {
    divan::main();
}

/// Numbers that are the same on every run (Knuth's linear congruential generator).
fn random() -> impl FnMut(u64) -> f64 {
    let mut seed = 42_u64;
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) % below) as f64
    }
}

/// Models with sums like real ones: 1 to 10 calls a trajectory, two thirds of them matched.
fn models(count: usize) -> Vec<Vec<WeightedSums>> {
    let mut random = random();
    let mut trajectory = || {
        let reference_calls = 1.0 + random(10);
        let matched = (reference_calls - random(4)).max(0.0);
        let mut share = |of: f64| of * (0.6 + random(400) / 1000.0);
        WeightedSums {
            trajectories: 1.0,
            failed: 0.0,
            reference_calls,
            predicted_calls: matched + 1.0,
            matched,
            strong: (matched - 1.0).max(0.0),
            of_metrics: Metric::ALL.map(|metric| match metric.sum() {
                Some(Sum::OfPairs(_)) => share(matched),
                Some(Sum::OfTrajectories(_)) => share(reference_calls),
                Some(Sum::Matched | Sum::MeanInPairs(_) | Sum::MeanOfTrajectories(_)) | None => 0.0,
            }),
            ..WeightedSums::default()
        }
    };
    (0..count).map(|_| (0..TRAJECTORIES).map(|_| trajectory()).collect()).collect()
}

/// All metrics.
fn statistic(sums: &WeightedSums) -> [f64; Metric::COUNT] {
    let metrics = sums.metrics(Profile::Paper);
    Metric::ALL.map(|metric| metrics[metric])
}

fn resample(models: &[Vec<WeightedSums>]) -> Option<Resamples<{ Metric::COUNT }>> {
    bootstrap(models, statistic, &Draws::default()).ok()
}

/// Everything that a table with intervals and ranks needs.
#[divan::bench(sample_count = 10)]
fn intervals_and_ranks(bencher: Bencher<'_, '_>) {
    let models = models(MODELS);
    bencher.bench(|| -> Option<(Vec<Estimate>, Vec<RankInterval>)> {
        let resamples = resample(black_box(&models))?;
        let places = (0..MODELS).flat_map(|model| (0..7).map(move |metric| (model, metric)));
        let estimates = places.map(|(model, metric)| resamples.estimate(model, metric, LEVEL)).collect();
        Some((estimates, (0..7).flat_map(|metric| resamples.ranks(metric, LEVEL)).collect()))
    });
}

/// The tests of all 91 pairs.
#[divan::bench(sample_count = 10)]
fn tests_of_all_pairs(bencher: Bencher<'_, '_>) {
    let Some(resamples) = resample(&models(MODELS)) else { return };
    let pairs = pairs(MODELS);
    bencher.bench(|| black_box(&resamples).flip_test(&pairs, &Draws::default()));
}

/// The differences of all 91 pairs with their intervals.
#[divan::bench(sample_count = 10)]
fn differences_of_all_pairs(bencher: Bencher<'_, '_>) {
    let Some(resamples) = resample(&models(MODELS)) else { return };
    let pairs = pairs(MODELS);
    bencher.bench(|| -> Vec<Estimate> {
        let pairs = pairs.iter().flat_map(|&pair| (0..7).map(move |metric| (pair, metric)));
        pairs.map(|((first, second), metric)| resamples.difference(first, second, metric, LEVEL)).collect()
    });
}

/// Intervals, ranks and groups of a thousand models.
#[divan::bench(sample_count = 1)]
fn a_thousand_models(bencher: Bencher<'_, '_>) {
    let models = models(1000);
    bencher.bench(|| -> Option<(Vec<RankInterval>, Vec<usize>)> {
        let (_, averages) =
            estimates(black_box(&models), statistic, Metric::Average.index(), LEVEL, &Draws::default())
                .ok()?;
        let points: Vec<f64> = averages.points().iter().map(|[average]| *average).collect();
        let bounds = averages.flip_bounds(0);
        let groups = groups(&points, |best, model| bounds.p_value(best, model) < 1e-7);
        Some((averages.ranks(0, LEVEL), groups))
    });
}
