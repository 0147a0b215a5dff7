//! `m3 tools` and `m3 call`, run against the stub server and against our own servers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use m3_mcp::results::{Keeps, ResultStore};
use m3_mcp::{ToolName, ToolResult};
use m3_support::redact::Redactor;
use serde_json::{Value, json};

use crate::host::support::{marker, processes, stub, wait_until_gone};
use crate::support::{
    Folder, failure, follows_kept_schema, json_of, m3, m3_bare, root, run, shared, stdout, text, wait_for,
};

fn stub_server(scenario: &str) -> Value {
    json!({"command": stub(), "args": [scenario, "--marker", "m3-cli"]})
}

/// A configuration of servers in a folder.
fn config(folder: &Folder, servers: &Value) -> PathBuf {
    folder.json("servers.json", &json!({ "mcpServers": servers }))
}

fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = m3_bare(folder.path());
    command.args(arguments).timeout(Duration::from_mins(1));
    command
}

fn call(folder: &Folder, config: &Path, arguments: &[&str]) -> Command {
    let mut command = command(folder, &["call"]);
    command.arg(config).args(arguments);
    command
}

fn tools(folder: &Folder, config: &Path, arguments: &[&str]) -> Command {
    let mut command = command(folder, &["tools"]);
    command.arg(config).args(arguments);
    command
}

#[test]
fn servers_that_fail_are_reported_and_the_others_are_listed() {
    let folder = Folder::new();
    let config = config(
        &folder,
        &json!({
            "good": stub_server("default"), "noisy": stub_server("noise"), "hostile": stub_server("hostile_tools"),
            "dead": stub_server("exits"), "keyless": {"command": "x", "env": {"A_KEY": "${M3_TEST_UNSET}"}},
            "absent": {"command": "m3-no-such-program"}, "off": {"command": "x", "disabled": true}
        }),
    );
    let output = run(&mut tools(&folder, &config, &[]));
    assert_eq!(output.status.code(), Some(3));
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert!(shown.starts_with("7 servers, 3 ready\n"), "{shown}");
    for expected in [
        "dead: it ended before it was ready: exit code 3",
        "keyless: key `env.A_KEY`: the variable `M3_TEST_UNSET` is not set",
        "absent: the command `m3-no-such-program` was not found",
        "\n  echo ",
    ] {
        assert!(shown.contains(expected), "{expected} in {shown}");
    }
    assert!(said.contains("note: good is ready after") && said.contains("warning: dead failed"), "{said}");
    // Descriptions and names of hostile servers stay within their lines.
    assert!(shown.lines().all(|line| line.chars().count() <= 110 && !line.contains('\u{1b}')), "{shown}");

    let health = run(&mut tools(&folder, &config, &["--health", "--format", "json", "-q"]));
    let health: Value = serde_json::from_slice(&health.stdout).unwrap();
    follows_kept_schema("health", &health);
    let servers = health["servers"].as_array().unwrap();
    let in_state = |state: &str| -> Vec<&str> {
        let found = servers.iter().filter(|server| server["state"] == state);
        found.map(|server| server["server"].as_str().unwrap()).collect()
    };
    assert_eq!(in_state("ready"), ["good", "hostile", "noisy"]);
    assert_eq!(in_state("failed"), ["absent", "dead", "keyless"]);
    assert_eq!(in_state("disabled"), ["off"]);
}

#[test]
fn what_is_listed_can_be_read_again_without_servers() {
    let folder = Folder::new();
    let (z, a) = (stub_server("default"), stub_server("pages"));
    let config = folder.write("servers.json", format!("{{\"mcpServers\": {{\"z\": {z}, \"a\": {a}}}}}"));
    let catalog = folder.path().join("tools.json");
    stdout(tools(&folder, &config, &["--format", "json", "--out"]).arg(&catalog));
    let written = std::fs::read_to_string(&catalog).unwrap();
    // In the order of the configuration.
    assert!(written.find("\"z\"").unwrap() < written.find("\"a\"").unwrap());
    let again = stdout(&mut tools(&folder, &catalog, &["--format", "json"]));
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(parse(&again), parse(&written));
    let one = parse(&stdout(&mut tools(&folder, &catalog, &["--format", "json", "--server", "a"])));
    assert_eq!(one.as_object().unwrap().keys().collect::<Vec<_>>(), ["a"]);
    let (code, said) = failure(&mut tools(&folder, &catalog, &["--health"]));
    assert!(code == 2 && said.contains("a catalog does not tell"), "{said}");
    let (code, said) = failure(&mut call(&folder, &catalog, &["a/echo"]));
    assert!(code == 2 && said.contains("a catalog has no servers to call"), "{said}");
}

