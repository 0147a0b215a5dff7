//! The configurations in `servers/`, and the benchmark's own names.

use std::collections::BTreeSet;

use m3_mcp::ToolCatalog;
use m3_mcp::config::{HostConfig, Transport};
use m3_mcp::names::ModelNames;
use m3_trajectory::catalog::Catalog;

use crate::support::{Folder, root, shared};

fn included(name: &str) -> HostConfig {
    let (config, warnings) = HostConfig::open(&root().join("servers").join(name)).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    config
}

#[test]
fn our_own_servers_run_this_program() {
    let config = included("local.json");
    let names: Vec<&str> = config.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["image", "barcode", "math"]);
    for server in &config.servers {
        let Transport::Stdio { command, args, .. } = &server.transport else { panic!("{server:?}") };
        assert_eq!((command.as_str(), args.join(" ")), ("m3", format!("serve {}", server.name)));
    }
}

/// It must never contain a key, and every package must have a version.
#[test]
fn the_benchmarks_servers_are_pinned_and_hold_no_keys() {
    let text = std::fs::read_to_string(root().join("servers/m3-bench.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (name, server) in file["servers"].as_object().unwrap() {
        for (key, value) in server["env"].as_object().into_iter().flatten() {
            let is_key = key.contains("KEY")
                || key.contains("TOKEN")
                || key.contains("SECRET")
                || key.ends_with("_ID");
            let value = value.as_str().unwrap();
            assert!(!is_key || value.starts_with(&format!("${{{key}")), "{name}: {key}={value}");
        }
        let command = server["command"].as_str().unwrap();
        let args: Vec<&str> =
            server["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        let is_pinned = match command {
            "uvx" => args.iter().any(|arg| arg.contains("==")),
            "npx" => args.iter().any(|arg| {
                arg.rsplit_once('@')
                    .is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
            }),
            _ => args.iter().any(|arg| arg.starts_with("${OPEN_M3_BENCH}/servers/")),
        };
        assert!(is_pinned && server["note"].is_string(), "{name}: {command} {args:?}");
    }
}

#[test]
fn the_benchmarks_servers_are_those_of_its_catalog() {
    let config = included("m3-bench.json");
    assert_eq!(config.servers.len(), 27);
    let Some(path) = shared("open-m3-bench/tools.json") else { return };
    let catalog = Catalog::open(&path).unwrap();
    let theirs: BTreeSet<&str> = catalog.servers().iter().map(|server| server.name.as_str()).collect();
    let ours: BTreeSet<&str> = config.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(ours, theirs);
}

#[test]
fn every_tool_of_the_benchmark_keeps_its_name_before_a_model() {
    let Some(path) = shared("open-m3-bench/tools.json") else { return };
    let catalog = ToolCatalog::from(&Catalog::open(&path).unwrap());
    let names = ModelNames::new(catalog.tools().map(|(name, _)| name)).unwrap();
    assert_eq!(catalog.len(), 232);
    for (tool, _) in catalog.tools() {
        let name = names.model_name(&tool).unwrap();
        assert_eq!(name, format!("{}__{}", tool.server, tool.tool));
        assert_eq!(names.tool(&name), Some(&tool));
    }
}

#[test]
fn the_configurations_in_the_documents_can_be_read() {
    let document = std::fs::read_to_string(root().join("docs/mcp.md")).unwrap();
    let folder = Folder::new();
    let blocks: Vec<&str> =
        document.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let (_, warnings) = HostConfig::open(&folder.write("config.json", block)).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}
