//! The differences between the tools that servers offer and a list of tools, such as the one that a benchmark was
//! published with (`m3.catalog-differences/1`).

use std::collections::{BTreeMap, BTreeSet};

use m3_mcp::{Tool, ToolCatalog};
use m3_report::{Cell, Column, Sheet};
use m3_support::text::{counted, shortened};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The report that `m3 tools --compare CATALOG --format json` writes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "m3.catalog-differences/1")]
pub(crate) struct CatalogDifferences {
    /// Always `m3.catalog-differences/1`.
    pub(crate) schema: String,
    /// The number of tools in the list.
    pub(crate) listed: usize,
    /// The number of tools that are offered.
    pub(crate) offered: usize,
    /// The number of offered tools that are the same in everything that this report compares.
    pub(crate) same: usize,
    /// The servers of the list, then the servers that are not in the list.
    pub(crate) servers: Vec<ServerDifferences>,
    /// Every difference, in the order of the servers and their tools.
    pub(crate) differences: Vec<ToolDifference>,
}

/// The comparison of the tools of one server, which may be in only one of the catalogs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ServerDifferences {
    /// The name of the server.
    pub(crate) server: String,
    /// Whether the server failed, so that none of its tools is offered.
    pub(crate) is_failed: bool,
    /// The number of the server's tools in the list.
    pub(crate) listed: usize,
    /// The number of tools that the server offers.
    pub(crate) offered: usize,
    /// The number of offered tools that are the same.
    pub(crate) same: usize,
    /// The number of the server's tools with another description.
    pub(crate) descriptions: usize,
    /// The number of the server's tools with other arguments: other names, types, defaults, or required ones.
    pub(crate) arguments: usize,
}

/// One difference between the listed and the offered form of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ToolDifference {
    /// The tool as `server/tool`.
    pub(crate) tool: String,
    /// The kind of difference.
    pub(crate) change: Change,
    /// The argument that differs; for `other`, the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) argument: Option<String>,
    /// The value in the list; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) listed: Option<Value>,
    /// The value that is offered; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offered: Option<Value>,
}

/// The kind of difference in a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    /// The tool is not offered.
    MissingTool,
    /// The tool is not in the list.
    ExtraTool,
    /// The description of the tool differs.
    Description,
    /// An argument of the list is not offered.
    MissingArgument,
    /// An argument is not in the list.
    ExtraArgument,
    /// An argument is required in one catalog and not in the other.
    Required,
    /// The schema of an argument differs, in more than its default and its texts.
    Type,
    /// The default of an argument differs.
    Default,
    /// The texts of an argument differ, such as its title; without an argument, the texts of definitions.
    ArgumentText,
    /// The schema of the arguments differs outside the arguments: definitions, whether others are allowed.
    InputSchema,
    /// The schema of the results differs.
    OutputSchema,
    /// Another key of the tool differs, such as `annotations`.
    Other,
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Self::MissingTool => "missing tool",
            Self::ExtraTool => "extra tool",
            Self::Description => "description",
            Self::MissingArgument => "missing",
            Self::ExtraArgument => "extra",
            Self::Required => "required",
            Self::Type => "type",
            Self::Default => "default",
            Self::ArgumentText => "text",
            Self::InputSchema => "input schema",
            Self::OutputSchema => "output schema",
            Self::Other => "other",
        }
    }

    /// Whether calls that fit one schema may not fit the other, or mean something else.
    fn is_of_arguments(self) -> bool {
        matches!(
            self,
            Self::MissingArgument
                | Self::ExtraArgument
                | Self::Required
                | Self::Type
                | Self::Default
                | Self::InputSchema
        )
    }
}

