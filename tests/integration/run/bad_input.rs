//! All problems are reported together, before the first request.

use std::path::Path;
use std::time::Duration;

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use serde_json::{Value, json};

use super::{arguments, command, model, output_of};
use crate::support::{Folder, failure, m3_bare, run};

/// The messages about tasks, and the exit code; asserts that the model was not asked.
fn refused(folder: &Folder, model: &ScriptedModel, tasks: &Value) -> (i32, String) {
    let path = folder.json("tasks.json", tasks);
    let mut arguments = arguments(model, &output_of(folder));
    path.to_str().unwrap().clone_into(&mut arguments[1]);
    let refused = failure(m3_bare(folder.path()).args(arguments));
    assert_eq!(model.requests().len(), 0);
    assert!(!output_of(folder).join("predictions.json").exists());
    refused
}

#[test]
fn all_that_is_wrong_with_images_is_said_at_once() {
    let (folder, model) = (Folder::new(), model());
    folder.write("text.png", "no image");
    folder.write("empty.png", "");
    image::RgbImage::new(8, 8).save(folder.path().join("good.png")).unwrap();
    // More than the 120 megapixels that can be decoded, by its header alone: the rest is not read, or it would be
    // found cut off.
    let mut head = std::fs::read(folder.path().join("good.png")).unwrap();
    let size = [13_000_u32.to_be_bytes(), 10_000_u32.to_be_bytes()].concat();
    head.splice(16..24, size);
    let checksum = crc32fast::hash(&head[12..29]).to_be_bytes();
    head.splice(29..33, checksum);
    folder.write("huge.png", head);
    let task = |id: &str, image: &str| json!({"id": id, "image": image, "question": "what?"});
    let names = ["good.png", "none.png", "text.png", "empty.png", "huge.png", "../../etc/passwd"];
    let tasks: Vec<Value> = names.iter().map(|name| task(name, name)).collect();
    let (code, said) = refused(&folder, &model, &json!(tasks));
    assert_eq!(code, 2);
    assert!(!said.contains("task `good.png`"), "{said}");
    for name in &names[1..] {
        assert!(said.contains(&format!("task `{name}`: ")), "{name}: {said}");
    }
    assert!(said.contains("is too large: 13000 x 10000 pixels, more than 120 million"), "{said}");
}

#[test]
fn tasks_that_cannot_be_told_apart_or_are_none_are_refused() {
    let (folder, model) = (Folder::new(), model());
    let twice =
        json!([{"id": "a", "question": "b"}, {"id": "c", "question": "b"}, {"id": "a", "question": "b"}]);
    let (code, said) = refused(&folder, &model, &twice);
    assert!(code == 2 && said.contains("the id `a` stands more than once"), "{said}");
    let trajectories = json!([{"id": "a", "question": "b", "steps": []}]);
    let (code, said) = refused(&folder, &model, &trajectories);
    assert!(code == 2 && said.contains("has trajectories, not tasks"), "{said}");
    let (code, said) = refused(&folder, &model, &json!([{"id": "a"}]));
    assert_eq!(code, 2, "{said}");
    let (code, _) = refused(&folder, &model, &json!([]));
    assert_eq!(code, 2);
}

