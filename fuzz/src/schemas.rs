//! Schemas of tools and arguments for them, through all that walks a schema which somebody else wrote.
//!
//! The first line of an input is a schema, each line after it the arguments of a call.

use std::collections::HashSet;
use std::time::Duration;

use jsonschema::{PatternOptions, Validator};
use m3_executor::OfferedTools;
use m3_mcp::arguments::{ArgumentSchema, SchemaError, properties, required};
use m3_mcp::{ServerTools, Tool, ToolCatalog};
use m3_outcomes::{CallChecker, KnownTools};
use m3_score::{Metric, ScoreOptions, Scorer};
use m3_suites::{ChosenSuite, SUITES, Trial, Variant};
use m3_support::schema_parts::{MOST_PARTS, parts, referenced};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::parse;
use m3_trajectory::{Call, Step, Trajectory};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};

use crate::input::{Temporary, assert_line, without_first_line};
use crate::letters::embedder;

/// The longest time of one check. It takes milliseconds; machines that are busy get much more.
const LONGEST: Duration = Duration::from_secs(10);

/// Arguments of one input.
const MOST_ARGUMENTS: usize = 5;

/// Holds a schema against what checks of arguments keep.
///
/// # Panics
/// If they do not keep it.
pub fn check(bytes: &[u8]) {
    let (first, rest) = without_first_line(bytes);
    let Ok(Value::Object(schema)) = serde_json::from_slice::<Value>(first) else { return };
    let lines = rest.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let arguments: Vec<Value> = lines.take(MOST_ARGUMENTS).collect();
    let _ = (properties(&schema), required(&schema).count());
    let whole = Value::Object(schema.clone());
    for has_formats in [false, true] {
        let prepare = if has_formats { ArgumentSchema::with_formats } else { ArgumentSchema::new };
        match in_time("a schema is prepared", || prepare(&schema)) {
            Ok(prepared) => {
                // What is prepared within bounds is prepared without them too.
                let unbounded = unbounded(&whole, has_formats);
                for arguments in &arguments {
                    check_arguments(&prepared, unbounded.as_ref(), arguments);
                }
            }
            Err(error) => assert_reason(&error),
        }
    }
    check_references(&whole, &whole);
    check_offered(&schema, &arguments);
    check_scored(&whole, &arguments);
}

/// What takes long is not begun. Time of the processor: a machine may be busy.
fn in_time<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let started = processor_time();
    let made = work();
    let took = processor_time().saturating_sub(started);
    assert!(took < LONGEST, "{what} in {took:?}");
    made
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or_default(), time.tv_nsec.try_into().unwrap_or_default())
}

fn assert_reason(error: &SchemaError) {
    assert_line("why a schema is not used", &error.reason, 1000);
}

/// The same schema without bounds; `None` where a pattern of it is too large for ours alone.
fn unbounded(schema: &Value, has_formats: bool) -> Option<Validator> {
    let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
    options.should_validate_formats(has_formats).build(schema).ok()
}

/// Problems are few and short, each has its place, the same arguments have the same ones, and bounds change no answer.
fn check_arguments(schema: &ArgumentSchema, unbounded: Option<&Validator>, arguments: &Value) {
    let found = in_time("arguments are checked", || schema.problems(arguments));
    assert_eq!(schema.accepts(arguments), found.as_ref().is_ok_and(Vec::is_empty));
    match found {
        Ok(problems) => {
            if let Some(unbounded) = unbounded {
                assert_eq!(unbounded.is_valid(arguments), problems.is_empty(), "{problems:?}");
            }
            assert_eq!(schema.problems(arguments).ok().as_ref(), Some(&problems));
            assert!(problems.len() <= 20, "{} problems", problems.len());
            for problem in problems {
                assert_line("a problem", &problem.message, 1000);
                assert!(problem.keyword.len() <= 100, "{}", problem.keyword);
                assert!(arguments.pointer(&problem.pointer).is_some(), "{} of {arguments}", problem.pointer);
            }
        }
        Err(error) => assert_reason(&error),
    }
}

