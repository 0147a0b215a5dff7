//! The shapes are those of the documentation of each provider and of the Model Context Protocol (2025-11-25).

use super::*;
use crate::json::parse;

fn catalog(text: &str) -> Result<Catalog, (String, String)> {
    Catalog::from_json(&parse(text.as_bytes()).unwrap().0)
}

/// The names of a catalog, sorted.
fn names(text: &str) -> Vec<String> {
    let catalog = catalog(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let mut names: Vec<String> = catalog.names().map(str::to_owned).collect();
    names.sort();
    names
}

const SCHEMA: &str = r#"{"type": "object", "properties": {"city": {"type": "string"}}}"#;

#[test]
fn tools_of_every_shape_are_read() {
    let anthropic = format!(r#"{{"name": "t", "description": "d", "input_schema": {SCHEMA}}}"#);
    let openai = format!(r#"{{"type": "function", "function": {{"name": "t", "parameters": {SCHEMA}}}}}"#);
    let flat = format!(r#"{{"type": "function", "name": "t", "parameters": {SCHEMA}, "strict": true}}"#);
    let mcp = format!(r#"{{"name": "t", "inputSchema": {SCHEMA}}}"#);
    let gemini = r#"{"functionDeclarations": [{"name": "t", "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}}]}"#;
    let bedrock = format!(r#"{{"toolSpec": {{"name": "t", "inputSchema": {{"json": {SCHEMA}}}}}}}"#);
    for tool in [&*anthropic, &openai, &flat, &mcp, gemini, &bedrock] {
        for text in [
            format!("[{tool}]"),
            format!(r#"{{"tools": [{tool}]}}"#),
            format!(r#"{{"result": {{"tools": [{tool}]}}}}"#),
            format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"tools": [{tool}], "nextCursor": "x"}}}}"#),
            format!(
                r#"{{"model": "m", "messages": [{{"role": "user", "content": "q"}}], "tools": [{tool}]}}"#
            ),
            format!(r#"[{{"request": {{"body": {{"model": "m", "tools": [{tool}]}}}}, "response": {{}}}}]"#),
        ] {
            assert_eq!(names(&text), ["t"], "{text}");
            let schema = catalog(&text).unwrap().input_schema("any/t").map(Json::to_plain_text);
            assert_eq!(schema.unwrap().replace(' ', ""), SCHEMA.replace(' ', ""), "{text}");
        }
    }
    let tools = openai.replace('"', "\\\"");
    assert_eq!(names(&format!(r#"{{"query": "q", "tools": "[{tools}]"}}"#)), ["t"]);
    assert_eq!(names(r#"{"tools": [{"googleSearch": {}}, {"type": "web_search"}, {"name": "t"}]}"#), ["t"]);
}

#[test]
fn servers_are_kept() {
    assert_eq!(
        names(&format!(r#"{{"a": {{"tools": [{{"name": "t", "inputSchema": {SCHEMA}}}]}}}}"#)),
        ["a/t"]
    );
    assert_eq!(names(&format!(r#"{{"a": [{{"name": "t", "inputSchema": {SCHEMA}}}]}}"#)), ["a/t"]);
    assert_eq!(names(&format!(r#"[{{"name": "t", "server": "a", "inputSchema": {SCHEMA}}}]"#)), ["a/t"]);
    // What stands around a request is no server, and a line of a log may list names alone.
    assert_eq!(
        names(&format!(r#"{{"params": {{"tools": [{{"name": "t", "inputSchema": {SCHEMA}}}]}}}}"#)),
        ["t"]
    );
    let log = format!(r#"[{{"tools": ["bash"]}}, {{"tools": [{{"name": "t", "inputSchema": {SCHEMA}}}]}}]"#);
    assert_eq!(names(&log), ["t"]);
    assert_eq!(names("{}"), Vec::<String>::new());
    // A server is known, so another server's tool is another tool.
    let own = catalog(r#"{"a": {"tools": [{"name": "t"}]}}"#).unwrap();
    assert!(own.tool("a/t").is_some() && own.tool("b/t").is_none() && own.tool("t").is_none());
}

#[test]
fn what_has_no_tools_is_refused_in_words() {
    for (text, message) in [
        ("3", "found a number without tools"),
        ("[1]", "found an array without tools"),
        (r#"{"messages": [{"tools": [{"name": "t"}]}]}"#, "found an object of `messages` without tools"),
        (r#"{"a": {"tools": []}, "b": 1}"#, "server `b` has no list of tools"),
        (r#"{"tools": [{"description": "d", "x": 1}]}"#, "a tool without a name"),
        (r#"[{"name": "t", "parameters": {}, "arguments": {}}]"#, "found an array without tools"),
    ] {
        let error = catalog(text).map(|catalog| catalog.len()).unwrap_err();
        assert!(error.1.contains(message), "{text}: {error:?}");
    }
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    assert!(catalog(&deep).is_err());
}
