//! `m3 record`: calls are made again and what they return is written, by stub servers and by our own.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::host::support::{marker, stub};
use crate::support::{Folder, call, failure, json_of, m3_bare, report, root, run, stdout, text, trajectory};

/// Two stubs with short limits, our servers, and a server that does not exist.
fn servers(folder: &Folder) -> PathBuf {
    let marker = marker();
    let stub = json!({"command": stub(), "args": ["default", "--marker", marker],
        "timeouts": {"start": 20, "idle": 2, "total": 10}});
    let own = |kind: &str| json!({"command": "m3", "args": ["serve", kind]});
    let config = json!({"mcpServers": {
        "stub": stub, "other": stub, "image": own("image"), "barcode": own("barcode"), "math": own("math"),
        "missing": {"command": "/nonexistent/server"},
    }});
    folder.json("servers.json", &config)
}

fn recording(folder: &Folder, trajectories: &Value) -> Command {
    let path = folder.json("given.json", trajectories);
    let mut m3 = m3_bare(folder.path());
    m3.arg("record").arg(path).arg("--servers").arg(servers(folder)).arg("-o").arg(recorded(folder));
    m3
}

fn recorded(folder: &Folder) -> PathBuf {
    folder.path().join("out/recorded.json")
}

/// The trajectories that a command writes that exits with this code, and what it says.
fn with_results(folder: &Folder, command: &mut Command, code: i32) -> (Value, String) {
    std::fs::create_dir_all(folder.path().join("out")).unwrap();
    let output = run(command);
    let said = text(&output.stderr) + &text(&output.stdout);
    assert_eq!(output.status.code(), Some(code), "{said}");
    (json_of(recorded(folder)), said)
}

/// A trajectory about an image of the repository.
fn of_image(id: &str, image: &str, steps: &[&[Value]]) -> Value {
    let mut found = trajectory(id, steps);
    found["image"] = json!(root().join("images").join(image));
    found
}

fn with_images(command: &mut Command) -> &mut Command {
    command.arg("--images").arg(root().join("images"))
}

/// The stub counts its calls: a second trajectory, or another server, starts again from 1.
#[test]
fn every_trajectory_has_fresh_servers_and_its_steps_are_in_order() {
    let folder = Folder::new();
    let count = |server: &str| call(&format!("{server}/count"), json!({}));
    let (stub, other) = (count("stub"), count("other"));
    let steps: &[&[Value]] =
        &[std::slice::from_ref(&stub), &[stub.clone(), other], std::slice::from_ref(&stub)];
    let given = json!([trajectory("a", steps), trajectory("b", steps), trajectory("c", steps)]);
    let (found, said) = with_results(&folder, recording(&folder, &given).args(["--workers", "2"]), 0);
    for (index, id) in ["a", "b", "c"].iter().enumerate() {
        let found = &found[index];
        assert_eq!(found["id"], *id);
        let result = |step: usize, call: usize| found["steps"][step]["calls"][call]["result"].clone();
        assert_eq!(
            [result(0, 0), result(1, 0), result(1, 1), result(2, 0)],
            ["1", "2", "1", "3"].map(Value::from)
        );
    }
    assert!(said.contains("calls        12: 12 recorded\n"), "{said}");
}

/// The results give the same outcomes without servers.
#[test]
fn what_is_recorded_is_judged_like_the_replay() {
    let folder = Folder::new();
    let names = ["echo", "failure", "empty", "structured", "error", "all_contents"];
    let calls = names.map(|tool| call(&format!("stub/{tool}"), json!({})));
    let given = json!([trajectory("a", &[&calls])]);
    with_results(&folder, &mut recording(&folder, &given), 0);
    let judged = |file: &Path, by: &str, what: &Path| {
        report(m3_bare(folder.path()).arg("outcomes").arg(file).arg(by).arg(what))
    };
    let replayed =
        judged(&folder.path().join("given.json"), "--servers", &folder.path().join("servers.json"));
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let tools = folder.json("tools.json", &json!({"stub": {"tools": names.map(tool)}}));
    let again = judged(&recorded(&folder), "--tools", &tools);
    assert_eq!(again["answers"], "recorded");
    assert_eq!(again["trajectories"], replayed["trajectories"]);
}

