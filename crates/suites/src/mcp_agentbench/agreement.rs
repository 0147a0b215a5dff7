//! The agreement of the judge with people (section 3.3, appendix D).

use m3_stats::agreement::{Weights, cohen_kappa, fleiss_kappa, percent_agreement};

use super::people;
use crate::suite::Trial;
use crate::values::Values;

/// The votes of people on an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Votes {
    passes: u32,
    fails: u32,
}

impl Votes {
    /// The votes on a prediction, or on its graded form; else those of its reference.
    pub(super) fn from_trial(trial: &Trial<'_>) -> Self {
        let sources = [trial.graded, trial.prediction, Some(trial.reference)];
        let votes = sources.into_iter().flatten().map(people).find(|votes| !votes.is_empty());
        let (passes, fails): (Vec<bool>, Vec<bool>) =
            votes.unwrap_or_default().into_iter().partition(|passes| *passes);
        let count = |votes: Vec<bool>| u32::try_from(votes.len()).unwrap_or(u32::MAX);
        Self { passes: count(passes), fails: count(fails) }
    }

    fn count(self) -> u32 {
        self.passes.saturating_add(self.fails)
    }

    /// The majority's verdict; `None` in a tie.
    fn majority(self) -> Option<bool> {
        (self.passes != self.fails).then_some(self.passes > self.fails)
    }
}

/// Adds the four figures. They are undefined where nobody voted, or where everything is in one class: kappas then
/// divide by 0. Fleiss' kappa is computed over the answers that have the most frequent number of votes.
pub(super) fn push(values: &mut Values, judged: &[(Option<bool>, &Votes)]) {
    let pair = |(verdict, votes): &(Option<bool>, &Votes)| {
        Some((usize::from((*verdict)?), usize::from(votes.majority()?)))
    };
    let pairs: Vec<(usize, usize)> = judged.iter().filter_map(pair).collect();
    let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
    values.push("percent_agreement", percent(percent_agreement(&pairs)));
    values.push("cohen_kappa", cohen_kappa(&pairs, Weights::None));
    let voted: Vec<&Votes> =
        judged.iter().map(|(_, votes)| *votes).filter(|votes| votes.count() > 0).collect();
    let raters = voted.iter().map(|votes| votes.count()).max().unwrap_or_default();
    let full = voted.iter().filter(|votes| votes.count() == raters && raters > 1);
    let table: Vec<Vec<u32>> = full.map(|votes| vec![votes.passes, votes.fails]).collect();
    values.push("fleiss_kappa", fleiss_kappa(&table));
    let unanimous = voted.iter().filter(|votes| votes.passes == 0 || votes.fails == 0).count();
    let share = (!voted.is_empty()).then(|| unanimous as f64 / voted.len() as f64);
    values.push("three_way_agreement", percent(share));
}
