//! Do two models differ? [`Resamples::flip_test`] gives p-values, [`holm`] corrects them for their number, and
//! [`smallest_detectable_difference`] tells which difference a set of this size can show at all.
//!
//! The difference itself, its interval and standard error are [`Resamples::difference`].

use rand::RngExt;
use statrs::distribution::{ContinuousCDF, Normal};

use super::draws::Purpose;
use super::{Draws, ROUNDING, Resamples};

/// Up to this number of trajectories all permutations are counted: 2^12 are fewer than the usual number of draws.
const MAX_EXACT: usize = 12;

/// The number of permutations in one piece of work.
const BLOCK: usize = 128;

/// All pairs of this many models, the lower index first: (0, 1), (0, 2) ... (1, 2) ...
#[must_use]
pub fn pairs(models: usize) -> Vec<(usize, usize)> {
    (0..models).flat_map(|first| (first + 1..models).map(move |second| (first, second))).collect()
}

/// The smallest p-value that a flip test on this many trajectories can have.
#[must_use]
pub fn least_p_value(trajectories: usize, draws: &Draws) -> f64 {
    if trajectories <= MAX_EXACT {
        // The actual permutation and its mirror image.
        (2.0 / f64::from(1_u32 << trajectories)).min(1.0)
    } else {
        1.0 / (1 + draws.count) as f64
    }
}

impl<const M: usize> Resamples<M> {
    /// Two-sided p-values, in (0, 1], for each pair of models and each metric: `[pairs][M]`.
    ///
    /// If two models are equally good, it is chance which of them a trajectory favours, and by how much. So the
    /// contribution of each trajectory to the difference has its sign flipped with probability 1/2, and p is the
    /// share of such permutations in which the contributions add up to at least as large a difference, in either
    /// direction, as the actual one: (1 + count) / (1 + `draws.count`), where the 1 is the actual permutation
    /// (Phipson and Smyth, 2010), so p is never 0. Up to 12 trajectories all 2^n permutations are counted instead; p
    /// is then never smaller than 2 / 2^n. The same flips are used for all pairs, which does not change the test of
    /// each.
    ///
    /// The contribution of a trajectory is its pseudo-value, computed by leaving it out (Tukey's jackknife). For
    /// means this is its value, and flipping the sign of a difference swaps the trajectories of the two models. For
    /// ratios, such swaps would test more than intended, because swapped sums also mix the numbers of calls: if one
    /// model makes four times as many calls as another of the same precision, 11 of 100 such pairs are found
    /// different at 0.05. With pseudo-values it is 5 of 100 (both in simulations, 8 to 80 trajectories).
    ///
    /// A NaN counts as the largest difference. Takes time models x M x trajectories x `draws.count`.
    ///
    /// # Panics
    /// When a pair has a model that does not exist.
    #[must_use]
    pub fn flip_test(&self, pairs: &[(usize, usize)], draws: &Draws) -> Vec<[f64; M]> {
        let trajectories = self.trajectories();
        let exact = trajectories <= MAX_EXACT;
        let permutations = if exact { 1 << trajectories } else { draws.count };
        let test = FlipTest::new(self, pairs);
        let mut counts = vec![[0_u32; M]; permutations.div_ceil(BLOCK) * pairs.len()];
        draws.fill_rows(&mut counts, pairs.len(), |block, counts| {
            let end = permutations.min((block + 1) * BLOCK);
            for permutation in block * BLOCK..end {
                let flipped: Vec<usize> = if exact {
                    (0..trajectories).filter(|trajectory| permutation >> trajectory & 1 == 1).collect()
                } else {
                    random_half(trajectories, draws, permutation)
                };
                test.count(&flipped, counts);
            }
        });
        let happened = usize::from(!exact);
        let share = |count: u64| (count as f64 + happened as f64) / (permutations + happened) as f64;
        (0..pairs.len()).map(|pair| sum_of_blocks(&counts, pairs.len(), pair).map(share)).collect()
    }
}

