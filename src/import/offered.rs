//! The tools that files say were offered, as a catalog.

use std::collections::HashMap;

use m3_trajectory::json::Json;

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
