//! Replies of providers, in the three wires of `m3-llm`: each as the answer in a cassette, which is read as one from the network is,
//! and then sent back with results of its calls, as a conversation goes on. Its text is read as a grader's, too.
//!
//! The first line of an input says how the reply comes: `{"wire": "openai", "status": 200}`; the rest is its body.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt as _;
use m3_judge::grade::{Aspect, ReadReply};
use m3_llm::{
    Arguments, Cassette, Header, Message, Model, ModelAnswer, ModelError, ModelName, ModelOptions, Part,
    Recorder, Reply, Request, Scope, StopReason, ToolAnswer,
};
use serde_json::{Value, json};

use crate::input::{Temporary, assert_line, assert_text, without_first_line};

/// The models of the three wires. Nothing listens there.
const MODELS: [&str; 3] =
    ["openai@http://127.0.0.1:1/v1:m", "anthropic@http://127.0.0.1:1:m", "gemini@http://127.0.0.1:1:m"];

/// Holds a reply against what each one keeps.
///
/// # Panics
/// If it does not keep it.
pub fn check(bytes: &[u8]) {
    let (head, body) = without_first_line(bytes);
    let head: Value = serde_json::from_slice(head).unwrap_or_default();
    let wire = head["wire"].as_str().unwrap_or_default();
    let model = MODELS.iter().position(|model| model.split('@').next() == Some(wire)).unwrap_or_default();
    let status = head["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(200);
    match answer(model, status, body) {
        Ok(answered) => {
            check_reply(&answered.reply, body.len());
            check_grades(&answered.reply.text);
            assert_eq!(answer(model, status, body).ok().map(|again| again.reply), Some(answered.reply));
        }
        Err(error) => assert_text("an error", &error.to_string(), 3000),
    }
}

/// What a model answers whose cassette has this reply.
fn answer(model: usize, status: u16, body: &[u8]) -> Result<ModelAnswer, ModelError> {
    let mut line = asked()[model].clone();
    line["status"] = json!(status);
    line["reply"] = json!(String::from_utf8_lossy(body));
    let header = json!({"schema": m3_llm::cassette::SCHEMA, "model": MODELS[model], "created_by": "m3"});
    let file = Temporary::file("cassette.jsonl", format!("{header}\n{line}\n").as_bytes());
    let model = Model::replay(Arc::new(Cassette::open(file.path())?))?;
    let mut request = question();
    let answered = ask(&model, &request)?;
    // The conversation goes on; what is asked then is not in the cassette, which says where it differs.
    request.messages.push(Arc::new(Message::Assistant(answered.reply.to_assistant())));
    let calls = &answered.reply.calls;
    request.messages.push(Arc::new(if calls.is_empty() {
        Message::User(vec![Part::Text("Go on.".to_owned())])
    } else {
        Message::ToolResults(calls.iter().map(result).collect())
    }));
    match ask(&model, &request) {
        Err(error @ ModelError::NotRecorded { .. }) => assert_text("an error", &error.to_string(), 3000),
        other => assert!(other.is_err(), "nothing else was recorded: {other:?}"),
    }
    Ok(answered)
}

fn ask(model: &Model, request: &Request) -> Result<ModelAnswer, ModelError> {
    let scope = Scope { task: "t".to_owned(), repeat: 1, attempt: 1, workspace: None };
    let retried = |retry: m3_llm::Retry| assert_text("the reason of a retry", &retry.reason, 3000);
    // A cassette answers at once.
    model
        .ask(request, &scope, &retried)
        .now_or_never()
        .unwrap_or_else(|| unreachable!("nothing is waited for"))
}

fn question() -> Request {
    let text = Part::Text("What time is it?".to_owned());
    Request { messages: vec![Arc::new(Message::User(vec![text]))], ..Request::default() }
}

fn result(call: &m3_llm::ReplyCall) -> ToolAnswer {
    ToolAnswer {
        call_id: call.id.clone(),
        name: call.name.clone(),
        text: "noon".to_owned(),
        images: Vec::new(),
        is_error: false,
    }
}

/// The line of a cassette in which each model is asked [`question`], without its answer.
fn asked() -> &'static [Value; 3] {
    static ASKED: OnceLock<[Value; 3]> = OnceLock::new();
    ASKED.get_or_init(|| {
        MODELS.map(|model| {
            let line = record(model);
            assert!(line.is_some(), "a request to {model} can be recorded");
            line.unwrap_or_default()
        })
    })
}

/// Asks a model that is not there, and takes what was asked from the recording of it.
fn record(model: &str) -> Option<Value> {
    let file = Temporary::file("recorded.jsonl", b"");
    let name = ModelName::parse(model).ok()?;
    let recorder = Recorder::create_or_append(file.path(), Header::new(&name)).ok()?;
    let model = Model::open(name, ModelOptions { tries: Some(1), ..ModelOptions::default() }).ok()?;
    let model = model.recorded_by(Arc::new(recorder));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let scope = Scope { task: "t".to_owned(), repeat: 1, attempt: 1, workspace: None };
    let _ = runtime.block_on(model.ask(&question(), &scope, &|_| ()));
    last_line(file.path())
}

fn last_line(path: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut line: Value = serde_json::from_str(text.lines().last()?).ok()?;
    let members = line.as_object_mut()?;
    members.remove("error");
    members.insert("then".to_owned(), json!("end"));
    Some(line)
}

/// A grader that is not understood is told why.
fn check_grades(text: &str) {
    for aspect in Aspect::all() {
        match aspect.read(Some((1, 2)), text) {
            Ok(ReadReply::Whole(answer) | ReadReply::WithoutMatrix(answer, _)) => {
                let values = answer.scores.values().chain(answer.matrix.iter().flatten().flatten());
                assert!(values.into_iter().all(|value| (0.0..=1.0).contains(value)), "{answer:?}");
            }
            Err(reason) => assert_text("why a grade is not read", &reason, 2000),
        }
    }
}

/// Calls can be told apart, notes are few and short, and nothing is longer than the body it came in.
fn check_reply(reply: &Reply, length: usize) {
    assert!(reply.oddities.len() <= 21, "{} oddities", reply.oddities.len());
    for oddity in &reply.oddities {
        assert_line("an oddity", oddity, 600);
    }
    for word in [reply.model.as_deref(), reply.block.as_deref()].into_iter().flatten() {
        assert_line("a word of the provider", word, 900);
    }
    if let StopReason::Other(word) = &reply.stop {
        assert_line("the reason of an end", word, 300);
    }
    let ids: HashSet<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    assert!(ids.len() == reply.calls.len() && !ids.contains(""), "calls have ids of their own: {ids:?}");
    assert!(reply.calls.len() <= length, "{} calls", reply.calls.len());
    let arguments = reply.calls.iter().map(|call| match &call.arguments {
        Arguments::Object(members) => json!(members).to_string().len(),
        Arguments::Absent => 0,
        Arguments::Malformed(text) => text.len(),
    });
    // Three bytes replace one that is no UTF-8, and serde_json writes numbers otherwise than they came: `1e9` as `1000000000.0`.
    let said = reply.text.len() + reply.thoughts.len() + arguments.sum::<usize>();
    assert!(said <= 1000 + 20 * length, "{said} bytes of {length}");
    assert!(reply.usage.in_words().len() <= 200);
}
