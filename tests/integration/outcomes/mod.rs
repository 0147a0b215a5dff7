//! `m3 outcomes`: the outcome of every call.

mod asking;
mod recorded;
mod replay;
mod rules;

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::support::{Folder, m3_bare};

/// A catalog of three tools: one requires a text, one a number of at least 1, one nothing.
fn catalog() -> Value {
    let schema = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    json!({"wiki": {"tools": [
        {"name": "summary", "inputSchema": schema(json!({"title": {"type": "string"}}), json!(["title"]))},
        {"name": "random", "inputSchema": schema(json!({}), json!([]))},
        {"name": "search", "inputSchema":
            schema(json!({"query": {"type": "string"}, "n": {"type": "integer", "minimum": 1}}), json!(["query"]))},
    ]}})
}

/// `m3 outcomes` on predictions, with the catalog above.
fn outcomes(folder: &Folder, predictions: &Path) -> Command {
    let tools = folder.json("tools.json", &catalog());
    let mut m3 = m3_bare(folder.path());
    m3.arg("outcomes").arg(predictions).arg("--tools").arg(tools);
    m3
}

/// The rule of every call of a report's only trajectory.
fn rules_of(report: &Value) -> Vec<&str> {
    let calls = report["trajectories"][0]["details"].as_array().unwrap();
    calls.iter().map(|call| call["rule"].as_str().unwrap()).collect()
}
