//! Adds up alignments, with the same definition for a trajectory, a type of task and a whole set.
//!
//! Every metric of a set is a ratio of sums over its trajectories. [`ExactSums`] holds those sums, so the
//! metrics of one trajectory are those of a set with nothing else in it.

use std::fmt;
use std::ops::AddAssign;
use std::str::FromStr;

use super::calls::Calls;
use super::fidelity::constants::SAME_OTHERWISE;
use super::matching::Matching;
use super::metric::{AlignedTrajectory, MatchedPair, Sum};
use super::metrics::Pair;
use super::{ComparedPair, ExactSum, Job, JobVerdict, Metric, Metrics, Profile, SumAndCount, WeightedSums};

/// Sums over trajectories. Adding them in any order gives the same sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExactSums {
    /// The number of trajectories.
    pub trajectories: u64,
    /// Trajectories without a prediction, or with one that failed or was not finished.
    pub failed: u64,
    /// The calls of the references, N_ref.
    pub reference_calls: u64,
    /// The calls of the predictions, N_pred.
    pub predicted_calls: u64,
    /// The matched pairs.
    pub matched: u64,
    /// The matched pairs with a similarity of tau_strong or more.
    pub strong: u64,
    /// Trajectories that pass under [`ScoreOptions::verdicts`](super::ScoreOptions::verdicts).
    pub passed: u64,
    /// Trajectories that did their job, by their verdict.
    pub did: u64,
    /// Trajectories that did not do their job, by their verdict.
    pub did_not: u64,
    /// The steps of the predictions, those without calls included.
    pub predicted_steps: u64,
    /// The sum behind each metric, by its place in [`Metric::ALL`].
    of_metrics: [ExactSum; Metric::COUNT],
    /// How many values were added up for each metric that may be unknown, by [`Metric::mean_index`].
    counts_of_means: [u64; Metric::MEANS],
}

impl ExactSums {
    /// The sums of one trajectory; `compared` begins with the pairs of its matches, `has_failed` says that it has no prediction or
    /// one that failed.
    #[must_use]
    pub fn of(
        has_failed: bool,
        matching: &Matching,
        (compared, reached_without): (&[ComparedPair], usize),
        ([artifact_agreement, answer_agreement], job): ([Option<f64>; 2], Option<&Job>),
        references: &Calls,
        predictions: &Calls,
        profile: Profile,
    ) -> Self {
        let pairs: Vec<Pair> = matching
            .matches
            .iter()
            .map(|pair| Pair::new(pair.reference.step, pair.predicted.step, pair.similarity))
            .collect();
        let reached = std::iter::repeat_n(SAME_OTHERWISE, reached_without);
        let fidelity: ExactSum = compared.iter().map(|pair| pair.fidelity.score).chain(reached).collect();
        let verdict = job.map(|job| job.evidence.probability());
        let changes = job.map(|job| job.changes).unwrap_or_default();
        let aligned = AlignedTrajectory {
            pairs: &pairs,
            references,
            fidelity: fidelity.value(),
            artifact_agreement,
            answer_agreement,
            verdict,
            changes,
        };
        let of_pairs = || {
            matching.matches.iter().zip(compared).map(|(pair, compared)| MatchedPair {
                similarity: pair.similarity,
                is_strong: pair.is_strong,
                fidelity: compared.fidelity.score,
                regions: compared.fidelity.regions.overlaps,
            })
        };
        let added = Metric::ALL.map(|metric| match metric.sum() {
            Some(Sum::OfPairs(of)) => (of_pairs().map(|pair| of(&pair)).collect(), 0),
            Some(Sum::OfTrajectories(of)) => (of(&aligned, profile).into(), 0),
            Some(Sum::MeanInPairs(of)) => add(of_pairs().map(|pair| of(&pair))),
            Some(Sum::MeanOfTrajectories(of)) => add([of(&aligned).into()].into_iter()),
            Some(Sum::Matched) | None => (ExactSum::default(), 0),
        });
        let job = verdict.map(JobVerdict::new);
        let mut counts_of_means = [0; Metric::MEANS];
        for (count, metric) in counts_of_means.iter_mut().zip(Metric::of_means()) {
            *count = added[metric.index()].1;
        }
        Self {
            trajectories: 1,
            failed: u64::from(has_failed),
            reference_calls: references.len() as u64,
            predicted_calls: predictions.len() as u64,
            matched: pairs.len() as u64,
            strong: matching.matches.iter().filter(|pair| pair.is_strong).count() as u64,
            passed: 0,
            did: u64::from(job == Some(JobVerdict::Did)),
            did_not: u64::from(job == Some(JobVerdict::DidNot)),
            predicted_steps: predictions.steps() as u64,
            of_metrics: added.map(|(sum, _)| sum),
            counts_of_means,
        }
    }

