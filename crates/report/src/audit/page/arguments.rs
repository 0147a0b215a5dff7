//! The arguments of each match as rows of a table: unequal ones with their verdict, the others by name.

use super::name;
use crate::MatchReport;
use crate::audit::limits::PAGE;
use crate::audit::text::{around_difference, passage};
use crate::audit::words;
use crate::audit::{ArgumentAudit, MatchArguments, TrajectoryAudit, VerdictCounts};

/// The most characters of an unequal value that are shown.
const VALUE: usize = 400;

/// The findings by which trajectories can be filtered: verdicts on the arguments of a match.
pub(super) const FINDINGS: [&str; 6] =
    [words::REJECTED, "different", "missing", "extra", "close", "equivalent"];

/// A match with its arguments.
#[derive(Debug)]
pub(super) struct MatchView {
    pub(super) reference: String,
    pub(super) predicted: String,
    pub(super) tool: String,
    pub(super) similarity: String,
    pub(super) strength: String,
    pub(super) fidelity: String,
    pub(super) is_rejected: bool,
    /// The arguments that are not equal.
    pub(super) arguments: Vec<ArgumentView>,
    /// How many unequal arguments are not shown.
    pub(super) more: u64,
    /// The note on equal arguments.
    pub(super) equal: Option<String>,
}

/// An argument that is not equal.
#[derive(Debug)]
pub(super) struct ArgumentView {
    pub(super) name: String,
    /// Its name in the prediction, if it differs.
    pub(super) predicted_name: Option<String>,
    pub(super) mark: char,
    pub(super) verdict: String,
    /// `fine`, `near` or `wrong`.
    pub(super) weight: &'static str,
    pub(super) reason: String,
    /// A title such as `score 0.03, compared as coordinate`.
    pub(super) title: String,
    pub(super) reference: Option<String>,
    pub(super) predicted: Option<String>,
}

/// Which of [`FINDINGS`] apply to a trajectory, in their order.
pub(super) fn findings(audit: &TrajectoryAudit) -> Vec<&'static str> {
    let any = |of: fn(&VerdictCounts) -> u64| audit.arguments.iter().any(|found| of(&found.verdicts) > 0);
    let found = [
        audit.score.matches.iter().any(words::is_rejected),
        any(|counts| counts.different),
        any(|counts| counts.missing),
        any(|counts| counts.extra),
        any(|counts| counts.close),
        any(|counts| counts.equivalent),
    ];
    FINDINGS.into_iter().zip(found).filter_map(|(finding, is_found)| is_found.then_some(finding)).collect()
}

/// A match as the page shows it.
pub(super) fn matched((pair, arguments): (&MatchReport, &MatchArguments)) -> MatchView {
    let shown: Vec<ArgumentView> = arguments.unequal().take(PAGE.arguments).map(argument).collect();
    MatchView {
        reference: pair.reference.to_string(),
        predicted: pair.predicted.to_string(),
        tool: name(&pair.tool),
        similarity: format!("{:.4}", pair.similarity),
        strength: pair.strength.clone(),
        fidelity: format!("{:.4}", pair.argument_fidelity),
        is_rejected: words::is_rejected(pair),
        more: arguments.unequal_count() - shown.len() as u64,
        arguments: shown,
        equal: equal(arguments),
    }
}

/// The equal arguments by name.
fn equal(arguments: &MatchArguments) -> Option<String> {
    let count = arguments.verdicts.equal;
    let shown = arguments.arguments.iter().filter(|argument| argument.is_equal()).take(PAGE.arguments);
    let mut names: Vec<String> = shown.map(|argument| argument_name(&argument.argument)).collect();
    let rest = count - names.len() as u64;
    if rest > 0 {
        names.push(format!("{rest} more"));
    }
    (count > 0).then(|| format!("{count} equal: {}", names.join(", ")))
}

fn argument(argument: &ArgumentAudit) -> ArgumentView {
    let (reference, predicted) = match (&argument.reference, &argument.predicted) {
        (Some(a), Some(b)) => {
            let (a, b) = around_difference(a, b, VALUE);
            (Some(a), Some(b))
        }
        (a, b) => {
            let value = |text: &Option<String>| text.as_deref().map(|text| passage(text, VALUE));
            (value(a), value(b))
        }
    };
    ArgumentView {
        name: argument_name(&argument.argument),
        predicted_name: argument.predicted_argument.as_deref().map(argument_name),
        mark: argument.mark(),
        verdict: argument.verdict.clone(),
        weight: argument.weight(),
        reason: name(&argument.reason),
        title: format!("score {:.2}, compared as {}", argument.score, argument.kind.replace('_', " ")),
        reference,
        predicted,
    }
}

/// An argument's name; the arguments as a whole have none.
pub(super) fn argument_name(argument: &str) -> String {
    if argument.is_empty() { "(all arguments)".to_owned() } else { name(argument) }
}
