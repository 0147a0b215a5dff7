//! `m3 tools --compare`: what servers offer, against a list of tools.

use serde_json::{Value, json};

use crate::host::support::stub;
use crate::support::{Folder, failure, follows_kept_schema, m3_bare, report, run, shared, stdout, text};

/// A catalog of one server `maps` with these tools.
fn catalog(folder: &Folder, name: &str, tools: &Value) -> String {
    folder.json(name, &json!({"maps": {"tools": tools}})).to_str().unwrap().to_owned()
}

fn tools(folder: &Folder, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = m3_bare(folder.path());
    command.arg("tools").args(arguments).timeout(std::time::Duration::from_mins(1));
    command
}

/// Every kind of difference, written by hand: `listed` and `offered` are left out where there is none.
#[test]
fn every_difference_is_listed() {
    let folder = Folder::new();
    let schema = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
    let text = |description: &str| json!({"type": "string", "description": description});
    let listed = json!([
        {"name": "gone", "inputSchema": {"type": "object"}},
        {"name": "same", "description": "s", "inputSchema": schema(json!({"description": text("a")}), json!([]))},
        {"name": "geocode", "description": "old", "outputSchema": {"type": "object"}, "inputSchema": schema(json!({
            "address": text("a place"), "country": text("c"), "limit": {"type": "integer", "default": 5},
            "near": {"type": "object", "properties": {"title": {"type": "string"}}}, "old": text("o"),
        }), json!(["country", "address"]))},
    ]);
    let offered = json!([
        {"name": "same", "description": "s", "inputSchema": schema(json!({"description": text("a")}), json!([]))},
        {"name": "geocode", "description": "new", "annotations": {"title": "G"}, "inputSchema": {
            "type": "object", "additionalProperties": false, "required": ["address"], "properties": {
                "address": text("an address"), "country": text("c"), "limit": {"type": "integer", "default": 9},
                "near": {"type": "object", "properties": {"title": {"type": "number"}}}, "new": text("n"),
        }}},
        {"name": "added", "inputSchema": {"type": "object"}},
    ]);
    let (listed, offered) =
        (catalog(&folder, "listed.json", &listed), catalog(&folder, "offered.json", &offered));
    let found = report(&mut tools(&folder, &[&offered, "--compare", &listed]));
    follows_kept_schema("catalog-differences", &found);
    let near = |inner: &str| json!({"type": "object", "properties": {"title": {"type": inner}}});
    let expected = json!([
        {"tool": "maps/gone", "change": "missing_tool"},
        {"tool": "maps/geocode", "change": "description", "listed": "old", "offered": "new"},
        {"tool": "maps/geocode", "change": "argument_text", "argument": "address",
         "listed": text("a place"), "offered": text("an address")},
        {"tool": "maps/geocode", "change": "required", "argument": "country", "listed": true, "offered": false},
        {"tool": "maps/geocode", "change": "default", "argument": "limit", "listed": 5, "offered": 9},
        {"tool": "maps/geocode", "change": "type", "argument": "near", "listed": near("string"),
         "offered": near("number")},
        {"tool": "maps/geocode", "change": "missing_argument", "argument": "old", "listed": text("o")},
        {"tool": "maps/geocode", "change": "extra_argument", "argument": "new", "offered": text("n")},
        {"tool": "maps/geocode", "change": "input_schema", "listed": {"type": "object"},
         "offered": {"type": "object", "additionalProperties": false}},
        {"tool": "maps/geocode", "change": "output_schema", "listed": {"type": "object"}},
        {"tool": "maps/geocode", "change": "other", "argument": "annotations", "offered": {"title": "G"}},
        {"tool": "maps/added", "change": "extra_tool"},
    ]);
    assert_eq!(found["differences"], expected);
    let counts = ["listed", "offered", "same"].map(|key| found[key].as_u64().unwrap());
    assert_eq!(counts, [3, 3, 1]);

    let table = stdout(&mut tools(&folder, &[&offered, "--compare", &listed]));
    assert!(table.starts_with("3 tools listed, 3 offered, 1 the same\n"), "{table}");
    for line in ["maps: 12 differences", "geocode  address: text", "geocode  annotations"] {
        assert!(table.contains(line), "{line} in {table}");
    }
}

