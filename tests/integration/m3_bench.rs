//! The way to M³-Bench's own servers: the script prepares what the configuration starts, and the document is true.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{Folder, json_of, root, shared, text};

fn configuration() -> Value {
    json_of(root().join("servers/m3-bench.json"))["servers"].clone()
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

fn script(arguments: &[&str]) -> Output {
    Command::new("bash").arg(root().join("servers/m3-bench.sh")).args(arguments).output().unwrap()
}

/// What a server is started from within the checkout's folder `servers`; `None` if it is a package of a registry.
fn in_checkout(server: &Value) -> Option<&str> {
    let mut args = server["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
    args.find_map(|arg| arg.strip_prefix("${OPEN_M3_BENCH}/servers/"))
}

#[test]
fn the_script_prepares_every_server_of_the_checkout() {
    let script = read("servers/m3-bench.sh");
    let servers = configuration();
    let mut prepared = 0;
    for (name, server) in servers.as_object().unwrap() {
        let Some(path) = in_checkout(server) else { continue };
        // Node's servers are listed as `FOLDER FILE`.
        let listed = match (server["command"].as_str().unwrap(), path.split_once('/')) {
            ("node", Some((folder, file))) => format!("\"{folder} {file}\""),
            _ => path.to_owned(),
        };
        let is_listed = script.lines().any(|line| line.split_whitespace().any(|word| word == listed))
            || script.contains(&listed) && listed.contains(' ')
            || script.contains(&format!("UV_SERVER={listed}"));
        assert!(is_listed, "{name}: {listed} is not in servers/m3-bench.sh");
        prepared += 1;
    }
    // 13 in Python, 6 in JavaScript, one with uv.
    assert_eq!(prepared, 20);
    let note = json_of(root().join("servers/m3-bench.json"))["note"].to_string();
    let commit = script.lines().find_map(|line| line.strip_prefix("readonly COMMIT=")).unwrap();
    assert!(note.contains(commit), "both name one commit");
    for line in read("servers/m3-bench.requirements.txt").lines().filter(|line| !line.starts_with('#')) {
        assert!(line.split('#').next().unwrap().contains("=="), "{line} has no version");
    }
}

#[test]
fn the_script_says_what_is_wrong_and_what_to_do() {
    let help = script(&["--help"]);
    assert!(help.status.success() && text(&help.stdout).contains("--system"), "{}", text(&help.stderr));
    assert!(text(&help.stdout).lines().all(|line| line.chars().count() <= 120));
    let folder = Folder::new();
    let no_checkout = folder.path().to_str().unwrap().to_owned();
    let file = folder.write("file", "").to_str().unwrap().to_owned();
    let cases: [(&[&str], &str); 4] = [
        (&["--sytem"], "unknown option --sytem"),
        (&["a", "b"], "there are two folders"),
        (&[&no_checkout], "is no checkout of Open-M3-Bench"),
        (&[&file], "is no folder"),
    ];
    for (arguments, expected) in cases {
        let output = script(arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(expected) && message.contains("\nhint: "), "{message}");
    }
    // A checkout that lacks a server.
    std::fs::create_dir(folder.path().join("servers")).unwrap();
    let message = text(&script(&[&no_checkout]).stderr);
    assert!(message.contains("lacks servers/weather_mcp.py"), "{message}");
}

/// The names of variables that a server's entry uses, without those of the checkout; optional ones have a default.
fn keys(server: &Value) -> BTreeSet<(String, bool)> {
    let entry = server.to_string();
    let uses = entry.split("${").skip(1).map(|rest| rest.split('}').next().unwrap());
    let uses = uses.filter(|name| !name.starts_with("OPEN_M3_BENCH"));
    uses.map(|name| {
        let (name, is_optional) = name.split_once(":-").map_or((name, false), |(name, _)| (name, true));
        (name.to_owned(), is_optional)
    })
    .collect()
}

/// Each row of the document's table of keys names them, their servers, their tools and the tasks that call these.
#[test]
fn the_document_counts_the_tools_of_every_key() {
    let (Some(catalog), Some(references)) =
        (shared("open-m3-bench/tools.json"), shared("open-m3-bench/references.json"))
    else {
        return;
    };
    let (catalog, references) = (json_of(catalog), json_of(references));
    let servers = configuration();
    let tools = |server: &str| catalog[server]["tools"].as_array().unwrap().len();
    let mut calls: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for reference in references.as_array().unwrap() {
        let steps = reference["steps"].as_array().unwrap().iter();
        let called = steps.flat_map(|step| step["calls"].as_array().into_iter().flatten());
        let called = called.map(|call| call["name"].as_str().unwrap().split_once('/').unwrap().0);
        // The last reference of an id counts.
        calls.insert(reference["id"].as_str().unwrap(), called.collect());
    }
    let mut by_key: BTreeMap<BTreeSet<(String, bool)>, Vec<&str>> = BTreeMap::new();
    for (name, server) in servers.as_object().unwrap() {
        by_key.entry(keys(server)).or_default().push(name);
    }
    let document = read("docs/m3-bench.md");
    let free: usize = by_key
        .iter()
        .filter(|(keys, _)| keys.iter().all(|(_, is_optional)| *is_optional))
        .flat_map(|(_, servers)| servers)
        .map(|server| tools(server))
        .sum();
    assert!(document.contains(&format!("Eighteen servers with {free} of the 232 tools")), "{free}");
    for (keys, servers) in by_key.iter().filter(|(keys, _)| !keys.is_empty()) {
        let (name, is_optional) = keys.first().unwrap();
        let row = document.lines().find(|line| line.starts_with("| ") && line.contains(&format!("`{name}`")));
        let columns: Vec<&str> = row.unwrap_or_else(|| panic!("no row has {name}")).split(" | ").collect();
        assert!(keys.iter().all(|(key, _)| columns[0].contains(&format!("`{key}`"))), "{columns:?}");
        assert_eq!(columns[0].contains("optional"), *is_optional, "{columns:?}");
        let mut named: Vec<&str> = columns[1].split(", ").collect();
        named.sort_unstable();
        assert_eq!(&named, servers, "{columns:?}");
        let count: usize = servers.iter().map(|server| tools(server)).sum();
        let tasks = calls.values().filter(|called| servers.iter().any(|server| called.contains(server)));
        assert_eq!([columns[2], columns[3]], [count.to_string(), tasks.count().to_string()], "{columns:?}");
    }
}