/// The counts of a pair, added up over all blocks.
fn sum_of_blocks<const M: usize>(counts: &[[u32; M]], pairs: usize, pair: usize) -> [u64; M] {
    let mut sums = [0; M];
    for block in counts.iter().skip(pair).step_by(pairs) {
        for (sum, &count) in sums.iter_mut().zip(block) {
            *sum += u64::from(count);
        }
    }
    sums
}

/// A random subset: each trajectory with probability 1/2.
fn random_half(trajectories: usize, draws: &Draws, permutation: usize) -> Vec<usize> {
    let mut random = draws.random(Purpose::Flip, permutation);
    let mut chosen = Vec::with_capacity(trajectories);
    for start in (0..trajectories).step_by(64) {
        let bits: u64 = random.random();
        let end = trajectories.min(start + 64);
        chosen.extend((start..end).filter(|trajectory| bits >> (trajectory - start) & 1 == 1));
    }
    chosen
}

/// The data that all permutations need.
struct FlipTest<'pairs, const M: usize> {
    models: usize,
    pairs: &'pairs [(usize, usize)],
    /// The pseudo-values, `[trajectories x models]`. They add up to trajectories x the value of the set.
    pseudo_values: Vec<[f64; M]>,
    /// The sum of the pseudo-values of each model, `[models]`.
    totals: Vec<[f64; M]>,
    /// The size at which a sum of differences counts as at least as large as the actual one, `[pairs]`.
    thresholds: Vec<[f64; M]>,
}

impl<'pairs, const M: usize> FlipTest<'pairs, M> {
    fn new(resamples: &Resamples<M>, pairs: &'pairs [(usize, usize)]) -> Self {
        let trajectories = resamples.trajectories() as f64;
        let totals: Vec<[f64; M]> =
            resamples.points().iter().map(|point| point.map(|value| value * trajectories)).collect();
        let threshold = |&(first, second): &(usize, usize)| {
            let (first, second): ([f64; M], [f64; M]) = (totals[first], totals[second]);
            std::array::from_fn(|metric| {
                let scale = first[metric].abs().max(second[metric].abs());
                (first[metric] - second[metric]).abs() - ROUNDING * scale
            })
        };
        let thresholds = pairs.iter().map(threshold).collect();
        let pseudo_values = resamples.pseudo_values();
        Self { models: resamples.models(), pairs, pseudo_values, totals, thresholds }
    }

    /// Adds 1 to the count of each pair and metric whose difference is at least as large after these trajectories are
    /// flipped.
    fn count(&self, flipped: &[usize], counts: &mut [[u32; M]]) {
        // Flipping a sign subtracts twice the pseudo-value.
        let mut sums = self.totals.clone();
        for &trajectory in flipped {
            let values = &self.pseudo_values[trajectory * self.models..][..self.models];
            for (sum, value) in sums.iter_mut().flatten().zip(values.iter().flatten()) {
                *sum -= 2.0 * value;
            }
        }
        for ((&(first, second), thresholds), counts) in self.pairs.iter().zip(&self.thresholds).zip(counts) {
            for (metric, count) in counts.iter_mut().enumerate() {
                let smaller = (sums[first][metric] - sums[second][metric]).abs() < thresholds[metric];
                *count += u32::from(!smaller);
            }
        }
    }
}

/// p-values corrected for their number: if all those below 0.05 are taken as real, the probability of even one false
/// alarm is at most 5 %. They are in the order of `p_values`, none is smaller than before, and all are at most 1.
///
/// Holm (1979): the smallest of n is multiplied by n, the next by n - 1 and so on, none smaller than the one before.
/// This holds for any dependence between the tests. The smallest p-value of a flip test is 1 / (1 + draws), so with
/// 10,000 draws nothing can stay below 0.05 among more than 500 p-values.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut smallest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        smallest = smallest.max(p_values[index] * (p_values.len() - rank) as f64).min(1.0);
        corrected[index] = smallest;
    }
    corrected
}

