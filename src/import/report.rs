//! What an import found: the report with the result for each file, and the tools that files say were offered.

use std::collections::HashMap;
use std::path::Path;

use m3_support::text::visible;
use m3_traces::{Notes, stem};
use m3_trajectory::json::Json;
use schemars::JsonSchema;
use serde::Serialize;

/// The report of an import (`m3.import-report/1`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "m3.import-report/1")]
pub(crate) struct ImportReport {
    /// Always `m3.import-report/1`.
    pub(crate) schema: &'static str,
    /// The number of trajectories in all files.
    pub(crate) trajectories: u64,
    /// The number of calls in these trajectories.
    pub(crate) calls: u64,
    /// The number of references that were written into a file of their own.
    pub(crate) references: u64,
    /// The number of tasks that were written into a file of their own.
    pub(crate) tasks: u64,
    /// The number of media that were written into files.
    pub(crate) media: usize,
    /// The files, in the order in which they were given.
    pub(crate) files: Vec<FileImport>,
}

/// The result of the import of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FileImport {
    /// The file, as it was given or found.
    pub(crate) file: String,
    /// The name of the file without its endings, for ids.
    #[serde(skip)]
    pub(crate) stem: String,
    /// The format of the file; null if it is not known.
    pub(crate) format: Option<String>,
    /// The error because of which the file could not be read, or not to its end.
    pub(crate) error: Option<String>,
    /// Whether the file has none of the formats, nor m3's own.
    #[serde(skip)]
    pub(crate) is_unknown: bool,
    /// The number of trajectories in the file.
    pub(crate) trajectories: u64,
    /// The number of steps in these trajectories.
    pub(crate) steps: u64,
    /// The number of calls in these trajectories.
    pub(crate) calls: u64,
    /// The number of references for a file of their own.
    pub(crate) references: u64,
    /// The number of tasks for a file of their own.
    pub(crate) tasks: u64,
    /// Notes on what was guessed, skipped or lost in trajectories.
    pub(crate) notes: Vec<NoteReport>,
    /// Warnings about parts of the file that could not be read.
    pub(crate) warnings: Vec<String>,
    #[serde(skip)]
    counts: Notes,
}

/// A note on something that was guessed, skipped or lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NoteReport {
    /// The note, in words.
    pub(crate) note: String,
    /// How often this happened.
    pub(crate) count: u64,
}

/// The most warnings of a file that are kept.
const MOST_WARNINGS: usize = 100;

impl FileImport {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            file: visible(&path.display().to_string(), false).into_owned(),
            stem: stem(&path.to_string_lossy()),
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, steps: usize, calls: usize, notes: &Notes) {
        self.trajectories += 1;
        self.steps += steps as u64;
        self.calls += calls as u64;
        // Different notes are bounded in number, over all trajectories as well.
        self.counts.extend(notes);
    }

    /// Reports the notes, after the file was read to its end.
    pub(super) fn close(&mut self) {
        self.notes =
            self.counts.iter().map(|(note, count)| NoteReport { note: note.to_owned(), count }).collect();
    }

    pub(super) fn warn(&mut self, line: Option<u64>, message: &str) {
        let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(visible(&format!("{place}{message}"), false).into_owned());
        } else if self.warnings.len() == MOST_WARNINGS {
            self.warnings.push("and more like these".to_owned());
        }
    }
}

impl ImportReport {
    /// The report on these files.
    pub(crate) fn new(files: Vec<FileImport>, media: usize) -> Self {
        Self {
            schema: "m3.import-report/1",
            trajectories: files.iter().map(|file| file.trajectories).sum(),
            calls: files.iter().map(|file| file.calls).sum(),
            references: files.iter().map(|file| file.references).sum(),
            tasks: files.iter().map(|file| file.tasks).sum(),
            media,
            files,
        }
    }
}

/// Tools by server, each once, in the order in which they come.
#[derive(Debug, Default)]
pub(crate) struct OfferedTools {
    servers: Vec<(String, Vec<Json>)>,
    /// The index of the server, and the index of the tool in it, for each tool.
    places: HashMap<(String, String), (usize, usize)>,
    /// The number of times that a tool came again with another description or schema; the first counts.
    pub(crate) differing: u64,
}

impl OfferedTools {
    /// Adds a tool; a tool without a name is left out. The server is empty where the file does not name it.
    pub(crate) fn add(&mut self, server: &str, tool: Json) {
        let Some(name) = tool.get("name").and_then(Json::as_str) else { return };
        let key = (server.to_owned(), name.to_owned());
        if let Some((server, place)) = self.places.get(&key) {
            let known = self.servers.get(*server).and_then(|(_, tools)| tools.get(*place));
            self.differing += u64::from(known != Some(&tool));
            return;
        }
        let at = self.servers.iter().position(|(known, _)| known == server).unwrap_or_else(|| {
            self.servers.push((server.to_owned(), Vec::new()));
            self.servers.len() - 1
        });
        let tools = &mut self.servers[at].1;
        self.places.insert(key, (at, tools.len()));
        tools.push(tool);
    }

    /// Adds the tools of another file.
    pub(crate) fn merge(&mut self, other: Self) {
        self.differing += other.differing;
        for (server, tools) in other.servers {
            for tool in tools {
                self.add(&server, tool);
            }
        }
    }

    /// The number of tools.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no tools.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The catalog: `{server: {tools: [..]}}`.
    pub(crate) fn into_json(self) -> Json {
        let server = |(server, tools): (String, Vec<Json>)| {
            (server, Json::Object(vec![("tools".to_owned(), Json::Array(tools))]))
        };
        Json::Object(self.servers.into_iter().map(server).collect())
    }
}
