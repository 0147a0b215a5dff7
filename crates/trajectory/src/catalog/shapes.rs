//! The tools of a catalog file in every shape that programs write: m3's own by server, answers of `tools/list`, the `tools`
//! of requests to models, and logs that hold such requests.

use super::CatalogServer;
use crate::json::{self, Json};

/// A place in the file, as a JSON pointer, and the problem there in words.
pub(super) type ShapeProblem = (String, String);

/// Members whose list holds tools.
const LISTS: [&str; 6] = [
    "tools",
    "functions",
    "functionDeclarations",
    "function_declarations",
    "available_tools",
    "tool_definitions",
];

/// Members with what people and models wrote: a list that is called `tools` in there is not what was offered.
const TEXTS: [&str; 8] =
    ["messages", "contents", "input", "output", "choices", "candidates", "steps", "inputSchema"];

/// Members with the schema of a tool's arguments.
const SCHEMAS: [&str; 6] = [
    "inputSchema",
    "input_schema",
    "parameters",
    "parametersJsonSchema",
    "parameters_json_schema",
    "args_schema",
];

/// Members that name the server of a tool.
const SERVERS: [&str; 3] = ["server", "server_name", "mcp_server"];

/// Members around a request or an answer, which name no server.
const ENVELOPES: [&str; 6] = ["body", "data", "params", "payload", "request", "response"];

/// The deepest member that is looked into; the longest schema has fewer levels.
const DEPTH: usize = 8;

/// The deepest level of a schema whose types are rewritten.
const SCHEMA_DEPTH: usize = 64;

/// Whether a value has m3's own form: servers with lists of tools.
pub(super) fn is_by_server(value: &Json) -> bool {
    let Json::Object(servers) = value else { return false };
    // The answer of `tools/list` may stand in its `result` alone.
    let is_answer = matches!(&servers[..], [(key, _)] if key == "result");
    let is_server = |server: &Json| {
        let is_request = TEXTS.iter().chain(&["model"]).any(|key| server.get(key).is_some());
        matches!(server.get("tools"), Some(Json::Array(_))) && !is_request
    };
    let is_envelope = servers.iter().all(|(key, _)| ENVELOPES.contains(&key.as_str()));
    !is_answer && !is_envelope && !servers.is_empty() && servers.iter().all(|(_, server)| is_server(server))
}

/// The servers of a file, with their tools. A tool of which no server is known stands in the server without a name.
///
/// # Errors
/// The place and the problem, if there are no tools.
pub(super) fn servers(value: &Json) -> Result<Vec<CatalogServer>, ShapeProblem> {
    if is_by_server(value) {
        return by_server(value);
    }
    let mut listed = ListedTools::default();
    listed.look_into(value, "", 0)?;
    match value {
        Json::Object(servers) if listed.servers.is_empty() && !servers.is_empty() => by_server(value),
        Json::Object(_) => Ok(listed.servers),
        other if listed.servers.is_empty() => {
            Err((String::new(), format!("found {} without tools", other.kind())))
        }
        _ => Ok(listed.servers),
    }
}

/// Reads m3's own form.
fn by_server(value: &Json) -> Result<Vec<CatalogServer>, ShapeProblem> {
    let Json::Object(servers) = value else { return Ok(Vec::new()) };
    let has_tools = |(_, entry): &(String, Json)| entry.get("tools").is_some();
    if !servers.iter().any(has_tools) {
        let keys: Vec<String> = servers.iter().take(5).map(|(key, _)| format!("`{key}`")).collect();
        return Err((String::new(), format!("found an object of {} without tools", keys.join(", "))));
    }
    let mut read = Vec::new();
    for (server, entry) in servers {
        let pointer = json::pointer_to(&json::pointer_to("", server), "tools");
        let Some(Json::Array(tools)) = entry.get("tools") else {
            return Err((pointer, format!("server `{server}` has no list of tools")));
        };
        if let Some(index) = tools.iter().position(|tool| text(tool, "name").is_none()) {
            return Err((json::pointer_to(&pointer, index), "a tool without a name".to_owned()));
        }
        read.push(CatalogServer { name: server.clone(), tools: tools.clone() });
    }
    Ok(read)
}

/// The tools that stand anywhere in a file, each once: logs repeat them with every request.
#[derive(Default)]
struct ListedTools {
    servers: Vec<CatalogServer>,
    known: std::collections::HashSet<(String, String)>,
}

impl ListedTools {
    /// Adds the tools of a value, whatever stands around them.
    fn look_into(&mut self, value: &Json, pointer: &str, depth: usize) -> Result<(), ShapeProblem> {
        if depth > DEPTH {
            return Ok(());
        }
        match value {
            Json::Array(items) if items.iter().any(is_tool) => self.add_all(items, None, pointer),
            Json::Array(items) => (0..).zip(items).try_for_each(|(index, item): (u64, _)| {
                self.look_into(item, &json::pointer_to(pointer, index), depth + 1)
            }),
            Json::Object(members) => members.iter().try_for_each(|(key, inner)| {
                let pointer = json::pointer_to(pointer, key);
                let written = if LISTS.contains(&key.as_str()) { in_text(inner) } else { None };
                let inner = written.as_ref().unwrap_or(inner);
                match inner {
                    // Logs also list the names of tools.
                    Json::Array(items) if LISTS.contains(&key.as_str()) => {
                        let has_any = items.iter().any(|item| matches!(item, Json::Object(_)));
                        if has_any || depth == 0 { self.add_all(items, None, &pointer) } else { Ok(()) }
                    }
                    // `{"server": [tools]}`
                    Json::Array(items) if depth == 0 && !items.is_empty() && items.iter().all(has_schema) => {
                        self.add_all(items, Some(key), &pointer)
                    }
                    _ if TEXTS.contains(&key.as_str()) => Ok(()),
                    _ => self.look_into(inner, &pointer, depth + 1),
                }
            }),
            _ => Ok(()),
        }
    }

