//! The verdict on one trial.

use m3_trajectory::Trajectory;

use super::compare::Comparer;
use super::graph::{Entry, Marks, assignment, entries, leaves};
use super::judge;
use super::names::Fit;
use super::outcome::{CallOutcome, Outcome};
use super::reply::Label;
use crate::suite::Variant;

/// The verdict on a trial; `None` where it is not defined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The calls are the reference's.
    pub(super) ast: Option<bool>,
    /// The last calls are the reference's.
    pub(super) ast_dag: Option<bool>,
    /// The tools are right.
    pub(super) tool: Option<bool>,
    /// The tools and the arguments are right.
    pub(super) parameter: Option<bool>,
    /// The tools and the arguments are right, and the calls succeeded.
    pub(super) pass: Option<bool>,
    /// The number of calls that were accepted for a similar tool of the reference.
    pub(super) similar: usize,
    /// Whether arguments were to be judged, and there was no verdict of a judge.
    pub(super) is_without_judge: bool,
}

/// A reference and a prediction that are compared.
pub(super) struct Pair<'t> {
    reference: &'t Trajectory,
    prediction: &'t Trajectory,
    gold: Vec<Entry<'t>>,
    predicted: Vec<Entry<'t>>,
    marks: Marks,
}

impl<'t> Pair<'t> {
    pub(super) fn new(reference: &'t Trajectory, prediction: &'t Trajectory) -> Self {
        Self {
            reference,
            prediction,
            gold: entries(reference).collect(),
            predicted: entries(prediction).collect(),
            marks: Marks::new(reference),
        }
    }

    /// The verdict. `graded` is the prediction with the judges' grades.
    pub(super) fn verdict(&self, comparer: &Comparer<'_>, graded: &Trajectory, variant: Variant) -> Verdict {
        match variant {
            Variant::Paper => self.by_paper(comparer),
            Variant::Published => self.by_program(comparer, graded),
        }
    }

    fn by_paper(&self, comparer: &Comparer<'_>) -> Verdict {
        if self.gold.is_empty() {
            return Verdict::default();
        }
        let arguments = |predicted: Entry<'_>, gold: Entry<'_>| {
            predicted.zip(gold).and_then(|(predicted, gold)| comparer.fit(predicted, gold, &self.marks))
        };
        let ast = in_order(&self.gold, &self.predicted, arguments);
        let (last_gold, last) =
            (leaves(self.reference, &self.marks), leaves(self.prediction, &Marks::new(self.prediction)));
        let dag = one_to_one(&last_gold, &last, arguments);
        // One call is compared by AST accuracy, several by AST-DAG accuracy (section 4.1.1).
        let (right, tool) = if self.gold.len() == 1 {
            (&ast, in_order(&self.gold, &self.predicted, fit).is_some())
        } else {
            (&dag, one_to_one(&last_gold, &last, fit).is_some())
        };
        Verdict {
            ast: Some(ast.is_some()),
            ast_dag: Some(dag.is_some()),
            tool: Some(tool),
            parameter: Some(right.is_some()),
            pass: self.passes(right.is_some(), &last),
            similar: ast.or(dag).map_or(0, |fits| fits.iter().filter(|fit| **fit == Fit::Similar).count()),
            is_without_judge: false,
        }
    }

    /// Whether arguments are right and the last calls succeeded with content; `None` if the result of a call is not
    /// recorded.
    fn passes(&self, is_right: bool, last: &[Entry<'_>]) -> Option<bool> {
        let outcome =
            |entry: &Entry<'_>| entry.map_or(Outcome::Failed, |call| CallOutcome::from_call(call).outcome);
        let is_judged = self.predicted.iter().all(|entry| outcome(entry) != Outcome::Unjudged);
        is_judged.then(|| is_right && last.iter().all(|entry| outcome(entry) == Outcome::Success))
    }

    /// `check_correctness` of `run_tool_call.py`, which compares the last calls of both lists.
    fn by_program(&self, comparer: &Comparer<'_>, graded: &Trajectory) -> Verdict {
        let last = self.predicted.last().copied().flatten().zip(self.gold.last().copied().flatten());
        let by_name = last.and_then(|(predicted, gold)| Fit::new(predicted, gold));
        let verdict = judge::is_right(graded);
        let by_rules =
            || last.is_some_and(|(predicted, gold)| comparer.fit(predicted, gold, &self.marks).is_some());
        let tool = by_name.is_some();
        let parameter = tool && verdict.unwrap_or_else(by_rules);
        let has_output = last.is_some_and(|(predicted, _)| Label::from_call(predicted) == Label::Success);
        Verdict {
            ast: Some(parameter),
            ast_dag: Some(tool),
            tool: Some(tool),
            parameter: Some(parameter),
            pass: Some(parameter && has_output),
            similar: usize::from(by_name == Some(Fit::Similar)),
            is_without_judge: verdict.is_none() && tool,
        }
    }
}

/// Whether a predicted entry has the tool of a reference's.
fn fit(predicted: Entry<'_>, gold: Entry<'_>) -> Option<Fit> {
    predicted.zip(gold).and_then(|(predicted, gold)| Fit::new(predicted, gold))
}

/// Matches in order: each reference's call takes the first predicted call that fits and is free, and no predicted call
/// is left over. This is BFCL's rule for parallel calls (`parallel_function_checker_no_order`).
fn in_order<'t>(
    gold: &[Entry<'t>],
    predicted: &[Entry<'t>],
    fit: impl Fn(Entry<'t>, Entry<'t>) -> Option<Fit>,
) -> Option<Vec<Fit>> {
    if gold.len() != predicted.len() {
        return None;
    }
    let mut free = predicted.to_vec();
    let take = |gold: &Entry<'t>| {
        let (at, taken) =
            free.iter().enumerate().find_map(|(at, predicted)| Some((at, fit(*predicted, *gold)?)))?;
        free.remove(at);
        Some(taken)
    };
    gold.iter().map(take).collect()
}

/// The fits of an assignment of predicted calls to the reference's, each to one; `None` if some call has none.
fn one_to_one<'t>(
    gold: &[Entry<'t>],
    predicted: &[Entry<'t>],
    fit: impl Fn(Entry<'t>, Entry<'t>) -> Option<Fit>,
) -> Option<Vec<Fit>> {
    if gold.is_empty() || gold.len() != predicted.len() {
        return None;
    }
    let fit = |reference: usize, prediction: usize| fit(*predicted.get(prediction)?, *gold.get(reference)?);
    let assigned = assignment(gold.len(), |reference, prediction| fit(reference, prediction).is_some())?;
    assigned.into_iter().enumerate().map(|(reference, prediction)| fit(reference, prediction)).collect()
}
