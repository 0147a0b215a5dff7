//! An audit in words, the same for the terminal and the page.

use m3_score::fidelity::Verdict;
use m3_score::fidelity::constants::{CLOSE, EQUIVALENT, THRESHOLD};
use m3_score::{CallPlace, Metric};
use m3_support::text::counted;

use super::limits::{NAMED_STEPS, TERMINAL_CALLS, TERMINAL_STEPS, more};
use super::{
    ArgumentAudit, CallAudit, InvertedPair, MatchArguments, MergedStep, SideAudit, SplitStep, Structure,
    TrajectoryAudit,
};
use crate::{AggregateReport, MatchReport, RegionReport, RegionsReport, VerdictReport, shortened};

/// The note on a match whose arguments do not ask for the same.
pub(super) const REJECTED: &str = "wrong arguments";

/// A call of one side, and its matched call.
pub(super) struct CallView<'a> {
    pub(super) place: CallPlace,
    pub(super) call: &'a CallAudit,
    pub(super) partner: Option<Partner>,
}

/// The matched call on the other side.
#[derive(Clone, Copy)]
pub(super) struct Partner {
    pub(super) place: CallPlace,
    /// The similarity, in [-1, 1].
    pub(super) similarity: f64,
    pub(super) is_strong: bool,
    /// Whether the arguments of the match do not ask for the same.
    pub(super) is_rejected: bool,
}

/// An unmatched call, in words.
pub(super) struct Alone<'a> {
    /// `reference` or `predicted`.
    pub(super) side: &'static str,
    pub(super) place: CallPlace,
    pub(super) tool: &'a str,
    pub(super) reason: &'static str,
    /// The most similar call of the other side and the similarity.
    pub(super) best: Option<(CallPlace, f64)>,
}

/// What a cost means, in words; `None` if there is none, as for the only trajectory of a set.
pub(super) fn cost(cost: f64) -> Option<String> {
    // A smaller cost would be printed as 0.0000.
    (cost.abs() >= 5e-5).then(|| match cost.abs() {
        amount if cost > 0.0 => format!("without this task the average would be {amount:.4} higher"),
        amount => format!("without this task the average would be {amount:.4} lower"),
    })
}

/// The failure of a task in words; `None` if it did not fail.
pub(crate) fn failure(failure: Option<&str>) -> Option<String> {
    failure.map(|class| match class {
        "missing" => "there is no prediction".to_owned(),
        class => format!("the task failed: {}", class.replace('_', " ")),
    })
}

/// Whether a trajectory passes beside its reference, in words.
pub(crate) fn verdict(verdict: &VerdictReport) -> String {
    match &verdict.reason {
        None => "match passed".to_owned(),
        Some(reason) => format!("match failed: {reason}"),
    }
}

/// A similarity in two digits; 1.00 only for calls that look the same to the encoder.
pub(super) fn similarity(similarity: f64) -> String {
    if similarity < 1.0 { format!("{:.2}", similarity.min(0.99)) } else { "1.00".to_owned() }
}

/// Whether the arguments of a match do not ask for the same.
pub(crate) fn is_rejected(pair: &MatchReport) -> bool {
    pair.argument_fidelity < THRESHOLD
}

/// The fidelity of a trajectory and the number of pairs it is averaged over, in words; `None` if nothing is matched.
pub(super) fn fidelity(metrics: &AggregateReport, matches: &[MatchReport]) -> Option<String> {
    let rejected = matches.iter().filter(|pair| is_rejected(pair)).count();
    let pairs = counted(matches.len() as u64, "matched pair");
    let rejected = if rejected > 0 { format!(", {rejected} of them with {REJECTED}") } else { String::new() };
    (!matches.is_empty())
        .then(|| format!("fidelity {:.3} over {pairs}{rejected}", metrics.metrics[Metric::ArgumentFidelity]))
}

/// How far each region of a match overlaps, such as `areas[0] overlap 0.93`, for at most `most` regions; or a note that
/// all are equal.
pub(super) fn regions(pair: &MatchReport, most: usize) -> Option<String> {
    let RegionsReport { count, overlap: mean, each } = pair.regions.as_ref()?;
    if *mean >= 1.0 {
        return Some(format!("{} equal", counted(u64::from(*count), "region")));
    }
    let name = |name: &String| shortened(name, REGION);
    // 1.00 is for the same region only.
    let overlap = |overlap: f64| if overlap < 1.0 { overlap.min(0.99) } else { overlap };
    let word = |region: &RegionReport| match (&region.reference, &region.predicted) {
        (Some(a), Some(b)) => {
            let other = if a == b { String::new() } else { format!(" -> {}", name(b)) };
            format!("{}{other} overlap {:.2}", name(a), overlap(region.overlap))
        }
        (Some(a), None) => format!("{} missing", name(a)),
        (None, Some(b)) => format!("{} extra", name(b)),
        (None, None) => String::new(),
    };
    let shown: Vec<String> = each.iter().take(most).map(word).collect();
    let rest = more((*count as usize).saturating_sub(shown.len()), "regions");
    Some(shown.into_iter().chain(rest).collect::<Vec<_>>().join(", "))
}

