//! `m3 serve simulated`, as its users see it.

use serde_json::{Value, json};

use crate::support::{Folder, failure, m3_bare, run, stdout, text};

fn serve(folder: &Folder, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = m3_bare(folder.path());
    command.args(["serve", "simulated", "--catalog", "trajectories/tools.json"]).args(arguments);
    command
}

/// A session over standard input and output that shakes hands and calls a tool.
fn session(tool: &str, arguments: &Value) -> String {
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}),
    ];
    lines.map(|line| line.to_string()).join("\n") + "\n"
}

#[test]
fn one_server_answers_over_standard_input_and_output() {
    let folder = Folder::new();
    let call = session("scan", &json!({"path": "shelf.png"}));
    let mut command = serve(&folder, &["--server", "barcode"]);
    let out = stdout(command.write_stdin(call));
    let answer: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let result = &answer["result"];
    // Whatever the tool's arguments are, the answer is made up or refused, and marked as such.
    assert_eq!(result["_meta"]["m3/simulated"], json!(true), "{out}");
}

#[test]
fn a_crash_ends_the_process_with_a_code_of_its_own() {
    let folder = Folder::new();
    let mut command = serve(&folder, &["--server", "math", "--crash-rate", "1", "--quiet"]);
    let call = session("add", &json!({"firstNumber": 1, "secondNumber": 2}));
    let output = run(command.write_stdin(call));
    assert_eq!(output.status.code(), Some(70));
    assert!(!text(&output.stdout).contains("\"id\":2"));
}

#[test]
fn several_servers_share_no_standard_input() {
    let folder = Folder::new();
    let (code, message) = failure(&mut serve(&folder, &[]));
    assert_eq!(code, 2);
    assert!(message.contains("3 servers cannot share standard input and output"), "{message}");
    assert!(message.contains("`image`, `barcode`, `math`"), "{message}");
    let (code, message) = failure(&mut serve(&folder, &["--server", "maths"]));
    assert!(code == 2 && message.contains("there is no server `maths` to simulate"), "{message}");
}

#[test]
fn what_is_wrong_with_the_options_is_said() {
    let folder = Folder::new();
    for (arguments, said) in [
        (&["--crash-rate", "2"][..], "`crash_rate` is 2, and should be between 0 and 1"),
        (&["--crash-rate", "0.7", "--hang-rate", "0.7"], "add up to 1.4"),
        (&["--delay", "soon"], "`soon` is no number of seconds"),
        (&["--delay", "3..1"], "a range with its smaller end first"),
        (&["--only", "math/ad"], "hint: the nearest are `math/"),
        (&["--distractors", "3"], "--only"),
        (
            &["--only", "math", "--distractors", "99", "--distractor-kind", "random"],
            "99 distractors are asked for",
        ),
        (&["--trajectories", "none.json"], "none.json"),
    ] {
        let (code, message) = failure(&mut serve(&folder, arguments));
        assert_eq!(code, 2, "{message}");
        assert!(message.contains(said), "{arguments:?}: {message}");
    }
}

#[test]
fn a_configuration_with_every_server_is_printed() {
    let folder = Folder::new();
    let options =
        ["--print-config", "--quiet", "--seed", "3", "--delay", "0.1..0.5", "--failure-rate", "0.25"];
    let config: Value = serde_json::from_str(&stdout(&mut serve(&folder, &options))).unwrap();
    let servers = config["mcpServers"].as_object().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["barcode", "image", "math"]);
    let arguments = servers["math"]["args"].as_array().unwrap();
    let arguments: Vec<&str> = arguments.iter().filter_map(Value::as_str).collect();
    assert!(std::path::Path::new(arguments[3]).is_absolute());
    let rest = ["--seed", "3", "--delay", "0.1..0.5", "--failure-rate", "0.25", "--server=math"];
    assert_eq!(arguments[4..], rest);
    // The printed configuration can be used.
    let mut command = m3_bare(folder.path());
    let out = stdout(command.args(&arguments).write_stdin(session("none", &json!({}))));
    assert!(out.lines().last().unwrap().contains("-32602"), "{out}");
}
