//! The rank of a model, and how certain it is: [`RankInterval`], [`tie_groups`].

use std::cmp::Ordering;

use super::{Draws, Resamples};

/// The place of a model among all, 1 for the highest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankInterval {
    /// The place on the actual set: 1 + the number of models with a higher value, so equal models share the better
    /// place.
    pub rank: usize,
    /// The best place within the interval.
    pub best: usize,
    /// The worst place within the interval.
    pub worst: usize,
}

/// The places that equal values share in one resample.
#[derive(Debug, Clone, Copy)]
struct Places {
    best: u32,
    worst: u32,
}

impl Places {
    /// Computes the places of the values; a NaN is neither higher nor lower than another value.
    #[expect(clippy::cast_possible_truncation, reason = "a number of models")]
    fn fill(places: &mut [Places], values: impl Iterator<Item = f64> + Clone) {
        let mut sorted: Vec<f64> = values.clone().filter(|value| !value.is_nan()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let models = places.len();
        for (place, value) in places.iter_mut().zip(values) {
            let lower = sorted.partition_point(|other| *other < value);
            let not_higher =
                sorted.partition_point(|other| other.partial_cmp(&value) != Some(Ordering::Greater));
            *place = Places { best: (sorted.len() - not_higher + 1) as u32, worst: (models - lower) as u32 };
        }
    }
}

impl<const M: usize> Resamples<M> {
    /// The places of the models in one metric, `[models]`, with intervals of `level`, in (0, 1).
    ///
    /// An interval leaves out at most (1 - level) / 2 of the resamples on each side. If models are equal in a
    /// resample, each may have any of the places that they share: the best of these counts for the better end, the
    /// worst for the other. So if a model is entered twice, both are at "1-2". Without resamples every place is
    /// possible. The intervals are for each model alone, not for all at once.
    ///
    /// Takes memory models x resamples x 8 bytes.
    ///
    /// # Panics
    /// When there is no such metric.
    #[must_use]
    pub fn ranks(&self, metric: usize, level: f64) -> Vec<RankInterval> {
        let models = self.models();
        let places = |values: &[[f64; M]], places: &mut [Places]| {
            Places::fill(places, values.iter().map(|values| values[metric]));
        };
        let mut now = vec![Places { best: 1, worst: 1 }; models];
        places(self.points(), &mut now);
        let mut resampled =
            vec![now.first().copied().unwrap_or(Places { best: 1, worst: 1 }); models * self.count()];
        let by_resample: Vec<&[[f64; M]]> = self.by_resample().collect();
        Draws::default()
            .fill_rows(&mut resampled, models, |resample, row| places(by_resample[resample], row));
        let of_model = |(model, now): (usize, &Places)| {
            let rank = now.best as usize;
            let end = |end: fn(&Places) -> u32, is_worst| {
                let column = resampled.iter().skip(model).step_by(models).map(end);
                end_of_interval(column.collect(), is_worst, level)
            };
            // The place on the actual set always belongs to the interval, however rare it is among the resamples.
            RankInterval {
                rank,
                best: end(|places| places.best, false).map_or(1, |best| rank.min(best)),
                worst: end(|places| places.worst, true).map_or(models, |worst| rank.max(worst)),
            }
        };
        now.iter().enumerate().map(of_model).collect()
    }
}

/// The best place, or the worst, beyond which at most (1 - level) / 2 of the resamples lie; `None` without resamples.
fn end_of_interval(mut places: Vec<u32>, is_worst: bool, level: f64) -> Option<usize> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let left_out = ((1.0 - level) / 2.0 * places.len() as f64) as usize;
    let last = places.len().checked_sub(1)?;
    let index = left_out.min(last);
    let (_, place, _) = places.select_nth_unstable(if is_worst { last - index } else { index });
    Some(*place as usize)
}

/// The group of each model, `[models]`, from 1: the first group has the model of the highest value and all that do
/// not differ significantly from it, the next one the highest of the rest and those that do not differ from it, and
/// so on.
///
/// `values` is `[models]`, without NaN; `pairs` are pairs of models, in any order, and `p_values` theirs, corrected
/// for their number. Two models differ if their p-value is below `significance`; models that are not a pair never
/// differ. Not to differ significantly does not mean to be equal: the models of a group do not differ from its best
/// model, but may differ from one another. And a model may be in a better group than one of higher value whose
/// difference from the best is more regular.
///
/// # Panics
/// When a pair has a model that does not exist.
#[must_use]
pub fn tie_groups(
    values: &[f64],
    pairs: &[(usize, usize)],
    p_values: &[f64],
    significance: f64,
) -> Vec<usize> {
    let models = values.len();
    let mut apart = vec![false; models * models];
    for (&(first, second), &p_value) in pairs.iter().zip(p_values) {
        apart[first * models + second] = p_value < significance;
        apart[second * models + first] = p_value < significance;
    }
    groups(values, |best, model| apart[best * models + model])
}