#[test]
fn without_any_server_the_exit_code_is_4() {
    let folder = Folder::new();
    let servers = config(&folder, &json!({"absent": {"command": "m3-no-such-program"}}));
    assert_eq!(run(&mut tools(&folder, &servers, &[])).status.code(), Some(4));
    let (code, said) = failure(&mut call(&folder, &servers, &["absent/tool", "-q"]));
    assert!(code == 4 && said.contains("`absent/tool` cannot be called: the command"), "{said}");
    let (code, said) = failure(&mut tools(&folder, &servers, &["--server", "absnt"]));
    assert!(code == 2 && said.contains("hint: did you mean `absent`?"), "{said}");
    let broken = folder.write("broken.json", "{\n  \"mcpServers\": {\n    \"a\": {\"command\": 5}\n  }\n}");
    let (code, said) = failure(&mut tools(&folder, &broken, &[]));
    assert!(code == 2 && said.contains("hint: docs/mcp.md"), "{said}");
    let (code, said) = failure(&mut tools(&folder, &folder.write("syntax.json", "{\n  nope"), &[]));
    assert!(code == 2 && said.contains("syntax.json:2:3` is not JSON"), "{said}");
}

#[test]
fn a_server_that_never_answers_fails_in_time() {
    let folder = Folder::new();
    let config = config(&folder, &json!({"hangs": stub_server("hangs"), "good": stub_server("default")}));
    let output = run(&mut tools(&folder, &config, &["--timeout", "4", "--health"]));
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).contains("hangs: it was not ready within 4s"), "{}", text(&output.stdout));
}

