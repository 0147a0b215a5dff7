use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_support::redact::Redactor;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{ToolName, ToolResult};

/// A PNG of 3 x 2 pixels.
fn png() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(3, 2).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

fn result(wire: Value) -> ToolResult {
    ToolResult::from_wire(wire)
}

fn tool() -> ToolName {
    ToolName::parse("server/a tool").unwrap()
}

struct StoreFixture {
    folder: tempfile::TempDir,
    store: ResultStore,
}

impl StoreFixture {
    fn new(secrets: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let redactor = Redactor::new(secrets).unwrap();
        let store = ResultStore::open(
            folder.path().join("results"),
            folder.path().join("workspace"),
            redactor,
            Keeps::All,
        )
        .unwrap();
        Self { folder, store }
    }

    fn keep(&self, wire: Value) -> KeptResult {
        self.store.keep(&tool(), &json!({"a": 1}), &result(wire)).unwrap()
    }
}

fn record(fixture: &KeptResult) -> Value {
    serde_json::from_slice(&std::fs::read(fixture.path.as_ref().unwrap()).unwrap()).unwrap()
}

#[test]
fn every_kind_of_content_is_kept_and_told_in_order() {
    let fixture = StoreFixture::new(&[]);
    let image = STANDARD.encode(png());
    // The magic numbers of WAVE (RIFF) and PDF.
    let (sound, blob) = (STANDARD.encode("RIFF\0\0\0\0WAVEfmt "), STANDARD.encode("%PDF-1.7"));
    let wire = json!({"content": [
        {"type": "text", "text": "first"},
        {"type": "image", "data": image, "mimeType": "image/jpeg"},
        {"type": "audio", "data": sound, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///x", "name": "a link", "mimeType": "text/plain"},
        {"type": "resource", "resource": {"uri": "mem://t", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "mem://b", "blob": blob}},
        {"type": "hologram", "x": 1}
    ], "structuredContent": {"k": "v"}, "_meta": {"m": 1}});
    let result = fixture.keep(wire.clone());
    assert_eq!(
        result.text,
        "first\n\
         [image: saved as result-00001-1.png, image/png, 3 x 2 pixels, 75 bytes]\n\
         [audio: saved as result-00001-2.wav, audio/wav, 16 bytes]\n\
         [resource link: a link, file:///x, text/plain]\n\
         [resource: mem://t]\ninside\n\
         [resource mem://b: saved as result-00001-5.pdf, application/pdf, 8 bytes]\n\
         {\"type\":\"hologram\",\"x\":1}\n\
         [structured content]\n{\"k\":\"v\"}"
            .replace("75 bytes", &format!("{} bytes", png().len()))
    );
    assert!(!result.is_shortened && result.problems.is_empty());
    assert_eq!(std::fs::read(&result.files[0].path).unwrap(), png());
    // What the result had, and what calls can name.
    assert_eq!(result.files[0].path, fixture.folder.path().join("results/00001-1.png"));
    let put = fixture.folder.path().join("workspace/result-00001-1.png");
    assert!(result.files[0].is_put && std::fs::read(put).unwrap() == png());
    assert_eq!(result.path, Some(fixture.folder.path().join("results/00001-server__a_tool.json")));
    let record = record(&result);
    assert_eq!(
        (&record["result"], &record["tool"], &record["arguments"]),
        (&wire, &json!("server/a tool"), &json!({"a": 1}))
    );
}

#[test]
fn results_without_anything_say_so() {
    let fixture = StoreFixture::new(&[]);
    assert_eq!(fixture.keep(json!({"content": []})).text, "[the result is empty]");
    assert_eq!(fixture.keep(json!({})).text, "[the result is empty]");
    assert_eq!(
        fixture.keep(json!({"content": [], "structuredContent": {"a": 1}})).text,
        "[structured content]\n{\"a\":1}"
    );
}

#[test]
fn structured_content_is_told_only_where_it_says_more() {
    let texts = |texts: &[&str]| -> Vec<Value> {
        texts.iter().map(|text| json!({"type": "text", "text": text})).collect()
    };
    for (content, structured) in [
        (texts(&["{\"a\": 1.0}"]), json!({"a": 1})),
        (texts(&["plain"]), json!({"result": "plain"})),
        (texts(&["5"]), json!({"result": 5.0})),
        (texts(&["True"]), json!({"result": true})),
        (texts(&["x", "{\"y\": 2}"]), json!({"result": ["x", {"y": 2}]})),
        (texts(&[]), json!({"result": []})),
        (texts(&["a\nb"]), json!({"result": "a\nb"})),
    ] {
        let result = result(json!({"content": content, "structuredContent": structured}));
        assert!(!result_text(&result, &[]).contains("structured"), "{structured}");
    }
    for (content, structured) in [
        (texts(&["see below"]), json!({"a": 1})),
        (texts(&["x"]), json!({"result": ["x", "y"]})),
        (texts(&["1"]), json!({"result": true})),
        (texts(&["x"]), json!({"result": "x", "more": 1})),
    ] {
        let result = result(json!({"content": content, "structuredContent": structured}));
        assert!(result_text(&result, &[]).contains("structured"), "{structured}");
    }
}

/// The protocol project's own server for files repeats what it returns under `content`, images in base64 included;
/// pydantic's models write keys that are null.
#[test]
fn structured_content_that_mirrors_parts_is_not_told_again() {
    let png = STANDARD.encode(png());
    let image = json!({"type": "image", "data": png, "mimeType": "image/png"});
    let dumped =
        json!({"type": "image", "data": png, "mimeType": "image/png", "annotations": null, "_meta": null});
    let text = json!({"type": "text", "text": "a file"});
    for (content, structured) in [
        (json!([image]), json!({"content": [image]})),
        (json!([image]), json!({"content": [dumped]})),
        (json!([image]), json!({"result": dumped})),
        (json!([text, image]), json!({"result": [text, image]})),
        (json!([text]), json!({"content": "a file"})),
    ] {
        let fixture = StoreFixture::new(&[]);
        let output = fixture.keep(json!({"content": content, "structuredContent": structured}));
        assert!(!output.text.contains("structured") && !output.text.contains(&png), "{}", output.text);
    }
    // What is only in the structured content is part of the text.
    let scored = json!({"result": {"type": "text", "text": "a file", "score": 0.9}});
    let output = StoreFixture::new(&[]).keep(json!({"content": [text], "structuredContent": scored}));
    assert!(output.text.contains("0.9"), "{}", output.text);
    // If the structured content says more, an image in it is replaced by its name.
    let fixture = StoreFixture::new(&[]);
    let output = fixture.keep(json!({"content": [image], "structuredContent": {"image": png, "page": 3}}));
    assert!(
        output
            .text
            .ends_with("[structured content]\n{\"image\":\"[saved as result-00001-0.png]\",\"page\":3}"),
        "{}",
        output.text
    );
    // The value alone adds nothing to the text, its key does.
    let output =
        fixture.keep(json!({"content": [{"type": "text", "text": "5"}], "structuredContent": {"count": 5}}));
    assert!(output.text.contains("structured"), "{}", output.text);
}

#[test]
fn what_the_server_says_of_a_file_is_not_believed() {
    let fixture = StoreFixture::new(&[]);
    let output = fixture.keep(json!({"content": [
        {"type": "image", "data": STANDARD.encode("#!/bin/sh"), "mimeType": "../../evil.sh"},
        {"type": "image", "data": "not base64", "mimeType": "image/png"},
        {"type": "image", "data": "", "mimeType": ""},
    ]}));
    assert_eq!(output.files.len(), 1);
    assert_eq!(output.files[0].name, "result-00001-0.txt");
    assert_eq!(output.problems[0], "part 0 is said to be `../../evil.sh`, and its bytes are text/plain");
    assert!(
        output.problems[1].starts_with("part 1, `image/png`: its data is not base64"),
        "{:?}",
        output.problems
    );
    assert!(output.problems[2].contains("empty"));
    assert!(output.text.contains("[image: image/png, and its data cannot be read]"));
    assert_eq!(std::fs::read_dir(fixture.folder.path().join("workspace")).unwrap().count(), 1);
}

/// The text describes the tool's own file, which may be larger than what its answer shows.
#[test]
fn a_file_that_the_tool_wrote_itself_is_told_by_its_own_name() {
    let fixture = StoreFixture::new(&[]);
    let wire =
        json!({"content": [{"type": "image", "data": STANDARD.encode(png()), "mimeType": "image/png"}]});
    let own = WorkspaceFile {
        name: "out/eel.jpg".to_owned(),
        mime_type: "image/jpeg".to_owned(),
        bytes: 900,
        pixels: Some((30, 20)),
    };
    let output =
        fixture.store.keep_as((7, &tool()), &json!({}), &result(wire), &mut |_| Some(own.clone())).unwrap();
    assert_eq!(output.text, "[image: saved as out/eel.jpg, image/jpeg, 30 x 20 pixels, 900 bytes]");
    assert_eq!(output.files[0].in_workspace(), own);
    assert_eq!(record(&output)["files"][0]["name"], "out/eel.jpg");
    assert!(std::fs::read(&output.files[0].path).unwrap() == png() && !output.files[0].is_put);
    let names = std::fs::read_dir(fixture.folder.path().join("workspace")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["out"]);
}

#[cfg(unix)]
#[test]
fn what_a_server_put_into_the_workspace_is_not_written_through() {
    let fixture = StoreFixture::new(&[]);
    let link = fixture.folder.path().join("workspace/result-00001-0.png");
    std::os::unix::fs::symlink(fixture.folder.path().join("outside"), &link).unwrap();
    let image =
        json!({"content": [{"type": "image", "data": STANDARD.encode(png()), "mimeType": "image/png"}]});
    assert_eq!(fixture.keep(image).files[0].name, "result-00001-0-1.png");
    assert!(!fixture.folder.path().join("outside").exists());
}

#[test]
fn secrets_are_written_nowhere() {
    let fixture = StoreFixture::new(&["topsecret"]);
    let output = fixture.keep(json!({
        "content": [
            {"type": "text", "text": "https://h/?key=topsecret"},
            {"type": "resource", "resource": {"uri": "x:topsecret", "blob": STANDARD.encode("a topsecret b")}}
        ],
        "structuredContent": {"topsecret": "topsecret"},
    }));
    assert!(output.text.starts_with("https://h/?key=***\n"), "{}", output.text);
    assert_eq!(std::fs::read(&output.files[0].path).unwrap(), b"a ********* b");
    for entry in ["results", "workspace"] {
        for file in std::fs::read_dir(fixture.folder.path().join(entry)).unwrap() {
            let text = String::from_utf8_lossy(&std::fs::read(file.unwrap().path()).unwrap()).into_owned();
            assert!(!text.contains("topsecret") && !text.contains(&STANDARD.encode("topsecret")), "{text}");
        }
    }
}

#[test]
fn long_texts_are_cut_in_the_middle_and_say_where_the_whole_is() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        ResultStore::open(folder.path().join("r"), folder.path(), Redactor::default(), Keeps::All).unwrap();
    let long = "é".repeat(5_000) + &"x".repeat(5_000);
    let output = store.with_limit(400).keep(&tool(), &json!({}), &ToolResult::text(&long)).unwrap();
    assert!(output.is_shortened && output.text.chars().count() <= 400, "{}", output.text.chars().count());
    assert!(output.text.starts_with("ééé") && output.text.ends_with("xxx"));
    assert!(
        output
            .text
            .contains("of 10000 characters are cut here; the whole is in r/00001-server__a_tool.json ...")
    );
    let record: Value =
        serde_json::from_slice(&std::fs::read(output.path.as_ref().unwrap()).unwrap()).unwrap();
    assert_eq!(record["result"]["content"][0]["text"], long);
}