/// Every reference is followed, wherever it stands.
fn check_references(root: &Value, part: &Value) {
    assert!(parts(root, part).len() <= MOST_PARTS, "{part}");
    match part {
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                let _ = referenced(root, reference);
            }
            members.values().for_each(|value| check_references(root, value));
        }
        Value::Array(items) => items.iter().for_each(|item| check_references(root, item)),
        _ => {}
    }
}

/// A tool with this schema can be offered, and its calls judged.
fn check_offered(schema: &Map<String, Value>, arguments: &[Value]) {
    let tool = Tool {
        name: "f".to_owned(),
        description: None,
        input_schema: schema.clone(),
        output_schema: None,
        extra: Map::new(),
    };
    let tools = ServerTools { server: "s".to_owned(), tools: vec![tool], rejected: Vec::new() };
    let catalog = ToolCatalog { servers: vec![tools] };
    let known = in_time("a tool is known", || KnownTools::new(&catalog));
    let unusable: HashSet<&str> = known.all_unusable_schemas().into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(unusable.contains("s/f"), ArgumentSchema::new(schema).is_err());
    let checker = CallChecker::new(&known);
    for arguments in arguments {
        let found = in_time("a call is checked", || checker.check(&call(arguments)));
        if let Some(decided) = found.decided {
            assert_line("what decides", &decided.evidence, 4000);
        }
    }
    let offered = in_time("a tool is offered", || OfferedTools::new(catalog));
    assert!(offered.hash().starts_with("sha256:"));
    let definitions = in_time("a tool is defined for providers", || offered.definitions());
    assert_eq!(definitions.map(|all| all.len()).ok(), Some(1));
}

fn call(arguments: &Value) -> Call {
    let arguments = parse(arguments.to_string().as_bytes()).ok().map(|(value, _)| value);
    Call { tool: "s/f".to_owned(), arguments, result: None, extra: Vec::new() }
}

/// Other benchmarks check arguments by the schema in their own ways.
fn check_suites(catalog: &Catalog, all: &[Trajectory]) {
    for suite in SUITES {
        for variant in [Variant::Paper, Variant::Published] {
            let mut scorer = ChosenSuite { suite, variant }.open(Some(catalog));
            in_time(suite.name, || {
                for (prediction, reference) in all.iter().zip(all.iter().rev()) {
                    let _ = scorer.trial(&Trial::new(reference, Some(prediction), 1));
                }
                let _ = scorer.finish();
            });
        }
    }
}

/// The schema helps to compare calls, and a call is as right as can be beside itself.
fn check_scored(schema: &Value, arguments: &[Value]) {
    let catalog = json!({"s": {"tools": [{"name": "f", "inputSchema": schema}]}});
    let file = Temporary::file("tools.json", catalog.to_string().as_bytes());
    let Ok(catalog) = Catalog::open(file.path()) else { return };
    let options = ScoreOptions { catalog: Some(&catalog), ..ScoreOptions::default() };
    let trajectory = |arguments: &Value| Trajectory {
        steps: vec![Step { calls: vec![call(arguments)], ..Step::default() }],
        ..Trajectory::default()
    };
    let all: Vec<Trajectory> = arguments.iter().map(trajectory).collect();
    check_suites(&catalog, &all);
    let pairs = all.iter().zip(&all).chain(all.iter().zip(all.iter().skip(1)));
    let pairs = pairs.map(|(prediction, reference)| (Some(prediction), reference));
    let scores = in_time("calls are scored", || Scorer::new(options, &mut embedder()).score_pairs(pairs));
    for (index, scored) in scores.unwrap_or_default().into_iter().flatten().enumerate() {
        let recall = scored.sums.metrics(options.profile)[Metric::Recall];
        let fidelity = scored.compared.first().map(|pair| pair.fidelity.score);
        assert!(
            index >= all.len() || (recall, fidelity) == (1.0, Some(1.0)),
            "{recall} {fidelity:?} beside itself"
        );
    }
}