/// Native tool calling allows fewer characters in names than servers do.
#[test]
fn tools_that_look_the_same_to_a_model_are_refused_before_anybody_is_asked() {
    let (folder, model) = (Folder::new(), model());
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let catalog = json!({"h": {"tools": [tool("a b"), tool("a_b")]}});
    let catalog = folder.json("catalog.json", &catalog);
    let servers = folder.json("servers.json", &json!({"simulated": {"catalog": catalog}}));
    let mut arguments = arguments(&model, &output_of(&folder));
    servers.to_str().unwrap().clone_into(&mut arguments[5]);
    let (code, said) = failure(m3_bare(folder.path()).args(arguments));
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("the tools `h/a b` and `h/a_b` are both `h__a_b` to a model"), "{said}");
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn what_the_command_line_names_has_to_be_there() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    let refused = |arguments: &[&str]| failure(command(&model, &output).args(arguments));
    for (arguments, code, expected) in [
        (&["--id", "00010009"][..], 2, "there is no task `00010009`\nhint: did you mean"),
        (&["--type", "none"], 2, "no task is selected\nhint: the types are `arithmetic`, `barcode`"),
        (&["--server", "imag"], 2, "no server `imag`\nhint: did you mean `image`"),
        (&["--images", "nowhere"], 2, "`nowhere` is no folder"),
        (&["--prices", "trajectories/tasks.json"], 2, "is no table of prices"),
        (&["--llm-extra", "[1]"], 2, "it should be a JSON object"),
        (&["--temperature", "hot"], 2, "it should be a number"),
        (&["--llm-key-from", "M3_TEST_UNSET"], 4, "the variable `M3_TEST_UNSET` is not set"),
        (&["--record", "/nonexistent/run.cassette"], 2, "/nonexistent/run.cassette"),
    ] {
        let (found, said) = refused(arguments);
        assert_eq!(found, code, "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    let named = |llm: &str, output: &str, rest: &[&str]| {
        let mut command = m3_bare(folder.path());
        command.env_remove("OPENAI_API_KEY").env_remove("M3_LLM_KEY");
        failure(command.args(["run", "trajectories/tasks.json", "--llm", llm, "-o", output]).args(rest))
    };
    let servers = ["--servers", "servers/local.json"];
    let here = output.to_str().unwrap();
    for (llm, output, rest, code, expected) in [
        ("openai:gpt-5", here, &servers[..], 4, "there is no key for `openai:gpt-5`"),
        ("gpt-5", here, &servers, 2, "`gpt-5` names no model"),
        ("openai@http://127.0.0.1:9/v1:m", here, &[], 2, "no servers"),
        (
            "openai@http://127.0.0.1:9/v1:m",
            here,
            &["--servers", "trajectories/tools.json"],
            2,
            "is a catalog",
        ),
        ("openai@http://127.0.0.1:9/v1:m", "/proc/none", &servers, 2, "`/proc/none`"),
        ("replay:none.cassette", here, &[], 2, "none.cassette"),
        ("replay:Cargo.toml", here, &[], 2, "Cargo.toml"),
    ] {
        let (found, said) = named(llm, output, rest);
        assert_eq!(found, code, "{llm}: {said}");
        assert!(said.contains(expected), "{llm}: {said}");
    }
    assert_eq!(model.requests().len(), 0);
}

/// OpenAI refuses a request with more than 128 tools, which every task would otherwise find out for itself.
#[test]
fn more_tools_than_the_provider_takes_are_refused_before_it_is_asked() {
    let folder = Folder::new();
    let stub = json!({"command": crate::host::support::stub(), "args": ["many"]});
    let config = folder.json("servers.json", &json!({"mcpServers": {"stub": stub}}));
    let (config, output) = (config.to_str().unwrap(), output_of(&folder));
    let mut command = m3_bare(folder.path());
    // If a request were sent all the same, it would go nowhere.
    command.env("M3_LLM_KEY", "sk-test-0123456789").env("HTTPS_PROXY", "http://127.0.0.1:1");
    command.args(["run", "trajectories/tasks.json", "--llm", "openai:gpt-5", "--servers", config]);
    command.args(["--mode", "native", "-o", output.to_str().unwrap()]).timeout(Duration::from_mins(1));
    let (code, said) = failure(&mut command);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("takes at most 128 tools, and 129 are offered\nhint: `--top-tools 128`"), "{said}");
}

