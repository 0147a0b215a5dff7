//! MCP servers of other authors, pinned, from their registries.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use super::skipped;

/// Files and folders of one folder, from npm.
pub const FILESYSTEM: &str = "@modelcontextprotocol/server-filesystem@2026.8.31";

/// A graph of entities and relations, from npm.
pub const MEMORY: &str = "@modelcontextprotocol/server-memory@2026.8.31";

/// Whether a program can be run; if not, prints what is skipped.
pub fn has(program: &str) -> bool {
    let is_here = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success());
    is_here || skipped::<()>(&format!("{program} is not here")).is_some()
}

/// The variables that tell where packages are fetched from on this machine, because servers get few of our variables.
pub fn registries() -> BTreeMap<String, String> {
    let prefixes = ["npm_", "NPM_", "NODE_", "PIP_", "UV_"];
    let is_one = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
    std::env::vars().filter(|(name, _)| is_one(name)).collect()
}
