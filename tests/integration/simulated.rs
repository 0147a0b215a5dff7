//! Simulated servers on the real catalog, the real records and our own benchmark.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use m3::mcp::{Answer, Content, ToolName, ToolResult, Toolbox};
use m3::servers::simulated::{Behaviour, MARK, SimulatedOptions, SimulatedServer, Simulation};
use m3::trajectory::catalog::Catalog;
use m3::trajectory::json::Json;
use m3::trajectory::{Call, Duplicates, TrajectoryFile};
use serde_json::{Map, Value, json};

use crate::support::{root, shared};

fn simulation(catalog: PathBuf, trajectories: Vec<PathBuf>, behaviour: Behaviour) -> Simulation {
    let options = SimulatedOptions { catalog, trajectories, behaviour, ..SimulatedOptions::default() };
    options.open(None).unwrap()
}

fn benchmark(behaviour: Behaviour) -> Option<Simulation> {
    let trajectories = vec![shared("open-m3-bench/references.json")?];
    Some(simulation(shared("open-m3-bench/tools.json")?, trajectories, behaviour))
}

fn call(server: &SimulatedServer, tool: &str, arguments: &Value) -> ToolResult {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let Value::Object(arguments) = arguments else { panic!("an object") };
    let Answer::Result(result) = runtime.block_on(server.call(tool, arguments.clone())) else {
        panic!("a result")
    };
    result
}

fn is_marked(result: &ToolResult, mark: &str) -> bool {
    result.extra["_meta"].get(mark) == Some(&Value::Bool(true))
}

/// Arguments for a tool: a value of the first type of every required property.
fn arguments(tool: &m3::mcp::Tool) -> Value {
    let schema = Value::Object(tool.input_schema.clone());
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let value = |name: &str| {
        let property = &schema["properties"][name];
        if let Some(value) = property["enum"].get(0) {
            return value.clone();
        }
        let branch = property["anyOf"].get(0).unwrap_or(property);
        match branch["type"].as_str() {
            Some("integer" | "number") => property["minimum"].as_i64().unwrap_or(1).into(),
            Some("boolean") => json!(true),
            Some("array") => match branch["items"]["type"].as_str() {
                Some("number" | "integer") => json!([1, 2]),
                Some("array") => json!([[1]]),
                Some("object") => json!([{}]),
                _ => json!(["a", "b"]),
            },
            Some("object") => json!({}),
            _ => json!(format!("a {name}")),
        }
    };
    let named = required.iter().filter_map(Value::as_str).map(|name| (name.to_owned(), value(name)));
    Value::Object(named.collect::<Map<_, _>>())
}

#[test]
fn every_tool_of_the_real_catalog_answers_as_its_schema_says() {
    let Some(simulation) = benchmark(Behaviour::default()) else { return };
    assert_eq!((simulation.servers.len(), simulation.rejected.len()), (27, 0));
    let catalog = Catalog::open(&shared("open-m3-bench/tools.json").unwrap()).unwrap();
    let (mut tools, mut structured, mut refused) = (0, 0, 0);
    for server in &simulation.servers {
        for tool in server.tools() {
            tools += 1;
            let file = catalog.tool(&format!("{}/{}", server.name(), tool.name)).unwrap().to_value().unwrap();
            assert_eq!(serde_json::to_value(tool).unwrap(), file, "every key is kept");
            let result = call(server, &tool.name, &arguments(tool));
            if is_marked(&result, "m3/refused") {
                refused += 1;
                continue;
            }
            assert!(is_marked(&result, "m3/simulated") && !result.is_error);
            assert!(result.all_text().contains("simulated result"), "{}", result.all_text());
            let Some(schema) = &tool.output_schema else { continue };
            let validator = jsonschema::options()
                .should_validate_formats(true)
                .build(&Value::Object(schema.clone()))
                .unwrap();
            // With other seeds too.
            for seed in 0..20 {
                let behaviour = Behaviour { seed, ..Behaviour::default() };
                let server = servers_of(seed, behaviour).remove(server.name()).unwrap();
                let value = call(&server, &tool.name, &arguments(tool)).structured_content.unwrap();
                assert!(validator.is_valid(&value), "{}/{}: {value}", server.name(), tool.name);
            }
            structured += 1;
        }
    }
    // 232 tools, of which 149 declare an output schema.
    assert_eq!((tools, structured, refused), (232, 149, 0));
}

/// The servers of the real catalog for a seed, made once.
fn servers_of(seed: u64, behaviour: Behaviour) -> HashMap<String, Arc<SimulatedServer>> {
    static MADE: std::sync::Mutex<Option<HashMap<u64, HashMap<String, Arc<SimulatedServer>>>>> =
        std::sync::Mutex::new(None);
    let mut made = MADE.lock().unwrap();
    let made = made.get_or_insert_default().entry(seed).or_insert_with(|| {
        let simulation = benchmark(behaviour).unwrap();
        simulation.servers.into_iter().map(|server| (server.name().to_owned(), server)).collect()
    });
    made.clone()
}