/// All tasks should be offered the same tools, so a server that cannot be started stops the run before it begins.
#[test]
fn a_server_that_cannot_be_started_is_named() {
    let (folder, model) = (Folder::new(), model());
    let servers = json!({"mcpServers": {
        "math": {"command": "m3", "args": ["serve", "math"]}, "gone": {"command": "m3-no-such-program"}
    }});
    let config = folder.json("servers.json", &servers);
    let mut arguments = arguments(&model, &output_of(&folder));
    config.to_str().unwrap().clone_into(&mut arguments[5]);
    let (code, said) = failure(m3_bare(folder.path()).args(&arguments));
    assert_eq!(code, 4);
    assert!(said.contains("gone failed: the command `m3-no-such-program` was not found"), "{said}");
    assert_eq!(model.requests().len(), 0);
    let done =
        m3_bare(folder.path()).args(&arguments).args(["--server", "math", "--id", "00010000"]).output();
    assert_eq!(done.unwrap().status.code(), Some(0));
}

/// `ulimit -f` acts as a full disk, as in `full_disk.rs`.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_the_run_and_leaves_nothing_half_written() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    // 512 bytes each: journal and predictions of one task fit, those of all do not.
    let script = "ulimit -f 24; exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script]).arg(assert_cmd::cargo::cargo_bin("m3")).args(arguments(&model, &output));
    command.args(["--workers", "1"]).current_dir(crate::support::root());
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(4), "{said}");
    assert!(said.contains("File too large") && said.contains("hint: make space"), "{said}");
    for folder in [output.clone(), output.join("predictions")] {
        for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if file.extension().is_some_and(|ending| ending == "json") {
                assert!(
                    serde_json::from_slice::<Value>(&std::fs::read(&file).unwrap()).is_ok(),
                    "{}",
                    file.display()
                );
            }
            assert!(!is_temporary(&file), "{}", file.display());
        }
    }
    // With enough space, the run continues.
    assert_eq!(super::command(&model, &output).output().unwrap().status.code(), Some(0));
    assert_eq!(super::predictions(&output).len(), 15);
}

fn is_temporary(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "tmp")
}

#[test]
fn a_folder_of_somebody_else_is_left_as_it_is() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    std::fs::create_dir_all(output.join("workspaces/00010000")).unwrap();
    std::fs::write(output.join("workspaces/00010000/thesis.txt"), "mine").unwrap();
    std::fs::write(output.join("predictions.json"), "mine").unwrap();
    let (code, said) = failure(&mut command(&model, &output));
    assert_eq!(code, 2);
    assert!(said.contains("is no folder of a run"), "{said}");
    assert_eq!(std::fs::read(output.join("predictions.json")).unwrap(), b"mine");
    assert_eq!(std::fs::read(output.join("workspaces/00010000/thesis.txt")).unwrap(), b"mine");
}

#[test]
fn an_image_that_is_no_path_is_named_and_not_left_out() {
    let (folder, model) = (Folder::new(), model());
    let tasks = json!([{"id": "a", "image": ["images/dice.png"], "question": "?"}]);
    let (code, said) = refused(&folder, &model, &tasks);
    assert_eq!(code, 2);
    assert!(said.contains("`image` should be a path, and is"), "{said}");
}

#[test]
fn keys_that_m3_sets_itself_are_no_further_keys() {
    let (folder, model) = (Folder::new(), model());
    for extra in [r#"{"model": "other"}"#, r#"{"stream": true}"#] {
        let mut command = command(&model, &output_of(&folder));
        let (code, said) = failure(command.args(["--llm-extra", extra]));
        assert_eq!(code, 2);
        assert!(said.contains("itself"), "{said}");
    }
}

/// A model that fails during the whole time of a task has used up no budget: the task can be run again.
#[test]
fn a_model_that_only_fails_is_no_budget_that_is_used_up() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Raw {
        status: 500,
        headers: Vec::new(),
        body: "{}".to_owned(),
    });
    let output = output_of(&folder);
    let mut command = command(&model, &output);
    let ended = run(command.args(["--id", "00030000", "--task-time", "1"]));
    assert_ne!(ended.status.code(), Some(0));
    if let Ok(written) = std::fs::read_to_string(output.join("predictions.json")) {
        assert!(!written.contains("\"budget\""), "{written}");
    }
}
