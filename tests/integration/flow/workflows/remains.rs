//! The effects of a run: the files and the graph that it leaves behind, and the answers of the calls that changed
//! nothing.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// What a run leaves behind.
#[derive(Debug)]
pub(crate) struct Remains {
    /// The files that existed before the run, with their content after it; `None` for a file that is gone.
    pub(crate) given: BTreeMap<String, Option<Vec<u8>>>,
    /// The files that were made and are still there.
    pub(crate) files: Vec<LeftFile>,
    /// The memory's graph.
    pub(crate) graph: Graph,
    /// The answers of calls that changed nothing, in order.
    pub(crate) looked_up: Vec<LookedUp>,
    /// Whether an edit had no visible effect: its picture looks like the one that it read. False if this was not
    /// checked.
    pub(crate) has_idle_edit: bool,
}

/// A file that was made.
#[derive(Debug)]
pub(crate) struct LeftFile {
    /// Its path in the workspace.
    pub(crate) path: String,
    /// Its content.
    pub(crate) content: Vec<u8>,
    /// Whether a later call read the file, and not only its size.
    pub(crate) is_read: bool,
    /// Whether a later call read the file and wrote another one.
    pub(crate) is_material: bool,
}

/// The answer of a call that changed nothing.
#[derive(Debug)]
pub(crate) struct LookedUp {
    /// The call.
    pub(crate) call: usize,
    /// `server/tool`.
    pub(crate) tool: String,
    /// Its answer.
    pub(crate) answer: Value,
}

/// The memory's graph.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// Its entities.
    pub(crate) entities: Vec<Entity>,
    /// From, to, type.
    pub(crate) relations: Vec<[String; 3]>,
}

/// An entity of the graph.
#[derive(Debug)]
pub(crate) struct Entity {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: String,
    /// Its notes.
    pub(crate) observations: Vec<String>,
}

impl Graph {
    /// Reads the file of the memory server, which has an entity or a relation on each line. Empty without the file.
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut graph = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            graph.add(&serde_json::from_str(line).unwrap());
        }
        graph
    }

    /// Reads a graph from the answer of a call, `{"entities": [..], "relations": [..]}`.
    pub(crate) fn from_answer(answer: &Value) -> Self {
        let mut graph = Self::default();
        for item in ["entities", "relations"].iter().filter_map(|key| answer[key].as_array()).flatten() {
            graph.add(item);
        }
        graph
    }

    fn add(&mut self, item: &Value) {
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        if let Some(observations) = item["observations"].as_array() {
            let observations =
                observations.iter().map(|one| one.as_str().unwrap_or_default().to_owned()).collect();
            self.entities.push(Entity { name: text("name"), kind: text("entityType"), observations });
        } else {
            self.relations.push([text("from"), text("to"), text("relationType")]);
        }
    }
}