#[test]
fn a_call_shows_what_the_tool_answers() {
    let folder = Folder::new();
    let config = config(&folder, &json!({"stub": stub_server("default")}));
    let shown = |arguments: &[&str]| stdout(&mut call(&folder, &config, arguments));
    assert_eq!(shown(&["stub/echo", r#"{"a": [1, "é"]}"#]), "{\"a\":[1,\"é\"]}\n");
    assert_eq!(shown(&["stub/echo"]), "{}\n");
    assert_eq!(shown(&["stub/empty"]), "[the result is empty]\n");
    assert_eq!(shown(&["stub/escapes"]), "\\u{1b}]0;title\\u{7}\\u{1b}[2Jred\n");
    let file = folder.json("arguments.json", &json!({"from": "file"}));
    assert_eq!(shown(&["stub/echo", &format!("@{}", file.display())]), "{\"from\":\"file\"}\n");
    let mut from_input = call(&folder, &config, &["stub/echo", "-"]);
    assert_eq!(stdout(from_input.write_stdin("{\"from\": \"input\"}")), "{\"from\":\"input\"}\n");
    let wire: Value = serde_json::from_str(&shown(&["stub/structured", "--format", "json"])).unwrap();
    assert_eq!(wire, json!({"content": [], "structuredContent": {"sum": 3}, "_meta": {"took": 1}}));
}

#[test]
fn a_call_without_a_good_result_says_why() {
    let folder = Folder::new();
    let config =
        config(&folder, &json!({"stub": stub_server("default"), "off": {"command": "x", "disabled": true}}));
    for (arguments, code, message) in [
        (["stub/ehco", "{}"].as_slice(), 2, "hint: did you mean `stub/echo`"),
        (&["sutb/echo", "{}"], 2, "hint: did you mean `stub`"),
        (&["echo", "{}"], 2, "write server/tool"),
        (&["off/echo", "{}"], 2, "disables the server `off`"),
        (&["stub/echo", "{a: 1}"], 2, "the arguments are not JSON"),
        (&["stub/echo", "[1]"], 2, "the arguments are an array"),
        (&["stub/echo", "{\"a\": NaN}"], 2, "which JSON does not have"),
        (&["stub/echo", "@/nonexistent"], 2, "failed to read `/nonexistent`"),
        (&["stub/failure", "{}"], 3, "the tool reports a failure"),
        (&["stub/error", "{}"], 3, "answers with error -32042: not today"),
        (&["stub/crash", "{}"], 3, "died during the call"),
        (&["stub/hang", "{}", "--timeout", "1"], 3, "hint: --timeout waits longer"),
    ] {
        let (found, said) = failure(&mut call(&folder, &config, arguments));
        assert!(found == code && said.contains(message), "{arguments:?}: {found} {said}");
    }
}

#[test]
fn files_of_a_result_are_saved_and_named() {
    let folder = Folder::new();
    let config = config(&folder, &json!({"stub": stub_server("default")}));
    let workspace = folder.path().join("work/space");
    let mut kept = call(&folder, &config, &["stub/all_contents", "--workspace"]);
    let shown = stdout(kept.arg(&workspace));
    let names: Vec<PathBuf> =
        std::fs::read_dir(&workspace).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    for name in &names {
        assert!(
            shown.contains(&format!("saved as {}", std::fs::canonicalize(name).unwrap().display())),
            "{name:?} in {shown}"
        );
    }
    let output = run(&mut call(&folder, &config, &["stub/invalid_base64"]));
    assert!(text(&output.stderr).contains("is not base64"), "{}", text(&output.stderr));
    assert_eq!(
        stdout(call(&folder, &config, &["stub/cwd", "--workspace"]).arg(&workspace)).trim(),
        std::fs::canonicalize(&workspace).unwrap().display().to_string()
    );
}

#[test]
fn secrets_are_shown_nowhere() {
    let folder = Folder::new();
    let mut server = stub_server("default");
    server["env"] = json!({"SERVICE_KEY": "${M3_TEST_KEY}"});
    let config = config(&folder, &json!({"stub": server}));
    for format in ["text", "json"] {
        let mut command =
            call(&folder, &config, &["stub/env", r#"{"name": "SERVICE_KEY"}"#, "--format", format]);
        let shown = stdout(command.env("M3_TEST_KEY", "top-secret-key"));
        assert!(shown.contains("***") && !shown.contains("top-secret-key"), "{shown}");
    }
}

/// 5 is 2 + 3.
#[test]
fn our_own_servers_are_listed_and_called() {
    let folder = Folder::new();
    let local = root().join("servers/local.json");
    let listed = stdout(&mut tools(&folder, &local, &[]));
    assert!(listed.starts_with("3 servers, 3 ready\n") && listed.contains("math (22 tools)"), "{listed}");
    let sum =
        call(&folder, &local, &["math/add", r#"{"firstNumber": 2, "secondNumber": 3}"#]).output().unwrap();
    assert_eq!(text(&sum.stdout).trim(), "5");
    let wrong = ["math/add", r#"{"firstNumber": "two"}"#, "--check"];
    let (code, said) = failure(&mut call(&folder, &local, &wrong));
    assert!(
        code == 2
            && said.contains("\"secondNumber\" is a required property")
            && said.contains("at /firstNumber"),
        "{said}"
    );
    let (code, said) = failure(&mut call(&folder, &local, &wrong[..2]));
    assert!(code == 3 && said.contains("do not fit the schema"), "{said}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_call_leaves_nothing_running() {
    let folder = Folder::new();
    let marker = marker();
    let config =
        config(&folder, &json!({"stub": {"command": stub(), "args": ["default", "--marker", marker]}}));
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("m3"))
        .arg("call")
        .arg(&config)
        .args(["stub/hang", "{}"])
        .spawn()
        .unwrap();
    wait_for("the server has started", || !processes(&marker).is_empty());
    let interrupt =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // The server that was just starting is ended by its guard, after m3.
    wait_until_gone(&marker);
}

#[test]
fn a_sentence_finds_the_tool_that_does_it() {
    let Some(catalog) = shared("open-m3-bench/tools.json") else { return };
    let Some(mut command) = m3() else { return };
    let found = stdout(command.arg("tools").arg(&catalog).args([
        "--search",
        "crop an image",
        "--format",
        "json",
        "-q",
    ]));
    let found: Value = serde_json::from_str(&found).unwrap();
    follows_kept_schema("search", &found);
    assert_eq!(
        (&found["tools"][0]["tool"], &found["searched"]),
        (&json!("imagesorcery-mcp/crop"), &json!(232))
    );
    assert_eq!(found["tools"].as_array().unwrap().len(), 10);
    let Some(mut command) = m3() else { return };
    let lines = stdout(command.arg("tools").arg(&catalog).args([
        "--search",
        "is my chart red?",
        "--limit",
        "3",
        "-q",
    ]));
    assert_eq!(lines.lines().count(), 3);
}

#[test]
fn all_servers_of_the_benchmark_are_listed_from_a_simulation() {
    let Some(catalog) = shared("open-m3-bench/tools.json") else { return };
    let folder = Folder::new();
    let config = folder
        .json("config.json", &json!({"simulated": {"catalog": std::fs::canonicalize(&catalog).unwrap()}}));
    let listed: Value =
        serde_json::from_str(&stdout(&mut tools(&folder, &config, &["--format", "json", "-q"]))).unwrap();
    let theirs: Value = json_of(&catalog);
    assert_eq!(listed, theirs);
}

#[test]
fn the_file_that_keeps_a_result_follows_its_schema() {
    let folder = Folder::new();
    let store =
        ResultStore::open(folder.path().join("r"), folder.path().join("w"), Redactor::default(), Keeps::All)
            .unwrap();
    let tool = ToolName::parse("a/b").unwrap();
    let kept = store.keep(&tool, &json!({}), &ToolResult::text("x")).unwrap();
    follows_kept_schema("result", &json_of(kept.path.unwrap()));
}
