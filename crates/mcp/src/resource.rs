//! Resources that results of tools link to (MCP, "Resource Links"). A model reads them with a tool that the host adds to
//! those of the server.

use std::collections::HashSet;

use m3_support::text::shortened;
use serde_json::{Map, Value, json};

use super::{Content, Tool, ToolResult};

/// The longest address that a message repeats, in columns.
const MAX_SHOWN: usize = 200;

/// The tool that reads a resource of a server (`resources/read`), under the server's name.
pub const READ_RESOURCE: &str = "read_resource";

/// The most links of one session that are kept.
const MOST_LINKS: usize = 10_000;

/// The longest address that is kept, in bytes.
const LONGEST_LINK: usize = 8 << 10;

/// Adds the addresses that a result links to.
pub(super) fn keep_links(links: &mut HashSet<String>, result: &ToolResult) {
    for link in links_of(result).filter(|link| link.len() <= LONGEST_LINK) {
        if links.len() < MOST_LINKS {
            links.insert(link.to_owned());
        }
    }
}

/// The tool [`READ_RESOURCE`] as a server would list it.
#[must_use]
pub fn read_resource_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"uri": {"type": "string", "description": "The address of a resource link in a result of this server"}},
        "required": ["uri"],
        "additionalProperties": false,
    });
    Tool {
        name: READ_RESOURCE.to_owned(),
        description: Some("Reads a resource that a result of this server has linked to.".to_owned()),
        input_schema: schema.as_object().cloned().unwrap_or_default(),
        output_schema: None,
        extra: Map::new(),
    }
}

/// The tool's answer for an address that no result has linked to.
pub(super) fn no_link(uri: &str) -> String {
    let uri = shortened(uri, MAX_SHOWN);
    format!(
        "`{uri}` cannot be read: no result of this server has linked to it (of a session's links the first {MOST_LINKS} are \
         kept, of {} KiB at most)\nhint: copy the address of a resource link",
        LONGEST_LINK >> 10
    )
}

/// The addresses that a result links to.
pub fn links_of(result: &ToolResult) -> impl Iterator<Item = &str> {
    result.content.iter().filter_map(|part| match part {
        Content::ResourceLink(link) => link.get("uri").and_then(Value::as_str),
        _ => None,
    })
}

/// The answer of `resources/read` as the result of a call; `None` if it has no `contents`.
pub(super) fn result_of(answer: Value) -> Option<ToolResult> {
    let Value::Object(mut members) = answer else { return None };
    let Some(Value::Array(contents)) = members.remove("contents") else { return None };
    let part = |content: Value| match content {
        Value::Object(resource) => Content::Resource(resource),
        other => Content::Other(other),
    };
    Some(ToolResult {
        content: contents.into_iter().map(part).collect(),
        extra: members,
        ..ToolResult::default()
    })
}
