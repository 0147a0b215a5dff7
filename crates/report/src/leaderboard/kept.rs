//! The part of a scored trajectory that is kept: the sums behind its metrics, and what tables and figures need.

use m3_score::{CallPlace, MatchedPair, Metric, Sum, SumAndCount, WeightedSums};
use m3_stats::Trials;

use super::{ReferenceCalls, TrajectoryResult, Usage};
use crate::wire::is_known_place;
use crate::{MatchReport, RegionsReport, TrajectoryReport, shortened};

/// Reduces a trajectory to the part that is kept, with its id and the number of its repetition. Pairs of unknown
/// strength count as strong from `tau_strong` on.
///
/// # Errors
/// A message that names the trajectory and what is wrong with it.
pub(super) fn kept(
    report: TrajectoryReport,
    tau_strong: f64,
) -> Result<(String, Option<usize>, TrajectoryResult), String> {
    let (id, repeat) = (report.id.clone(), report.repeat);
    let found = trajectory(report, tau_strong).map_err(|message| format!("trajectory `{id}`: {message}"))?;
    Ok((id, repeat, found))
}

fn trajectory(mut report: TrajectoryReport, tau_strong: f64) -> Result<TrajectoryResult, String> {
    let (sums, not_known) = sums(&report, tau_strong)?;
    let metrics = &report.metrics;
    if !(metrics.average_steps >= 0.0 && metrics.average_steps.is_finite()) {
        return Err(format!("`average_steps` is {}", metrics.average_steps));
    }
    let grades = report.grades.take().unwrap_or_default().0;
    grades.iter().try_for_each(|(metric, grade)| share(metric.name(), *grade))?;
    let candidates = report.unmatched_references.iter().filter_map(|alone| Some(alone.best?.similarity));
    Ok(TrajectoryResult {
        reference: ReferenceCalls::new(metrics.reference_calls, reference_calls(&report)),
        candidates: candidates.collect(),
        failures: report.failure.into_iter().map(|class| (class, 1)).collect(),
        task_type: report.task_type,
        repetitions: 1,
        trials: Trials::default(),
        sums,
        not_known,
        steps: metrics.average_steps,
        similarities: report.matches.iter().map(|pair| pair.similarity).collect(),
        grades,
        usage: report.usage.map(|usage| Usage {
            input_tokens: usage.input_tokens as f64,
            output_tokens: usage.output_tokens as f64,
        }),
        outcomes: report.outcomes,
    })
}

/// The sums behind the metrics, and the metrics that the score lacks. Metrics of matched pairs are summed again from
/// the pairs; the others are taken from the values in the score.
fn sums(report: &TrajectoryReport, tau_strong: f64) -> Result<(WeightedSums, Vec<Metric>), String> {
    let metrics = &report.metrics;
    let references = metrics.reference_calls as f64;
    let pairs: Vec<MatchedPair> =
        report.matches.iter().map(|pair| matched(pair, tau_strong)).collect::<Result<_, _>>()?;
    let mut sums = WeightedSums {
        trajectories: 1.0,
        failed: f64::from(u8::from(report.failure.is_some())),
        reference_calls: references,
        predicted_calls: metrics.predicted_calls as f64,
        matched: pairs.len() as f64,
        strong: pairs.iter().filter(|pair| pair.is_strong).count() as f64,
        ..WeightedSums::default()
    };
    let has_fidelities = !metrics.metrics[Metric::ArgumentFidelity].is_nan()
        && pairs.iter().all(|pair| !pair.fidelity.is_nan());
    let uncounted = |sum: f64| SumAndCount { sum, count: 0 };
    let mut not_known = Vec::new();
    for metric in Metric::of_scores() {
        let value = metrics.metrics.get(metric);
        let (is_known, added) = match metric.sum() {
            Some(Sum::OfPairs(of)) => {
                (has_fidelities || !needs_fidelity(of), uncounted(pairs.iter().map(of).sum()))
            }
            Some(Sum::OfTrajectories(_)) => {
                (value.is_some(), uncounted(value.unwrap_or_default() * references))
            }
            // A score without the value, as earlier versions wrote them, adds nothing to the mean.
            Some(Sum::MeanInPairs(of)) => (true, pairs.iter().map(of).sum()),
            Some(Sum::MeanOfTrajectories(_)) => (true, SumAndCount::from(value)),
            Some(Sum::Matched) | None => continue,
        };
        if !is_known {
            not_known.push(metric);
            continue;
        }
        if matches!(metric.sum(), Some(Sum::OfTrajectories(_) | Sum::MeanOfTrajectories(_))) {
            value.map_or(Ok(()), |value| share(metric.name(), value))?;
        }
        sums.of_metrics[metric.index()] = added.sum;
        if let Some(index) = metric.mean_index() {
            sums.counts[index] = added.count as f64;
        }
    }
    if sums.matched > sums.reference_calls.min(sums.predicted_calls) {
        return Err("it has more matches than calls".to_owned());
    }
    Ok((sums, not_known))
}

/// Whether the contribution of a pair depends on its fidelity.
fn needs_fidelity(of: fn(&MatchedPair) -> f64) -> bool {
    let regions = SumAndCount::default();
    of(&MatchedPair { similarity: 1.0, is_strong: true, fidelity: f64::NAN, regions }).is_nan()
}

fn matched(pair: &MatchReport, tau_strong: f64) -> Result<MatchedPair, String> {
    share("similarity", pair.similarity)?;
    if !pair.argument_fidelity.is_nan() {
        share("argument_fidelity", pair.argument_fidelity)?;
    }
    let (similarity, fidelity) = (pair.similarity, pair.argument_fidelity);
    let regions = pair.regions.as_ref().map(RegionsReport::counted).unwrap_or_default();
    if let Some(regions) = &pair.regions {
        share("overlap", regions.overlap)?;
    }
    let is_strong = match pair.strength.as_str() {
        MatchReport::STRONG => true,
        MatchReport::WEAK => false,
        // Scores of earlier versions have no strength.
        "" => m3_score::is_strong(similarity, tau_strong),
        other => {
            return Err(format!("`strength` is `{}`; expected `strong` or `weak`", shortened(other, 40)));
        }
    };
    Ok(MatchedPair { similarity, is_strong, fidelity, regions })
}

/// Step and tool of each call of the reference, matched or not, if the score gives them.
fn reference_calls(report: &TrajectoryReport) -> Option<Vec<(usize, &str)>> {
    let matched = report.matches.iter().map(|pair| (&pair.reference, &pair.tool));
    let alone = report.unmatched_references.iter().map(|alone| (&alone.place, &alone.tool));
    let known = |(place, tool): &(&CallPlace, &String)| is_known_place(place) && !tool.is_empty();
    let calls: Vec<(&CallPlace, &String)> = matched.chain(alone).collect();
    let all_known = calls.iter().all(known);
    all_known.then(|| calls.into_iter().map(|(place, tool)| (place.step, tool.as_str())).collect())
}

fn share(name: &str, value: f64) -> Result<(), String> {
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        Err(format!("`{name}` is {value}, and should be in [0, 1]"))
    }
}
