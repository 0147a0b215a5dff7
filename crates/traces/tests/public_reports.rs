//! Inputs of public reports, against the calls that each of them holds. They are not part of the repository.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::Path;

use m3_testkit::shared;
use m3_traces::{ReadError, Sink, Trace, recognize};
use m3_trajectory::Source;
use m3_trajectory::json::Keys;

/// Keeps the traces.
#[derive(Default)]
struct Traces(Vec<Trace>);

impl Sink for Traces {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.0.push(trace);
        Ok(())
    }

    fn warn(&mut self, _: Option<u64>, _: &str) {}
}

/// The trajectories of a file in short: `tool{arguments}`, calls of a step by `+`, steps by `>`, then `Q` with a question, and
/// the answer; or why there are none.
fn in_short(path: &Path) -> Vec<String> {
    let source = Source::open(path).unwrap();
    let Some(file) = recognize(&source).unwrap() else { return vec!["unknown".to_owned()] };
    let mut sink = Traces::default();
    if let Err(error) = file.read(&mut sink) {
        return vec![format!("refused: {error}")];
    }
    let step = |step: &[m3_traces::TracedCall]| {
        let call = |call: &m3_traces::TracedCall| {
            let arguments =
                call.arguments.as_ref().map_or_else(|| "-".to_owned(), |it| it.to_text(Keys::AsRead));
            format!("{}{arguments}{}", call.tool, if call.is_error { "!" } else { "" })
        };
        step.iter().map(call).collect::<Vec<_>>().join(" + ")
    };
    let trace = |trace: &Trace| {
        let steps: Vec<String> = trace.steps.iter().map(|calls| step(calls)).collect();
        let asked = if trace.question.is_some() { " Q " } else { " " };
        format!("{}{asked}{}", steps.join(" > "), trace.final_reply.as_deref().unwrap_or("-"))
    };
    sink.0.iter().map(trace).collect()
}

const BERN: &str = r#"get_weather{"city":"Bern"}"#;
const OSLO: &str = r#"get_weather{"city":"Oslo"}"#;
const ANSWER: &str = "Bern 12, Oslo 7.";

