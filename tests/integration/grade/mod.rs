//! `m3 grade`: a panel of scripted models judges predictions.

mod missing;
mod panel;
mod people;
mod rubrics;
mod untrusted;

use std::path::PathBuf;
use std::sync::Arc;

use assert_cmd::Command;
use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use serde_json::{Value, json};

use crate::support::{Folder, follows_kept_schema, m3_bare};

/// The respects that judges of mcp-bench grade.
const RESPECTS: [&str; 6] = [
    "task_fulfillment",
    "information_grounding",
    "tool_appropriateness",
    "parameter_accuracy",
    "dependency_awareness",
    "parallelism_and_efficiency",
];

/// A judge that gives the same reply to everything.
fn says(text: &str) -> impl Fn(&SeenRequest) -> ScriptedReply + Send + Sync + 'static {
    let text = text.to_owned();
    move |_| ScriptedReply::Say(text.clone())
}

/// Whether a judge is asked about completion, by its instructions.
fn is_about_completion(seen: &SeenRequest) -> bool {
    seen.system.contains("how completely a task was done")
}

/// A judge with these scores: 0 to 10 for the task, 0 to 1 for grounding, with a matrix of one entry.
fn judge(completion: &str, grounding: &str) -> ScriptedModel {
    let (completion, grounding) = (completion.to_owned(), grounding.to_owned());
    ScriptedModel::start(ScriptedWire::OpenAi, move |seen| {
        ScriptedReply::Say(if is_about_completion(seen) {
            format!("\\boxed{{{completion}}}")
        } else {
            format!("{{\"matrix\": [[{grounding}]]}}\n\\boxed{{{grounding}}}")
        })
    })
}

/// Predictions and references of these tasks, one step with one call each.
struct Tasks {
    folder: Folder,
    predictions: PathBuf,
    references: PathBuf,
}

impl Tasks {
    fn new(ids: &[&str]) -> Self {
        let folder = Folder::new();
        let all: Vec<Value> = ids.iter().map(|id| task(id, "37 kcal")).collect();
        let predictions = folder.json("predictions.json", &json!(all));
        let references = folder.json("references.json", &json!(all));
        Self { folder, predictions, references }
    }

    /// `m3 grade` with these judges.
    fn grade(&self, judges: &[&ScriptedModel]) -> Command {
        let names: Vec<String> = judges.iter().enumerate().map(|(index, judge)| name(index, judge)).collect();
        self.grade_by(&names.join(","))
    }

    fn grade_by(&self, judges: &str) -> Command {
        let mut command = m3_bare(self.folder.path());
        command.current_dir(self.folder.path()).arg("grade").arg(&self.predictions).arg(&self.references);
        command.args(["--llm", judges]);
        command
    }
}

fn name(index: usize, judge: &ScriptedModel) -> String {
    format!("openai@{}:judge-{index}", judge.base_url())
}

fn task(id: &str, answer: &str) -> Value {
    let call = json!({"name": "food/get", "arguments": {"query": "fig"}, "result": "A fig has 37 kcal."});
    json!({"id": id, "type": format!("type of {id}"), "question": "How many kcal has this?",
        "steps": [{"step": 1, "calls": [call]}], "final_reply": answer})
}

/// The report of a run that should succeed, which follows its schema.
fn report(command: &mut Command) -> Value {
    let report = crate::support::report(command);
    follows_kept_schema("grades", &report);
    report
}

/// The number of requests to all judges so far.
fn requests(judges: &[&ScriptedModel]) -> usize {
    for judge in judges {
        assert_eq!(judge.problems(), Vec::<String>::new());
    }
    judges.iter().map(|judge| judge.requests().len()).sum()
}

fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found} is no number"));
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// A counter that closures can share.
fn counter() -> Arc<std::sync::atomic::AtomicUsize> {
    Arc::default()
}
