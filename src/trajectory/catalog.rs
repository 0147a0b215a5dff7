//! The tools that models were offered: `{server: {tools: [{name, inputSchema, ...}]}}`, as servers answer
//! `tools/list`. Scoring asks it which arguments are optional and which arrays are sets.

use std::collections::HashMap;
use std::path::Path;

use super::json::{self, Json};
use super::source::{Source, SourceError};

/// The input schemas of tools by `server/tool`.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    schemas: HashMap<String, Json>,
}

/// A catalog cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// Opening or reading failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It is not JSON.
    #[error("`{path}:{line}:{column}` is not JSON: {message}")]
    Syntax {
        /// The file.
        path: String,
        /// Line, from 1.
        line: u64,
        /// Column, from 1.
        column: u64,
        /// What is wrong.
        message: String,
    },
    /// It is JSON of another shape.
    #[error(
        "`{path}` {pointer}: {message} (a catalog is `{{\"server\": {{\"tools\": [{{\"name\": .., \"inputSchema\": ..}}]}}}}`)"
    )]
    Shape {
        /// The file.
        path: String,
        /// JSON pointer.
        pointer: String,
        /// What is wrong.
        message: String,
    },
}

/// A catalog larger than this is not one, in bytes; the benchmark's 232 tools take 0.3 MB.
const MAX_BYTES: u64 = 256 << 20;

impl Catalog {
    /// Reads a catalog file.
    ///
    /// # Errors
    /// [`CatalogError`], with the place.
    pub fn open(path: &Path) -> Result<Self, CatalogError> {
        let source = Source::open(path)?;
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(source.reader()?, MAX_BYTES), &mut text)
            .map_err(|cause| source.error(cause))?;
        let (value, _) = json::parse(&text).map_err(|error| {
            let (line, column) = source.position(error.offset as u64);
            CatalogError::Syntax { path: source.name().to_owned(), line, column, message: error.message }
        })?;
        Self::from_json(&value).map_err(|(pointer, message)| CatalogError::Shape {
            path: source.name().to_owned(),
            pointer,
            message,
        })
    }

    /// Takes the schemas out of a catalog's JSON. On failure, a JSON pointer and a message.
    fn from_json(value: &Json) -> Result<Self, (String, String)> {
        let Json::Object(servers) = value else {
            return Err((String::new(), format!("expected an object of servers, found {}", value.kind())));
        };
        let mut schemas = HashMap::new();
        for (server, entry) in servers {
            let pointer = json::pointer_to(&json::pointer_to("", server), "tools");
            let Some(Json::Array(tools)) = entry.get("tools") else {
                return Err((pointer, format!("server `{server}` has no list of tools")));
            };
            for (index, tool) in tools.iter().enumerate() {
                let Some(name) = tool.get("name").and_then(Json::as_str) else {
                    return Err((json::pointer_to(&pointer, index), "a tool without a name".to_owned()));
                };
                if let Some(schema) = tool.get("inputSchema") {
                    schemas.insert(format!("{server}/{name}"), schema.clone());
                }
            }
        }
        Ok(Self { schemas })
    }

    /// The input schema of `server/tool`, if the catalog has it.
    #[must_use]
    pub fn input_schema(&self, tool: &str) -> Option<&Json> {
        self.schemas.get(tool)
    }

    /// The number of tools with a schema.
    #[must_use]
    pub fn len(&self) -> usize {
        self.schemas.len()
    }

    /// True without any tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.schemas.is_empty()
    }
}
