//! A server's answer to arguments that its schema does not accept.
//!
//! Nearly all servers are made with one of a few libraries, and a catalog shows which one: the Python SDK's `FastMCP`
//! titles its schemas `toolArguments`, the separate `fastmcp` leaves `_fastmcp` under `_meta`, the TypeScript SDK
//! writes `$schema` or `execution`. Each answers in its own form, and all as a result with `isError` (MCP 2025-11-25,
//! "Error Handling"). The forms: pydantic's list of problems, zod's issues as JSON, and the one message of Python's
//! low-level server for everything else.
//!
//! Real servers are more lenient than their schemas here and there: zod drops keys that `additionalProperties`
//! forbids, pydantic takes `"5"` for a number. A model only knows the schema, so here the schema decides.

use std::borrow::Cow;
use std::fmt::Write as _;

use m3_mcp::Tool;
use m3_mcp::arguments::{ArgumentProblem, properties, required};
use m3_support::pointer::segments;
use m3_support::schema_parts::resolved;
use m3_support::text::{shortened, visible};
use serde_json::{Map, Value, json};

/// The most columns of a value or name in a message.
const MAX_VALUE: usize = 60;

/// A problem, with the argument it is about.
struct Finding<'a> {
    /// Names of properties and indexes of items, from the outside in.
    path: Vec<String>,
    /// The value at the path; `None` if it is missing.
    value: Option<&'a Value>,
    /// The schema at the path, if it is easy to find.
    schema: Option<&'a Map<String, Value>>,
    problem: &'a ArgumentProblem,
}

/// The text of the refusal.
pub(super) fn text(tool: &Tool, arguments: &Value, problems: &[ArgumentProblem]) -> String {
    let schema = &tool.input_schema;
    let root = Value::Object(schema.clone());
    let findings: Vec<Finding<'_>> =
        problems.iter().flat_map(|problem| findings(&root, arguments, problem)).collect();
    let name = visible(&tool.name, false);
    let title = schema.get("title").and_then(Value::as_str).unwrap_or_default();
    let made_with = |key: &str| tool.extra.get("_meta").is_some_and(|meta| meta.get(key).is_some());
    if title.ends_with("Arguments") {
        let listed = pydantic(&shortened(title, MAX_VALUE), &findings, false, arguments);
        format!("Error executing tool {name}: {listed}")
    } else if made_with("_fastmcp") || made_with("fastmcp") {
        pydantic(&format!("call[{name}]"), &findings, true, arguments)
    } else if schema.contains_key("$schema") || tool.extra.contains_key("execution") {
        let issues = Value::Array(findings.iter().map(zod).collect());
        let issues = serde_json::to_string_pretty(&issues).unwrap_or_default();
        format!("MCP error -32602: Input validation error: Invalid arguments for tool {name}: {issues}")
    } else {
        let message = problems.first().map_or("", |problem| problem.message.as_str());
        format!("Input validation error: {message}")
    }
}

/// A problem with its value and schema; one finding for each missing or surplus key.
fn findings<'a>(schema: &'a Value, arguments: &'a Value, problem: &'a ArgumentProblem) -> Vec<Finding<'a>> {
    let path: Vec<String> = segments(&problem.pointer).map(Cow::into_owned).collect();
    let value = arguments.pointer(&problem.pointer);
    let below = schema_at(schema, &path);
    let described = below.and_then(properties);
    let at = |key: &str, value| Finding {
        path: path.iter().cloned().chain([key.to_owned()]).collect(),
        value,
        schema: described.and_then(|described| described.get(key)?.as_object()),
        problem,
    };
    match (problem.keyword.as_str(), value) {
        ("required", Some(Value::Object(given))) => {
            let names = below.into_iter().flat_map(required);
            // One problem is reported for each missing key, and its message names it.
            let is_this =
                |name: &&str| !given.contains_key(*name) && problem.message.contains(&format!("\"{name}\""));
            names.filter(is_this).map(|name| at(name, None)).collect()
        }
        ("additionalProperties", Some(Value::Object(given))) => {
            let is_surplus = |name: &str| described.is_none_or(|known| !known.contains_key(name));
            let surplus = given.iter().filter(|(name, _)| is_surplus(name));
            surplus.map(|(name, value)| at(name, Some(value))).collect()
        }
        _ => vec![Finding { path, value, schema: below, problem }],
    }
}

/// The schema at a path, through `properties` and `items` and references to definitions.
fn schema_at<'a>(root: &'a Value, path: &[String]) -> Option<&'a Map<String, Value>> {
    let schema = path.iter().try_fold(root, |schema, name| {
        let property = schema.get("properties").and_then(|properties| properties.get(name));
        Some(resolved(root, property.or(schema.get("items"))?))
    });
    schema?.as_object()
}