/// Every call of a file that can be made, with its tool's name.
fn calls(file: &TrajectoryFile) -> Vec<(ToolName, Value, Call)> {
    let mut calls = Vec::new();
    for index in 0..file.len() {
        for (_, call) in file.read(index).unwrap().calls() {
            let arguments = call.arguments.as_ref().and_then(Json::to_value).unwrap_or_else(|| json!({}));
            calls.push((ToolName::parse(&call.tool).unwrap(), arguments, call.clone()));
        }
    }
    calls
}

#[test]
fn every_recorded_call_of_the_references_replays_to_exactly_its_result() {
    let Some(simulation) = benchmark(Behaviour::default()) else { return };
    let file =
        TrajectoryFile::open(&shared("open-m3-bench/references.json").unwrap(), Duplicates::Last).unwrap();
    let (mut recorded, mut made, mut refused) = (0, 0, 0);
    let mut seen: HashMap<(ToolName, String), Vec<Json>> = HashMap::new();
    for (name, arguments, call) in calls(&file) {
        if let Some(result) = call.result {
            seen.entry((name, arguments.to_string())).or_default().push(result);
        }
    }
    for (name, arguments, recorded_call) in calls(&file) {
        let result = call(simulation.server(&name.server).unwrap(), &name.tool, &arguments);
        if let Some(Json::String(expected)) = &recorded_call.result {
            recorded += 1;
            assert!(is_marked(&result, "m3/recorded"));
            assert_eq!(result.content, [Content::Text(expected.clone())]);
            assert_eq!(result.structured_content, Some(json!({ "result": expected })));
        } else if is_marked(&result, "m3/refused") {
            refused += 1;
            assert!(result.is_error);
        } else if !seen.contains_key(&(name, arguments.to_string())) {
            made += 1;
            assert!(is_marked(&result, "m3/simulated") && !result.is_error);
        }
    }
    assert_eq!(simulation.recordings.recorded, recorded);
    // 42 of 1387 calls have a result; 12 have arguments that their schema does not accept. Five ids stand twice, of
    // which the last is used: counted here by hand with Python's json and the file's own order.
    assert_eq!((recorded, refused), (RECORDED, REFUSED));
    assert!(made > 1_000);
}

const RECORDED: usize = 42;
const REFUSED: usize = 12;

#[test]
fn our_own_benchmark_runs_on_simulated_servers() {
    let references = root().join("trajectories/references.json");
    let tools = root().join("trajectories/tools.json");
    let simulation = simulation(tools, vec![references.clone()], Behaviour::default());
    let file = TrajectoryFile::open(&references, Duplicates::Error).unwrap();
    let mut replayed = 0;
    for (name, arguments, recorded) in calls(&file) {
        let result = call(simulation.server(&name.server).unwrap(), &name.tool, &arguments);
        assert!(!result.is_error, "{name} {arguments}: {}", result.all_text());
        match recorded.result.as_ref().filter(|result| **result != Json::Null) {
            Some(Json::String(expected)) => {
                replayed += 1;
                assert_eq!(result.all_text(), *expected);
            }
            Some(expected) => {
                replayed += 1;
                let wire = expected.to_value().unwrap();
                assert_eq!(result.content, ToolResult::from_wire(wire).content);
            }
            None => assert!(is_marked(&result, "m3/simulated")),
        }
    }
    assert_eq!(replayed, simulation.recordings.recorded);
}

#[test]
fn a_hundred_thousand_recorded_calls_are_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.jsonl");
    let mut lines = String::new();
    for trajectory in 0..1_000 {
        let calls: Vec<Value> = (0..100)
            .map(|number| {
                let arguments = json!({"expression": format!("{trajectory} + {number}")});
                json!({"name": "math/evaluate", "arguments": arguments, "result": format!("{trajectory}.{number}")})
            })
            .collect();
        lines.push_str(&json!({"id": trajectory.to_string(), "steps": [{"calls": calls}]}).to_string());
        lines.push('\n');
    }
    std::fs::write(&path, lines).unwrap();
    let catalog = folder.path().join("tools.json");
    let tool = json!({"name": "evaluate", "inputSchema": {"type": "object"}});
    std::fs::write(&catalog, json!({"math": {"tools": [tool]}}).to_string()).unwrap();
    let simulation = simulation(catalog, vec![path], Behaviour::default());
    assert_eq!(simulation.recordings.recorded, 100_000);
    let server = &simulation.servers[0];
    for (trajectory, number) in [(0, 0), (999, 99), (500, 7)] {
        let arguments = json!({"expression": format!("{trajectory} + {number}")});
        assert_eq!(call(server, "evaluate", &arguments).all_text(), format!("{trajectory}.{number}"));
    }
    let other = call(server, "evaluate", &json!({"expression": "1000 + 0"}));
    assert!(!other.all_text().contains(MARK) && is_marked(&other, "m3/simulated"));
}
