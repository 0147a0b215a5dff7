//! Why a configuration cannot be used.

use std::fmt;

use m3_support::text::{shortened, visible};
use m3_trajectory::WholeFileError;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read, or is not JSON.
    #[error(transparent)]
    File(#[from] WholeFileError),
    /// The configuration has mistakes; all of them are listed.
    #[error("{}\nhint: docs/mcp.md describes every key", lines(.problems))]
    Invalid {
        /// The mistakes, in the order of the file. Never empty.
        problems: Vec<ConfigProblem>,
    },
}

/// A mistake or oddity in a configuration, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The file as the user named it.
    pub file: String,
    /// The server; `None` outside of all servers.
    pub server: Option<String>,
    /// The key, such as `env.API_KEY`; empty for the whole server or file.
    pub key: String,
    /// The mistake.
    pub message: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: ", self.file)?;
        if let Some(server) = &self.server {
            write!(formatter, "server `{}`: ", shortened(server, 64))?;
        }
        if !self.key.is_empty() {
            write!(formatter, "key `{}`: ", shortened(&self.key, 100))?;
        }
        formatter.write_str(&visible(&self.message, false))
    }
}

fn lines(problems: &[ConfigProblem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
