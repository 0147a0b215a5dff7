//! The tools against which calls are checked, with their schemas, each prepared once when it is needed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use m3_mcp::arguments::{ArgumentProblem, ArgumentSchema, SchemaError};
use m3_mcp::{READ_RESOURCE, ToolCatalog, ToolName};
use m3_trajectory::Call;
use m3_trajectory::catalog::ToolLookup;
use serde_json::{Map, Value};

use super::outcome::Outcome;

/// The tools against which calls are checked. Clones share the schemas that become known later.
#[derive(Debug, Clone, Default)]
pub struct KnownTools {
    tools: HashMap<String, Arc<KnownTool>>,
    /// Tools of which no server is known: they are those of any server.
    lookup: ToolLookup,
    /// Servers with a known list of tools.
    servers: HashSet<String>,
    /// Servers whose tools could not be listed.
    silent: HashSet<String>,
    /// Whether no server's tools could be listed.
    is_unlisted: bool,
}

#[derive(Debug)]
struct KnownTool {
    schema: Map<String, Value>,
    prepared: OnceLock<Result<ArgumentSchema, SchemaError>>,
    /// Why some arguments could not be checked.
    unchecked: OnceLock<SchemaError>,
    /// The tool's annotation `readOnlyHint`.
    read_only: Option<bool>,
}

/// What a tool's schema says of arguments.
pub(super) enum ArgumentFit {
    UnknownTool,
    /// They are accepted unchecked: the schema cannot be used, or the check would take too much.
    Unchecked,
    /// The problems; none if they fit.
    Checked(Vec<ArgumentProblem>),
}

/// The most values of schemas that are prepared before they are needed: each may take some kilobytes.
const MOST_VALUES_BEFOREHAND: usize = 100_000;

/// The number of JSON values in a schema.
fn values(schema: &Map<String, Value>) -> usize {
    let (mut count, mut open) = (0, schema.values().collect::<Vec<_>>());
    while let Some(value) = open.pop() {
        count += 1;
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    count
}

impl KnownTool {
    fn prepared(&self) -> &Result<ArgumentSchema, SchemaError> {
        self.prepared.get_or_init(|| ArgumentSchema::new(&self.schema))
    }

    /// Why the schema could not be used; `None` also if it was not needed so far.
    fn schema_error(&self) -> Option<&SchemaError> {
        self.prepared.get().and_then(|prepared| prepared.as_ref().err()).or(self.unchecked.get())
    }
}

impl KnownTools {
    /// The tools of a catalog.
    #[must_use]
    pub fn new(catalog: &ToolCatalog) -> Self {
        let mut known = Self::default();
        known.add(catalog);
        known
    }

    /// The tools of a catalog. Tools that `self` has with the same schema are shared, so no schema is prepared twice.
    #[must_use]
    pub fn among(&self, catalog: &ToolCatalog) -> Self {
        let mut known = Self::new(catalog);
        for (name, tool) in &mut known.tools {
            if let Some(same) = self.tools.get(name).filter(|same| same.schema == tool.schema) {
                *tool = Arc::clone(same);
            }
        }
        known
    }

    /// No tools are known: outcomes are decided by answers alone.
    #[must_use]
    pub fn unlisted() -> Self {
        Self { is_unlisted: true, ..Self::default() }
    }

    /// Adds tools that are not known yet.
    pub fn add(&mut self, catalog: &ToolCatalog) {
        self.servers.extend(catalog.servers.iter().map(|server| server.server.clone()));
        for (name, tool) in catalog.tools() {
            if name.server.is_empty() {
                self.lookup.add(&name.tool);
            }
            self.tools.entry(name.to_string()).or_insert_with(|| {
                Arc::new(KnownTool {
                    schema: tool.input_schema.clone(),
                    prepared: OnceLock::new(),
                    unchecked: OnceLock::new(),
                    read_only: tool.is_read_only(),
                })
            });
        }
    }

    /// Notes that a server's tools cannot be listed: a call of its tools is judged only if a catalog has the tool.
    pub fn add_silent_server(&mut self, server: &str) {
        self.silent.insert(server.to_owned());
    }

    /// The tool that a call with this name means.
    fn tool(&self, name: &str) -> Option<&KnownTool> {
        let tool = self.tools.get(name).or_else(|| self.tools.get(self.lookup.find(name)?));
        tool.map(|tool| &**tool)
    }

    pub(super) fn contains(&self, tool: &str) -> bool {
        self.tool(tool).is_some()
    }

    /// The number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether the tool `server/tool` declares that it changes nothing; `None` if it declares nothing, or is not
    /// known.
    #[must_use]
    pub fn is_read_only(&self, tool: &str) -> Option<bool> {
        self.tool(tool)?.read_only
    }

    /// True if there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tools as `server/tool`, in any order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Known tools whose schema was needed but cannot be used, and so accepts everything. Each has the reason; sorted
    /// by name.
    #[must_use]
    pub fn unusable_schemas(&self) -> Vec<(&str, &SchemaError)> {
        let tools = self.tools.iter();
        let mut unusable: Vec<(&str, &SchemaError)> =
            tools.filter_map(|(name, tool)| Some((name.as_str(), tool.schema_error()?))).collect();
        unusable.sort_unstable_by_key(|(name, _)| *name);
        unusable
    }

    /// Prepares schemas before they are needed, until they have [`MOST_VALUES_BEFOREHAND`] values together. Returns
    /// the tools with a schema that cannot be used, each with the reason; sorted by name.
    #[must_use]
    pub fn all_unusable_schemas(&self) -> Vec<(&str, &SchemaError)> {
        let mut tools: Vec<_> = self.tools.iter().collect();
        tools.sort_unstable_by_key(|(name, _)| *name);
        let mut left = MOST_VALUES_BEFOREHAND;
        for (_, tool) in tools {
            // A large schema must not hide those of other tools.
            let values = values(&tool.schema);
            if values < left {
                left -= values;
                let _ = tool.prepared();
            }
        }
        self.unusable_schemas()
    }

    /// What the schema says of arguments.
    pub(super) fn fit(&self, tool: &str, arguments: &Map<String, Value>) -> ArgumentFit {
        let Some(known) = self.tool(tool) else { return ArgumentFit::UnknownTool };
        let Ok(schema) = known.prepared() else { return ArgumentFit::Unchecked };
        match schema.problems(&Value::Object(arguments.clone())) {
            Ok(problems) => ArgumentFit::Checked(problems),
            Err(error) => {
                known.unchecked.get_or_init(|| error);
                ArgumentFit::Unchecked
            }
        }
    }

    /// Notes that arguments of a tool were not checked.
    pub(super) fn note_unchecked(&self, tool: &str, reason: &str) {
        if let Some(tool) = self.tool(tool) {
            tool.unchecked.get_or_init(|| SchemaError { reason: reason.to_owned() });
        }
    }

    /// Whether this call has read a resource of a listed server with the host's own tool, which is in no list: it is
    /// offered once a result links to a resource.
    pub(super) fn has_read_resource(&self, call: &Call) -> bool {
        let is_read = |name: ToolName| name.tool == READ_RESOURCE && self.servers.contains(&name.server);
        call.result.is_some()
            && call.recorded_outcome() != Some(Outcome::UnknownTool.name())
            && ToolName::parse(&call.tool).is_some_and(is_read)
    }

    pub(super) fn is_silent(&self, tool: &str) -> bool {
        self.is_unlisted || ToolName::parse(tool).is_some_and(|name| self.silent.contains(&name.server))
    }
}
