//! Tests of simulated servers, as a host sees them.

mod calls;
mod hostile;
mod offers;
mod settings;

use m3_mcp::{Answer, ServerTools, ToolResult, Toolbox as _};
use m3_trajectory::{Duplicates, TrajectoryFile};
use serde_json::{Map, Value, json};

use super::*;

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else { panic!("an object: {value}") };
    members
}

/// A catalog of one server, with schemas in the style of several libraries.
fn catalog() -> ToolCatalog {
    let wrapped =
        |result: Value| json!({"type": "object", "required": ["result"], "properties": {"result": result}});
    let tools = json!([
        {"name": "search", "description": "Finds pages", "title": "Search", "annotations": {"readOnlyHint": true},
         "inputSchema": {"type": "object", "title": "searchArguments", "required": ["query"],
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "default": 10}}},
         "outputSchema": wrapped(json!({"type": "array", "items": {"type": "object"}}))},
        {"name": "summary", "inputSchema": {"type": "object"}, "outputSchema": wrapped(json!({"type": "string"}))},
        {"name": "plain", "inputSchema": {"type": "object", "properties": {"x": {"type": "number"}}}},
        {"name": "count", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object",
            "required": ["count", "query"], "properties": {"count": {"type": "integer", "minimum": 0},
                "query": {"type": "string"}}}},
    ]);
    let Value::Array(tools) = tools else { panic!("a list") };
    ToolCatalog { servers: vec![ServerTools::from_wire("wiki", tools)] }
}

/// Recordings of calls, as in a file with one trajectory.
fn recordings(catalog: &ToolCatalog, calls: &Value) -> Recordings {
    let mut recordings = Recordings::new(catalog);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trajectories.json");
    let steps: Vec<Value> = calls.as_array().unwrap().iter().map(|call| json!({"calls": [call]})).collect();
    std::fs::write(&path, json!({"id": "1", "steps": steps}).to_string()).unwrap();
    recordings.add(&TrajectoryFile::open(&path, Duplicates::Error).unwrap().read(0).unwrap());
    recordings
}

fn wiki(calls: &Value, behaviour: Behaviour) -> Arc<SimulatedServer> {
    let catalog = catalog();
    let recordings = recordings(&catalog, calls);
    Simulation::new(catalog, recordings, behaviour).servers.remove(0)
}

/// The answer to a call.
fn answer(server: &dyn m3_mcp::Toolbox, tool: &str, arguments: Value) -> Option<Answer> {
    answer_within(60, server, tool, arguments)
}

/// The answer to a call; `None` if there is none within this many seconds.
fn answer_within(seconds: u64, server: &dyn m3_mcp::Toolbox, tool: &str, arguments: Value) -> Option<Answer> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let call = server.call(tool, object(arguments));
    runtime.block_on(async { tokio::time::timeout(std::time::Duration::from_secs(seconds), call).await.ok() })
}

fn result(server: &dyn m3_mcp::Toolbox, tool: &str, arguments: Value) -> ToolResult {
    match answer(server, tool, arguments) {
        Some(Answer::Result(result)) => result,
        other => panic!("a result: {other:?}"),
    }
}

/// The marks of a result, sorted.
fn marks(result: &ToolResult) -> Vec<&str> {
    let mut marks: Vec<&str> =
        result.extra["_meta"].as_object().unwrap().keys().map(String::as_str).collect();
    marks.sort_unstable();
    marks
}
