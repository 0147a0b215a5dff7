//! Recording and replaying exchanges with the model, and the cassette's file.

use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use m3_llm::{
    Cassette, CassetteError, Header, Message, Model, ModelName, ModelOptions, Part, Picture, Recorder,
    Request,
};
use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, hash};

use super::{KEY, answer, ask, echo, error, failure, model, name, question, reply, scope, serve, text};

/// A folder that contains a cassette.
pub(super) struct Tape {
    folder: tempfile::TempDir,
}

impl Tape {
    pub(super) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("c.jsonl")
    }

    pub(super) fn content(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }

    /// A model at this server, recorded.
    pub(super) fn record(&self, server: &ScriptedModel) -> Model {
        self.record_with(server, ModelOptions::default())
    }

    pub(super) fn record_with(&self, server: &ScriptedModel, options: ModelOptions) -> Model {
        let header = Header::new(&name(server));
        let recorder = Recorder::create_or_append(&self.path(), header).unwrap();
        model(server, options).recorded_by(Arc::new(recorder))
    }

    pub(super) fn play(&self) -> Model {
        Model::replay(Arc::new(Cassette::open(&self.path()).unwrap())).unwrap()
    }
}

fn header(model: &str) -> Header {
    Header::new(&ModelName::parse(model).unwrap())
}

#[tokio::test]
async fn answers_and_failed_tries_are_played_as_they_were() {
    let tape = Tape::new();
    let server = serve([
        failure(500, "<html>"),
        reply("one"),
        ScriptedReply::Cut,
        answer(429, ("retry-after", "0"), &error("rate_limit_exceeded", "slow")),
        reply("{workspace} two"),
        failure(400, &error("invalid_request_error", "no images")),
        failure(200, "{\n  \"choices\" : [ ]\n}"),
    ]);
    let first_wait = Duration::from_millis(1);
    let live =
        tape.record_with(&server, ModelOptions { tries: Some(3), first_wait, ..ModelOptions::default() });
    let mut seen = Vec::new();
    for text in ["a", "b", "c", "d"] {
        seen.push(ask(&live, &question(text), &scope(text, 1)).await);
    }
    drop(live);
    let played = tape.play();
    assert_eq!(played.name(), &name(&server));
    for (text, (answered, retries)) in ["a", "b", "c", "d"].into_iter().zip(seen) {
        let (again, retries_again) = ask(&played, &question(text), &scope(text, 1)).await;
        match (answered, again) {
            (Ok(first), Ok(second)) => assert_eq!((first.reply, first.tries), (second.reply, second.tries)),
            (Err(first), Err(second)) => assert_eq!(first.to_string(), second.to_string()),
            other => panic!("{other:?}"),
        }
        let reasons =
            |retries: &[m3_llm::Retry]| retries.iter().map(|r| r.reason.clone()).collect::<Vec<_>>();
        assert_eq!(reasons(&retries), reasons(&retries_again));
        assert!(retries_again.iter().all(|retry| retry.wait.is_zero()));
    }
    let summary = Cassette::open(&tape.path()).unwrap().summary().clone();
    assert_eq!((summary.tasks, summary.requests, summary.tries), (4, 4, 2 + 3 + 1 + 3));
    assert_eq!(server.requests().len(), 9);
}

#[tokio::test]
async fn neither_the_key_nor_images_are_recorded() {
    let tape = Tape::new();
    let is_refused = AtomicBool::new(true);
    let server = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| {
        echo(if is_refused.swap(false, Ordering::Relaxed) { 400 } else { 200 }, seen)
    });
    let live = tape.record(&server);
    let mut bytes = Vec::new();
    image::RgbImage::new(1, 1).write_to(&mut Cursor::new(&mut bytes), image::ImageFormat::Png).unwrap();
    let (payload, sent) = (STANDARD_NO_PAD.encode(&bytes), hash(&bytes));
    let picture = Picture {
        mime_type: "image/png",
        width: 1,
        height: 1,
        sha256: "ab".repeat(32),
        scaled_from: None,
        changes: Vec::new(),
        bytes,
    };
    let parts = vec![Part::Image(Arc::new(picture)), Part::Text(format!("the key is {KEY}"))];
    let request = Request { messages: vec![Arc::new(Message::User(parts))], ..Request::default() };
    ask(&live, &request, &scope("t", 1)).await.0.unwrap_err();
    ask(&live, &request, &scope("u", 1)).await.0.unwrap();
    drop(live);
    assert!(server.requests()[0].to_string().contains(&sent));
    let content = tape.content();
    assert!(content.contains(&"ab".repeat(32)) && content.contains("***"));
    assert!(!content.contains(&payload) && !content.contains("sk-test"), "{content}");
}