    /// The sums as floating-point numbers, which can be weighted.
    #[must_use]
    pub fn weighted(&self) -> WeightedSums {
        WeightedSums {
            trajectories: self.trajectories as f64,
            failed: self.failed as f64,
            reference_calls: self.reference_calls as f64,
            predicted_calls: self.predicted_calls as f64,
            matched: self.matched as f64,
            strong: self.strong as f64,
            of_metrics: self.of_metrics.map(ExactSum::value),
            counts: self.counts_of_means.map(|count| count as f64),
        }
    }

    /// The metrics of the set.
    #[must_use]
    pub fn metrics(&self, profile: Profile) -> Metrics {
        self.weighted().metrics(profile)
    }

    /// Predicted steps per trajectory.
    #[must_use]
    pub fn average_steps(&self) -> f64 {
        self.per_trajectory(self.predicted_steps)
    }

    /// Predicted calls per trajectory.
    #[must_use]
    pub fn average_calls(&self) -> f64 {
        self.per_trajectory(self.predicted_calls)
    }

    /// Adds the count of failed trajectories that were left out, if the set has no others: then no task was solved.
    #[must_use]
    pub fn with_left_out(self, failed: u64) -> Self {
        if self.trajectories == 0 { Self { failed, ..self } } else { self }
    }

    /// The counts, in the order in which they are written.
    fn counts(&mut self) -> impl Iterator<Item = &mut u64> {
        let of_all = [
            &mut self.trajectories,
            &mut self.failed,
            &mut self.reference_calls,
            &mut self.predicted_calls,
            &mut self.matched,
            &mut self.strong,
            &mut self.passed,
            &mut self.did,
            &mut self.did_not,
            &mut self.predicted_steps,
        ];
        of_all.into_iter().chain(&mut self.counts_of_means)
    }

    /// The number of trajectories whose verdict is neither that they did their job nor that they did not.
    #[must_use]
    pub fn cannot_tell(&self) -> u64 {
        let known = Metric::Verdict.mean_index().map_or(0, |at| self.counts_of_means[at]);
        known.saturating_sub(self.did.saturating_add(self.did_not))
    }

    fn per_trajectory(&self, count: u64) -> f64 {
        if self.trajectories == 0 { 0.0 } else { count as f64 / self.trajectories as f64 }
    }
}

/// The sum of values, and their number.
fn add(values: impl Iterator<Item = SumAndCount>) -> (ExactSum, u64) {
    values.fold((ExactSum::default(), 0), |(mut sum, count), more| {
        sum += more.sum;
        (sum, count + more.count)
    })
}

/// All sums in decimal, separated by spaces, so that they can be kept or sent, and read back without loss.
impl fmt::Display for ExactSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sums = *self;
        for count in sums.counts() {
            write!(f, "{count} ")?;
        }
        let of_metrics: Vec<String> = self.of_metrics.iter().map(ToString::to_string).collect();
        f.write_str(&of_metrics.join(" "))
    }
}

/// The error for a text that does not hold sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the sums of trajectories, as m3 {} writes them", env!("CARGO_PKG_VERSION"))]
pub struct NotSums;

impl FromStr for ExactSums {
    type Err = NotSums;

    fn from_str(text: &str) -> Result<Self, NotSums> {
        let mut sums = Self::default();
        let mut words = text.split(' ');
        let mut next = || words.next().ok_or(NotSums);
        for count in sums.counts() {
            *count = next()?.parse().map_err(|_| NotSums)?;
        }
        for sum in &mut sums.of_metrics {
            *sum = next()?.parse().map_err(|_| NotSums)?;
        }
        if words.next().is_some() { Err(NotSums) } else { Ok(sums) }
    }
}

/// Counts that do not fit saturate: sums may come from a file that somebody wrote.
impl AddAssign for ExactSums {
    fn add_assign(&mut self, mut other: Self) {
        for (count, more) in self.counts().zip(other.counts()) {
            *count = count.saturating_add(*more);
        }
        for (sum, other) in self.of_metrics.iter_mut().zip(other.of_metrics) {
            *sum += other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_written_and_read_without_loss() {
        let mut sums =
            ExactSums { trajectories: 3, failed: 1, reference_calls: u64::MAX, ..ExactSums::default() };
        sums.of_metrics[0] += 0.1;
        sums.of_metrics[0] += 0.2;
        sums.of_metrics[Metric::COUNT - 1] += -1e-9;
        sums.counts_of_means[Metric::MEANS - 1] = 7;
        assert_eq!(sums.to_string().parse(), Ok(sums));
        let text = sums.to_string();
        for wrong in
            ["", "1 2", &format!("{text} 0"), &text.replace("3 1", "3 -1"), &text.replace("3 1", "3 x")]
        {
            assert_eq!(wrong.parse::<ExactSums>(), Err(NotSums), "{wrong}");
        }
    }
}