/// The group of each model by its value, from 1 for the best. `is_apart` tells whether the best of a group and a model
/// of lower value differ; it is called for no other pairs.
#[must_use]
pub fn groups(values: &[f64], mut is_apart: impl FnMut(usize, usize) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let mut groups = vec![0; values.len()];
    let mut group = 0;
    for (place, &best) in order.iter().enumerate() {
        if groups[best] != 0 {
            continue;
        }
        group += 1;
        groups[best] = group;
        for &model in &order[place + 1..] {
            if groups[model] == 0 && !is_apart(best, model) {
                groups[model] = group;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Ratio, Task, ratio, simulate, simulate_pair};
    use crate::{Draws, LEVEL, SIGNIFICANCE, bootstrap, holm, pairs};

    fn ranks(models: &[Vec<Ratio>]) -> Vec<(usize, usize, usize)> {
        let draws = Draws { count: 1000, ..Draws::default() };
        let ranks = bootstrap(models, ratio, &draws).unwrap().ranks(0, LEVEL);
        ranks.into_iter().map(|rank| (rank.rank, rank.best, rank.worst)).collect()
    }

    #[test]
    fn models_far_apart_have_one_place_each() {
        let [good, middling] = simulate_pair(1, 100, Task::chance, |task| task.chance() - 0.2);
        let [_, poor] = simulate_pair(1, 100, Task::chance, |_| 0.1);
        assert_eq!(ranks(&[poor, good, middling]), [(3, 3, 3), (1, 1, 1), (2, 2, 2)]);
    }

    #[test]
    fn equal_models_share_their_places() {
        let [good, poor] = simulate_pair(1, 100, Task::chance, |_| 0.1);
        assert_eq!(ranks(&[good.clone(), poor, good]), [(1, 1, 2), (3, 3, 3), (1, 1, 2)]);
    }

    #[test]
    fn without_resamples_every_place_is_possible() {
        let one = |seed| simulate(seed, 1, Task::chance);
        assert!(ranks(&[one(1), one(2), one(3)]).iter().all(|&(_, best, worst)| (best, worst) == (1, 3)));
        assert_eq!(ranks(&[simulate(1, 50, Task::chance)]), [(1, 1, 1)], "one model");
        assert!(ranks(&[]).is_empty());
    }

    /// Four models, each truly at its place: the intervals have the true place in about 95 of 100 sets, and
    /// more often than not leave some place out.
    #[test]
    fn intervals_of_ranks_cover_the_truth() {
        let (mut covered, mut narrow) = (0, 0);
        for set in 0..50 {
            let model = |place: u8| {
                let worse = 0.08 * f64::from(place);
                let [_, model] = simulate_pair(set, 60, Task::chance, |task| task.chance() - worse);
                model
            };
            for (index, (_, best, worst)) in ranks(&[0, 1, 2, 3].map(model)).into_iter().enumerate() {
                covered += u32::from((best..=worst).contains(&(index + 1)));
                narrow += u32::from(worst - best < 3);
            }
        }
        assert!((180..=200).contains(&covered), "{covered} of 200");
        assert!(narrow >= 150, "{narrow} of 200");
    }

    /// Of 100 places, at level 0.95, two may be left out on each side.
    #[test]
    fn an_end_leaves_out_at_most_its_share() {
        let places = |few: usize| [vec![1; few], vec![2; 100 - 2 * few], vec![3; few]].concat();
        let ends = |few| [false, true].map(|is_worst| end_of_interval(places(few), is_worst, LEVEL));
        assert_eq!(ends(2), [Some(2), Some(2)]);
        assert_eq!(ends(3), [Some(1), Some(3)]);
        assert_eq!(end_of_interval(Vec::new(), true, LEVEL), None);
    }

    #[test]
    fn a_nan_is_neither_higher_nor_lower() {
        let mut places = [Places { best: 0, worst: 0 }; 4];
        Places::fill(&mut places, [0.5, f64::NAN, 0.7, 0.5].into_iter());
        let ranges = places.map(|places| (places.best, places.worst));
        assert_eq!(ranges, [(2, 4), (1, 4), (1, 2), (2, 4)]);
    }

    #[test]
    fn groups_begin_with_their_best() {
        // By value: 1, 3, 0, 2. Model 1 differs from 0 and 2 but not from 3; model 0 does not differ from 2.
        let values = [0.5, 0.9, 0.4, 0.8];
        let pairs = [(0, 1), (1, 2), (3, 1), (0, 2), (2, 3)];
        assert_eq!(tie_groups(&values, &pairs, &[0.01, 0.01, 0.2, 0.6, 0.01], 0.05), [2, 1, 2, 1]);
        assert_eq!(tie_groups(&values, &pairs, &[0.05; 5], 0.05), [1, 1, 1, 1], "0.05 is not below 0.05");
        assert_eq!(tie_groups(&values, &self::pairs(4), &[0.0; 6], 0.05), [3, 1, 4, 2]);
        assert!(tie_groups(&[], &[], &[], 0.05).is_empty());
    }

    /// Model 2 has a lower value than 1, but only 1 differs from 0.
    #[test]
    fn a_group_may_skip_a_model() {
        assert_eq!(tie_groups(&[0.9, 0.8, 0.7], &[(0, 1)], &[0.01], 0.05), [1, 2, 1]);
    }

    #[test]
    fn simulated_models_fall_into_their_groups() {
        let model = |seed, worse| simulate(seed, 100, move |task| task.chance() - worse);
        let models = [model(5, 0.0), model(6, 0.3), model(7, 0.0), model(8, 0.3)];
        let draws = Draws { count: 999, ..Draws::default() };
        let resamples = bootstrap(&models, ratio, &draws).unwrap();
        let p_values = resamples.flip_test(&pairs(4), &draws);
        let corrected = holm(&p_values.iter().map(|p_values| p_values[0]).collect::<Vec<_>>());
        let values: Vec<f64> = resamples.points().iter().map(|point| point[0]).collect();
        assert_eq!(tie_groups(&values, &pairs(4), &corrected, SIGNIFICANCE), [1, 2, 1, 2]);
    }
}