impl CatalogDifferences {
    /// Compares the offered tools with a list. `failed` are the names of servers that did not start.
    pub(crate) fn new(listed: &ToolCatalog, offered: &ToolCatalog, failed: &BTreeSet<String>) -> Self {
        let names = |catalog: &'_ ToolCatalog| -> Vec<String> {
            catalog.servers.iter().map(|server| server.server.clone()).collect()
        };
        let (of_list, of_offer) = (names(listed), names(offered));
        let extra = of_offer.iter().filter(|name| !of_list.contains(name));
        let (mut servers, mut differences) = (Vec::new(), Vec::new());
        for server in of_list.iter().chain(extra) {
            let (listed, offered) = (tools_of(listed, server), tools_of(offered, server));
            let found = server_differences(server, &listed, &offered);
            let changed = |is: fn(Change) -> bool| {
                let tools = found.iter().filter(|found| is(found.change)).map(|found| &found.tool);
                tools.collect::<BTreeSet<_>>().len()
            };
            servers.push(ServerDifferences {
                server: server.clone(),
                is_failed: failed.contains(server),
                listed: listed.len(),
                offered: offered.len(),
                same: offered.len() - changed(|change| change != Change::MissingTool),
                descriptions: changed(|change| change == Change::Description),
                arguments: changed(Change::is_of_arguments),
            });
            differences.extend(found);
        }
        let sum = |count: fn(&ServerDifferences) -> usize| servers.iter().map(count).sum();
        Self {
            schema: "m3.catalog-differences/1".to_owned(),
            listed: sum(|server| server.listed),
            offered: sum(|server| server.offered),
            same: sum(|server| server.same),
            servers,
            differences,
        }
    }

    /// A table of servers, and one of differences for each server that has any.
    pub(crate) fn sheets(&self) -> Vec<Sheet> {
        let of_servers = self.servers.iter().map(|server| self.differences_sheet(&server.server));
        let mut sheets: Vec<Sheet> = [self.servers_sheet()].into_iter().chain(of_servers).collect();
        sheets.retain(|sheet| !sheet.rows.is_empty());
        sheets
    }

    fn servers_sheet(&self) -> Sheet {
        let row = |server: &ServerDifferences| {
            let counts = [server.listed, server.offered, server.same, server.descriptions, server.arguments];
            [Cell::new(&server.server)].into_iter().chain(counts.map(|count| Cell::new(count.to_string())))
        };
        let failed: Vec<&str> = self
            .servers
            .iter()
            .filter(|server| server.is_failed)
            .map(|server| server.server.as_str())
            .collect();
        let note = format!("Not started, so none of their tools is offered: {}", failed.join(", "));
        let mut columns = vec![Column::text("server")];
        columns.extend(
            [("tools listed", "listed"), ("tools offered", "offered"), ("the same", "same")]
                .into_iter()
                .chain([("other description", "descr."), ("other arguments", "args")])
                .map(|(name, short)| Column::number(name, short)),
        );
        Sheet {
            title: format!(
                "{} listed, {} offered, {} the same",
                counted(self.listed, "tool"),
                self.offered,
                self.same
            ),
            notes: if failed.is_empty() { Vec::new() } else { vec![note] },
            columns,
            rows: self.servers.iter().map(|server| row(server).collect()).collect(),
        }
    }

    fn differences_sheet(&self, server: &str) -> Sheet {
        let row = |(tool, found): (&str, &ToolDifference)| {
            let [listed, offered] = [&found.listed, &found.offered].map(|value| found.shown(value.as_ref()));
            [tool.to_owned(), found.what(), listed, offered].into_iter().map(Cell::new).collect()
        };
        let of_server = self.differences.iter().filter_map(|found| {
            let (of, tool) = found.tool.split_once('/')?;
            (of == server).then_some((tool, found))
        });
        let rows: Vec<Vec<Cell>> = of_server.map(row).collect();
        Sheet {
            title: format!("{server}: {}", counted(rows.len(), "difference")),
            notes: Vec::new(),
            columns: ["tool", "what differs", "listed", "offered"].map(Column::text).to_vec(),
            rows,
        }
    }
}

/// The most characters of a value in a table.
const MAX_SHOWN: usize = 60;

/// The tools of a server, in their order.
fn tools_of<'a>(catalog: &'a ToolCatalog, server: &str) -> Vec<&'a Tool> {
    catalog.servers.iter().filter(|found| found.server == server).flat_map(|found| &found.tools).collect()
}

