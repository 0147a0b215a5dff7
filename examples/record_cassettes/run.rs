//! The model that is run: it makes the calls of `trajectories/predictions.json`, with a plan for each step.

use m3_testkit::model_server::SeenRequest;
use serde_json::{Value, json};

use crate::tools_of;

/// The reply in each turn of the staged mode of a model that makes exactly these calls. Turns are recognized by the
/// last words of `crates/executor/src/prompts/cues.txt`.
pub(crate) fn play(prediction: &Value, seen: &SeenRequest) -> String {
    let steps = prediction["steps"].as_array().unwrap();
    let cue = "Choose the tools of this step.";
    let step = seen.texts.iter().map(|text| text.matches(cue).count()).sum::<usize>();
    let now = steps.get(step - 1);
    let asked = seen.last_user_text.trim_end();
    if asked.ends_with(cue) {
        let mut tools = now.map(tools_of).unwrap_or_default();
        tools.dedup();
        let plan = if tools.is_empty() {
            "The image alone has the answer."
        } else {
            "Each does its part of the step."
        };
        json!({"tools": tools, "plan": plan}).to_string()
    } else if asked.ends_with("Write the calls of this step.") {
        let call = |call: &Value| json!({"name": call["name"], "arguments": call["arguments"]});
        let calls = now.map(|step| step["calls"].as_array().unwrap().as_slice()).unwrap_or_default();
        json!({"tool_calls": calls.iter().map(call).collect::<Vec<_>>()}).to_string()
    } else if asked.ends_with("Reply yes or no.") {
        if step < steps.len() { "no" } else { "yes" }.to_owned()
    } else {
        prediction["final_reply"].as_str().unwrap().to_owned()
    }
}
