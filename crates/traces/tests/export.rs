//! What is exported is imported as the same: hand-written trajectories, those of the repository, and all that the samples hold.
//! What a target cannot carry stands in one table, [`LOSSES`], and nothing else may differ.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use m3_testkit::{root, shared};
use m3_traces::{Exporter, ReadError, Sink, TARGETS, Target, Trace, decode, recognize};
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Source, Trajectory, TrajectoryFile};
use serde_json::{Map, Value, json};

/// What a target cannot carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// Whether a call failed.
    Failures,
    /// The kind of a failure.
    Kinds,
    /// How long a call took.
    CallTimes,
    /// How long the whole took.
    Time,
    /// Tokens.
    Usage,
    /// How many of the tokens were thoughts.
    Thoughts,
    /// The order of texts and pictures of a result: texts are joined and come first.
    Places,
    /// The media type of a picture that is elsewhere: none is told, or the usual one for the name.
    TypesOfReferences,
    /// That a file or a sound that is elsewhere is a sound, as its type says.
    KindsOfReferences,
    /// Files that are neither pictures nor sounds.
    Files,
    /// Results that are `null`.
    Null,
    /// Results that are values of more than 40 levels: they are texts of JSON.
    Deep,
}

use Loss::{
    CallTimes, Deep, Failures, Files, Kinds, KindsOfReferences, Null, Places, Thoughts, Time,
    TypesOfReferences, Usage,
};

const LOSSES: [(&str, &[Loss]); 4] = [
    ("openai", &[Failures, Kinds, CallTimes, Time, Usage, Places, TypesOfReferences, KindsOfReferences]),
    ("anthropic", &[Kinds, CallTimes, Time, Usage, TypesOfReferences, KindsOfReferences]),
    ("atif", &[Kinds, CallTimes, Time, Thoughts, Files, TypesOfReferences]),
    ("otel", &[Null, Deep]),
];

#[derive(Default)]
struct CollectingSink(Vec<Trace>);

impl Sink for CollectingSink {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.0.push(trace);
        Ok(())
    }

    fn warn(&mut self, line: Option<u64>, message: &str) {
        panic!("{line:?}: {message}");
    }
}

fn value_of(json: &Json) -> Value {
    serde_json::from_str(&json.to_text(Keys::AsRead)).unwrap()
}

/// What of a trajectory has to come back.
fn compared(trajectory: &Value) -> Value {
    let call = |call: &Value| {
        let mut out = Map::new();
        for key in ["name", "arguments", "result", "is_error", "error_type", "milliseconds"] {
            if let Some(value) = call.get(key).filter(|value| !(key == "is_error" && **value == false)) {
                out.insert(key.to_owned(), if key == "result" { result(value) } else { value.clone() });
            }
        }
        // What a run says that became of a failed call is the kind of its failure.
        if let Some(outcome) = call.get("outcome").filter(|_| out.contains_key("is_error")) {
            out.entry("error_type").or_insert_with(|| outcome.clone());
        }
        Value::Object(out)
    };
    let steps = trajectory["steps"].as_array().unwrap().iter();
    let steps = steps.map(|step| step["calls"].as_array().unwrap().iter().map(call).collect::<Value>());
    let steps: Vec<Value> = steps.filter(|step| step != &json!([])).collect();
    let mut out = json!({"id": trajectory["id"], "steps": steps});
    for key in ["question", "final_reply", "usage", "milliseconds", "images", "model"] {
        let value = &trajectory[key];
        if !value.is_null() && value != "" {
            out[key] = value.clone();
        }
    }
    if let Some(name) = out["model"].get("reported").cloned() {
        out["model"] = name;
    }
    if out.get("images").is_none() && trajectory["image"].is_string() {
        out["images"] = json!([{"type": "image", "uri": trajectory["image"]}]);
    }
    out
}

/// A result in the form that all formats are read in: texts alone are one text, what MCP calls a result is its parts, and a file
/// that a run has kept is a reference to it.
fn result(value: &Value) -> Value {
    let parts = value.get("content").filter(|content| content.is_array()).unwrap_or(value);
    match parts.as_array() {
        Some(list)
            if !list.is_empty()
                && list.iter().all(|part| part["type"] == "text" && part["text"].is_string()) =>
        {
            let texts: Vec<&str> = list.iter().filter_map(|part| part["text"].as_str()).collect();
            json!(texts.join("\n"))
        }
        Some(list) => list.iter().cloned().map(reference).collect(),
        None => parts.clone(),
    }
}

