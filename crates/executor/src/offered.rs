//! The tools that models are offered, with everything that is computed once for all tasks with the same tools.

use std::sync::OnceLock;

use m3_llm::{ToolDefinition, ToolDefinitions};
use m3_mcp::names::{ModelNames, NameCollision};
use m3_mcp::{READ_RESOURCE, ServerTools, ToolCatalog, read_resource_tool};
use m3_outcomes::KnownTools;
use m3_support::canonical::canonical;
use m3_support::text::hash_of_bytes;

use super::Mode;
use super::schemas;

/// The tools of a catalog with their hash, and in the forms that calls, models and providers need.
#[derive(Debug)]
pub struct OfferedTools {
    catalog: ToolCatalog,
    hash: String,
    known: KnownTools,
    names: Result<ModelNames, NameCollision>,
    definitions: OnceLock<ToolDefinitions>,
}

impl OfferedTools {
    /// The tools of a catalog.
    #[must_use]
    pub fn new(catalog: ToolCatalog) -> Self {
        Self::among(catalog, &KnownTools::default())
    }

    /// The tools of a catalog; the schemas of those that are known already are not prepared again.
    #[must_use]
    pub fn among(catalog: ToolCatalog, known: &KnownTools) -> Self {
        Self {
            hash: hash_of_bytes(canonical(&catalog.to_json()).as_bytes()),
            known: known.among(&catalog),
            names: ModelNames::new(catalog.tools().map(|(name, _)| name)),
            definitions: OnceLock::new(),
            catalog,
        }
    }

    /// These tools and, for each of these servers, the tool that reads its resources, unless the server has a tool of
    /// this name. `None` if that changes nothing, or would give two tools names that look the same to models.
    pub(super) fn with_resources_of(&self, servers: &[String]) -> Option<Self> {
        let lacks = |server: &ServerTools| {
            servers.contains(&server.server)
                && server.tools.iter().all(|offered| offered.name != READ_RESOURCE)
        };
        if !self.catalog.servers.iter().any(lacks) {
            return None;
        }
        let mut catalog = self.catalog.clone();
        for server in catalog.servers.iter_mut().filter(|server| lacks(server)) {
            server.tools.push(read_resource_tool());
        }
        Some(Self::among(catalog, &self.known)).filter(|offered| offered.names.is_ok() || self.names.is_err())
    }

    /// The tools.
    #[must_use]
    pub fn catalog(&self) -> &ToolCatalog {
        &self.catalog
    }

    /// The hash of the catalog as canonical JSON, descriptions and schemas included.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The tools against which calls are checked.
    pub(super) fn known(&self) -> &KnownTools {
        &self.known
    }

    /// The tools' names for models; an error if two would look the same, which matters only to native tool calling.
    pub(super) fn names(&self) -> Result<&ModelNames, &NameCollision> {
        self.names.as_ref()
    }

    /// Two tools that a model in this mode could not distinguish.
    #[must_use]
    pub fn collision(&self, mode: Mode) -> Option<&NameCollision> {
        self.names.as_ref().err().filter(|_| mode == Mode::Native)
    }

    /// The tools as providers take them.
    ///
    /// # Errors
    /// [`NameCollision`].
    pub fn definitions(&self) -> Result<ToolDefinitions, &NameCollision> {
        let names = self.names()?;
        let definition = |(name, tool)| {
            let (description, schema) = schemas::native(tool);
            Some(ToolDefinition { name: names.model_name(&name)?, description, schema })
        };
        let all = || self.catalog.tools().filter_map(definition).collect::<Vec<_>>().into();
        Ok(self.definitions.get_or_init(all).clone())
    }
}
