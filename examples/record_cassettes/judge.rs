//! The judge: it knows `trajectories/references.json`, and searches each run for the calls of the reference.

use m3_testkit::model_server::SeenRequest;
use serde_json::{Value, json};

use crate::tools_of;

/// A successful call of a run.
#[derive(PartialEq)]
struct Made {
    tool: String,
    arguments: Value,
    /// Its step in the run, from 0.
    step: usize,
}

/// The judge's reply, chosen by the first words of `crates/judge/src/prompts`.
pub(crate) fn play(reference: &Value, seen: &SeenRequest) -> String {
    let steps: Vec<Vec<String>> = reference["steps"].as_array().unwrap().iter().map(tools_of).collect();
    if seen.system.starts_with("You audit records") {
        return verdict(&steps, &seen.last_user_text);
    }
    let is_first = seen.turn == 1;
    // When asked again, it still knows the run's record.
    let record = seen.texts.iter().find(|text| text.contains("BEGIN RECORD")).unwrap();
    proposal(&steps, made(record), is_first)
}

/// A run is a success if it called every tool successfully as often as the reference does.
fn verdict(steps: &[Vec<String>], record: &str) -> String {
    let heading = |line: &str| {
        let (_, heading) = line.split_once("Result ")?;
        let (_, tool) = heading.split_once(", ")?;
        tool.strip_suffix(':').map(str::to_owned)
    };
    // A message is on one line, with its line breaks escaped.
    let mut results: Vec<String> =
        record.lines().flat_map(|line| line.split("\\n")).filter_map(heading).collect();
    for tool in steps.iter().flatten() {
        if let Some(place) = results.iter().position(|result| result == tool) {
            results.remove(place);
            continue;
        }
        let failed = format!("{tool}, failed");
        let reason = if results.contains(&failed) {
            format!("{tool} failed, and the reply speaks as if it had not.")
        } else {
            format!("Part of the task is left undone: {tool} is called too seldom.")
        };
        return json!({"verdict": "fail", "reason": reason}).to_string();
    }
    let reason = "Every part of the task was done, and the reply rests on the results.";
    json!({"verdict": "success", "reason": reason}).to_string()
}

/// The calls of a run that succeeded, as `crates/judge/src/reference/material.rs` lists them.
fn made(record: &str) -> Vec<Made> {
    let (mut calls, mut step, mut tool) = (Vec::<Made>::new(), 0, None);
    for line in record.lines() {
        if let Some(number) = line.strip_prefix("Step ") {
            step = number.parse::<usize>().unwrap() - 1;
        } else if let Some((_, call)) = line.split_once(": ").filter(|_| line.starts_with("Call ")) {
            tool = call.strip_suffix(" (succeeded)").map(str::to_owned);
        } else if let Some((tool, text)) = tool.take().zip(line.strip_prefix("Arguments: ")) {
            calls.push(Made { tool, arguments: serde_json::from_str(text).unwrap(), step });
        }
    }
    calls
}

/// The calls of the run that are also in the reference, in the steps of the reference. This is wrong if the run found
/// another order, whose arguments differ; the second reply then uses the order of the run.
fn proposal(steps: &[Vec<String>], made: Vec<Made>, is_first: bool) -> String {
    let mut open: Vec<(usize, &String)> = steps
        .iter()
        .enumerate()
        .flat_map(|(step, tools)| tools.iter().map(move |tool| (step, tool)))
        .collect();
    let mut placed = std::collections::BTreeMap::<usize, Vec<Value>>::new();
    for call in made {
        let Some(place) = open.iter().position(|(_, tool)| **tool == call.tool) else { continue };
        let (step, _) = open.remove(place);
        let call_json = json!({"name": call.tool, "arguments": call.arguments});
        placed.entry(if is_first { step } else { call.step }).or_default().push(call_json);
    }
    if placed.is_empty() {
        return "fail".to_owned();
    }
    let steps: Vec<Value> = placed.into_values().map(|calls| json!({ "calls": calls })).collect();
    json!({ "steps": steps }).to_string()
}
