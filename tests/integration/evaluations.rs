//! Scores written as OpenTelemetry events: their names, their attributes, and the spans that they refer to.

use serde_json::{Value, json};

use crate::support::{Folder, json_of, m3, no_encoder, report, stdout};

const PREDICTIONS: &str = "trajectories/predictions.json";
const REFERENCES: &str = "trajectories/references.json";

/// The events of each trajectory: attributes by their keys, and the event itself.
fn events(lines: &str) -> Vec<Vec<(Value, Value)>> {
    let document = |line: &str| {
        let document: Value = serde_json::from_str(line).unwrap();
        let records = document["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap();
        records.iter().map(|record| (attributes(record), record.clone())).collect()
    };
    lines.lines().map(document).collect()
}

fn attributes(record: &Value) -> Value {
    let list = record["attributes"].as_array().unwrap().iter();
    let value = |value: &Value| value.as_object().unwrap().values().next().unwrap().clone();
    list.map(|it| (it["key"].as_str().unwrap().to_owned(), value(&it["value"])))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn score(options: &[&str]) -> Option<String> {
    Some(stdout(m3()?.args(["score", "-q", PREDICTIONS, REFERENCES, "--format", "otel"]).args(options)))
}

/// The names come from semantic-conventions-genai, `docs/gen-ai/gen-ai-events.md`; the values from the JSON of the same
/// score.
#[test]
fn every_metric_is_an_event_of_the_conventions() {
    let Some(lines) = score(&["--fail-under", "recall=0.9", "--match", "unordered"]) else { return };
    let found = events(&lines);
    let scored = report(m3().unwrap().args(["score", PREDICTIONS, REFERENCES]));
    let scored = scored["trajectories"].as_array().unwrap();
    assert_eq!(found.len(), scored.len());
    for (events, scored) in found.iter().zip(scored) {
        for (attributes, record) in events {
            assert_eq!(record["eventName"], "gen_ai.evaluation.result");
            assert_eq!(attributes["gen_ai.conversation.id"], scored["id"]);
            let name = attributes["gen_ai.evaluation.name"].as_str().unwrap();
            if name != "match" {
                assert_eq!(attributes["gen_ai.evaluation.score.value"], scored["metrics"][name], "{name}");
            }
            let label = &attributes["gen_ai.evaluation.score.label"];
            assert_eq!(
                label.is_string(),
                ["match", "recall"].contains(&name),
                "only these have been asked for"
            );
            assert!(record["timeUnixNano"].as_str().unwrap().parse::<u64>().unwrap() > 0);
        }
    }
    // By hand: one of five needed calls of 00060001 is missing.
    let of = |id: &str, name: &str| {
        let events = found.iter().find(|events| events[0].0["gen_ai.conversation.id"] == id).unwrap();
        events.iter().find(|(it, _)| it["gen_ai.evaluation.name"] == name).unwrap().0.clone()
    };
    let recall = of("00060001", "recall");
    assert_eq!(recall["gen_ai.evaluation.score.label"], "fail");
    let why = recall["gen_ai.evaluation.explanation"].as_str().unwrap();
    assert!(why.starts_with("the reference's call 1.4 of image/crop was not made"), "{why}");
    assert_eq!(of("00060001", "match")["gen_ai.evaluation.score.label"], "fail");
    assert_eq!(of("00010000", "match")["gen_ai.evaluation.score.value"], json!(1.0));
    assert_eq!(of("00010000", "recall").get("gen_ai.evaluation.explanation"), None);
}

/// Events name the spans that `m3 export` writes for the same file, also if the score reads these spans.
#[test]
fn events_belong_to_the_spans_of_the_same_trajectories() {
    let folder = Folder::new();
    let Some(lines) = score(&[]) else { return };
    let spans = folder.path().join("spans.jsonl");
    stdout(m3().unwrap().args(["export", PREDICTIONS, "--to", "otel", "-q", "-o"]).arg(&spans));
    let written = std::fs::read_to_string(&spans).unwrap();
    let roots: Vec<Value> = written
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
                .clone()
        })
        .collect();
    let found = events(&lines);
    assert_eq!(found.len(), roots.len());
    for (events, root) in found.iter().zip(&roots) {
        for (_, record) in events {
            assert_eq!((&record["traceId"], &record["spanId"]), (&root["traceId"], &root["spanId"]));
        }
    }
    let direct =
        stdout(m3().unwrap().args(["score", "-q"]).arg(&spans).args([REFERENCES, "--format", "otel"]));
    let ids =
        |lines: &str| -> Vec<Value> { events(lines).iter().map(|it| it[0].1["spanId"].clone()).collect() };
    assert_eq!(ids(&direct), ids(&lines));
}

/// A trace of another program keeps its own id. The event names no span, because the span of the whole trajectory is
/// unknown.
#[test]
fn a_trace_of_another_program_keeps_its_id() {
    let folder = Folder::new();
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let span = json!({"traceId": trace, "spanId": "b7ad6b7169203331", "name": "execute_tool s/t",
        "startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes": [
            attribute("gen_ai.operation.name", "execute_tool"), attribute("gen_ai.tool.name", "s/t"),
            attribute("gen_ai.tool.call.arguments", "{\"a\": 1}"), attribute("gen_ai.tool.call.id", "c")]});
    let spans = json!({"resourceSpans": [{"scopeSpans": [{"scope": {"name": "other"}, "spans": [span]}]}]});
    let spans = folder.json("spans.json", &spans);
    let imported = folder.path().join("p.json");
    stdout(no_encoder(&folder).args(["import", "-q"]).arg(&spans).arg("-o").arg(&imported));
    let mut reference = json_of(&imported)[0].clone();
    reference.as_object_mut().unwrap().retain(|key, _| ["id", "steps"].contains(&key.as_str()));
    let references = folder.json("r.json", &json!([reference]));
    let Some(mut m3) = m3() else { return };
    let lines = stdout(m3.args(["score", "-q"]).arg(&imported).arg(&references).args(["--format", "otel"]));
    let record = &events(&lines)[0][0].1;
    assert_eq!((&record["traceId"], record.get("spanId")), (&json!(trace), None));
}
