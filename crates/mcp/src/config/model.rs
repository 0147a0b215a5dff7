//! The content of a configuration, with defaults filled in.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::Toolbox;

/// The servers of a configuration file, in its order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostConfig {
    /// The servers, disabled ones included. Names are unique.
    pub servers: Vec<ServerConfig>,
    /// The value of the key `simulated`: a catalog whose servers are simulated within this process
    /// (`servers::simulated` reads it). Its paths are relative to `folder`.
    pub simulated: Option<Map<String, Value>>,
    /// The folder of the file.
    pub folder: PathBuf,
    /// The file as the user named it, for errors.
    pub file: String,
}

/// How often a server is started again unless the configuration says so.
pub(super) const RESTARTS: u32 = 2;

/// One server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// The name of the server: the part of `server/tool` before the slash.
    pub name: String,
    /// How the server is reached.
    pub transport: Transport,
    /// Whether the server is disabled, and so is not started.
    pub is_disabled: bool,
    /// Whether one instance may serve several tasks.
    pub is_stateless: bool,
    /// The most calls at once; further calls wait. `None` for no limit.
    pub max_concurrent: Option<usize>,
    /// The time limits.
    pub timeouts: Timeouts,
    /// How often one instance of the server is started again when it dies, at most.
    pub restarts: u32,
    /// Which of the server's tools are offered.
    pub tools: ToolFilter,
    /// Values that are never written anywhere: those of `env` and of headers that come from the environment
    /// or look like keys.
    pub secrets: Vec<String>,
}

/// How a server is reached. Variables have been replaced.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// A child process that speaks over its standard input and output.
    Stdio {
        /// The program; `m3` means this running program.
        command: String,
        /// The arguments of the command.
        args: Vec<String>,
        /// Variables in addition to the few that every server gets (`PATH`, `HOME` and the like).
        env: BTreeMap<String, String>,
        /// The working directory; `None` for the task's workspace.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The endpoint.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
    },
    /// A server within this process.
    InProcess(InProcess),
    /// The server cannot be reached as configured, for example because a variable is not set or the transport is not
    /// supported.
    Unusable {
        /// The reason, with the key and what to do.
        reason: String,
    },
}

/// A server within this process; equal only to itself.
#[derive(Clone)]
pub struct InProcess(pub Arc<dyn Toolbox>);

impl fmt::Debug for InProcess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("InProcess").field(&self.0.name()).finish()
    }
}

impl PartialEq for InProcess {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The time limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// The longest time from the start to the answers to the handshake and `tools/list`. This includes the time for
    /// downloading packages.
    pub start: Duration,
    /// The longest time of a call without a result or progress.
    pub idle: Duration,
    /// The longest time of a call in all, whatever progress it reports.
    pub total: Duration,
}

/// Which tools of a server are offered. In patterns, `*` stands for any text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these tools; `None` for all.
    pub allow: Option<Vec<String>>,
    /// The tools that are never offered.
    pub deny: Vec<String>,
}

impl ToolFilter {
    /// Whether the filter lets a tool through: it is on the list of allowed tools, if there is one, and not on that of
    /// denied ones.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, tool));
        self.allow.as_deref().is_none_or(any) && !any(&self.deny)
    }
}

/// Whether the name fits the pattern, in which `*` stands for any text, even an empty one.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    // A pattern always has a first part.
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        // Taking the first match leaves the most text for the following parts.
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    true
}

impl ServerConfig {
    /// A server with this transport and the default settings.
    #[must_use]
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            transport,
            is_disabled: false,
            is_stateless: false,
            max_concurrent: None,
            timeouts: Timeouts::default(),
            restarts: RESTARTS,
            tools: ToolFilter::default(),
            secrets: Vec::new(),
        }
    }

    /// The configuration of a new, separate instance of the server: a server within this process is replaced by a fresh
    /// one that knows nothing of earlier calls. Restarts of the instance keep this fresh server, so that a retry after a
    /// crash goes to the same one.
    pub(crate) fn for_instance(&self) -> Self {
        let mut config = self.clone();
        if let Transport::InProcess(server) = &mut config.transport
            && let Some(fresh) = server.0.fresh()
        {
            *server = InProcess(fresh);
        }
        config
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { start: Duration::from_mins(1), idle: Duration::from_mins(1), total: Duration::from_mins(5) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "a"),
            ("a*", "abc"),
            ("*c", "abc"),
            ("a*c", "abbc"),
            ("a*b*c", "axbxbc"),
            ("a", "a"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("", "a"), ("a", "ab"), ("a*b", "a"), ("ab*ba", "aba"), ("*a*", "bcd"), ("a*", "ba")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn denied_is_denied_even_if_allowed() {
        let filter = ToolFilter { allow: Some(vec!["read_*".into()]), deny: vec!["*_all".into()] };
        assert!(filter.offers("read_file"));
        assert!(!filter.offers("write_file"));
        assert!(!filter.offers("read_all"));
        assert!(ToolFilter::default().offers("anything"));
    }
}
