//! Tests of the settings in a configuration, and of the messages about wrong ones.

use std::path::{Path, PathBuf};

use m3_mcp::config::{HostConfig, Transport};

use super::*;
use crate::distractors::DistractorKind;

fn parsed(simulated: Value) -> Result<SimulatedOptions, String> {
    reading::options(&object(simulated), Path::new("folder"), "config.json")
        .map_err(|error| error.to_string())
}

#[test]
fn a_configuration_says_it_all() {
    let options = parsed(json!({
        "catalog": "tools.json", "trajectories": ["a.json", "/b.json"], "strict": true, "seed": 5,
        "faults": {"delay": [0.1, 0.5], "failure_rate": 0.2, "crash_rate": 0, "hang_rate": 0.1},
        "only": "00050000", "distractors": {"count": 4, "kind": "random"},
    }))
    .unwrap();
    let faults =
        Faults { delay: Delay::Between(0.1, 0.5), failure_rate: 0.2, crash_rate: 0.0, hang_rate: 0.1 };
    let expected = SimulatedOptions {
        catalog: PathBuf::from("folder/tools.json"),
        trajectories: vec![PathBuf::from("folder/a.json"), PathBuf::from("/b.json")],
        behaviour: Behaviour { seed: 5, is_strict: true, faults },
        only: vec!["00050000".to_owned()],
        distractors: Some(DistractorOptions { count: 4, kind: DistractorKind::Random }),
    };
    assert_eq!(options, expected);
    assert!(!options.needs_encoder());
    let short =
        parsed(json!({"catalog": "t", "trajectories": "a", "faults": {"delay": 2}, "distractors": 3}))
            .unwrap();
    assert_eq!(short.behaviour.faults.delay, Delay::Mean(2.0));
    assert!(short.needs_encoder());
    assert_eq!(parsed(json!({"catalog": "t"})).unwrap().behaviour, Behaviour::default());
}

#[test]
fn what_is_wrong_is_named() {
    for (simulated, said) in [
        (json!({}), "`config.json`: key `simulated.catalog`: it is missing"),
        (
            json!({"catalog": 5}),
            "key `simulated.catalog`: it should be the path of a catalog of tools, and is `5`",
        ),
        (
            json!({"catalog": "t", "trajectory": []}),
            "key `simulated.trajectory`: there is no such option; the nearest are `trajectories`",
        ),
        (
            json!({"catalog": "t", "trajectories": [1]}),
            "`simulated.trajectories`: it should be a text or a list of texts",
        ),
        (
            json!({"catalog": "t", "strict": "yes"}),
            "`simulated.strict`: it should be `true` or `false`, and is `\"yes\"`",
        ),
        (json!({"catalog": "t", "seed": -1}), "`simulated.seed`: it should be a whole number"),
        (
            json!({"catalog": "t", "faults": {"crash": 1}}),
            "`simulated.faults.crash`: there is no such option",
        ),
        (
            json!({"catalog": "t", "faults": {"crash_rate": 2}}),
            "`simulated.faults.crash_rate`: it should be a number from 0 to 1",
        ),
        (json!({"catalog": "t", "faults": {"crash_rate": 0.7, "hang_rate": 0.7}}), "add up to 1.4"),
        (
            json!({"catalog": "t", "faults": {"delay": [1]}}),
            "`simulated.faults.delay`: it should be the mean in seconds",
        ),
        (json!({"catalog": "t", "faults": {"delay": [2, 1]}}), "a range with its smaller end first"),
        (
            json!({"catalog": "t", "distractors": -1}),
            "`simulated.distractors`: it should be a number of tools",
        ),
        (
            json!({"catalog": "t", "distractors": {"count": 1, "kind": "far"}}),
            "it should be `near` or `random`, and is `\"far\"`",
        ),
    ] {
        let message = parsed(simulated.clone()).unwrap_err();
        assert!(message.contains(said), "{simulated}: {message}");
    }
}

#[test]
fn everything_that_is_wrong_is_told_together() {
    let message =
        parsed(json!({"catalog": 1, "sed": 2, "faults": {"crash_rate": 3}, "only": 4})).unwrap_err();
    let lines: Vec<&str> = message.lines().collect();
    let keys = ["sed", "catalog", "faults.crash_rate", "only"].map(|key| format!("key `simulated.{key}`: "));
    assert_eq!(lines.len(), keys.len() + 1, "{message}");
    for (line, key) in lines.iter().zip(&keys) {
        assert!(line.starts_with("`config.json`: ") && line.contains(key), "{message}");
    }
}