/// The smallest true difference that a two-sided test of `significance` finds with probability `power` (both in (0, 1),
/// NaN beyond), in the unit of `standard_error`, which is that of the paired difference.
///
/// (z of 1 - significance / 2 + z of power) x standard error: Miller (2024), "Adding error bars to evals",
/// arXiv 2411.00640. For 0.05 and 0.8 that is 2.80 standard errors.
#[must_use]
pub fn smallest_detectable_difference(standard_error: f64, significance: f64, power: f64) -> f64 {
    let possible = |share: f64| share > 0.0 && share < 1.0;
    if !possible(significance) || !possible(power) {
        return f64::NAN;
    }
    let normal = Normal::standard();
    (normal.inverse_cdf(1.0 - significance / 2.0) + normal.inverse_cdf(power)) * standard_error
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::simulation::{Ratio, Task, ratio, simulate_pair};
    use crate::{Additive, LEVEL, POWER, SIGNIFICANCE, bootstrap};

    fn draws(count: usize, seed: u64) -> Draws {
        Draws { count, seed, threads: None }
    }

    /// The p-values of all pairs, without resamples, which the test does not need.
    fn p_values<S: Additive>(models: &[Vec<S>], statistic: fn(&S) -> [f64; 1], draws: &Draws) -> Vec<f64> {
        let resamples = bootstrap(models, statistic, &Draws { count: 0, ..*draws }).unwrap();
        let p_values = resamples.flip_test(&pairs(models.len()), draws);
        p_values.into_iter().flatten().collect()
    }

    fn p_value(models: &[Vec<Ratio>], draws: &Draws) -> f64 {
        p_values(models, ratio, draws)[0]
    }

    /// The number, of 100, of simulated sets whose models differ at 0.05.
    fn alarms(sets: u64, trajectories: usize, worse: f64) -> f64 {
        let alarms = (0..sets).filter(|&set| {
            let models = simulate_pair(set, trajectories, Task::chance, |task| task.chance() - worse);
            p_value(&models, &draws(199, set)) <= SIGNIFICANCE
        });
        100.0 * alarms.count() as f64 / sets as f64
    }

    #[test]
    fn five_of_a_hundred_equal_models_are_found_different() {
        let alarms = alarms(600, 80, 0.0);
        assert!((2.0..=8.0).contains(&alarms), "{alarms} of 100");
    }

    #[test]
    fn few_trajectories_do_not_raise_more_alarms() {
        let alarms = alarms(600, 10, 0.0);
        assert!((2.0..=8.0).contains(&alarms), "{alarms} of 100");
    }

    /// The rate of false alarms also holds for precision, whose denominators depend on the model.
    #[test]
    fn a_model_that_makes_many_more_calls_is_not_worse_for_it() {
        let flagged = (0..600).filter(|&set| {
            let [first, _] = simulate_pair(2 * set, 40, |_| 0.6, |_| 0.6);
            let many = (0..4).map(|part| simulate_pair(10_000 + 4 * set + part, 40, |_| 0.6, |_| 0.6));
            let second = many.fold(vec![Ratio::default(); 40], |mut sums, [part, _]| {
                for (sum, trajectory) in sums.iter_mut().zip(part) {
                    *sum += trajectory;
                }
                sums
            });
            p_value(&[first, second], &draws(199, set)) <= SIGNIFICANCE
        });
        let alarms = 100.0 * flagged.count() as f64 / 600.0;
        assert!((2.0..=8.0).contains(&alarms), "{alarms} of 100");
    }

    #[test]
    fn true_differences_are_found() {
        let alarms = alarms(100, 80, 0.15);
        assert!(alarms >= 90.0, "{alarms} of 100");
    }

    /// A model that is worse by the smallest detectable difference is found in 80 of 100 sets.
    #[test]
    fn the_smallest_detectable_difference_is_found_as_often_as_it_says() {
        let (sets, trajectories, worse) = (200, 80, 0.1);
        let smallest = |set| {
            let models = simulate_pair(set, trajectories, Task::chance, |task| task.chance() - worse);
            let difference = bootstrap(&models, ratio, &draws(200, set)).unwrap().difference(0, 1, 0, LEVEL);
            smallest_detectable_difference(difference.standard_error.unwrap(), SIGNIFICANCE, POWER)
        };
        let mean = (0..sets).map(smallest).sum::<f64>() / sets as f64;
        let alarms = alarms(sets, trajectories, mean);
        assert!((70.0..=90.0).contains(&alarms), "{alarms} of 100 at a difference of {mean}");
    }

    #[test]
    fn intervals_of_differences_cover_the_truth_as_often_as_they_say() {
        let worse = 0.07;
        let covered = (0..300).filter(|&set| {
            let models = simulate_pair(set, 60, Task::chance, |task| task.chance() - worse);
            let difference = bootstrap(&models, ratio, &draws(500, set)).unwrap().difference(0, 1, 0, LEVEL);
            let interval = difference.interval.unwrap();
            interval.low <= worse && worse <= interval.high
        });
        let covered = covered.count();
        assert!((270..=294).contains(&covered), "{covered} of 300");
    }

    /// By hand: with all signs, 1, 2 and 4 add up to 7, 5, 3, 1 and their negatives. Of these eight, two are at least
    /// as large as 7, six at least as large as 3, and all at least as large as 1.
    #[test]
    fn few_trajectories_are_counted_exactly() {
        let test = |first: [f64; 3]| {
            let models = [first.to_vec(), vec![0.0; 3]];
            p_values(&models, |&sum| [sum], &draws(1, 0))[0].to_bits()
        };
        assert_eq!(test([1.0, 2.0, 4.0]), 0.25_f64.to_bits());
        assert_eq!(test([1.0, -2.0, 4.0]), 0.75_f64.to_bits());
        assert_eq!(test([1.0, 2.0, -4.0]), 1.0_f64.to_bits());
    }

    /// Rounding must not make an equally large permutation look smaller: 0.1 + 0.2 is not 0.3.
    #[test]
    fn ties_count_whatever_the_rounding() {
        let models = [vec![0.1, 0.2, 0.0], vec![0.0, 0.0, 0.3]];
        assert_eq!(p_values(&models, |&sum| [sum], &draws(1, 0))[0].to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn drawn_permutations_agree_with_counted_ones() {
        let mut first: Vec<f64> = (0..12).map(|index| f64::from(index * index % 7) - 1.2).collect();
        let exact = p_values(&[first.clone(), vec![0.0; 12]], |&sum| [sum], &draws(1, 0))[0];
        // A trajectory that contributes nothing changes no difference, but is one too many to count all permutations.
        first.push(0.0);
        let drawn = p_values(&[first, vec![0.0; 13]], |&sum| [sum], &draws(20_000, 0))[0];
        assert!(exact > 0.02 && exact < 0.5, "{exact}");
        assert!((exact - drawn).abs() < 0.015, "{exact} and {drawn}");
    }

    #[test]
    fn equal_models_and_empty_sets_do_not_differ() {
        let one = |models: &[Vec<Ratio>]| p_value(models, &draws(100, 0)).to_bits() == 1.0_f64.to_bits();
        assert!(one(&[vec![], vec![]]), "no trajectories");
        let [first, second] = simulate_pair(1, 1, Task::chance, |_| 0.0);
        assert!(one(&[first, second]), "one trajectory");
        let [first, _] = simulate_pair(1, 50, Task::chance, Task::chance);
        assert!(one(&[first.clone(), first]), "twice the same");
    }

    #[test]
    fn all_pairs_at_once_are_each_pair_alone_on_any_number_of_threads() {
        let [a, b] = simulate_pair(1, 70, Task::chance, |task| task.chance() - 0.1);
        let [c, _] = simulate_pair(2, 70, Task::chance, Task::chance);
        let resamples = bootstrap(&[a, b, c], ratio, &draws(1, 0)).unwrap();
        let test = |pairs: &[(usize, usize)], threads| {
            resamples.flip_test(pairs, &Draws { threads: NonZero::new(threads), ..draws(1000, 5) })
        };
        let all = test(&pairs(3), 1);
        for threads in [1, 2, 5, 0] {
            assert_eq!(test(&pairs(3), threads), all, "{threads} threads");
        }
        for (pair, p) in pairs(3).into_iter().zip(all) {
            assert_eq!(test(&[pair], 2), [p]);
            assert_eq!(test(&[(pair.1, pair.0)], 2), [p], "the order does not matter");
        }
        assert_eq!(test(&[], 2).len(), 0);
    }

    /// Of sets of four equal models, with six pairs each, 1 in 20 may have a significant pair after Holm's correction;
    /// without it, many more have one.
    #[test]
    fn corrected_tests_of_all_pairs_raise_few_alarms_together() {
        let (sets, mut corrected, mut uncorrected) = (200, 0, 0);
        for set in 0..sets {
            let mut random = draws(1, set).random(Purpose::Resample, 0);
            let models: Vec<Vec<f64>> =
                (0..4).map(|_| (0..40).map(|_| random.random::<f64>()).collect()).collect();
            let all = pairs(4);
            let resamples = bootstrap(&models, |sum: &f64| [*sum], &draws(2, set)).unwrap();
            let p_values: Vec<f64> =
                resamples.flip_test(&all, &draws(1000, set)).into_iter().map(|[p]| p).collect();
            let has_alarm = |p_values: &[f64]| usize::from(p_values.iter().any(|p| *p < 0.05));
            uncorrected += has_alarm(&p_values);
            corrected += has_alarm(&holm(&p_values));
        }
        // Within three standard errors of 5 %: sqrt(0.05 x 0.95 / 200) = 0.015.
        assert!(corrected as f64 / sets as f64 <= 0.10, "{corrected} of {sets}");
        assert!(uncorrected > 2 * corrected, "{uncorrected}, corrected {corrected}");
    }

    /// By hand: 0.01 x 4, 0.02 x 3, 0.03 x 2 (= 0.06, not less than the one before), 0.5 x 1.
    #[test]
    fn holms_correction_is_that_calculated_by_hand() {
        let corrected = holm(&[0.03, 0.5, 0.01, 0.02]);
        for (value, expected) in corrected.iter().zip([0.06, 0.5, 0.04, 0.06]) {
            assert!((value - expected).abs() < 1e-15, "{corrected:?}");
        }
        assert_eq!(holm(&[0.5, 0.9]), [1.0, 1.0], "0.5 x 2 is 1, and 0.9 may not be below");
        assert_eq!(holm(&[0.04]), [0.04]);
        assert!(holm(&[]).is_empty());
    }

    /// Miller (2024), section 5: 198 questions, variance 1/9 between and 1/6 within them, both models asked
    /// once or ten times each: 13.3 % and 7.6 %.
    #[test]
    fn the_smallest_detectable_difference_is_the_published_one() {
        for (times, expected) in [(1.0, 0.133), (10.0, 0.076)] {
            let standard_error = ((1.0_f64 / 9.0 + 2.0 * (1.0 / 6.0) / times) / 198.0).sqrt();
            let smallest = smallest_detectable_difference(standard_error, SIGNIFICANCE, POWER);
            assert!((smallest - expected).abs() < 0.0005, "{smallest}");
        }
        assert!(smallest_detectable_difference(0.1, 0.0, 0.8).is_nan());
        assert!(smallest_detectable_difference(0.1, 0.05, 1.0).is_nan());
    }

    #[test]
    fn there_are_n_times_n_minus_1_half_pairs() {
        assert_eq!(pairs(3), [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(pairs(14).len(), 91);
        assert!(pairs(1).is_empty() && pairs(0).is_empty());
    }
}
