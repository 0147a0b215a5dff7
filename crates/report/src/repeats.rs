//! What repetitions of the same tasks say, the member `repeats` of `m3.score/1`: pass@k, pass^k, the spread of the metrics,
//! the trials of each task.

mod sheets;

pub(super) use sheets::repeats_sheets;

use std::collections::{BTreeMap, HashMap};

use m3_score::{Ledger, Metric, Metrics, PassCriterion, Profile, Summary, TrajectoryScore};
use m3_stats::{Draws, LEVEL, PassRate, PassRates, Spread, Trials};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::estimate::EstimateReport;
use super::signature::signature;
use super::{LedgerReport, ScoreSummary};

/// The estimators, as reports name them.
const ESTIMATORS: [(PassRate, &str, &str); 2] = [
    (PassRate::AtK, "pass_at", "1 - C(n-c,k) / C(n,k), unbiased (Chen et al. 2021)"),
    (PassRate::AllK, "pass_all", "C(c,k) / C(n,k), unbiased (Yao et al. 2024)"),
];

/// Repetitions of the same tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct RepeatsReport {
    /// How many repetitions were scored, K.
    pub count: usize,
    /// What a trajectory has to reach to pass: metrics and their least values. `lowest_argument_fidelity` is the lowest of
    /// its matched calls. One that is missing, failed or did not finish never passes; the profile open-m3-bench leaves it
    /// out.
    pub pass: BTreeMap<String, f64>,
    /// How `pass_at` and `pass_all` are estimated from n trials of a task, c of which passed.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub estimators: BTreeMap<String, String>,
    /// pass@k, the chance that at least one of k trials passes, for k = 1 to K: the mean over tasks.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub pass_at: Vec<PassRateReport>,
    /// pass^k, the chance that all of k trials pass, likewise.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub pass_all: Vec<PassRateReport>,
    /// Tasks that have fewer than K trials, and so are not in the rates of a larger k.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub fewer_trials: Vec<String>,
    /// The level of the intervals.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub level: f64,
    /// How many resamples of tasks they are made of; all trials of a task are drawn together.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub resamples: usize,
    /// The seed of the resamples.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub seed: u64,
    /// How each metric of the whole set spreads over the repetitions.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub spread: BTreeMap<String, SpreadReport>,
    /// The repetitions, in the order of the files in `inputs`.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub repetitions: Vec<RepetitionReport>,
    /// The trials of each task, in the order of the references.
    pub tasks: Vec<TaskTrialsReport>,
}

/// A rate of success and its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PassRateReport {
    /// Of so many trials.
    pub k: u32,
    /// The tasks that have so many; the rate is their mean.
    pub tasks: usize,
    /// The rate.
    #[serde(flatten)]
    pub rate: EstimateReport,
}

/// How a metric of the whole set spreads over the repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct SpreadReport {
    /// The mean over repetitions. The aggregate is a ratio of sums over all of them, and may differ a little.
    pub mean: f64,
    /// The sample standard deviation; null of one repetition.
    pub sd: Option<f64>,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
}

/// One repetition.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RepetitionReport {
    /// Its number, from 1; `repeat` of its trajectories.
    pub repeat: usize,
    /// What was counted of it and what was not.
    pub ledger: LedgerReport,
    /// The metrics of the whole set in this repetition, by name.
    pub metrics: BTreeMap<String, f64>,
}

/// The trials of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct TaskTrialsReport {
    /// The task's id.
    pub id: String,
    /// How many there were; fewer than K only where the profile leaves out what is missing.
    pub trials: u32,
    /// How many of them passed.
    pub passes: u32,
    /// In which repetitions it passed.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub passed: Vec<usize>,
}

impl ScoreSummary {
    /// Adds what the repetitions say, and signs the summary anew.
    #[must_use]
    pub fn with_repeats(mut self, repeats: Option<RepeatsReport>) -> Self {
        self.repeats = repeats;
        self.signature = signature(&self);
        self
    }
}

/// Gathers repetitions, one after the other.
#[derive(Debug)]
pub struct RepeatsGatherer<'a> {
    criterion: &'a PassCriterion,
    profile: Profile,
    repetitions: Vec<RepetitionReport>,
    tasks: Vec<TaskTrialsReport>,
    places: HashMap<String, usize>,
}

impl<'a> RepeatsGatherer<'a> {
    /// Gathers for a criterion.
    #[must_use]
    pub fn new(criterion: &'a PassCriterion, profile: Profile) -> Self {
        Self { criterion, profile, repetitions: Vec::new(), tasks: Vec::new(), places: HashMap::new() }
    }

    /// The number of the repetition that is gathered, from 1.
    #[must_use]
    pub fn repeat(&self) -> usize {
        self.repetitions.len() + 1
    }

    /// Takes in the next trajectory of the repetition.
    pub fn add(&mut self, scored: &TrajectoryScore) {
        let repeat = self.repeat();
        let is_passed = self.criterion.is_met(scored, self.profile);
        let task = self.task(&scored.id);
        task.trials += 1;
        if is_passed {
            task.passed.push(repeat);
        }
    }

    /// Ends a repetition.
    pub fn end_repetition(&mut self, summary: &Summary) {
        let repeat = self.repeat();
        let Ledger { missing, errored, unfinished, too_large, .. } = &summary.ledger;
        // Where the profile leaves them out they have no trial, and are to be named.
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

    /// The task of this id, without trials if it is new.
    fn task(&mut self, id: &str) -> &mut TaskTrialsReport {
        let place = self.places.get(id).copied().unwrap_or_else(|| {
            let task = TaskTrialsReport { id: id.to_owned(), trials: 0, passes: 0, passed: Vec::new() };
            self.tasks.push(task);
            self.places.insert(id.to_owned(), self.tasks.len() - 1);
            self.tasks.len() - 1
        });
        &mut self.tasks[place]
    }

    /// What they say.
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
            // One model has as many tasks as itself.
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

fn by_name(metrics: &Metrics) -> BTreeMap<String, f64> {
    Metric::of_scores().map(|metric| (metric.name().to_owned(), metrics[metric])).collect()
}

fn spread(repetitions: &[RepetitionReport]) -> BTreeMap<String, SpreadReport> {
    let of = |metric: Metric| {
        let values = repetitions.iter().filter_map(|found| found.metrics.get(metric.name()).copied());
        let Spread { mean, deviation, min, max } = Spread::of(&values.collect::<Vec<f64>>())?;
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