/// What an earlier run has recorded of its calls is replaced, and all other keys stay.
#[test]
fn each_call_says_how_it_ended() {
    let folder = Folder::new();
    let mut old = call("stub/echo", json!({"a": 1}));
    for (key, value) in [
        ("result", json!("old")),
        ("is_error", json!(true)),
        ("outcome", json!("timed_out")),
        ("milliseconds", json!(7)),
        ("note", json!("kept")),
    ] {
        old[key] = value;
    }
    let calls = [
        old,
        call("stub/failure", json!({})),
        call("stub/error", json!({})),
        call("stub/hang", json!({})),
        call("other/crash", json!({})),
        call("missing/tool", json!({})),
        call("nobody/tool", json!({})),
        json!({"name": "stub/echo", "arguments": 7}),
    ];
    let mut given = trajectory("a", &[&calls]);
    given["level"] = json!(3);
    let (found, said) = with_results(&folder, &mut recording(&folder, &json!([given])), 3);
    assert_eq!((&found[0]["level"], &found[0]["id"]), (&json!(3), &json!("a")));
    let calls = found[0]["steps"][0]["calls"].as_array().unwrap();
    assert_eq!(
        calls[0],
        json!({"name": "stub/echo", "arguments": {"a": 1}, "result": "{\"a\":1}", "note": "kept",
            "outcome": "success"})
    );
    let ended = |call: &Value| {
        let outcome = call["outcome"].as_str().unwrap().to_owned();
        (outcome, call.get("is_error").is_some(), call.get("result").is_some())
    };
    let expected = [
        ("success", false, true),
        ("resource_not_found", true, true),
        ("invalid_arguments", true, true),
        ("timed_out", false, false),
        ("server_lost", false, false),
        ("server_not_available", false, false),
        ("unknown_tool", true, false),
        ("illegal_format", true, false),
    ];
    let expected = expected.map(|(outcome, is_error, has_result)| (outcome.to_owned(), is_error, has_result));
    assert_eq!(calls.iter().map(ended).collect::<Vec<_>>(), expected);
    for words in [
        "calls        8: 3 recorded, 2 of them failed, 2 not made, 3 not answered\n",
        "`a` step 1: stub/failure: resource not found (no such file)",
        "2 more calls without success",
        "the server `missing` is not available",
        "3 of 8 calls got no answer",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
}

#[test]
fn nothing_but_missing_servers_is_exit_code_4() {
    let folder = Folder::new();
    let given = json!([trajectory("a", &[&[call("missing/tool", json!({}))]])]);
    with_results(&folder, &mut recording(&folder, &given), 4);
}

#[test]
fn pictures_are_files_beside_the_output_or_stay_inside() {
    let folder = Folder::new();
    let crop = call("image/crop", json!({"input_path": "plan.png", "x1": 0, "y1": 0, "x2": 9, "y2": 7}));
    // The same picture twice is one file.
    let turn = |path: &str| call("image/rotate", json!({"input_path": path, "angle": 90}));
    let steps: &[&[Value]] = &[
        std::slice::from_ref(&crop),
        std::slice::from_ref(&crop),
        &[turn("plan_cropped.png"), call("math/add", json!({"firstNumber": 1, "secondNumber": 2}))],
    ];
    let given = json!([of_image("a", "plan.png", steps)]);
    let (found, said) = with_results(&folder, with_images(&mut recording(&folder, &given)), 0);
    let calls = |found: &Value, step: usize| found[0]["steps"][step]["calls"][0].clone();
    let content = &calls(&found, 0)["result"]["content"];
    let part = &content[1];
    let file = part["file"].as_str().unwrap();
    assert!(file.starts_with("results/"), "{file}");
    assert_eq!(*part, json!({"type": "image", "file": file, "mimeType": "image/png"}));
    assert_eq!(calls(&found, 1)["result"]["content"][1]["file"], file);
    assert_eq!(found[0]["steps"][2]["calls"][1]["result"], "3");
    let bytes = std::fs::read(folder.path().join("out").join(file)).unwrap();
    let picture = image::load_from_memory(&bytes).unwrap();
    assert_eq!((picture.width(), picture.height()), (9, 7));
    assert!(said.contains("pictures     2 files, "), "{said}");
    // Another folder to begin from: the file is named relative to the output.
    let again = recording(&folder, &given).args(["--quiet"]).arg("--images").arg(root().join("images")).ok();
    again.unwrap();
    assert_eq!(json_of(recorded(&folder)), found);
    let (inside, said) =
        with_results(&folder, with_images(&mut recording(&folder, &given)).arg("--inline-pictures"), 0);
    let part = &calls(&inside, 0)["result"]["content"][1];
    assert_eq!(STANDARD.decode(part["data"].as_str().unwrap()).unwrap(), bytes);
    assert!(part.get("file").is_none() && !said.contains("pictures"), "{said}");
}

/// The stub's picture has data that nobody can read; its sound, its resource and its text have.
#[test]
fn nothing_of_a_result_is_lost() {
    let folder = Folder::new();
    let calls = [call("stub/invalid_base64", json!({})), call("stub/all_contents", json!({}))];
    let (found, said) =
        with_results(&folder, &mut recording(&folder, &json!([trajectory("a", &[&calls])])), 0);
    let result = |call: usize| &found[0]["steps"][0]["calls"][call]["result"];
    assert_eq!(result(0)["content"][0]["data"], "%%%");
    assert!(said.contains("1 file of results cannot be read"), "{said}");
    let parts = result(1)["content"].as_array().unwrap();
    let files = parts.iter().filter_map(|part| part.get("resource").unwrap_or(part)["file"].as_str());
    let files: Vec<&str> = files.collect();
    assert!(!files.is_empty());
    for file in files {
        assert!(folder.path().join("out").join(file).is_file(), "{file}");
    }
    let data = |part: &Value| part.get("data").or_else(|| part.get("resource")?.get("blob")).is_some();
    assert!(!parts.iter().any(data), "{parts:?}");
}

/// `m3 run` has put the picture there under this name: the tool shows pictures and writes none.
#[test]
fn a_picture_that_only_a_result_has_is_found_under_its_recorded_name() {
    let folder = Folder::new();
    let name = "result-00001-0.png";
    let shows = |recorded: Option<Value>| {
        let mut shows = call("stub/large", json!({"image": true, "bytes": 9}));
        shows["result"] = json!({"content": recorded.into_iter().collect::<Value>()});
        shows
    };
    let look = call("image/get_metainfo", json!({"input_path": name}));
    let part = |file: &str| json!({"type": "image", "file": file, "mimeType": "image/png"});
    let mut named = part("results/00001-0.png");
    named["name"] = json!(name);
    let given: Vec<Value> = [
        ("named", Some(named)),
        // As earlier versions have recorded it.
        ("bare", Some(part(name))),
        ("unknown", None),
    ]
    .into_iter()
    .map(|(id, part)| trajectory(id, &[&[shows(part)], std::slice::from_ref(&look)]))
    .collect();
    let (found, _) = with_results(&folder, &mut recording(&folder, &json!(given)), 0);
    let looked = |index: usize| found[index]["steps"][1]["calls"][0]["result"].to_string();
    // The stub's picture is none, so it is found and cannot be read.
    assert!(looked(0).contains("not an image") && looked(1).contains("not an image"), "{}", looked(0));
    assert!(looked(2).contains("no file"), "{}", looked(2));
    // So that the recording can be replayed in its turn.
    let part = |index: usize| found[index]["steps"][0]["calls"][0]["result"]["content"][0].clone();
    assert_eq!((&part(0)["name"], &part(1)["name"]), (&json!(name), &json!(name)));
    assert!(part(0)["file"].as_str().unwrap().starts_with("results/"));
}

#[test]
fn an_image_that_is_missing_is_told_and_standard_output_has_no_place_for_files() {
    let folder = Folder::new();
    let mut given =
        trajectory("a", &[&[call("image/get_metainfo", json!({"input_path": "images/eel.png"}))]]);
    given["image"] = json!("images/eel.png");
    let (found, said) = with_results(&folder, &mut recording(&folder, &json!([given])), 4);
    assert_eq!(found[0]["steps"][0]["calls"][0]["outcome"], "image_missing");
    assert!(said.contains("the images of 1 trajectory were not found"), "{said}");
    let given =
        folder.json("given.json", &json!([trajectory("a", &[&[call("stub/echo", json!({"a": 1}))]])]));
    let piped = || {
        let mut m3 = m3_bare(folder.path());
        m3.arg("record").arg(&given).arg("--servers").arg(servers(&folder)).args(["-o", "-"]);
        m3
    };
    let (code, message) = failure(&mut piped());
    assert!(code == 2 && message.contains("--inline-pictures"), "{message}");
    let found: Value = serde_json::from_str(&stdout(piped().arg("--inline-pictures"))).unwrap();
    assert_eq!(found[0]["steps"][0]["calls"][0]["result"], "{\"a\":1}");
}