/// Files of which nothing can be read yet must not pass for trajectories without calls.
#[test]
fn what_is_not_read_is_refused() {
    let Some(folder) = shared("public-reports/24-formats-not-read") else { return };
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "md") {
            continue;
        }
        let read = in_short(&path);
        let has_no_call = |line: &String| !line.contains("get_weather") && !line.contains("weather__get");
        let is_refused =
            !read.is_empty() && read.iter().all(|line| line == "unknown" || line.starts_with("refused: "));
        if !is_refused && read.iter().any(has_no_call) {
            wrong.push(format!("{}: {read:?}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The right values are those of the reports' notes.
#[test]
fn no_call_of_a_public_report_is_lost() {
    let Some(folder) = shared("public-reports") else { return };
    let one = format!("{BERN} Q {ANSWER}");
    let both = format!("{BERN} + {OSLO} Q {ANSWER}");
    let pieces = format!("{BERN} + {OSLO} -");
    let asked = format!("{BERN} Q -");
    let rows: &[(&str, &[&str])] = &[
        ("01-bedrock-converse-zero-calls/trace.json", &[&format!("{BERN} + {OSLO}! Q {ANSWER}")]),
        ("01-bedrock-converse-zero-calls/with-image.json", &[&one]),
        ("02-openai-thinking-part-loses-calls/both.json", &[&one]),
        ("02-openai-thinking-part-loses-calls/mistral.json", &[&one]),
        ("02-openai-thinking-part-loses-calls/output-text.json", &[&one]),
        ("02-openai-thinking-part-loses-calls/thinking.json", &[&one]),
        ("03-stream-parallel-calls-merged/arguments-object.sse", &[&format!("{BERN} -")]),
        ("03-stream-parallel-calls-merged/chunks.jsonl", &[&pieces]),
        ("03-stream-parallel-calls-merged/index-0-fragments.sse", &[&pieces]),
        ("03-stream-parallel-calls-merged/index-0.sse", &[&pieces]),
        ("03-stream-parallel-calls-merged/index-null.sse", &[&pieces]),
        ("03-stream-parallel-calls-merged/name-repeated.sse", &[&format!("{BERN} -")]),
        ("03-stream-parallel-calls-merged/no-index.sse", &[&pieces]),
        ("04-log-shapes-lose-the-reply/input-output-items.jsonl", &[&asked]),
        ("04-log-shapes-lose-the-reply/input-output-message.jsonl", &[&asked]),
        ("04-log-shapes-lose-the-reply/interactions.json", &[&asked]),
        ("04-log-shapes-lose-the-reply/litellm.jsonl", &[&asked]),
        ("04-log-shapes-lose-the-reply/messages-choices.jsonl", &[&asked]),
        ("04-log-shapes-lose-the-reply/messages-completion.jsonl", &[&asked]),
        ("06-strands-telemetry-content-lost/operation-details.json", &[&both]),
        ("06-strands-telemetry-content-lost/per-message-events.json", &[&both]),
        ("07-adk-evalset-parts-zero-calls/evalset.json", &[&asked]),
        ("09-foreign-shapes-taken-for-known-ones/args.json", &[&one]),
        ("09-foreign-shapes-taken-for-known-ones/azure.json", &[&one]),
        (
            "09-foreign-shapes-taken-for-known-ones/goose.jsonl",
            &[&one.replace("get_weather", "weather__get")],
        ),
        ("09-foreign-shapes-taken-for-known-ones/haystack.json", &[&one]),
        ("09-foreign-shapes-taken-for-known-ones/opencode.json", &[&format!("{BERN} + {OSLO}! Q {ANSWER}")]),
        ("09-foreign-shapes-taken-for-known-ones/tool-call-in-text.json", &[&one]),
        ("09-foreign-shapes-taken-for-known-ones/toolCalls.json", &[&one]),
        ("09-foreign-shapes-taken-for-known-ones/tool_call.json", &[&one]),
        ("10-bfcl-raw-texts/hermes.json", &[r#"area{"base":10} -"#, " none"]),
        ("10-bfcl-raw-texts/refusals.json", &[" I cannot do that.", " Sorry, no tool."]),
        ("11-gemini-streams/alt-sse.sse", &[&pieces]),
        ("11-gemini-streams/partial-args.json", &[&format!("{BERN} -")]),
        ("24-formats-not-read/agentcore-spans.json", &[&format!("{BERN} -")]),
        ("24-formats-not-read/azure-ai-eval-rows.jsonl", &[&one]),
        ("24-formats-not-read/bedrock-converse-reply.json", &[&asked]),
        ("24-formats-not-read/claude-ai-export.json", &[&one]),
        ("24-formats-not-read/copilot-cli-events.jsonl", &[&one]),
        ("24-formats-not-read/gemini-batch.jsonl", &[&pieces, &pieces]),
        ("24-formats-not-read/gemini-cli-json.json", &[&format!("{BERN} + {OSLO}! Q {ANSWER}")]),
        ("24-formats-not-read/goose-session.json", &[&one.replace("get_weather", "weather__get")]),
        ("24-formats-not-read/jaeger-genai.json", &[&format!("{BERN} -")]),
        ("24-formats-not-read/langfuse-trace.json", &[&one]),
        ("24-formats-not-read/langsmith-dataset.jsonl", &[&one]),
        ("24-formats-not-read/letta.json", &[&one]),
        ("24-formats-not-read/llamaindex-messages.json", &[&one]),
        ("24-formats-not-read/mlflow-otlp.json", &[&asked]),
        ("24-formats-not-read/ollama-native-log.jsonl", &[&asked]),
        ("24-formats-not-read/openai-evals-output.json", &[&asked]),
        ("24-formats-not-read/openai-realtime.jsonl", &[&one]),
        ("24-formats-not-read/opencode-run-events.jsonl", &[&format!("{BERN} {ANSWER}")]),
        ("24-formats-not-read/openhands-events.json", &[&one]),
        ("24-formats-not-read/otel-console.json", &[&format!("{BERN} -")]),
        ("24-formats-not-read/phoenix-dataframe-records.jsonl", &[&one]),
        ("24-formats-not-read/ragas-multiturn.json", &[&one]),
        ("24-formats-not-read/role-upper.json", &[&one]),
        ("24-formats-not-read/smolagents-steps.json", &[&one]),
        ("24-formats-not-read/stored-completions.json", &[&format!("{BERN} -")]),
        ("24-formats-not-read/sweagent-traj.traj", &[&one]),
        ("24-formats-not-read/tau2.json", &[&one]),
        ("24-formats-not-read/tempo-trace-wrapper.json", &[&format!("{BERN} -")]),
        ("24-formats-not-read/traj-messages.json", &[&asked]),
        ("24-formats-not-read/vertex-trajectory.jsonl", &[&format!("{BERN} > {OSLO} Q {ANSWER}")]),
        (
            "21-parallel-handoff-counted-again/spans.json",
            &[&format!("transfer_to_weather_agent{{}} + transfer_to_news_agent{{}} Q {ANSWER}")],
        ),
    ];
    let mut wrong = Vec::new();
    for (path, expected) in rows {
        let read = in_short(&folder.join(path));
        if read != *expected {
            wrong.push(format!("{path}\n  is       {read:?}\n  expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
