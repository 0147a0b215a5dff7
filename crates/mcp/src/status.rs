//! The status of each server, and the events that the host reports.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::ToolName;

/// The status of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerStatus {
    /// The server's name in the configuration.
    pub server: String,
    /// Whether the server can be called.
    pub state: ServerState,
    /// The number of restarts.
    pub restarts: u32,
    /// The number of lines on its standard output that are not messages.
    pub noise: u64,
    /// The last lines of its standard error since the latest start. Untrusted text.
    pub stderr: Vec<String>,
}

/// Whether a server can be called.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerState {
    /// The server is not started, because it is disabled in the configuration.
    Disabled,
    /// The server can be called.
    Ready(ReadyServer),
    /// The server cannot be called.
    Failed(StartError),
    /// The server died after it was ready; the next call starts it again, as often as `restarts` allows.
    Died {
        /// How the server ended, or why it could not be started again.
        reason: String,
    },
}

/// The facts that a server reported when it was started.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadyServer {
    /// The number of tools that are offered.
    pub tools: usize,
    /// The number of listed tools that cannot be used.
    pub rejected: usize,
    /// The version of the protocol in the server's answer.
    pub protocol_version: String,
    /// The server's name for itself; untrusted.
    pub name: String,
    /// The server's own version; untrusted.
    pub version: String,
    /// The time from the start to the list of its tools.
    pub start: Duration,
}

/// Why a server cannot be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The server cannot be reached as configured.
    #[error("{reason}")]
    Unusable {
        /// The reason, with the key of the configuration.
        reason: String,
    },
    /// The program does not exist.
    #[error("the command `{command}` was not found\nhint: {hint}")]
    CommandNotFound {
        /// The program.
        command: String,
        /// The hint to the user.
        hint: String,
    },
    /// The system refuses to start the program.
    #[error("failed to start `{command}`: {reason}{}", exhausted_hint(*.is_exhausted))]
    Spawn {
        /// The program.
        command: String,
        /// The system's reason.
        reason: String,
        /// Whether the system cannot start any further process.
        is_exhausted: bool,
    },
    /// The working directory does not exist.
    #[error("the working directory `{}` is not there\nhint: create it, or change `cwd`", path.display())]
    WorkingDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The server ended before it was ready.
    #[error("it ended before it was ready: {how}{}", last_line(stderr))]
    Exited {
        /// The exit code or signal, in words.
        how: String,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// The server was not ready in time.
    #[error(
        "it was not ready within {limit:?}{}\nhint: raise `timeouts.start` if it only needs longer",
        last_line(stderr)
    )]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// The answer to the handshake, or to the request for the tools, cannot be understood.
    #[error("it does not speak the protocol: {reason}{}", last_line(stderr))]
    Protocol {
        /// The fault of the answer.
        reason: String,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// The endpoint cannot be used.
    #[error("`{url}` cannot be reached: {reason}{}", endpoint_hint(url, reason))]
    Unreachable {
        /// The endpoint.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The server died more often than it may be restarted.
    #[error("it died after {restarts} restarts: {reason}")]
    Restarts {
        /// How often it was started again.
        restarts: u32,
        /// How the server ended the last time.
        reason: String,
    },
    /// The server is disabled in the configuration.
    #[error("it is disabled")]
    Disabled,
    /// The host has been closed.
    #[error("the host is closed")]
    Closed,
}

impl StartError {
    /// The last lines of the server's standard error, if there are any.
    #[must_use]
    pub fn stderr(&self) -> &[String] {
        match self {
            Self::Exited { stderr, .. } | Self::TimedOut { stderr, .. } | Self::Protocol { stderr, .. } => {
                stderr
            }
            _ => &[],
        }
    }
}

/// `: ` and the most telling line of standard error, if there is one.
fn last_line(stderr: &[String]) -> String {
    telling_line(stderr).map_or(String::new(), |line| format!(": {line}"))
}

fn exhausted_hint(is_exhausted: bool) -> String {
    if is_exhausted { format!("\nhint: {}", m3_support::files::EXHAUSTED) } else { String::new() }
}

/// A hint for an endpoint that refuses the beginning of a session, or nothing.
fn endpoint_hint(url: &str, reason: &str) -> &'static str {
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    if reason.contains("HTTP 401") {
        "\nhint: it wants a token; give it in `headers`: `\"Authorization\": \"Bearer ${TOKEN}\"`"
    } else if reason.contains("HTTP 405") || path.ends_with("/sse") {
        "\nhint: an endpoint of the transport of before 2025-03-26 (HTTP+SSE, often `/sse`) cannot be used; many servers have \
         a newer one beside it, often `/mcp`"
    } else {
        ""
    }
}

