//! Computes how far views agree.

use std::collections::BTreeSet;

use m3_stats::agreement::{Weights, cohen_kappa, cohen_kappa_of_counts, kendall_tau, percent_agreement};
use m3_stats::{Draws, LEVEL, pairs, percentiles, resampled};

use super::report::{
    AGREE_SCHEMA, AgreeReport, CorrelationReport, RankedModel, TaskVerdicts, VerdictsReport, ViewReport,
    Yardstick, YardstickReport,
};
use super::success_report::{LabelsReport, SuccessReport};
use super::table::{Table, Trial};
use super::view::View;
use super::{AgreeError, ScoredModel, views};
use crate::{EstimateReport, Named, OWN_SUITE};

/// The verdict of graders or labels on a trial, if there is one.
type SecondOpinion = fn(&Trial) -> Option<bool>;

impl AgreeReport {
    /// Compares the verdicts of suites on some models. `metrics`, as `SUITE.METRIC`, replace the first metric of their
    /// suite; `labels` counts the rows of labels.
    ///
    /// # Errors
    /// [`AgreeError`].
    pub fn new(
        models: &[ScoredModel],
        metrics: &[String],
        labels: LabelsReport,
        draws: &Draws,
    ) -> Result<Self, AgreeError> {
        let views = views(models, metrics).map_err(AgreeError::Views)?;
        check_conditions(models)?;
        let table = Table::new(models, &views)?;
        let names: Vec<String> = views.iter().map(View::name).collect();
        let pairs = pairs(views.len());
        let named_pair = |(a, b): (usize, usize)| (names[a].clone(), names[b].clone());
        let trials = table.trials.iter().flatten().map(Vec::len).sum();
        let correlation = |pair| {
            let (first, second) = named_pair(pair);
            CorrelationReport { first, second, tau: table.tau(pair, draws) }
        };
        Ok(Self {
            schema: AGREE_SCHEMA.to_owned(),
            views: views.iter().map(ViewReport::from).collect(),
            tasks: table.ids.len(),
            left_out: table.left_out,
            not_in_all: not_in_all(models),
            trials,
            resamples: draws.count,
            level: LEVEL,
            models: table.ranked(models, &names),
            correlations: pairs.iter().copied().map(correlation).collect(),
            success: SuccessReport::new(models, labels, draws)?,
            verdicts: pairs.iter().map(|pair| table.verdicts(*pair, named_pair(*pair))).collect(),
            yardsticks: table.yardsticks(&names, draws),
            by_task: table.by_task(&names),
        })
    }
}

impl From<&View> for ViewReport {
    fn from(view: &View) -> Self {
        let right = if view.is_verdict() {
            "it is more likely than not, at least 0.5"
        } else if view.suite == OWN_SUITE {
            "every reference call is matched and none has wrong arguments"
        } else {
            "it has at least half of what can be reached"
        };
        Self { name: view.name(), right: right.to_owned() }
    }
}

