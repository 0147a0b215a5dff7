//! BFCL, the Berkeley Function-Calling Leaderboard: its AST checker, as `bfcl-eval` 2026.3.23 has it (Apache-2.0;
//! `bfcl_eval/eval_checker/ast_eval`).

mod category;
mod check;
mod compare;
mod failure;
mod java;
mod javascript;
mod pattern;
mod python;
mod schema;
mod source;
#[cfg(test)]
mod tests;
mod totals;

use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, MalformedCall, Trajectory};

use crate::suite::{Scorer, Suite, SuiteMetric, SuiteResult, Trial};
use crate::values::Values;
use failure::Kind;
use totals::Totals;

pub(crate) use category::Category;
pub(crate) use check::{check, has_type, is_accepted};
pub(crate) use failure::Failure;
pub(crate) use schema::Language;

/// The suite of BFCL's AST checker.
pub(crate) static SUITE: Suite = Suite {
    name: "bfcl",
    title: "BFCL, AST checker",
    has_published: false,
    metrics: &[
        SuiteMetric::share(
            "ast",
            "The mean over tasks of the share of trials whose calls name the functions of the reference with accepted \
                      values, and no others; of tasks without calls of those in which nothing is called.",
        ),
        SuiteMetric::count("trials", "Trials of all tasks."),
    ],
    open: |setting| Box::new(Bfcl { catalog: setting.catalog, totals: Totals::default() }),
};

struct Bfcl<'c> {
    catalog: Option<&'c Catalog>,
    totals: Totals,
}

impl Scorer for Bfcl<'_> {
    fn trial(&mut self, trial: &Trial<'_>) -> Values {
        let Trial { reference, prediction, .. } = *trial;
        if is_of_turns(reference) {
            self.totals.of_turns += 1;
            let mut values = Values::from([("ast", None)]);
            for label in LABELS {
                values.push_label(label, None);
            }
            return values;
        }
        let task = Task::new(reference, self.catalog);
        let verdict = match prediction {
            Some(prediction) => task.check(prediction),
            None => Err(Failure { kind: Kind::NoPrediction, message: "there is no prediction".to_owned() }),
        };
        self.totals.add(&task, verdict.as_ref().err());
        let mut values = Values::from([("ast", Some(if verdict.is_ok() { 1.0 } else { 0.0 }))]);
        let failure = verdict.err();
        let [kind, message] = LABELS;
        values.push_label(kind, failure.as_ref().map(|failure| failure.kind.label().to_owned()));
        values.push_label(message, failure.map(|failure| failure.message));
        values
    }

    fn finish(self: Box<Self>) -> SuiteResult {
        self.totals.result()
    }
}

/// The labels of a wrong trial: the published program's error type, and a sentence.
const LABELS: [&str; 2] = ["error_type", "error"];

/// Whether the AST checker does not compare a task: one of BFCL's with several turns, or for agents.
fn is_of_turns(reference: &Trajectory) -> bool {
    let kind = reference.task_type.as_deref().unwrap_or_default();
    ["multi_turn_", "memory", "web_search"].iter().any(|beginning| kind.starts_with(beginning))
}

/// A reference, read as a task of BFCL.
struct Task<'a> {
    reference: &'a Trajectory,
    calls: Vec<&'a Call>,
    category: Category,
    /// The language; its name as the error if it is not known.
    language: Result<Language, String>,
    /// Messages about members of the reference that are not in BFCL's form.
    unreadable: Vec<&'static str>,
    /// The functions that were offered.
    functions: &'a [Json],
    catalog: Option<&'a Catalog>,
}

impl<'a> Task<'a> {
    fn new(reference: &'a Trajectory, catalog: Option<&'a Catalog>) -> Self {
        let functions = reference.get("functions");
        let language = match reference.get("language") {
            Some(name) => name.as_str().and_then(Language::named).ok_or_else(|| name.to_text(Keys::AsRead)),
            None => Ok(Language::default()),
        };
        let calls = calls(reference);
        let is_odd =
            |call: &&Call| call.get("accepted").is_some_and(|accepted| !matches!(accepted, Json::Object(_)));
        let mut unreadable = Vec::new();
        unreadable.extend(calls.iter().any(is_odd).then_some("`accepted` is no object"));
        unreadable.extend(
            functions.is_some_and(|it| !matches!(it, Json::Array(_))).then_some("`functions` is no list"),
        );
        let functions = functions.map(Json::items).unwrap_or_default();
        Self {
            reference,
            calls,
            category: Category::new(reference, functions),
            language,
            unreadable,
            functions,
            catalog,
        }
    }

    /// The schema of a function: from the task, else from the catalog.
    fn schema(&self, name: &str) -> Option<&'a Json> {
        let is_of = |function: &&Json| function.get("name").and_then(Json::as_str) == Some(name);
        let own = self.functions.iter().find(is_of).and_then(|function| function.get("parameters"));
        let schema = own.or_else(|| self.catalog?.input_schema(name));
        // A schema that is not an object, such as `true` or null, says nothing.
        schema.filter(|schema| matches!(schema, Json::Object(_)))
    }

    fn check(&self, prediction: &Trajectory) -> Result<(), Failure> {
        let steps = || prediction.steps.iter();
        let nameless: Vec<Call> = steps().flat_map(|step| &step.malformed).map(nameless).collect();
        let calls: Vec<&Call> = steps().flat_map(|step| &step.calls).chain(&nameless).collect();
        let language = self.language.as_ref().copied().unwrap_or_default();
        check(&self.calls, &calls, &|name| self.schema(name), language, self.category)
    }
}

/// An item without a function's name, as a call with an empty name. An item that is not an object has no arguments that
/// can be read.
fn nameless(item: &MalformedCall) -> Call {
    let arguments = match &item.value {
        Json::Object(_) => item.value.get("arguments").cloned(),
        other => Some(Json::String(other.to_text(Keys::AsRead))),
    };
    Call { tool: String::new(), arguments, result: None, extra: Vec::new() }
}

fn calls(trajectory: &Trajectory) -> Vec<&Call> {
    trajectory.steps.iter().flat_map(|step| &step.calls).collect()
}
