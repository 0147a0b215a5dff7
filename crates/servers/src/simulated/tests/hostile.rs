//! Tests of hostile catalogs: nothing may panic, hang or fill the memory.

use super::*;

/// Calls every tool of a catalog, which is given as JSON.
fn call_all(catalog: &Value, arguments: &Value) -> Vec<ToolResult> {
    let servers = catalog
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, server)| ServerTools::from_wire(name, server["tools"].as_array().unwrap().clone()));
    let catalog = ToolCatalog { servers: servers.collect() };
    let recordings = Recordings::new(&catalog);
    let simulation = Simulation::new(catalog, recordings, Behaviour::default());
    let mut results = Vec::new();
    for server in &simulation.servers {
        for tool in server.tools() {
            results.push(result(&**server, &tool.name, arguments.clone()));
        }
    }
    results
}

fn of_schemas(input: &Value, output: &Value) -> ToolResult {
    let tool = json!({"name": "t", "inputSchema": input, "outputSchema": output});
    call_all(&json!({"s": {"tools": [tool]}}), &json!({"a": 1})).remove(0)
}

#[test]
fn schemas_that_go_round_in_circles_end() {
    let circles = [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}),
        json!({"type": "object", "additionalProperties": {"$ref": "#"}}),
        json!({"type": "array", "minItems": 2, "items": {"$ref": "#"}}),
        json!({"not": {"$ref": "#"}}),
        json!({"$dynamicRef": "#x", "$dynamicAnchor": "x"}),
    ];
    for schema in circles {
        of_schemas(&json!({"type": "object"}), &schema);
        of_schemas(&schema, &json!({"type": "object"}));
    }
}

#[test]
fn schemas_that_cannot_be_used_leave_a_text() {
    for schema in [
        json!({"type": "nonsense"}),
        json!({"properties": 5}),
        json!({"pattern": "(", "type": "string"}),
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "pattern": "("}}}),
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"$ref": "file:///etc/passwd"}),
        json!({"$ref": "#/nowhere"}),
        json!({"type": "array"}),
    ] {
        let made = of_schemas(&json!({"type": "object"}), &schema);
        assert_eq!(made.structured_content, None, "{schema}");
        assert_eq!(made.all_text(), "simulated result of `t` for {\"a\":1}");
        of_schemas(&schema, &json!({"type": "object"}));
    }
}

#[test]
fn enormous_schemas_and_texts_are_bounded() {
    let properties: Map<String, Value> =
        (0..20_000).map(|number| (format!("p{number}"), json!({"type": "string"}))).collect();
    let names: Vec<&String> = properties.keys().collect();
    let wide = json!({"type": "object", "properties": properties});
    let size = |result: ToolResult| result.to_wire().to_string().len();
    assert!(size(of_schemas(&json!({"type": "object"}), &wide)) < 1 << 22);
    let all = json!({"type": "object", "properties": properties, "required": names});
    assert_eq!(of_schemas(&json!({"type": "object"}), &all).structured_content, None);
    let branches = |schema: Value| json!({"type": "object", "anyOf": vec![schema; 5_000]});
    of_schemas(&json!({"type": "object"}), &branches(json!({"properties": {"a": {"type": "integer"}}})));
    let long = "x".repeat(1 << 18);
    let described =
        json!({"name": long, "description": long, "inputSchema": {"type": "object", "required": [long]}});
    let refused = call_all(&json!({"s": {"tools": [described]}}), &json!({})).remove(0);
    assert!(refused.is_error);
    let deep = (0..100).fold(
        json!({"type": "integer"}),
        |inner, _| json!({"type": "object", "required": ["a"], "properties": {"a": inner}}),
    );
    assert_eq!(of_schemas(&json!({"type": "object"}), &deep).structured_content, None);
}

#[test]
fn large_arguments_are_not_multiplied() {
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array",
        "minItems": 500, "items": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}}});
    let wrapped = json!({"name": "u", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object",
        "required": ["r"], "properties": {"r": tool["outputSchema"]}}});
    let arguments = json!({"a": "x".repeat(300_000)});
    for result in call_all(&json!({"s": {"tools": [tool, wrapped]}}), &arguments) {
        // Three repeated arguments fit into the megabyte of text of one result, which contains it twice, as structure
        // and as text.
        assert!(result.to_wire().to_string().len() < 3 << 20);
    }
}

#[test]
fn tools_that_cannot_be_understood_are_named_and_the_others_are_played() {
    let tools =
        vec![json!({"name": "a", "inputSchema": {}}), json!({"name": "a", "inputSchema": {}}), json!(5)];
    let catalog = ToolCatalog { servers: vec![ServerTools::from_wire("s", tools)] };
    let recordings = Recordings::new(&catalog);
    let simulation = Simulation::new(catalog, recordings, Behaviour::default());
    assert_eq!(simulation.servers[0].tools().len(), 1);
    let rejected: Vec<&str> = simulation.rejected.iter().map(|(_, tool)| tool.name.as_str()).collect();
    assert_eq!(rejected, ["a", "#2"]);
}