#[test]
fn where_a_text_is_cut_does_not_depend_on_the_path_of_the_workspace() {
    let root = tempfile::tempdir().unwrap();
    let cut_text = |folder: &str| {
        let workspace = root.path().join(folder);
        let store =
            ResultStore::open(workspace.join("r"), &workspace, Redactor::default(), Keeps::All).unwrap();
        let path = workspace.display().to_string();
        let text = format!("{path}/a.txt\n").repeat(100);
        let output = store.with_limit(400).keep(&tool(), &json!({}), &ToolResult::text(&text)).unwrap();
        assert!(output.is_shortened && output.text.contains(&path));
        output.text.replace(&path, "")
    };
    assert_eq!(cut_text("a"), cut_text("a-much-longer-name-of-a-folder"));
}

#[test]
fn what_acts_on_a_terminal_is_shown_instead() {
    assert_eq!(readable("a\u{1b}[2Jb\u{7}\r\nc\td\r"), "a\\u{1b}[2Jb\\u{7}\nc\td\\r");
    assert_eq!(readable("\u{202e}abc\u{e0041}"), "\\u{202e}abc\\u{e0041}");
    // A family, which is emoji joined into one, stays one.
    assert_eq!(readable("👩\u{200d}👧"), "👩\u{200d}👧");
}