/// The types that a schema allows, without `null`.
fn expected(schema: Option<&Map<String, Value>>) -> Vec<&str> {
    let Some(schema) = schema else { return Vec::new() };
    let branches = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array()).flatten();
    let types = branches.filter_map(Value::as_object).chain([schema]).filter_map(|schema| schema.get("type"));
    let mut allowed: Vec<&str> = Vec::new();
    for kind in types {
        match kind {
            Value::Array(kinds) => allowed.extend(kinds.iter().filter_map(Value::as_str)),
            kind => allowed.extend(kind.as_str()),
        }
    }
    allowed.retain(|kind| *kind != "null");
    allowed
}

/// The limit or the list of values in the schema that the problem's keyword refers to.
fn limit<'a>(finding: &Finding<'a>) -> Option<&'a Value> {
    finding.schema?.get(&finding.problem.keyword)
}

/// Pydantic's list: a headline, then for each problem its place and what is wrong. `is_call` chooses the words for a
/// function's arguments.
fn pydantic(title: &str, findings: &[Finding<'_>], is_call: bool, arguments: &Value) -> String {
    let count = findings.len();
    let plural = if count == 1 { "" } else { "s" };
    let mut text = format!("{count} validation error{plural} for {title}");
    for finding in findings {
        let (message, code) = pydantic_words(finding, is_call);
        let place = visible(&finding.path.join("."), false).into_owned();
        // For a missing value the whole input is shown.
        let input = finding.value.unwrap_or(arguments);
        let shown = shortened(&python(input), MAX_VALUE);
        let kind = python_type(input);
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{place}\n  {message} [type={code}, input_value={shown}, input_type={kind}]");
    }
    text
}

fn pydantic_words(finding: &Finding<'_>, is_call: bool) -> (String, &'static str) {
    let is_text = finding.value.is_some_and(Value::is_string);
    let words = |text: &str| text.to_owned();
    let bound = || limit(finding).map_or_else(String::new, ToString::to_string);
    match finding.problem.keyword.as_str() {
        "required" if is_call => (words("Missing required argument"), "missing_argument"),
        "required" => (words("Field required"), "missing"),
        "additionalProperties" if is_call => {
            (words("Unexpected keyword argument"), "unexpected_keyword_argument")
        }
        "additionalProperties" => (words("Extra inputs are not permitted"), "extra_forbidden"),
        "type" | "anyOf" | "oneOf" => match expected(finding.schema).first().copied() {
            Some("integer") if is_text => (
                words("Input should be a valid integer, unable to parse string as an integer"),
                "int_parsing",
            ),
            Some("integer") => (words("Input should be a valid integer"), "int_type"),
            Some("number") if is_text => {
                (words("Input should be a valid number, unable to parse string as a number"), "float_parsing")
            }
            Some("number") => (words("Input should be a valid number"), "float_type"),
            Some("boolean") => (words("Input should be a valid boolean"), "bool_type"),
            Some("string") => (words("Input should be a valid string"), "string_type"),
            Some("array") => (words("Input should be a valid list"), "list_type"),
            Some("object") => (words("Input should be a valid dictionary"), "dict_type"),
            _ => (finding.problem.message.clone(), "value_error"),
        },
        "enum" | "const" => {
            let values = match limit(finding) {
                Some(Value::Array(values)) => values.iter().map(python).collect(),
                Some(value) => vec![python(value)],
                None => Vec::new(),
            };
            (shortened(&format!("Input should be {}", values.join(" or ")), 4 * MAX_VALUE), "literal_error")
        }
        "minimum" => (format!("Input should be greater than or equal to {}", bound()), "greater_than_equal"),
        "maximum" => (format!("Input should be less than or equal to {}", bound()), "less_than_equal"),
        "exclusiveMinimum" => (format!("Input should be greater than {}", bound()), "greater_than"),
        "exclusiveMaximum" => (format!("Input should be less than {}", bound()), "less_than"),
        _ => (finding.problem.message.clone(), "value_error"),
    }
}

/// One of zod's issues.
fn zod(finding: &Finding<'_>) -> Value {
    let path: Vec<Value> = finding
        .path
        .iter()
        .map(|name| name.parse::<u64>().map_or_else(|_| Value::from(name.as_str()), Value::from))
        .collect();
    let received = finding.value.map_or("undefined", json_type);
    let kind = expected(finding.schema).first().copied().unwrap_or("unknown").to_owned();
    match finding.problem.keyword.as_str() {
        "required" | "type" | "anyOf" | "oneOf" => json!({
            "code": "invalid_type",
            "expected": shortened(&kind, MAX_VALUE),
            "path": path,
            "message": format!("Invalid input: expected {}, received {received}", shortened(&kind, MAX_VALUE)),
        }),
        "additionalProperties" => {
            let (key, path) =
                path.split_last().map_or((Value::Null, &[][..]), |(key, path)| (key.clone(), path));
            json!({"code": "unrecognized_keys", "keys": [key], "path": path, "message": "Unrecognized key"})
        }
        "enum" | "const" => json!({
            "code": "invalid_value",
            "values": limit(finding),
            "path": path,
            "message": finding.problem.message,
        }),
        _ => json!({"code": "custom", "path": path, "message": finding.problem.message}),
    }
}

/// The name of a value's type in JSON Schema.
pub(super) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn python_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

/// A value in Python's notation.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{text}'"),
        Value::Array(items) => format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("'{key}': {}", python(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use m3_mcp::arguments::ArgumentSchema;

    use super::*;

    fn refusal(tool: &Value, arguments: &Value) -> String {
        let tool: Tool = serde_json::from_value(tool.clone()).unwrap();
        let problems = ArgumentSchema::new(&tool.input_schema).unwrap().problems(arguments).unwrap();
        assert!(!problems.is_empty());
        text(&tool, arguments, &problems)
    }

    /// The form of a real reply of the Python SDK's `FastMCP`, as quoted in its users' reports.
    #[test]
    fn the_python_sdk_lists_fields_as_pydantic_does() {
        let tool = json!({"name": "crop", "inputSchema": {
            "title": "cropArguments", "type": "object", "required": ["path", "x"],
            "properties": {"path": {"type": "string"}, "x": {"type": "integer"}, "mode": {"enum": ["a", "b"]}},
        }});
        assert_eq!(
            refusal(&tool, &json!({"path": "a.png"})),
            "Error executing tool crop: 1 validation error for cropArguments\nx\n  Field required \
             [type=missing, input_value={'path': 'a.png'}, input_type=dict]"
        );
        let two = refusal(&tool, &json!({"path": 1, "x": "two", "mode": "c"}));
        assert!(
            two.starts_with("Error executing tool crop: 3 validation errors for cropArguments\n"),
            "{two}"
        );
        assert!(two.contains("x\n  Input should be a valid integer, unable to parse"), "{two}");
        assert!(
            two.contains("path\n  Input should be a valid string [type=string_type, input_value=1"),
            "{two}"
        );
        assert!(two.contains("mode\n  Input should be 'a' or 'b' [type=literal_error"), "{two}");
    }

    #[test]
    fn the_separate_fastmcp_speaks_of_arguments_of_a_call() {
        let tool = json!({"name": "search", "_meta": {"_fastmcp": {"tags": []}}, "inputSchema": {
            "type": "object", "required": ["query"], "properties": {"query": {"type": "string"}},
            "additionalProperties": false,
        }});
        let text = refusal(&tool, &json!({"q": "x"}));
        assert!(text.starts_with("2 validation errors for call[search]\n"), "{text}");
        assert!(text.contains("query\n  Missing required argument [type=missing_argument"), "{text}");
        assert!(
            text.contains("q\n  Unexpected keyword argument [type=unexpected_keyword_argument"),
            "{text}"
        );
    }

    #[test]
    fn the_typescript_sdk_lists_issues_as_zod_does() {
        let tool = json!({"name": "sum", "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["numbers"],
            "properties": {"numbers": {"type": "array", "items": {"type": "number"}}}, "additionalProperties": false,
        }});
        let text = refusal(&tool, &json!({"numbers": [1, "2"], "more": 1}));
        let (head, issues) = text.split_once(": [").unwrap();
        assert_eq!(head, "MCP error -32602: Input validation error: Invalid arguments for tool sum");
        let issues: Value = serde_json::from_str(&format!("[{issues}")).unwrap();
        let wrong = json!({"code": "invalid_type", "expected": "number", "path": ["numbers", 1],
            "message": "Invalid input: expected number, received string"});
        let surplus =
            json!({"code": "unrecognized_keys", "keys": ["more"], "path": [], "message": "Unrecognized key"});
        let issues = issues.as_array().unwrap();
        assert!(issues.len() == 2 && issues.contains(&wrong) && issues.contains(&surplus), "{issues:?}");
    }

    #[test]
    fn other_servers_name_the_first_problem() {
        let tool = json!({"name": "t", "inputSchema": {"type": "object", "required": ["a", "b"]}});
        assert_eq!(refusal(&tool, &json!({})), "Input validation error: \"a\" is a required property");
    }

    #[test]
    fn what_acts_on_a_terminal_is_shown_instead() {
        let tool = json!({"name": "t\u{1b}", "inputSchema": {
            "title": "\u{1b}[31mArguments", "type": "object", "properties": {"\u{1b}x": {"type": "integer"}}}});
        let text = refusal(&tool, &json!({"\u{1b}x": "\u{1b}[2J"}));
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
