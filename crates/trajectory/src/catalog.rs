//! The tools that models were offered: `{server: {tools: [{name, inputSchema, ...}]}}`, as servers answer
//! `tools/list`. Scoring uses it to know which arguments are optional and which arrays are sets.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use m3_support::text::shortened;

use super::json::{self, Json};
use super::whole::{WholeFile, WholeFileError};

/// Tools by `server/tool`, which also keeps the order of the file.
#[derive(Debug, Default)]
pub struct Catalog {
    name: String,
    digest: String,
    servers: Vec<CatalogServer>,
    /// The place of each `server/tool` in `servers`; of several with the same name, the place of the last.
    places: HashMap<String, (usize, usize)>,
    is_used: AtomicBool,
}

/// A server of a catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogServer {
    /// The name of the server.
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
        "`{path}`{}: {} (a catalog is `{{\"server\": {{\"tools\": [{{\"name\": .., \"inputSchema\": ..}}]}}}}`)",
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
        Self::from_file(WholeFile::read(path, MAX_MEBIBYTES)?)
    }

    /// Whether a JSON value has the outer form of a catalog: servers with lists of tools.
    #[must_use]
    pub fn is_shape_of(value: &Json) -> bool {
        let is_server = |server: &Json| matches!(server.get("tools"), Some(Json::Array(_)));
        matches!(value, Json::Object(servers) if !servers.is_empty() && servers.iter().all(|(_, server)| is_server(server)))
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
        let Json::Object(servers) = value else {
            return Err((String::new(), format!("expected an object of servers, found {}", value.kind())));
        };
        let mut catalog = Self::default();
        for (server, entry) in servers {
            let pointer = json::pointer_to(&json::pointer_to("", server), "tools");
            let Some(Json::Array(tools)) = entry.get("tools") else {
                return Err((pointer, format!("server `{server}` has no list of tools")));
            };
            for (index, tool) in tools.iter().enumerate() {
                let Some(name) = tool.get("name").and_then(Json::as_str) else {
                    return Err((json::pointer_to(&pointer, index), "a tool without a name".to_owned()));
                };
                catalog.places.insert(format!("{server}/{name}"), (catalog.servers.len(), index));
            }
            catalog.servers.push(CatalogServer { name: server.clone(), tools: tools.clone() });
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

    /// All tools as `server/tool`, in any order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// The tool `server/tool` as in the file, if the catalog has it.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Json> {
        let &(server, tool) = self.places.get(name)?;
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
