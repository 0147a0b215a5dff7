//! How each server fares, and what the host tells while it works.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::ToolName;

/// How a server fares.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerStatus {
    /// Its name in the configuration.
    pub server: String,
    /// Whether it can be called.
    pub state: ServerState,
    /// How often it was started again.
    pub restarts: u32,
    /// Lines on its standard output that are no messages.
    pub noise: u64,
    /// The last lines on its standard error, of the latest start. Untrusted text.
    pub stderr: Vec<String>,
}

/// Whether a server can be called.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerState {
    /// The configuration says not to start it.
    Disabled,
    /// It can.
    Ready(ReadyServer),
    /// It cannot.
    Failed(StartError),
    /// It could, and died since; the next call starts it again, as often as its `restarts` say.
    Died {
        /// How it ended, or why it could not be started again.
        reason: String,
    },
}

/// What a server said when it was started.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadyServer {
    /// Tools that are offered.
    pub tools: usize,
    /// Tools that it lists and that cannot be used.
    pub rejected: usize,
    /// The version of the protocol that it answered with.
    pub protocol_version: String,
    /// What it calls itself; untrusted.
    pub name: String,
    /// Its version; untrusted.
    pub version: String,
    /// From the start to the list of its tools.
    pub start: Duration,
}

/// Why a server cannot be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// It cannot be reached as configured.
    #[error("{reason}")]
    Unusable {
        /// Why, with the key.
        reason: String,
    },
    /// There is no such program.
    #[error("the command `{command}` was not found\nhint: {hint}")]
    CommandNotFound {
        /// The program.
        command: String,
        /// What to do.
        hint: String,
    },
    /// The system refuses to start it.
    #[error("failed to start `{command}`: {reason}")]
    Spawn {
        /// The program.
        command: String,
        /// The system's reason.
        reason: String,
    },
    /// The system starts nothing more, whatever it is.
    #[error("failed to start `{command}`: {reason}\nhint: {}", m3_support::files::EXHAUSTED)]
    Exhausted {
        /// The program.
        command: String,
        /// The system's reason.
        reason: String,
    },
    /// Its working directory is not there.
    #[error("the working directory `{}` is not there\nhint: create it, or change `cwd`", path.display())]
    WorkingDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// It ended before it was ready.
    #[error("it ended before it was ready: {how}{}", last_line(stderr))]
    Exited {
        /// How: its exit code or signal.
        how: String,
        /// The last lines on standard error.
        stderr: Vec<String>,
    },
    /// It was not ready in time.
    #[error(
        "it was not ready within {limit:?}{}\nhint: raise `timeouts.start` if it only needs longer",
        last_line(stderr)
    )]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// The last lines on standard error.
        stderr: Vec<String>,
    },
    /// It answers the handshake, or the request for its tools, with nothing that can be understood.
    #[error("it does not speak the protocol: {reason}{}", last_line(stderr))]
    Protocol {
        /// What it answers.
        reason: String,
        /// The last lines on standard error.
        stderr: Vec<String>,
    },
    /// Its endpoint cannot be used.
    #[error("`{url}` cannot be reached: {reason}")]
    Unreachable {
        /// The endpoint.
        url: String,
        /// Why not.
        reason: String,
    },
    /// It died more often than it may be started again.
    #[error("it died after {restarts} restarts: {reason}")]
    Restarts {
        /// How often it was started again.
        restarts: u32,
        /// How it ended the last time.
        reason: String,
    },
    /// The configuration says not to start it.
    #[error("it is disabled")]
    Disabled,
    /// The host has been closed.
    #[error("the host is closed")]
    Closed,
}

impl StartError {
    /// The last lines that the server wrote on standard error, where there are any.
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

/// `: ` and the line of standard error that says most, if there is one.
fn last_line(stderr: &[String]) -> String {
    telling_line(stderr).map_or(String::new(), |line| format!(": {line}"))
}

/// The line that says most of why a program ended: the last that speaks of an error, else the last one. Programs end
/// with places in their code and with the names of their logs.
pub(super) fn telling_line(stderr: &[String]) -> Option<&String> {
    let is_aside = |line: &str| line.starts_with("at ") || line.contains("log of this run");
    let is_error = |line: &&String| {
        let line = line.trim();
        line.to_ascii_lowercase().contains("error") && !is_aside(line)
    };
    let last = || stderr.iter().rev().find(|line| !line.trim().is_empty());
    stderr.iter().rev().find(is_error).or_else(last)
}

/// Something that happens while the host works. Texts in it come from servers: show them with care.
#[derive(Debug, Clone, PartialEq)]
pub enum HostEvent {
    /// A server can be called.
    Ready {
        /// The server.
        server: String,
        /// What it said.
        ready: ReadyServer,
    },
    /// A server cannot be called.
    Failed {
        /// The server.
        server: String,
        /// Why not.
        error: StartError,
    },
    /// A server takes long to start and is still waited for.
    Slow {
        /// The server.
        server: String,
        /// For so long already.
        waited: Duration,
    },
    /// A server died.
    Died {
        /// The server.
        server: String,
        /// How.
        reason: String,
    },
    /// A server that died was started again.
    Restarted {
        /// The server.
        server: String,
        /// The how-manieth time, from 1.
        restart: u32,
        /// Of at most so many.
        limit: u32,
    },
    /// A call reports progress.
    Progress {
        /// The tool.
        tool: ToolName,
        /// How far it is.
        progress: f64,
        /// Of how much, if it says so.
        total: Option<f64>,
        /// What it is doing, if it says so.
        message: Option<String>,
    },
    /// A line on a server's standard output that is no message, shortened and made visible. Only the first few
    /// are told; [`ServerStatus::noise`] counts all.
    Noise {
        /// The server.
        server: String,
        /// The line.
        line: String,
    },
    /// A message was larger than the host accepts and was thrown away.
    Oversized {
        /// The server.
        server: String,
        /// The limit, in bytes.
        limit: usize,
    },
}

/// Who is told what happens. Called from the host's tasks: it should return at once.
pub type Events = Arc<dyn Fn(HostEvent) + Send + Sync>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_speaks_of_an_error_is_told() {
        let told = |text: &str| {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            telling_line(&lines).cloned().unwrap_or_default()
        };
        // As Node and npm end.
        let node = "node:internal/modules/cjs/loader:1228\n  throw err;\n\nError: Cannot find module '/x'\n    \
                    at node:internal/errors:1:2 {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v22.1.0\n";
        assert_eq!(told(node), "Error: Cannot find module '/x'");
        let npm = "npm error code E404\nnpm error 404 Not Found\n\
                   npm error A complete log of this run can be found in: x.log\n";
        assert_eq!(told(npm), "npm error 404 Not Found");
        assert_eq!(told("reading settings\nAPI_KEY is not set\n\n"), "API_KEY is not set");
        assert_eq!(told(""), "");
    }
}