fn reference(mut part: Value) -> Value {
    if let Some(members) = part.as_object_mut().filter(|members| members.contains_key("type"))
        && let Some(file) = members.remove("file")
    {
        members.insert("uri".to_owned(), file);
    }
    part
}

/// Takes away what is lost.
fn lose(trajectory: &mut Value, loss: Loss) {
    let members = trajectory.as_object_mut().unwrap();
    match loss {
        Time => drop(members.remove("milliseconds")),
        Usage => drop(members.remove("usage")),
        Thoughts => {
            if let Some(usage) = members.get_mut("usage").and_then(Value::as_object_mut) {
                usage.remove("reasoning_tokens");
            }
        }
        _ => {}
    }
    if let Some(images) = trajectory.get_mut("images") {
        lose_of_parts(images, loss, false);
        if images == &json!([]) {
            trajectory.as_object_mut().unwrap().remove("images");
        }
    }
    for call in
        trajectory["steps"].as_array_mut().unwrap().iter_mut().flat_map(|step| step.as_array_mut().unwrap())
    {
        let members = call.as_object_mut().unwrap();
        match loss {
            Failures => drop(members.remove("is_error")),
            Kinds => drop(members.remove("error_type")),
            CallTimes => drop(members.remove("milliseconds")),
            Deep => {
                if let Some(result) = members.get_mut("result").filter(|result| depth(result) > 40) {
                    *result = json!(result.to_string());
                }
            }
            Null if members.get("result") == Some(&Value::Null) => drop(members.remove("result")),
            _ => {}
        }
        if let Some(result) = members.get_mut("result").filter(|result| is_media(result)) {
            lose_of_parts(result, loss, true);
        }
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

fn is_media(parts: &Value) -> bool {
    let is_part = |part: &Value| part.get("data").or(part.get("uri")).or(part.get("missing")).is_some();
    parts.as_array().is_some_and(|parts| parts.iter().any(is_part))
}

fn lose_of_parts(parts: &mut Value, loss: Loss, is_result: bool) {
    let parts = parts.as_array_mut().unwrap();
    if loss == Files {
        parts.retain(|part| part["type"] != "file");
    }
    if loss == Places && is_result {
        let (texts, mut media): (Vec<Value>, Vec<Value>) =
            std::mem::take(parts).into_iter().partition(|part| part["type"] == "text");
        let text = texts.iter().map(|part| part["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n");
        if !text.is_empty() {
            media.insert(0, json!({"type": "text", "text": text}));
        }
        *parts = media;
    }
    for part in parts.iter_mut().filter(|part| part["type"] != "text" && part.get("data").is_none()) {
        if loss == TypesOfReferences {
            part.as_object_mut().unwrap().remove("mimeType");
        }
        if loss == KindsOfReferences && part["type"] == "audio" {
            part["type"] = json!("file");
        }
    }
}

/// Every part with media.
fn parts_of(trajectory: &mut Value, each: &dyn Fn(&mut Value)) {
    let images = trajectory.get_mut("images").and_then(Value::as_array_mut);
    images.into_iter().flatten().for_each(each);
    for step in trajectory["steps"].as_array_mut().unwrap() {
        for call in step["calls"].as_array_mut().unwrap() {
            let Some(result) = call.get_mut("result") else { continue };
            let parts = match result {
                Value::Object(members) => members.get_mut("content"),
                other => Some(other),
            };
            parts.and_then(Value::as_array_mut).into_iter().flatten().for_each(each);
        }
    }
}

/// Media as files, where a target needs them, and back.
fn into_files(part: &mut Value, folder: &Path) {
    if let Some(data) = part.get("data").and_then(Value::as_str).map(str::to_owned)
        && part["type"] != "text"
    {
        let mut hasher = DefaultHasher::new();
        data.hash(&mut hasher);
        let name = folder.join(hasher.finish().to_string());
        std::fs::write(&name, data).unwrap();
        part.as_object_mut().unwrap().remove("data");
        part["file"] = json!(name);
    }
}

fn out_of_files(part: &mut Value, folder: &Path) {
    if let Some(at) =
        part.get("uri").and_then(Value::as_str).filter(|at| at.starts_with(folder.to_str().unwrap()))
    {
        let data = std::fs::read_to_string(at).unwrap();
        part.as_object_mut().unwrap().remove("uri");
        part["data"] = json!(data);
    }
}

fn trajectory_of(value: &Value) -> Trajectory {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.json");
    std::fs::write(&path, json!([value]).to_string()).unwrap();
    TrajectoryFile::open_all(&path, &mut |_, _| ()).unwrap().read(0).unwrap()
}

/// Exports trajectories and imports them again.
fn there_and_back(target: &'static Target, all: &[Value]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let mut exporter = Exporter::new(target, 1_795_000_000);
    let mut written = Vec::new();
    for trajectory in all {
        let mut trajectory = trajectory.clone();
        if target.needs_files {
            parts_of(&mut trajectory, &|part| into_files(part, folder.path()));
        }
        written.push(exporter.write(&trajectory_of(&trajectory)).to_text(Keys::AsRead));
    }
    let text = if target.is_lines { written.join("\n") } else { format!("[{}]", written.join(",\n")) };
    let path = folder.path().join(if target.is_lines { "out.jsonl" } else { "out.json" });
    std::fs::write(&path, text).unwrap();
    let source = Source::open(&path).unwrap();
    let recognized = recognize(&source).unwrap().unwrap();
    let mut kept = CollectingSink::default();
    recognized.read(&mut kept).unwrap();
    let traces = kept.0.into_iter().map(|trace| {
        let id = trace.id.clone().unwrap_or_default();
        let mut value = value_of(&trace.into_trajectory(id, recognized.format.name).to_json());
        parts_of(&mut value, &|part| out_of_files(part, folder.path()));
        value
    });
    traces.collect()
}

/// What differs, with these losses.
fn differences(target: &'static Target, all: &[Value], losses: &[Loss]) -> Vec<String> {
    let back = there_and_back(target, all);
    let mut wrong = Vec::new();
    if back.len() != all.len() {
        wrong.push(format!("{} trajectories instead of {}", back.len(), all.len()));
    }
    for (before, after) in all.iter().zip(&back) {
        let before = value_of(&trajectory_of(before).to_json());
        let (mut before, mut after) = (compared(&before), compared(after));
        for loss in losses {
            lose(&mut before, *loss);
            lose(&mut after, *loss);
        }
        if before != after {
            wrong.push(format!("{}: {before}\n   came back as {after}", target.name));
        }
    }
    wrong
}

fn losses(target: &Target) -> &'static [Loss] {
    LOSSES.iter().find(|(name, _)| *name == target.name).unwrap().1
}

fn come_back(all: &[Value]) {
    for target in TARGETS {
        let wrong = differences(target, all, losses(target));
        let wrong: Vec<String> = wrong.into_iter().map(|text| text.chars().take(1500).collect()).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Everything that a trajectory can have.
fn hand_written() -> Vec<Value> {
    let deep = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let png = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    vec![
        json!({"id": "all", "question": "What is on the pack?", "images": [png], "model": "gpt-5-mini",
            "usage": {"input_tokens": 900, "output_tokens": 40, "cached_input_tokens": 100, "reasoning_tokens": 7},
            "milliseconds": 5_321, "final_reply": "\nIt is 4.\n\nBye.",
            "steps": [
                {"calls": [
                    {"name": "image/crop", "arguments": {"x": 1, "y": [1.5, null, true, {"a": "\u{1F600}"}]}, "result": "cropped", "milliseconds": 12},
                    {"name": "image/crop", "arguments": {}, "result": [{"type": "text", "text": "a"}, png, {"type": "text", "text": "b"}]},
                    {"name": "scan", "arguments": {"path": ""}, "result": "no file", "is_error": true, "error_type": "NotFound", "milliseconds": 0}]},
                {"calls": [{"name": "scan", "arguments": {"path": "a"}, "result": ""}]}]}),
        json!({"id": "all", "question": "The same id again", "steps": [], "final_reply": "Yes."}),
        json!({"id": "arguments", "question": "q", "steps": [
            {"calls": [
                {"name": "a", "arguments": "{\"x\": 1"}, {"name": "a", "arguments": "[1]"}, {"name": "a", "arguments": [1, 2]},
                {"name": "a"}, {"name": "a", "arguments": 3}, {"name": "a", "arguments": ""}, {"name": "a", "arguments": "{\"x\": 1}"},
                {"name": "a", "arguments": "__REDACTED__"}, {"name": "a", "arguments": {"INVALID_JSON": 1}},
                {"name": "a", "arguments": format!("{{\"cut\": \"{}", "x".repeat(119))}]}]}),
        json!({"id": "names", "steps": [{"calls": [
            {"name": "my_shop/look__up", "arguments": {}, "result": "1"}, {"name": "my shop/look.up", "arguments": {}, "result": "2"},
            {"name": "my_shop/look_up", "arguments": {}, "result": "3"}, {"name": "a__b/c", "arguments": {}}, {"name": "(no name)", "arguments": {}},
            {"name": "a/b/c", "arguments": {}}, {"name": "größe", "arguments": {}}, {"name": format!("server/{}", "n".repeat(90)), "arguments": {}},
            {"name": format!("server/{}x", "n".repeat(90)), "arguments": {}}]}]}),
        // No results: replies must not run together, and the answer stays one.
        json!({"id": "reference", "question": "q", "steps": [
            {"calls": [{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}]}, {"calls": [{"name": "a", "arguments": {}}]}],
            "final_reply": "Done."}),
        json!({"id": "values", "steps": [{"calls": [
            {"name": "a", "arguments": {}, "result": {"a": [1, 2.5, {"b": null}], "c": {}}}, {"name": "a", "arguments": {}, "result": [{"type": "file", "name": "a.txt"}]},
            {"name": "a", "arguments": {}, "result": 3}, {"name": "a", "arguments": {}, "result": "3"}, {"name": "a", "arguments": {}, "result": null},
            {"name": "a", "arguments": {}, "result": false}, {"name": "a", "arguments": {}, "result": "{\"a\": 1}"}, {"name": "a", "arguments": {}, "result": []},
            {"name": "a", "arguments": {}, "result": format!("[{}", "x".repeat(127))},
            {"name": "a", "arguments": {}, "is_error": true}]}]}),
        json!({"id": "media", "question": "Look", "images": [
                {"type": "image", "uri": "https://example.org/a.png", "mimeType": "image/png"}, {"type": "image", "missing": true, "mimeType": "image/png"},
                {"type": "file", "data": "aGVsbG8=", "mimeType": "application/pdf"}],
            "steps": [{"calls": [
                {"name": "a", "arguments": {}, "result": [png, {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}]},
                {"name": "a", "arguments": {}, "result": [{"type": "audio", "uri": "https://example.org/a.wav", "mimeType": "audio/wav"}]},
                {"name": "a", "arguments": {}, "result": {"content": [{"type": "text", "text": "of MCP"}, png], "isError": false}},
                {"name": "a", "arguments": {}, "result": {"content": [{"type": "text", "text": "two"}, {"type": "text", "text": "texts"}]}}]}]}),
        // Only pictures, and no question that a picture of a result could be taken for.
        json!({"id": "pictures", "steps": [{"calls": [{"name": "a", "arguments": {}, "result": [png]}]}], "final_reply": "x"}),
        json!({"id": "path", "image": "images/shelf.png", "question": "q", "final_reply": "a", "steps": [],
            "model": {"requested": "openai:gpt-5", "reported": "gpt-5-2026"}}),
        json!({"id": "deep", "steps": [{"calls": [
            {"name": "a", "arguments": {"x": deep(100)}, "result": deep(100)}, {"name": "a", "arguments": {}, "result": deep(39)}]}]}),
        json!({"id": "asked", "question": "No reply came", "steps": []}),
        json!({"id": "long/ id\n\u{1F600}", "question": "q", "steps": [{"calls": [{"name": "a", "arguments": {}, "result": "r"}]}]}),
    ]
}

#[test]
fn hand_written_trajectories_come_back() {
    come_back(&hand_written());
    // Alone as well: a single line is a document.
    for trajectory in hand_written() {
        come_back(&[trajectory]);
    }
}

#[test]
fn no_loss_is_listed_that_does_not_happen() {
    for target in TARGETS {
        for loss in losses(target) {
            let others: Vec<Loss> = losses(target).iter().copied().filter(|other| other != loss).collect();
            assert!(!differences(target, &hand_written(), &others).is_empty(), "{}: {loss:?}", target.name);
        }
    }
}

#[test]
fn the_repositorys_trajectories_come_back() {
    for name in ["predictions.json", "predictions-poor.json", "references.json"] {
        let path = root().join("trajectories").join(name);
        let file = TrajectoryFile::open_all(&path, &mut |_, _| ()).unwrap();
        let all: Vec<Value> =
            (0..file.len()).map(|index| value_of(&file.read(index).unwrap().to_json())).collect();
        assert!(all.len() > 5);
        come_back(&all);
    }
}

/// All files below a folder.
fn files(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, out) } else { out.push(path) }
    }
}

#[test]
fn what_the_samples_hold_comes_back() {
    let Some(folder) = shared("traces") else { return };
    let (mut paths, mut all) = (Vec::new(), Vec::new());
    files(&folder, &mut paths);
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "NOTE.md" || name == "README.md" || name.starts_with("expected") {
            continue;
        }
        let source = Source::open(&path).unwrap();
        let Some(recognized) = recognize(&source).unwrap() else { continue };
        let mut kept = Quiet::default();
        if recognized.read(&mut kept).is_ok() {
            for (number, trace) in kept.0.into_iter().enumerate() {
                let id = trace.id.clone().unwrap_or_else(|| format!("{name}-{number}"));
                all.push(value_of(&trace.into_trajectory(id, recognized.format.name).to_json()));
            }
        }
    }
    assert!(all.len() > 80);
    come_back(&all);
}

