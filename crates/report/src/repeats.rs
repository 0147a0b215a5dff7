//! The results of repeated tasks, the member `repeats` of `m3.score/1`: pass@k, pass^k, the spread of the metrics,
//! the trials of each task.

mod sheets;

pub(super) use sheets::repeats_sheets;

use std::collections::{BTreeMap, HashMap};

use m3_score::{Ledger, Metric, Metrics, PassCriterion, Profile, Summary, TrajectoryScore};
use m3_stats::{Draws, LEVEL, PassRate, PassRates, Spread, Trials};

use super::wire::signature;
use super::{PassRateReport, RepeatsReport, RepetitionReport, ScoreSummary, SpreadReport, TaskTrialsReport};

/// The estimators, with their names in reports.
const ESTIMATORS: [(PassRate, &str, &str); 2] = [
    (PassRate::AtK, "pass_at", "1 - C(n-c,k) / C(n,k), unbiased (Chen et al. 2021)"),
    (PassRate::AllK, "pass_all", "C(c,k) / C(n,k), unbiased (Yao et al. 2024)"),
];

impl ScoreSummary {
    /// Adds the results of repetitions, and makes a new signature.
    #[must_use]
    pub fn with_repeats(mut self, repeats: Option<RepeatsReport>) -> Self {
        self.repeats = repeats;
        self.signature = signature(&self);
        self
    }
}

/// Gathers the results of repetitions, one repetition after the other.
#[derive(Debug)]
pub struct RepeatsGatherer<'a> {
    criterion: &'a PassCriterion,
    profile: Profile,
    repetitions: Vec<RepetitionReport>,
    tasks: Vec<TaskTrialsReport>,
    places: HashMap<String, usize>,
}

impl<'a> RepeatsGatherer<'a> {
    /// Makes a gatherer for this criterion of passing.
    #[must_use]
    pub fn new(criterion: &'a PassCriterion, profile: Profile) -> Self {
        Self { criterion, profile, repetitions: Vec::new(), tasks: Vec::new(), places: HashMap::new() }
    }

    /// The number of the repetition that is gathered, from 1.
    #[must_use]
    pub fn repeat(&self) -> usize {
        self.repetitions.len() + 1
    }

    /// Adds the next trajectory of the repetition.
    pub fn add(&mut self, scored: &TrajectoryScore) {
        let repeat = self.repeat();
        let is_passed = self.criterion.is_met(scored, self.profile);
        let task = self.task(&scored.id);
        task.trials += 1;
        if is_passed {
            task.passed.push(repeat);
        }
    }

    /// Ends the current repetition.
    pub fn end_repetition(&mut self, summary: &Summary) {
        let repeat = self.repeat();
        let Ledger { missing, errored, unfinished, too_large, .. } = &summary.ledger;
        // If the profile leaves these tasks out they have no trial, but should be named.
        for id in [missing, errored, unfinished, too_large].into_iter().flatten() {
            self.task(id);
        }
        let metrics = summary.aggregate.metrics(self.profile);
        self.repetitions.push(RepetitionReport {
            repeat,
            ledger: summary.ledger.clone().into(),
            metrics: by_name(&metrics),
        });
    }

    /// The task with this id, added without trials if it is new.
    fn task(&mut self, id: &str) -> &mut TaskTrialsReport {
        let place = self.places.get(id).copied().unwrap_or_else(|| {
            let task = TaskTrialsReport { id: id.to_owned(), trials: 0, passes: 0, passed: Vec::new() };
            self.tasks.push(task);
            self.places.insert(id.to_owned(), self.tasks.len() - 1);
            self.tasks.len() - 1
        });
        &mut self.tasks[place]
    }

    /// The results of all repetitions.
    #[must_use]
    pub fn finish(mut self, draws: &Draws) -> RepeatsReport {
        for task in &mut self.tasks {
            task.passes = u32::try_from(task.passed.len()).unwrap_or(u32::MAX);
        }
        let trials: Vec<Trials> =
            self.tasks.iter().map(|task| Trials { count: task.trials, passed: task.passes }).collect();
        let models = [trials];
        let (mut pass_at, mut pass_all) = (Vec::new(), Vec::new());
        let most = models[0].iter().map(|trials| trials.count).max().unwrap_or_default();
        for k in 1..=most {
            // A single model, so all models have the same tasks.
            let rates = PassRates::new(&models, k).and_then(|rates| rates.resamples(draws));
            let Ok(rates) = rates else { continue };
            let rate = |rate: PassRate| PassRateReport {
                k,
                tasks: rates.trajectories(),
                rate: rates.estimate(0, rate as usize, LEVEL).into(),
            };
            pass_at.push(rate(PassRate::AtK));
            pass_all.push(rate(PassRate::AllK));
        }
        let count = self.repetitions.len();
        let has_fewer = |task: &&TaskTrialsReport| (task.trials as usize) < count;
        let estimators = ESTIMATORS.map(|(_, name, formula)| (name.to_owned(), formula.to_owned()));
        let least = self.criterion.least.iter().map(|(metric, least)| (metric.name().to_owned(), *least));
        RepeatsReport {
            count,
            pass: least.collect(),
            estimators: estimators.into(),
            pass_at,
            pass_all,
            fewer_trials: self.tasks.iter().filter(has_fewer).map(|task| task.id.clone()).collect(),
            level: LEVEL,
            resamples: draws.count,
            seed: draws.seed,
            spread: spread(&self.repetitions),
            repetitions: self.repetitions,
            tasks: self.tasks,
        }
    }
}

fn by_name(metrics: &Metrics) -> BTreeMap<String, Option<f64>> {
    Metric::of_scores().map(|metric| (metric.name().to_owned(), metrics.get(metric))).collect()
}

fn spread(repetitions: &[RepetitionReport]) -> BTreeMap<String, SpreadReport> {
    let of = |metric: Metric| {
        let values = repetitions.iter().filter_map(|found| *found.metrics.get(metric.name())?);
        let Spread { mean, deviation, min, max } = Spread::from_values(&values.collect::<Vec<f64>>())?;
        Some((metric.name().to_owned(), SpreadReport { mean, sd: deviation, min, max }))
    };
    Metric::of_scores().filter_map(of).collect()
}

/// A criterion in words, such as `precision 0.5 and recall 1`.
pub(super) fn criterion(pass: &BTreeMap<String, f64>) -> String {
    let parts: Vec<String> =
        pass.iter().map(|(metric, least)| format!("{} {least}", metric.replace('_', " "))).collect();
    parts.join(" and ")
}