/// What stands deep in a schema is a difference, too: a default decides what a call means, a text does not.
#[test]
fn definitions_and_what_is_within_arguments_are_compared() {
    let folder = Folder::new();
    let tool = |default: u32, text: &str, title: &str| {
        let property = json!({"type": "integer", "default": default, "description": text});
        let near = json!({"type": "object", "properties": {"limit": property}});
        json!({"type": "object", "title": title, "properties": {"near": near}, "$defs": {"Place": near}})
    };
    let tools_of = |schemas: [Value; 3]| {
        let tools = ["a", "b", "c"].iter().zip(schemas);
        let tools = tools.map(|(name, schema)| json!({"name": name, "inputSchema": schema}));
        Value::Array(tools.collect())
    };
    let listed = tools_of([tool(5, "t", "x"), tool(5, "t", "x"), tool(5, "t", "x")]);
    let offered = tools_of([tool(9, "u", "x"), tool(5, "u", "x"), tool(5, "t", "a framework's")]);
    let (listed, offered) =
        (catalog(&folder, "listed.json", &listed), catalog(&folder, "offered.json", &offered));
    let found = report(&mut tools(&folder, &[&offered, "--compare", &listed]));
    let changes: Vec<(&str, &str)> = found["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| (found["tool"].as_str().unwrap(), found["change"].as_str().unwrap()))
        .collect();
    let expected = [
        ("maps/a", "type"),
        ("maps/a", "input_schema"),
        ("maps/b", "argument_text"),
        ("maps/b", "argument_text"),
    ];
    assert_eq!(changes, expected);
    assert_eq!(found["differences"][0]["offered"]["properties"]["limit"]["description"], "u");
    assert_eq!((&found["same"], &found["servers"][0]["arguments"]), (&json!(1), &json!(1)));
    let table = stdout(&mut tools(&folder, &[&offered, "--compare", &listed]));
    assert!(table.contains("near: type") && !table.contains(r#""description":"#), "{table}");
}

#[test]
fn the_exit_code_says_whether_anything_differs_if_asked() {
    let folder = Folder::new();
    let tool = |name: &str| json!([{"name": name, "inputSchema": {"type": "object"}}]);
    let (a, b) = (catalog(&folder, "a.json", &tool("a")), catalog(&folder, "b.json", &tool("b")));
    let code = |arguments: &[&str]| run(&mut tools(&folder, arguments)).status.code();
    assert_eq!(code(&[&a, "--compare", &b]), Some(0));
    assert_eq!(code(&[&a, "--compare", &b, "--fail-if-different"]), Some(1));
    assert_eq!(code(&[&a, "--compare", &a, "--fail-if-different"]), Some(0));
    let (code, missing) = failure(&mut tools(&folder, &[&a, "--compare", "no-such-file.json"]));
    assert!(code == 2 && missing.contains("no-such-file.json"), "{missing}");
    let nonsense = folder.write("nonsense.json", "[1, 2]").to_str().unwrap().to_owned();
    let (code, refused) = failure(&mut tools(&folder, &[&a, "--compare", &nonsense]));
    assert!(code == 2 && refused.contains("nonsense.json"), "{refused}");
}

/// A server that does not start offers nothing, and the report says that this is why. A placeholder for a key that
/// occurs in a tool's name is replaced on both sides, and is no difference.
#[test]
fn servers_are_started_and_those_that_fail_are_named() {
    let folder = Folder::new();
    let servers = json!({"mcpServers": {
        "good": {"command": stub(), "args": ["default"], "env": {"A_KEY": "echo"}},
        "dead": {"command": stub(), "args": ["exits"]},
    }});
    let config = folder.json("servers.json", &servers).to_str().unwrap().to_owned();
    let tool = json!({"name": "echo", "description": "echo", "inputSchema": {"type": "object"}});
    let list = json!({"good": {"tools": [tool]}, "dead": {"tools": [tool]}});
    let list = folder.json("list.json", &list).to_str().unwrap().to_owned();
    let output = run(&mut tools(&folder, &[&config, "--compare", &list, "--format", "json"]));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let servers = found["servers"].as_array().unwrap();
    let failed: Vec<bool> = servers.iter().map(|server| server["is_failed"].as_bool().unwrap()).collect();
    assert_eq!(failed, [true, false], "in the order of the catalog, which sorts names: {found}");
    assert_eq!(servers[1]["same"], 1, "{found}");
    let table = run(&mut tools(&folder, &[&config, "--compare", &list]));
    let table = text(&table.stdout);
    assert!(table.contains("Not started, so none of their tools is offered: dead"), "{table}");
    let one = report(&mut tools(&folder, &[&config, "--server", "good", "--compare", &list]));
    assert_eq!(one["listed"], 1);
}

#[test]
fn the_published_catalog_is_the_same_as_itself() {
    let Some(list) = shared("open-m3-bench/tools.json") else { return };
    let list = list.to_str().unwrap();
    let folder = Folder::new();
    let found = report(&mut tools(&folder, &[list, "--compare", list]));
    assert_eq!((&found["same"], &found["differences"]), (&json!(232), &json!([])));
}