impl Table<'_> {
    fn ranked(&self, models: &[ScoredModel], names: &[String]) -> Vec<RankedModel> {
        let scores = |view: usize| self.models().map(|model| self.score(model, view, |_| 1.0)).collect();
        let scores: Vec<Vec<Option<f64>>> = (0..names.len()).map(scores).collect();
        let ranks: Vec<Vec<Option<f64>>> = scores.iter().map(|scores| ranks(scores)).collect();
        let of = |values: &[Vec<Option<f64>>], model: usize| {
            Named(names.iter().cloned().zip(values.iter().map(|values| values[model])).collect())
        };
        let row = |(at, model): (usize, &ScoredModel)| RankedModel {
            model: model.name.clone(),
            file: model.file.clone(),
            success: self.success(at).map(|(did, of)| did as f64 / of as f64),
            scores: of(&scores, at),
            ranks: of(&ranks, at),
        };
        let mut ranked: Vec<RankedModel> = models.iter().enumerate().map(row).collect();
        let share = |row: &RankedModel| row.success.unwrap_or(-1.0);
        let place = |row: &RankedModel| row.ranks.0[0].1.unwrap_or(f64::INFINITY);
        ranked.sort_by(|a, b| share(b).total_cmp(&share(a)).then(place(a).total_cmp(&place(b))));
        ranked
    }

    /// Kendall's tau-b of two views over the models, with its interval.
    fn tau(&self, (first, second): (usize, usize), draws: &Draws) -> Option<EstimateReport> {
        let of = |count: &dyn Fn(usize) -> f64| {
            let pair = |model| Some((self.score(model, first, count)?, self.score(model, second, count)?));
            kendall_tau(&self.models().filter_map(pair).collect::<Vec<_>>())
        };
        let value = of(&|_| 1.0)?;
        let statistic = |counts: &[u32]| [of(&|task| f64::from(counts[task])).unwrap_or(f64::NAN)];
        let values = resampled(self.ids.len(), statistic, draws);
        Some(estimate(value, values.iter().map(|[value]| *value)))
    }

    fn verdicts(&self, (a, b): (usize, usize), (first, second): (String, String)) -> VerdictsReport {
        let right = |trial: &Trial, view: usize| Some(usize::from(trial.seen[view]?.is_right));
        let pairs: Vec<(usize, usize)> =
            self.all().filter_map(|trial| Some((right(trial, a)?, right(trial, b)?))).collect();
        let count = |cell| pairs.iter().filter(|pair| **pair == cell).count() as u64;
        VerdictsReport {
            first,
            second,
            both: count((1, 1)),
            only_first: count((1, 0)),
            only_second: count((0, 1)),
            neither: count((0, 0)),
            agreement: percent_agreement(&pairs),
            kappa: cohen_kappa(&pairs, Weights::None),
        }
    }

    /// How far each view agrees with graders and with labels, graders first.
    fn yardsticks(&self, names: &[String], draws: &Draws) -> Vec<YardstickReport> {
        let of: [(Yardstick, SecondOpinion); 2] =
            [(Yardstick::Graders, |trial| trial.graded), (Yardstick::People, |trial| trial.labelled)];
        let there = of.into_iter().filter(|(_, opinion)| self.all().any(|trial| opinion(trial).is_some()));
        let rows = |(yardstick, opinion): (Yardstick, SecondOpinion)| {
            let row = move |(view, name): (usize, &String)| {
                let pairs = self.pairs(view, opinion);
                let all: Vec<(usize, usize)> = pairs.iter().flatten().copied().collect();
                let count = |cell| all.iter().filter(|pair| **pair == cell).count() as u64;
                YardstickReport {
                    yardstick,
                    view: name.clone(),
                    trials: all.len() as u64,
                    both: count((1, 1)),
                    only_view: count((1, 0)),
                    only_yardstick: count((0, 1)),
                    neither: count((0, 0)),
                    agreement: percent_agreement(&all),
                    kappa: cohen_kappa(&all, Weights::None).map(|value| kappa(value, &pairs, draws)),
                }
            };
            names.iter().enumerate().map(row)
        };
        there.flat_map(rows).collect()
    }

    /// For each task, the verdicts of a view and of graders or labels on the trials that both judge; 1 is right.
    fn pairs(&self, view: usize, opinion: SecondOpinion) -> Vec<Vec<(usize, usize)>> {
        let pair =
            |trial: &Trial| Some((usize::from(trial.seen[view]?.is_right), usize::from(opinion(trial)?)));
        let of_task =
            |task: usize| self.trials.iter().flat_map(move |model| &model[task]).filter_map(pair).collect();
        (0..self.ids.len()).map(of_task).collect()
    }

    fn by_task(&self, names: &[String]) -> Vec<TaskVerdicts> {
        let share = |count: usize, of: usize| (of > 0).then(|| count as f64 / of as f64);
        let row = |(task, id): (usize, &&str)| {
            let trials: Vec<&Trial> = self.trials.iter().flat_map(|model| &model[task]).collect();
            let right = |view: usize| {
                let seen = trials.iter().filter_map(|trial| trial.seen[view]);
                let (count, right) =
                    seen.fold((0, 0), |(n, right), it| (n + 1, right + usize::from(it.is_right)));
                share(right, count)
            };
            let disagree = |trial: &&&Trial| {
                let mut verdicts = trial.seen.iter().flatten().map(|seen| seen.is_right);
                verdicts.next().is_some_and(|first| verdicts.any(|other| other != first))
            };
            TaskVerdicts {
                id: (*id).to_owned(),
                right: Named(
                    names.iter().enumerate().map(|(view, name)| (name.clone(), right(view))).collect(),
                ),
                disagreement: share(trials.iter().filter(disagree).count(), trials.len()).unwrap_or(0.0),
            }
        };
        let mut rows: Vec<TaskVerdicts> = self.ids.iter().enumerate().map(row).collect();
        // Equal tasks stay in the order of their ids.
        rows.sort_by(|a, b| b.disagreement.total_cmp(&a.disagreement));
        rows
    }
}