/// The longest name of a region, in columns.
const REGION: usize = 28;

impl MatchArguments {
    /// The arguments that are not equal, of those that were kept.
    pub(super) fn unequal(&self) -> impl Iterator<Item = &ArgumentAudit> {
        self.arguments.iter().filter(|argument| !argument.is_equal())
    }

    /// The number of arguments that are not equal.
    pub(super) fn unequal_count(&self) -> u64 {
        let counts = &self.verdicts;
        counts.equivalent + counts.close + counts.different + counts.missing + counts.extra
    }
}

impl ArgumentAudit {
    pub(super) fn is_equal(&self) -> bool {
        self.verdict == Verdict::Equal.name()
    }

    /// A sign for the verdict that can be recognized without colour.
    pub(super) fn mark(&self) -> char {
        let marks = [
            (Verdict::Equal, '='),
            (Verdict::Equivalent, '≈'),
            (Verdict::Close, '~'),
            (Verdict::Missing, '-'),
            (Verdict::Extra, '+'),
        ];
        marks.iter().find(|(known, _)| known.name() == self.verdict).map_or('≠', |&(_, mark)| mark)
    }

    /// How bad the verdict is: `fine`, `near` or `wrong`. A missing argument may be `fine`.
    pub(super) fn weight(&self) -> &'static str {
        if self.score >= EQUIVALENT {
            "fine"
        } else if self.score >= CLOSE {
            "near"
        } else {
            "wrong"
        }
    }
}

/// Why a call is unmatched.
pub(crate) fn reason(name: &str) -> &'static str {
    match name {
        "tool_not_in_reference" => "the reference does not call this tool",
        "tool_not_in_prediction" => "the prediction does not call this tool",
        "below_threshold" => "no call of this tool is similar enough",
        "too_large" => "the trajectory has too many different calls of one tool to be aligned",
        _ => "all similar calls are matched already",
    }
}

/// The places of a side's calls, in their order.
fn places(side: &SideAudit) -> Vec<CallPlace> {
    let steps = side.steps.iter().enumerate();
    let places = steps.flat_map(|(step, content)| (0..content.calls.len()).map(move |call| (step, call)));
    places.enumerate().map(|(index, (step, call))| CallPlace { step, call, index }).collect()
}

/// The calls of the reference and of the prediction, step by step.
pub(super) fn sides(audit: &TrajectoryAudit) -> [Vec<Vec<CallView<'_>>>; 2] {
    let matches = &audit.score.matches;
    let partners = |side: &SideAudit, of: &dyn Fn(usize) -> (CallPlace, CallPlace)| {
        let mut partners = vec![None; side.steps.iter().map(|step| step.calls.len()).sum()];
        for (index, pair) in matches.iter().enumerate() {
            let (own, other) = of(index);
            partners[own.index] = Some(Partner {
                place: other,
                similarity: pair.similarity,
                is_strong: pair.strength == MatchReport::STRONG,
                is_rejected: is_rejected(pair),
            });
        }
        partners
    };
    let expected = partners(&audit.reference, &|index| (matches[index].reference, matches[index].predicted));
    let made = partners(&audit.prediction, &|index| (matches[index].predicted, matches[index].reference));
    [steps(&audit.reference, expected), steps(&audit.prediction, made)]
}

fn steps(side: &SideAudit, partners: Vec<Option<Partner>>) -> Vec<Vec<CallView<'_>>> {
    let mut calls = places(side).into_iter().zip(partners);
    let steps = side.steps.iter().map(|step| {
        let of_step = step.calls.iter().zip(calls.by_ref());
        of_step.map(|(call, (place, partner))| CallView { place, call, partner }).collect()
    });
    steps.collect()
}

/// The unmatched calls, those of the reference first.
pub(super) fn alone(audit: &TrajectoryAudit) -> Vec<Alone<'_>> {
    let (expected, made) = (places(&audit.reference), places(&audit.prediction));
    let references = audit.score.unmatched_references.iter().map(|alone| Alone {
        side: "reference",
        place: alone.place,
        tool: &alone.tool,
        reason: reason(&alone.reason),
        best: alone.best.map(|best| (made[best.predicted], best.similarity)),
    });
    let predictions = audit.score.unmatched_predictions.iter().map(|alone| Alone {
        side: "predicted",
        place: alone.place,
        tool: &alone.tool,
        reason: reason(&alone.reason),
        best: alone.best.map(|best| (expected[best.reference], best.similarity)),
    });
    references.chain(predictions).collect()
}