    /// Adds the tools of a list.
    fn add_all(&mut self, items: &[Json], server: Option<&str>, pointer: &str) -> Result<(), ShapeProblem> {
        for (index, item) in (0_u64..).zip(items) {
            // Gemini's tools are lists of functions.
            let lists = LISTS.iter().filter_map(|key| match item.get(key) {
                Some(Json::Array(functions)) => Some((key, functions)),
                _ => None,
            });
            let (place, mut has_list) = (json::pointer_to(pointer, index), false);
            for (key, functions) in lists.filter(|_| text(item, "name").is_none()) {
                has_list = true;
                let place = json::pointer_to(&place, key);
                for (index, function) in (0_u64..).zip(functions) {
                    self.add(function, server, &json::pointer_to(&place, index))?;
                }
            }
            if !has_list {
                self.add(item, server, &place)?;
            }
        }
        Ok(())
    }

    /// Adds one tool. Tools that the provider runs itself may have a type and no name: they are left out.
    fn add(&mut self, item: &Json, server: Option<&str>, pointer: &str) -> Result<(), ShapeProblem> {
        let definition = definition(item);
        let Some(name) = text(definition, "name").filter(|name| !name.is_empty()) else {
            let is_of_provider = text(item, "type").is_some_and(|kind| kind != "function")
                || matches!(item, Json::Object(members) if members.len() == 1);
            return if is_of_provider {
                Ok(())
            } else {
                Err((pointer.to_owned(), "a tool without a name".to_owned()))
            };
        };
        let named = SERVERS.iter().find_map(|key| text(item, key));
        let server = server.or(named).unwrap_or_default();
        if self.known.insert((server.to_owned(), name.to_owned())) {
            let place = self.servers.iter().position(|known| known.name == server);
            let tool = tool(name, definition);
            match place.and_then(|place| self.servers.get_mut(place)) {
                Some(known) => known.tools.push(tool),
                None => self.servers.push(CatalogServer { name: server.to_owned(), tools: vec![tool] }),
            }
        }
        Ok(())
    }
}

/// The JSON that a text holds: some logs keep lists of tools as texts.
fn in_text(value: &Json) -> Option<Json> {
    let text = value.as_str().filter(|text| text.trim_start().starts_with(['[', '{']))?;
    json::parse(text.as_bytes()).ok().map(|(value, _)| value)
}

fn text<'j>(value: &'j Json, key: &str) -> Option<&'j str> {
    value.get(key).and_then(Json::as_str)
}

/// The part of an item that has the name: OpenAI and Bedrock put it into a member.
fn definition(item: &Json) -> &Json {
    let inner = ["function", "toolSpec", "tool_spec", "custom"].iter().filter_map(|key| item.get(key));
    inner.into_iter().find(|inner| text(inner, "name").is_some()).unwrap_or(item)
}

fn has_schema(item: &Json) -> bool {
    let definition = definition(item);
    text(definition, "name").is_some() && SCHEMAS.iter().any(|key| definition.get(key).is_some())
}

/// Whether an item of a list is a tool, wherever the list stands.
fn is_tool(item: &Json) -> bool {
    let is_function = text(item, "type") == Some("function") && text(definition(item), "name").is_some();
    let has_functions = ["functionDeclarations", "function_declarations"]
        .iter()
        .any(|key| matches!(item.get(key), Some(Json::Array(_))));
    // A call has arguments in the place of a schema, also where these are called `parameters`.
    let is_call = ["arguments", "args"].iter().any(|key| definition(item).get(key).is_some());
    (is_function || has_schema(item)) && !is_call || has_functions
}

/// A tool in the form of the Model Context Protocol.
fn tool(name: &str, definition: &Json) -> Json {
    let Json::Object(members) = definition else { return Json::Null };
    let schema = SCHEMAS.iter().find_map(|key| definition.get(key).filter(|it| **it != Json::Null));
    // Bedrock's schema stands in a member `json`.
    let schema =
        schema.map(|schema| schema.get("json").filter(|_| schema.get("type").is_none()).unwrap_or(schema));
    let anything = Json::Object(vec![("type".to_owned(), Json::String("object".to_owned()))]);
    let schema = schema.map_or(anything, |schema| with_lower_types(schema, 0));
    let is_other = |key: &str| key != "name" && !SCHEMAS.contains(&key) && !SERVERS.contains(&key);
    let others = members.iter().filter(|(key, value)| is_other(key) && *value != Json::Null);
    let named = [("name".to_owned(), Json::String(name.to_owned())), ("inputSchema".to_owned(), schema)];
    Json::Object(named.into_iter().chain(others.cloned()).collect())
}

/// A schema with the names of types in small letters, which Gemini writes in capital ones.
fn with_lower_types(schema: &Json, depth: usize) -> Json {
    let is_type = |value: &Json| {
        let names = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];
        value.as_str().is_some_and(|kind| names.contains(&kind))
    };
    match schema {
        _ if depth > SCHEMA_DEPTH => schema.clone(),
        Json::Object(members) => {
            let member = |(key, value): &(String, Json)| {
                let value = match value.as_str().filter(|_| key == "type" && is_type(value)) {
                    Some(kind) => Json::String(kind.to_ascii_lowercase()),
                    None => with_lower_types(value, depth + 1),
                };
                (key.clone(), value)
            };
            Json::Object(members.iter().map(member).collect())
        }
        Json::Array(items) => {
            Json::Array(items.iter().map(|item| with_lower_types(item, depth + 1)).collect())
        }
        other => other.clone(),
    }
}