#[test]
fn a_name_that_no_server_may_have_is_refused() {
    for name in ["", "a/b", "..", "a\u{7}"] {
        let folder = tempfile::tempdir().unwrap();
        let catalog = json!({ name: {"tools": [{"name": "x", "inputSchema": {"type": "object"}}]} });
        std::fs::write(folder.path().join("tools.json"), catalog.to_string()).unwrap();
        let simulated = object(json!({"catalog": "tools.json"}));
        let options = reading::options(&simulated, folder.path(), "config.json").unwrap();
        let message = options.open(None).unwrap_err().to_string();
        assert!(message.contains("cannot be simulated: its name"), "{name:?}: {message}");
    }
}

/// A folder with a catalog of two servers and a file of trajectories.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let catalog = json!({"a": {"tools": [tool("x"), tool("y")]}, "b": {"tools": [tool("x"), tool("z")]}});
    std::fs::write(folder.path().join("tools.json"), catalog.to_string()).unwrap();
    let call = |name: &str| json!({"name": name, "arguments": {}, "result": "kept"});
    let trajectories = json!([
        {"id": "one", "steps": [{"calls": [call("a/x"), call("b/z"), call("b/none")]}]},
        {"id": "two", "steps": [{"calls": [call("c/x")]}]},
    ]);
    std::fs::write(folder.path().join("references.json"), trajectories.to_string()).unwrap();
    folder
}

#[expect(clippy::needless_pass_by_value, reason = "options are written where the call is")]
fn offered(only: Value, distractors: Value) -> Result<Vec<String>, String> {
    let folder = folder();
    let simulated = json!({"catalog": "tools.json", "trajectories": "references.json", "only": only,
        "distractors": distractors});
    let options = reading::options(&object(simulated), folder.path(), "config.json").unwrap();
    let simulation = options.open(None).map_err(|error| error.to_string())?;
    let tools = |server: &Arc<SimulatedServer>| {
        let server = server.clone();
        let names: Vec<String> =
            server.tools().iter().map(|tool| format!("{}/{}", server.name(), tool.name)).collect();
        names
    };
    let mut names: Vec<String> = simulation.servers.iter().flat_map(tools).collect();
    names.sort();
    Ok(names)
}

#[test]
fn only_names_tools_servers_and_trajectories() {
    let none = json!({"count": 0});
    let only = |only| offered(only, none.clone());
    assert_eq!(only(json!([])).unwrap(), ["a/x", "a/y", "b/x", "b/z"]);
    assert_eq!(only(json!("a/y")).unwrap(), ["a/y"]);
    assert_eq!(only(json!("b")).unwrap(), ["b/x", "b/z"]);
    assert_eq!(only(json!(["one", "a/y"])).unwrap(), ["a/x", "a/y", "b/z"]);
    assert!(only(json!("a/yy")).unwrap_err().contains("the nearest are `a/y`"));
    assert!(only(json!("two")).unwrap_err().contains("calls no tool of the catalog"));
    let random = |count| json!({"count": count, "kind": "random"});
    assert_eq!(offered(json!("a/x"), random(2)).unwrap(), ["a/x", "b/x", "b/z"]);
    assert!(offered(json!("a/x"), random(3)).unwrap_err().contains("2 other tools may be offered"));
    assert!(offered(json!([]), random(1)).unwrap_err().contains("`distractors` needs `only`"));
}

#[test]
fn simulated_servers_stand_beside_configured_ones() {
    let folder = folder();
    let simulated = object(json!({"catalog": "tools.json", "trajectories": "references.json"}));
    let mut config =
        HostConfig { simulated: Some(simulated), folder: folder.path().to_owned(), ..HostConfig::default() };
    let options = SimulatedOptions::from_config(&config).unwrap().unwrap();
    let simulation = options.add_to(&mut config, None).unwrap();
    assert_eq!(simulation.recordings.recorded, 2);
    let names: Vec<&str> = config.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(config.servers.iter().all(|server| server.is_stateless));
    let Transport::InProcess(server) = &config.servers[1].transport else { panic!("in process") };
    assert_eq!(result(&*server.0, "z", json!({})).all_text(), "kept");
    // Adding the servers again fails, because the names are taken.
    let message = options.add_to(&mut config, None).unwrap_err().to_string();
    assert!(message.starts_with("server `a` is configured and also simulated"), "{message}");
    assert_eq!(config.servers.len(), 2);
    assert_eq!(SimulatedOptions::from_config(&HostConfig::default()).unwrap(), None);
}