impl Alone<'_> {
    /// The best candidate for an unmatched call, in words.
    pub(super) fn candidate(&self) -> Option<String> {
        let other = if self.side == "reference" { "predicted" } else { "reference" };
        self.best.map(|(best, similarity)| format!("best candidate: {other} {best} at {similarity:.4}"))
    }
}

/// The steps of a side that a terminal shows, and a note on the others.
pub(super) fn shown(mut steps: Vec<Vec<CallView<'_>>>) -> (Vec<Vec<CallView<'_>>>, Vec<String>) {
    let calls = |steps: &[Vec<CallView<'_>>]| steps.iter().map(Vec::len).sum::<usize>();
    let (all_steps, all_calls) = (steps.len(), calls(&steps));
    steps.truncate(TERMINAL_STEPS);
    let mut room = TERMINAL_CALLS;
    let mut kept = 0;
    for step in &mut steps {
        if room == 0 {
            break;
        }
        step.truncate(room);
        room -= step.len();
        kept += 1;
    }
    steps.truncate(kept);
    let notes = [more(all_steps - kept, "steps"), more(all_calls - calls(&steps), "calls")];
    (steps, notes.into_iter().flatten().collect())
}

/// How the steps compare, in sentences; `most` of each kind; `tool` shortens names of tools.
pub(super) fn structure(audit: &TrajectoryAudit, most: usize, tool: impl Fn(&str) -> String) -> Vec<String> {
    let Structure { split, merged, .. } = &audit.structure;
    let mut sentences: Vec<String> = split.iter().take(most).map(SplitStep::sentence).collect();
    sentences.extend(more(split.len().saturating_sub(most), "split steps"));
    sentences.extend(merged.iter().take(most).map(MergedStep::sentence));
    sentences.extend(more(merged.len().saturating_sub(most), "merged steps"));
    sentences.extend(inversions(audit, tool));
    sentences
}

impl SplitStep {
    /// How the step of the reference was split, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let (step, steps) = (self.reference + 1, numbers(&self.predicted));
        format!("reference step {step} was split: its calls are in predicted steps {steps}")
    }
}

impl MergedStep {
    /// Which steps of the reference are merged in the step of the prediction, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let (step, steps) = (self.predicted + 1, numbers(&self.reference));
        format!("predicted step {step} merges calls of reference steps {steps}")
    }
}

/// A sentence for each pair of calls in the wrong order; `tool` shortens names of tools.
fn inversions(audit: &TrajectoryAudit, tool: impl Fn(&str) -> String) -> Vec<String> {
    let structure = &audit.structure;
    let word = |pair: &InvertedPair| {
        let (first, second) = (&audit.score.matches[pair.first], &audit.score.matches[pair.second]);
        format!(
            "wrong order: {} {} has to come before {} {}, but was made after it (at {}, the other at {})",
            first.reference,
            tool(&first.tool),
            second.reference,
            tool(&second.tool),
            first.predicted,
            second.predicted,
        )
    };
    let mut words: Vec<String> = structure.inverted.iter().map(word).collect();
    let more = structure.inversions.saturating_sub(words.len() as u64);
    if more > 0 {
        words.push(format!("{more} more inverted pairs"));
    }
    words
}

/// Step numbers as people count: `1, 2 and 4`.
fn numbers(steps: &[usize]) -> String {
    let named = steps.iter().take(NAMED_STEPS).map(|step| (step + 1).to_string());
    let rest = steps.len().saturating_sub(NAMED_STEPS);
    let numbers: Vec<String> = named.chain((rest > 0).then(|| format!("{rest} more"))).collect();
    match numbers.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cost_has_no_words() {
        assert_eq!([0.0, -0.0, 4e-5].map(cost), [None, None, None]);
        assert_eq!(cost(-0.25).unwrap(), "without this task the average would be 0.2500 lower");
    }

    #[test]
    fn people_count_from_one() {
        assert_eq!(numbers(&[0]), "1");
        assert_eq!(numbers(&[0, 1, 3]), "1, 2 and 4");
        assert!(numbers(&(0..100).collect::<Vec<_>>()).ends_with("19, 20 and 80 more"));
        assert_eq!([0.996, 0.5, 1.0, -0.25].map(similarity), ["0.99", "0.50", "1.00", "-0.25"]);
        assert_eq!(CallPlace { step: 0, call: 1, index: 1 }.to_string(), "1.2");
    }
}