/// Samples may warn.
#[derive(Default)]
struct Quiet(Vec<Trace>);

impl Sink for Quiet {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.0.push(trace);
        Ok(())
    }

    fn warn(&mut self, _: Option<u64>, _: &str) {}
}

/// Pictures make lines that are longer than what is looked at to tell a format.
#[test]
fn long_lines_come_back() {
    let mut long = hand_written().swap_remove(7);
    long["steps"][0]["calls"][0]["result"][0]["data"] = json!("iVBO".repeat(4_200_000));
    assert!(differences(&TARGETS[0], &[long, hand_written().swap_remove(0)], losses(&TARGETS[0])).is_empty());
}

#[test]
fn ids_of_calls_are_stable_and_each_once() {
    for target in TARGETS {
        let write = || {
            let mut exporter = Exporter::new(target, 1);
            let trajectory = trajectory_of(&hand_written()[0]);
            [
                exporter.write(&trajectory).to_text(Keys::AsRead),
                exporter.write(&trajectory).to_text(Keys::AsRead),
            ]
        };
        let [first, second] = write();
        assert_eq!(write(), [first.clone(), second.clone()]);
        let ids = |text: &str| -> Vec<String> {
            text.split("call_")
                .skip(1)
                .map(|rest| rest.split(['"', '\\']).next().unwrap().to_owned())
                .collect()
        };
        assert!(ids(&first).iter().filter(|id| id.ends_with("_1_1")).count() > 1);
        let is_told_apart = ids(&first).iter().all(|id| !id.contains("_1_") || !ids(&second).contains(id));
        assert!(is_told_apart, "{}", target.name);
    }
}

#[test]
fn what_is_lost_is_told() {
    let notes = |name: &str| -> Vec<(String, u64)> {
        let target = TARGETS.iter().find(|target| target.name == name).unwrap();
        let mut exporter = Exporter::new(target, 1);
        exporter.write(&trajectory_of(&hand_written()[0]));
        exporter.notes().iter().map(|(note, count)| (note.to_owned(), count)).collect()
    };
    let note = |note: &str, count| (note.to_owned(), count);
    let both = [note("kinds of failures have no place", 1), note("times of calls have no place", 2)];
    let time = note("times of whole trajectories have no place", 1);
    let tokens = note("tokens have no place", 1);
    let [kinds, times] = both;
    let pictures = note("pictures of a result follow in a message of the user, named like the call", 1);
    let failures = note("failures of calls have no mark", 1);
    assert_eq!(
        notes("openai"),
        [failures, kinds.clone(), pictures, times.clone(), time.clone(), tokens.clone()]
    );
    assert_eq!(notes("anthropic"), [kinds, times, time, tokens]);
    assert_eq!(notes("otel"), []);
}

#[test]
fn base64_is_what_it_was() {
    assert!(decode(PNG).is_some_and(|bytes| bytes.starts_with(b"\x89PNG")));
}
