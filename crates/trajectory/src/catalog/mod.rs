//! The tools that models were offered: `{server: {tools: [{name, inputSchema, ...}]}}`, or any other shape in which
//! programs write them. Scoring uses it to know which arguments are optional and which arrays are sets.

mod lookup;
mod shapes;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use m3_support::text::shortened;

pub use lookup::ToolLookup;

use super::json::Json;
use super::whole::{WholeFile, WholeFileError};

/// Tools by `server/tool`, or by the name alone where the file names no server; also keeps the order of the file.
#[derive(Debug, Default)]
pub struct Catalog {
    name: String,
    digest: String,
    servers: Vec<CatalogServer>,
    /// The place of each name in `servers`; of several with the same name, the place of the last.
    places: HashMap<String, (usize, usize)>,
    lookup: ToolLookup,
    is_used: AtomicBool,
}

/// A server of a catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogServer {
    /// The name of the server; empty for tools of which no server is known.
    pub name: String,
    /// The tools of the server as in the file; each is an object with a `name`.
    pub tools: Vec<Json>,
}

/// Why a catalog cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The file cannot be read, or is not JSON.
    #[error(transparent)]
    File(#[from] WholeFileError),
    /// The file is JSON of another form.
    #[error(
        "`{path}`{}: {} (a catalog is `{{\"server\": {{\"tools\": [{{\"name\": .., \"inputSchema\": ..}}]}}}}`, the answer \
         of `tools/list`, the `tools` of a request to OpenAI, Anthropic or Gemini, or a log of such requests)",
        if .pointer.is_empty() { String::new() } else { format!(" {}", shortened(.pointer, 200)) },
        shortened(.message, 200)
    )]
    Shape {
        /// The path of the file.
        path: String,
        /// The place in the file, as a JSON pointer.
        pointer: String,
        /// The problem in words.
        message: String,
    },
}

/// The largest catalog; the benchmark's 232 tools take 0.3 MB.
const MAX_MEBIBYTES: u64 = 256;

impl Catalog {
    /// Reads a catalog file.
    ///
    /// # Errors
    /// [`CatalogError`], with the place.
    pub fn open(path: &Path) -> Result<Self, CatalogError> {
        Self::from_file(WholeFile::read_lines(path, MAX_MEBIBYTES)?)
    }

    /// Whether a JSON value has a form of catalogs, and is no configuration of servers.
    #[must_use]
    pub fn is_shape_of(value: &Json) -> bool {
        let is_configuration =
            ["mcpServers", "servers", "simulated"].iter().any(|key| value.get(key).is_some());
        let has_tools = || shapes::servers(value).is_ok_and(|servers| !servers.is_empty());
        shapes::is_by_server(value) || !is_configuration && has_tools()
    }

    /// Reads the catalog from a file that has been read.
    ///
    /// # Errors
    /// [`CatalogError::Shape`], with the place.
    pub fn from_file(file: WholeFile) -> Result<Self, CatalogError> {
        let WholeFile { name, digest, value, .. } = file;
        match Self::from_json(&value) {
            Ok(catalog) => Ok(Self { name, digest, ..catalog }),
            Err((pointer, message)) => Err(CatalogError::Shape { path: name, pointer, message }),
        }
    }

    /// Reads the servers and tools from a catalog's JSON. Errors are a JSON pointer and a message.
    fn from_json(value: &Json) -> Result<Self, (String, String)> {
        let mut catalog = Self { servers: shapes::servers(value)?, ..Self::default() };
        for (at, server) in catalog.servers.iter().enumerate() {
            for (index, tool) in server.tools.iter().enumerate() {
                let name = tool.get("name").and_then(Json::as_str).unwrap_or_default();
                if server.name.is_empty() {
                    catalog.lookup.add(name);
                    catalog.places.insert(name.to_owned(), (at, index));
                } else {
                    catalog.places.insert(format!("{}/{name}", server.name), (at, index));
                }
            }
        }
        Ok(catalog)
    }

    /// The file as the user named it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The SHA-256 of the file in hexadecimal, after decompression.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The servers in the order of the file.
    #[must_use]
    pub fn servers(&self) -> &[CatalogServer] {
        &self.servers
    }

    /// All tools as `server/tool`, without a server as `tool`, in any order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// The tool of a call with this name, in the form of `tools/list`, if the catalog has it. A tool without a server is that
    /// of any server ([`ToolLookup`]).
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Json> {
        let place = self.places.get(name).or_else(|| self.places.get(self.lookup.find(name)?));
        let &(server, tool) = place?;
        self.servers.get(server)?.tools.get(tool)
    }

    /// Whether a tool declares itself read-only (`annotations.readOnlyHint` of the Model Context Protocol); `None` if
    /// it declares nothing.
    #[must_use]
    pub fn is_read_only(&self, tool: &str) -> Option<bool> {
        match self.tool(tool)?.get("annotations")?.get("readOnlyHint")? {
            Json::Bool(is_read_only) => Some(*is_read_only),
            _ => None,
        }
    }

    /// The input schema of `server/tool`, if the catalog has it.
    #[must_use]
    pub fn input_schema(&self, tool: &str) -> Option<&Json> {
        let tool = self.tool(tool)?;
        // Some clients write the key in the style of their own language.
        let schema = tool.get("inputSchema").or_else(|| tool.get("input_schema"));
        self.is_used.fetch_or(schema.is_some(), Ordering::Relaxed);
        schema
    }

    /// Whether any requested schema was in the catalog: if none was, it may be the wrong file.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    /// The number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True if there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

#[cfg(test)]
mod tests;