/// The suites that only some results have.
fn not_in_all(models: &[ScoredModel]) -> Vec<String> {
    let names = |model: &ScoredModel| -> BTreeSet<String> {
        model.head.suites.0.iter().map(|(name, _)| name.clone()).filter(|name| name != OWN_SUITE).collect()
    };
    let all: Vec<BTreeSet<String>> = models.iter().map(names).collect();
    let every: BTreeSet<String> = all.iter().flatten().cloned().collect();
    every.into_iter().filter(|name| all.iter().any(|own| !own.contains(name))).collect()
}

/// The SHA-256 of the file of roles that a model was scored with, if there was one.
fn roles(model: &ScoredModel) -> Option<&str> {
    model.head.inputs.roles.as_ref().map(|roles| &*roles.sha256)
}

/// Fails if two models were scored in different ways.
fn check_conditions(models: &[ScoredModel]) -> Result<(), AgreeError> {
    let how = |model: &ScoredModel| {
        let references = model.head.inputs.references.sha256.get(..8).unwrap_or("unknown");
        let roles = roles(model).map(|roles| format!(", roles {}", roles.get(..8).unwrap_or(roles)));
        let roles = roles.unwrap_or_default();
        format!("{}, {}, references {references}{roles}", model.head.profile, model.head.similarity)
    };
    let Some(first) = models.first() else { return Ok(()) };
    let is_other = |model: &&ScoredModel| {
        let (own, other) = (&first.head, &model.head);
        // Scores of earlier versions do not name their references.
        let references = [&own.inputs.references.sha256, &other.inputs.references.sha256];
        (&own.profile, &own.similarity, roles(first)) != (&other.profile, &other.similarity, roles(model))
            || (references[0] != references[1] && references.iter().all(|hash| !hash.is_empty()))
    };
    match models.iter().find(is_other) {
        Some(second) => Err(AgreeError::Conditions {
            first: first.file.clone(),
            second: second.file.clone(),
            how_first: how(first),
            how_second: how(second),
        }),
        None => Ok(()),
    }
}

/// Cohen's kappa with its interval over resampled tasks.
fn kappa(value: f64, pairs: &[Vec<(usize, usize)>], draws: &Draws) -> EstimateReport {
    let count = |pairs: &Vec<(usize, usize)>| {
        CELLS.map(|cell| pairs.iter().filter(|pair| **pair == cell).count() as f64)
    };
    let by_task: Vec<[f64; 4]> = pairs.iter().map(count).collect();
    let statistic = |times: &[u32]| {
        let mut cells = CELLS.map(|cell| (cell, 0.0));
        for (task, times) in by_task.iter().zip(times) {
            for (cell, count) in cells.iter_mut().zip(task) {
                cell.1 += f64::from(*times) * count;
            }
        }
        [cohen_kappa_of_counts(&cells, Weights::None).unwrap_or(f64::NAN)]
    };
    let values = resampled(pairs.len(), statistic, draws);
    estimate(value, values.iter().map(|[value]| *value))
}

/// All pairs of two verdicts; 1 is right.
const CELLS: [(usize, usize); 4] = [(0, 0), (0, 1), (1, 0), (1, 1)];

/// A value with the interval of its resamples.
pub(super) fn estimate(value: f64, resamples: impl Iterator<Item = f64>) -> EstimateReport {
    let (low, high) = percentiles(resamples, LEVEL).unzip();
    EstimateReport { value, low, high, has_no_spread: low.is_some() && low == high }
}

/// The places of values from 1, the greatest first. Equal values share the mean of their places; a missing value has no
/// place.
fn ranks(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let known = || values.iter().flatten();
    let place = |value: &f64| {
        let above = known().filter(|other| *other > value).count() as f64;
        let not_below = known().filter(|other| *other >= value).count() as f64;
        f64::midpoint(above + 1.0, not_below)
    };
    values.iter().map(|value| value.as_ref().map(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::ranks;

    #[test]
    fn equal_values_share_their_places() {
        let values = [Some(0.5), Some(0.9), None, Some(0.5), Some(0.1)];
        assert_eq!(ranks(&values), [Some(2.5), Some(1.0), None, Some(2.5), Some(4.0)]);
    }
}