fn server_differences(server: &str, listed: &[&Tool], offered: &[&Tool]) -> Vec<ToolDifference> {
    let by_name = |tools: &[&'_ Tool], name: &str| tools.iter().position(|tool| tool.name == name);
    let mut found = Vec::new();
    for tool in listed {
        let full = format!("{server}/{}", tool.name);
        match by_name(offered, &tool.name) {
            Some(index) => tool_differences(&full, tool, offered[index], &mut found),
            None => found.push(ToolDifference::new(&full, Change::MissingTool, None, (None, None))),
        }
    }
    for tool in offered.iter().filter(|tool| by_name(listed, &tool.name).is_none()) {
        let full = format!("{server}/{}", tool.name);
        found.push(ToolDifference::new(&full, Change::ExtraTool, None, (None, None)));
    }
    found
}

impl ToolDifference {
    /// The difference, in a few words.
    fn what(&self) -> String {
        match &self.argument {
            Some(key) if self.change == Change::Other => key.clone(),
            Some(argument) => format!("{argument}: {}", self.change.name()),
            None => self.change.name().to_owned(),
        }
    }

    /// A value of the difference on one line; a schema is shown without its texts.
    fn shown(&self, value: Option<&Value>) -> String {
        let text = match value {
            None => return String::new(),
            Some(Value::String(text)) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Some(schema) if self.change.is_of_arguments() => without_texts(schema).to_string(),
            Some(value) => value.to_string(),
        };
        shortened(&text, MAX_SHOWN)
    }

    fn new(
        tool: &str,
        change: Change,
        argument: Option<&str>,
        (listed, offered): (Option<Value>, Option<Value>),
    ) -> Self {
        Self { tool: tool.to_owned(), change, argument: argument.map(str::to_owned), listed, offered }
    }
}

fn tool_differences(name: &str, listed: &Tool, offered: &Tool, found: &mut Vec<ToolDifference>) {
    let mut compare = |change, argument: Option<&str>, listed: Option<Value>, offered: Option<Value>| {
        if listed != offered {
            found.push(ToolDifference::new(name, change, argument, (listed, offered)));
        }
    };
    let text = |tool: &Tool| tool.description.clone().map(Value::String);
    compare(Change::Description, None, text(listed), text(offered));
    let (before, after) = (arguments(listed), arguments(offered));
    for (argument, (old, was_required)) in &before {
        let name = Some(argument.as_str());
        let Some((new, is_required)) = after.get(argument) else {
            compare(Change::MissingArgument, name, Some(old.clone()), None);
            continue;
        };
        compare(Change::Required, name, Some(json!(was_required)), Some(json!(is_required)));
        let default = |schema: &Value| schema.get("default").cloned();
        compare(Change::Default, name, default(old), default(new));
        let (old, new) = (without_default(old), without_default(new));
        let change = change_of(&old, &new, Change::Type);
        compare(change, name, Some(old), Some(new));
    }
    for (argument, (new, _)) in after.iter().filter(|(argument, _)| !before.contains_key(*argument)) {
        compare(Change::ExtraArgument, Some(argument), None, Some(new.clone()));
    }
    let (old, new) = (rest_of_schema(&listed.input_schema), rest_of_schema(&offered.input_schema));
    let change = change_of(&old, &new, Change::InputSchema);
    compare(change, None, Some(old), Some(new));
    let output = |tool: &Tool| tool.output_schema.clone().map(Value::Object);
    compare(Change::OutputSchema, None, output(listed), output(offered));
    let keys: BTreeSet<&String> = listed.extra.keys().chain(offered.extra.keys()).collect();
    for key in keys {
        compare(Change::Other, Some(key), listed.extra.get(key).cloned(), offered.extra.get(key).cloned());
    }
}

/// The schemas of a tool's arguments by name, and whether each is required; none if the tool's schema has no object
/// `properties`.
fn arguments(tool: &Tool) -> BTreeMap<String, (Value, bool)> {
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|found| found == name));
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    properties.map(|(name, schema)| (name.clone(), (schema.clone(), is_required(name)))).collect()
}

/// The kind of difference between two schemas: their texts alone, or `more`.
fn change_of(listed: &Value, offered: &Value, more: Change) -> Change {
    if without_texts(listed) == without_texts(offered) { Change::ArgumentText } else { more }
}

/// A schema without its own default.
fn without_default(schema: &Value) -> Value {
    let mut schema = schema.clone();
    schema.as_object_mut().map(|schema| schema.remove("default"));
    schema
}

/// The keywords of a schema that are texts, and do not decide which values fit it.
const TEXTS: [&str; 3] = ["title", "description", "$schema"];

/// A schema without texts.
fn without_texts(schema: &Value) -> Value {
    match schema {
        Value::Object(schema) => {
            let kept = schema.iter().filter(|(key, _)| !TEXTS.contains(&key.as_str()));
            let inner = |(key, value): (&String, &Value)| match value.as_object() {
                // The keys below these are names, not keywords.
                Some(named) if ["properties", "$defs", "definitions"].contains(&key.as_str()) => {
                    let named = named.iter().map(|(name, schema)| (name.clone(), without_texts(schema)));
                    (key.clone(), Value::Object(named.collect()))
                }
                _ => (key.clone(), without_texts(value)),
            };
            Value::Object(kept.map(inner).collect())
        }
        Value::Array(schemas) => schemas.iter().map(without_texts).collect(),
        other => other.clone(),
    }
}

/// The schema of arguments without the arguments, and without its own texts, which frameworks make up.
fn rest_of_schema(schema: &Map<String, Value>) -> Value {
    let mut rest = schema.clone();
    for key in ["properties", "required"].iter().chain(&TEXTS) {
        rest.remove(*key);
    }
    Value::Object(rest)
}