#[tokio::test]
async fn a_compressed_cassette_is_played_and_not_appended_to() {
    let tape = Tape::new();
    let server = serve([reply("one")]);
    text(&tape.record(&server), &question("a"), &scope("t", 1)).await;
    let packed = tape.folder.path().join("c.jsonl.gz");
    let mut output =
        flate2::write::GzEncoder::new(std::fs::File::create(&packed).unwrap(), flate2::Compression::fast());
    output.write_all(tape.content().as_bytes()).unwrap();
    output.finish().unwrap();
    let played = Model::replay(Arc::new(Cassette::open(&packed).unwrap())).unwrap();
    assert_eq!(text(&played, &question("a"), &scope("t", 1)).await, "one");
    // Refused by its name or, if the name does not show it, by its content.
    let refused = Recorder::create_or_append(&packed, Header::new(&name(&server))).unwrap_err();
    assert!(matches!(refused, CassetteError::NamedCompressed { .. }), "{refused}");
    let renamed = tape.folder.path().join("packed.jsonl");
    std::fs::rename(&packed, &renamed).unwrap();
    let refused = Recorder::create_or_append(&renamed, Header::new(&name(&server))).unwrap_err();
    assert!(matches!(refused, CassetteError::NotACassette { .. }), "{refused}");
}

#[tokio::test]
async fn a_line_that_was_cut_off_is_left_aside_and_ended() {
    let tape = Tape::new();
    let server = serve([reply("ä one"), reply("ä two"), reply("three")]);
    let live = tape.record(&server);
    text(&live, &question("a"), &scope("t", 1)).await;
    text(&live, &question("b"), &scope("t", 1)).await;
    drop(live);
    let whole = std::fs::read(tape.path()).unwrap();
    let two = whole.windows(5).rposition(|window| window == "ä tw".as_bytes()).unwrap();
    // Cut within a character, after it, and just before the line's end.
    for (length, is_cut) in [(two + 1, true), (two + 2, true), (whole.len() - 1, false)] {
        std::fs::write(tape.path(), &whole[..length]).unwrap();
        let cut_lines = Cassette::open(&tape.path()).unwrap().summary().cut_lines.clone();
        assert_eq!(cut_lines, if is_cut { vec![3] } else { vec![] });
        text(&tape.record(&server), &question("c"), &scope("t", 1)).await;
        let played = tape.play();
        assert_eq!(text(&played, &question("a"), &scope("t", 1)).await, "ä one");
        assert_eq!(text(&played, &question("c"), &scope("t", 1)).await, "three");
        let b = ask(&played, &question("b"), &scope("t", 1)).await.0;
        assert_eq!(b.is_err(), is_cut);
    }
}

#[test]
fn a_first_line_that_was_cut_off_is_written_anew() {
    let tape = Tape::new();
    for start in ["", "{\"sche", "{\"schema\":\"m3.cassette/1\",\"mod"] {
        std::fs::write(tape.path(), start).unwrap();
        Recorder::create_or_append(&tape.path(), header("openai:m")).unwrap();
        assert_eq!(Cassette::open(&tape.path()).unwrap().header(), &header("openai:m"));
    }
}

#[test]
fn only_a_cassette_of_the_same_model_is_appended_to_and_by_one() {
    let tape = Tape::new();
    let recorder = Recorder::create_or_append(&tape.path(), header("openai:m")).unwrap();
    let locked = Recorder::create_or_append(&tape.path(), header("openai:m")).unwrap_err();
    assert!(matches!(locked, CassetteError::Locked { .. }), "{locked}");
    drop(recorder);
    let other = Recorder::create_or_append(&tape.path(), header("openai:n")).unwrap_err().to_string();
    assert!(other.contains("is of `openai:m`, not of `openai:n`"), "{other}");
    for content in [
        "a plain text\n",
        "{\"a\": 1}\n",
        "{\"schema\":\"m3.cassette/2\",\"model\":\"m\",\"created_by\":\"\"}\n",
    ] {
        std::fs::write(tape.path(), content).unwrap();
        let refused = Recorder::create_or_append(&tape.path(), header("openai:m")).unwrap_err();
        assert!(matches!(refused, CassetteError::NotACassette { .. }), "{refused}");
        assert_eq!(tape.content(), content);
        assert!(Cassette::open(&tape.path()).is_err());
    }
    assert!(matches!(Cassette::open(Path::new("no such file")), Err(CassetteError::Read { .. })));
}

#[tokio::test]
async fn a_broken_line_is_named() {
    let tape = Tape::new();
    let server = serve([reply("one")]);
    text(&tape.record(&server), &question("a"), &scope("t", 1)).await;
    let content = tape.content();
    std::fs::write(tape.path(), format!("{content}{{\"kind\": \"call\", nonsense\n{content}")).unwrap();
    let message = Cassette::open(&tape.path()).unwrap_err().to_string();
    assert!(message.starts_with("line 3 of the cassette"), "{message}");
}
