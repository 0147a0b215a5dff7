//! Which of several recorded answers is replayed, and the error if there is none.

use std::path::Path;
use std::time::Duration;

use m3_executor::{from_record, to_record};
use m3_llm::{Cassette, Header, Model, ModelError, ModelName, Others, Recorder, Scope};
use m3_mcp::{CallError, CallOutcome, ToolCatalog, ToolName, ToolResult};
use serde_json::{Map, Value, json};

use super::cassettes::Tape;
use super::{answer, ask, failure, question, reply, scope, serve, text};

fn workspace(path: &Path) -> Scope {
    Scope { workspace: Some(path.to_owned()), ..scope("t", 1) }
}

#[tokio::test]
async fn equal_requests_of_several_tasks_and_repeats_are_told_apart() {
    let tape = Tape::new();
    let server = serve(["a1", "b1", "a2", "a1 again"].map(reply));
    let live = tape.record(&server);
    let request = question("the same");
    for (task, repeat) in [("a", 1), ("b", 1), ("a", 2), ("a", 1)] {
        text(&live, &request, &scope(task, repeat)).await;
    }
    let played = tape.play();
    for (task, repeat, expected) in
        [("a", 2, "a2"), ("a", 1, "a1"), ("b", 1, "b1"), ("a", 1, "a1 again"), ("a", 1, "a1 again")]
    {
        assert_eq!(text(&played, &request, &scope(task, repeat)).await, expected);
    }
    // Recorded answers of others do not tell what these would get.
    for (task, repeat, said) in [
        ("a", 3, "it was recorded in repetition 1, 2 of the task, and is asked in repetition 3\nhint: "),
        ("c", 1, "it was recorded for task `a`, and is asked for task `c`\nhint: "),
    ] {
        let error = ask(&played, &request, &scope(task, repeat)).await.0.unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    // A task that is run again starts from the beginning.
    let again = Scope { attempt: 2, ..scope("a", 1) };
    assert_eq!(text(&played, &request, &again).await, "a1");
}

#[tokio::test]
async fn the_workspace_may_be_elsewhere() {
    let tape = Tape::new();
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (folder.path().join("one/t"), folder.path().join("two/t"));
    let says = |path: &Path| format!("look at {}/a.png, not at {{workspace}}", path.display());
    let server = serve([reply(&says(&here))]);
    text(&tape.record(&server), &question(&says(&here)), &workspace(&here)).await;
    assert!(!tape.content().contains(here.to_str().unwrap()));
    let played = tape.play();
    assert_eq!(text(&played, &question(&says(&there)), &workspace(&there)).await, says(&there));
}

#[tokio::test]
async fn an_unknown_request_fails_and_says_what_differs() {
    let tape = Tape::new();
    let long_wait = answer(500, ("retry-after", "60"), "{}");
    let server = serve([reply("one"), long_wait]);
    let live = tape.record(&server);
    text(&live, &question("How many apples are in the first image?"), &scope("t", 1)).await;
    // A recording that was killed during the wait.
    let request = question("Interrupted");
    let told = |_| ();
    let scope_u = scope("u", 1);
    let interrupted = live.ask(&request, &scope_u, &told);
    assert!(tokio::time::timeout(Duration::from_millis(300), interrupted).await.is_err());
    let played = tape.play();
    let message = async |text: &str, task: &str| {
        let (answered, retries) = ask(&played, &question(text), &scope(task, 1)).await;
        assert!(retries.is_empty());
        let error = answered.unwrap_err();
        assert!(matches!(error, ModelError::NotRecorded { .. }), "{error}");
        error.to_string()
    };
    let differs = message("How many apples are in the second image?", "t").await;
    assert!(differs.contains("`/messages/1/content"), "{differs}");
    assert!(differs.contains("\nhint: what is asked has changed"), "{differs}");
    assert!(
        differs.contains("in the first image?`") && differs.contains("in the second image?`"),
        "{differs}"
    );
    let none = message("How many apples are in the second image?", "v").await;
    assert!(none.contains("no request of task `v` is in it"), "{none}");
    let interrupted = message("Interrupted", "u").await;
    assert!(interrupted.contains("was interrupted before its answer"), "{interrupted}");
}

#[tokio::test]
async fn a_task_recorded_anew_is_played_as_it_was_recorded_last() {
    let tape = Tape::new();
    let server = serve(["before", "anew", "further"].map(reply));
    text(&tape.record(&server), &question("a"), &scope("t", 1)).await;
    let live = tape.record(&server);
    text(&live, &question("a"), &scope("t", 1)).await;
    text(&live, &question("b"), &scope("t", 1)).await;
    let played = tape.play();
    assert_eq!(text(&played, &question("a"), &scope("t", 1)).await, "anew");
    assert_eq!(text(&played, &question("b"), &scope("t", 1)).await, "further");
}

#[tokio::test]
async fn what_is_played_can_be_recorded_again() {
    let tape = Tape::new();
    let server = serve([failure(503, "{}"), reply("one")]);
    text(&tape.record(&server), &question("a"), &scope("t", 1)).await;
    let copy = Tape::new();
    let played = tape.play();
    let recorder = Recorder::create_or_append(&copy.path(), Header::new(played.name())).unwrap();
    text(&played.recorded_by(recorder.into()), &question("a"), &scope("t", 1)).await;
    let without_times = |tape: &Tape| -> Vec<Value> {
        tape.content()
            .lines()
            .map(|line| {
                let mut line: Value = serde_json::from_str(line).unwrap();
                line["milliseconds"] = Value::Null;
                line
            })
            .collect()
    };
    assert_eq!(without_times(&copy), without_times(&tape));
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else { panic!("an object") };
    members
}

fn outcome(result: Result<ToolResult, CallError>) -> CallOutcome {
    CallOutcome { result, elapsed: Duration::from_millis(12), waited: Duration::from_millis(3) }
}

#[test]
fn calls_and_tools_are_kept_whole_and_secrets_are_not() {
    let tape = Tape::new();
    let name = ModelName::parse("openai:m").unwrap();
    let recorder = Recorder::create_or_append(&tape.path(), Header::new(&name)).unwrap();
    recorder.hide(m3_support::redact::Redactor::new(["top-secret"]).unwrap());
    let (here, there) = (workspace(Path::new("/runs/one/t")), workspace(Path::new("/runs/two/t")));
    let tool = ToolName::parse("image/blur").unwrap();
    let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
    let result = |folder: &str| {
        ToolResult::from_wire(json!({
            "content": [
                {"type": "text", "text": format!("saved {folder}/b.png")},
                {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            ],
            "structuredContent": {"deep": deep},
        }))
    };
    let unavailable = |reason: &str| {
        outcome(Err(CallError::Unavailable { server: "image".to_owned(), reason: reason.to_owned() }))
    };
    let timed_out =
        outcome(Err(CallError::TimedOutIdle { server: "image".to_owned(), limit: Duration::from_secs(2) }));
    let arguments = |folder: &str| object(json!({"path": format!("{folder}/a.png"), "n": 1.0}));
    let record = |arguments: &Map<String, Value>, outcome: &CallOutcome| {
        recorder.record_call(&here, &tool.to_string(), arguments, to_record(outcome));
    };
    record(&arguments("/runs/one/t"), &outcome(Ok(result("/runs/one/t"))));
    record(&arguments("/runs/one/t"), &unavailable("top-secret in /runs/one/t"));
    record(&Map::new(), &timed_out);
    let catalog = json!({"image": {"tools": [
        {"name": "blur", "description": "top-secret", "inputSchema": {"type": "object"}}]}});
    recorder.record_catalog(&catalog);
    assert!(recorder.failure().is_none());
    drop(recorder);
    assert!(!tape.content().contains("top-secret") && !tape.content().contains("/runs/one"));
    let cassette = Cassette::open(&tape.path()).unwrap();
    let call = |scope: &Scope, arguments: &Map<String, Value>| {
        cassette.call(scope, &tool.to_string(), arguments).map(|call| from_record(&tool, call))
    };
    assert_eq!(call(&there, &arguments("/runs/two/t")), Ok(outcome(Ok(result("/runs/two/t")))));
    assert_eq!(call(&there, &arguments("/runs/two/t")), Ok(unavailable("*** in /runs/two/t")));
    assert_eq!(call(&there, &Map::new()), Ok(timed_out));
    assert_eq!(call(&there, &arguments("/runs/three/t")), Err(Others::None));
    let other = Scope { task: "u".to_owned(), ..there.clone() };
    let of_another = Others::Task { recorded: "t".to_owned(), asked: "u".to_owned() };
    assert_eq!(call(&other, &arguments("/runs/two/t")), Err(of_another));
    let read = ToolCatalog::from_json(cassette.catalog().unwrap());
    assert_eq!(read.get(&tool).unwrap().description.as_deref(), Some("***"));
    assert_eq!((cassette.summary().calls, cassette.summary().tasks), (3, 1));
}

#[test]
fn a_cassette_of_an_unknown_model_is_refused() {
    let tape = Tape::new();
    let line = json!({"schema": "m3.cassette/1", "model": "nobody:m", "created_by": "m3 0.1.0"});
    std::fs::write(tape.path(), format!("{line}\n")).unwrap();
    let cassette = Cassette::open(&tape.path()).unwrap();
    let message = Model::replay(cassette.into()).unwrap_err().to_string();
    assert!(message.contains("is of no model that is known"), "{message}");
}