#[test]
fn files_are_told_by_their_bytes() {
    for (bytes, extension) in [
        (b"\x89PNG\r\n\x1a\n".as_slice(), "png"),
        (b"\xff\xd8\xff\xe0", "jpg"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "webp"),
        (b"\xff\xfb\x90\0", "mp3"),
        (b"<svg xmlns='x'/>", "svg"),
        (b"<?xml version='1.0'?>\n<svg/>", "svg"),
        (b"\0\0\0\x18ftypmp42", "mp4"),
        (b"PK\x03\x04", "zip"),
        (b"plain", "txt"),
        (b"", "txt"),
        (b"\x80\x81", "bin"),
        (b"\xff\xff", "mp3"),
    ] {
        assert_eq!(Media::from_bytes(bytes).extension, extension, "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn shortened_texts_keep_to_the_limit(text in ".{0,600}", limit in 150_usize..400) {
        let cut = shortened_text(&text, limit, "there.json");
        prop_assert!(cut.chars().count() <= limit);
        if text.chars().count() <= limit {
            prop_assert!(cut == text.as_str());
        }
    }

    #[test]
    fn readable_text_has_no_controls(text in "(\\PC|[\\x00-\\x1f\\x7f-\\x9f]){0,60}") {
        let shown = readable(&text);
        prop_assert!(shown.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()));
        prop_assert!(readable(&shown) == shown);
    }
}

#[test]
fn a_result_that_says_more_than_the_text_in_the_record_of_a_run_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (results, workspace) = (folder.path().join("results"), folder.path().join("w"));
    let store = ResultStore::open(&results, &workspace, Redactor::default(), Keeps::Untold).unwrap();
    let store = store.with_limit(300);
    let text = |text: &str| json!({"type": "text", "text": text});
    for (wire, is_file) in [
        (json!({"content": [text("4")]}), false),
        (json!({"content": [text("4")], "isError": true}), false),
        (json!({"content": [text("4")], "structuredContent": {"sum": 4}}), true),
        (json!({"content": [text("4")], "_meta": {"took": 1}}), true),
        (json!({"content": [text("4"), text("5")]}), true),
        (json!({"content": [text(&"4".repeat(301))]}), true),
        (
            json!({"content": [{"type": "image", "data": STANDARD.encode(png()), "mimeType": "image/png"}]}),
            true,
        ),
    ] {
        let fixture = store.keep(&tool(), &json!({}), &result(wire.clone())).unwrap();
        assert_eq!(fixture.path.is_some_and(|path| path.is_file()), is_file, "{wire}");
    }
}