/// The line that best tells why a program ended: the last one about an error, or else the last one. Programs often
/// end with places in their code and with names of their logs.
pub(super) fn telling_line(stderr: &[String]) -> Option<&String> {
    let is_aside = |line: &str| line.starts_with("at ") || line.contains("log of this run");
    let is_error = |line: &&String| {
        let line = line.trim();
        line.to_ascii_lowercase().contains("error") && !is_aside(line)
    };
    let last = || stderr.iter().rev().find(|line| !line.trim().is_empty());
    stderr.iter().rev().find(is_error).or_else(last)
}

/// An event while the host works. Its texts come from servers: show them with care.
#[derive(Debug, Clone, PartialEq)]
pub enum HostEvent {
    /// A server can be called.
    Ready {
        /// The server.
        server: String,
        /// The facts that the server reported.
        ready: ReadyServer,
    },
    /// A server cannot be called.
    Failed {
        /// The server.
        server: String,
        /// Why it cannot be called.
        error: StartError,
    },
    /// A server takes long to start; the host still waits.
    Slow {
        /// The server.
        server: String,
        /// The time it has taken so far.
        waited: Duration,
    },
    /// A server died.
    Died {
        /// The server.
        server: String,
        /// How it ended.
        reason: String,
    },
    /// A server that died was started again.
    Restarted {
        /// The server.
        server: String,
        /// The number of this restart, from 1.
        restart: u32,
        /// The most restarts.
        limit: u32,
    },
    /// A call reports progress.
    Progress {
        /// The tool.
        tool: ToolName,
        /// The progress so far.
        progress: f64,
        /// The progress at the end, if given.
        total: Option<f64>,
        /// The current action of the server, if it reports one.
        message: Option<String>,
    },
    /// A line on a server's standard output that is not a message, shortened and made visible. Only the first few are
    /// reported; [`ServerStatus::noise`] counts all.
    Noise {
        /// The server.
        server: String,
        /// The line.
        line: String,
    },
    /// A message was larger than the host accepts and was discarded.
    Oversized {
        /// The server.
        server: String,
        /// The limit, in bytes.
        limit: usize,
    },
}

/// Receives events. It is called from the host's tasks, so it should return at once.
pub type Events = Arc<dyn Fn(HostEvent) + Send + Sync>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_about_an_error_is_chosen() {
        let line = |text: &str| {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            telling_line(&lines).cloned().unwrap_or_default()
        };
        // Typical last lines of Node and npm.
        let node = "node:internal/modules/cjs/loader:1228\n  throw err;\n\nError: Cannot find module '/x'\n    \
                    at node:internal/errors:1:2 {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v22.1.0\n";
        assert_eq!(line(node), "Error: Cannot find module '/x'");
        let npm = "npm error code E404\nnpm error 404 Not Found\n\
                   npm error A complete log of this run can be found in: x.log\n";
        assert_eq!(line(npm), "npm error 404 Not Found");
        assert_eq!(line("reading settings\nAPI_KEY is not set\n\n"), "API_KEY is not set");
        assert_eq!(line(""), "");
    }
}
