//! MCP-Bench: rates of made-up calls, means of judges' replies and of tasks, the paper's tables.

use m3_suites::{ChosenSuite, SuiteResult, Trial, Values};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, MalformedCall, Step, Trajectory};

use super::{call, items, number, read, text, trajectory};

/// A tool's name as `server/tool`.
fn tool(name: &str) -> String {
    name.replacen(':', "/", 1)
}

/// The offered tools as a catalog.
fn catalog(tools: &Json) -> Option<Catalog> {
    let Json::Object(tools) = tools else { panic!("no tools") };
    let mut servers: Vec<(String, Json)> = Vec::new();
    for (name, entry) in tools {
        let name = tool(name);
        let (server, bare) = name.split_once('/').unwrap();
        let schema = entry.get("input_schema").unwrap().clone();
        let tool =
            vec![("name".to_owned(), Json::String(bare.to_owned())), ("inputSchema".to_owned(), schema)];
        let at = servers.iter().position(|(known, _)| known == server).unwrap_or_else(|| {
            servers
                .push((server.to_owned(), Json::Object(vec![("tools".to_owned(), Json::Array(Vec::new()))])));
            servers.len() - 1
        });
        let Json::Object(members) = &mut servers[at].1 else { panic!() };
        let Json::Array(list) = &mut members[0].1 else { panic!() };
        list.push(Json::Object(tool));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.json");
    std::fs::write(&path, Json::Object(servers).to_text(Keys::AsRead)).unwrap();
    Catalog::open(&path).ok()
}

/// Executed entries as a trajectory: what names no tool is no call.
fn executed(case: &Json) -> Trajectory {
    let mut step = Step::default();
    for (index, entry) in items(case.get("execution_results").unwrap()).iter().enumerate() {
        match entry.get("tool").and_then(Json::as_str) {
            Some(name) => {
                let success = entry.get("success").cloned().unwrap_or(Json::Null);
                let extra = vec![("success".to_owned(), success)];
                step.calls.push(Call { extra, ..call(&tool(name), entry.get("parameters").cloned()) });
            }
            None => step.malformed.push(MalformedCall { index, value: entry.clone(), reason: String::new() }),
        }
    }
    let mut prediction = trajectory("t", Vec::new());
    prediction.steps.push(step);
    let planning = case.get("planning_json_compliance").cloned().filter(|value| *value != Json::Null);
    prediction.extra.extend(planning.map(|value| ("planning_json_compliance".to_owned(), value)));
    prediction
}

fn values(catalog: Option<&Catalog>, prediction: &Trajectory) -> Values {
    let mut scorer = "mcp-bench:published".parse::<ChosenSuite>().unwrap().open(catalog);
    scorer.trial(&Trial::new(prediction, Some(prediction), 1))
}

fn differs(found: Option<f64>, wanted: &Json) -> bool {
    let wanted = if *wanted == Json::Null { None } else { Some(number(wanted)) };
    match (found, wanted) {
        (Some(found), Some(wanted)) => (found - wanted).abs() > 1e-9,
        (found, wanted) => found.is_some() != wanted.is_some(),
    }
}

#[test]
fn rates_by_rules() {
    let Some(oracle) = read("mcp-bench/oracle/rule_based.json") else { return };
    let mut wrong = Vec::new();
    for case in items(oracle.get("cases").unwrap()) {
        let actual = values(catalog(case.get("available_tools").unwrap()).as_ref(), &executed(case));
        let published = case.get("published").unwrap();
        let rates = published.get("tool_accuracy").unwrap();
        // The program breaks off where the planning compliance is not told; the rates do not need it.
        if rates.get("raises").is_some() {
            assert!(
                actual.get("name_validity").is_some() && actual.get("planning_json_compliance").is_none()
            );
            continue;
        }
        for (name, key) in [
            ("name_validity", "valid_tool_name_rate"),
            ("schema_compliance", "input_schema_compliance"),
            ("execution_success", "execution_success_rate"),
            ("valid_call_failure_rate", "valid_call_failure_rate"),
            ("planning_json_compliance", "planning_json_compliance"),
        ] {
            if differs(actual.get(name), rates.get(key).unwrap()) {
                wrong.push(format!(
                    "{} {}: {name} {:?}",
                    text(case, "id"),
                    text(case, "kind"),
                    actual.get(name)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names of a dimension or an axis in the program, and here; axes are tenths of it here.
const AXES: [(&str, &str); 3] = [
    ("task_completion_score", "completion"),
    ("tool_selection_score", "usage"),
    ("planning_effectiveness_and_efficiency_score", "planning"),
];
const DIMENSIONS: [&str; 6] = [
    "task_fulfillment",
    "grounding",
    "tool_appropriateness",
    "parameter_accuracy",
    "dependency_awareness",
    "parallelism_and_efficiency",
];

#[test]
fn means_of_replies() {
    let Some(oracle) = read("mcp-bench/oracle/judge_and_aggregation.json") else { return };
    for case in items(oracle.get("average_of_judge_replies").unwrap()) {
        let mut prediction = trajectory("t", Vec::new());
        prediction.extra.push(("judge_replies".to_owned(), case.get("replies").unwrap().clone()));
        let (found, published) = (values(None, &prediction), case.get("published").unwrap());
        // The program breaks off at a reply that is a list; it is left out.
        if published.get("raises").is_some() {
            assert_eq!(found.get("grounding"), Some(5.0));
            continue;
        }
        for name in DIMENSIONS {
            assert!(!differs(found.get(name), published.get(name).unwrap()), "{} {name}", text(case, "kind"));
        }
        for (key, name) in AXES {
            let value = found.get(name).map(|value| 10.0 * value);
            assert!(!differs(value, published.get(key).unwrap()), "{} {name}: {value:?}", text(case, "kind"));
        }
    }
}

/// Rates over calls, in what the program prints of all tasks, and here.
const RATES: [(&str, &str); 3] = [
    ("input_schema_compliance", "schema_compliance"),
    ("valid_tool_name_rate", "name_validity"),
    ("tool_call_success_rate", "execution_success"),
];

/// A task of four rounds without calls, with the dimensions told.
fn task(result: &Json) -> Option<Trajectory> {
    let evaluation = result.get("evaluation")?;
    let mut prediction = trajectory("t", vec![Vec::new(); 4]);
    let reply = Json::Object(
        DIMENSIONS.into_iter().map(|name| (name.to_owned(), evaluation.get(name).unwrap().clone())).collect(),
    );
    prediction.extra.push(("judge_replies".to_owned(), Json::Array(vec![reply])));
    Some(prediction)
}

#[test]
fn means_of_tasks() {
    let Some(oracle) = read("mcp-bench/oracle/judge_and_aggregation.json") else { return };
    for case in items(oracle.get("aggregation").unwrap()) {
        let mut scorer = "mcp-bench:published".parse::<ChosenSuite>().unwrap().open(None);
        for result in items(case.get("results").unwrap()) {
            let (reference, prediction) = (trajectory("t", Vec::new()), task(result));
            scorer.trial(&Trial::new(&reference, prediction.as_ref(), 1));
        }
        let SuiteResult { aggregate, .. } = scorer.finish();
        let published = case.get("published").unwrap().get("aggregate_current_metrics").unwrap();
        for name in DIMENSIONS {
            let Some(wanted) = published.get(name) else { continue };
            assert!(!differs(aggregate.get(name), wanted), "{} {name}", text(case, "kind"));
        }
        for (key, name) in AXES {
            let value = aggregate.get(name).map(|value| 10.0 * value);
            assert!(!differs(value, published.get(key).unwrap()), "{} {name}", text(case, "kind"));
        }
        // Elsewhere the rates are told, not calls that have them. The program prints the last under another name if nothing
        // was completed.
        if ["only_without_calls", "none"].contains(&text(case, "kind").as_str()) {
            for (key, name) in RATES {
                let wanted = published.get(key).unwrap_or(&Json::Integer(0));
                assert!(!differs(aggregate.get(name), wanted), "{} {name}", text(case, "kind"));
            }
        }
    }
}

/// A call of a set whose members of 1,000 have these rates gives the columns of the paper's tables, and the overall score.
#[test]
fn the_papers_tables() {
    let Some(oracle) = read("mcp-bench/oracle/paper_tables.json") else { return };
    let rows = items(oracle.get("rows").unwrap());
    for row in rows {
        let of = |name: &str| number(row.get(name).unwrap());
        let mut prediction = trajectory("t", Vec::new());
        prediction.steps.push(calls_with_rates(
            of("valid_tool_name"),
            of("schema_compliance"),
            of("execution_success"),
        ));
        let columns = [
            ("task_fulfillment", "task_fulfillment"),
            ("grounding", "grounding"),
            ("tool_appropriateness", "tool_appropriateness"),
            ("parameter_accuracy", "parameter_accuracy"),
            ("dependency_awareness", "dependency_awareness"),
            ("parallelism_and_efficiency", "parallelism_efficiency"),
        ];
        let reply = columns.map(|(name, column)| (name.to_owned(), Json::Float(10.0 * of(column))));
        let replies = Json::Array(vec![Json::Object(reply.to_vec())]);
        prediction.extra.push(("judge_replies".to_owned(), replies));
        let actual = values(tools_of_rates().as_ref(), &prediction);
        let overall = actual.get("overall").unwrap();
        assert!((overall - of("overall")).abs() < 0.001, "{}: {overall}", text(row, "model"));
    }
    assert!(rows.len() >= 30);
}

/// A tool that needs an argument.
fn tools_of_rates() -> Option<Catalog> {
    let schema = r#"{"s/t": {"input_schema": {"type": "object", "required": ["a"]}}}"#;
    catalog(&m3_trajectory::json::parse(schema.as_bytes()).unwrap().0)
}

/// 10,000 calls with these shares of valid names, of arguments that fit among them, and of successes.
fn calls_with_rates(valid: f64, compliant: f64, success: f64) -> Step {
    let many = 10_000.0;
    let (valid, succeeded) = ((many * valid).round(), (many * success).round());
    let compliant = (valid * compliant).round();
    let argument = Json::Object(vec![("a".to_owned(), Json::Integer(1))]);
    let one = |at: u32| {
        let at = f64::from(at);
        let arguments = if at < compliant { argument.clone() } else { Json::Object(Vec::new()) };
        let extra = vec![("success".to_owned(), Json::Bool(at < succeeded))];
        Call { extra, ..call(if at < valid { "s/t" } else { "s/none" }, Some(arguments)) }
    };
    Step { calls: (0..10_000).map(one).collect(), ..Step::default() }
}
