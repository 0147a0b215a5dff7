//! BFCL, the Berkeley Function-Calling Leaderboard: its AST checker for Python (`bfcl_eval/eval_checker/ast_eval/ast_checker.py` of
//! `bfcl-eval` 2026.3.23), which compares calls with lists of accepted values.

mod check;
mod failure;
mod function;
mod types;
mod values;

use std::borrow::Cow;
use std::collections::HashMap;

use m3_support::text::shortened;
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::{Json, parse};
use m3_trajectory::{Call, Trajectory};

use crate::members::{items, member};
use crate::suite::{Group, Scorer, Suite, SuiteMetric, SuiteResult, Trial, Unit, by_name};
use crate::values::Values;
use check::Gold;
use failure::Failure;
use function::Function;

/// The suite: MCPToolBench++ cites it for its AST metric. It has no paper of its own that differs.
pub(crate) static SUITE: Suite = Suite {
    name: "bfcl",
    title: "BFCL, AST checker",
    has_published: false,
    metrics: &[
        SuiteMetric {
            name: "ast",
            meaning: "Trials whose calls are the reference's: functions, parameters, types and accepted values.",
            unit: Unit::Share,
        },
        SuiteMetric { name: "trials", meaning: "Trials of all tasks.", unit: Unit::Count },
    ],
    open: |setting| {
        Box::new(Bfcl {
            catalog: setting.catalog,
            records: Vec::new(),
            wrong: Vec::new(),
            places: HashMap::new(),
        })
    },
};

/// The most wrong trials that are named in notes.
const NAMED: usize = 20;

/// The most columns of an id in a note.
const SHOWN: usize = 60;

struct Bfcl<'c> {
    catalog: Option<&'c Catalog>,
    records: Vec<Record>,
    /// The first wrong trials, with why.
    wrong: Vec<String>,
    /// The trials of each task.
    places: HashMap<String, Vec<usize>>,
}

struct Record {
    category: &'static str,
    error: Option<Failure>,
}

impl Scorer for Bfcl<'_> {
    fn trial(&mut self, trial: &Trial<'_>) -> Values {
        let none = Trajectory::default();
        let prediction = trial.prediction.unwrap_or(&none);
        let (category, result) = self.check(trial.reference, prediction);
        if let Err(error) = result
            && self.wrong.len() < NAMED
        {
            self.wrong.push(format!("{}: {error}", shortened(&trial.reference.id, SHOWN)));
        }
        self.places.entry(trial.reference.id.clone()).or_default().push(self.records.len());
        self.records.push(Record { category, error: result.err() });
        Values::from([("ast", Some(f64::from(u8::from(result.is_ok()))))])
    }

    fn finish(self: Box<Self>) -> SuiteResult {
        let all: Vec<&Record> = self.records.iter().collect();
        let trials = Some(all.len() as f64);
        // A task is the mean over its trials.
        let tasks: Vec<f64> = self
            .places
            .values()
            .filter_map(|places| {
                share(&places.iter().filter_map(|at| self.records.get(*at)).collect::<Vec<_>>())
            })
            .collect();
        let ast = (!tasks.is_empty()).then(|| tasks.iter().sum::<f64>() / tasks.len() as f64);
        let mut groups = Vec::new();
        let mut add = |by: &'static str, name_of: fn(&Record) -> Option<&'static str>| {
            let names = by_name(&self.records, |record| name_of(record).map(str::to_owned));
            groups.extend(names.into_iter().map(|(name, records)| Group {
                by,
                name,
                tasks: records.len(),
                values: Values::from([("ast", share(&records))]),
            }));
        };
        add("category", |record| Some(record.category));
        add("error", |record| record.error);
        let mut notes = Vec::new();
        if !self.wrong.is_empty() {
            notes.push(format!("the first that are wrong: {}", self.wrong.join("; ")));
        }
        SuiteResult { aggregate: Values::from([("ast", ast), ("trials", trials)]), groups, notes }
    }
}

fn share(records: &[&Record]) -> Option<f64> {
    let right = records.iter().filter(|record| record.error.is_none()).count();
    (!records.is_empty()).then(|| right as f64 / records.len() as f64)
}

impl Bfcl<'_> {
    /// The category of a task, and whether a prediction is right.
    fn check(&self, reference: &Trajectory, prediction: &Trajectory) -> (&'static str, Result<(), Failure>) {
        let functions = member(reference, "functions").map(items).unwrap_or_default();
        let gold: Vec<Gold<'_>> = reference.calls().map(|(_, call)| Gold::of(call)).collect();
        let named = reference.task_type.as_deref().unwrap_or_default();
        let category = match gold.len() {
            0 => "irrelevance",
            1 if named.contains("parallel") => "parallel",
            1 if functions.len() > 1 || named.contains("multiple") => "multiple",
            1 => "simple",
            _ if functions.len() > 1 || named.contains("multiple") => "parallel_multiple",
            _ => "parallel",
        };
        let calls: Option<Vec<check::Predicted<'_>>> =
            prediction.calls().map(|(_, call)| predicted(call)).collect();
        let Some(calls) = calls else { return (category, Err("ast_decoder:decoder_failed")) };
        let function = |name: &str| self.function(functions, name);
        let result = match category {
            "irrelevance" if calls.is_empty() => Ok(()),
            "irrelevance" => Err("irrelevance_error:decoder_success"),
            "simple" => check::one(&calls, &gold, &function, "simple_function_checker:wrong_count"),
            "multiple" => check::one(&calls, &gold, &function, "multiple_function_checker:wrong_count"),
            _ => check::in_any_order(&calls, &gold, &function),
        };
        (category, result)
    }

    /// What is known of a function: its own document in the reference, else the schema of the catalog.
    fn function<'f>(&'f self, functions: &'f [Json], name: &str) -> Option<Function<'f>> {
        let own = functions.iter().find(|function| function.get("name").and_then(Json::as_str) == Some(name));
        let own = own.and_then(|function| function.get("parameters"));
        own.or_else(|| self.catalog?.input_schema(name)).map(Function::of)
    }
}

/// A predicted call; `None` if its arguments are no object.
fn predicted(call: &Call) -> Option<check::Predicted<'_>> {
    let arguments = match &call.arguments {
        None | Some(Json::Null) => Cow::Borrowed(&[][..]),
        Some(Json::Object(members)) => Cow::Borrowed(members.as_slice()),
        Some(Json::String(text)) => match parse(text.as_bytes()) {
            Ok((Json::Object(members), _)) => Cow::Owned(members),
            _ => return None,
        },
        Some(_) => return None,
    };
    Some(check::Predicted { name: &call.tool, arguments })
}
